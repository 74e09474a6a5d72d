//! Smaller win trees. Each position of a tree is proven again with what is there already: answers
//! to other replies, and nodes that won where the winner had the same stones.

mod error;
mod threats;
mod wins_by_stones;

use std::cmp::Reverse;
use std::collections::HashMap;

use kagetsu_certificate::{Node, ProofDag, Reference, Tree, Zone, ZoneChecker};
use kagetsu_game::{Claim, Key, Move, Position, Symmetry, Variant};

pub use error::ShrinkError;
pub use threats::NodeCounts;
pub(crate) use threats::ThreatNodes;
pub(crate) use wins_by_stones::WinsByStones;

/// Answers to other replies that are tried on a reply.
const MAX_TRIES: usize = 12;

/// Positions that a try may cost.
const TRY_POSITIONS: u64 = 3_000;

/// Positions that a zone may cost.
const ZONE_POSITIONS: u64 = 200_000;

/// Replies of an answer up to which others take its place.
const MAX_MOVED_REPLIES: usize = 4;

/// Joins trees into one of `position`, and makes it smaller where it can. The trees prove the
/// position, or the loser is to move there and they prove what each reply leads to, up to symmetry.
/// The result is never larger than the trees together. `progress` is called now and then with the
/// number of positions of the winner that are done.
///
/// Trees of renju are joined only: they have no zones.
///
/// # Errors
/// If the trees belong to another variant or do not prove the position.
pub fn shrink(
    position: &Position,
    trees: &[Tree],
    progress: &mut dyn FnMut(u64),
) -> Result<Tree, ShrinkError> {
    let variant = position.variant();
    if variant.gomoku().is_none() {
        return Err(ShrinkError::Game(variant));
    }
    let mut shrinker = Shrinker::new(variant, progress);
    for tree in trees {
        shrinker.load(tree)?;
    }
    let (claim, joined) = shrinker.join(position)?;
    let whole = shrinker.dag.tree(joined, position.clone(), claim);
    if shrinker.zones.is_none() {
        return Ok(whole);
    }
    let guide = Reference::to(joined);
    let node = match claim {
        Claim::Win => shrinker.follow(position, guide)?,
        _ => {
            let node = shrinker.answers(position, None, guide)?;
            shrinker.add(node)
        }
    };
    let small = shrinker.dag.tree(node, position.clone(), claim);
    Ok(if small.nodes().len() < whole.nodes().len() {
        small
    } else {
        whole
    })
}

struct Shrinker<'a> {
    variant: Variant,
    /// The nodes of the trees, and those of the result.
    dag: ProofDag,
    threats: ThreatNodes,
    zones: Option<ZoneChecker>,
    /// The nodes that the trees give for positions, seen from their canonical images.
    given: HashMap<Key, (Claim, Reference)>,
    /// The same for the result, with the winner to move.
    placed: HashMap<Key, Reference>,
    /// Nodes of the result.
    by_stones: WinsByStones,
    progress: &'a mut dyn FnMut(u64),
}

/// An answer, its replies and its zone after a pass.
struct SharedAnswer {
    node: Reference,
    /// The answer of the guide that it took the place of.
    guide: Reference,
    replies: Vec<Move>,
    zone: Option<Zone>,
}

impl<'a> Shrinker<'a> {
    fn new(variant: Variant, progress: &'a mut dyn FnMut(u64)) -> Self {
        Self {
            variant,
            dag: ProofDag::default(),
            threats: ThreatNodes::default(),
            zones: ZoneChecker::new(variant),
            given: HashMap::new(),
            placed: HashMap::new(),
            by_stones: WinsByStones::new(variant),
            progress,
        }
    }

    fn add(&mut self, node: Node) -> u32 {
        let number = self.dag.add(node);
        self.mark_threats();
        number
    }

    /// Looks at the nodes that are new.
    fn mark_threats(&mut self) {
        let new = self.threats.len();
        for node in &self.dag.nodes()[new..] {
            self.threats.push(node);
        }
    }

    /// Adds the nodes of a tree.
    fn load(&mut self, tree: &Tree) -> Result<(), ShrinkError> {
        let position = &tree.position;
        if position.variant() != self.variant {
            return Err(ShrinkError::Variant(position.variant(), self.variant));
        }
        let root = self.dag.load(tree);
        self.mark_threats();
        let canonical = position.canonical();
        let seen = Reference::to(root).turned(canonical.symmetry);
        self.given
            .entry(canonical.key)
            .or_insert((tree.claim, seen));
        Ok(())
    }

