//! Writes games as text: SGF for stones, PGN for xiangqi.

use kagetsu_game::{Notation, Position, RuleName, Score, Side, Variant};
use kagetsu_games::{GameRecord, GameResult, GameTags};

/// Columns of a line of moves in PGN.
const PGN_COLUMNS: usize = 80;
/// The greatest value in SGF, in centi-units.
const MAX_VALUE: f64 = 10_000.0;

/// Something to say about a move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveNote {
    /// The value after the move, from the view of the side that made it.
    pub value: Option<Score>,
    /// A comment; empty for none.
    pub text: String,
}

/// Writes a game of stones as SGF and a game of xiangqi as PGN. `notes` are about the moves, in
/// their order; there may be fewer. PGN in the notation of engines has a hyphen, `H2-E2` (ICCS).
/// Returns `None` for a game that neither format holds.
#[must_use]
pub fn write_game(game: &GameRecord, notes: &[MoveNote], notation: Notation) -> Option<String> {
    match game.played.variant() {
        Variant::Gomoku { rule, size } => Some(sgf(game, notes, rule, size)),
        Variant::Xiangqi { .. } => pgn(game, notes, notation),
        _ => None,
    }
}

fn sgf(game: &GameRecord, notes: &[MoveNote], rule: RuleName, size: u8) -> String {
    let escape = |text: &str| text.replace('\\', "\\\\").replace(']', "\\]");
    let mut text = format!("(;GM[4]FF[4]CA[UTF-8]AP[Kagetsu]SZ[{size}]");
    let rule = match rule {
        RuleName::Freestyle => "",
        RuleName::Standard => "Standard",
        RuleName::Renju => "Renju",
    };
    let result = match game.result {
        GameResult::Won(Side::First) => "B+",
        GameResult::Won(Side::Second) => "W+",
        GameResult::Drawn => "Draw",
        GameResult::Unknown => "",
    };
    let GameTags {
        first,
        second,
        event,
        date,
        round,
        ..
    } = &game.tags;
    for (name, value) in [
        ("RU", rule),
        ("PB", first),
        ("PW", second),
        ("EV", event),
        ("RO", round),
        ("DT", date),
        ("RE", result),
    ] {
        if !value.is_empty() {
            text += &format!("{name}[{}]", escape(value));
        }
    }
    // A setup of stones has an order in which they could have been played.
    let line = game.played.line();
    let moves = line.as_deref().unwrap_or(game.played.moves());
    let before = moves.len() - game.played.moves().len().min(moves.len());
    for (at, m) in moves.iter().enumerate() {
        let (column, row) = (m.code() % u16::from(size), m.code() / u16::from(size));
        let letter = |number: u16| char::from(b'a' + number as u8);
        let colour = if at % 2 == 0 { 'B' } else { 'W' };
        let top = u16::from(size) - 1 - row;
        text += &format!(";{colour}[{}{}]", letter(column), letter(top));
        let Some(note) = at.checked_sub(before).and_then(|at| notes.get(at)) else {
            continue;
        };
        if let Some(value) = note.value {
            // SGF gives values from Black's view; a forced win is the greatest.
            let raw = f64::from(value.raw()).clamp(-MAX_VALUE, MAX_VALUE) / 100.0;
            let black = if at % 2 == 0 { raw } else { -raw };
            text += &format!("V[{black:.2}]");
        }
        if !note.text.is_empty() {
            text += &format!("C[{}]", escape(&note.text));
        }
    }
    text + ")\n"
}

