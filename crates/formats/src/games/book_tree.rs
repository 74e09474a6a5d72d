//! A book as a tree of moves, for formats that hold one.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, Result};
use kagetsu_book::{Annotation, AnnotationKind, Book, Entry};
use kagetsu_game::{Key, Move, Notation, Position, Variant, Verdict};

use crate::format::Format;
use crate::games::pass::passed;
use crate::games::sgf_stones::sgf_point;
use crate::games::text::{MoveNote, write_game};
use crate::games::tree::GameTree;
use crate::omissions::Omissions;

/// A line of its own between comments of one position that a format writes as one.
const BETWEEN_COMMENTS: &str = "\n\u{2e3b}\n";

/// Stands between texts on one point.
pub(crate) const BETWEEN_TEXTS: char = '|';

/// A node of a [`BookTree`].
#[derive(Clone, Debug, Default)]
pub(crate) struct BookNode {
    /// The number of the node before it; 0 for the root.
    pub(crate) parent: usize,
    /// The move; none for the root.
    pub(crate) at: Option<Move>,
    /// The position; none behind a move that ends the game by a foul.
    pub(crate) position: Option<Position>,
    /// The book's verdict on the move.
    pub(crate) verdict: Option<Verdict>,
    /// The annotations of the position, in its orientation; a position that stands in the tree
    /// several times has them once.
    pub(crate) notes: Vec<Annotation>,
    pub(crate) children: Vec<usize>,
}

/// The positions of a variant, each expanded once, at the first line that reaches it. The lines
/// from the root come first, then those to the roots of the book's jobs, in the order of the jobs'
/// moves. A position that no line leads to stands behind its stones in any legal order.
pub(crate) struct BookTree<'a> {
    book: &'a Book,
    /// Nodes after the nodes that they hang on; the first is the root.
    pub(crate) nodes: Vec<BookNode>,
    /// Positions whose moves are in the tree.
    pub(crate) seen: HashSet<Key>,
    /// Positions whose annotations are in the tree.
    noted: HashSet<Key>,
    /// Positions that no line leads to, perhaps twice.
    unreached: Vec<Position>,
}

/// Positions that are set up.
const UNREACHED: &str = "positions_that_no_line_leads_to";

impl<'a> BookTree<'a> {
    /// Grows the tree of a book from a position, and from that behind a line.
    ///
    /// # Errors
    /// If a record is damaged.
    pub(crate) fn grow(
        book: &'a Book,
        start: &Position,
        line: &[Move],
        omissions: &mut Omissions,
    ) -> Result<Self> {
        let variant = start.variant();
        let mut tree = Self {
            book,
            nodes: vec![BookNode {
                position: Some(start.clone()),
                ..BookNode::default()
            }],
            seen: HashSet::new(),
            noted: HashSet::new(),
            unreached: Vec::new(),
        };
        tree.grow_from(0, omissions)?;
        tree.grow_at(line, omissions)?;
        // The branches of a job keep the move order in which its root was given.
        let jobs = book.jobs()?;
        let jobs = jobs.iter().filter(|job| job.spec.variant == variant);
        let is_held = |line: &Vec<Move>| match start.setup() {
            Some(_) => Ok(false),
            None => {
                let after = Position::new(variant, None, line)?;
                anyhow::Ok(book.lookup(&after)?.is_some())
            }
        };
        for line in jobs.flat_map(|job| job.spec.roots.iter().filter_map(Position::line)) {
            if is_held(&line)? {
                tree.grow_at(&line, omissions)?;
            }
        }
        let searched = book.positions().map(|entry| anyhow::Ok(entry?.position));
        let annotated = book.annotated().map(|known| anyhow::Ok(known?.0));
        for position in searched.chain(annotated) {
            let position = position?;
            if position.variant() != variant {
                omissions.omit("positions_of_other_games", 1);
            } else if tree.is_left(&position) {
                let line = position.line().filter(|_| start.setup().is_none());
                match line.filter(|_| variant.places_stones()) {
                    Some(line) => tree.grow_at(&from_the_centre(start, line), omissions)?,
                    None => tree.unreached.push(position),
                }
            }
        }
        tree.count_unreached(omissions);
        Ok(tree)
    }

