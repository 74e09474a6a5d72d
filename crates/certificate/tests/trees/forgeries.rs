//! Forged certificates, which both checkers reject: the one of this crate, and the one in Python
//! that is written from FORMAT.md alone (`clients/python/kagetsu_proof.py`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use kagetsu_game::Side;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRng, TestRunner};

/// An open three becomes an open four.
const FREESTYLE: &str = OPEN_FOUR;

/// The same in standard gomoku.
const STANDARD: &str = "kagetsu-proof 1
variant standard-15
position h8 a1 i8 a3 j8 a5
claim win 3
1 l8
2 g8
3 k8 g8>1 *>2
end 3
";

/// A board with an open three, as bytes: 225 points, five in each byte.
fn setup() -> String {
    let board = "...............\n".repeat(7)
        + ".......XXX.....\n"
        + &"...............\n".repeat(6)
        + "OOO............\n";
    let position = Position::from_board(Variant::FREESTYLE_15, &board, Some(Side::First));
    let position = position.expect("a position");
    let open_four = read(OPEN_FOUR).expect("a tree");
    let (dag, root) = dag_of(&open_four);
    text(&dag.tree(root, position, Claim::Win))
}

/// Changes of a certificate: its text, what is replaced, and by what.
#[rustfmt::skip]
const CHANGES: &[(&str, &str, &str)] = &[
    // The head.
    (FREESTYLE, "kagetsu-proof 1", "kagetsu-proof 2"),
    (FREESTYLE, "kagetsu-proof 1\n", ""),
    (FREESTYLE, "kagetsu-proof 1", " kagetsu-proof 1"),
    (FREESTYLE, "variant freestyle-15", "variant freestyle-99"),
    (FREESTYLE, "variant freestyle-15", "variant gomoku"),
    (FREESTYLE, "variant freestyle-15", "variant xiangqi"),
    (FREESTYLE, "variant freestyle-15", "variant freestyle-9"),
    (FREESTYLE, "variant freestyle-15\n", ""),
    (FREESTYLE, "variant freestyle-15\n", "variant freestyle-15\nvariant standard-15\n"),
    // The position.
    (FREESTYLE, "position h8 a1", "position h8 h8"),
    (FREESTYLE, "position h8 a1", "position h8 p1"),
    (FREESTYLE, "position h8 a1", "position h8 a0"),
    (FREESTYLE, "position h8 a1", "position h8 a16"),
    (FREESTYLE, "position h8 a1", "position h8"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a3 j8"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a3 k9 a5"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a3 j8 g8"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a2 j8 a3 o1 a4"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a2 j8 a3 o1 a4 o3 a5"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a3 j8 a5 k8 b1 l8 b3"),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5\n", ""),
    (FREESTYLE, "position h8 a1 i8 a3 j8 a5\n", "position h8 a1 i8 a3 j8 a5\nposition h8\n"),
    (FREESTYLE, "position", "setup zz\nposition"),
    (FREESTYLE, "position", "setup 000\nposition"),
    (FREESTYLE, "position", "setup 0000\nposition"),
    // The claim.
    (FREESTYLE, "claim win 3", "claim win 1"),
    (FREESTYLE, "claim win 3", "claim win 2"),
    (FREESTYLE, "claim win 3", "claim win 2000"),
    (FREESTYLE, "claim win 3", "claim win -3"),
    (FREESTYLE, "claim win 3", "claim win"),
    (FREESTYLE, "claim win 3", "claim draw 3"),
    (FREESTYLE, "claim win 3", "claim loss 3"),
    (FREESTYLE, "claim win 3\n", "claim win 3\nclaim win 3\n"),
    (FREESTYLE, "claim win 3\n", ""),
    // The nodes.
    (FREESTYLE, "1 l8", "2 l8"),
    (FREESTYLE, "1 l8\n", ""),
    (FREESTYLE, "1 l8\n", "1 l8\n1 l8\n"),
    (FREESTYLE, "1 l8\n", "\n1 l8\n"),
    (FREESTYLE, "1 l8", "1"),
    (FREESTYLE, "1 l8", "1 m8"),
    (FREESTYLE, "1 l8", "1 h8"),
    (FREESTYLE, "1 l8", "1 a1"),
    (FREESTYLE, "1 l8", "1 p8"),
    (FREESTYLE, "1 l8", "1 -"),
    (FREESTYLE, "1 l8", "1 l8 *>3"),
    (FREESTYLE, "1 l8", "1 l8 *>1"),
    (FREESTYLE, "2 g8\n", "2 l8\n"),
    (FREESTYLE, "2 g8\n", "2 g8 h9\n"),
    (FREESTYLE, "3 k8", "3 k9"),
    (FREESTYLE, "3 k8", "3 h8"),
    (FREESTYLE, "3 k8", "3 -"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8  g8>1 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>2 *>1"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 h9>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 *>0"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 *>3"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 *>99"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 *>x"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 *>2/8"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1/1 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 g8>2 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8,g8>1 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8>1 *>1 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2", "3 k8 g8:1 *>2"),
    (FREESTYLE, "3 k8 g8>1 *>2\n", "3 k8 g8>1 *>2\n4 l8\n"),
    (FREESTYLE, "1 l8\n2 g8\n3 k8 g8>1 *>2\nend 3", "1 g8\n2 k8 *>1\nend 2"),
    (FREESTYLE, "1 l8\n2 g8\n3 k8 g8>1 *>2\nend 3", "1 l8\n2 k8 g8>1\nend 2"),
    (FREESTYLE, "1 l8\n2 g8\n3 k8 g8>1 *>2\nend 3", "1 k8\nend 1"),
    (FREESTYLE, "1 l8\n2 g8\n3 k8 g8>1 *>2\nend 3", "end 0"),
    // Another way to write the same.
    (FREESTYLE, "kagetsu-proof 1\n", "kagetsu-proof 1\r\n"),
    (FREESTYLE, "freestyle-15\n", "freestyle-15 \n"),
    (FREESTYLE, "freestyle-15", "Freestyle-15"),
    (FREESTYLE, "freestyle-15", "freestyle-015"),
    (FREESTYLE, "position h8", "position  h8"),
    (FREESTYLE, "position h8", "position\th8"),
    (FREESTYLE, "position h8", "position H8"),
    (FREESTYLE, "position h8", "position h08"),
    (FREESTYLE, "position h8 a1", "position h8,a1"),
    (FREESTYLE, "position h8 a1", "position h8a1"),
    (FREESTYLE, "j8 a5\n", "j8 a5 \n"),
    (FREESTYLE, "j8 a5\n", "j8 a5\r\n"),
    (FREESTYLE, "claim win 3", "claim win 03"),
    (FREESTYLE, "claim win 3", "claim win +3"),
    (FREESTYLE, "claim win 3", "claim  win 3"),
    (FREESTYLE, "claim win 3", "claim WIN 3"),
    (FREESTYLE, "1 l8", "01 l8"),
    (FREESTYLE, "1 l8", "1 L8"),
    (FREESTYLE, "1 l8", "1 l08"),
    (FREESTYLE, "1 l8\n", "1 l8 \n"),
    (FREESTYLE, "1 l8\n", "1 l8\r\n"),
    (FREESTYLE, "g8>1", "G8>1"),
    (FREESTYLE, "g8>1", "g8>01"),
    (FREESTYLE, "*>2", "*>2/0"),
    (FREESTYLE, "end 3\n", "end 03\n"),
    (FREESTYLE, "end 3\n", "end 3\r\n"),
    (FREESTYLE, "end 3\n", "end 3 \n"),
    // The end.
    (FREESTYLE, "end 3", "end 4"),
    (FREESTYLE, "end 3", "end"),
    (FREESTYLE, "end 3\n", ""),
    (FREESTYLE, "end 3\n", "end 3"),
    (FREESTYLE, "end 3\n", "end 3\n\n"),
    (FREESTYLE, "end 3\n", "end 3\nend 3\n"),
    // Six in a row are no five in standard gomoku, and the loser may have a four of its own.
    (STANDARD, "a5", "a5 m8 a7"),
    (STANDARD, "a5", "a5 f8 a7"),
    (STANDARD, "position h8 a1 i8 a3 j8 a5", "position h8 a1 i8 a2 j8 a3 o1 a4"),
    // A loss.
    (LOSS, "claim loss 2", "claim win 2"),
    (LOSS, "claim loss 2", "claim loss 1"),
    (LOSS, "3 - g8>1 *>2", "3 l8 g8>1 *>2"),
    (LOSS, "3 - g8>1 *>2", "3 - g8>2 *>1"),
    (LOSS, "3 - g8>1 *>2", "3 -"),
    (LOSS, "j8 a5 k8", "j8 a5 l8"),
    (LOSS, "h8 a1 i8 a3 j8 a5 k8", "h8 a1 i8 a2 j8 a3 o1 a4 k8"),
    // Symmetries.
    (TURNED, "j8>1/1", "j8>1/2"),
    (TURNED, "j8>1/1", "j8>1"),
    (TURNED, "*>1", "*>1/1"),
    (TURNED, "freestyle-14", "freestyle-15"),
];

/// All forgeries, which differ from what they were made of.
fn forgeries() -> Vec<String> {
    let mut forged: Vec<String> = CHANGES
        .iter()
        .map(|(whole, old, new)| {
            let forged = whole.replacen(old, new, 1);
            assert_ne!(forged, **whole, "{old} -> {new}");
            forged
        })
        .collect();
    let whole = setup();
    let line = whole
        .lines()
        .find(|line| line.starts_with("setup "))
        .expect("a setup");
    let digits = line.trim_start_matches("setup ");
    let changed = |at: usize, byte: &str| {
        let new = format!("{}{byte}{}", &digits[..2 * at], &digits[2 * at + 2..]);
        whole.replacen(digits, &new, 1)
    };
    // The loser's stones are in the first group of points.
    let at = (2..digits.len() / 2).filter(|at| &digits[2 * at..2 * at + 2] != "00");
    let stones: Vec<usize> = at.collect();
    // Stones of the winner are missing, the other side moves, and bytes that are no stones.
    forged.extend(stones.iter().map(|at| changed(*at, "00")));
    forged.extend([
        changed(0, "01"),
        changed(0, "03"),
        changed(1, "f3"),
        changed(1, "79"),
    ]);
    forged.push(whole.replacen(digits, &digits[2..], 1));
    forged.push(whole.replacen(digits, &format!("{digits}00"), 1));
    forged.push(whole.replacen(digits, &format!("{digits} "), 1));
    forged.push(whole.replacen(digits, &format!(" {digits}"), 1));
    let upper = digits.to_uppercase();
    forged.extend((upper != digits).then(|| whole.replacen(digits, &upper, 1)));
    forged.push(whole.replacen(&format!("{line}\n"), "", 1));
    forged
}

/// The checker in Python; `None` where the machine has no Python.
pub(super) fn python() -> Option<PathBuf> {
    let found = Command::new("python3").arg("--version").output();
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python/kagetsu_proof.py");
    match found {
        Ok(output) if output.status.success() => Some(script),
        _ => {
            eprintln!("skipped: there is no python3");
            None
        }
    }
}

/// Whether the checker in Python accepts each of some certificates.
fn accepted(script: &Path, texts: &[String]) -> Vec<bool> {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<PathBuf> = (0..texts.len())
        .map(|number| folder.path().join(format!("{number:05}.proof")))
        .collect();
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).expect("room");
    }
    let output = Command::new("python3")
        .arg(script)
        .arg("--json")
        .args(&paths)
        .output()
        .expect("python3 runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.lines().count(), texts.len(), "{errors}");
    text.lines()
        .map(|line| line.contains("\"holds\": true"))
        .collect()
}

