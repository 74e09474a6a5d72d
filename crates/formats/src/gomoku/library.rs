//! RenLib libraries as books.
//!
//! Most moves of a library have no value; the book then holds that the move was made. Rapfi gives
//! some texts on points a meaning (`v34`, `m34`, `W12`, `L12`, `W*`, `L*`), and these are read as
//! values. An export writes the first, third and fourth of them, with depth and proof in comments.
//! Texts and marks on points belong to the position before the move that is made there, comments
//! to the position after it.

use std::iter::successors;

use anyhow::{Result, bail};
use kagetsu_book::{Annotation, AnnotationKind, Book};
use kagetsu_game::{Claim, Move, Outcome, Position, Proof, ProofKind, Score, Variant, Verdict};

use crate::games::book_tree::{BETWEEN_TEXTS, BookTree, comments, texts};
use crate::games::pass::passed;
use crate::games::tally::{Games, GivenValue, longest};
use crate::gomoku::renlib::{self, Library, LibraryBranch, LibraryNode, SIZE};
use crate::input::encoding::decode_texts;
use crate::omissions::{
    IMPOSSIBLE_ENDS, MISSING_DISTANCES, MoveDetail, Omissions, TRUNCATED_FILES, VALUES_OUT_OF_RANGE,
};

/// Reads the moves of a library.
///
/// # Errors
/// If the file is no library, or the variant has another board.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    is_on_its_board(variant)?;
    let Library {
        nodes,
        has_root,
        is_cut,
        behind,
    } = renlib::read(bytes)?;
    let (mut games, mut omissions) = (Games::default(), Omissions::new());
    omissions.omit(TRUNCATED_FILES, u64::from(is_cut));
    omissions.omit("bytes_behind_the_end", behind);
    // The position after each node, and its ply; passes count as plies.
    let mut positions: Vec<(Option<Position>, u16)> = vec![(Some(Position::start(variant)), 0)];
    let texts = decode_texts(
        nodes
            .iter()
            .flat_map(|node| [&node.comment, &node.board_text]),
    );
    let start = Position::start(variant);
    note(&mut games, &nodes[0], &texts[..2], None, Some(&start));
    for (node, texts) in nodes.iter().zip(texts.chunks(2)).skip(1) {
        let (before, ply) = node.parent.map_or((None, 0), |at| positions[at].clone());
        let ply = ply + u16::from(node.is_move);
        if node.cell.is_none() && node.is_move {
            let after = before.as_ref().and_then(passed);
            note(
                &mut games,
                node,
                texts,
                None,
                after.as_ref().or(before.as_ref()),
            );
            positions.push((after, ply));
            continue;
        }
        let reached = before.as_ref().and_then(|before| {
            let cell = node.cell.filter(|_| node.is_move)?;
            Some((Move::new(cell), before.play(Move::new(cell)).ok()?))
        });
        if let Some(before) = &before {
            let after = reached.as_ref().map(|(_, after)| after);
            let m = node.cell.map(Move::new);
            note(&mut games, node, texts, m.map(|m| (before, m)), after);
        }
        match (&before, &reached) {
            (Some(before), Some((m, after))) => {
                games.add(before, *m, 0);
                let text = PointText::read(&texts[1], after, ply);
                if let PointText::Value(value) | PointText::Endless(value) = text {
                    games.set_value(before, *m, value);
                }
                match text {
                    PointText::Endless(_) => omissions.omit(MISSING_DISTANCES, 1),
                    PointText::Impossible(what) => omissions.omit(what, 1),
                    PointText::Plain | PointText::Value(_) => {}
                }
            }
            (Some(_), None) if !node.is_move => omissions.omit("nodes_that_are_no_moves", 1),
            (Some(before), None) => {
                let cell = node.cell.map(Move::new);
                let text = cell.map_or_else(String::new, |m| before.write_move(m));
                let place = format!("ply {ply}: ");
                omissions.omit_text("moves_that_cannot_be_made", &place, &text);
            }
            (None, _) => omissions.omit("nodes_beyond_these", 1),
        }
        positions.push((reached.map(|(_, after)| after), ply));
    }
    // A file of version 3.0 has no root node and begins with its first move.
    Ok((
        games,
        (nodes.len() - usize::from(!has_root)) as u64,
        omissions,
    ))
}

fn is_on_its_board(variant: Variant) -> Result<()> {
    match variant.gomoku() {
        Some((_, size)) if usize::from(size) == SIZE => Ok(()),
        _ => bail!("a library is of gomoku on a board of 15x15, not of {variant}"),
    }
}