    /// Adds the positions that have the stones of one in the tree and the other side to move: they
    /// stand behind a pass, for a format that has passes.
    pub(crate) fn grow_passes(&mut self, omissions: &mut Omissions) -> Result<()> {
        let unreached = self.unreached.clone();
        let (mut places, mut known) = (HashMap::new(), 0);
        let mut has_more = true;
        while has_more {
            has_more = false;
            for position in unreached.iter().filter_map(passed) {
                for (at, node) in self.nodes.iter().enumerate().skip(known) {
                    let key = node.position.as_ref().map(Position::key);
                    places.entry(key).or_insert(at);
                }
                known = self.nodes.len();
                let Some(&parent) = places.get(&Some(position.key())) else {
                    continue;
                };
                let before = self.nodes[parent].position.as_ref();
                let after = before.and_then(passed);
                if after.as_ref().is_some_and(|after| self.is_left(after)) {
                    self.nodes[parent].children.push(known);
                    self.nodes.push(BookNode {
                        parent,
                        position: after,
                        ..BookNode::default()
                    });
                    self.grow_from(known, omissions)?;
                    has_more = true;
                }
            }
        }
        self.count_unreached(omissions);
        Ok(())
    }

    fn is_left(&self, position: &Position) -> bool {
        let key = position.key();
        !self.seen.contains(&key) && !self.noted.contains(&key)
    }

    fn count_unreached(&self, omissions: &mut Omissions) {
        let left = self.unreached.iter().filter(|left| self.is_left(left));
        let count = left.count() as u64;
        omissions.remove(UNREACHED);
        if count > 0 {
            omissions.omit(UNREACHED, count);
        }
    }

    /// Returns the node behind a move, and creates it if necessary.
    pub(crate) fn child(&mut self, parent: usize, m: Move) -> usize {
        let node = &self.nodes[parent];
        let is_it = |child: &&usize| self.nodes[**child].at == Some(m);
        if let Some(child) = node.children.iter().find(is_it) {
            return *child;
        }
        let before = node.position.as_ref();
        let position = before.and_then(|before| before.play(m).ok());
        let number = self.nodes.len();
        self.nodes[parent].children.push(number);
        self.nodes.push(BookNode {
            parent,
            at: Some(m),
            position,
            ..BookNode::default()
        });
        number
    }

    /// Adds the moves of the position after a line, and of those that follow it, to the tree.
    fn grow_at(&mut self, line: &[Move], omissions: &mut Omissions) -> Result<()> {
        let at = line.iter().fold(0, |at, m| self.child(at, *m));
        self.grow_from(at, omissions)
    }

    /// Adds the moves of a node, and of those that follow it.
    fn grow_from(&mut self, at: usize, omissions: &mut Omissions) -> Result<()> {
        let mut left = vec![at];
        while let Some(at) = left.pop() {
            let Some(position) = self.nodes[at].position.clone() else {
                continue;
            };
            let key = position.key();
            if self.noted.insert(key) {
                self.nodes[at].notes = self.book.annotations(&position)?;
                for note in self.nodes[at].notes.clone() {
                    let m = note
                        .at
                        .filter(|m| !note.is_on_board() && position.play(*m).is_ok());
                    if let Some(m) = m {
                        left.push(self.child(at, m));
                    }
                }
            }
            if self.seen.contains(&key) {
                continue;
            }
            let Some(Entry { answer, .. }) = self.book.lookup(&position)? else {
                continue;
            };
            self.seen.insert(key);
            let mut next = Vec::new();
            for (m, verdict) in answer.verdicts() {
                let is_bound = !verdict.is_exact() && !verdict.is_silent();
                if is_bound && !self.leads_on(&position, *m)? {
                    omissions.omit("moves_with_a_bound_alone", 1);
                    continue;
                }
                omissions.omit("bounds", is_bound.into());
                let child = self.child(at, *m);
                self.nodes[child].verdict = Some(verdict.clone()).filter(|_| !is_bound);
                next.push(child);
            }
            left.extend(next.into_iter().rev());
        }
        Ok(())
    }

    /// Whether the book knows something behind a move.
    fn leads_on(&self, before: &Position, m: Move) -> Result<bool> {
        let Ok(after) = before.play(m) else {
            return Ok(false);
        };
        Ok(self.book.lookup(&after)?.is_some() || !self.book.annotations(&after)?.is_empty())
    }

    /// Returns the words about a node that no board shows, with `more` behind them.
    pub(crate) fn comment(&self, at: usize, more: &str) -> String {
        let own = self.nodes[at].notes.iter().filter(|note| note.at.is_none());
        comment(self.notes_on_move(at).chain(own), more)
    }

    /// Returns the tree as a game of SGF or PGN, with the values of its moves.
    pub(crate) fn game(&self) -> Option<(GameTree, Vec<MoveNote>)> {
        let start = self.nodes[0].position.clone()?;
        let size = start.variant().gomoku().map(|(_, size)| size);
        let mut tree = GameTree::from_start(start);
        tree.comment = self.comment(0, "");
        tree.properties = size.map_or_else(Vec::new, |size| on_board(&self.nodes[0], size));
        let mut values = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            let before = self.nodes[node.parent].position.clone()?;
            let number = tree.push(node.parent.checked_sub(1), before, node.at?);
            tree.moves[number].comment = self.comment(at, "");
            tree.moves[number].properties = size.map_or_else(Vec::new, |size| on_board(node, size));
            let valued = node.verdict.as_ref().filter(|verdict| !verdict.is_silent());
            values.push(MoveNote {
                value: valued.map(|verdict| verdict.score),
                text: String::new(),
            });
        }
        Some((tree, values))
    }

    /// Returns the annotations of the position before a node that are about its move.
    pub(crate) fn notes_on_move(&self, at: usize) -> impl Iterator<Item = &Annotation> + Clone {
        let BookNode { parent, at: m, .. } = &self.nodes[at];
        let before = self.nodes[*parent].notes.iter();
        before.filter(move |note| m.is_some() && note.at == *m)
    }
}

