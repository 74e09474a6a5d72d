mod choice;

use std::marker::PhantomData;

use arrayvec::ArrayVec;
use kagetsu_game::gomoku::{Gomoku, MAX_CELLS, Rule};
use kagetsu_game::{Game, Move, Score, Side, Symmetry, zobrist};

use self::choice::neighbours;
use super::kind::{BY_CROSS, Cross, KINDS, Kind};
use super::places::{LINES, bit, places, strides};
use super::shape::{Shapes, reach};
use super::vcf::Vcf;
use super::weights::Weights;
use crate::EngineOptions;
use crate::heuristics::{Heuristics, Moves, Situation};

/// One number for each side and cell.
static NUMBERS: [[u128; MAX_CELLS]; 2] = [zobrist::table(0), zobrist::table(MAX_CELLS as u64)];

/// Words of a set of cells.
const WORDS: usize = MAX_CELLS.div_ceil(64);

/// What a move changed, to take it back.
#[derive(Clone, Debug)]
struct Played {
    m: Move,
    /// Length of the log of crosses before the move.
    log: usize,
    sums: [i32; 2],
    kinds: [[u16; KINDS]; 2],
    five: Option<Side>,
}

/// A gomoku board that knows, for every empty cell, what a stone of either side would make there. Kept up to date by
/// play and undo.
#[derive(Clone, Debug)]
pub(crate) struct Board<R> {
    size: usize,
    side: Side,
    /// Empty cells.
    left: usize,
    hash: u64,
    /// Who has five.
    five: Option<Side>,
    /// Stones by side, line and place.
    stones: [Box<[u32; LINES]>; 2],
    /// Empty cells by line and place.
    empty: Box<[u32; LINES]>,
    is_empty: Vec<bool>,
    /// By side and cell; of cells with a stone, as they were.
    crosses: [Vec<Cross>; 2],
    /// Empty cells by side and kind.
    kinds: [[u16; KINDS]; 2],
    /// The same cells, a bit each; quiet ones are left out.
    sets: [[[u64; WORDS]; KINDS]; 2],
    /// Worth of all empty cells, by side.
    sums: [i32; 2],
    /// Stones that make a cell a candidate.
    near: Vec<u8>,
    /// Cells near each cell.
    neighbours: std::sync::Arc<Vec<Vec<u16>>>,
    history: Vec<Played>,
    log: Vec<(u16, [Cross; 2])>,
    weights: &'static Weights,
    shapes: &'static Shapes,
    by_cross: &'static [Kind],
    most: usize,
    rule: PhantomData<R>,
}

impl<R: Rule> Board<R> {
    fn cells(&self) -> usize {
        self.size * self.size
    }

    pub(super) const fn side(&self) -> Side {
        self.side
    }

    pub(super) fn count(&self, side: Side, kind: Kind) -> u16 {
        self.kinds[side.index()][kind as usize]
    }

    pub(super) fn kind(&self, side: Side, cell: usize) -> Kind {
        self.by_cross[usize::from(self.crosses[side.index()][cell])]
    }

