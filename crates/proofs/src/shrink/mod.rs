//! Smaller win trees. Each position of a tree is proven again with what is there already: answers
//! to other replies, and nodes that won where the winner had the same stones.

mod error;

use kagetsu_certificate::{Reference, Tree};
use kagetsu_game::{Claim, Move, Position};

use crate::nodes::{AnswerSource, LoserReply, NodePool, PlacedNodes, ReplyAnswers, TRY_POSITIONS};
pub use error::ShrinkError;

/// Answers to other replies that are tried on a reply.
const MAX_TRIES: usize = 12;

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
    let mut shrinker = Shrinker {
        pool: NodePool::new(variant, true),
        given: Default::default(),
        progress,
    };
    for tree in trees {
        shrinker.load(tree)?;
    }
    let (claim, joined) = shrinker.join(position)?;
    let dag = &shrinker.pool.dag;
    let whole = dag.tree(joined, position.clone(), claim);
    if !shrinker.pool.has_zones() {
        return Ok(whole);
    }
    let guide = Reference::to(joined);
    let node = match claim {
        Claim::Win => shrinker.follow(position, guide)?,
        _ => shrinker.answers(position, None, guide)?,
    };
    let small = shrinker.pool.dag.tree(node, position.clone(), claim);
    Ok(if small.nodes().len() < whole.nodes().len() {
        small
    } else {
        whole
    })
}

struct Shrinker<'a> {
    /// The nodes of the trees, and those of the result.
    pool: NodePool,
    /// The nodes that the trees give for positions with the winner to move, and with the loser.
    given: [PlacedNodes; 2],
    progress: &'a mut dyn FnMut(u64),
}

impl Shrinker<'_> {
    /// Adds the nodes of a tree.
    fn load(&mut self, tree: &Tree) -> Result<(), ShrinkError> {
        let (position, variant) = (&tree.position, self.pool.variant);
        if position.variant() != variant {
            return Err(ShrinkError::Variant(position.variant(), variant));
        }
        let root = Reference::to(self.pool.dag.load(tree));
        let given = &mut self.given[usize::from(tree.claim != Claim::Win)];
        given.insert(position, root);
        Ok(())
    }

    /// Returns the claim of the trees about a position, and its node.
    fn join(&mut self, position: &Position) -> Result<(Claim, u32), ShrinkError> {
        let variant = self.pool.variant;
        for (given, claim) in self.given.iter().zip([Claim::Win, Claim::Loss]) {
            if let Some(node) = given.get(position) {
                return Ok((claim, self.pool.dag.upright(variant, node)));
            }
        }
        let mut answers = ReplyAnswers::default();
        for reply in position.legal_moves() {
            let next = position.play(reply).ok();
            let given = next.and_then(|next| self.given[0].get(&next));
            let open = || ShrinkError::Open(position.write_move(reply));
            answers.add(reply, given.ok_or_else(open)?);
        }
        Ok((Claim::Loss, self.pool.dag.add(answers.into_node(None))))
    }

    /// Returns a node that wins at a position with the winner to move; `guide` does.
    fn place(&mut self, position: &Position, guide: Reference) -> Result<Reference, ShrinkError> {
        if let Some(known) = self.pool.known.get(position) {
            return Ok(known);
        }
        let node = match self.pool.like(position) {
            Some(node) => node,
            None if !self.pool.is_quiet(guide) => guide,
            None => Reference::to(self.follow(position, guide)?),
        };
        self.pool.known.insert(position, node);
        self.pool.note(position, node);
        (self.progress)(self.pool.known.len() as u64);
        Ok(node)
    }

    /// Returns the node that makes the guide's move and answers each reply.
    fn follow(&mut self, position: &Position, guide: Reference) -> Result<u32, ShrinkError> {
        let wrong = || ShrinkError::wrong(position);
        let at = self.pool.own_move(guide).ok_or_else(wrong)?;
        let next = position.play(at).map_err(|_| wrong())?;
        match next.outcome() {
            Some(_) => Ok(self.pool.add_last(at)),
            None => self.answers(&next, Some(at), guide),
        }
    }

    /// Returns the node of a move `at` to a position, with an answer to each reply.
    fn answers(
        &mut self,
        position: &Position,
        at: Option<Move>,
        guide: Reference,
    ) -> Result<u32, ShrinkError> {
        let mut answers = ReplyAnswers::default();
        for reply in self.replies(position, guide)? {
            let known = answers.find(&mut self.pool, &reply, MAX_TRIES, TRY_POSITIONS);
            let node = match (known, reply.guide) {
                (Some(node), _) => node,
                (None, Some(guide)) => self.place(&reply.next, guide)?,
                (None, None) => return Err(ShrinkError::wrong(position)),
            };
            answers.know(node, reply.guide, || self.pool.zone(position, node));
            answers.add(reply.at, node);
        }
        answers.join(&mut self.pool, position, MAX_MOVED_REPLIES, TRY_POSITIONS);
        Ok(self.pool.dag.add(answers.into_node(at)))
    }

    /// Returns the replies at a position with the guide's answers.
    fn replies(
        &mut self,
        position: &Position,
        guide: Reference,
    ) -> Result<Vec<LoserReply>, ShrinkError> {
        let reply = |at: Move| {
            let next = position.play(at).ok();
            let next = next.filter(|next| next.outcome().is_none());
            let answer = self.pool.dag.answer(self.pool.variant, guide, at);
            let reply = next.zip(answer).map(|(next, answer)| LoserReply {
                source: AnswerSource::Book,
                at,
                next,
                guide: Some(answer),
            });
            reply.ok_or_else(|| ShrinkError::wrong(position))
        };
        let replies = position.legal_moves().into_iter().map(reply);
        let mut replies = replies.collect::<Result<Vec<_>, _>>()?;
        self.pool.sort(position, &mut replies);
        Ok(replies)
    }
}
