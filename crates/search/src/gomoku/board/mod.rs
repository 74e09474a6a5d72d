mod candidates;
mod channels;
mod heuristics;
mod refute;
mod shapes;
mod threats;

use std::marker::PhantomData;

use kagetsu_game::gomoku::{Gomoku, Lines, MAX_CELLS, Point, Rule, forbidden, number};
use kagetsu_game::{Game, Move, Outcome, Side, Symmetry, Variant, zobrist};

use crate::EngineOptions;
use crate::gomoku::cells::Cells;
use crate::gomoku::patterns::evaluation::EvaluationWeights;
use crate::gomoku::patterns::kind::{CellKind, Cross, KINDS};
use crate::gomoku::patterns::network::{CHANNELS, CellChannels, Network, Pool};
use crate::gomoku::patterns::order::MoveOrder;
use crate::gomoku::patterns::shape::Shapes;
use crate::gomoku::patterns::weights::{CellGrade, CellWeights};
use crate::gomoku::places::{Geometry, Line};

/// The state before a move that undo restores.
#[derive(Clone, Debug)]
struct Played {
    cell: u16,
    /// Length of the log before the move.
    log: u32,
    live: [u16; 2],
    sums: [i32; 2],
    pool: Pool,
    /// Length of the log of channels before the move.
    channel_log: u32,
    kinds: [[u16; KINDS]; 2],
    near: Cells,
    five: Option<Side>,
}

/// The state of a cell before a stone near it changed its shapes.
#[derive(Clone, Copy, Debug)]
struct Was {
    cell: u16,
    cross: u32,
    grades: [CellGrade; 2],
}

/// The size of the boards of the games from which the weights were learned.
const LEARNED_SIZE: u8 = 15;

/// Number of slots for cells. A power of two makes index checks cheap.
const ROOM: usize = MAX_CELLS.next_power_of_two();

