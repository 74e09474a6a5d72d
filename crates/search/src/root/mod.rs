mod examination;
mod kth_best;
pub(crate) mod provenance;
mod verdicts;

use std::collections::{BTreeSet, VecDeque};

use kagetsu_game::{
    Answer, Bound, Claim, Effort, Game, Move, Proof, ProofKind, Question, Score, Verdict, Window,
};
use rayon::prelude::*;

use crate::alphabeta::table::TranspositionTable;
use crate::alphabeta::{AlphaBeta, RootScore, selection};
use crate::control::limits::Limits;
use crate::heuristics::{Heuristics, Situation};
use crate::root::examination::Examined;
use crate::root::kth_best::KthBest;
use crate::root::provenance::provenance;
use crate::{Control, EngineError, EngineOptions, Feature, Progress, Split};

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
        let mut board = H::new(&game, self.options);
        if let Some(answer) = self.is_first.then(|| self.vcf(&mut board)).flatten() {
            return Ok(answer);
        }
        let limits = Limits::new(self.control, self.question.effort);
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
            Proof {
                claim: Claim::Win,
                kind,
                plies,
            },
            line,
            u64::from(ROOT_FOURS.0 - budget) + 1,
        )
    }

    /// Returns the answer if the side to move wins by a VCT.
    fn vct<H: Heuristics>(&self, board: &mut H, limits: &Limits) -> Option<Answer> {
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
            Proof {
                claim: Claim::Win,
                kind: ProofKind::Vct,
                plies,
            },
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
        let depth = u8::try_from(proof.plies).unwrap_or(u8::MAX);
        let (score, by) = (proof.score(), provenance());
        let verdict = Verdict {
            score,
            bound: Bound::Exact,
            depth,
            nodes,
            line,
            proof: Some(proof),
            by,
        };
        Some([(m, verdict)].into_iter().collect())
    }

    fn root<H: Heuristics>(&self, board: &H) -> Root {
        let position = &self.question.position;
        if !self.question.moves.is_empty() {
            let legal: BTreeSet<Move> = position.legal_moves().into_iter().collect();
            let asked = without_repeats(&self.question.moves);
            let (moves, fouls) = asked.into_iter().partition(|m| legal.contains(m));
            return Root {
                moves,
                otherwise: None,
                fouls,
                is_choice: false,
            };
        }
        let situation = board.situation();
        let (moves, otherwise) = match situation {
            Situation::Forced { otherwise } => (board.moves(&situation).sorted(), Some(otherwise)),
            Situation::Free => (board.moves(&situation).sorted(), None),
            Situation::Known(score) if score.win_plies().is_some() => (board.urgent(), None),
            Situation::Known(_) | Situation::Over(_) | Situation::Repeated { .. } => {
                (position.legal_moves(), None)
            }
        };
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

    /// Searches with one thread or with all of them.
    fn deepen<H: Heuristics + Sync>(
        &self,
        board: &H,
        root: &Root,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Answer {
        match self.pool.filter(|_| self.options.split == Split::Shared) {
            None => self.iterations(board, root, limits, progress),
            Some(pool) => pool.in_place_scope(|scope| {
                for number in 1..self.options.threads {
                    scope.spawn(move |_| self.help(board, root, limits, number));
                }
                let answer = self.iterations(board, root, limits, progress);
                limits.dismiss();
                answer
            }),
        }
    }

    fn deepest(&self) -> u8 {
        self.question
            .effort
            .depth
            .unwrap_or(Effort::MAX_DEPTH)
            .min(Effort::MAX_DEPTH)
    }

    /// Fills the shared table beside the main thread; every second helper searches one ply deeper.
    fn help<H: Heuristics>(&self, board: &H, root: &Root, limits: &Limits, number: usize) {
        let mut search = AlphaBeta::new(board.clone(), self.table, limits, self.options).helping();
        let mut known: Vec<RootMove> = root.moves.iter().map(RootMove::new).collect();
        let first = 1 + number as u8 % 2;
        for depth in first..=self.deepest() {
            let kth = KthBest::new(self.window().alpha, self.width().min(known.len()));
            let found = known
                .iter()
                .enumerate()
                .map(|(at, found)| self.root_move(&mut search, found, at, depth, &kth));
            let Some(mut found) = found.collect::<Option<Vec<_>>>() else {
                return;
            };
            order(&mut found);
            known = found;
        }
    }

    /// Iterative deepening; each iteration uses the move order of the last.
    fn iterations<H: Heuristics + Sync>(
        &self,
        board: &H,
        root: &Root,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Answer {
        let mut known: Vec<RootMove> = root.moves.iter().map(RootMove::new).collect();
        if known.is_empty() {
            return self.answer(&known, root);
        }
        let mut own = AlphaBeta::new(board.clone(), self.table, limits, self.options);
        let at_once = !self.options.seed && self.question.effort.depth.is_some();
        let mut depth = if at_once { self.deepest() } else { 1 };
        let mut examined = Examined::default();
        while depth <= self.deepest() {
            let exchange = limits.control().exchange();
            if exchange.is_some_and(|exchange| exchange.skips(depth, self.deepest())) {
                depth += 1;
                continue;
            }
            let mut found = self.iterate(board, &mut own, &known, depth, limits);
            let is_whole = found.len() == known.len();
            order(&mut found);
            if !is_whole && !is_better(&found, &known) {
                break;
            }
            let searched: BTreeSet<Move> = found.iter().map(|found| found.m).collect();
            let rest = known
                .into_iter()
                .filter(|known| !searched.contains(&known.m));
            found.extend(rest);
            known = found;
            if !is_whole {
                break;
            }
            // If all selected moves lose, search the others as well.
            if root.is_choice && is_lost(&known) {
                let searched: Vec<Move> = known.iter().map(|found| found.m).collect();
                let others = self.others(&searched);
                if !others.is_empty() {
                    known.extend(others.iter().map(RootMove::new));
                    continue;
                }
            }
            if self.is_refuted(board, &known, &mut examined, limits) {
                continue;
            }
            let answer = self.answer(&known, root);
            let elapsed = limits.begun().elapsed();
            progress(&Progress {
                depth,
                answer,
                nodes: limits.nodes().max(own.nodes),
                elapsed,
            });
            if self.is_decided(&known) {
                break;
            }
            depth += 1;
        }
        if known.iter().any(|found| found.depth == 0) {
            // The search stopped before these moves had a score; a static evaluation is better than
            // none.
            self.evaluate_unsearched(board, &mut known);
        }
        self.answer(&known, root)
    }

    /// Returns the legal moves outside `searched`, one of each set that is equal up to symmetry.
    pub(crate) fn others(&self, searched: &[Move]) -> Vec<Move> {
        let position = &self.question.position;
        let mut seen: BTreeSet<_> = position
            .children(searched)
            .iter()
            .map(|child| child.key)
            .collect();
        let legal = position.legal_moves();
        let children = position.children(&legal);
        legal
            .into_iter()
            .zip(children)
            .filter(|(_, child)| seen.insert(child.key))
            .map(|(m, _)| m)
            .collect()
    }

    /// Whether the best move is a proven win, or every move is proven.
    fn is_decided(&self, known: &[RootMove]) -> bool {
        known
            .first()
            .is_some_and(|best| best.score.win_plies().is_some())
            || known.iter().all(|found| found.score.is_mate())
    }

    /// Values each move that was not searched by a search of one ply.
    fn evaluate_unsearched<H: Heuristics>(&self, board: &H, known: &mut [RootMove]) {
        let unlimited = Control::new();
        let limits = Limits::new(&unlimited, Effort::default());
        let options = EngineOptions {
            leaf_fours: 0,
            ..*self.options
        };
        let mut search = AlphaBeta::new(board.clone(), self.table, &limits, &options);
        for found in known.iter_mut().filter(|found| found.depth == 0) {
            if let Some(RootScore {
                score,
                line,
                is_bound_to_path,
            }) = search.root_move(found.m, 1, Score::MIN, Score::MAX)
            {
                *found = RootMove {
                    m: found.m,
                    score,
                    bound: Bound::Exact,
                    line,
                    nodes: 1,
                    depth: 1,
                    is_bound_to_path,
                };
            }
        }
        order(known);
    }

    /// Searches the root moves to one depth, as many as the limits allow.
    fn iterate<H: Heuristics + Sync>(
        &self,
        board: &H,
        own: &mut AlphaBeta<H>,
        known: &[RootMove],
        depth: u8,
        limits: &Limits,
    ) -> Vec<RootMove> {
        let width = self.width().min(known.len());
        let kth = KthBest::new(self.window().alpha, width);
        let mut one = |at: usize| self.root_move(own, &known[at], at, depth, &kth);
        match self.pool.filter(|_| self.options.split == Split::Seeded) {
            None if limits.control().exchange().is_some() => {
                self.take_turns(own, known, depth, limits, &kth)
            }
            None => (0..known.len()).map_while(one).collect(),
            // The best moves so far are searched before the others share their bound.
            Some(pool) => {
                let mut all: Vec<RootMove> = (0..width).map_while(&mut one).collect();
                if all.len() == width {
                    let search = |at: usize| {
                        let mut search =
                            AlphaBeta::new(board.clone(), self.table, limits, self.options);
                        self.root_move(&mut search, &known[at], at, depth, &kth)
                    };
                    let rest = pool.install(|| {
                        (width..known.len())
                            .into_par_iter()
                            .with_max_len(1)
                            .map(search)
                            .collect()
                    });
                    all.extend(Option::<Vec<_>>::unwrap_or_default(rest));
                }
                all
            }
        }
    }

    /// Searches the root moves to one depth beside other engines: moves that another engine is
    /// searching come last.
    fn take_turns<H: Heuristics + Sync>(
        &self,
        own: &mut AlphaBeta<H>,
        known: &[RootMove],
        depth: u8,
        limits: &Limits,
        kth: &KthBest,
    ) -> Vec<RootMove> {
        let width = self.width().min(known.len());
        let exchange = limits.control().exchange();
        let mut found: Vec<(usize, RootMove)> = Vec::with_capacity(known.len());
        let (mut waiting, mut deferred): (VecDeque<usize>, VecDeque<usize>) =
            ((0..known.len()).collect(), VecDeque::new());
        while let Some((at, is_again)) = waiting
            .pop_front()
            .map(|at| (at, false))
            .or_else(|| deferred.pop_front().map(|at| (at, true)))
        {
            own.board.play(known[at].m);
            let key = own.key(i32::from(depth) - 1);
            own.board.undo();
            let exchange = exchange.filter(|_| at >= width);
            if exchange.is_some_and(|exchange| !is_again && exchange.is_busy(key)) {
                deferred.push_back(at);
                continue;
            }
            exchange
                .into_iter()
                .for_each(|exchange| exchange.search_started(key));
            let Some(result) = self.root_move(own, &known[at], at, depth, kth) else {
                break;
            };
            exchange
                .into_iter()
                .for_each(|exchange| exchange.search_ended(key));
            found.push((at, result));
        }
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, found)| found).collect()
    }

    /// Searches the root move at place `at` of the order.
    fn root_move<H: Heuristics>(
        &self,
        search: &mut AlphaBeta<H>,
        found: &RootMove,
        at: usize,
        depth: u8,
        kth: &KthBest,
    ) -> Option<RootMove> {
        let (before, beta) = (search.nodes, self.window().beta);
        // Once a move has passed beta, the others are only asked whether they do.
        let below = Score::from_raw(beta.raw() - 1).unwrap_or(Score::MIN);
        let alpha = kth.score().min(below);
        let above = Score::from_raw(alpha.raw() + 1)
            .filter(|&above| above < beta && kth.is_full() && search.has(Feature::NullWindow));
        let reduced = if above.is_some() && search.selects(Feature::LateMoves) {
            selection::at_root(depth, at, search.board.force(found.m), &H::STYLE)
        } else {
            depth
        };
        let mut result = RootScore {
            score: Score::MAX,
            line: Vec::new(),
            is_bound_to_path: false,
        };
        for (depth, beta) in [
            (reduced, above),
            (depth, above.filter(|_| reduced < depth)),
            (depth, Some(beta)),
        ] {
            if let Some(beta) = beta.filter(|_| result.score > alpha) {
                result = search.root_move(found.m, depth, alpha, beta)?;
            }
        }
        let RootScore {
            score,
            line,
            is_bound_to_path,
        } = result;
        let bound = match score {
            _ if score <= alpha && alpha > Score::MIN => Bound::Upper,
            _ if score >= beta => Bound::Lower,
            _ => Bound::Exact,
        };
        if bound != Bound::Upper {
            kth.raise(score);
        }
        let nodes = found.nodes + search.nodes - before;
        Some(RootMove {
            m: found.m,
            score,
            bound,
            line,
            nodes,
            depth,
            is_bound_to_path,
        })
    }
}

/// Whether an unfinished iteration has found a best move at least as good as the iteration before.
fn is_better(found: &[RootMove], known: &[RootMove]) -> bool {
    let best = |moves: &[RootMove]| moves.first().map(|best| best.score);
    found.iter().any(|found| found.bound == Bound::Exact) && best(found) >= best(known)
}

fn is_lost(known: &[RootMove]) -> bool {
    known
        .iter()
        .all(|found| found.score.loss_plies().is_some() && found.bound != Bound::Lower)
}

/// Sorts by score, exact scores first among equals, otherwise in the previous order.
fn order(found: &mut [RootMove]) {
    found.sort_by_key(|found| (std::cmp::Reverse(found.score), found.bound != Bound::Exact));
}

fn without_repeats(moves: &[Move]) -> Vec<Move> {
    let mut seen = BTreeSet::new();
    moves.iter().copied().filter(|m| seen.insert(*m)).collect()
}
