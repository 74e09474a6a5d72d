//! Libraries of RenLib, as what a book says of moves.
//!
//! A library is a tree of moves, and most of them come without a value: then the book holds that the move was made, and no more. Texts
//! on points that Rapfi gives a meaning (`v34`, `m34`, `W12`, `L12`) are values; what is exported has the first, third and
//! fourth of them, and comments with depth and proof.

use std::collections::HashSet;

use anyhow::{Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Claim, Key, Move, Position, Proof, ProofKind, Score, Variant, Verdict};

use super::games::{Ending, Games, Said};
use super::renlib::{self, Branch, Node, SIZE};
use super::{Losses, lose};

/// What is said of the moves of a library.
///
/// # Errors
/// If it is none, or the variant is not played on its board.
pub(super) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Losses)> {
    is_on_its_board(variant)?;
    let nodes = renlib::read(bytes)?;
    let (mut games, mut losses) = (Games::default(), Losses::new());
    let mut positions: Vec<Option<Position>> = vec![Some(Position::start(variant))];
    note_texts(&nodes[0], None, &mut losses);
    for node in &nodes[1..] {
        let before = node.parent.and_then(|parent| positions[parent].clone());
        let reached = before.as_ref().and_then(|before| {
            let cell = node.cell.filter(|_| node.is_move)?;
            Some((Move::new(cell), before.play(Move::new(cell)).ok()?))
        });
        match (&before, &reached) {
            (Some(before), Some((m, after))) => {
                games.add(before, *m, Ending::of(after), 1);
                let plies = after.moves().len();
                let said = said(&node.board_text, plies);
                said.into_iter().for_each(|said| games.say(before, *m, said));
                note_texts(node, said, &mut losses);
            }
            (Some(_), None) if node.cell.is_none() => lose(&mut losses, "passes", 1),
            (Some(_), None) if !node.is_move => lose(&mut losses, "nodes_that_are_no_moves", 1),
            (Some(_), None) => lose(&mut losses, "moves_that_cannot_be_made", 1),
            (None, _) => lose(&mut losses, "nodes_beyond_these", 1),
        }
        positions.push(reached.map(|(_, after)| after));
    }
    Ok((games, nodes.len() as u64, losses))
}

fn is_on_its_board(variant: Variant) -> Result<()> {
    match variant {
        Variant::Gomoku { size, .. } if usize::from(size) == SIZE => Ok(()),
        _ => bail!("a library is of gomoku on a board of 15x15, not of {variant}"),
    }
}

fn note_texts(node: &Node, said: Option<Said>, losses: &mut Losses) {
    lose(losses, "comments", u64::from(!node.comment.is_empty()));
    lose(losses, "board_texts", u64::from(!node.board_text.is_empty() && said.is_none()));
    lose(losses, "marks", u64::from(node.is_marked));
}

/// The value that a text on a point gives the move made there, as Rapfi reads it.
fn said(text: &[u8], plies: usize) -> Option<Said> {
    let text = std::str::from_utf8(text).ok()?;
    let (kind, number) = text.split_at_checked(1)?;
    let number: i32 = number.parse().ok()?;
    let opinion = |centi: i32| Some(Said { score: Score::opinion(centi), proof: None });
    // The ply in which the game is over, counted from its beginning; the move itself is one.
    let proof = |claim| {
        let left = u16::try_from(number).ok()?.checked_sub(u16::try_from(plies).ok()?)? + 1;
        let proof = Proof { claim, kind: ProofKind::Manual, plies: left };
        (left <= Score::MAX_PLIES).then_some(Said { score: proof.score(), proof: Some(proof) })
    };
    match kind {
        "v" => opinion(number),
        "m" => opinion(-number),
        "W" => proof(Claim::Win),
        "L" => proof(Claim::Loss),
        _ => None,
    }
}

/// What a book says of a variant, as a library; how many of its positions that is, and what has no place there.
///
/// Each position is gone into once, on the way by which it is come to first; where it is come to again the branch ends.
///
/// # Errors
/// A damaged record.
pub(super) fn write(book: &Book, variant: Variant) -> Result<(Vec<u8>, u64, Losses)> {
    is_on_its_board(variant)?;
    let mut losses = Losses::new();
    let mut tree = Tree { branches: vec![Branch::default()], seen: HashSet::new() };
    let start = Position::start(variant);
    tree.grow(book, &start, 0, &mut losses)?;
    for entry in book.positions() {
        let entry = entry?;
        if entry.position.variant() != variant {
            lose(&mut losses, "positions_of_other_games", 1);
        } else if !tree.seen.contains(&entry.position.key()) {
            // Nothing leads to it: its stones in any order do.
            match entry.position.line() {
                Some(line) => {
                    let (mut at, mut position) = (0, start.clone());
                    for m in line {
                        (at, position) = (tree.child(at, m), position.play(m)?);
                    }
                    tree.grow(book, &position, at, &mut losses)?;
                }
                None => lose(&mut losses, "positions_that_no_line_leads_to", 1),
            }
        }
    }
    let positions = tree.seen.len() as u64;
    Ok((renlib::write(&tree.branches), positions, losses))
}

struct Tree {
    branches: Vec<Branch>,
    /// Positions of the book that have their moves in the tree.
    seen: HashSet<Key>,
}

impl Tree {
    /// The branch of a move, new where there is none yet.
    fn child(&mut self, at: usize, m: Move) -> usize {
        let known = self.branches[at].children.iter().find(|child| self.branches[**child].cell == m.code());
        known.copied().unwrap_or_else(|| {
            self.branches.push(Branch { cell: m.code(), ..Branch::default() });
            let number = self.branches.len() - 1;
            self.branches[at].children.push(number);
            number
        })
    }

    /// Hangs what the book says of a position, and of those that it leads to, on a branch.
    fn grow(&mut self, book: &Book, position: &Position, at: usize, losses: &mut Losses) -> Result<()> {
        let mut left = vec![(position.clone(), at)];
        while let Some((position, at)) = left.pop() {
            if self.seen.contains(&position.key()) {
                continue;
            }
            let Some(entry) = book.lookup(&position)? else { continue };
            self.seen.insert(position.key());
            let mut next = Vec::new();
            for (m, verdict) in entry.answer.verdicts() {
                if !verdict.is_exact() && !verdict.is_silent() {
                    lose(losses, "moves_with_a_bound_alone", 1);
                    continue;
                }
                let child = self.child(at, *m);
                let plies = position.moves().len() + 1;
                if !verdict.is_silent() {
                    self.branches[child].board_text = board_text(verdict, plies);
                    self.branches[child].comment = comment(verdict);
                }
                // A foul of renju ends the game; there is no position after it.
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
    let proof = verdict.proof.map_or_else(String::new, |proof| format!(", {} by {}", proof.claim, proof.kind));
    format!("depth {}, {}{proof}", verdict.depth, verdict.by.engine)
}
