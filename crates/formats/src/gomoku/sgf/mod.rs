//! Games and trees of moves in SGF (Smart Game Format), as gomoku and renju programs write it.

mod syntax;

use anyhow::{Result, bail};
use kagetsu_book::AnnotationKind;
use kagetsu_game::{Move, Position, Side, Variant};
use kagetsu_games::GameTags;

use self::syntax::{Node, SgfStep, steps, text};
use crate::games::book_tree::{BETWEEN_TEXTS, SGF_MARKS};
use crate::games::pass::passed;
use crate::games::tally::{GameResult, Games};
use crate::games::text::rule_name;
use crate::games::tree::{GameTree, TreePlace};
use crate::games::words::result_of;
use crate::omissions::{OTHER_GAMES, Omissions, TRUNCATED_FILES, UNREAD_RESULTS};

/// Properties that a tree keeps, and a book does not.
pub(crate) const OTHER_PROPERTIES: &str = "other_properties";
/// Properties that say nothing about a game, or that every file has of its own.
const FORMAL: [&str; 8] = ["GM", "FF", "CA", "AP", "SZ", "ST", "VW", "MULTIGOGM"];

/// Reads all games of a file, and counts them.
///
/// # Errors
/// If the file is no SGF.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    let (mut games, mut count, mut unkept) = (Games::default(), 0, 0);
    let mut omissions = read_trees(bytes, variant, &mut |tree| {
        count += 1;
        note(&mut games, &tree.start, &tree.properties);
        for m in tree.moves.iter().filter(|m| !m.properties.is_empty()) {
            if let Ok(after) = m.before.play(m.at) {
                note(&mut games, &after, &m.properties);
            }
        }
        unkept += u64::from(games.play_tree(tree));
    })?;
    if unkept > 0 {
        omissions.omit("games_with_passes_or_stones_set_up_on_the_way", unkept);
    }
    Ok((games, count, omissions))
}

/// Keeps the texts and marks of a node, and its name.
fn note(games: &mut Games, position: &Position, properties: &[(String, Vec<String>)]) {
    let size = position.variant().gomoku().map_or(0, |(_, size)| size);
    for (name, value) in properties
        .iter()
        .flat_map(|(name, values)| values.iter().map(move |value| (name, value)))
    {
        match (&**name, value.split_once(':')) {
            ("N", _) => games.note(position, None, AnnotationKind::Comment, value),
            ("LB", Some((at, text))) => {
                let at = point(at.as_bytes(), size);
                for text in text.split(BETWEEN_TEXTS) {
                    games.note(position, at, AnnotationKind::Text, text.trim());
                }
            }
            (mark, _) if SGF_MARKS.contains(&mark) => {
                for at in points(value.as_bytes(), size).into_iter().flatten() {
                    games.note(position, Some(at), AnnotationKind::Mark, mark);
                }
            }
            _ => {}
        }
    }
}

/// Reads all games of a file as trees. The omissions count properties, too, which trees have.
///
/// # Errors
/// If the file is no SGF.
pub(crate) fn read_trees(
    bytes: &[u8],
    variant: Variant,
    take: &mut dyn FnMut(GameTree),
) -> Result<Omissions> {
    let Some((_, size)) = variant.gomoku() else {
        bail!("this reads games of gomoku, not of {variant}")
    };
    let mut omissions = Omissions::new();
    let begun = || SgfGame::new(variant, size);
    let mut game = begun();
    let mut left: Vec<TreePlace> = Vec::new();
    let (steps, is_cut) = steps(text(bytes).as_bytes())?;
    omissions.omit(TRUNCATED_FILES, u64::from(is_cut));
    for step in &steps {
        match step {
            SgfStep::Open => left.push(game.at.clone()),
            SgfStep::Close => {
                game.at = left.pop().unwrap_or_default();
                if left.is_empty() {
                    let game = std::mem::replace(&mut game, begun());
                    game.finish(&mut omissions).into_iter().for_each(&mut *take);
                }
            }
            SgfStep::Node(node) => game.add(node, &mut omissions),
        }
    }
    Ok(omissions)
}

/// A game that is being read.
struct SgfGame {
    tree: GameTree,
    at: TreePlace,
    size: u8,
    /// Nodes so far.
    nodes: u64,
    /// Whether white stones were played first: they are then the first player's.
    is_exchanged: bool,
    /// Whether it is of another game or board.
    is_other: bool,
}

