use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Game, Move};

use crate::tree::{Node, Reference};

/// What the rules of a game say of many replies at once. `false` says nothing: then every reply is played.
pub trait Quick: Game {
    /// The winner has made the move of node `at`, and the loser is to move, whose move before was `last`; of the moves that
    /// he had then none was a five. Whether all his replies are answered by a move that ends the game.
    fn fives_answer_all(&self, nodes: &[Node], at: Reference, last: Move) -> bool {
        let _ = (nodes, at, last);
        false
    }
}

impl Quick for Xiangqi {}

impl Quick for Surakarta {}

/// Whether a stone makes five is for the stones of its own side to say, and for the point to be empty. So a five of the
/// winner's answers every reply but the one on its point; and the loser, who had none, can only have a five to make now
/// in a row with the stone that he put last.
impl<R: Rule> Quick for Gomoku<R> {
    fn fives_answer_all(&self, nodes: &[Node], at: Reference, last: Move) -> bool {
        if self.is_in_four(last) {
            return false;
        }
        let (winner, variant) = (self.side().other(), self.variant());
        let is_empty = |m: Move| self.cells().get(m.index()) == Some(&None);
        let back = Self::inverse(at.turn);
        // The five that a node makes, if that is all there is to it.
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
            // What is taken is no reply.
            !is_empty(m) || five(reply.1).is_some_and(|five| five != m)
        };
        let own = Self::image(variant, most, back);
        node.replies.binary_search_by_key(&own, |(m, _)| *m).is_ok()
            && node.replies.iter().all(answers)
    }
}
