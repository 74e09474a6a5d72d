//! Engines with Gomocup's protocol, with Yixin's extensions and without, well-behaved and faulty.

mod stub;

use kagetsu_engines::gomocup::{FromEngine, ToEngine};
use kagetsu_engines::{EngineSettings, External, Fault, FaultKind};
use kagetsu_game::{
    Answer, Bound, Effort, Move, Position, ProofKind, Question, Score, Side, Variant,
};
use kagetsu_search::{Control, Engine};
use stub::{patiently, stub, stub_once};

fn start(mode: &str) -> External {
    External::start(stub("gomocup", mode), &Control::new()).expect("it starts")
}

fn question(variant: &str, line: &str) -> Question {
    let position = Position::from_line(variant.parse().expect("a variant"), line).expect("a line");
    Question {
        width: 3,
        ..Question::new(position, Effort::depth(2))
    }
}

fn ask(engine: &mut External, question: &Question) -> Result<Answer, Fault> {
    engine.answer(question, &Control::new(), &mut |_| {})
}

fn check(engine: &mut External, variant: &str) -> Result<(), Fault> {
    engine.check(variant.parse().expect("a variant"), &Control::new())
}

#[test]
fn every_rule_and_size_passes_known_answers() {
    for mode in ["yixin", "good"] {
        let mut engine = start(mode);
        for rule in ["freestyle", "standard", "renju"] {
            for size in [5, 8, 15, 22] {
                check(&mut engine, &format!("{rule}-{size}"))
                    .unwrap_or_else(|fault| panic!("{fault}"));
            }
        }
    }
}

#[test]
fn kept_table_is_cleared_on_demand_alone() {
    let question = question("freestyle-15", "h8 i9 h9");
    let nodes = |engine: &mut External| ask(engine, &question).expect("an answer").nodes();
    let mut engine = start("yixin-clears");
    assert_eq!([nodes(&mut engine), nodes(&mut engine)], [201, 202]);
    let mut engine = start("yixin-clears").with_kept_table();
    assert_eq!([nodes(&mut engine), nodes(&mut engine)], [201, 201]);
    engine.clear_table();
    assert_eq!([nodes(&mut engine), nodes(&mut engine)], [202, 202]);
}

#[test]
fn yixin_engine_gives_best_moves_and_bounds() {
    let mut engine = start("yixin");
    let question = question("freestyle-15", "h8 i9 h9");
    let answer = ask(&mut engine, &question).expect("an answer");
    let exact: Vec<_> = answer
        .verdicts()
        .iter()
        .filter(|(_, v)| v.bound == Bound::Exact)
        .collect();
    assert_eq!(exact.len(), 3);
    assert!(
        exact
            .iter()
            .all(|(m, v)| v.depth == 2 && v.line == [*m] && &*v.by.engine == "Stub yixin 1"),
        "{exact:?}"
    );
    assert!(
        answer.len() > 5
            && answer.verdicts()[3..]
                .iter()
                .all(|(_, v)| v.score == exact[2].1.score)
    );
    assert_eq!(answer.nodes(), 200);

    let allowed: Vec<Move> = question
        .position
        .legal_moves()
        .into_iter()
        .skip(30)
        .take(5)
        .collect();
    let some = Question {
        moves: allowed.clone(),
        ..question
    };
    let obeyed = ask(&mut engine, &some).expect("an answer");
    assert_eq!(
        obeyed
            .verdicts()
            .iter()
            .filter(|(_, v)| v.is_exact())
            .count(),
        3
    );
    assert!(obeyed.verdicts().iter().all(|(m, _)| allowed.contains(m)));

    let unruly = ask(&mut start("yixin-unruly"), &some).expect("an answer");
    assert_eq!(unruly.len(), 5);
    assert!(
        unruly
            .verdicts()
            .iter()
            .all(|(m, v)| allowed.contains(m) && v.line.len() == 2)
    );
}

#[test]
fn moves_without_values_are_valued_here() {
    let mut engine = start("good");
    let question = question("standard-15", "h8 i9 h9");
    let answer = ask(&mut engine, &question).expect("an answer");
    let (m, best) = answer.best().expect("a move");
    assert!(question.position.play(m).is_ok() && best.is_exact());
    assert!(
        answer.len() > 5
            && answer.verdicts()[1..]
                .iter()
                .all(|(_, v)| (v.bound, v.score) == (Bound::Upper, best.score))
    );
    let by = format!("Stub good 1, value by {}", Engine::NAME);
    assert_eq!(&*best.by.engine, by);
    let two = Question {
        moves: question.position.legal_moves()[..2].to_vec(),
        ..question
    };
    let fault = ask(&mut engine, &two).expect_err("it has no value");
    assert!(fault.to_string().contains("says no value of"), "{fault}");
}

