use kagetsu_game::xiangqi::{Kind, Square, Squares, reach};
use kagetsu_game::{Score, Side};

use super::Board;
use super::values::{PieceValue, WHOLE};

/// Value of being to move.
const TEMPO: i32 = 12;
/// Value of each reachable point beyond the usual number, by kind.
const MOBILITY: [(PieceValue, i32); 7] = [
    (PieceValue::new(0, 0), 0),
    (PieceValue::new(0, 0), 0),
    (PieceValue::new(0, 0), 0),
    (PieceValue::new(10, 12), 4),
    (PieceValue::new(4, 6), 9),
    (PieceValue::new(2, 4), 9),
    (PieceValue::new(0, 0), 0),
];
/// Penalty for a piece that can be captured for nothing, by kind.
const HANGING: [i32; 7] = [0, 12, 12, 36, 50, 36, 10];
/// Penalty for a piece attacked by a cheaper one, protected or not.
const HARRIED: PieceValue = PieceValue::new(40, 40);
/// Penalty for an attacked and protected piece.
const TENSE: PieceValue = PieceValue::new(4, 4);
/// Value of a piece that reaches into the palace, and of each point there that it reaches, by kind.
const ATTACKER: [i32; 7] = [0, 0, 0, 9, 12, 8, 7];
const ATTACKED_POINT: i32 = 3;
/// Penalty for each lost guard and each enemy that profits by it: advisors against rooks and
/// horses, elephants against cannons.
const NO_ADVISOR: [i32; 7] = [0, 0, 0, 10, 16, 6, 6];
const NO_ELEPHANT: [i32; 7] = [0, 0, 0, 4, 4, 12, 4];
/// Value of a cannon before the bare general, which forbids interposing.
const HOLLOW_CANNON: PieceValue = PieceValue::new(110, 50);
/// Value of a cannon with two pieces before the general, which restrains both.
const CENTRAL_CANNON: PieceValue = PieceValue::new(22, 8);
/// Value of a rook on the general's open file or rank with one piece between.
const PINNING_ROOK: PieceValue = PieceValue::new(16, 8);

impl Board {
    /// Returns the evaluation for the side to move: pieces and squares, mobility, attacks and
    /// protection, and the safety of the generals.
    pub(super) fn opinion(&self) -> Score {
        let mut all = self.sum();
        let attacks = [Side::First, Side::Second].map(|side| self.attacks(side));
        for side in [Side::First, Side::Second] {
            let mut own = attacks[side.index()].value;
            own += self.relations(side, &attacks);
            own += self.aim(side, attacks[side.index()].pressure);
            if side == Side::First {
                all += own
            } else {
                all -= own
            }
        }
        let phase = self.phase().min(WHOLE);
        let red = (all.middle * phase + all.end * (WHOLE - phase)) / WHOLE;
        let mine = TEMPO + if self.side == Side::First { red } else { -red };
        self.limited(Score::opinion(mine))
    }

    /// Limits the evaluation: a side without attacking pieces has no positive one.
    fn limited(&self, opinion: Score) -> Score {
        match [self.side, self.side.other()].map(|side| self.has_attackers(side)) {
            [true, true] => opinion,
            [true, false] => opinion.max(Score::ZERO),
            [false, true] => opinion.min(Score::ZERO),
            [false, false] => Score::ZERO,
        }
    }

    fn has_attackers(&self, side: Side) -> bool {
        self.has_officers(side) || !self.pieces.pieces(side, Kind::Soldier).is_empty()
    }

    /// Returns the reach of a side's pieces.
    fn attacks(&self, side: Side) -> PieceReach {
        let (occupied, own) = (self.pieces.occupied(), self.pieces.side(side));
        let palace = palace(side.other());
        let mut attacks = PieceReach::default();
        for (square, piece) in own
            .into_iter()
            .filter_map(|square| Some((square, self.pieces.at(square)?)))
        {
            let reached = reach(square, piece, occupied);
            let captured = if piece.kind == Kind::Cannon {
                reached & occupied
            } else {
                reached
            };
            attacks.all |= captured;
            attacks.by[CLASS[piece.kind.index()]] |= captured;
            let kind = piece.kind.index();
            let (worth, usual) = MOBILITY[kind];
            if usual > 0 {
                attacks.value += worth.times((reached & !own).count() as i32 - usual);
            }
            if ATTACKER[kind] > 0 {
                let points = (reached & palace).count() as i32;
                attacks.pressure += if points > 0 {
                    ATTACKER[kind] + ATTACKED_POINT * points
                } else {
                    0
                };
            }
        }
        attacks
    }

