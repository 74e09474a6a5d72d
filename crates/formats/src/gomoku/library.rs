//! RenLib libraries as books.
//!
//! Most moves of a library have no value; the book then holds that the move was made. Rapfi gives
//! some texts on points a meaning (`v34`, `m34`, `W12`, `L12`, `W*`, `L*`), and these are read as
//! values. An export writes the first, third and fourth of them, with depth and proof in comments.

use std::collections::HashSet;

use anyhow::{Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{
    Claim, Key, Move, Outcome, Position, Proof, ProofKind, Score, Variant, Verdict,
};

use crate::games::tally::{Games, GivenValue, longest};
use crate::gomoku::pass::passed;
use crate::gomoku::renlib::{self, Library, LibraryBranch, LibraryNode, SIZE};
use crate::omissions::{
    IMPOSSIBLE_ENDS, MISSING_DISTANCES, MoveDetail, Omissions, TRUNCATED_FILES,
    VALUES_OUT_OF_RANGE, omit, omit_details, omit_text,
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
    omit(&mut omissions, TRUNCATED_FILES, u64::from(is_cut));
    omit(&mut omissions, "bytes_behind_the_end", behind);
    // The position after each node, and its ply; passes count as plies.
    let mut positions: Vec<(Option<Position>, u16)> = vec![(Some(Position::start(variant)), 0)];
    note_texts(&nodes[0], PointText::Plain, &mut omissions);
    for node in &nodes[1..] {
        let (before, ply) = node.parent.map_or((None, 0), |at| positions[at].clone());
        let ply = ply + u16::from(node.is_move);
        if node.cell.is_none() && node.is_move {
            note_texts(node, PointText::Plain, &mut omissions);
            positions.push((before.as_ref().and_then(passed), ply));
            continue;
        }
        let reached = before.as_ref().and_then(|before| {
            let cell = node.cell.filter(|_| node.is_move)?;
            Some((Move::new(cell), before.play(Move::new(cell)).ok()?))
        });
        match (&before, &reached) {
            (Some(before), Some((m, after))) => {
                games.add(before, *m, 1);
                let text = PointText::read(&node.board_text, after, ply);
                if let PointText::Value(value) | PointText::Endless(value) = text {
                    games.set_value(before, *m, value);
                }
                note_texts(node, text, &mut omissions);
            }
            (Some(_), None) if !node.is_move => omit(&mut omissions, "nodes_that_are_no_moves", 1),
            (Some(before), None) => {
                let cell = node.cell.map(Move::new);
                let text = cell.map_or_else(String::new, |m| before.write_move(m));
                let place = format!("ply {ply}: ");
                omit_text(&mut omissions, "moves_that_cannot_be_made", &place, &text);
            }
            (None, _) => omit(&mut omissions, "nodes_beyond_these", 1),
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

fn note_texts(node: &LibraryNode, text: PointText, omissions: &mut Omissions) {
    omit(omissions, "comments", u64::from(!node.comment.is_empty()));
    omit(omissions, "marks", u64::from(node.is_marked));
    match text {
        PointText::Plain => omit(
            omissions,
            "board_texts",
            u64::from(!node.board_text.is_empty()),
        ),
        PointText::Value(_) => {}
        PointText::Endless(_) => omit(omissions, MISSING_DISTANCES, 1),
        PointText::Impossible(what) => omit(omissions, what, 1),
    }
}

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
    fn read(text: &[u8], after: &Position, made: u16) -> Self {
        let Ok(text) = std::str::from_utf8(text) else {
            return Self::Plain;
        };
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
                let score = Score::opinion(if kind == "v" { centi } else { -centi });
                return Self::Value(GivenValue { score, proof: None });
            }
            _ => return Self::Plain,
        };
        let given = |proof: Proof| GivenValue {
            score: proof.score(),
            proof: Some(proof),
        };
        // A single letter is more often a label of a point than a value.
        if number == "*" {
            return longest(after, claim).map_or(Self::Impossible(IMPOSSIBLE_ENDS), |proof| {
                Self::Endless(given(proof))
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
            Self::Value(given(proof))
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

/// Writes the positions of a variant as a library.
///
/// Each position is expanded once, at the first line that reaches it. The lines from the start come
/// first, then those from the roots of the book's jobs, in the order of the jobs' moves.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write(book: &Book, variant: Variant) -> Result<(Vec<u8>, u64, Omissions)> {
    is_on_its_board(variant)?;
    let mut omissions = Omissions::new();
    let mut tree = LibraryTree {
        variant,
        branches: vec![LibraryBranch::default()],
        seen: HashSet::new(),
    };
    let start = Position::start(variant);
    tree.grow(book, &start, 0, &mut omissions)?;
    // The branches of a job keep the move order in which its root was given.
    for job in book
        .jobs()?
        .iter()
        .filter(|job| job.spec.variant == variant)
    {
        for line in job.spec.roots.iter().filter_map(Position::line) {
            tree.grow_at(book, &line, &mut omissions)?;
        }
    }
    for entry in book.positions() {
        let entry = entry?;
        if entry.position.variant() != variant {
            omit(&mut omissions, "positions_of_other_games", 1);
        } else if !tree.seen.contains(&entry.position.key()) {
            // No line of the book leads to the position, so its stones are placed in any legal
            // order.
            match entry.position.line() {
                Some(line) => tree.grow_at(book, &from_the_centre(&start, line), &mut omissions)?,
                None => omit(&mut omissions, "positions_that_no_line_leads_to", 1),
            }
        }
    }
    let positions = tree.seen.len() as u64;
    Ok((renlib::write(&tree.branches), positions, omissions))
}

/// Moves the centre to the front of a line, if the first player has a stone there.
fn from_the_centre(start: &Position, line: Vec<Move>) -> Vec<Move> {
    let centre = Move::new((SIZE * SIZE / 2) as u16);
    let Some(at) = line
        .iter()
        .position(|m| *m == centre)
        .filter(|at| at % 2 == 0)
    else {
        return line;
    };
    let mut other = line.clone();
    other.swap(0, at);
    // In another order a five may come too early.
    let reached = other
        .iter()
        .try_fold(start.clone(), |position, m| position.play(*m));
    if reached.is_ok() { other } else { line }
}

struct LibraryTree {
    variant: Variant,
    branches: Vec<LibraryBranch>,
    /// Positions whose moves are in the tree.
    seen: HashSet<Key>,
}

impl LibraryTree {
    /// Returns the branch of a move, and creates it if necessary.
    fn child(&mut self, at: usize, m: Move) -> usize {
        let known = self.branches[at]
            .children
            .iter()
            .find(|child| self.branches[**child].cell == m.code());
        known.copied().unwrap_or_else(|| {
            self.branches.push(LibraryBranch {
                cell: m.code(),
                ..LibraryBranch::default()
            });
            let number = self.branches.len() - 1;
            self.branches[at].children.push(number);
            number
        })
    }

    /// Adds the moves of the position after a line, and of those that follow it, to the tree.
    fn grow_at(&mut self, book: &Book, line: &[Move], omissions: &mut Omissions) -> Result<()> {
        let (variant, mut at) = (self.variant, 0);
        let mut position = Position::start(variant);
        for m in line {
            position = position.play(*m)?;
        }
        if self.seen.contains(&position.key()) || book.lookup(&position)?.is_none() {
            return Ok(());
        }
        for m in line {
            at = self.child(at, *m);
        }
        self.grow(book, &position, at, omissions)
    }

    /// Adds the moves of a position, and of those that follow it, to a branch.
    fn grow(
        &mut self,
        book: &Book,
        position: &Position,
        at: usize,
        omissions: &mut Omissions,
    ) -> Result<()> {
        let mut left = vec![(position.clone(), at)];
        while let Some((position, at)) = left.pop() {
            if self.seen.contains(&position.key()) {
                continue;
            }
            let Some(entry) = book.lookup(&position)? else {
                continue;
            };
            self.seen.insert(position.key());
            let mut next = Vec::new();
            for (m, verdict) in entry.answer.verdicts() {
                if !verdict.is_exact() && !verdict.is_silent() {
                    omit(omissions, "moves_with_a_bound_alone", 1);
                    continue;
                }
                let child = self.child(at, *m);
                let plies = position.moves().len() + 1;
                if !verdict.is_silent() {
                    self.branches[child].board_text = board_text(verdict, plies);
                    self.branches[child].comment = comment(verdict);
                    omit_details(
                        omissions,
                        verdict,
                        &[MoveDetail::Nodes, MoveDetail::Line, MoveDetail::Date],
                    );
                }
                // A foul of renju ends the game, so no position follows.
                next.extend(position.play(*m).ok().map(|after| (after, child)));
            }
            left.extend(next.into_iter().rev());
        }
        Ok(())
    }
}

fn board_text(verdict: &Verdict, plies: usize) -> String {
    let end = |proof: Proof| plies + usize::from(proof.plies) - 1;
    match verdict.proof {
        Some(proof) if proof.claim == Claim::Win => format!("W{}", end(proof)),
        Some(proof) if proof.claim == Claim::Loss => format!("L{}", end(proof)),
        _ => format!("v{}", verdict.score.raw()),
    }
}

fn comment(verdict: &Verdict) -> String {
    let proof = verdict.proof.map_or_else(String::new, |proof| {
        format!(", {} by {}", proof.claim, proof.kind)
    });
    format!("depth {}, {}{proof}", verdict.depth, verdict.by.engine)
}

#[cfg(test)]
mod tests {
    use kagetsu_book::{BuildSpec, JobSpec};

    use super::*;
    use crate::tests::searched;

    /// Returns the meaning of a text on the last move of a line.
    fn meaning(line: &str, text: &str) -> PointText {
        let after = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
        PointText::read(text.as_bytes(), &after, after.moves().len() as u16)
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
        let proof = |claim, plies| {
            let proof = Proof::new(claim, ProofKind::Manual, plies);
            GivenValue {
                score: proof.score(),
                proof: Some(proof),
            }
        };
        let opinion = |centi| {
            PointText::Value(GivenValue {
                score: Score::opinion(centi),
                proof: None,
            })
        };
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
