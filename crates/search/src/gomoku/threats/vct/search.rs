use kagetsu_game::Side;
use kagetsu_game::gomoku::Rule;

use super::table::ProofTable;
use super::value::{INFINITE, NEVER, VctProofNumbers};
use crate::control::limits::SearchLimits;
use crate::gomoku::board::Board;
use crate::gomoku::cells::Cells;
use crate::gomoku::patterns::kind::CellKind;
use crate::gomoku::patterns::shape::Shape;
use crate::gomoku::threats::vcf::Vcf;
use crate::heuristics::Heuristics;
use kagetsu_game::Move;

/// Fours tried by the VCF search at a new position of the attacker.
const FOURS: u32 = 64;

/// Fours tried to find the threat of a move. Fewer than [`FOURS`], so that the win is found once
/// the threat is carried out.
const THREAT: u32 = 32;

/// Assumed number of replies to such a threat, before they are known.
const REPLIES: u32 = 6;

/// Hash of the second side as attacker.
const SECOND: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hash of [`Attacks::Sleeping`].
const SLEEPING: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Hash of [`Attacks::All`].
const ALL: u64 = 0x1656_67b1_9e37_79f9;

/// The class of moves that the attacker may play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attacks {
    /// Fours and open threes.
    Threes,
    /// Also moves that make a sleeping three and threaten a VCF.
    Sleeping,
    /// Also moves that only make a two and threaten a VCF.
    All,
}

impl Attacks {
    /// All classes, the cheapest first.
    pub(super) const EACH: [Self; 3] = [Self::Threes, Self::Sleeping, Self::All];
}

#[derive(Clone, Copy, Debug)]
struct Child {
    cell: u16,
    value: VctProofNumbers,
}

/// The search of one class of attacks. See the module's documentation.
pub(super) struct VctSearch<'a, R> {
    pub(super) board: &'a mut Board<R>,
    pub(super) attacker: Side,
    attacks: Attacks,
    table: &'a mut ProofTable,
    limits: &'a SearchLimits<'a>,
    nodes: u64,
    /// Children of the nodes on the current path, those of the root first.
    children: Vec<Child>,
}

impl<'a, R: Rule> VctSearch<'a, R> {
    pub(super) fn new(
        board: &'a mut Board<R>,
        attacks: Attacks,
        table: &'a mut ProofTable,
        limits: &'a SearchLimits<'a>,
    ) -> Self {
        let attacker = board.side();
        Self {
            board,
            attacker,
            attacks,
            table,
            limits,
            nodes: 0,
            children: Vec::with_capacity(1_024),
        }
    }

    pub(super) const fn nodes(&self) -> u64 {
        self.nodes
    }

    pub(super) const fn attacks(&self) -> Attacks {
        self.attacks
    }

    /// Counts a visited position. Returns whether the search must end.
    pub(super) fn visit(&mut self) -> bool {
        self.limits.count(&mut self.nodes, 1)
    }

    /// Stores a win within `plies`.
    pub(super) fn learn(&mut self, plies: u16) {
        self.table.put(self.hash(), VctProofNumbers::won(plies), 1);
    }

    /// Whether the attacker, who has no five, may play the cell, and stops the defender's five by
    /// it if there is one.
    pub(super) fn may_attack(&self, cell: usize) -> bool {
        let (me, other) = (self.attacker, self.attacker.other());
        let stops =
            self.board.count(other, CellKind::Five) == 0 || self.board.stops(other).contains(cell);
        stops && self.board.empties().contains(cell) && !self.board.is_forbidden(me, cell)
    }

    fn hash(&self) -> u64 {
        let attacker = if self.attacker == Side::Second {
            SECOND
        } else {
            0
        };
        let attacks = match self.attacks {
            Attacks::Threes => 0,
            Attacks::Sleeping => SLEEPING,
            Attacks::All => ALL,
        };
        self.board.hash() ^ attacker ^ attacks
    }

