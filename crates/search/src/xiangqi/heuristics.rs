use kagetsu_game::xiangqi::{Piece, Square, Xiangqi, ends, join};
use kagetsu_game::{Move, ProofKind, Score};

use super::Board;
use super::exchange::exchange;
use super::mate::Mate;
use super::values::{value, worth};
use crate::EngineOptions;
use crate::heuristics::{Force, Heuristics, Late, Moves, Situation, Style};

/// Worth of a capture without loss above any quiet move, and of a losing one below.
const GOOD: i32 = 10_000;
const BAD: i32 = -2_000;

impl Heuristics for Board {
    type Rules = Xiangqi;

    const STYLE: Style = Style {
        ply: 90,
        codes: 90 * 90,
        killer: 300,
        history: 16,
        late: Late {
            divisor: 130,
            moves: (4, 4),
        },
        is_forcing: false,
        vcf_proof: ProofKind::Search,
    };

    fn new(game: &Xiangqi, _: &EngineOptions) -> Self {
        Self::of_game(game)
    }

    fn play(&mut self, m: Move) {
        self.make(m);
    }

    fn undo(&mut self) {
        self.unmake();
    }

    /// With only soldiers and guards left, having to move may do harm.
    fn pass(&mut self) -> bool {
        let passes = self.has_officers(self.side);
        if passes {
            self.make_nothing();
        }
        passes
    }

    fn hash(&self) -> u64 {
        self.zobrist()
    }

    fn evaluate(&self) -> Score {
        self.opinion()
    }

    fn situation(&self) -> Situation {
        if let Some(plies) = self.repeats() {
            return Situation::Repeated {
                score: self.judged(plies),
                plies,
            };
        }
        if !self.has_moves() {
            return Situation::Over(Score::loss_in(0));
        }
        if self.is_quiet_draw() {
            return Situation::Repeated {
                score: Score::ZERO,
                plies: self.quiet().into(),
            };
        }
        Situation::Free
    }

    fn list_moves(&self, _: &Situation, moves: &mut Moves) {
        moves.complete = true;
        for (from, piece, targets) in self.targets() {
            for to in targets {
                moves.push(self.worth(from, to, piece), join(from, to));
            }
        }
    }

    fn captures(&self) -> Option<Moves> {
        let (mut moves, enemy) = (Moves::new(false), self.pieces.side(self.side.other()));
        for (from, piece, targets) in self.targets() {
            for to in targets & enemy {
                let worth = self.worth(from, to, piece);
                if worth >= GOOD {
                    moves.push(worth, join(from, to));
                }
            }
        }
        Some(moves)
    }

    fn is_check(&self) -> bool {
        self.is_checked()
    }

    fn force(&self, m: Move) -> Force {
        let Some((from, to)) = ends(m) else {
            return Force {
                is_four: false,
                attacks: false,
                defends: false,
            };
        };
        let captures = self.pieces.at(to).is_some();
        Force {
            is_four: false,
            attacks: captures || self.pieces.gives_check(from, to),
            defends: captures,
        }
    }

    fn is_threatened(&self) -> bool {
        false
    }

    fn legal(&self) -> Vec<Move> {
        let all = self
            .targets()
            .flat_map(|(from, _, targets)| targets.into_iter().map(move |to| join(from, to)));
        all.collect()
    }

    /// Searching checks at a leaf does not pay: the search is deep enough to see them.
    fn may_have_vcf(&self) -> bool {
        false
    }

    fn vcf(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>> {
        Mate::new(self, budget).find(length)
    }
}

impl Board {
    /// Returns the worth of a move for the order: a capture by its victim and then the cheaper
    /// piece, a quiet move by the gain in its square value.
    fn worth(&self, from: Square, to: Square, piece: Piece) -> i32 {
        let Some(victim) = self.pieces.at(to) else {
            return value(piece, to).middle - value(piece, from).middle;
        };
        let (gain, cost) = (worth(victim.kind), worth(piece.kind));
        let order = 8 * gain - cost / 8;
        if gain >= cost || exchange(&self.pieces, from, to) >= 0 {
            GOOD + order
        } else {
            BAD + order / 8
        }
    }
}
