//! Writes games as text: SGF for stones, PGN for xiangqi.

use kagetsu_game::{Move, Notation, Position, RuleName, Score, Side, Variant};
use kagetsu_games::GameResult;

use crate::games::sgf_stones::{colour, gap, set_up, sgf_point};
use crate::games::tree::{GameMove, GameTree};

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

/// Writes a game of stones as SGF and a game of xiangqi as PGN, with its variations and comments.
/// `notes` are about the moves, by their numbers; there may be fewer. PGN in the notation of
/// engines has a hyphen, `H2-E2` (ICCS). Returns `None` for a game that neither format holds.
#[must_use]
pub fn write_game(game: &GameTree, notes: &[MoveNote], notation: Notation) -> Option<String> {
    match game.start.variant() {
        Variant::Gomoku { rule, size } => Some(sgf(game, notes, rule, size)),
        Variant::Xiangqi { .. } => pgn(game, notes, notation),
        _ => None,
    }
}

/// Returns what the file and the notes say about a move.
fn comment(game: &GameTree, notes: &[MoveNote], at: usize) -> String {
    let own = &*game.moves[at].comment;
    let texts = [own, notes.get(at).map_or("", |note| &note.text)];
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.join("; ")
}

/// A part of a tree that is still to be written, the last one first. A list in place of recursion
/// holds trees of any depth.
enum Unwritten {
    /// A move and all behind it.
    Move(usize),
    /// The same, as a variation.
    Variation(usize),
    /// The end of a variation.
    End,
}

/// Returns a rule's name in SGF; none for freestyle.
pub(crate) const fn rule_name(rule: RuleName) -> &'static str {
    match rule {
        RuleName::Freestyle => "",
        RuleName::Standard => "Standard",
        RuleName::Renju => "Renju",
        RuleName::Caro => "Caro",
        RuleName::CaroOverline => "Caro-Overline",
    }
}

fn sgf(game: &GameTree, notes: &[MoveNote], rule: RuleName, size: u8) -> String {
    let escape = |text: &str| text.replace('\\', "\\\\").replace(']', "\\]");
    let property = |(name, values): &(String, Vec<String>)| {
        let values = values.iter().map(|value| format!("[{}]", escape(value)));
        format!("{name}{}", values.collect::<String>())
    };
    let mut text = format!("(;GM[4]FF[4]CA[UTF-8]AP[Kagetsu]SZ[{size}]");
    let rule = rule_name(rule);
    let result = match game.result {
        GameResult::Won(Side::First) => "B+",
        GameResult::Won(Side::Second) => "W+",
        GameResult::Drawn => "Draw",
        GameResult::Unknown => "",
    };
    let tags = &game.tags;
    for (name, value) in [
        ("RU", rule),
        ("PB", &*tags.first),
        ("PW", &tags.second),
        ("EV", &tags.event),
        ("RO", &tags.round),
        ("DT", &tags.date),
        ("RE", result),
        ("C", &game.comment),
    ] {
        // The words of the file say more.
        let is_given = game.properties.iter().any(|(given, _)| given == name);
        if !value.is_empty() && !is_given {
            text += &format!("{name}[{}]", escape(value));
        }
    }
    text.extend(game.properties.iter().map(property));
    if game.start.setup().is_some() {
        text += &set_up(&Position::start(game.start.variant()), &game.start, size);
    }
    let stone = |m: Move, side: Side| format!(";{}[{}]", colour(side), sgf_point(m, size));
    let children = game.children();
    let mut unwritten = Vec::new();
    let behind = |at: usize, unwritten: &mut Vec<Unwritten>| match &children[at][..] {
        [only] => unwritten.push(Unwritten::Move(*only)),
        several => {
            for child in several.iter().rev() {
                unwritten.extend([Unwritten::End, Unwritten::Variation(*child)]);
            }
        }
    };
    behind(game.moves.len(), &mut unwritten);
    while let Some(next) = unwritten.pop() {
        let at = match next {
            Unwritten::Move(at) => at,
            Unwritten::Variation(at) => {
                text.push_str("\n(");
                at
            }
            Unwritten::End => {
                text.push(')');
                continue;
            }
        };
        let side = game.moves[at].before.side();
        let last = game.moves[at].parent.map(|last| &game.moves[last]);
        let setup = last.map_or(game.start.setup(), |last| last.before.setup());
        if game.moves[at].before.setup() != setup {
            let expected = match last {
                Some(last) => last.before.play(last.at).ok(),
                None => Some(game.start.clone()),
            };
            if let Some(expected) = expected {
                text += &gap(&expected, &game.moves[at].before, size);
            }
        }
        text += &stone(game.moves[at].at, side);
        let valued = notes.get(at).is_some_and(|note| note.value.is_some());
        let kept = game.moves[at].properties.iter();
        text.extend(
            kept.filter(|(name, _)| name != "V" || !valued)
                .map(property),
        );
        if let Some(value) = notes.get(at).and_then(|note| note.value) {
            // SGF gives values from Black's view; a forced win is the greatest.
            let raw = f64::from(value.raw()).clamp(-MAX_VALUE, MAX_VALUE) / 100.0;
            let black = if side == Side::First { raw } else { -raw };
            text += &format!("V[{black:.2}]");
        }
        let comment = comment(game, notes, at);
        if !comment.is_empty() {
            text += &format!("C[{}]", escape(&comment));
        }
        behind(at, &mut unwritten);
    }
    text + ")\n"
}