    /// Searches until the position is decided within `rest` plies. The result is open if the search
    /// had to end.
    pub(super) fn decide(&mut self, rest: u16) -> VctProofNumbers {
        let value = self.look(rest);
        if !value.is_open() {
            return value;
        }
        self.expand(rest, INFINITE, INFINITE)
            .map_or(VctProofNumbers::UNKNOWN, |(value, _)| value)
    }

    /// Returns the value of the position without a search.
    pub(super) fn look(&mut self, rest: u16) -> VctProofNumbers {
        let value = if self.board.side() == self.attacker {
            self.look_ahead(rest)
        } else {
            self.look_out(rest)
        };
        debug_assert!(value.won != NEVER || !value.is_won());
        value
    }

    /// The value of a position with the attacker to move.
    fn look_ahead(&mut self, rest: u16) -> VctProofNumbers {
        let (me, other) = (self.attacker, self.attacker.other());
        let wins = |plies: u16| VctProofNumbers::exactly(plies).within(rest, || (1, 1));
        let count = match self.board.count(other, CellKind::Five) {
            _ if self.board.count(me, CellKind::Five) > 0 => return wins(1),
            0 if self.board.count(me, CellKind::Winning) > 0 => return wins(3),
            0 => self.threats().iter().count() as u32,
            _ => {
                let stops = self.board.stops(other);
                let legal = || {
                    stops
                        .iter()
                        .filter(|&stop| !self.board.is_forbidden(me, stop))
                };
                if legal().any(|stop| self.board.kind(me, stop) == CellKind::Winning) {
                    return wins(3);
                }
                legal().count() as u32
            }
        };
        match () {
            () if count == 0 => return VctProofNumbers::REFUTED,
            // Wins in 3 were seen above, except a four whose completion point is forbidden.
            () if rest < 5 && !self.board.is_judged(other) => return VctProofNumbers::lost(4),
            () if rest < 3 => return VctProofNumbers::lost(2),
            () => {}
        }
        if let Some(known) = self.table.get(self.hash()) {
            return known.within(rest, || (1, count));
        }
        if self.board.fours(me) > 0 {
            let mut budget = FOURS;
            if let Some(line) = Vcf::new(&*self.board, &mut budget).find(u32::from(rest / 2)) {
                let value = VctProofNumbers::won(line.len() as u16);
                self.table.put(self.hash(), value, 1);
                return value.within(rest, || (1, 1));
            }
        }
        VctProofNumbers {
            pn: 1,
            dn: count,
            ..VctProofNumbers::UNKNOWN
        }
    }

    /// The value of a position with the defender to move.
    fn look_out(&mut self, rest: u16) -> VctProofNumbers {
        let (me, other) = (self.attacker, self.attacker.other());
        if self.board.count(other, CellKind::Five) > 0 {
            return VctProofNumbers::REFUTED;
        }
        let wins = |plies: u16| VctProofNumbers::exactly(plies).within(rest, || (1, 1));
        let replies = match self.board.count(me, CellKind::Five) {
            0 => match () {
                () if !self.has_open_threat() => return self.look_for_line(rest),
                () if rest < 4 => return VctProofNumbers::lost(3),
                () => self.board.defences().iter().count() as u32,
            },
            _ => {
                let stops = self.board.stops(me);
                let legal = stops
                    .iter()
                    .filter(|&stop| !self.board.is_forbidden(other, stop));
                match legal.count() as u32 {
                    0 => return wins(2),
                    count => count,
                }
            }
        };
        match self.table.get(self.hash()) {
            Some(known) => known.within(rest, || (replies, 1)),
            None if replies == 0 => wins(4),
            None => VctProofNumbers {
                pn: replies,
                dn: 1,
                ..VctProofNumbers::UNKNOWN
            },
        }
    }