impl SgfGame {
    fn new(variant: Variant, size: u8) -> Self {
        let start = Position::start(variant);
        let at = TreePlace {
            position: Some(start.clone()),
            last: None,
        };
        Self {
            tree: GameTree::from_start(start),
            at,
            size,
            nodes: 0,
            is_exchanged: false,
            is_other: false,
        }
    }

    fn finish(mut self, omissions: &mut Omissions) -> Option<GameTree> {
        if self.is_exchanged {
            let tags = &mut self.tree.tags;
            std::mem::swap(&mut tags.first, &mut tags.second);
            if let GameResult::Won(side) = self.tree.result {
                self.tree.result = GameResult::Won(side.other());
            }
            self.tree.properties.retain(|(name, _)| name != "RE");
            omissions.omit("colours_of_games_that_white_began", 1);
        }
        Some(self.tree).filter(|_| !self.is_other)
    }

    /// Adds a node's move and properties.
    fn add(&mut self, node: &Node, omissions: &mut Omissions) {
        self.nodes += 1;
        let variant = self.tree.start.variant();
        let mut whys = node.iter().map(|property| other_game(property, variant));
        if let Some(why) = whys.find_map(|why| why.filter(|_| !self.is_other)) {
            omissions.omit_text(OTHER_GAMES, &self.place(), &why);
            self.is_other = true;
        }
        if self.is_other {
            return;
        }
        if node.iter().any(|(name, _)| SETUP.contains(&name.as_str())) {
            let before = self.at.position.take();
            self.at.position = before.and_then(|before| setup(&before, node, self.size));
            match &self.at.position {
                Some(position) if self.tree.moves.is_empty() => {
                    self.tree.start.clone_from(position);
                }
                Some(_) => {}
                None => omissions.omit_text("set_up_positions", &self.place(), &shown(node)),
            }
        }
        let is_root = self.nodes == 1;
        // A comment is about the move of its node, wherever it stands in it.
        let (mut comments, mut others) = (Vec::new(), Vec::new());
        for (name, values) in node {
            let value = values.first().map(Vec::as_slice).unwrap_or_default();
            let tags = &mut self.tree.tags;
            let texts = || values.iter().map(|value| words(value)).collect();
            match name.as_str() {
                "RE" => {
                    let text = words(value);
                    match result_of(&text, variant) {
                        Some(result) => self.tree.result = result,
                        None => omissions.omit_text(UNREAD_RESULTS, &self.place(), &text),
                    }
                    // Words say more than a letter.
                    if !["B+", "W+", "Draw"].contains(&&*text) {
                        others.push((name.clone(), texts()));
                    }
                }
                "RU" if is_own_rule(value, variant) => {}
                "PB" => tags.first = words(value),
                "PW" => tags.second = words(value),
                "EV" => tags.event = words(value),
                "RO" => tags.round = words(value),
                "DT" => tags.date = GameTags::date_of(&words(value)),
                "B" | "W" => self.make(name, value, omissions),
                "C" => comments.push(words(value)),
                name if SETUP.contains(&name) || FORMAL.contains(&name) => {}
                name => {
                    if !["N", "LB"].contains(&name) && !SGF_MARKS.contains(&name) {
                        omissions.omit(OTHER_PROPERTIES, values.len() as u64);
                    }
                    others.push((name.into(), texts()));
                }
            }
        }
        // The moves behind an impossible move are dropped, with their comments.
        if self.at.position.is_some() {
            for comment in comments {
                self.tree.remark(self.at.last, &comment);
            }
            match self.at.last {
                Some(last) if !is_root => self.tree.moves[last].properties.extend(others),
                _ => self.tree.properties.extend(others),
            }
        }
    }