/// Keeps the comment, the text and the mark of a node: on its point of the position before it, or
/// on a position where it has no point.
fn note(
    games: &mut Games,
    node: &LibraryNode,
    texts: &[String],
    point: Option<(&Position, Move)>,
    after: Option<&Position>,
) {
    let here = point.map(|(before, m)| (before, Some(m)));
    let after = after.map(|after| (after, None));
    if let Some((position, m)) = after.or(here) {
        let text = texts[0].replace("\r\n", "\n").replace(BETWEEN_FIELDS, "\n");
        let is_value = VALUES.iter().any(|value| texts[1].starts_with(*value));
        // An export wrote depth and engine of such a value.
        let is_own = |text: &&str| is_value && text.starts_with(DEPTH);
        for text in comments(&text).filter(|text| !is_own(text)) {
            games.note(position, m, AnnotationKind::Comment, text);
        }
    }
    if let Some((position, m)) = here.or(after) {
        for text in texts[1].split(BETWEEN_TEXTS) {
            games.note(position, m, AnnotationKind::Text, text.trim());
        }
        if node.is_marked {
            games.note(position, m, AnnotationKind::Mark, "");
        }
    }
}

/// A letter between the first line of a comment, which RenLib shows in a list, and the others.
const BETWEEN_FIELDS: char = '\u{8}';
/// The first letters of texts with values.
const VALUES: [char; 3] = ['v', 'W', 'L'];
/// The beginning of a comment on a value.
const DEPTH: &str = "depth ";

/// The meaning of a text on a point for the move made there, as Rapfi reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PointText {
    /// A text without a meaning for a book.
    Plain,
    Value(GivenValue),
    /// A win or a loss without a distance.
    Endless(GivenValue),
    /// A value that the move cannot have, with the kind of omission.
    Impossible(&'static str),
}

impl PointText {
    /// Reads the text of the move that led to a position, at ply `made` of the library.
    fn read(text: &str, after: &Position, made: u16) -> Self {
        let Some((kind, number)) = text.split_at_checked(1) else {
            return Self::Plain;
        };
        let claim = match kind {
            "W" => Claim::Win,
            "L" => Claim::Loss,
            "v" | "m" => {
                let Ok(centi) = number.parse::<i32>() else {
                    return Self::Plain;
                };
                let most = i32::from(Score::OPINION_MAX.raw());
                if !(-most..=most).contains(&centi) {
                    return Self::Impossible(VALUES_OUT_OF_RANGE);
                }
                let centi = if kind == "v" { centi } else { -centi };
                return Self::Value(GivenValue::opinion(centi));
            }
            _ => return Self::Plain,
        };
        // A single letter is more often a label of a point than a value.
        if number == "*" {
            return longest(after, claim).map_or(Self::Impossible(IMPOSSIBLE_ENDS), |proof| {
                Self::Endless(proof.into())
            });
        }
        let Ok(end) = number.parse::<u16>() else {
            return Self::Plain;
        };
        // The number is the last ply of the game, counted from its start.
        let left = (end + 1).checked_sub(made).filter(|left| *left > 0);
        let proof = left.map(|plies| Proof::new(claim, ProofKind::Manual, plies));
        let proof = proof.filter(|proof| can_end(after, *proof, end));
        proof.map_or(Self::Impossible(IMPOSSIBLE_ENDS), |proof| {
            Self::Value(proof.into())
        })
    }
}

/// Whether the game can end at ply `end`, counted from its start, as a text claims of the last
/// move.
fn can_end(after: &Position, proof: Proof, end: u16) -> bool {
    let points = (SIZE * SIZE) as u16;
    // The winner makes the last move, and five stones have to be there.
    let is_winners = (proof.plies % 2 == 1) == (proof.claim == Claim::Win);
    let is_over = matches!(after.outcome(), Some(Outcome::Win(_)));
    is_winners && (MIN_END_PLY..=points).contains(&end) && is_over == (proof.plies == 1)
}

/// The first ply at which a game can end with five stones.
const MIN_END_PLY: u16 = 9;

