//! Text files with a line for each game or position: moves, Gomocup openings, FENs.

use anyhow::{Context, Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Bound, Claim, Move, Position, Proof, ProofKind, Score, Variant};

use crate::games::tally::{GameResult, Games, GivenValue};
use crate::games::words::result_of;
use crate::omissions::{IMPOSSIBLE_ENDS, MoveDetail, Omissions, VALUES_OUT_OF_RANGE};
use crate::openings as roots;
use crate::xiangqi::colours::{as_they_come_up, others};
use kagetsu_games::{after, read_move};

/// The number of stones of an exported opening.
const OPENING_STONES: std::ops::RangeInclusive<u16> = 2..=12;
/// The largest value of an exported opening for either side, in centi-units.
const MAX_BALANCED_CENTI: i16 = 60;

/// Reads lines of moves, or offsets of stones from the centre, as `build --roots` takes them.
///
/// # Errors
/// The first invalid line, by its number.
pub(crate) fn openings(text: &str, variant: Variant) -> Result<(Games, u64, Omissions)> {
    let roots = if text.trim_start().starts_with('{') {
        roots::of_json(text, variant)?
    } else {
        roots::of_lines(text, variant)?
    };
    let mut games = Games::default();
    for root in &roots {
        games.play(&Position::start(variant), root.moves(), GameResult::Unknown);
    }
    Ok((games, roots.len() as u64, Omissions::new()))
}

/// Writes the balanced openings of a book as offsets of stones from the centre.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write_openings(book: &Book, variant: Variant) -> Result<(String, u64, Omissions)> {
    let Some((_, size)) = variant.gomoku() else {
        bail!("openings by offsets are of gomoku, not of {variant}")
    };
    let size = i32::from(size);
    let (mut text, mut count, mut omissions) = (String::new(), 0, Omissions::new());
    for entry in book.positions() {
        let entry = entry?;
        let derived = entry.derived;
        let is_one = OPENING_STONES.contains(&entry.position.canonical().stones)
            && derived.proof.is_none()
            && !derived.is_open
            && derived.score.raw().abs() <= MAX_BALANCED_CENTI;
        if entry.position.variant() != variant {
            // Positions of other games are counted below.
            continue;
        }
        let Some(line) = entry.position.line().filter(|_| is_one) else {
            omissions.omit("positions_that_are_no_balanced_openings", 1);
            continue;
        };
        let offset = |m: &Move| {
            let (row, column) = (i32::from(m.code()) / size, i32::from(m.code()) % size);
            format!("{},{}", column - size / 2, size - 1 - row - size / 2)
        };
        text += &line.iter().map(offset).collect::<Vec<_>>().join(", ");
        text.push('\n');
        count += 1;
    }
    omissions.omit("positions_of_other_games", others(book, variant)?);
    Ok((text, count, omissions))
}

/// Reads one game a line: its moves in any notation that a command takes, optionally with a FEN and
/// `|` before them, and with a result behind them: `1-0`, `0-1`, `1/2-1/2`, 红胜. Blank lines and
/// text after `#` are skipped.
///
/// # Errors
/// The first invalid line, by its number.
pub(crate) fn games(text: &str, variant: Variant) -> Result<(Games, u64, Omissions)> {
    let (mut games, mut count) = (Games::default(), 0);
    for (number, line) in (1..).zip(text.lines()) {
        let line = roots::bare(line);
        if line.is_empty() {
            continue;
        }
        let about = || format!("line {number}");
        let (start, line) = match line.split_once('|') {
            Some((fen, line)) => (
                Position::from_fen(variant, fen.trim()).with_context(about)?,
                line.trim(),
            ),
            None => (Position::start(variant), line),
        };
        let (rest, last) = line.rsplit_once(char::is_whitespace).unwrap_or(("", line));
        // A last word that is a move is no result.
        let is_result = last.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '[');
        let ending = result_of(last, variant).filter(|_| is_result && !is_number(last));
        let line = if ending.is_some() { rest } else { line };
        let ending = ending.unwrap_or_default();
        let moves = match start.play_line(line) {
            Ok(end) => end.moves()[start.moves().len()..].to_vec(),
            Err(error) => played_on(&start, line).ok_or(error).with_context(about)?,
        };
        games.play(&start, &moves, ending);
        count += 1;
    }
    Ok((games, count, Omissions::new()))
}

/// Whether a word is a pair of numbers, as moves of Gomocup are.
fn is_number(word: &str) -> bool {
    word.split(',').all(|part| part.parse::<u8>().is_ok())
}

/// Returns the moves of a line that goes on after a game was over by repetition, as some programs
/// do.
fn played_on(start: &Position, line: &str) -> Option<Vec<Move>> {
    let (mut at, mut moves) = (start.clone(), Vec::new());
    for word in line
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
    {
        let m = read_move(&at, word)?;
        at = after(&at, m)?;
        moves.push(m);
    }
    Some(moves)
}

