//! Verification of a certificate: a file with a win tree.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use kagetsu_certificate::{CheckProgress, Checked, CheckedReplies, Tree, check_parallel};
use kagetsu_game::Position;
use kagetsu_program::{Exit, shown};
use kagetsu_proofs::{NodeCounts, unpacked};
use serde::Serialize;

use super::arguments::Args;
use crate::arguments::path::open;
use crate::output::progress::bar;

#[derive(Serialize)]
struct VerifyJson {
    holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<WinTreeJson>,
    /// The fault, and its line in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    time_ms: u64,
}

#[derive(Serialize)]
struct WinTreeJson {
    variant: String,
    /// The moves from the start of a game; none where the position was set up.
    moves: Vec<String>,
    /// The position that is proven.
    position: BoardJson,
    claim: String,
    plies: u16,
    #[serde(flatten)]
    size: NodeCounts,
    /// Positions of the winner that were checked.
    positions: u64,
    /// Whether it holds on the plane and on every board that contains its own.
    on_plane: bool,
}

/// A position without its history.
#[derive(Serialize)]
struct BoardJson {
    /// Its FEN, where the game has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    /// The rows of its drawing from the top, where the game has no FEN.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    board: Vec<String>,
    /// The side to move.
    side: String,
}

impl BoardJson {
    fn of(position: &Position) -> Self {
        let fen = position.fen().ok();
        let drawing = fen
            .as_ref()
            .map_or_else(|| position.draw(), |_| String::new());
        Self {
            fen,
            board: drawing.lines().map(str::to_string).collect(),
            side: position.side().to_string(),
        }
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        match &self.fen {
            Some(fen) => writeln!(out, "proven position: {fen}")?,
            None => {
                writeln!(out, "proven position, {} side to move:", self.side)?;
                for row in &self.board {
                    writeln!(out, "{row}")?;
                }
            }
        }
        Ok(())
    }
}

impl WinTreeJson {
    fn new(tree: &Tree, checked: Checked, on_plane: bool) -> Self {
        let position = &tree.position;
        let moves = position
            .moves()
            .iter()
            .filter(|_| position.setup().is_none());
        Self {
            variant: position.variant().to_string(),
            moves: moves.map(|&m| position.write_move(m)).collect(),
            position: BoardJson::of(position),
            claim: tree.claim.to_string(),
            plies: checked.plies,
            size: NodeCounts::of(tree),
            positions: checked.positions,
            on_plane,
        }
    }

    fn write(&self, name: &str, time_ms: u64, out: &mut dyn Write) -> Result<()> {
        let moves = self.moves.iter().map(String::as_str);
        let named: Vec<&str> = [&*self.variant].into_iter().chain(moves).collect();
        writeln!(
            out,
            "{name} holds: {} is a {} for the side to move within {} plies",
            named.join(" "),
            self.claim,
            self.plies
        )?;
        if self.on_plane {
            writeln!(
                out,
                "so it is on the plane, and on every board that contains this one"
            )?;
        }
        self.position.write(out)?;
        writeln!(out, "{}", self.size)?;
        writeln!(
            out,
            "{} positions of the winner checked; {time_ms} ms",
            self.positions
        )?;
        Ok(())
    }
}

/// Checks that a tree proves the position that the caller named.
///
/// # Errors
/// The position is another one, or cannot be read in the tree's variant.
fn check_position(args: &Args, position: &Position) -> Result<()> {
    let variant = position.variant();
    let expected = match (&args.fen, &args.moves) {
        (None, None) => return Ok(()),
        (Some(fen), moves) => {
            let start = Position::from_fen(variant, fen).context("--fen")?;
            let line = moves.as_deref().unwrap_or_default();
            start.play_line(line).context("--moves")?
        }
        (None, Some(line)) => {
            if position.setup().is_some() {
                bail!(
                    "the tree proves a position that was set up, not a line from the start of a \
                     game; without --moves the position is printed"
                );
            }
            Position::from_line(variant, line).context("--moves")?
        }
    };
    // With repetitions the history matters; else a transposition is the same position.
    let is_same = if variant.has_repetition() {
        *position == expected
    } else {
        position.canonical() == expected.canonical()
    };
    if !is_same {
        bail!("the tree proves another position, {position}");
    }
    Ok(())
}