/// Words in lines of the width of PGN.
#[derive(Default)]
struct WrappedText {
    text: String,
    column: usize,
    /// Whether the next word touches the last one.
    is_joined: bool,
}

impl WrappedText {
    fn put(&mut self, word: &str) {
        let width = word.chars().count();
        let is_joined = std::mem::take(&mut self.is_joined);
        if self.column > 0 && !is_joined {
            if self.column + 1 + width > PGN_COLUMNS {
                self.text.push('\n');
                self.column = 0;
            } else {
                self.text.push(' ');
                self.column += 1;
            }
        }
        self.text.push_str(word);
        self.column += width;
    }

    /// Opens a variation, whose first word touches the bracket.
    fn open(&mut self) {
        self.put("(");
        self.is_joined = true;
    }

    /// Closes a variation behind its last word.
    fn close(&mut self) {
        self.is_joined = true;
        self.put(")");
    }

    fn comment(&mut self, text: &str) {
        let text = text.replace(['{', '}'], "").replace('\n', " ");
        self.put(&format!("{{{text}}}"));
    }
}

fn pgn(game: &GameTree, notes: &[MoveNote], notation: Notation) -> Option<String> {
    let or_unknown = |text: &str| if text.is_empty() { "?" } else { text }.replace('"', "'");
    let tags = &game.tags;
    let mut text = String::new();
    let format = match notation {
        Notation::Engine => "ICCS",
        Notation::Wxf => "WXF",
        Notation::Chinese => "Chinese",
    };
    for (name, value) in [
        ("Game", "Chinese Chess".to_string()),
        ("Event", or_unknown(&tags.event)),
        ("Date", or_unknown(&tags.date.replace('-', "."))),
        ("Round", or_unknown(&tags.round)),
        ("Red", or_unknown(&tags.first)),
        ("Black", or_unknown(&tags.second)),
        ("Result", game.result.text().into()),
    ] {
        text += &format!("[{name} \"{value}\"]\n");
    }
    for (name, values) in &game.properties {
        let value = values.first().map_or("", |value| &**value);
        text += &format!("[{name} \"{}\"]\n", value.replace('"', "'"));
    }
    if game.start.setup().is_some() {
        text += &format!("[FEN \"{}\"]\n", game.start.fen().ok()?);
    }
    text += &format!("[Format \"{format}\"]\n\n");
    let late = usize::from(game.start.side() == Side::Second);
    let mut plies: Vec<usize> = Vec::with_capacity(game.moves.len());
    for m in &game.moves {
        plies.push(m.parent.map_or(late, |parent| plies[parent] + 1));
    }
    let children = game.children();
    let (mut lines, mut is_interrupted) = (WrappedText::default(), true);
    if !game.comment.is_empty() {
        lines.comment(&game.comment);
    }
    let first = children.last().and_then(|first| first.first());
    let mut unwritten: Vec<Unwritten> = first.map(|at| Unwritten::Move(*at)).into_iter().collect();
    while let Some(next) = unwritten.pop() {
        let (at, is_variation) = match next {
            Unwritten::Move(at) => (at, false),
            Unwritten::Variation(at) => {
                lines.open();
                (at, true)
            }
            Unwritten::End => {
                lines.close();
                is_interrupted = true;
                continue;
            }
        };
        is_interrupted |= is_variation;
        let (m, ply) = (&game.moves[at], plies[at]);
        let number = ply / 2 + 1;
        if ply.is_multiple_of(2) {
            lines.put(&format!("{number}."));
        } else if is_interrupted {
            lines.put(&format!("{number}..."));
        }
        lines.put(&move_name(m, notation));
        for (name, values) in &m.properties {
            lines.put(&format!("{name}{}", values.concat()));
        }
        is_interrupted = false;
        let comment = comment(game, notes, at);
        if !comment.is_empty() {
            lines.comment(&comment);
            is_interrupted = true;
        }
        unwritten.extend(children[at].first().map(|next| Unwritten::Move(*next)));
        // The alternatives to a move stand behind it.
        if !is_variation {
            let beside = &children[m.parent.unwrap_or(game.moves.len())][1..];
            for other in beside.iter().rev() {
                unwritten.extend([Unwritten::End, Unwritten::Variation(*other)]);
            }
        }
    }
    lines.put(game.result.text());
    Some(text + &lines.text + "\n")
}