#[test]
fn both_checkers_reject_every_forgery() {
    let wholes: Vec<String> = [FREESTYLE, STANDARD, LOSS, TURNED]
        .map(String::from)
        .into_iter()
        .chain([setup()])
        .collect();
    let forged = forgeries();
    assert!(forged.len() >= 60, "{} forgeries", forged.len());
    for whole in &wholes {
        verify(whole).expect(whole);
    }
    for text in &forged {
        assert!(verify(text).is_err(), "{text}");
    }
    let Some(script) = python() else { return };
    assert_eq!(accepted(&script, &wholes), vec![true; wholes.len()]);
    for (text, is_accepted) in forged.iter().zip(accepted(&script, &forged)) {
        assert!(!is_accepted, "{text}");
    }
}

#[test]
fn checkers_agree_on_damaged_trees() {
    let Some(script) = python() else { return };
    let config = Config {
        max_global_rejects: 100_000,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let mut texts = Vec::new();
    while texts.len() < 1_500 {
        let position = boards().new_tree(&mut runner).expect("a board").current();
        let zones = ZoneChecker::new(position.variant());
        let Some((tree, zones)) = tree_of(&position).zip(zones) else {
            continue;
        };
        if !zones.covers(tree.winner()) {
            continue;
        }
        let whole = text(&tree);
        let lines: Vec<&str> = whole.lines().collect();
        let first = lines.len() - tree.nodes().len() - 1;
        for at in first..lines.len() - 1 {
            for way in 0..5 {
                let chance = 7 * texts.len() + way;
                let Some(new) = damaged(lines[at], way, chance, &position) else {
                    continue;
                };
                let mut broken = lines.clone();
                broken[at] = &new;
                texts.push(broken.join("\n") + "\n");
            }
        }
        texts.push(whole);
    }
    let known: Vec<bool> = texts.iter().map(|text| verify(text).is_ok()).collect();
    let holding = known.iter().filter(|holds| **holds).count();
    assert!(holding > 50 && known.len() - holding > 50, "{holding} hold");
    let python = accepted(&script, &texts);
    for ((text, known), accepted) in texts.iter().zip(known).zip(python) {
        assert_eq!(accepted, known, "{text}");
    }
}

#[test]
fn examples_of_the_format_are_judged_as_it_says() {
    let format = include_str!("../../../../FORMAT.md");
    let blocks = format.split("```text\n").skip(1);
    let texts: Vec<String> = blocks
        .filter_map(|block| block.split_once("```").map(|(text, _)| text.to_owned()))
        .filter(|text| text.starts_with("kagetsu-proof 1\n"))
        .collect();
    let known = [true, true, false];
    assert_eq!(texts.len(), known.len());
    for (text, holds) in texts.iter().zip(known) {
        assert_eq!(verify(text).is_ok(), holds, "{text}");
    }
    let Some(script) = python() else { return };
    assert_eq!(accepted(&script, &texts), known);
}

#[test]
fn move_that_fills_the_board_does_not_win() {
    let board = "XXO..\nOOXXO\nXXOOX\nOOXXO\nXXOO.\n";
    let variant = "freestyle-5".parse().expect("a variant");
    let position = Position::from_board(variant, board, Some(Side::First)).expect("a position");
    let mut dag = ProofDag::default();
    let [e1, d5, e5] = ["e1", "d5", "e5"].map(|m| position.parse_move(m).expect("empty"));
    let last = dag.add(Node {
        at: Some(e1),
        ..Node::default()
    });
    let mut fill = |at: Move| {
        let otherwise = Some(Reference::to(last));
        let at = Some(at);
        let replies = Vec::new();
        Reference::to(dag.add(Node {
            at,
            replies,
            otherwise,
        }))
    };
    let replies = vec![(d5, fill(e5)), (e5, fill(d5))];
    let root = dag.add(Node {
        at: Some(e1),
        replies,
        otherwise: None,
    });
    let forged = text(&dag.tree(root, position, Claim::Win));
    assert!(verify(&forged).is_err(), "{forged}");
    let Some(script) = python() else { return };
    assert_eq!(accepted(&script, &[forged]), [false]);
}