    /// The same where only a VCF can be threatened.
    fn look_for_line(&mut self, rest: u16) -> VctProofNumbers {
        if self.attacks == Attacks::Threes || !self.board.may_threaten() {
            return VctProofNumbers::REFUTED;
        }
        if let Some(known) = self.table.get(self.hash()) {
            return known.within(rest, || (REPLIES, 1));
        }
        match self.threat() {
            None => {
                self.table.put(self.hash(), VctProofNumbers::REFUTED, 1);
                VctProofNumbers::REFUTED
            }
            Some(line) if line.len() as u16 >= rest => VctProofNumbers::lost(line.len() as u16),
            Some(_) => VctProofNumbers {
                pn: REPLIES,
                dn: 1,
                ..VctProofNumbers::UNKNOWN
            },
        }
    }

    /// Returns the VCF that the attacker threatens, with the defender to move.
    pub(super) fn threat(&mut self) -> Option<Vec<Move>> {
        let mut left = THREAT;
        let line = self.board.find_threat(&mut left);
        // The next visited position notices that the limit is reached.
        self.limits.count(&mut self.nodes, (THREAT - left) / 4);
        line
    }

    /// Whether the attacker threatens two completion points and the defender does not.
    pub(super) fn has_open_threat(&self) -> bool {
        let has = |side: Side| self.board.count(side, CellKind::Winning) > 0;
        has(self.attacker) && !has(self.attacker.other())
    }

    /// Returns the attacker's moves where nothing is forced.
    fn threats(&self) -> Cells {
        let mut cells = self.board.threats(self.attacker);
        let least = match self.attacks {
            Attacks::Threes => return cells,
            Attacks::Sleeping => Shape::SleepingThree,
            // A two can threaten a VCF only beside a four.
            Attacks::All if self.board.fours(self.attacker) > 0 => Shape::SleepingTwo,
            Attacks::All => Shape::SleepingThree,
        };
        cells.add(&self.board.hidden_threats(self.attacker, least), usize::MAX);
        cells
    }

    /// Returns the moves to search, the attacker's threats or the replies that do not lose at once,
    /// and the plies within which other replies lose, or 0 if there are none.
    pub(super) fn moves(&mut self) -> (Cells, u16) {
        let (side, other) = (self.board.side(), self.board.side().other());
        match self.board.count(other, CellKind::Five) {
            0 if side == self.attacker => (self.threats(), 0),
            0 if self.has_open_threat() => (self.board.defences(), 4),
            0 => match self.threat() {
                Some(line) => (self.board.replies_to(&line), line.len() as u16 + 1),
                // The search never comes here.
                None => (self.board.defences(), u16::MAX),
            },
            _ => {
                let stops = self.board.stops(other);
                let fives = || self.board.cells_of(other, |kind| kind == CellKind::Five);
                let cells = if stops.is_empty() { fives() } else { stops };
                (cells, if side == self.attacker { 0 } else { 2 })
            }
        }
    }

    /// Appends the children with their known values, the strongest move first.
    fn add_children(&mut self, cells: &Cells, rest: u16) {
        let side = self.board.side();
        let first = self.children.len();
        for cell in cells
            .iter()
            .filter(|&cell| !self.board.is_forbidden(side, cell))
        {
            self.children.push(Child {
                cell: cell as u16,
                value: VctProofNumbers::UNKNOWN,
            });
        }
        let board = &*self.board;
        self.children[first..].sort_by_key(|child| -board.kind(side, child.cell.into()).rank());
        for at in first..self.children.len() {
            self.board.play_cell(self.children[at].cell.into());
            let value = self.look(rest - 1);
            self.board.undo_cell();
            self.children[at].value = value;
            let decides = if side == self.attacker {
                value.is_won()
            } else {
                value.is_lost()
            };
            if decides {
                self.children.swap(first, at);
                self.children.truncate(first + 1);
                return;
            }
        }
    }