    /// Empty cells that are of such a kind for `side`, in order.
    pub(super) fn cells_of(&self, side: Side, wanted: impl Fn(Kind) -> bool) -> Vec<usize> {
        let sets = &self.sets[side.index()];
        let kinds: ArrayVec<usize, KINDS> = (1..KINDS).filter(|&kind| wanted(Kind::of(kind))).collect();
        let mut cells = Vec::new();
        let words = self.cells().div_ceil(64);
        let mut union = [0; WORDS];
        kinds.iter().for_each(|&kind| union.iter_mut().zip(&sets[kind]).for_each(|(word, set)| *word |= set));
        for (word, mut bits) in union.into_iter().enumerate().take(words) {
            while bits != 0 {
                cells.push(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        cells
    }

    /// Puts a cell into the set of its kind, or takes it out.
    fn flip(&mut self, side: usize, cell: usize, kind: Kind) {
        if kind != Kind::Quiet {
            self.sets[side][kind as usize][cell / 64] ^= 1 << (cell % 64);
        }
    }

    fn count_cell(&mut self, cell: usize, by: i32) {
        for side in 0..2 {
            let cross = usize::from(self.crosses[side][cell]);
            self.sums[side] += by * self.weights.values[cross];
            let kind = self.by_cross[cross];
            let count = &mut self.kinds[side][kind as usize];
            *count = (i32::from(*count) + by) as u16;
            self.flip(side, cell, kind);
        }
    }

    /// The cross of a cell, from the lines.
    fn cross(&self, side: usize, cell: usize) -> Cross {
        let lines = places(cell % self.size, cell / self.size);
        (0..4).fold(0, |cross, direction| {
            let (line, place) = lines[direction];
            cross | self.shape(side, line, place) << (4 * direction)
        })
    }

    fn shape(&self, side: usize, line: usize, place: u32) -> Cross {
        let (own, free) = (self.stones[side][line] >> place, self.empty[line] >> place);
        self.shapes.get::<R>(own, free) as Cross
    }

    /// Sees again what can be made on the empty cells of the four lines through a cell that has changed.
    fn refresh(&mut self, cell: usize) {
        let (x, y) = (cell % self.size, cell / self.size);
        let reach = reach::<R>() as i32;
        for (direction, ((line, place), stride)) in places(x, y).into_iter().zip(strides(self.size)).enumerate() {
            for distance in (-reach..=reach).filter(|&distance| distance != 0) {
                let at = place as i32 + distance;
                if at < 0 || self.empty[line] & bit(at as u32) == 0 {
                    continue;
                }
                let other = (cell as isize + distance as isize * stride) as usize;
                self.reshape(other, direction, line, at as u32);
            }
        }
    }

    fn reshape(&mut self, cell: usize, direction: usize, line: usize, place: u32) {
        let shift = 4 * direction;
        let before = [self.crosses[0][cell], self.crosses[1][cell]];
        let after = [0, 1].map(|side| before[side] & !(0xf << shift) | self.shape(side, line, place) << shift);
        if before != after {
            self.log.push((cell as u16, before));
            self.count_cell(cell, -1);
            self.crosses[0][cell] = after[0];
            self.crosses[1][cell] = after[1];
            self.count_cell(cell, 1);
        }
    }

    /// Takes back a reshaping, all but the counts.
    fn restore(&mut self, cell: usize, before: [Cross; 2]) {
        for (side, before) in before.into_iter().enumerate() {
            let (now, then) = (self.crosses[side][cell], before);
            let (now, kind) = (self.by_cross[usize::from(now)], self.by_cross[usize::from(then)]);
            if now != kind {
                self.flip(side, cell, now);
                self.flip(side, cell, kind);
            }
            self.crosses[side][cell] = then;
        }
    }

    fn put(&mut self, m: Move) {
        let (cell, side) = (m.index(), self.side);
        for (line, place) in places(cell % self.size, cell / self.size) {
            self.stones[side.index()][line] |= bit(place);
            self.empty[line] &= !bit(place);
        }
        self.is_empty[cell] = false;
        self.left -= 1;
        self.hash ^= NUMBERS[side.index()][cell] as u64 ^ zobrist::SECOND_TO_MOVE as u64;
        for index in 0..self.neighbours[cell].len() {
            self.near[usize::from(self.neighbours[cell][index])] += 1;
        }
        self.side = side.other();
    }
}

impl<R: Rule> Heuristics for Board<R> {
    type Rules = Gomoku<R>;

    fn new(game: &Gomoku<R>, options: &EngineOptions) -> Self {
        let size = usize::from(game.size());
        let mut board = Self {
            size,
            side: game.side(),
            left: 0,
            hash: game.zobrist(Symmetry::IDENTITY) as u64,
            five: match game.outcome() {
                Some(kagetsu_game::Outcome::Win(side)) => Some(side),
                _ => None,
            },
            stones: [Box::new([0; LINES]), Box::new([0; LINES])],
            empty: Box::new([0; LINES]),
            is_empty: vec![true; size * size],
            crosses: [vec![0; size * size], vec![0; size * size]],
            kinds: [[0; KINDS]; 2],
            sets: [[[0; WORDS]; KINDS]; 2],
            sums: [0; 2],
            near: vec![0; size * size],
            neighbours: std::sync::Arc::new(neighbours(size, options)),
            history: Vec::new(),
            log: Vec::new(),
            weights: Weights::of(options.constants),
            shapes: Shapes::of::<R>(),
            by_cross: &BY_CROSS,
            most: options.candidates.max(1),
            rule: PhantomData,
        };
        for (cell, stone) in game.cells().iter().enumerate() {
            for (line, place) in places(cell % size, cell / size) {
                match stone {
                    Some(side) => board.stones[side.index()][line] |= bit(place),
                    None => board.empty[line] |= bit(place),
                }
            }
            board.is_empty[cell] = stone.is_none();
            board.left += usize::from(stone.is_none());
            if stone.is_some() {
                let neighbours = std::sync::Arc::clone(&board.neighbours);
                neighbours[cell].iter().for_each(|&near| board.near[usize::from(near)] += 1);
            }
        }
        for cell in (0..size * size).filter(|&cell| game.cells()[cell].is_none()) {
            for side in 0..2 {
                board.crosses[side][cell] = board.cross(side, cell);
            }
            board.count_cell(cell, 1);
        }
        board
    }

    fn play(&mut self, m: Move) {
        let (cell, side) = (m.index(), self.side);
        let played = Played { m, log: self.log.len(), sums: self.sums, kinds: self.kinds, five: self.five };
        self.history.push(played);
        if self.kind(side, cell) == Kind::Five {
            self.five = Some(side);
        }
        self.count_cell(cell, -1);
        self.put(m);
        self.refresh(cell);
    }

    fn undo(&mut self) {
        let Played { m, log, sums, kinds, five } = self.history.pop().expect("a move to take back");
        let cell = m.index();
        self.side = self.side.other();
        for (line, place) in places(cell % self.size, cell / self.size) {
            self.stones[self.side.index()][line] &= !bit(place);
            self.empty[line] |= bit(place);
        }
        self.is_empty[cell] = true;
        self.left += 1;
        self.hash ^= NUMBERS[self.side.index()][cell] as u64 ^ zobrist::SECOND_TO_MOVE as u64;
        for index in 0..self.neighbours[cell].len() {
            self.near[usize::from(self.neighbours[cell][index])] -= 1;
        }
        while self.log.len() > log {
            let Some((cell, before)) = self.log.pop() else { break };
            self.restore(usize::from(cell), before);
        }
        for side in 0..2 {
            self.flip(side, cell, self.by_cross[usize::from(self.crosses[side][cell])]);
        }
        (self.sums, self.kinds, self.five) = (sums, kinds, five);
    }

    fn hash(&self) -> u64 {
        self.hash
    }

    /// What may be made on all empty cells, mine less the opponent's; mine a little more, for I am to move.
    fn evaluate(&self) -> Score {
        let (me, other) = (self.sums[self.side.index()], self.sums[self.side.other().index()]);
        let defence = self.weights.defence;
        Score::opinion(me + me / 8 - other / 100 * defence - other % 100 * defence / 100)
    }

    fn situation(&self) -> Situation {
        let (me, other) = (self.side, self.side.other());
        if self.five.is_some() {
            return Situation::Over(Score::loss_in(0));
        }
        if self.left == 0 {
            return Situation::Over(Score::ZERO);
        }
        if self.count(me, Kind::Five) > 0 {
            return Situation::Known(Score::win_in(1));
        }
        match self.count(other, Kind::Five) {
            0 => {}
            1 => return Situation::Forced { otherwise: 2 },
            _ => return Situation::Known(Score::loss_in(2)),
        }
        if self.count(me, Kind::Winning) > 0 {
            return Situation::Known(Score::win_in(3));
        }
        if self.count(other, Kind::Winning) > 0 {
            return Situation::Forced { otherwise: 4 };
        }
        Situation::Free
    }

    fn moves(&self, situation: &Situation) -> Moves {
        let moves = match situation {
            Situation::Forced { otherwise: 2 } => self.moves_of(self.side.other(), |kind| kind == Kind::Five),
            Situation::Forced { .. } => self.answers(),
            Situation::Known(_) | Situation::Over(_) | Situation::Free => self.candidates(),
        };
        let complete = matches!(situation, Situation::Forced { .. }) || moves.len() == self.left;
        Moves { moves, complete }
    }

    fn urgent(&self) -> Vec<Move> {
        let me = self.side;
        let five = self.moves_of(me, |kind| kind == Kind::Five);
        if five.is_empty() { self.moves_of(me, |kind| kind == Kind::Winning) } else { five }
    }

    fn has_kill(&self) -> bool {
        let fours = [Kind::Four, Kind::FourThree, Kind::Winning];
        fours.iter().map(|&kind| self.count(self.side, kind)).sum::<u16>() > 1
    }

    fn kill(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>> {
        Vcf::new(self, budget).find(length)
    }
}

#[cfg(test)]
impl<R: Rule> Board<R> {
    /// All that is kept up to date about empty cells: shapes, nearness, counts, sets and worth.
    pub(super) fn facts(&self) -> impl PartialEq + std::fmt::Debug + use<R> {
        let cells = (0..self.cells()).filter(|&cell| self.is_empty[cell]);
        let cells: Vec<_> =
            cells.map(|cell| (cell, [0, 1].map(|side| self.crosses[side][cell]), self.near[cell])).collect();
        (cells, self.left, self.kinds, self.sets, self.sums)
    }
}
