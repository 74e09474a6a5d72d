use kagetsu_certificate::{Node, ProofDag, Reference, Tree};
use kagetsu_game::{Claim, Game, Move, Outcome, Position, Side, with_game};

use crate::nodes::ReplyAnswers;

/// Why a line is not a proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It contradicts the claim.
    #[error("{0}")]
    Wrong(String),
    /// It leaves the claim undecided.
    #[error("{0}")]
    Open(String),
}

/// Builds the tree of a forced line: every reply but the line's own loses to a move that ends
/// the game at once. `claim` is from the view of the side to move; the tree claims the plies
/// that it takes.
///
/// # Errors
/// [`LineError::Wrong`] for a line that cannot be played or that the other side wins;
/// [`LineError::Open`] for one that leaves the loser a choice or ends before the game does.
pub fn tree_of_line(position: &Position, claim: Claim, line: &[Move]) -> Result<Tree, LineError> {
    let wrong = |m: Move, what: String| {
        LineError::Wrong(format!("{} in the line: {what}", position.write_move(m)))
    };
    with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        let winner = match claim {
            Claim::Win => game.side(),
            Claim::Loss => game.side().other(),
            Claim::Draw => return Err(LineError::Open("no line shows a draw".into())),
        };
        for &m in line {
            game.check(m).map_err(|error| wrong(m, error.to_string()))?;
            game.play(m);
        }
        if let Some(outcome) = game.outcome().filter(|outcome| *outcome != Outcome::Win(winner)) {
            return Err(LineError::Wrong(format!("the line ends with {outcome:?}")));
        }
        line.iter().for_each(|_| game.undo());
        let mut liner = Liner { game, winner, dag: ProofDag::default() };
        let root = match claim {
            Claim::Win => liner.winner(line)?,
            _ => liner.replies(None, line)?,
        };
        Ok(liner.dag.tree(root, position.clone(), claim))
    })
}

struct Liner<G> {
    game: G,
    winner: Side,
    dag: ProofDag,
}

impl<G: Game> Liner<G> {
    fn name(&self, m: Move) -> String {
        G::write_move(self.game.variant(), m)
    }

    /// Adds the node of the winner's next move.
    fn winner(&mut self, line: &[Move]) -> Result<u32, LineError> {
        let Some(m) = line.first().copied().or_else(|| self.end()) else {
            return Err(LineError::Open("the line ends before the game does".into()));
        };
        self.game.play(m);
        let node = match self.game.outcome() {
            Some(_) => self.last(m),
            None => self.replies(Some(m), line.get(1..).unwrap_or_default())?,
        };
        self.game.undo();
        Ok(node)
    }

    /// Adds the replies to the winner's move `at`.
    fn replies(&mut self, at: Option<Move>, line: &[Move]) -> Result<u32, LineError> {
        let (mut moves, mut answers) = (Vec::new(), ReplyAnswers::default());
        let mut end = None;
        self.game.moves(&mut moves);
        let given = line.first().copied();
        for reply in moves.iter().copied().filter(|m| Some(*m) != given) {
            self.game.play(reply);
            match self.game.outcome() {
                None => {
                    end = end.filter(|m| self.ends(*m)).or_else(|| self.end());
                    let Some(m) = end else {
                        let (at, reply) = (
                            at.map(|at| format!("after {}: ", self.name(at))),
                            self.name(reply),
                        );
                        return Err(LineError::Open(format!(
                            "{}{reply} has no answer in the line",
                            at.unwrap_or_default()
                        )));
                    };
                    answers.add(reply, Reference::to(self.last(m)));
                }
                Some(Outcome::Win(side)) if side == self.winner => {}
                Some(_) => {
                    return Err(LineError::Wrong(format!(
                        "{} ends the game otherwise",
                        self.name(reply)
                    )));
                }
            }
            self.game.undo();
        }
        if let Some(reply) = given {
            self.game.play(reply);
            if self.game.outcome().is_none() {
                let next = self.winner(&line[1..])?;
                answers.add(reply, Reference::to(next));
            }
            self.game.undo();
        }
        Ok(self.dag.add(answers.into_node(at)))
    }

    /// Adds a move that ends the game.
    fn last(&mut self, m: Move) -> u32 {
        self.dag.add(Node {
            at: Some(m),
            ..Node::default()
        })
    }

    /// Whether the move is legal and wins at once.
    fn ends(&mut self, m: Move) -> bool {
        if self.game.check(m).is_err() {
            return false;
        }
        self.game.play(m);
        let is_won = self.game.outcome() == Some(Outcome::Win(self.winner));
        self.game.undo();
        is_won
    }

    /// Returns a move of the winner that ends the game at once.
    fn end(&mut self) -> Option<Move> {
        let mut moves = Vec::new();
        self.game.moves(&mut moves);
        moves.into_iter().find(|m| self.ends(*m))
    }
}
