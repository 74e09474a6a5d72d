use kagetsu_game::surakarta::{POINTS, SIZE, Surakarta};
use kagetsu_game::{Game, Move, Score, Side, Variant, zobrist};

use super::end_tables::{self, Tables};
use super::rings::{RingView, Rings, points};
use super::weights::PointWeights;
use crate::EngineOptions;

/// Remaining quiet plies from which their number is part of the hash. No search goes farther
/// without a capture.
const NEAR: u8 = 40;

/// The points of the first and of the last file.
const FILE_A: u64 = 0x41041041;
const FILE_F: u64 = FILE_A << (SIZE - 1);

/// The state that undo restores.
#[derive(Clone, Debug)]
struct Past {
    state: SurakartaState,
    from: u8,
    to: u8,
    captured: bool,
}

/// The part of the state that changes with every ply, besides the stones.
#[derive(Clone, Copy, Debug)]
struct SurakartaState {
    /// Hash of stones and side to move.
    hash: u64,
    /// Plies since the last capture, as the rules count them.
    quiet: u8,
    /// Plies since the last irreversible one.
    back: u8,
    sums: [i32; 2],
}

/// The stones of a game and their captures, updated incrementally by play and undo.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(super) side: Side,
    pub(super) stones: [u64; 2],
    rings: Rings,
    pub(super) view: RingView,
    state: SurakartaState,
    limit: u8,
    past: Vec<Past>,
    /// Hashes of the earlier positions that may be repeated, including those of the game.
    hashes: Vec<u64>,
    pub(super) weights: &'static PointWeights,
    tables: Option<&'static Tables>,
}

impl Board {
    pub(super) fn of_game(game: &Surakarta, options: &EngineOptions) -> Self {
        let Variant::Surakarta { limit } = game.variant() else {
            unreachable!("a game of surakarta")
        };
        let weights = PointWeights::of(options.constants);
        let hashes = earlier(game);
        let mut board = Self {
            side: game.side(),
            stones: [Side::First, Side::Second].map(|side| game.board().stones(side)),
            rings: Rings::default(),
            view: RingView::default(),
            state: SurakartaState {
                hash: game.hash(),
                quiet: game.quiet(),
                back: hashes.len() as u8,
                sums: [0; 2],
            },
            limit,
            past: Vec::with_capacity(128),
            hashes,
            weights,
            tables: end_tables::given(options.end_tables, limit),
        };
        for side in 0..2 {
            for point in points(board.stones[side]) {
                board.rings.flip(point);
                board.state.sums[side] += i32::from(weights.points[usize::from(point)]);
            }
        }
        board.view = board.rings.view(board.stones[0]);
        board
    }

    pub(super) fn empty(&self) -> u64 {
        !(self.stones[0] | self.stones[1]) & ((1 << POINTS) - 1)
    }

    /// Number of stones of the side.
    pub(super) fn count(&self, side: Side) -> u32 {
        self.stones[side.index()].count_ones()
    }

    /// Sum of the values of the side's stones on their points.
    pub(super) fn sum(&self, side: Side) -> i32 {
        self.state.sums[side.index()]
    }

    /// Number of pairs of a stone of the side and an adjacent empty point.
    pub(super) fn steps(&self, side: Side) -> i32 {
        let stones = self.stones[side.index()];
        let (left, right) = (stones & !FILE_A, stones & !FILE_F);
        let sizes = [SIZE, SIZE - 1, SIZE + 1];
        let up = [
            stones << sizes[0],
            left << sizes[1],
            right << sizes[2],
            right << 1,
        ];
        let down = [
            stones >> sizes[0],
            right >> sizes[1],
            left >> sizes[2],
            left >> 1,
        ];
        let empty = self.empty();
        up.into_iter()
            .chain(down)
            .map(|reached| (reached & empty).count_ones() as i32)
            .sum()
    }

    /// Returns a hash of stones and side to move, and of the quiet plies near their limit.
    pub(super) fn hash_with_count(&self) -> u64 {
        let SurakartaState { hash, quiet, .. } = self.state;
        let left = self.limit.saturating_sub(quiet);
        if left > NEAR {
            hash
        } else {
            hash ^ zobrist::number(1 << 20 | u64::from(left)) as u64
        }
    }

