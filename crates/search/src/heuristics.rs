use arrayvec::ArrayVec;
use kagetsu_game::{Effort, Game, Move, ProofKind, Score};

use crate::{Control, EngineOptions};

/// What the opponent's and one's own threats leave to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Situation {
    /// The game is over; the value for the side to move.
    Over(Score),
    /// A proven value that needs no search.
    Known(Score),
    /// There is a threat: what does not answer it loses within `otherwise` plies.
    Forced {
        /// Plies to the loss after any other move.
        otherwise: u16,
    },
    /// Over by what was played before: a repetition, or too many plies without a capture. The score, for the side to move,
    /// holds only on this path.
    #[allow(dead_code, reason = "gomoku has no repetitions")]
    Repeated {
        /// What that is worth to the side to move.
        score: Score,
        /// How many plies before this one the positions begin that it rests on.
        plies: usize,
    },
    /// Nothing forces.
    Free,
}

/// How the search treats moves that come late in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// What the product of the logarithms of depth and number, in hundredths, is divided by to make plies of reduction.
    pub(crate) divisor: usize,
    /// How many moves are searched at least where those after them need not be, and how many more for the depth squared, in
    /// quarters.
    pub(crate) moves: (i32, i32),
}

/// What differs from game to game in how a search selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Centi-units by which one ply may change the opinion.
    pub(crate) ply: i32,
    /// Codes of moves: all are less.
    pub(crate) codes: usize,
    /// What a killer or a counter move is worth among what moves promise.
    pub(crate) killer: i32,
    /// How much less late moves promise than early ones.
    pub(crate) late: Late,
    /// What a win that [`Heuristics::kill`] finds is a proof by.
    pub(crate) vcf_proof: ProofKind,
}

/// How forcing a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Force {
    /// It leaves the opponent one answer, or none.
    pub(crate) is_four: bool,
    /// It threatens something that must be answered.
    pub(crate) attacks: bool,
    /// It takes such a threat from the opponent.
    pub(crate) defends: bool,
}

/// A win by continuous threats, and what it took to look for one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VctOutcome {
    /// Within how many plies the side to move wins, and how it goes; the line may be shorter, but has one move at least.
    pub(crate) win: Option<(u16, Vec<Move>)>,
    /// Positions searched.
    pub(crate) nodes: u64,
}

/// Moves of a position that has most of them.
const MAX_MOVES: usize = 512;

/// What is to be searched in a position, each move with what it promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    list: ArrayVec<(i32, Move), MAX_MOVES>,
    /// How many of them were taken; they stand at the front.
    taken: usize,
    /// How many may be taken.
    most: usize,
    /// Whether they are all that is legal, or all that answers the threat.
    pub(crate) complete: bool,
}

impl Moves {
    /// An empty list.
    pub(crate) fn new(complete: bool) -> Self {
        Self {
            list: ArrayVec::new_const(),
            taken: 0,
            most: usize::MAX,
            complete,
        }
    }

    /// Adds to what each move promises.
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

    /// Only the `most` best are to be taken.
    pub(crate) fn limit(&mut self, most: usize) {
        self.most = most;
    }

    /// Moves, the taken ones among them.
    pub(crate) fn len(&self) -> usize {
        self.list.len().min(self.most)
    }

    /// Puts a move of the list before all others.
    pub(crate) fn promote(&mut self, m: Move) {
        if let Some(found) = self.list.iter_mut().find(|(_, known)| *known == m) {
            found.0 = i32::MAX;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The most promising move that was not taken yet; of equal ones the first in the order of moves.
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

    /// All of them, the most promising first.
    pub(crate) fn sorted(mut self) -> Vec<Move> {
        std::iter::from_fn(|| self.take()).map(|(_, m)| m).collect()
    }
}

/// A game as an engine sees it: a board that knows what is threatened and what is good.
///
/// It is not the board of the rules, which has no opinion, but is made from one and mirrors its moves.
pub(crate) trait Heuristics: Clone + Send {
    /// The rules it mirrors.
    type Rules: Game;

    /// How it is searched.
    const STYLE: Style;

    /// The position of `game`, whose last move is forgotten.
    fn new(game: &Self::Rules, options: &EngineOptions) -> Self;

    /// Plays a legal move.
    fn play(&mut self, m: Move);

    /// Takes back the last one played here.
    fn undo(&mut self);

    /// Leaves the move to the other side, where that is thought no better than the best move: where one's pieces can move
    /// without harm, and nothing must be answered. Whether it did; [`Heuristics::undo`] takes it back.
    fn pass(&mut self) -> bool {
        false
    }

    /// A hash of stones and side to move.
    fn hash(&self) -> u64;

    /// The side to move's opinion in centi-units; asked only where nothing is [`Situation::Known`].
    fn evaluate(&self) -> Score;

    /// What the threats leave to decide; cheap.
    fn situation(&self) -> Situation;

    /// What must be searched in such a situation.
    fn moves(&self, situation: &Situation) -> Moves;

    /// The moves that change the opinion at once and may gain by it: what a leaf must look at before its opinion is
    /// believed. None where the opinion already sees them.
    fn captures(&self) -> Option<Moves> {
        None
    }

    /// Whether the side to move is in check: it may not leave things as they are.
    fn is_check(&self) -> bool {
        false
    }

    /// What a legal move does, before it is played.
    fn force(&self, m: Move) -> Force;

    /// Whether the opponent, if it were his move, could start continuous threats.
    fn is_threatened(&self) -> bool;

    /// A win of the side to move by continuous threats of any sort, with so much effort.
    fn vct(&mut self, effort: Effort, control: &Control) -> VctOutcome {
        let _ = (effort, control);
        VctOutcome::default()
    }

    /// How the opponent would win by continuous threats if it were his move, as the whole line, trying at most `budget`.
    fn opponent_vcf(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        let _ = budget;
        None
    }

    /// Whether a move leaves the opponent his line of threats: then it loses in one ply more than the line has.
    fn loses_to(&mut self, m: Move, threat: &[Move]) -> bool {
        let _ = (m, threat);
        false
    }

    /// Every legal move.
    fn legal(&self) -> Vec<Move>;

    /// The moves that win where a win is [`Situation::Known`]; else none.
    fn urgent(&self) -> Vec<Move> {
        Vec::new()
    }

    /// Whether the side to move can still win, and whether the opponent can; a cheap look that may say yes too often.
    fn can_win(&self) -> (bool, bool) {
        (true, true)
    }

    /// Whether a search for continuous threats has something to begin with.
    fn may_have_vcf(&self) -> bool;

    /// A forced win of the side to move by continuous threats, as the whole line, trying at most `budget` threats and
    /// lines of at most `length` threats.
    fn vcf(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>>;
}
