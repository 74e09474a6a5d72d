mod deepening;
mod examination;
mod iteration;
mod kth_best;
pub(crate) mod provenance;
mod verdicts;

use std::collections::BTreeSet;

use kagetsu_game::{
    Answer, Bound, Claim, Game, Move, Proof, ProofKind, Question, Score, Verdict, Window,
};

use crate::alphabeta::selection;
use crate::alphabeta::table::TranspositionTable;
use crate::control::limits::SearchLimits;
use crate::heuristics::{Heuristics, Situation};
use crate::root::provenance::provenance;
use crate::{Control, EngineError, EngineOptions, Progress};

/// Most fours tried by the VCF search at the root, and the most fours of a line.
const ROOT_FOURS: (u32, u32) = (20_000, 30);

/// The search of one question.
pub(crate) struct RootSearch<'a> {
    pub(crate) question: &'a Question,
    /// Whether it looks for a win by threats first; of several engines one does.
    pub(crate) is_first: bool,
    pub(crate) options: &'a EngineOptions,
    pub(crate) table: &'a TranspositionTable,
    pub(crate) pool: Option<&'a rayon::ThreadPool>,
    pub(crate) control: &'a Control,
}

/// The result of an iteration for one root move.
#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    pub(crate) m: Move,
    pub(crate) score: Score,
    pub(crate) bound: Bound,
    pub(crate) line: Vec<Move>,
    pub(crate) nodes: u64,
    pub(crate) depth: u8,
    /// Whether the score rests on earlier positions of the game.
    pub(crate) is_bound_to_path: bool,
}

impl RootMove {
    /// Returns the entry of a move before its first search.
    fn new(m: &Move) -> Self {
        Self {
            m: *m,
            score: -Score::OPINION_MAX,
            bound: Bound::Upper,
            line: Vec::new(),
            nodes: 0,
            depth: 0,
            is_bound_to_path: false,
        }
    }
}

/// The root moves, and the known value of the moves that are left out.
pub(crate) struct Root {
    pub(crate) moves: Vec<Move>,
    /// Plies within which the moves that are left out lose, if known.
    pub(crate) otherwise: Option<u16>,
    /// Requested moves that lose at once: points forbidden in renju.
    pub(crate) fouls: Vec<Move>,
    /// Whether the engine selected the moves, so that others may be as good.
    is_choice: bool,
}