    /// Returns the penalties of a side's attacked pieces.
    fn relations(&self, side: Side, attacks: &[PieceReach; 2]) -> PieceValue {
        let (mine, his) = (&attacks[side.index()], &attacks[side.other().index()]);
        let general = self.pieces.pieces(side, Kind::General);
        let attacked = self.pieces.side(side) & his.all & !general;
        let mut value = PieceValue::default();
        for square in attacked & !mine.all {
            let cost = self
                .pieces
                .at(square)
                .map_or(0, |piece| HANGING[piece.kind.index()]);
            value -= PieceValue::new(cost, cost);
        }
        value -= TENSE.times((attacked & mine.all).count() as i32);
        let cheap = his.by[0];
        let rooks = self.pieces.pieces(side, Kind::Rook) & (cheap | his.by[1]);
        let minors = (self.pieces.pieces(side, Kind::Horse)
            | self.pieces.pieces(side, Kind::Cannon))
            & cheap;
        value -=
            HARRIED.times((rooks & mine.all).count() as i32 + (minors & mine.all).count() as i32);
        value
    }

    /// Returns the value of a side's attack on the enemy's general.
    fn aim(&self, side: Side, pressure: i32) -> PieceValue {
        let enemy = side.other();
        let guards = |kind| 2 - self.pieces.pieces(enemy, kind).count().min(2) as i32;
        let (advisors, elephants) = (guards(Kind::Advisor), guards(Kind::Elephant));
        let (mut bare, mut aim) = (0, PieceValue::default());
        for kind in [Kind::Horse, Kind::Rook, Kind::Cannon, Kind::Soldier] {
            let count = self.pieces.pieces(side, kind).count().min(2) as i32;
            bare += count
                * (advisors * NO_ADVISOR[kind.index()] + elephants * NO_ELEPHANT[kind.index()]);
        }
        aim += PieceValue::new(bare, bare / 2);
        let danger = pressure + bare / 8;
        aim += PieceValue::new(danger * danger / 24, danger * danger / 48);
        if let Some(general) = self.pieces.general(enemy) {
            aim += self.lines(side, general);
        }
        aim
    }

    /// Values cannons and rooks on the general's file or rank.
    fn lines(&self, side: Side, general: Square) -> PieceValue {
        let mut value = PieceValue::default();
        let (rooks, cannons) = (
            self.pieces.pieces(side, Kind::Rook),
            self.pieces.pieces(side, Kind::Cannon),
        );
        for square in rooks | cannons {
            let is_on_file = square.file() == general.file();
            if !is_on_file && square.rank() != general.rank() {
                continue;
            }
            let between =
                (kagetsu_game::xiangqi::between(square, general) & self.pieces.occupied()).count();
            match (cannons.has(square), between) {
                (true, 0) if is_on_file => value += HOLLOW_CANNON,
                (true, 2) => value += CENTRAL_CANNON,
                (false, 1) => value += PINNING_ROOK,
                _ => {}
            }
        }
        value
    }
}

/// Classes of attackers by cost: soldiers and guards, horses and cannons, rooks and generals.
const CLASS: [usize; 7] = [2, 0, 0, 1, 2, 1, 0];

/// The reach of a side's pieces.
#[derive(Clone, Copy, Debug, Default)]
struct PieceReach {
    /// Attacked points, including own pieces that are protected.
    all: Squares,
    /// The same by class.
    by: [Squares; 3],
    /// Value of their mobility.
    value: PieceValue,
    /// Pressure on the enemy's palace.
    pressure: i32,
}

/// The nine points of a general.
fn palace(side: Side) -> Squares {
    const PALACE: u128 = 0b111_000_000_111_000_000_111_000;
    let shift = if side == Side::First { 0 } else { 63 };
    Squares::from_bits(PALACE << shift)
}
