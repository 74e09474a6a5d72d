use arrayvec::ArrayVec;
use kagetsu_game::{Effort, Game, Move, ProofKind, Score};

use crate::{Control, EngineOptions};

/// The consequence of the immediate threats of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Situation {
    /// The game is over, with this score for the side to move.
    Over(Score),
    /// The score is proven and needs no search.
    Known(Score),
    /// A threat must be met: other moves lose within `otherwise` plies.
    Forced {
        /// Plies to the loss after any move that does not meet the threat.
        otherwise: u16,
    },
    /// The game is over because of earlier positions: a repetition, or too many plies without a
    /// capture. The score holds on this path only.
    #[allow(dead_code, reason = "gomoku has no repetitions")]
    Repeated {
        /// The score for the side to move.
        score: Score,
        /// Plies back to the first of the earlier positions.
        plies: usize,
    },
    /// No immediate threat.
    Free,
}

/// Treatment of moves late in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// Divisor of 100 * ln(depth) * ln(number) that gives the reduction in plies.
    pub(crate) divisor: usize,
    /// Moves that are always searched, and further ones per squared depth, in quarters.
    pub(crate) moves: (i32, i32),
}

/// Parameters of the search that differ between games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Most centi-units by which one ply is assumed to change the evaluation.
    pub(crate) ply: i32,
    /// Exclusive upper bound of move codes.
    pub(crate) codes: usize,
    /// Bonus of a killer or counter move in the move order.
    pub(crate) killer: i32,
    /// Divisor of history values in the move order.
    pub(crate) history: i32,
    /// Treatment of late moves.
    pub(crate) late: Late,
    /// Whether forcing sequences of threats decide the game, so that moves without a threat are
    /// reduced and left out sooner.
    pub(crate) is_forcing: bool,
    /// The kind of proof of a win that [`Heuristics::vcf`] finds.
    pub(crate) vcf_proof: ProofKind,
}

/// The threats that a move makes or meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Force {
    /// The move leaves the opponent at most one reply.
    pub(crate) is_four: bool,
    /// The move makes a threat that must be met.
    pub(crate) attacks: bool,
    /// The move takes such a threat from the opponent.
    pub(crate) defends: bool,
}

/// The result of a VCT search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VctOutcome {
    /// Plies within which the side to move wins, and the line. The line may be shorter but has at
    /// least one move.
    pub(crate) win: Option<(u16, Vec<Move>)>,
    /// Positions searched.
    pub(crate) nodes: u64,
}

/// Most moves of a position.
const MAX_MOVES: usize = 512;

/// A move with its worth for the order. Greater values come first: those of greater worth, and of
/// equal ones the lower move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RankedMove(i64);

impl RankedMove {
    const fn new(worth: i32, m: Move) -> Self {
        Self((worth as i64) << 16 | !m.code() as i64)
    }

    const fn worth(self) -> i32 {
        (self.0 >> 16) as i32
    }

    const fn get(self) -> Move {
        Move::new(!(self.0 as u16))
    }
}

/// Moves found one by one before the rest is sorted: most nodes with a cutoff need no more.
const MAX_SELECTED: usize = 2;

/// The moves to search in a position, each with its worth for the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    list: ArrayVec<RankedMove, MAX_MOVES>,
    /// Number of moves taken, which stand at the front.
    taken: usize,
    /// Most moves that may be taken.
    most: usize,
    /// Whether the list holds all legal moves, or all moves that meet the threat.
    pub(crate) complete: bool,
}

impl Moves {
    /// Returns an empty list.
    pub(crate) fn new(complete: bool) -> Self {
        Self {
            list: ArrayVec::new_const(),
            taken: 0,
            most: usize::MAX,
            complete,
        }
    }