#[test]
fn nameless_engine_uses_its_program_name() {
    let mut engine = start("nameless");
    assert_eq!(engine.name(), "stub_engine");
    check(&mut engine, "freestyle-15").expect("it plays");
}

#[test]
fn set_up_board_is_sent_with_all_stones() {
    let board = ".....\n.X...\n..O..\n.....\nX....\n";
    let variant: Variant = "freestyle-5".parse().expect("a variant");
    let position = Position::from_board(variant, board, Some(Side::Second)).expect("a board");
    let position = position.play_line("a2 a3").expect("legal");
    for mode in ["yixin", "good"] {
        let answer = ask(
            &mut start(mode),
            &Question::new(position.clone(), Effort::depth(1)),
        )
        .expect("an answer");
        assert!(answer.best().is_some_and(|(m, _)| position.play(m).is_ok()));
    }
}

#[test]
fn claimed_win_is_checked_by_own_search() {
    let mut engine = start("yixin-mates");
    let quiet = ask(&mut engine, &question("freestyle-15", "h8 i9")).expect("an answer");
    assert!(
        quiet
            .verdicts()
            .iter()
            .all(|(_, v)| v.proof.is_none() && !v.score.is_mate())
    );
    assert!(
        quiet
            .best()
            .is_some_and(|(_, v)| v.score > Score::opinion(29_000))
    );
    // An open three of the side to move wins.
    let three =
        ask(&mut engine, &question("freestyle-15", "h8 a1 h9 c1 h10 e1")).expect("an answer");
    let (_, best) = three.best().expect("a move");
    assert_eq!(
        (best.score, best.proof.map(|proof| proof.kind)),
        (Score::win_in(3), Some(ProofKind::Vct)),
        "{best:?}"
    );
    assert_eq!(&*best.by.engine, Engine::NAME);
}

#[test]
fn wrong_size_and_wrong_rule_are_found() {
    let fault = check(&mut start("yixin-size"), "freestyle-15").expect_err("it plays on 20");
    assert!(matches!(fault.wrong, FaultKind::Other(_)), "{fault}");
    let fault = check(&mut start("refuses"), "freestyle-15").expect_err("it says so");
    assert!(
        fault
            .to_string()
            .contains("refuses: START 15: only boards of 20"),
        "{fault}"
    );
    let mut freestyle = start("freestyle");
    check(&mut freestyle, "freestyle-15").expect("it plays that");
    let fault = check(&mut freestyle, "renju-15").expect_err("an overline for Black");
    assert!(fault.to_string().contains("does it play"), "{fault}");
    assert!(check(&mut freestyle, "xiangqi").is_err());
}

#[test]
fn transient_fault_costs_one_retry() {
    let folder = tempfile::tempdir().expect("a folder");
    let question = question("freestyle-15", "h8 i9 h9");
    let best = |answer: Answer| answer.best().map(|(m, _)| m);
    let truth = ask(&mut start("good"), &question)
        .map(best)
        .expect("an answer");
    for mode in ["crash", "hang", "flood", "chatter", "illegal", "nonsense"] {
        patiently(|stall_timeout| {
            let file = folder
                .path()
                .join(format!("{mode}-{}", stall_timeout.as_secs()));
            let settings = EngineSettings {
                stall_timeout,
                ..stub_once("gomocup", mode, &file)
            };
            let mut engine =
                External::start(settings, &Control::new()).map_err(|fault| fault.to_string())?;
            let answer = ask(&mut engine, &question).map_err(|fault| format!("{mode}: {fault}"))?;
            assert_eq!(best(answer), truth, "{mode}");
            Ok(())
        });
    }
}

#[test]
fn recorded_rapfi_session_is_read() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/gomoku/protocol/rapfi_0.43.02_session.txt"
    );
    let Ok(session) = std::fs::read_to_string(path) else {
        eprintln!("skipped: {path} is not there");
        return;
    };
    let (mut sent, mut received, mut strange) = (0, 0, Vec::new());
    for line in session.lines() {
        if let Some(line) = line.strip_prefix("> ") {
            sent += 1;
            strange.extend(matches!(ToEngine::read(line), ToEngine::Other(_)).then_some(line));
        } else if let Some(line) = line.strip_prefix("< ") {
            received += 1;
            strange.extend(matches!(FromEngine::read(line), FromEngine::Other(_)).then_some(line));
        }
    }
    assert!(sent > 50 && received > 200, "{sent} and {received}");
    // Rapfi's database commands, a table that it prints, and lines that no engine understands.
    let known = |line: &&str| {
        ["YX", "FORBID", "FOO", "SWAP", "/"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let strange: Vec<_> = strange.into_iter().filter(|line| !known(line)).collect();
    assert!(strange.is_empty(), "{strange:#?}");
}
