use kagetsu_game::xiangqi::{
    self, Danger, Kind, Piece, QUIET_LIMIT, Square, Xiangqi, ends, judge, number,
};
use kagetsu_game::{Chase, Game, Move, Outcome, Score, Side, Symmetry, Variant, zobrist};

use super::network::{PieceNetwork, PiecePoint, Sums};
use super::values::{PHASE, PieceValue, value};

/// Score of a repetition that the rules forbid to one side. No mate score, because it holds on one
/// path only.
const FORFEIT: Score = Score::OPINION_MAX;

/// The pieces with the incremental facts that the search needs.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(super) pieces: xiangqi::Board,
    pub(super) side: Side,
    chase: Chase,
    now: XiangqiState,
    past: Vec<Past>,
    network: &'static PieceNetwork,
    /// The sums of the network, before each move and now. A null move has none.
    sums: Vec<Sums>,
    /// Number of moves played before the search began.
    root: usize,
}

/// The state that a move changes and an undo restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct XiangqiState {
    /// The low half of the rules' hash.
    hash: u64,
    /// Plies since the last capture.
    quiet: u8,
    /// Number of moves before the earliest position that may be repeated: since the last capture or
    /// null move.
    since: usize,
    /// Value of pieces and squares, Red's minus Black's.
    sum: PieceValue,
    /// Game phase: the remaining share of the middle game.
    phase: i32,
    /// Checks and pins against the side to move; `None` if it has lost its general.
    danger: Option<Danger>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Past {
    m: Move,
    captured: Option<Piece>,
    state: XiangqiState,
}

impl Board {
    /// Returns the position, with the part of the game that may be repeated.
    pub(super) fn of_game(game: &Xiangqi) -> Self {
        let mut start = game.clone();
        game.history().iter().for_each(|_| start.undo());
        let Variant::Xiangqi { chase } = game.variant() else {
            unreachable!("a game of xiangqi is a xiangqi variant")
        };
        let pieces = start.board().clone();
        let mut now = XiangqiState {
            hash: 0,
            quiet: start.quiet(),
            since: 0,
            sum: PieceValue::default(),
            phase: 0,
            danger: pieces.danger(start.side()),
        };
        for (square, piece) in pieces.iter() {
            now.put(square, piece);
        }
        now.hash = start.zobrist(Symmetry::IDENTITY) as u64;
        let network = PieceNetwork::own();
        let sums = network.sums(pieces.iter().map(|(at, piece)| PiecePoint(piece, at)));
        let mut board = Self {
            pieces,
            network,
            sums: vec![sums],
            side: start.side(),
            chase,
            now,
            past: Vec::with_capacity(256),
            root: 0,
        };
        game.history().iter().for_each(|&m| board.make(m));
        board.root = board.past.len();
        board
    }

    pub(super) fn make(&mut self, m: Move) {
        let (from, to) = ends(m).expect("a legal move");
        let piece = self.pieces.at(from).expect("a piece to move");
        let captured = self.pieces.shift(from, to);
        self.past.push(Past {
            m,
            captured,
            state: self.now,
        });
        let now = &mut self.now;
        now.take(from, piece);
        if let Some(captured) = captured {
            now.take(to, captured);
            (now.quiet, now.since) = (0, self.past.len());
        } else {
            now.quiet = now.quiet.saturating_add(1);
        }
        now.put(to, piece);
        let sums = self.network.moved(
            self.sums.last().expect("the sums of the position"),
            PiecePoint(piece, from),
            PiecePoint(piece, to),
            captured.map(|captured| PiecePoint(captured, to)),
        );
        self.sums.push(sums);
        self.turn();
    }

    /// Passes.
    pub(super) fn make_nothing(&mut self) {
        self.past.push(Past {
            m: Move::NONE,
            captured: None,
            state: self.now,
        });
        self.now.since = self.past.len();
        self.turn();
    }

    fn turn(&mut self) {
        self.side = self.side.other();
        self.now.hash ^= zobrist::SECOND_TO_MOVE as u64;
        self.now.danger = self.pieces.danger(self.side);
    }

    pub(super) fn unmake(&mut self) {
        let Past { m, captured, state } = self.past.pop().expect("a move to take back");
        self.side = self.side.other();
        self.now = state;
        let Some((from, to)) = ends(m) else { return };
        self.sums.pop();
        self.pieces.shift(to, from);
        if let Some(captured) = captured {
            self.pieces.put(to, captured);
        }
    }