/// Writes the positions of a variant as a library, with their annotations.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write(book: &Book, variant: Variant) -> Result<(Vec<u8>, u64, Omissions)> {
    is_on_its_board(variant)?;
    let mut omissions = Omissions::new();
    let start = Position::start(variant);
    let mut tree = BookTree::grow(book, &start, &[], &mut omissions)?;
    tree.grow_passes(&mut omissions)?;
    // A text on a free point stands on a node of its own.
    for at in 0..tree.nodes.len() {
        for note in tree.nodes[at].notes.clone() {
            let is_shown = note.is_on_board();
            let position = tree.nodes[at].position.as_ref();
            let m = note.at.filter(|_| is_shown);
            match m.filter(|m| position.is_some_and(|position| position.play(*m).is_ok())) {
                Some(m) => _ = tree.child(at, m),
                None if is_shown => omissions.omit("texts_on_stones", 1),
                None => {}
            }
        }
    }
    let branches = (0..tree.nodes.len()).map(|at| branch(&tree, at, &mut omissions));
    let branches: Vec<LibraryBranch> = branches.collect();
    Ok((renlib::write(&branches), tree.seen.len() as u64, omissions))
}

/// Returns a node with its texts.
fn branch(tree: &BookTree, at: usize, omissions: &mut Omissions) -> LibraryBranch {
    let node = &tree.nodes[at];
    let texts = texts(tree.notes_on_move(at));
    let verdict = node.verdict.as_ref().filter(|verdict| !verdict.is_silent());
    let parent = |at: &usize| (*at > 0).then(|| tree.nodes[*at].parent);
    let plies = successors(Some(at), parent).count() - 1;
    let (mut text, mut more) = (joined(texts.iter()), String::new());
    if let Some(verdict) = verdict {
        let details = [MoveDetail::Nodes, MoveDetail::Line, MoveDetail::Date];
        omissions.omit_details(verdict, &details);
        let meaning = |text: &&str| match &node.position {
            Some(after) => PointText::read(text, after, plies as u16),
            None => PointText::Plain,
        };
        let says = |text: &&str| match meaning(text) {
            PointText::Value(given) | PointText::Endless(given) => Some(given.score),
            PointText::Plain | PointText::Impossible(_) => None,
        };
        let mut words = texts.iter().filter(|text| says(text).is_none()).peekable();
        let same = texts.iter().find(|text| says(text) == Some(verdict.score));
        more = comment_on_value(verdict);
        if words.peek().is_some() {
            omissions.omit("values_behind_texts", 1);
            text = joined(words);
        } else {
            text = same.map_or_else(|| board_text(verdict, plies), |text| text.to_string());
        }
    }
    let is_mark = |note: &&Annotation| note.kind == AnnotationKind::Mark;
    let marks = tree.notes_on_move(at).filter(is_mark);
    let shapes = marks.clone().filter(|mark| !mark.text.is_empty());
    omissions.omit("shapes_of_marks", shapes.count() as u64);
    let comment = tree.comment(at, &more);
    LibraryBranch {
        cell: node.at.map(Move::code),
        is_marked: marks.count() > 0,
        comment: match comment.contains('\n') {
            true => format!("{BETWEEN_FIELDS}{}", comment.replace('\n', "\r\n")),
            false => comment,
        },
        board_text: text,
        children: node.children.clone(),
    }
}

/// Joins the texts on one point.
fn joined<'a>(texts: impl Iterator<Item = &'a &'a str>) -> String {
    let texts: Vec<&str> = texts.copied().collect();
    texts.join(&BETWEEN_TEXTS.to_string())
}

fn board_text(verdict: &Verdict, plies: usize) -> String {
    let end = |proof: Proof| plies + usize::from(proof.plies) - 1;
    match verdict.proof {
        Some(proof) if proof.claim == Claim::Win => format!("W{}", end(proof)),
        Some(proof) if proof.claim == Claim::Loss => format!("L{}", end(proof)),
        _ => format!("v{}", verdict.score.raw()),
    }
}

/// Returns depth and engine of a search; nothing of a value that a file gave.
fn comment_on_value(verdict: &Verdict) -> String {
    if verdict.depth == 0 {
        return String::new();
    }
    let proof = verdict.proof.map_or_else(String::new, |proof| {
        format!(", {} by {}", proof.claim, proof.kind)
    });
    format!("{DEPTH}{}, {}{proof}", verdict.depth, verdict.by.engine)
}

#[cfg(test)]
mod tests {
    use kagetsu_book::{BuildSpec, JobSpec};

    use super::*;
    use crate::tests::searched;

    /// Returns the meaning of a text on the last move of a line.
    fn meaning(line: &str, text: &str) -> PointText {
        let after = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
        PointText::read(text, &after, after.moves().len() as u16)
    }

