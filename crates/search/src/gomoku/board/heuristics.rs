use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::{Effort, Move, ProofKind, Score, Side};

use super::{Board, is_judged};
use crate::gomoku::patterns::kind::CellKind;
use crate::gomoku::patterns::weights::CellWeights;
use crate::gomoku::threats::vcf::Vcf;
use crate::gomoku::threats::vct::{ProofTable, Vct, VctDecision};
use crate::heuristics::{Force, Heuristics, Late, Moves, Situation, Style, VctOutcome};
use crate::{Control, EngineOptions};

/// Entries of the largest proof table.
const MAX_PROOF_ENTRIES: usize = 1 << 20;

impl<R: Rule> Heuristics for Board<R> {
    type Rules = Gomoku<R>;

    const STYLE: Style = Style {
        ply: 60,
        codes: 22 * 22,
        killer: 80,
        history: 48,
        late: Late {
            divisor: 80,
            moves: (3, 2),
        },
        is_forcing: true,
        vcf_proof: ProofKind::Vcf,
    };

    fn new(game: &Gomoku<R>, options: &EngineOptions) -> Self {
        Self::of_game(game, options)
    }

    fn play(&mut self, m: Move) {
        self.play_cell(m.index());
    }

    fn undo(&mut self) {
        self.undo_cell();
    }

    fn hash(&self) -> u64 {
        self.hash
    }

    /// Sums the values of all empty cells, own minus the opponent's, and the value of the threats
    /// of both sides. A side that cannot win has no positive evaluation.
    fn evaluate(&self) -> Score {
        let (me, other) = (
            self.sums[self.side.index()],
            self.sums[self.side.other().index()],
        );
        let CellWeights { threats, .. } = self.weights[self.side.index()];
        let learned = self
            .networks
            .zip(self.units())
            .map_or(0, |(networks, units)| {
                let view = self.side.index();
                networks[view].value(&self.pool, view, &units)
            });
        let opinion = Score::opinion(me - other + i32::from(threats[self.flags()]) + learned);
        match self.can_win() {
            (true, true) => opinion,
            (true, false) => opinion.max(Score::ZERO),
            (false, _) => opinion.min(Score::ZERO),
        }
    }

    fn situation(&self) -> Situation {
        let (me, other) = (self.side, self.side.other());
        if self.five.is_some() || self.is_stuck() {
            return Situation::Over(Score::loss_in(0));
        }
        if self.left == 0 || self.can_win() == (false, false) {
            return Situation::Over(Score::ZERO);
        }
        if self.count(me, CellKind::Five) > 0 {
            return Situation::Known(Score::win_in(1));
        }
        match self.count(other, CellKind::Five) {
            0 => {}
            1 if !self.is_caught() => return Situation::Forced { otherwise: 2 },
            _ if R::CLOSES && !self.stops(other).is_empty() => {
                return Situation::Forced { otherwise: 2 };
            }
            _ => return Situation::Known(Score::loss_in(2)),
        }
        if self.count(me, CellKind::Winning) > 0 {
            return Situation::Known(Score::win_in(3));
        }
        if self.count(other, CellKind::Winning) > 0 {
            return Situation::Forced { otherwise: 4 };
        }
        Situation::Free
    }

    fn list_moves(&self, situation: &Situation, moves: &mut Moves) {
        match situation {
            Situation::Forced { otherwise: 2 } => self.list_stop(moves),
            Situation::Forced { .. } => self.list_answers(moves),
            _ => self.list_candidates(moves),
        }
    }

    fn force(&self, m: Move) -> Force {
        let (mine, his) = (
            self.kind(self.side, m.index()),
            self.kind(self.side.other(), m.index()),
        );
        Force {
            is_four: mine.is_four(),
            attacks: mine >= CellKind::Three,
            defends: his >= CellKind::Three,
        }
    }