    /// Returns the node that a tree gives for a position.
    fn given(&self, position: &Position) -> Option<(Claim, Reference)> {
        let canonical = position.canonical();
        let (claim, seen) = self.given.get(&canonical.key)?;
        Some((*claim, self.back(*seen, canonical.symmetry)))
    }

    /// Returns a reference before a symmetry was applied.
    fn back(&self, seen: Reference, turn: Symmetry) -> Reference {
        seen.turned(self.variant.inverse(turn))
    }

    /// Returns the claim of the trees about a position, and its node.
    fn join(&mut self, position: &Position) -> Result<(Claim, u32), ShrinkError> {
        if let Some((claim, node)) = self.given(position) {
            let root = self.dag.upright(self.variant, node);
            self.mark_threats();
            return Ok((claim, root));
        }
        let mut answers: Vec<SharedAnswer> = Vec::new();
        for reply in position.legal_moves() {
            let given = position.play(reply).ok().and_then(|next| self.given(&next));
            let Some((Claim::Win, node)) = given else {
                return Err(ShrinkError::Open(position.write_move(reply)));
            };
            add_reply(&mut answers, node, node, reply);
        }
        let node = node_of(None, &answers);
        Ok((Claim::Loss, self.add(node)))
    }

    /// Returns a node that wins at a position with the winner to move; `guide` does.
    fn place(&mut self, position: &Position, guide: Reference) -> Result<Reference, ShrinkError> {
        let canonical = position.canonical();
        if let Some(&seen) = self.placed.get(&canonical.key) {
            return Ok(self.back(seen, canonical.symmetry));
        }
        let node = match self.known(position) {
            Some(node) => node,
            None if self.threats.contains(guide.node) => guide,
            None => Reference::to(self.follow(position, guide)?),
        };
        self.placed
            .insert(canonical.key, node.turned(canonical.symmetry));
        self.by_stones.add(position, node);
        (self.progress)(self.placed.len() as u64);
        Ok(node)
    }

    /// Returns a node of the result that wins here, and won where the winner had the same stones.
    fn known(&mut self, position: &Position) -> Option<Reference> {
        let mut tried = self.by_stones.like(position).into_iter();
        tried.find(|at| self.wins(position, *at))
    }

    fn wins(&mut self, position: &Position, at: Reference) -> bool {
        let Self { dag, zones, .. } = self;
        let zones = zones.as_mut();
        zones.is_some_and(|zones| zones.wins(&*dag, position, at, TRY_POSITIONS))
    }

    /// Returns the node that makes the guide's move and answers each reply.
    fn follow(&mut self, position: &Position, guide: Reference) -> Result<u32, ShrinkError> {
        let own = self.dag.node(guide.node).at;
        let at = own.map(|m| self.variant.image(m, guide.turn));
        let at = at.ok_or_else(|| ShrinkError::wrong(position))?;
        let next = position
            .play(at)
            .map_err(|_| ShrinkError::wrong(position))?;
        let node = if next.outcome().is_some() {
            node_of(Some(at), &[])
        } else {
            self.answers(&next, Some(at), guide)?
        };
        Ok(self.add(node))
    }

    /// Returns the node of a move `at` to a position, with an answer to each reply.
    fn answers(
        &mut self,
        position: &Position,
        at: Option<Move>,
        guide: Reference,
    ) -> Result<Node, ShrinkError> {
        let mut answers: Vec<SharedAnswer> = Vec::new();
        for (reply, next, child) in self.replies(position, guide)? {
            let known = self.answered(&answers, child, reply, &next);
            if let Some(known) = known {
                answers[known].replies.push(reply);
                continue;
            }
            let node = self.place(&next, child)?;
            let is_new = add_reply(&mut answers, node, child, reply);
            if is_new && let Some(last) = answers.last_mut() {
                let Self { dag, zones, .. } = self;
                let zones = zones.as_mut();
                last.zone =
                    zones.and_then(|zones| zones.after_pass(&*dag, position, node, ZONE_POSITIONS));
            }
        }
        self.drop_answers(position, &mut answers);
        Ok(node_of(at, &answers))
    }