    /// Searches below an open node until its proof number reaches `pn` or its disproof number `dn`.
    /// Also returns the deciding child. `None` if the search must end.
    pub(super) fn expand(
        &mut self,
        rest: u16,
        pn: u32,
        dn: u32,
    ) -> Option<(VctProofNumbers, usize)> {
        if self.limits.count(&mut self.nodes, 1) {
            return None;
        }
        let before = self.nodes;
        let attacks = self.board.side() == self.attacker;
        let (cells, otherwise) = self.moves();
        if otherwise > rest {
            let value = VctProofNumbers::lost(otherwise - 1);
            self.table.put(self.hash(), value, 1);
            return Some((value, 0));
        }
        let first = self.children.len();
        self.add_children(&cells, rest);
        let found = loop {
            let sum = Sum::of(&self.children[first..], attacks, otherwise);
            let value = sum.value;
            if !value.is_open() || value.pn >= pn || value.dn >= dn {
                break Some((value, sum.best));
            }
            let child = self.children[first + sum.best];
            let more = sum.next.saturating_add(sum.next / 4).saturating_add(1);
            let (child_pn, child_dn) = if attacks {
                (pn.min(more), dn - sum.others)
            } else {
                (pn - sum.others, dn.min(more))
            };
            self.board.play_cell(child.cell.into());
            let found = self.expand(rest - 1, child_pn, child_dn);
            self.board.undo_cell();
            match found {
                Some((value, _)) => self.children[first + sum.best].value = value,
                None => break None,
            }
        };
        let cell = found
            .and_then(|(_, best)| self.children.get(first + best))
            .map(|child| usize::from(child.cell));
        self.children.truncate(first);
        let (value, _) = found?;
        self.table
            .put(self.hash(), value, (self.nodes - before) as u32 + 1);
        Some((value, cell.unwrap_or_default()))
    }
}

/// The value of a node by its children.
struct Sum {
    value: VctProofNumbers,
    /// The child that decides, or the one to search next.
    best: usize,
    /// The second least of the numbers that the node minimises.
    next: u32,
    /// Addition of the open children to the other number.
    others: u32,
}

impl Sum {
    fn of(children: &[Child], attacks: bool, otherwise: u16) -> Self {
        // The minimised number and the summed number.
        let view = |value: VctProofNumbers| {
            if attacks {
                (value.pn, value.dn)
            } else {
                (value.dn, value.pn)
            }
        };
        let (mut least, mut next, mut best) = (INFINITE, INFINITE, 0);
        let (mut greatest, mut open) = (0, 0u32);
        for (at, child) in children.iter().enumerate() {
            let (minimised, added) = view(child.value);
            if minimised < least {
                (least, next, best) = (minimised, least, at);
            } else {
                next = next.min(minimised);
            }
            if child.value.is_open() {
                greatest = greatest.max(added);
                open += 1;
            }
        }
        let others = open.saturating_sub(1);
        let facts = |wanted: fn(VctProofNumbers) -> bool| {
            children
                .iter()
                .map(|child| child.value)
                .filter(move |&value| wanted(value))
        };
        let value = match (least, attacks) {
            (0, true) => VctProofNumbers::won(
                facts(VctProofNumbers::is_won)
                    .map(|value| value.won + 1)
                    .min()
                    .unwrap_or(NEVER),
            ),
            (0, false) => VctProofNumbers::lost(
                facts(VctProofNumbers::is_lost)
                    .map(VctProofNumbers::lost_before)
                    .max()
                    .unwrap_or_default(),
            ),
            (INFINITE, true) => VctProofNumbers::lost(
                facts(VctProofNumbers::is_lost)
                    .map(VctProofNumbers::lost_before)
                    .min()
                    .unwrap_or(NEVER),
            ),
            (INFINITE, false) => VctProofNumbers::won(
                facts(VctProofNumbers::is_won)
                    .map(|value| value.won + 1)
                    .fold(otherwise, u16::max),
            ),
            (pn, true) => VctProofNumbers {
                pn,
                dn: greatest + others,
                ..VctProofNumbers::UNKNOWN
            },
            (dn, false) => VctProofNumbers {
                pn: greatest + others,
                dn,
                ..VctProofNumbers::UNKNOWN
            },
        };
        Self {
            value,
            best,
            next,
            others,
        }
    }
}