    pub(super) const fn zobrist(&self) -> u64 {
        self.now.hash
    }

    pub(super) const fn sum(&self) -> PieceValue {
        self.now.sum
    }

    /// Returns the network's value for the side to move, in centi-units.
    pub(super) fn learned(&self) -> i32 {
        let sums = self.sums.last().expect("the sums of the position");
        self.network.value(sums, self.side, self.now.phase)
    }

    pub(crate) const fn phase(&self) -> i32 {
        self.now.phase
    }

    /// Returns the incremental state, without the limit of repetitions.
    #[cfg(test)]
    pub(super) fn state(&self) -> impl Eq + std::fmt::Debug {
        let XiangqiState {
            hash,
            quiet,
            sum,
            phase,
            danger,
            ..
        } = self.now;
        (
            hash,
            quiet,
            sum,
            phase,
            danger,
            self.sums.last().copied(),
            self.side,
            self.pieces.clone(),
        )
    }

    pub(super) const fn quiet(&self) -> u8 {
        self.now.quiet
    }

    pub(super) const fn is_quiet_draw(&self) -> bool {
        self.now.quiet >= QUIET_LIMIT
    }

    pub(super) fn is_checked(&self) -> bool {
        self.now.danger.is_some_and(|danger| danger.is_check())
    }

    /// Iterates over the pieces of the side to move with their legal targets, captures included.
    pub(super) fn targets(&self) -> impl Iterator<Item = (Square, Piece, xiangqi::Squares)> {
        let danger = self.now.danger;
        self.pieces
            .side(self.side)
            .into_iter()
            .filter_map(move |from| {
                let piece = self.pieces.at(from)?;
                Some((
                    from,
                    piece,
                    self.pieces.legal_targets(from, piece, danger.as_ref()?),
                ))
            })
    }

    pub(super) fn has_moves(&self) -> bool {
        self.targets().any(|(_, _, targets)| !targets.is_empty())
    }

    /// Returns the plies back to an earlier equal position, if the repetition is to be judged: at
    /// the first repetition within the search, since it could continue, and at the second one, as
    /// the rules have it, if the position is older.
    pub(super) fn repeats(&self) -> Option<usize> {
        let now = self.past.len();
        let earliest = self.now.since.min(now);
        let mut before = false;
        for (at, past) in self
            .past
            .iter()
            .enumerate()
            .skip(earliest)
            .rev()
            .skip(3)
            .step_by(2)
        {
            if past.state.hash == self.now.hash {
                if at >= self.root || before {
                    return Some(now - at);
                }
                before = true;
            }
        }
        None
    }

    /// Returns the score of such a repetition for the side to move.
    pub(super) fn judged(&self, plies: usize) -> Score {
        let stretch = &self.past[self.past.len() - plies..];
        let stretch: Vec<(Square, Square)> =
            stretch.iter().filter_map(|past| ends(past.m)).collect();
        match judge(&self.pieces, self.side, &stretch, self.chase) {
            Outcome::Draw => Score::ZERO,
            Outcome::Win(side) if side == self.side => FORFEIT,
            Outcome::Win(_) => -FORFEIT,
        }
    }

    /// Whether the side has a freely moving piece.
    pub(super) fn has_officers(&self, side: Side) -> bool {
        let officers = self.pieces.kind(Kind::Rook)
            | self.pieces.kind(Kind::Horse)
            | self.pieces.kind(Kind::Cannon);
        !(officers & self.pieces.side(side)).is_empty()
    }
}

impl XiangqiState {
    fn put(&mut self, square: Square, piece: Piece) {
        match piece.side {
            Side::First => self.sum += value(piece, square),
            Side::Second => self.sum -= value(piece, square),
        }
        self.change(square, piece, 1);
    }

    fn take(&mut self, square: Square, piece: Piece) {
        match piece.side {
            Side::First => self.sum -= value(piece, square),
            Side::Second => self.sum += value(piece, square),
        }
        self.change(square, piece, -1);
    }

    fn change(&mut self, square: Square, piece: Piece, by: i32) {
        self.phase += by * PHASE[piece.kind.index()];
        self.hash ^= number(square, piece) as u64;
    }
}