/// Writes the positions of a variant as a tree of SGF, for gomoku, or of PGN, for xiangqi.
///
/// # Errors
/// If a record is damaged, or the format does not hold the game.
pub(crate) fn write(
    format: Format,
    book: &Book,
    variant: Variant,
    root: Option<&Position>,
) -> Result<(Vec<u8>, u64, Omissions)> {
    let mut omissions = Omissions::new();
    let start = Position::new(variant, root.and_then(Position::setup).cloned(), &[])?;
    let line = root.map_or(&[][..], Position::moves);
    let tree = BookTree::grow(book, &start, line, &mut omissions)?;
    let (game, values) = tree.game().context("the tree has no start")?;
    let is_sgf = format == Format::Sgf;
    let text = write_game(&game, &values, Notation::Engine);
    let text = text.filter(|_| variant.gomoku().is_some() == is_sgf);
    let name = format.name();
    let text = text.with_context(|| format!("--format {name} does not hold {variant}"))?;
    if !is_sgf {
        let valued = values.iter().filter(|note| note.value.is_some());
        omissions.omit("values", valued.count() as u64);
        let notes = tree.nodes.iter().flat_map(|node| &node.notes);
        let on_board = notes.filter(|note| note.is_on_board()).count();
        omissions.omit("texts_and_marks", on_board as u64);
    }
    Ok((text.into_bytes(), tree.seen.len() as u64, omissions))
}

/// Moves the centre to the front of a line, if the first player has a stone there.
fn from_the_centre(start: &Position, line: Vec<Move>) -> Vec<Move> {
    let board = start.variant().board();
    let points = u16::from(board.columns) * u16::from(board.rows);
    let centre = Move::new(points / 2);
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

/// Returns the words of annotations that no board shows, as one comment.
fn comment<'a>(notes: impl Iterator<Item = &'a Annotation>, more: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let words = notes.filter_map(|note| match note.kind {
        AnnotationKind::Comment | AnnotationKind::Link => Some(note.text.clone()),
        AnnotationKind::Text | AnnotationKind::Mark => None,
        kind => Some(hand_text(kind, &note.text)),
    });
    for part in words.chain([more.to_string()]) {
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join(BETWEEN_COMMENTS)
}

/// Returns a value that was set by hand in words.
fn hand_text(kind: AnnotationKind, reason: &str) -> String {
    let value = kind
        .score()
        .map_or_else(|| kind.to_string(), |score| format!("score {score}"));
    let reason = if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    };
    format!("set by hand, {value}{reason}")
}

/// Splits a comment into the comments that it was made from.
pub(crate) fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.split(BETWEEN_COMMENTS)
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

/// Returns the texts and marks of a position as properties of SGF.
fn on_board(node: &BookNode, size: u8) -> Vec<(String, Vec<String>)> {
    let mut properties: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for note in node.notes.iter().filter(|note| note.is_on_board()) {
        let Some(point) = note.at.map(|m| sgf_point(m, size)) else {
            continue;
        };
        let (name, value) = match note.kind {
            AnnotationKind::Text => {
                let here = node.notes.iter().filter(|other| other.at == note.at);
                let texts = texts(here).join(&BETWEEN_TEXTS.to_string());
                ("LB", format!("{point}:{texts}"))
            }
            _ if SGF_MARKS.contains(&&*note.text) => (&*note.text, point),
            _ => (SGF_MARKS[0], point),
        };
        let values = properties.entry(name).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let properties = properties.into_iter();
    properties
        .map(|(name, values)| (name.into(), values))
        .collect()
}

/// The marks of SGF; the first stands for a mark without a name.
pub(crate) const SGF_MARKS: [&str; 5] = ["MA", "TR", "CR", "SQ", "SL"];

/// Returns the different texts that stand on points.
pub(crate) fn texts<'a>(notes: impl Iterator<Item = &'a Annotation>) -> Vec<&'a str> {
    let mut texts: Vec<&str> = Vec::new();
    for note in notes.filter(|note| note.kind == AnnotationKind::Text) {
        if !texts.contains(&&*note.text) {
            texts.push(&note.text);
        }
    }
    texts
}