    /// Adds a move, or a pass.
    fn make(&mut self, name: &str, value: &[u8], omissions: &mut Omissions) {
        let Some(before) = self.at.position.take() else {
            omissions.omit("nodes_beyond_these", 1);
            return;
        };
        let is_start = self.tree.moves.is_empty() && before == Position::start(before.variant());
        self.is_exchanged |= is_start && name == "W" && !value.is_empty();
        let is_turn = (name == "B") == ((before.side() == Side::First) != self.is_exchanged);
        let m = point(value, self.size).filter(|_| is_turn);
        if let Some((m, after)) = m.and_then(|m| Some((m, before.play(m).ok()?))) {
            self.at.last = Some(self.tree.push(self.at.last, before, m));
            self.at.position = Some(after);
        } else if is_turn && (value.is_empty() || value == b"tt") {
            self.at.position = passed(&before);
        } else {
            let text = format!("{name}[{}]", words(value));
            omissions.omit_text("moves_that_cannot_be_made", &self.place(), &text);
        }
    }

    /// Says which node is read.
    fn place(&self) -> String {
        format!("node {}: ", self.nodes)
    }
}

/// Whether a rule is the one that is written for the variant.
fn is_own_rule(value: &[u8], variant: Variant) -> bool {
    let name = variant.gomoku().map_or("", |(rule, _)| rule_name(rule));
    !name.is_empty() && name.as_bytes() == value
}

/// Writes a node as it stands in a file.
fn shown(node: &Node) -> String {
    let values = |values: &[Vec<u8>]| -> String {
        values
            .iter()
            .map(|value| format!("[{}]", words(value)))
            .collect()
    };
    node.iter()
        .map(|(name, read)| format!("{name}{}", values(read)))
        .collect()
}

/// Says why the game with a property is not of the variant.
fn other_game((name, values): &(String, Vec<Vec<u8>>), variant: Variant) -> Option<String> {
    let text = words(values.first()?);
    let size = variant.gomoku()?.1.to_string();
    match name.as_str() {
        // ZJRenju writes 5.
        "GM" if !["1", "4", "5", ""].contains(&&*text) => Some(format!("GM[{text}], no gomoku")),
        "SZ" if text.split([':', 'x', '*']).any(|side| side.trim() != size) => {
            Some(format!("a board of size {text}, not of {variant}"))
        }
        _ => None,
    }
}

/// Reads a short text.
fn words(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim().into()
}

/// Reads a point: letters for column and row, rows from the top; or a letter and a number, rows
/// from the bottom, as some programs write them.
fn point(value: &[u8], size: u8) -> Option<Move> {
    let value = value.trim_ascii().to_ascii_lowercase();
    let (&column, row) = value.split_first()?;
    let place = |letter: u8| letter.checked_sub(b'a').filter(|place| *place < size);
    let row = match row {
        [letter] if letter.is_ascii_lowercase() => size - 1 - place(*letter)?,
        digits => {
            let number = std::str::from_utf8(digits).ok()?.parse::<u8>().ok()?;
            number.checked_sub(1).filter(|row| *row < size)?
        }
    };
    let number = |place: u8| u16::from(place);
    Some(Move::new(
        number(row) * number(size) + number(place(column)?),
    ))
}

/// Reads a point, or a rectangle given by two corners with a colon between them.
fn points(value: &[u8], size: u8) -> Option<Vec<Move>> {
    let (from, to) = match value.iter().position(|byte| *byte == b':') {
        Some(at) => (point(&value[..at], size)?, point(&value[at + 1..], size)?),
        None => (point(value, size)?, point(value, size)?),
    };
    let size = u16::from(size);
    let span = |one: u16, other: u16| one.min(other)..=one.max(other);
    let rows = span(from.code() / size, to.code() / size);
    Some(
        rows.flat_map(|row| {
            span(from.code() % size, to.code() % size)
                .map(move |column| Move::new(row * size + column))
        })
        .collect(),
    )
}

/// Setup properties: black stones, white stones, empty points, side to move.
const SETUP: [&str; 4] = ["AB", "AW", "AE", "PL"];

