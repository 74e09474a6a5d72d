use kagetsu_game::surakarta::{NEIGHBOURS, POINTS, Surakarta};
use kagetsu_game::{Move, ProofKind, Score, Side};

use super::board::{Board, ends, join};
use super::rings::{RingView, points};
use super::weights::PointWeights;
use crate::EngineOptions;
use crate::heuristics::{Force, Heuristics, Late, Moves, Situation, Style};

/// Worth of a capture for the move order, beyond any history or killer bonus of a quiet move.
const CAPTURE: i32 = 2_000;
/// Worth of moving a stone that could be captured.
const ESCAPE: i32 = 60;
/// Stones of a side at the start.
const STONES: i32 = 12;
/// Least number of stones for a null move. With fewer, having to move may do harm.
const MIN_NULL_STONES: u32 = 3;

impl Heuristics for Board {
    type Rules = Surakarta;

    const STYLE: Style = Style {
        ply: 60,
        codes: POINTS * POINTS,
        killer: 120,
        history: 16,
        late: Late {
            divisor: 80,
            moves: (3, 2),
        },
        is_forcing: false,
        vcf_proof: ProofKind::Search,
    };

    fn new(game: &Surakarta, options: &EngineOptions) -> Self {
        Self::of_game(game, options)
    }

    fn play(&mut self, m: Move) {
        let (from, to) = ends(m);
        self.play_stone(from, to);
    }

    fn undo(&mut self) {
        self.undo_ply();
    }

    fn pass(&mut self) -> bool {
        let may = self.count(self.side) >= MIN_NULL_STONES;
        if may {
            self.pass_turn();
        }
        may
    }

    fn hash(&self) -> u64 {
        self.hash_with_count()
    }

    /// Sums the values of stones on their points and the further terms, own minus the opponent's.
    fn evaluate(&self) -> Score {
        let (me, other) = (self.side, self.side.other());
        let stones = self.sum(me) - self.sum(other);
        let PointWeights {
            turn,
            capture,
            end,
            step,
            lead,
            ..
        } = *self.weights;
        if (capture, end, step, lead) == (0, 0, 0, 0) {
            return Score::opinion(stones + turn);
        }
        let worth = |side: Side| {
            let RingView { captures, ends } = &self.view;
            let (captures, ends) = (
                captures[side.index()].len() as i32,
                i32::from(ends[side.index()]),
            );
            capture * captures + end * ends + step * self.steps(side)
        };
        let (mine, his) = (self.count(me) as i32, self.count(other) as i32);
        let gone = 2 * STONES - mine - his;
        Score::opinion(
            stones + turn + worth(me) - worth(other) + lead * (mine - his) * gone / (2 * STONES),
        )
    }

    fn situation(&self) -> Situation {
        let (me, other) = (self.side, self.side.other());
        if self.stones.contains(&0) || !self.can_move() {
            return Situation::Over(self.majority());
        }
        if let Some(plies) = self.is_over_by_history() {
            return Situation::Repeated {
                score: self.majority(),
                plies,
            };
        }
        if self.count(other) == 1 && !self.view.captures[me.index()].is_empty() {
            return Situation::Known(Score::win_in(1));
        }
        if let Some(score) = self.score_after_capture() {
            return Situation::Known(score);
        }
        Situation::Free
    }

    fn list_moves(&self, _: &Situation, moves: &mut Moves) {
        self.list_captures(moves);
        let (empty, values) = (self.empty(), &self.weights.points);
        let at_risk = self.victims(self.side.other());
        for from in points(self.stones[self.side.index()]) {
            let escape = if at_risk >> from & 1 != 0 { ESCAPE } else { 0 };
            for to in points(NEIGHBOURS[usize::from(from)] & empty) {
                let gain =
                    i32::from(values[usize::from(to)]) - i32::from(values[usize::from(from)]);
                moves.push(escape + gain, join(from, to));
            }
        }
    }

    fn captures(&self) -> Option<Moves> {
        let mut moves = Moves::new(true);
        self.list_captures(&mut moves);
        (!moves.is_empty()).then_some(moves)
    }

    fn force(&self, m: Move) -> Force {
        let (from, to) = ends(m);
        let theirs = self.stones[self.side.other().index()];
        Force {
            is_four: false,
            attacks: theirs >> to & 1 != 0,
            defends: self.victims(self.side.other()) >> from & 1 != 0,
        }
    }

    /// Whether the opponent could capture a stone.
    fn is_threatened(&self) -> bool {
        !self.view.captures[self.side.other().index()].is_empty()
    }

    fn legal(&self) -> Vec<Move> {
        self.moves(&Situation::Free).sorted()
    }

    fn urgent(&self) -> Vec<Move> {
        let captures = self.view.captures[self.side.index()].iter();
        if self.count(self.side.other()) == 1 {
            captures.map(|&(from, to)| join(from, to)).collect()
        } else {
            Vec::new()
        }
    }

    fn end_value(&mut self, m: Move) -> Option<Score> {
        self.play(m);
        let score = self.score_in_game();
        self.undo();
        score.map(Score::before)
    }

    fn may_have_vcf(&self) -> bool {
        false
    }

    fn vcf(&mut self, _: &mut u32, _: u32) -> Option<Vec<Move>> {
        None
    }
}

impl Board {
    /// Returns the result by the number of stones, for the side to move.
    fn majority(&self) -> Score {
        match self.count(self.side).cmp(&self.count(self.side.other())) {
            std::cmp::Ordering::Greater => Score::win_in(0),
            std::cmp::Ordering::Less => Score::loss_in(0),
            std::cmp::Ordering::Equal => Score::ZERO,
        }
    }

    /// Whether the side to move has a move.
    fn can_move(&self) -> bool {
        let empty = self.empty();
        let has_room = points(self.stones[self.side.index()])
            .any(|from| NEIGHBOURS[usize::from(from)] & empty != 0);
        has_room || !self.view.captures[self.side.index()].is_empty()
    }

    /// Returns the stones that `side` could capture, one bit each.
    fn victims(&self, side: Side) -> u64 {
        self.view.captures[side.index()]
            .iter()
            .fold(0, |set, &(_, to)| set | 1 << to)
    }

    /// Lists the captures of the side to move.
    fn list_captures(&self, moves: &mut Moves) {
        moves.complete = true;
        for &(from, to) in &self.view.captures[self.side.index()] {
            moves.push(
                CAPTURE + i32::from(self.weights.points[usize::from(to)]),
                join(from, to),
            );
        }
    }
}
