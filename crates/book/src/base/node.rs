use kagetsu_game::{Answer, Canonical, Game, Move, Position, Side, with_game};

use crate::base::id::Id;

/// A position of the book with its record, and the positions that it leads to.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// In canonical orientation, without a history.
    pub(crate) position: Position,
    /// The side to move. The position would have to be set up to tell.
    pub(crate) side: Side,
    pub(crate) facts: Answer,
    /// The moves with an exact value and without a proof that do not end the game, and the
    /// positions that they lead to. The links tell which of them are followed: all but those by
    /// which the game may return here.
    pub(crate) followed: Vec<(Move, Id)>,
}

impl Node {
    /// Returns the node, or the first illegal move of the answer.
    pub(crate) fn new(position: Position, facts: Answer) -> Result<Self, Move> {
        let code = position.variant().code();
        let mut followed = Vec::new();
        let side;
        with_game!(position.variant(), G => {
            let (mut game, mut legal) = (position.game::<G>(), Vec::new());
            side = game.side();
            game.moves(&mut legal);
            legal.sort_unstable();
            let is_illegal = |m: &Move| legal.binary_search(m).is_err();
            if let Some((m, _)) = facts.verdicts().iter().find(|(m, _)| is_illegal(m)) {
                return Err(*m);
            }
            for (m, _) in facts.verdicts().iter().filter(|(_, v)| v.is_exact() && v.proof.is_none()) {
                game.play(*m);
                if game.outcome().is_none() {
                    followed.push((*m, Id::new(code, game.stones(), game.key())));
                }
                game.undo();
            }
        });
        Ok(Self {
            position,
            side,
            facts,
            followed,
        })
    }

    /// The position that a followed move leads to.
    pub(crate) fn child(&self, m: Move) -> Option<Id> {
        self.followed
            .iter()
            .find(|(at, _)| *at == m)
            .map(|(_, child)| *child)
    }

    /// Returns whether the record only tells which moves were made.
    pub(crate) fn is_silent(&self) -> bool {
        self.facts
            .verdicts()
            .iter()
            .all(|(_, verdict)| verdict.is_silent())
    }

    pub(crate) fn leads_to(&self, child: Id) -> bool {
        self.followed.iter().any(|(_, at)| *at == child)
    }

    /// Whether every legal move, or one that leads to the same position, is among these.
    pub(crate) fn is_covered_by(&self, moves: &[Move]) -> bool {
        let key = |child: Canonical| child.key;
        let known: std::collections::BTreeSet<_> =
            self.position.children(moves).into_iter().map(key).collect();
        let legal = self.position.distinct_moves();
        self.position
            .children(&legal)
            .into_iter()
            .map(key)
            .all(|child| known.contains(&child))
    }
}
