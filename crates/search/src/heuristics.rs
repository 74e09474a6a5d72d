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

/// The moves to search in a position, each with its worth for the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    list: ArrayVec<(i32, Move), MAX_MOVES>,
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
        self.list
            .iter_mut()
            .for_each(|(worth, m)| *worth = worth.saturating_add(by(*m)));
    }

    #[inline]
    pub(crate) fn push(&mut self, worth: i32, m: Move) {
        self.list.push((worth, m));
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
        if let Some(found) = self.list.iter_mut().find(|(_, known)| *known == m) {
            found.0 = i32::MAX;
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
        let rest = self.list.get_mut(self.taken..)?;
        let best = (0..rest.len()).min_by_key(|&at| (std::cmp::Reverse(rest[at].0), rest[at].1))?;
        rest.swap(0, best);
        self.taken += 1;
        Some(rest[0])
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

    /// Returns the moves to search in the given situation.
    fn moves(&self, situation: &Situation) -> Moves;

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

    /// Whether the opponent could start continuous threats if it were to move.
    fn is_threatened(&self) -> bool;

    /// Searches for a VCT of the side to move.
    fn vct(&mut self, effort: Effort, control: &Control) -> VctOutcome {
        let _ = (effort, control);
        VctOutcome::default()
    }

    /// Returns the opponent's VCF if it were to move, as the whole line, trying at most `budget`
    /// threats.
    fn opponent_vcf(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        let _ = budget;
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

    /// Whether the opponent's line of threats still wins after a move. The move then loses in one
    /// ply more than the line has.
    fn loses_to(&mut self, m: Move, threat: &[Move]) -> bool {
        let _ = (m, threat);
        false
    }

    /// Returns every legal move.
    fn legal(&self) -> Vec<Move>;

    /// Returns the winning moves where a win is [`Situation::Known`], otherwise none.
    fn urgent(&self) -> Vec<Move> {
        Vec::new()
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