/// Names a move.
fn move_name(m: &GameMove, notation: Notation) -> String {
    let mut name = m.before.write_move_in(m.at, notation);
    if notation == Notation::Engine {
        name = name.to_ascii_uppercase();
        name.insert(2, '-');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Importer};
    use kagetsu_game::Position;
    use kagetsu_games::{GameRecord, GameTags};
    use proptest::prelude::*;

    fn game(variant: Variant, line: &str) -> GameTree {
        GameTree::from(&GameRecord {
            played: Position::from_line(variant, line).expect("legal"),
            tail: Vec::new(),
            result: GameResult::Won(Side::Second),
            tags: GameTags {
                first: "Ann ] \\ x".into(),
                second: "Bo".into(),
                event: "Cup".into(),
                date: "2001-02-03".into(),
                round: "2".into(),
                source: String::new(),
            },
        })
    }

    fn read(text: &str, format: Format, variant: Variant) -> Vec<GameTree> {
        let importer = Importer::new(format, Some(variant));
        importer.read_trees(text.as_bytes()).expect("our own").0
    }

    /// The trees without their comments.
    fn bare(mut trees: Vec<GameTree>) -> Vec<GameTree> {
        for m in trees.iter_mut().flat_map(|tree| &mut tree.moves) {
            m.comment.clear();
            m.properties.clear();
        }
        trees
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
                    let read = bare(read(&text, format, game.start.variant()));
                    assert_eq!(read.as_slice(), std::slice::from_ref(game), "{text}");
                }
            }
        }
    }

    #[test]
    fn variations_and_comments_are_read_again() {
        let sgf = "(;GM[4]SZ[15]C[on the start]PB[Ann];B[hh]C[a \\] b];W[ih]\n(;B[hi](;W[aa])(;W[bb];B[cc]))(;B[hg]C[c]))";
        let pgn = "[Red \"Ann\"]\n\n{on the start} 1. h2e2 {a} (1. b2e2 {b} h9g7 (1... b9c7 2. h0g2) (1... a9a8)) \
                   (1. g3g4) 1... h9g7 {c} 2. h0g2 (2. b0c2 i9h9 (2... g6g5) 3. a0a1) *\n";
        for (text, format, variant, count) in [
            (sgf, Format::Sgf, Variant::FREESTYLE_15, 7),
            (pgn, Format::Pgn, Variant::XIANGQI, 13),
        ] {
            let trees = read(text, format, variant);
            assert_eq!(
                (trees.len(), trees[0].moves.len()),
                (1, count),
                "{trees:#?}"
            );
            assert_eq!(trees[0].comment, "on the start");
            let has_comments = trees[0]
                .moves
                .iter()
                .filter(|m| !m.comment.is_empty())
                .count();
            assert_eq!(has_comments, if format == Format::Sgf { 2 } else { 3 });
            for notation in Notation::ALL {
                let written = write_game(&trees[0], &[], notation).expect("it has a format");
                assert_eq!(
                    sorted(&read(&written, format, variant)[0]),
                    sorted(&trees[0]),
                    "{written}"
                );
            }
        }
    }

    /// Each move with its comment behind the moves that lead to it; files order moves differently.
    fn sorted(tree: &GameTree) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for m in &tree.moves {
            let before = m.parent.map_or("", |parent| &*lines[parent]);
            let line = format!("{before} {} {}", m.before.write_move(m.at), m.comment);
            lines.push(line);
        }
        lines.sort();
        lines
    }

    proptest! {
        #[test]
        fn trees_of_any_shape_are_read_again(
            stones in prop::collection::vec(
                prop::sample::select(vec![
                    "(", ")", ";B[hh]", ";W[ih]", ";B[hi]", ";W[hi]", ";B[gg]", ";W[]", "C[c]", ";",
                ]),
                0..60,
            ),
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "(", ")", "h2e2", "h9g7", "h0g2", "b2e2", "g3g4", "b9c7", "{c}", ";d\n", "1.", "x",
                ]),
                0..60,
            ),
        ) {
            let sgf = format!("(;SZ[15]{})", stones.concat());
            let pgn = format!("[Red \"Ann\"]\n\n{}", pieces.join(" "));
            for (text, format, variant) in [
                (sgf, Format::Sgf, Variant::FREESTYLE_15),
                (pgn, Format::Pgn, Variant::XIANGQI),
            ] {
                let importer = Importer::new(format, Some(variant));
                let Ok((trees, _)) = importer.read_trees(text.as_bytes()) else { continue };
                for tree in trees.iter().filter(|tree| !tree.moves.is_empty()) {
                    let written = write_game(tree, &[], Notation::Engine).expect("it has a format");
                    let again = read(&written, format, variant);
                    prop_assert_eq!(again.len(), 1, "{}", written);
                    prop_assert_eq!(sorted(&again[0]), sorted(tree), "{}", written);
                }
            }
        }
    }

    #[test]
    fn deep_trees_are_written() {
        // Each variation begins inside the one before it.
        let start = Position::start(Variant::FREESTYLE_15);
        let mut tree = GameTree::from_start(start.clone());
        let center = start.parse_move("h8").expect("legal");
        tree.push(None, start.clone(), center);
        let mut last = 0;
        for _ in 0..20_000 {
            let next = tree.push(Some(last), start.clone(), center);
            tree.push(Some(last), start.clone(), center);
            last = next;
        }
        let text = write_game(&tree, &[], Notation::Engine).expect("SGF");
        let count = |letter: char| text.matches(letter).count();
        assert_eq!(count('('), count(')'));
    }

    #[test]
    fn pgn_begins_at_a_fen_of_black() {
        let fen = "4k4/9/9/9/9/9/9/9/4r4/3K5 b";
        let start = Position::from_fen(Variant::XIANGQI, fen).expect("legal");
        let game = GameTree::from(&GameRecord {
            played: start.play_line("e1e2").expect("legal"),
            tail: Vec::new(),
            result: GameResult::Unknown,
            tags: GameTags::default(),
        });
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