/// A gomoku board with the shapes that a stone of either side would make on each empty cell,
/// updated incrementally by play and undo.
///
/// Everything has a fixed size: each thread copies a board, and the search does not allocate.
#[derive(Clone, Debug)]
pub(crate) struct Board<R> {
    side: Side,
    /// Empty cells.
    left: usize,
    hash: u64,
    /// The side that has five in a row.
    five: Option<Side>,
    /// By line number. Smaller boards leave most of them unused.
    lines: [Line; 256],
    empty: Cells,
    /// By cell, the second side's in the high half. Occupied cells keep their last value.
    crosses: [u32; ROOM],
    grades: [[CellGrade; 2]; ROOM],
    /// Empty cells by side and kind.
    kinds: [[u16; KINDS]; 2],
    /// The same cells; quiet ones are left out.
    sets: [[Cells; KINDS]; 2],
    /// Empty cells that can still be part of a five, by side.
    live: [u16; 2],
    /// Worth of all empty cells, by side.
    sums: [i32; 2],
    /// Channels of the networks, by cell. Occupied cells keep their last value.
    channels: [CellChannels; ROOM],
    pool: Pool,
    /// Add to the evaluation, by view; `None` where the board is not evaluated.
    pub(in crate::gomoku) networks: Option<[&'static Network; 2]>,
    /// The learned move orders, by side; `None` where the shapes give the order, as in a search
    /// that leaves no move out.
    orders: Option<[&'static MoveOrder; 2]>,
    /// Cells near a stone, taken ones among them.
    near: Cells,
    history: Vec<Played>,
    log: Vec<Was>,
    /// Channels of a cell before a stone near it changed them.
    channel_log: Vec<(u16, CellChannels)>,
    /// Black's stones and the empty cells, for the test of forbidden points. Other rules leave them
    /// unused.
    judged: (Lines, Lines),
    weights: [&'static CellWeights; 2],
    shapes: &'static Shapes,
    geometry: &'static Geometry,
    most: usize,
    rule: PhantomData<R>,
}

impl<R: Rule> Board<R> {
    /// Returns the board of a game, without its history. Sums over all cells begin as on the empty
    /// board of [`LEARNED_SIZE`], so that the value of stones does not depend on the board's size.
    fn of_game(game: &Gomoku<R>, options: &EngineOptions) -> Self {
        let mut board = Self::unscaled(game, options);
        if game.size() != LEARNED_SIZE {
            let [learned, own] = [LEARNED_SIZE, game.size()].map(|size| {
                let rule = R::NAME;
                let empty = Gomoku::start(Variant::Gomoku { rule, size });
                Self::unscaled(&empty, options)
            });
            board.shift_pool(&own.pool, &learned.pool);
            for side in 0..2 {
                board.sums[side] += learned.sums[side] - own.sums[side];
            }
        }
        board
    }

    /// Returns the board of a game with sums over its own cells.
    fn unscaled(game: &Gomoku<R>, options: &EngineOptions) -> Self {
        let geometry = Geometry::of(game.size(), options.neighbourhood);
        let given = options.evaluation.filter(|given| given.0.rule == R::NAME);
        let own = given.map_or_else(|| EvaluationWeights::in_use(R::NAME), |given| *given.0);
        let mut board = Self {
            side: game.side(),
            left: geometry.cells(),
            hash: game.zobrist(Symmetry::IDENTITY) as u64,
            five: match game.outcome() {
                Some(Outcome::Win(side)) => Some(side),
                _ => None,
            },
            lines: [Line::BEYOND; 256],
            empty: (0..geometry.cells()).collect(),
            crosses: [0; ROOM],
            grades: [[CellGrade::default(); 2]; ROOM],
            kinds: [[0; KINDS]; 2],
            sets: [[Cells::NONE; KINDS]; 2],
            live: [0; 2],
            sums: [0; 2],
            channels: [[[0; CHANNELS]; 2]; ROOM],
            pool: [[0; CHANNELS]; 2],
            networks: Some(own.networks),
            orders: options.selective.then_some(own.orders),
            near: Cells::NONE,
            history: Vec::with_capacity(128),
            log: Vec::with_capacity(2_048),
            channel_log: Vec::with_capacity(2_048),
            judged: (Lines::NONE, Lines::full(game.size())),
            weights: own.cells,
            shapes: Shapes::of::<R>(),
            geometry,
            most: options.candidates.max(1),
            rule: PhantomData,
        };
        for (cell, stone) in game.cells().iter().enumerate() {
            for at in geometry.places[cell] {
                board.lines[usize::from(at.line)].flip(at.place, 3);
            }
            if let Some(side) = stone {
                board.put(cell, *side);
            }
        }
        for cell in board.empty.iter() {
            for (direction, at) in geometry.places[cell].into_iter().enumerate() {
                let window = board.lines[usize::from(at.line)].window(at.place.into());
                let made = board.shapes.get::<R>(window);
                board.crosses[cell] |= spread(made) << (4 * direction);
            }
            for side in 0..2 {
                let grade =
                    board.weights[side].grades[usize::from(half(board.crosses[cell], side))];
                board.grades[cell][side] = grade;
                board.count_in(side, cell, grade);
            }
            board.add_channels(cell);
        }
        board
    }

    /// Returns the board without the networks, for searches that do not evaluate.
    pub(crate) fn without_network(mut self) -> Self {
        self.networks = None;
        self
    }

    /// Whether the rule forbids some points to the side.
    #[expect(clippy::unused_self, reason = "the rule is the board's")]
    pub(in crate::gomoku) const fn is_judged(&self, side: Side) -> bool {
        is_judged::<R>(side)
    }

    pub(in crate::gomoku) const fn side(&self) -> Side {
        self.side
    }

    #[inline]
    pub(in crate::gomoku) const fn count(&self, side: Side, kind: CellKind) -> u16 {
        self.kinds[side.index()][kind as usize]
    }

    #[inline]
    pub(in crate::gomoku) const fn kind(&self, side: Side, cell: usize) -> CellKind {
        self.grades[cell % ROOM][side.index()].kind()
    }

    /// Returns the empty cells of the wanted kinds for `side`. Quiet cells are in no set.
    #[inline]
    pub(in crate::gomoku) fn cells_of(
        &self,
        side: Side,
        wanted: impl Fn(CellKind) -> bool,
    ) -> Cells {
        let sets = &self.sets[side.index()];
        let words = self.geometry.words();
        let mut cells = Cells::NONE;
        let kinds = (1..KINDS)
            .filter(|&kind| self.kinds[side.index()][kind] > 0 && wanted(CellKind::of(kind)));
        kinds.for_each(|kind| cells.add(&sets[kind], words));
        cells
    }

    /// Returns the threats on the board, one bit each: three, double three, four, and four and
    /// three of the side to move; the same and two completion points of the opponent. Below
    /// [`super::FLAGS`].
    #[inline]
    pub(crate) fn flags(&self) -> usize {
        let threats = [
            CellKind::Three,
            CellKind::DoubleThree,
            CellKind::Four,
            CellKind::FourThree,
            CellKind::Winning,
        ];
        let of = |side: Side| {
            let has = |at: usize| usize::from(self.count(side, threats[at]) > 0) << at;
            has(0) | has(1) | has(2) | has(3) | has(4)
        };
        of(self.side) & 0xf | of(self.side.other()) << 4
    }

    /// The classes of the empty cells, of the first and of the second side.
    pub(crate) fn classes(&self) -> impl Iterator<Item = [u16; 2]> {
        self.empty.iter().map(|cell| self.classes_of(cell))
    }

    /// The classes of an empty cell, of the first and of the second side.
    pub(crate) fn classes_of(&self, cell: usize) -> [u16; 2] {
        self.grades[cell % ROOM].map(|grade| grade.class() as u16)
    }

    /// Numbers of empty cells by side and kind.
    pub(crate) const fn kind_counts(&self) -> [[u16; KINDS]; 2] {
        self.kinds
    }

    /// Whether renju forbids the empty cell to `side`.
    pub(in crate::gomoku) fn is_forbidden(&self, side: Side, cell: usize) -> bool {
        if !is_judged::<R>(side) {
            return false;
        }
        match self.kind(side, cell) {
            CellKind::Forbidden => true,
            CellKind::DoubleThree | CellKind::Tangle => {
                let point = Point::of(Move::new(cell as u16), self.geometry.size as u8);
                forbidden(&self.judged.0, &self.judged.1, point).is_some()
            }
            _ => false,
        }
    }

    /// Counts an empty cell among those of its kind.
    #[inline]
    fn count_in(&mut self, side: usize, cell: usize, grade: CellGrade) {
        self.live[side] += u16::from(half(self.crosses[cell], side) != 0);
        self.sums[side] += grade.value();
        self.kinds[side][grade.kind() as usize] += 1;
        self.flip(side, cell, grade.kind());
    }

    #[inline]
    fn count_out(&mut self, side: usize, cell: usize, grade: CellGrade) {
        self.live[side] -= u16::from(half(self.crosses[cell], side) != 0);
        self.sums[side] -= grade.value();
        self.kinds[side][grade.kind() as usize] -= 1;
        self.flip(side, cell, grade.kind());
    }

    /// Adds a cell to the set of its kind, or removes it.
    #[inline]
    fn flip(&mut self, side: usize, cell: usize, kind: CellKind) {
        if kind != CellKind::Quiet {
            self.sets[side][kind as usize].flip(cell);
        }
    }

    /// Puts a stone on an empty cell, or takes it off again.
    #[inline]
    fn turn_over(&mut self, cell: usize, side: Side) {
        let content = side.index() as u64 + 1;
        for at in self.geometry.places[cell] {
            self.lines[usize::from(at.line)].flip(at.place, content);
        }
        self.empty.flip(cell);
        if R::FORBIDS {
            let point = Point::of(Move::new(cell as u16), self.geometry.size as u8);
            if side == Side::First {
                self.judged.0.flip(point);
            }
            self.judged.1.flip(point);
        }
    }

    fn put(&mut self, cell: usize, side: Side) {
        self.turn_over(cell, side);
        self.left -= 1;
        self.near
            .add(&self.geometry.near[cell], self.geometry.words());
    }

    fn hand_over(&mut self, cell: usize, side: Side) {
        self.hash ^= number(side, cell) as u64 ^ zobrist::SECOND_TO_MOVE as u64;
    }

    pub(in crate::gomoku) fn play_cell(&mut self, cell: usize) {
        let side = self.side;
        self.history.push(Played {
            cell: cell as u16,
            log: self.log.len() as u32,
            live: self.live,
            sums: self.sums,
            pool: self.pool,
            channel_log: self.channel_log.len() as u32,
            kinds: self.kinds,
            near: self.near,
            five: self.five,
        });
        if self.kind(side, cell) == CellKind::Five {
            self.five = Some(side);
        }
        for side in 0..2 {
            self.count_out(side, cell, self.grades[cell][side]);
        }
        if self.networks.is_some() {
            Network::count_out(&self.channels[cell % ROOM], &mut self.pool);
        }
        self.put(cell, side);
        self.hand_over(cell, side);
        self.side = side.other();
        self.refresh(cell);
    }

    pub(in crate::gomoku) fn undo_cell(&mut self) {
        let Played {
            cell,
            log,
            live,
            sums,
            pool,
            channel_log,
            kinds,
            near,
            five,
        } = self.history.pop().expect("a move to take back");
        let cell = usize::from(cell);
        self.side = self.side.other();
        self.turn_over(cell, self.side);
        self.hand_over(cell, self.side);
        self.left += 1;
        while self.log.len() > log as usize {
            let Some(was) = self.log.pop() else { break };
            self.restore(was);
        }
        for side in 0..2 {
            self.flip(side, cell, self.grades[cell][side].kind());
        }
        (self.live, self.sums, self.kinds, self.near, self.five) = (live, sums, kinds, near, five);
        self.restore_channels(channel_log as usize);
        self.pool = pool;
    }
}

/// One side's half of two crosses.
#[inline]
const fn half(crosses: u32, side: usize) -> Cross {
    (crosses >> (16 * side)) as Cross
}

/// The shapes of both sides in one direction, each in its half.
#[inline]
const fn spread(made: u8) -> u32 {
    made as u32 & 0xf | (made as u32 >> 4) << 16
}

/// Whether the rule forbids some points to the side.
const fn is_judged<R: Rule>(side: Side) -> bool {
    R::FORBIDS && matches!(side, Side::First)
}

#[cfg(test)]
impl<R: Rule> Board<R> {
    pub(in crate::gomoku) const fn empty(&self) -> Cells {
        self.empty
    }

    /// Returns all incremental facts about empty cells: shapes, nearness, counts, sets and sums.
    pub(in crate::gomoku) fn facts(&self) -> impl PartialEq + std::fmt::Debug + use<R> {
        let cells: Vec<_> = self
            .empty
            .iter()
            .map(|cell| {
                let is_near = self.near.contains(cell);
                (cell, self.crosses[cell], self.channels[cell], is_near)
            })
            .collect();
        (
            cells,
            self.left,
            self.live,
            self.kinds,
            self.sets,
            self.sums,
            self.pool,
            self.judged.clone(),
        )
    }
}
