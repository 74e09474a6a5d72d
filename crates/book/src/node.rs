use kagetsu_game::{Answer, Canonical, Game, Move, Position, with_game};

use crate::id::Id;

/// A position of the book as it is thought about: what was found there, and where that leads.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// In canonical orientation, without a history.
    pub(crate) position: Position,
    pub(crate) facts: Answer,
    /// The moves with an exact value but without a proof, and the positions that they lead to; no move that ends the game.
    /// Of these the links tell which are followed: all but those by which the game may come back here.
    pub(crate) followed: Vec<(Move, Id)>,
}

impl Node {
    /// The node; the first illegal move of the answer where there is one.
    pub(crate) fn new(position: Position, facts: Answer) -> Result<Self, Move> {
        let legal = position.legal_moves();
        let is_illegal = |(m, _): &&(Move, _)| !legal.contains(m);
        if let Some((m, _)) = facts.verdicts().iter().find(is_illegal) {
            return Err(*m);
        }
        let exact = facts.verdicts().iter().filter(|(_, v)| v.is_exact() && v.proof.is_none());
        let moves = going_on(&position, exact.map(|(m, _)| *m).collect());
        let code = position.variant().code();
        let children = position.children(&moves);
        let followed = moves.into_iter().zip(children.iter().map(|child| Id::of(code, child))).collect();
        Ok(Self { position, facts, followed })
    }

    /// The position that a followed move leads to.
    pub(crate) fn child(&self, m: Move) -> Option<Id> {
        self.followed.iter().find(|(at, _)| *at == m).map(|(_, child)| *child)
    }

    pub(crate) fn leads_to(&self, child: Id) -> bool {
        self.followed.iter().any(|(_, at)| *at == child)
    }

    /// Whether every legal move, or one that leads to the same position, is among these.
    pub(crate) fn is_covered_by(&self, moves: &[Move]) -> bool {
        let key = |child: Canonical| child.key;
        let known: std::collections::BTreeSet<_> = self.position.children(moves).into_iter().map(key).collect();
        let legal = self.position.distinct_moves();
        self.position.children(&legal).into_iter().map(key).all(|child| known.contains(&child))
    }
}

/// The moves after which the game goes on.
fn going_on(position: &Position, mut moves: Vec<Move>) -> Vec<Move> {
    with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        moves.retain(|&m| {
            game.play(m);
            let goes_on = game.outcome().is_none();
            game.undo();
            goes_on
        });
    });
    moves
}
