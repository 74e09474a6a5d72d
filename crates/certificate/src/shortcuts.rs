use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Game, Move};

use crate::tree::{Node, Reference};

/// Shortcuts of a game's rules for judging many replies at once.
pub trait ReplyShortcuts: Game {
    /// Whether every reply of the loser is answered by a move that ends the game. The winner has
    /// just made the move of node `at`; `last` is the loser's move before it, when the loser had no
    /// five. `false` is always allowed: then every reply is played.
    fn fives_answer_all(&self, nodes: &[Node], at: Reference, last: Move) -> bool {
        let _ = (nodes, at, last);
        false
    }
}

impl ReplyShortcuts for Xiangqi {}

impl ReplyShortcuts for Surakarta {}

/// A five depends only on the stones of its side and on its point being empty. So the winner's five
/// answers every reply except one on its point, and the loser, who had no five, can make one only
/// in a row with its last stone. Where the opponent's stones close fives, every reply is played.
impl<R: Rule> ReplyShortcuts for Gomoku<R> {
    fn fives_answer_all(&self, nodes: &[Node], at: Reference, last: Move) -> bool {
        if R::CLOSES || self.is_in_four(last) {
            return false;
        }
        let (winner, variant) = (self.side().other(), self.variant());
        let is_empty = |m: Move| self.cells().get(m.index()) == Some(&None);
        let back = Self::inverse(at.turn);
        // Returns the move of a node that makes five and ends the game.
        let five = |next: Reference| {
            let node = &nodes[next.node as usize];
            let is_last = node.replies.is_empty() && node.otherwise.is_none();
            let m = Self::image(variant, Self::image(variant, node.at?, next.turn), at.turn);
            (is_last && is_empty(m) && self.makes_five(m, winner)).then_some(m)
        };
        let node = &nodes[at.node as usize];
        let Some(most) = node.otherwise.and_then(five) else {
            return false;
        };
        let answers = |reply: &(Move, Reference)| {
            let m = Self::image(variant, reply.0, at.turn);
            // A taken point is no reply.
            !is_empty(m) || five(reply.1).is_some_and(|five| five != m)
        };
        let own = Self::image(variant, most, back);
        node.replies.binary_search_by_key(&own, |(m, _)| *m).is_ok()
            && node.replies.iter().all(answers)
    }
}