pub(super) fn verify_file(args: &Args, file: &Path, out: &mut dyn Write) -> Result<Exit> {
    let name = shown(file);
    if file.is_dir() {
        bail!(
            "{name} is a folder, and a win tree is a file; `kagetsu verify --book {name}` checks \
             the claims of a book"
        );
    }
    let mut source = unpacked(open(file)?).with_context(|| format!("cannot read {name}"))?;
    let begun = Instant::now();
    let template = "{bar:40} {pos}/{len} replies, {msg} positions, {elapsed}";
    let bar = bar(None, template);
    let progress = |progress: CheckProgress| {
        bar.set_length(progress.replies as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(progress.positions.to_string());
    };
    let threads = args
        .threads
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN);
    let replies = match args.board {
        Some(_) => CheckedReplies::OnPlane,
        None if args.every_reply => CheckedReplies::All,
        None => CheckedReplies::ByZones,
    };
    let tree = Tree::read(&mut *source);
    if let Ok(tree) = &tree {
        check_position(args, &tree.position).context(name.clone())?;
        let variant = tree.position.variant();
        let size = variant.gomoku().map_or(u8::MAX, |(_, size)| size);
        if args.board.is_some_and(|rows| size > rows) {
            bail!("--board: the board of {variant} does not fit");
        }
    }
    let checked = tree.and_then(|tree| {
        let checked = check_parallel(&tree, replies, threads, &progress)?;
        Ok((tree, checked))
    });
    bar.finish_and_clear();
    let time_ms = begun.elapsed().as_millis() as u64;
    let (tree, fault) = match checked {
        Ok((tree, checked)) => (
            Some(WinTreeJson::new(&tree, checked, args.board.is_some())),
            None,
        ),
        Err(fault) if fault.is_unreadable => bail!(
            "cannot read {name}: {fault}; a win tree is a text, as `kagetsu export --format proof` \
             writes it; `kagetsu verify --book DIR` checks the claims of a book"
        ),
        Err(fault) => (None, Some(fault)),
    };
    let holds = fault.is_none();
    let exit = Exit::passed(holds);
    let json = VerifyJson {
        holds,
        tree,
        line: fault.as_ref().map(|fault| fault.line),
        fault: fault.as_ref().map(|fault| fault.what.clone()),
        time_ms,
    };
    let out = &mut args.output.report(out, &json)?;
    if let Some(tree) = &json.tree {
        tree.write(&name, time_ms, out)?;
    }
    if let Some(fault) = &fault {
        writeln!(out, "{name} does not hold: {fault}")?;
    }
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::Value;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    /// Writes a tree and verifies it with these arguments.
    fn verify(text: &str, arguments: &[&str]) -> Result<(Exit, String)> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("tree.proof");
        std::fs::write(&file, text)?;
        let program = ["verify", file.to_str().context("a plain name")?];
        let args = Program::try_parse_from(program.iter().chain(arguments))?.args;
        let mut out = Vec::new();
        let exit = verify_file(&args, &file, &mut out)?;
        Ok((exit, String::from_utf8(out)?))
    }

    /// Four black stones on the board and none of White's: h8 and i9 are not what is proven.
    fn tree_of_a_setup() -> String {
        let mut rows = vec![".".repeat(15); 15];
        rows[0] = format!("XXXX{}", ".".repeat(11));
        let board = rows.join("\n");
        let side = Some(kagetsu_game::Side::First);
        let position = Position::from_board(kagetsu_game::Variant::FREESTYLE_15, &board, side);
        let setup = position
            .expect("a board")
            .setup()
            .cloned()
            .expect("a setup");
        let hex: String = setup.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "kagetsu-proof 1\nvariant freestyle-15\nsetup {hex}\nposition h8 i9\nclaim win 1\n1 e15\nend 1\n"
        )
    }

    const TREE: &str = "kagetsu-proof 1\nvariant freestyle-15\n\
        position h8 a1 i8 a3 j8 a5 k8 a7\nclaim win 1\n1 g8\nend 1\n";

    /// Red takes an undefended general's last flight square: a mate in one from a FEN.
    const FEN: &str = "3k5/9/9/9/9/9/9/4R4/9/3RK4 w - - 0 1";

    #[test]
    fn win_on_a_larger_board_is_stated() {
        for board in ["plane", "15", "20"] {
            let (exit, text) = verify(TREE, &["--board", board]).expect("a tree");
            assert_eq!(exit, Exit::Done);
            assert!(text.contains("so it is on the plane"), "{text}");
        }
        // White has four on the diagonal, and its fifth point is beyond the corner.
        let bordered = "kagetsu-proof 1\nvariant freestyle-15\n\
            position h8 d4 h9 c3 h10 b2 e5 n1 h11 a1\nclaim win 3\n\
            1 h12\n2 h7\n3 o15 h12>2 *>1\nend 3\n";
        let (exit, _) = verify(bordered, &[]).expect("a tree");
        assert_eq!(exit, Exit::Done);
        let (exit, text) = verify(bordered, &["--board", "plane"]).expect("a tree");
        assert_eq!(exit, Exit::No);
        assert!(text.contains("line 7: the node does not win"), "{text}");
        let error = verify(TREE, &["--board", "14"]).expect_err("a smaller board");
        assert!(error.to_string().contains("does not fit"), "{error}");
        assert!(verify(TREE, &["--board", "sphere"]).is_err());
    }

    #[test]
    fn position_of_a_setup_is_printed() {
        let (exit, text) = verify(&tree_of_a_setup(), &["--json"]).expect("a tree");
        assert_eq!(exit, Exit::Done);
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let board = json["tree"]["position"]["board"].to_string();
        assert!(board.contains("15  X  X  X  X  ."), "{json}");
        assert_eq!(json["tree"]["moves"], Value::Array(Vec::new()), "{json}");
    }

    #[test]
    fn every_reply_is_played_when_asked() {
        let tree = "kagetsu-proof 1\nvariant freestyle-15\nposition h8 a1 i8 a3 j8 a5\n\
            claim win 3\n1 l8\n2 g8\n3 k8 g8>1 *>2\nend 3\n";
        let positions = |arguments: &[&str]| {
            let (exit, text) = verify(tree, arguments).expect("a tree");
            assert_eq!(exit, Exit::Done, "{text}");
            let json: Value = serde_json::from_str(&text).expect("JSON");
            json["tree"]["positions"].as_u64().expect("a number")
        };
        // 218 points are empty after the open four.
        assert_eq!(positions(&["--json", "--every-reply"]), 219);
        assert!(positions(&["--json"]) <= 219);
    }

    #[test]
    fn setup_is_refused_for_a_line() {
        for arguments in [["--moves", "h8 i9"], ["--moves", ""]] {
            let error = verify(&tree_of_a_setup(), &arguments).expect_err("a setup");
            assert!(format!("{error:#}").contains("set up"), "{error:#}");
        }
    }

    #[test]
    fn another_line_is_refused() {
        let same = ["--moves", "i8 a3 h8 a1 k8 a5 j8 a7"];
        assert_eq!(verify(TREE, &same).expect("a transposition").0, Exit::Done);
        let error = verify(TREE, &["--moves", "h8 a1"]).expect_err("another position");
        assert!(
            format!("{error:#}").contains("another position"),
            "{error:#}"
        );
        let (_, text) = verify(TREE, &[]).expect("a tree");
        assert!(text.contains("proven position"), "{text}");
    }

    #[test]
    fn setup_of_xiangqi_is_printed_as_fen() {
        let variant = kagetsu_game::Variant::XIANGQI;
        let position = Position::from_fen(variant, FEN).expect("a FEN");
        let mate = position
            .legal_moves()
            .into_iter()
            .find(|&m| position.play(m).is_ok_and(|next| next.outcome().is_some()));
        let mate = position.write_move(mate.expect("a mate in one"));
        let setup = position.setup().expect("a setup");
        let hex: String = setup.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let tree = format!(
            "kagetsu-proof 1\nvariant xiangqi\nsetup {hex}\nposition\nclaim win 1\n1 {mate}\nend 1\n"
        );
        let (exit, text) = verify(&tree, &["--fen", FEN]).expect("a tree");
        assert_eq!(exit, Exit::Done);
        assert!(text.contains(&format!("proven position: {FEN}")), "{text}");
        let start = "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR w";
        let error = verify(&tree, &["--fen", start]).expect_err("another position");
        assert!(
            format!("{error:#}").contains("another position"),
            "{error:#}"
        );
        assert!(verify(&tree, &["--moves", ""]).is_err());
    }
}