fn pgn(game: &GameRecord, notes: &[MoveNote], notation: Notation) -> Option<String> {
    let played = &game.played;
    let (variant, setup) = (played.variant(), played.setup().cloned());
    let start = Position::new(variant, setup.clone(), &[]).ok()?;
    let or_unknown = |text: &str| if text.is_empty() { "?" } else { text }.replace('"', "'");
    let GameTags {
        first,
        second,
        event,
        date,
        round,
        ..
    } = &game.tags;
    let date = date.replace('-', ".");
    let mut text = String::new();
    let format = match notation {
        Notation::Engine => "ICCS",
        Notation::Wxf => "WXF",
        Notation::Chinese => "Chinese",
    };
    for (name, value) in [
        ("Game", "Chinese Chess".to_string()),
        ("Event", or_unknown(event)),
        ("Date", or_unknown(&date)),
        ("Round", or_unknown(round)),
        ("Red", or_unknown(first)),
        ("Black", or_unknown(second)),
        ("Result", game.result.text().into()),
    ] {
        text += &format!("[{name} \"{value}\"]\n");
    }
    if setup.is_some() {
        text += &format!("[FEN \"{}\"]\n", start.fen().ok()?);
    }
    text += &format!("[Format \"{format}\"]\n\n");
    let names = names(&start, played, notation);
    let late = usize::from(start.side() == Side::Second);
    let mut column = 0;
    let mut put = |word: &str| {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > PGN_COLUMNS {
            text.push('\n');
            column = 0;
        }
        if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    };
    let mut is_interrupted = true;
    for (at, name) in names.iter().enumerate() {
        let number = (at + late) / 2 + 1;
        if (at + late) % 2 == 0 {
            put(&format!("{number}."));
        } else if is_interrupted {
            put(&format!("{number}..."));
        }
        put(name);
        is_interrupted = false;
        if let Some(note) = notes.get(at).filter(|note| !note.text.is_empty()) {
            put(&format!("{{{}}}", note.text.replace(['{', '}'], "")));
            is_interrupted = true;
        }
    }
    put(game.result.text());
    text.push('\n');
    Some(text)
}

/// Names the moves of a game.
fn names(start: &Position, played: &Position, notation: Notation) -> Vec<String> {
    let mut names = start.write_line_in(played.moves(), notation);
    if notation == Notation::Engine {
        for name in &mut names {
            *name = name.to_ascii_uppercase();
            name.insert(2, '-');
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Importer};

    fn game(variant: Variant, line: &str) -> GameRecord {
        GameRecord {
            played: Position::from_line(variant, line).expect("legal"),
            result: GameResult::Won(Side::Second),
            tags: GameTags {
                first: "Ann ] \\ x".into(),
                second: "Bo".into(),
                event: "Cup".into(),
                date: "2001-02-03".into(),
                round: "2".into(),
                source: String::new(),
            },
        }
    }

    #[test]
    fn written_games_are_read_again() {
        let stones = game(Variant::STANDARD_15, "h8 i9 h9 a1");
        let pieces = game(Variant::XIANGQI, "h2e2 h9g7 h0g2 i9h9 b0c2");
        let note = MoveNote {
            value: Some(Score::opinion(34)),
            text: "+0.34 ] {best} C2=5".into(),
        };
        let notes = [note.clone(), MoveNote::default(), note];
        for notation in Notation::ALL {
            for (game, format) in [(&stones, Format::Sgf), (&pieces, Format::Pgn)] {
                for notes in [&notes[..], &[]] {
                    let text = write_game(game, notes, notation).expect("it has a format");
                    let importer = Importer::new(format, Some(game.played.variant()));
                    let read = importer.read_records(text.as_bytes()).expect("our own");
                    assert_eq!(read.as_slice(), std::slice::from_ref(game), "{text}");
                }
            }
        }
    }

    #[test]
    fn pgn_begins_at_a_fen_of_black() {
        let fen = "4k4/9/9/9/9/9/9/9/4r4/3K5 b";
        let start = Position::from_fen(Variant::XIANGQI, fen).expect("legal");
        let game = GameRecord {
            played: start.play_line("e1e2").expect("legal"),
            result: GameResult::Unknown,
            tags: GameTags::default(),
        };
        let text = write_game(&game, &[], Notation::Engine).expect("PGN");
        assert!(text.contains("[FEN \"4k4/"), "{text}");
        assert!(text.ends_with("1... E1-E2 *\n"), "{text}");
    }

    #[test]
    fn other_games_have_no_text() {
        let game = game(Variant::SURAKARTA, "");
        assert_eq!(write_game(&game, &[], Notation::Engine), None);
    }
}