    /// Whether earlier positions end the game. Returns the plies back to the first of them.
    pub(super) fn is_over_by_history(&self) -> Option<usize> {
        let SurakartaState {
            hash, quiet, back, ..
        } = self.state;
        if quiet >= self.limit {
            return Some(quiet.into());
        }
        if back < 8 {
            return None;
        }
        let earlier = self
            .hashes
            .iter()
            .rev()
            .take(back.into())
            .enumerate()
            .skip(3)
            .step_by(2);
        let mut same = earlier.filter(|&(_, &known)| known == hash);
        same.nth(1).map(|(plies, _)| plies + 1)
    }

    /// Returns the score by the end tables right after a capture.
    pub(super) fn score_after_capture(&self) -> Option<Score> {
        let has_captured = self.past.last().is_some_and(|past| past.captured);
        has_captured.then(|| self.score(self.limit)).flatten()
    }

    /// Returns the score by the end tables, if it holds after the plies since the last capture.
    pub(super) fn score_in_game(&self) -> Option<Score> {
        let SurakartaState { quiet, back, .. } = self.state;
        let since = &self.hashes[self.hashes.len() - usize::from(back)..];
        let has_repeated = (1..since.len()).any(|at| since[..at].contains(&since[at]));
        let left = self.limit.saturating_sub(quiet);
        self.score(if has_repeated { 0 } else { left })
    }

    fn score(&self, left: u8) -> Option<Score> {
        let [own, his] = [self.side, self.side.other()].map(|side| self.stones[side.index()]);
        self.tables?.score(own, his, self.limit, left)
    }

    pub(super) fn play_stone(&mut self, from: u8, to: u8) {
        let (mover, enemy) = (self.side, self.side.other());
        let (me, other) = (mover.index(), enemy.index());
        let captured = self.stones[other] >> to & 1 != 0;
        self.past.push(Past {
            state: self.state,
            from,
            to,
            captured,
        });
        self.hashes.push(self.state.hash);
        self.move_stone(from, to, captured);
        let SurakartaState {
            hash,
            quiet,
            back,
            sums,
        } = &mut self.state;
        let point = |point: u8| i32::from(self.weights.points[usize::from(point)]);
        *hash ^= (Surakarta::number(mover, from)
            ^ Surakarta::number(mover, to)
            ^ zobrist::SECOND_TO_MOVE) as u64;
        sums[me] += point(to) - point(from);
        if captured {
            *hash ^= Surakarta::number(enemy, to) as u64;
            sums[other] -= point(to);
            (*quiet, *back) = (0, 0);
        } else {
            (*quiet, *back) = (quiet.saturating_add(1), back.saturating_add(1));
        }
        self.side = enemy;
        self.view = self.rings.view(self.stones[0]);
    }

    /// Passes, as a quiet and irreversible ply.
    pub(super) fn pass_turn(&mut self) {
        self.past.push(Past {
            state: self.state,
            from: 0,
            to: 0,
            captured: false,
        });
        self.hashes.push(self.state.hash);
        self.state.hash ^= zobrist::SECOND_TO_MOVE as u64;
        self.state.quiet = self.state.quiet.saturating_add(1);
        self.state.back = 0;
        self.side = self.side.other();
    }

    pub(super) fn undo_ply(&mut self) {
        let Past {
            state,
            from,
            to,
            captured,
        } = self.past.pop().expect("a ply to take back");
        self.hashes.pop();
        self.side = self.side.other();
        self.state = state;
        if from != to {
            self.move_stone(from, to, captured);
            self.view = self.rings.view(self.stones[0]);
        }
    }

    /// Moves a stone of the side to move, or back again.
    fn move_stone(&mut self, from: u8, to: u8, captured: bool) {
        let (me, other) = (self.side.index(), self.side.other().index());
        self.stones[me] ^= 1 << from | 1 << to;
        self.rings.flip(from);
        if captured {
            self.stones[other] ^= 1 << to;
        } else {
            self.rings.flip(to);
        }
    }
}

/// Returns the hashes of the positions that the game may still repeat, oldest first.
fn earlier(game: &Surakarta) -> Vec<u64> {
    let mut game = game.clone();
    let plies = game.history().len().min(game.quiet().into());
    let mut hashes: Vec<u64> = (0..plies)
        .map(|_| {
            game.undo();
            game.hash()
        })
        .collect();
    hashes.reverse();
    hashes
}

/// Returns the start and the end of a move.
pub(super) fn ends(m: Move) -> (u8, u8) {
    ((m.index() / POINTS) as u8, (m.index() % POINTS) as u8)
}

pub(super) fn join(from: u8, to: u8) -> Move {
    Move::new(u16::from(from) * POINTS as u16 + u16::from(to))
}