    #[test]
    fn job_roots_keep_their_move_order() {
        let line = ["h8", "g9", "j10"];
        let root = Position::from_line(Variant::FREESTYLE_15, &line.join(" ")).expect("legal");
        let (_folder, mut book) = searched("freestyle-15", &[], 0);
        let m = root.parse_move("a1").expect("legal");
        let answer = [kagetsu_builders::opinion(m, 34)].into_iter().collect();
        book.learn(&root, &answer).expect("room");
        let names = |book: &Book| {
            let (bytes, ..) = write(book, Variant::FREESTYLE_15).expect("memory");
            let (games, ..) = read(&bytes, Variant::FREESTYLE_15).expect("just written");
            let mut answers = games.answers("lib").into_iter();
            assert!(answers.all(|(_, answer)| answer.verdicts().iter().all(|m| m.1.nodes == 0)));
            let nodes = renlib::read(&bytes).expect("just written").nodes;
            let name = |node: &LibraryNode| node.cell.map(|cell| root.write_move(Move::new(cell)));
            nodes[1..4].iter().filter_map(name).collect::<Vec<_>>()
        };
        // The original move order is unknown, and the centre is the likeliest first move.
        assert_eq!(names(&book)[0], line[0]);
        let job = JobSpec {
            name: "test".into(),
            variant: Variant::FREESTYLE_15,
            roots: [root.clone()].into(),
            exclude: [].into(),
            build: BuildSpec {
                alpha: 0.5,
                depth: Some(1),
                top: 1,
                positions: Some(1),
                ..BuildSpec::default()
            },
        };
        book.create_job(&job).expect("room");
        assert_eq!(names(&book), line);
    }

    #[test]
    fn texts_become_values_where_possible() {
        let proof = |claim, plies| GivenValue::from(Proof::new(claim, ProofKind::Manual, plies));
        let opinion = |centi| PointText::Value(GivenValue::opinion(centi));
        let five = "h8 a1 h9 a2 h10 a3 h11 a5 h12";
        for (line, text, expected) in [
            ("h8 i9 h9", "v34", opinion(34)),
            ("h8 i9 h9", "m34", opinion(-34)),
            ("h8 i9 h9", "v-30000", opinion(-30_000)),
            (
                "h8 i9 h9",
                "v30001",
                PointText::Impossible(VALUES_OUT_OF_RANGE),
            ),
            (
                "h8 i9 h9",
                "v99999",
                PointText::Impossible(VALUES_OUT_OF_RANGE),
            ),
            // The third ply belongs to the first player.
            ("h8 i9 h9", "W11", PointText::Value(proof(Claim::Win, 9))),
            ("h8 i9 h9", "L12", PointText::Value(proof(Claim::Loss, 10))),
            ("h8 i9 h9", "W12", PointText::Impossible(IMPOSSIBLE_ENDS)),
            ("h8 i9 h9", "L11", PointText::Impossible(IMPOSSIBLE_ENDS)),
            // These ends come before five stones are possible, before the move, or after the board
            // is full.
            ("h8 i9 h9", "W7", PointText::Impossible(IMPOSSIBLE_ENDS)),
            ("h8 i9 h9", "W1", PointText::Impossible(IMPOSSIBLE_ENDS)),
            ("h8 i9 h9", "W227", PointText::Impossible(IMPOSSIBLE_ENDS)),
            ("h8 i9 h9", "W225", PointText::Value(proof(Claim::Win, 223))),
            (five, "W9", PointText::Value(proof(Claim::Win, 1))),
            (five, "W11", PointText::Impossible(IMPOSSIBLE_ENDS)),
            (
                "h8 a1 h9 a2 h10 a3 h11 a5 i12",
                "W9",
                PointText::Impossible(IMPOSSIBLE_ENDS),
            ),
            ("h8 i9 h9", "W", PointText::Plain),
            ("h8 i9 h9", "W*", PointText::Endless(proof(Claim::Win, 223))),
            (
                "h8 i9 h9",
                "L*",
                PointText::Endless(proof(Claim::Loss, 222)),
            ),
            (five, "W*", PointText::Endless(proof(Claim::Win, 1))),
            (five, "L*", PointText::Impossible(IMPOSSIBLE_ENDS)),
            ("h8 i9 h9", "White", PointText::Plain),
            ("h8 i9 h9", "1", PointText::Plain),
            ("h8 i9 h9", "", PointText::Plain),
        ] {
            assert_eq!(meaning(line, text), expected, "{line}: {text}");
        }
    }
}