    /// Adds to the worth of each move.
    #[inline]
    pub(crate) fn adjust(&mut self, by: impl Fn(Move) -> i32) {
        for ranked in &mut self.list {
            let m = ranked.get();
            *ranked = RankedMove::new(ranked.worth().saturating_add(by(m)), m);
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, worth: i32, m: Move) {
        self.list.push(RankedMove::new(worth, m));
    }

    /// Limits the list to its `most` best moves.
    pub(crate) fn limit(&mut self, most: usize) {
        self.most = most;
    }

    /// Number of moves, including those already taken.
    pub(crate) fn len(&self) -> usize {
        self.list.len().min(self.most)
    }

    /// Puts a move of the list first.
    pub(crate) fn promote(&mut self, m: Move) {
        if let Some(found) = self.list.iter_mut().find(|ranked| ranked.get() == m) {
            *found = RankedMove::new(i32::MAX, m);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes the best remaining move; equal moves come in ascending order.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(i32, Move)> {
        if self.taken >= self.most {
            return None;
        }
        if self.taken == MAX_SELECTED {
            self.sort_rest();
        }
        let rest = self.list.get_mut(self.taken..)?;
        let mut best = (0, *rest.first()?);
        if self.taken < MAX_SELECTED {
            for (at, &ranked) in rest.iter().enumerate() {
                if ranked > best.1 {
                    best = (at, ranked);
                }
            }
            rest.swap(0, best.0);
        }
        self.taken += 1;
        Some((best.1.worth(), best.1.get()))
    }

    /// Sorts the moves that are left, and removes those that may not be taken.
    fn sort_rest(&mut self) {
        let rest = &mut self.list[self.taken..];
        let most = self.most.saturating_sub(self.taken);
        if most < rest.len() {
            rest.select_nth_unstable_by(most, |a, b| b.cmp(a));
        }
        self.list.truncate(self.most);
        self.list[self.taken..].sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Returns all moves, the best first.
    pub(crate) fn sorted(mut self) -> Vec<Move> {
        std::iter::from_fn(|| self.take()).map(|(_, m)| m).collect()
    }
}

/// A game as the search sees it: a board with threats and an evaluation.
///
/// It is made from a board of the rules, which has no evaluation, and mirrors its moves.
pub(crate) trait Heuristics: Clone + Send {
    /// The rules that the board mirrors.
    type Rules: Game;

    /// The search parameters of the game.
    const STYLE: Style;

    /// Returns the position of `game`, without its history.
    fn new(game: &Self::Rules, options: &EngineOptions) -> Self;

    /// Plays a legal move.
    fn play(&mut self, m: Move);

    /// Takes back the last move.
    fn undo(&mut self);

    /// Passes, where passing is assumed to be no better than the best move: where pieces can move
    /// without harm and no threat must be met. Returns whether it passed; [`Heuristics::undo`]
    /// takes it back.
    fn pass(&mut self) -> bool {
        false
    }

    /// Returns a hash of stones and side to move.
    fn hash(&self) -> u64;

    /// Returns the static evaluation for the side to move, in centi-units. Not meaningful where the
    /// situation is [`Situation::Known`].
    fn evaluate(&self) -> Score;

    /// Returns the consequence of the immediate threats, at little cost.
    fn situation(&self) -> Situation;

    /// Fills an empty list with the moves to search in the given situation.
    fn list_moves(&self, situation: &Situation, moves: &mut Moves);

    /// Returns the moves to search in the given situation.
    fn moves(&self, situation: &Situation) -> Moves {
        let mut moves = Moves::new(true);
        self.list_moves(situation, &mut moves);
        moves
    }

    /// Returns the captures that a quiescence search must try, or `None` where the evaluation
    /// already accounts for them.
    fn captures(&self) -> Option<Moves> {
        None
    }

    /// Whether the side to move is in check.
    fn is_check(&self) -> bool {
        false
    }

    /// Returns the threats that a legal move would make or meet.
    fn force(&self, m: Move) -> Force;

    /// Returns a hash of the threats of both sides: positions of one class are assumed to be judged
    /// with like errors.
    fn threat_class(&self) -> u16 {
        0
    }

    /// Whether the opponent could start continuous threats if it were to move.
    fn is_threatened(&self) -> bool;

    /// Searches for a VCT of the side to move.
    fn vct(&mut self, effort: Effort, control: &Control) -> VctOutcome {
        let _ = (effort, control);
        VctOutcome::default()
    }

    /// Returns the moves outside `searched` after which the opponent's VCF may fail, and the plies
    /// within which all others outside `searched` lose. `None` if no VCF of the opponent is found
    /// within `budget` threats.
    fn other_replies(&mut self, budget: &mut u32, searched: &[Move]) -> Option<(u16, Moves)> {
        let _ = (budget, searched);
        None
    }

    /// Returns a VCF of the side to move that a quick search finds, as the whole line, trying at
    /// most `budget` threats.
    fn quick_vcf(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        let length = *budget;
        self.vcf(budget, length)
    }

    /// Returns the moves against a threat of the opponent to make a four and an open three at once,
    /// where there is one and nothing forces. Other moves are assumed to lose.
    fn replies_to_four_three(&mut self) -> Option<Moves> {
        None
    }

    /// Returns every legal move.
    fn legal(&self) -> Vec<Move>;

    /// Returns the winning moves where a win is [`Situation::Known`], otherwise none.
    fn urgent(&self) -> Vec<Move> {
        Vec::new()
    }

    /// Returns the score of a legal move by an end table, if it holds in this game.
    fn end_value(&mut self, m: Move) -> Option<Score> {
        let _ = m;
        None
    }

    /// Whether the side to move and the opponent can still win. A cheap test that may say yes too
    /// often.
    fn can_win(&self) -> (bool, bool) {
        (true, true)
    }

    /// Whether a VCF search has a threat to begin with.
    fn may_have_vcf(&self) -> bool;

    /// Returns a VCF of the side to move, as the whole line, trying at most `budget` threats and
    /// lines of at most `length` threats. In xiangqi it is a mate by continuous checks.
    fn vcf(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn moves_come_by_worth_then_by_number(
            worths in prop::collection::vec(-5..5i32, 0..60),
            most in 1..80usize,
        ) {
            let mut moves = Moves::new(true);
            for (code, &worth) in worths.iter().enumerate() {
                moves.push(worth, Move::new(code as u16));
            }
            moves.limit(most);
            let mut expected: Vec<_> = (0..worths.len()).collect();
            expected.sort_by_key(|&code| -worths[code]);
            expected.truncate(most);
            prop_assert_eq!(moves.len(), expected.len());
            let expected: Vec<_> = expected.iter().map(|&code| Move::new(code as u16)).collect();
            prop_assert_eq!(moves.sorted(), expected);
        }

        #[test]
        fn ranked_moves_keep_worth_and_move(worth in any::<i32>(), code in any::<u16>()) {
            let ranked = RankedMove::new(worth, Move::new(code));
            prop_assert_eq!((ranked.worth(), ranked.get()), (worth, Move::new(code)));
        }
    }
}