    /// Returns the replies at a position with the guide's answers: those farthest from all stones
    /// first, which are like a pass, then those whose answers are quiet moves.
    fn replies(
        &self,
        position: &Position,
        guide: Reference,
    ) -> Result<Vec<(Move, Position, Reference)>, ShrinkError> {
        let mut replies = Vec::new();
        for reply in position.legal_moves() {
            let next = position.play(reply).ok();
            let next = next.filter(|next| next.outcome().is_none());
            let found = next.zip(self.dag.answer(self.variant, guide, reply));
            let (next, child) = found.ok_or_else(|| ShrinkError::wrong(position))?;
            replies.push((reply, next, child));
        }
        replies.sort_by_cached_key(|(reply, ..)| Reverse(distance(position, *reply)));
        if let Some(rest) = replies.get_mut(1..) {
            rest.sort_by_key(|(_, _, child)| self.threats.contains(child.node));
        }
        Ok(replies)
    }

    /// Returns the answer to other replies that answers this one too: first the one to replies for
    /// which the guide has the same answer, then the most used.
    fn answered(
        &mut self,
        answers: &[SharedAnswer],
        guide: Reference,
        reply: Move,
        next: &Position,
    ) -> Option<usize> {
        let is_outside =
            |answer: &SharedAnswer| answer.zone.is_some_and(|zone| !zone.contains(reply));
        if let Some(outside) = answers.iter().position(is_outside) {
            return Some(outside);
        }
        let mut tried: Vec<usize> = (0..answers.len()).collect();
        let rank = |answer: &SharedAnswer| (answer.guide != guide, Reverse(answer.replies.len()));
        tried.sort_by_key(|&at| rank(&answers[at]));
        tried.truncate(MAX_TRIES);
        tried
            .into_iter()
            .find(|&at| self.wins(next, answers[at].node))
    }

    /// Drops answers to few replies that other answers meet too.
    fn drop_answers(&mut self, position: &Position, answers: &mut [SharedAnswer]) {
        let mut order: Vec<usize> = (0..answers.len()).collect();
        order.sort_by_key(|&at| answers[at].replies.len());
        for at in order {
            let replies = answers[at].replies.clone();
            if replies.is_empty() || replies.len() > MAX_MOVED_REPLIES {
                continue;
            }
            let mut others: Vec<usize> = (0..answers.len()).collect();
            others.retain(|&other| other != at && !answers[other].replies.is_empty());
            others.sort_by_key(|&other| Reverse(answers[other].replies.len()));
            let takes_over = |reply: &Move| {
                let next = position.play(*reply).ok()?;
                let mut others = others.iter().copied();
                others.find(|&other| self.wins(&next, answers[other].node))
            };
            let moved: Option<Vec<usize>> = replies.iter().map(takes_over).collect();
            if let Some(moved) = moved {
                answers[at].replies.clear();
                for (other, reply) in moved.into_iter().zip(replies) {
                    answers[other].replies.push(reply);
                }
            }
        }
    }
}

/// Adds a reply to its answer. Returns whether the answer is new.
fn add_reply(
    answers: &mut Vec<SharedAnswer>,
    node: Reference,
    guide: Reference,
    reply: Move,
) -> bool {
    let known = answers.iter_mut().find(|answer| answer.node == node);
    let is_new = known.is_none();
    match known {
        Some(answer) => answer.replies.push(reply),
        None => answers.push(SharedAnswer {
            node,
            guide,
            replies: vec![reply],
            zone: None,
        }),
    }
    is_new
}

/// Returns the node of a move; the answer to most replies stands for all that are not named.
fn node_of(at: Option<Move>, answers: &[SharedAnswer]) -> Node {
    let most = answers.iter().max_by_key(|answer| answer.replies.len());
    let otherwise = most.map(|answer| answer.node);
    let named = answers
        .iter()
        .filter(|answer| Some(answer.node) != otherwise);
    let mut replies: Vec<(Move, Reference)> = named
        .flat_map(|answer| answer.replies.iter().map(|reply| (*reply, answer.node)))
        .collect();
    replies.sort_unstable_by_key(|(reply, _)| *reply);
    Node {
        at,
        replies,
        otherwise,
    }
}

/// Returns the distance of a point to the next stone of a gomoku position, in columns or rows,
/// whichever is more; 0 in other games.
pub(crate) fn distance(position: &Position, m: Move) -> u16 {
    let Some((stones, (_, size))) = position.stones().zip(position.variant().gomoku()) else {
        return 0;
    };
    let size = u16::from(size);
    let place = |m: Move| (m.code() % size, m.code() / size);
    let (column, row) = place(m);
    let distances = stones.iter().flatten().map(|stone| {
        let (other_column, other_row) = place(*stone);
        column.abs_diff(other_column).max(row.abs_diff(other_row))
    });
    distances.min().unwrap_or(u16::MAX)
}