/// Reads one position a line: a FEN, then fields after semicolons: the best move `bm h2e2`, and its
/// value `ce 34` (centi-units), `win 7` or `loss 8` (plies), and its depth `acd 9`. Other fields
/// (`id`) and impossible values are skipped and counted.
///
/// # Errors
/// The first invalid line, by its number.
pub(crate) fn fens(text: &str, variant: Variant) -> Result<(Games, u64, Omissions)> {
    let (mut games, mut count, mut omissions) = (Games::default(), 0, Omissions::new());
    for (number, line) in (1..).zip(text.lines()) {
        let line = roots::bare(line);
        if line.is_empty() {
            continue;
        }
        let about = || format!("line {number}");
        let (fen, rest) = roots::split_fen(line);
        let position = Position::from_fen(variant, fen).with_context(about)?;
        let (mut best, mut given, mut depth) = (Vec::new(), None, 0);
        for part in rest
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (name, value) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            let value = value.trim();
            let about = || format!("line {number}, '{part}'");
            match name {
                "bm" => {
                    for word in value.split([' ', ',']).filter(|word| !word.is_empty()) {
                        let m = position.parse_move(word).with_context(about)?;
                        position.play(m).with_context(about)?;
                        best.push(m);
                    }
                }
                "ce" => {
                    let centi = value.parse::<i32>().with_context(about)?;
                    let most = i32::from(Score::OPINION_MAX.raw());
                    let is_one = (-most..=most).contains(&centi);
                    omissions.omit(VALUES_OUT_OF_RANGE, u64::from(!is_one));
                    given = is_one.then(|| GivenValue::opinion(centi)).or(given);
                }
                "win" | "loss" => {
                    let is_win = name == "win";
                    let proof = proven(if is_win { Claim::Win } else { Claim::Loss }, value);
                    omissions.omit(IMPOSSIBLE_ENDS, u64::from(proof.is_none()));
                    given = proof.map(GivenValue::from).or(given);
                }
                "acd" => depth = value.parse().with_context(about)?,
                _ => omissions.omit_at("other_operations", number, part),
            }
        }
        if best.is_empty() {
            omissions.omit_at("positions_without_a_move", number, line);
        }
        for m in best {
            match given {
                Some(given) => games.set_value(&position, m, GivenValue { depth, ..given }),
                None => games.add(&position, m, 0),
            }
        }
        count += 1;
    }
    Ok((games, count, omissions))
}

/// Returns a win or a loss in `plies` plies, of which the move is the first; the winner makes the
/// last.
fn proven(claim: Claim, plies: &str) -> Option<Proof> {
    let plies = plies
        .parse()
        .ok()
        .filter(|plies| (1..=Score::MAX_PLIES).contains(plies))?;
    ((plies % 2 == 1) == (claim == Claim::Win)).then_some(Proof::new(
        claim,
        ProofKind::Manual,
        plies,
    ))
}

/// Writes the positions of a variant with their best moves, as [`fens`] reads them.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write_fens(book: &Book, variant: Variant) -> Result<(String, u64, Omissions)> {
    let (mut text, mut count, mut omissions) = (String::new(), 0, Omissions::new());
    for position in as_they_come_up(book, variant)? {
        let Some(entry) = book.lookup(&position)? else {
            continue;
        };
        text += &position.fen()?;
        let best = entry
            .answer
            .verdicts()
            .iter()
            .find(|(_, v)| v.bound != Bound::Upper || v.proof.is_some());
        if let Some((m, verdict)) = best {
            text += &format!("; bm {}", entry.position.write_move(*m));
            text += &match (verdict.score.win_plies(), verdict.score.loss_plies()) {
                (Some(plies), _) => format!("; win {plies}"),
                (_, Some(plies)) => format!("; loss {plies}"),
                _ => format!("; ce {}", verdict.score.raw()),
            };
            text += &format!("; acd {}", verdict.depth);
            omissions.omit("moves_behind_the_best", entry.answer.len() as u64 - 1);
            omissions.omit_details(verdict, &MoveDetail::ALL[1..]);
        }
        text.push('\n');
        count += 1;
    }
    omissions.omit("positions_of_other_games", others(book, variant)?);
    Ok((text, count, omissions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_value_is_counted_and_move_stays() {
        let fen = Position::start(Variant::XIANGQI).fen().expect("pieces");
        for (operation, score, lost) in [
            ("ce 34", Some(Score::opinion(34)), None),
            ("win 7", Some(Score::win_in(7)), None),
            ("loss 8", Some(Score::loss_in(8)), None),
            ("ce 99999", None, Some(VALUES_OUT_OF_RANGE)),
            ("win 8", None, Some(IMPOSSIBLE_ENDS)),
            ("loss 7", None, Some(IMPOSSIBLE_ENDS)),
            ("win 0", None, Some(IMPOSSIBLE_ENDS)),
            ("loss 2000", None, Some(IMPOSSIBLE_ENDS)),
            ("acd 5; ce 34", Some(Score::opinion(34)), None),
            ("id 5", None, Some("other_operations")),
        ] {
            let (games, _, mut omissions) =
                fens(&format!("{fen}; bm h2e2; {operation}\n"), Variant::XIANGQI).expect("a line");
            omissions.retain(|_, lost| *lost > 0);
            assert_eq!(
                omissions.keys().copied().collect::<Vec<_>>(),
                Vec::from_iter(lost),
                "{operation}"
            );
            let answers = games.answers("fen");
            let verdict = &answers[0].1.verdicts()[0].1;
            assert_eq!(
                (!verdict.is_silent()).then_some(verdict.score),
                score,
                "{operation}"
            );
            let depth = if operation.starts_with("acd") { 5 } else { 0 };
            assert_eq!(verdict.depth, depth, "{operation}");
        }
    }
}
