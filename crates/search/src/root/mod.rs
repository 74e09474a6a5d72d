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
use crate::root::kth_best::KthBest;
use crate::root::provenance::provenance;
use crate::{Control, EngineError, EngineOptions, Feature, Progress, Split};

/// Fours tried at the root, and the longest line of them.
const ROOT_FOURS: (u32, u32) = (20_000, 30);

/// One question at work.
pub(crate) struct RootSearch<'a> {
    pub(crate) question: &'a Question,
    /// Whether it looks for a win by threats before all else, as one of several engines does.
    pub(crate) is_first: bool,
    pub(crate) options: &'a EngineOptions,
    pub(crate) table: &'a TranspositionTable,
    pub(crate) pool: Option<&'a rayon::ThreadPool>,
    pub(crate) control: &'a Control,
}

/// What an iteration has found of one root move.
#[derive(Clone, Debug)]
pub(crate) struct RootMove {
    pub(crate) m: Move,
    pub(crate) score: Score,
    pub(crate) bound: Bound,
    pub(crate) line: Vec<Move>,
    pub(crate) nodes: u64,
    pub(crate) depth: u8,
    /// Whether the score rests on what was played before.
    pub(crate) is_bound_to_path: bool,
}

impl RootMove {
    /// One that was not searched yet.
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

/// The root moves, and what is known of those that are left out.
pub(crate) struct Root {
    pub(crate) moves: Vec<Move>,
    /// The other legal moves lose within so many plies.
    pub(crate) otherwise: Option<u16>,
    /// Moves asked about that end the game with a loss: points that renju forbids.
    pub(crate) fouls: Vec<Move>,
    /// Whether the engine chose them, so that others may be as good.
    is_choice: bool,
}

impl RootSearch<'_> {
    /// Thinks on a board of type `H`.
    ///
    /// # Errors
    /// A move in the question that is not legal.
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

    /// A win by continuous fours needs no further search.
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

    /// Nor does a win by continuous threats.
    fn vct<H: Heuristics>(&self, board: &mut H, limits: &Limits) -> Option<Answer> {
        let EngineOptions {
            vct,
            selective,
            leaf_fours,
            ..
        } = *self.options;
        // What is decided needs no search, and what forces is searched better than this could.
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

    /// The answer that is one winning move, if it was asked about.
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
        // One move of each set that leads to the same position up to symmetry.
        let mut seen = BTreeSet::new();
        let children = position.children(&moves);
        let distinct = moves
            .into_iter()
            .zip(children)
            .filter(|(_, child)| seen.insert(child.key));
        // On an empty board there is nothing to search for: the middle first, and what is next to it.
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

    /// The window asked for, but no mate is beyond it: a bound that is a mate would be a proof of nothing.
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

    /// Thinks with one thread or with all of them.
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

    /// Searches the same as the main thread, half of the helpers a ply deeper, for what the table learns by it.
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

    /// Iterates ply by ply; the order of one iteration is the order of the next.
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
            // A choice of moves that all lose proves nothing of the others.
            if root.is_choice && is_lost(&known) {
                let searched: Vec<Move> = known.iter().map(|found| found.m).collect();
                let others = self.others(&searched);
                if !others.is_empty() {
                    known.extend(others.iter().map(RootMove::new));
                    continue;
                }
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
            // Stopped before these moves were searched once: an opinion of each is better than nothing.
            self.evaluate_unsearched(board, &mut known);
        }
        self.answer(&known, root)
    }

    /// The other legal moves, one of each set that leads to the same position up to symmetry.
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

    /// A proven win is enough; so is a proof of every move.
    fn is_decided(&self, known: &[RootMove]) -> bool {
        known
            .first()
            .is_some_and(|best| best.score.win_plies().is_some())
            || known.iter().all(|found| found.score.is_mate())
    }

    /// The opinion, after one ply, of each move that was not searched.
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

    /// Root moves to one depth: all of them, or as many, from the first, as there was time for.
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
            // The best so far are searched before the others share their bound.
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

    /// Root moves to one depth where other engines search them too: what another is at work on comes last.
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

    /// The root move that stands at `at` in the order.
    fn root_move<H: Heuristics>(
        &self,
        search: &mut AlphaBeta<H>,
        found: &RootMove,
        at: usize,
        depth: u8,
        kth: &KthBest,
    ) -> Option<RootMove> {
        let (before, beta) = (search.nodes, self.window().beta);
        // Not beyond beta: once a move has passed it, the others are asked whether they do.
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

/// Whether the moves searched so far have a better one than all that was known, or as good a one.
fn is_better(found: &[RootMove], known: &[RootMove]) -> bool {
    let best = |moves: &[RootMove]| moves.first().map(|best| best.score);
    found.iter().any(|found| found.bound == Bound::Exact) && best(found) >= best(known)
}

fn is_lost(known: &[RootMove]) -> bool {
    known
        .iter()
        .all(|found| found.score.loss_plies().is_some() && found.bound != Bound::Lower)
}

/// The best first; among equals what is exact, then the order of before.
fn order(found: &mut [RootMove]) {
    found.sort_by_key(|found| (std::cmp::Reverse(found.score), found.bound != Bound::Exact));
}

fn without_repeats(moves: &[Move]) -> Vec<Move> {
    let mut seen = BTreeSet::new();
    moves.iter().copied().filter(|m| seen.insert(*m)).collect()
}