/// Returns the position with the stones that a node sets up.
fn setup(before: &Position, node: &Node, size: u8) -> Option<Position> {
    let mut stones = before.stones()?;
    let mut stated_side = None;
    for (name, values) in node {
        let owner = match name.as_str() {
            "AB" => Some(Side::First),
            "AW" => Some(Side::Second),
            "AE" => None,
            "PL" => {
                // Some programs write the colour in full.
                stated_side = match values.first()?.trim_ascii().first()? {
                    b'B' | b'b' | b'1' => Some(Side::First),
                    b'W' | b'w' | b'2' => Some(Side::Second),
                    _ => return None,
                };
                continue;
            }
            _ => continue,
        };
        for value in values {
            for m in points(value, size)? {
                for own in &mut stones {
                    own.retain(|stone| *stone != m);
                }
                if let Some(owner) = owner {
                    stones[owner.index()].push(m);
                }
            }
        }
    }
    let by_count = Side::first_if(stones[0].len() <= stones[1].len());
    let side = stated_side.unwrap_or(by_count);
    Position::from_stones(before.variant(), &stones, side).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each position with a move, its moves, and the omissions.
    fn read_moves(bytes: &[u8]) -> (Vec<String>, Omissions) {
        let (games, _, mut omissions) = read(bytes, Variant::FREESTYLE_15).expect("SGF");
        omissions.retain(|_, lost| *lost > 0);
        let moves = |(position, answer): &(Position, kagetsu_game::Answer)| {
            let moves: Vec<String> = answer
                .verdicts()
                .iter()
                .map(|(m, _)| position.write_move(*m))
                .collect();
            format!("{} {}", position.canonical().stones, moves.join(" "))
        };
        (games.answers("sgf").iter().map(moves).collect(), omissions)
    }

    #[test]
    fn letters_of_any_encoding_hide_no_moves() {
        let (whole, lost) = read_moves("(;SZ[15];B[hh]C[caf\u{e9}];W[ih];B[hi])".as_bytes());
        assert_eq!((whole.len(), lost), (3, Omissions::new()));
        for head in ["", "CA[windows-1252]", "CA[ISO-8859-1]", "CA[unknown]"] {
            let latin = [
                format!("(;SZ[15]{head};B[hh]C[caf").as_bytes(),
                b"\xe9];W[ih];B[hi])",
            ]
            .concat();
            assert_eq!(read_moves(&latin).0, whole, "{head}");
        }
        for (head, letter) in [
            ("", &b"\x83\x5d"[..]),
            ("CA[gb2312]", b"\x83\x5d"),
            ("CA[Shift_JIS]", b"\x83\x5c"),
        ] {
            let far = [
                format!("(;SZ[15]{head};B[hh]C[").as_bytes(),
                letter,
                b"];W[ih];B[hi])",
            ]
            .concat();
            assert_eq!(read_moves(&far).0, whole, "{head}");
        }
        let wide: Vec<u8> = "\u{feff}(;SZ[15];B[hh]C[caf\u{e9}];W[ih];B[hi])"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(read_moves(&wide).0, whole);
    }

    #[test]
    fn setup_sets_stones_and_side_to_move() {
        for (text, expected) in [
            ("(;SZ[15]AB[hh]AW[ih];B[hi])", "2 "),
            // These cases have rectangles, a point cleared again, and White to move with equal
            // stones.
            ("(;SZ[15]PL[W]AB[hh:ih]AW[hi:ii];W[aa])", "4 "),
            ("(;SZ[15]AB[ih:hi]AE[ii];W[aa])", "3 "),
            ("(;SZ[15]AW[hh]AB[ih][hi]PL[black];B[aa])", "3 "),
            ("(;SZ[15];AW[hh]AB[ih][hi];AE[hi]PL[B]C[so];B[aa])", "2 "),
        ] {
            let (moves, lost) = read_moves(text.as_bytes());
            assert_eq!((moves.len(), lost), (1, Omissions::new()), "{text}");
            assert!(moves[0].starts_with(expected), "{text}: {moves:?}");
        }
        let wrong = read_moves(b"(;SZ[15]AB[zz];W[aa])").1;
        assert_eq!(
            wrong,
            [("set_up_positions", 1), ("nodes_beyond_these", 1)].into()
        );
    }

    #[test]
    fn truncated_file_is_counted() {
        let whole = "(;SZ[15];B[hh];W[ih];B[hi])";
        for (end, moves) in [(26, 3), (25, 2), (24, 2), (20, 2), (19, 1), (9, 0)] {
            let (found, lost) = read_moves(&whole.as_bytes()[..end]);
            assert_eq!(
                (found.len(), lost),
                (moves, [(TRUNCATED_FILES, 1)].into()),
                "{}",
                &whole[..end]
            );
        }
        assert_eq!(read_moves(whole.as_bytes()).1, Omissions::new());
    }
}