impl RootSearch<'_> {
    /// Searches on a board of type `H`.
    ///
    /// # Errors
    /// [`EngineError::IllegalMove`] if the question contains an illegal move.
    pub(crate) fn run<H: Heuristics + Sync>(
        self,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        let game: H::Rules = self.question.position.game();
        if let Some(m) = self
            .question
            .moves
            .iter()
            .find(|&&m| game.check(m).is_err())
        {
            return Err(EngineError::IllegalMove(
                self.question.position.write_move(*m),
            ));
        }
        if game.outcome().is_some() {
            return Ok(Answer::new());
        }
        // The clock counts the first use of a game's tables, too, which takes long.
        let limits = SearchLimits::new(self.control, self.question.effort);
        let mut board = H::new(&game, self.options);
        if let Some(answer) = self.is_first.then(|| self.vcf(&mut board)).flatten() {
            return Ok(answer);
        }
        if let Some(answer) = self
            .is_first
            .then(|| self.vct(&mut board, &limits))
            .flatten()
        {
            return Ok(answer);
        }
        let root = self.root(&board);
        Ok(self.deepen(&board, &root, &limits, progress))
    }

    /// Returns the answer if the side to move wins by a VCF.
    fn vcf<H: Heuristics>(&self, board: &mut H) -> Option<Answer> {
        if self.options.leaf_fours == 0 {
            return None;
        }
        let (mut budget, length) = ROOT_FOURS;
        let line = board.vcf(&mut budget, length)?;
        let plies = line.len() as u16;
        let kind = if plies == 1 {
            ProofKind::Terminal
        } else {
            H::STYLE.vcf_proof
        };
        self.won(
            Proof::new(Claim::Win, kind, plies),
            line,
            u64::from(ROOT_FOURS.0 - budget) + 1,
        )
    }

    /// Returns the answer if the side to move wins by a VCT.
    fn vct<H: Heuristics>(&self, board: &mut H, limits: &SearchLimits) -> Option<Answer> {
        let EngineOptions {
            vct,
            selective,
            leaf_fours,
            ..
        } = *self.options;
        // Decided positions need no search, and alpha-beta handles forced positions better.
        if !vct || !selective || leaf_fours == 0 || board.situation() != Situation::Free {
            return None;
        }
        let found = board.vct(selection::vct_effort(self.question.effort), self.control);
        limits.add(found.nodes);
        let (plies, line) = found.win?;
        self.won(
            Proof::new(Claim::Win, ProofKind::Vct, plies),
            line,
            found.nodes,
        )
    }

    /// Returns the answer with one winning move, unless the question excludes that move.
    fn won(&self, proof: Proof, line: Vec<Move>, nodes: u64) -> Option<Answer> {
        let m = *line.first()?;
        if !self.question.moves.is_empty() && !self.question.moves.contains(&m) {
            return None;
        }
        let verdict = Verdict::proven(proof, line, nodes, provenance());
        Some([(m, verdict)].into_iter().collect())
    }

    fn root<H: Heuristics>(&self, board: &H) -> Root {
        let position = &self.question.position;
        if !self.question.moves.is_empty() {
            let legal: BTreeSet<Move> = position.legal_moves().into_iter().collect();
            let requested = without_repeats(&self.question.moves);
            let (moves, fouls) = requested.into_iter().partition(|m| legal.contains(m));
            return Root {
                moves,
                otherwise: None,
                fouls,
                is_choice: false,
            };
        }
        let situation = board.situation();
        let (mut moves, otherwise) = match situation {
            Situation::Forced { otherwise } => (board.moves(&situation).sorted(), Some(otherwise)),
            Situation::Free => (board.moves(&situation).sorted(), None),
            Situation::Known(score) if score.win_plies().is_some() => (board.urgent(), None),
            Situation::Known(_) | Situation::Over(_) | Situation::Repeated { .. } => {
                (position.legal_moves(), None)
            }
        };
        if situation == Situation::Free {
            retain_best(&mut board.clone(), &mut moves);
        }
        // Keep one of the moves that are equal up to symmetry.
        let mut seen = BTreeSet::new();
        let children = position.children(&moves);
        let distinct = moves
            .into_iter()
            .zip(children)
            .filter(|(_, child)| seen.insert(child.key));
        // An empty board needs no search: take the centre and its neighbours.
        let most = if position.game::<H::Rules>().stones() == 0 {
            self.width()
        } else {
            usize::MAX
        };
        Root {
            moves: distinct.map(|(m, _)| m).take(most).collect(),
            otherwise,
            fouls: Vec::new(),
            is_choice: situation == Situation::Free,
        }
    }

    /// Returns the question's window without mate bounds: a bound that is a mate score would prove
    /// nothing.
    fn window(&self) -> Window {
        let Window { alpha, beta } = self.question.window;
        Window {
            alpha: alpha.min(Score::OPINION_MAX),
            beta: beta.max(-Score::OPINION_MAX),
        }
    }

    pub(crate) fn width(&self) -> usize {
        usize::from(self.question.width.max(1))
    }
}

/// Drops the moves that an end table calls worse than another one.
fn retain_best<H: Heuristics>(board: &mut H, moves: &mut Vec<Move>) {
    let mut claim = |m: &Move| board.end_value(*m).map(|score| score.raw().signum());
    let best = moves.iter().filter_map(&mut claim).max();
    moves.retain(|m| claim(m).or(Some(0)) >= best);
}

fn without_repeats(moves: &[Move]) -> Vec<Move> {
    let mut seen = BTreeSet::new();
    moves.iter().copied().filter(|m| seen.insert(*m)).collect()
}