    /// Hashes the numbers of cells of each kind, up to four, for both sides.
    fn threat_class(&self) -> u16 {
        let counts = [self.side, self.side.other()].map(|side| &self.kinds[side.index()]);
        let class = counts
            .into_iter()
            .flat_map(|counts| &counts[CellKind::Three as usize..])
            .fold(0, |class, &count| class << 3 | u64::from(count.min(4)));
        (class.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
    }

    fn is_threatened(&self) -> bool {
        let other = self.side.other();
        let fours = self.count(other, CellKind::Four) + self.count(other, CellKind::Tangle);
        self.count(other, CellKind::FourThree) + self.count(other, CellKind::DoubleThree) > 0
            || fours > 1
    }

    fn vct(&mut self, effort: Effort, control: &Control) -> VctOutcome {
        // One entry for each position of the search, up to a limit.
        let entries = effort.nodes.map_or(MAX_PROOF_ENTRIES, |nodes| {
            usize::try_from(nodes).unwrap_or(MAX_PROOF_ENTRIES)
        });
        // The search for threats does not evaluate; undo restores the sums.
        let networks = self.networks.take();
        let mut proofs = ProofTable::new(entries.min(MAX_PROOF_ENTRIES) * ProofTable::ENTRY);
        let mut vct = Vct::new(self, &mut proofs, control);
        let win = match vct.find_any(effort) {
            VctDecision::Win { plies, line } if !line.is_empty() => Some((plies, line)),
            _ => None,
        };
        let nodes = vct.nodes;
        self.networks = networks;
        VctOutcome { win, nodes }
    }

    fn other_replies(&mut self, budget: &mut u32, searched: &[Move]) -> Option<(u16, Moves)> {
        let line = self.find_threat(budget)?;
        Some((line.len() as u16 + 1, self.list_replies(&line, searched)))
    }

    fn quick_vcf(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        Vcf::new(self, budget).find_local()
    }

    fn replies_to_four_three(&mut self) -> Option<Moves> {
        self.answers_to_four_three()
    }

    fn legal(&self) -> Vec<Move> {
        let cells = self
            .empty
            .iter()
            .filter(|&cell| !self.is_forbidden(self.side, cell));
        cells.map(|cell| Move::new(cell as u16)).collect()
    }

    fn urgent(&self) -> Vec<Move> {
        let five = self.cells_of(self.side, |kind| kind == CellKind::Five);
        let urgent = if five.is_empty() {
            self.cells_of(self.side, |kind| kind == CellKind::Winning)
        } else {
            five
        };
        urgent.iter().map(|cell| Move::new(cell as u16)).collect()
    }

    /// In renju White may also win when Black has only forbidden points left.
    fn can_win(&self) -> (bool, bool) {
        let can_win = |side: Side| self.live[side.index()] > 0 || is_judged::<R>(side.other());
        (can_win(self.side), can_win(self.side.other()))
    }

    fn may_have_vcf(&self) -> bool {
        self.fours(self.side) > 1
    }

    fn vcf(&mut self, budget: &mut u32, length: u32) -> Option<Vec<Move>> {
        Vcf::new(self, budget).find(length)
    }
}

impl<R: Rule> Board<R> {
    /// Whether Black is to move in renju with only forbidden points left, which loses.
    fn is_stuck(&self) -> bool {
        let doubtful = [CellKind::Forbidden, CellKind::DoubleThree, CellKind::Tangle];
        let count = || {
            let counts = doubtful.map(|kind| usize::from(self.count(Side::First, kind)));
            counts.into_iter().sum::<usize>()
        };
        is_judged::<R>(self.side)
            && self.left > 0
            && count() == self.left
            && self
                .empty
                .iter()
                .all(|cell| self.is_forbidden(self.side, cell))
    }

    /// Whether the only point that stops the opponent's five is forbidden to the side to move.
    fn is_caught(&self) -> bool {
        let point = || {
            self.cells_of(self.side.other(), |kind| kind == CellKind::Five)
                .first()
        };
        is_judged::<R>(self.side)
            && point().is_some_and(|point| self.is_forbidden(self.side, point))
    }
}
