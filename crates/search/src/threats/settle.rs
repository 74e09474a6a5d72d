//! Answers to questions of proof: whether every move loses, or which move wins by a threat.

use std::collections::{BTreeSet, VecDeque};

use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::{
    Answer, Bound, Claim, Effort, Game, Move, Outcome, Position, Proof, ProofKind, Question,
    RuleName, Score, Variant, Verdict, Window, with_game, with_rule,
};

use crate::gomoku::{LambdaCandidate, LambdaSearch, LambdaWin, ProofTable, TemplateMemory};
use crate::root::provenance::provenance;
use crate::threats::ClaimStrategy;
use crate::threats::search::kind;
use crate::{Control, Engine, EngineError, Progress};

/// Table memory of the threat searches of a question, in bytes.
const TABLE: usize = 8 << 20;
/// Nodes of the search after each move, by round, and the number of surviving moves that ends a
/// round. Most moves lose to an attack that is found soon; where several survive costly searches,
/// the position is far from lost.
const ROUNDS: [(u64, usize); 3] = [(1_000, usize::MAX), (5_000, 12), (u64::MAX, 4)];
/// Nodes of the search after each move, in times of those of the threat after a pass, at least.
const THREAT_FACTOR: u64 = 2;
/// Surviving moves from which further rounds do not pay.
const MANY: usize = 24;
/// Consecutive failures from which a round does not pay.
const HOPELESS: usize = 16;
/// Depth of the search that compares the surviving moves.
const DEPTH: u8 = 2;
/// Nodes for each move where the effort sets no limit.
const NODES: u64 = 20_000;
/// Moves of the attacker that are looked at, and the nodes to find the threat of each.
const FIRST_LOOK: (usize, u64) = (20, 2_000);
/// The same where the question names moves: those that a first answer did not list. A quiet move
/// that wins may be far down the order, and with few stones its threat takes long to carry out.
const SECOND_LOOK: (usize, u64) = (40, 10_000);
/// Divisor of the effort for the search for an own win.
const OWN: u64 = 10;
/// Depth of the search that compares moves without a threat.
const GUESS: u8 = 6;
/// Opinion of the best move without a threat, in centi-units.
const SILENT: i32 = -2_000;

impl Engine {
    /// Answers a gomoku question whose window asks for a proof only: whether all moves lose, or
    /// which one wins. `None` for any other question.
    pub(crate) fn settle(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Answer>, EngineError> {
        let Variant::Gomoku { rule, .. } = question.position.variant() else {
            return Ok(None);
        };
        if question.window.beta <= -Score::OPINION_MAX {
            self.refute(rule, question, control, progress).map(Some)
        } else if question.window.alpha >= Score::OPINION_MAX {
            self.lambda(rule, question, control).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Searches for a VCT after each move, with equal shares of the effort. A normal search
    /// compares the surviving moves, so that every legal move has an exact value or a proof, up to
    /// symmetry.
    fn refute(
        &mut self,
        rule: RuleName,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        let position = &question.position;
        let moves = if question.moves.is_empty() {
            position.distinct_moves()
        } else {
            question.moves.clone()
        };
        check_all(position, &moves)?;
        if position.outcome().is_some() || moves.is_empty() {
            return Ok(Answer::new());
        }
        let share = question
            .effort
            .nodes
            .map_or(NODES, |nodes| (nodes / moves.len() as u64).max(1));
        let wants = self.strategies.is_some();
        let memory = &mut self.memory;
        let (mut answer, left, strategies) =
            with_rule!(rule, R => defend::<R>(position, moves, share, wants, control, memory));
        if !left.is_empty() {
            let width = u16::try_from(left.len()).unwrap_or(u16::MAX);
            let rest = Question {
                moves: left,
                window: Window::FULL,
                effort: Effort::depth(DEPTH),
                width,
                ..question.clone()
            };
            answer.merge(self.answer(&rest, control, progress)?);
        }
        self.keep_strategies(strategies);
        Ok(answer)
    }

    /// Searches for a VCT, and otherwise for moves that threaten one. Opinions estimate the rest of
    /// the proof after a move: 10 centi-units for each reply; from [`SILENT`] on the move makes no
    /// threat.
    fn lambda(
        &mut self,
        rule: RuleName,
        question: &Question,
        control: &Control,
    ) -> Result<Answer, EngineError> {
        let position = &question.position;
        check_all(position, &question.moves)?;
        if position.outcome().is_some() {
            return Ok(Answer::new());
        }
        let nodes = question
            .effort
            .nodes
            .map_or(NODES, |nodes| (nodes / OWN).max(1));
        let wants = self.strategies.is_some();
        let (answer, silent, strategy) =
            with_rule!(rule, R => attack::<R>(position, &question.moves, nodes, wants, control));
        if !answer.is_empty() {
            self.keep_strategies(strategy);
            return Ok(answer);
        }
        let moves = if silent.is_empty() {
            question.moves.clone()
        } else {
            silent
        };
        let effort = Effort {
            depth: Some(GUESS),
            nodes: question.effort.nodes,
            ..Effort::default()
        };
        let compared = Question {
            moves,
            window: Window::FULL,
            effort,
            ..question.clone()
        };
        let mut answer = self.answer(&compared, control, &mut |_| {})?;
        answer.retain(|_, verdict| verdict.is_exact());
        let ranked = answer
            .verdicts()
            .iter()
            .zip(0..)
            .map(|((m, verdict), rank)| match verdict.proof {
                Some(_) => (*m, verdict.clone()),
                None => (
                    *m,
                    ordered(SILENT - 100 * rank, verdict.nodes, verdict.line.clone()),
                ),
            });
        Ok(ranked.collect())
    }
}

/// Returns one winning move with its strategy if it `wants` that, or the estimated cost of each
/// move with a threat, and the moves without a threat.
fn attack<R: Rule>(
    position: &Position,
    asked: &[Move],
    nodes: u64,
    wants: bool,
    control: &Control,
) -> (Answer, Vec<Move>, Option<ClaimStrategy>) {
    let game: Gomoku<R> = position.game();
    let mut table = ProofTable::new(TABLE);
    let mut lambda = LambdaSearch::new(&game, &mut table, control);
    if let Some(LambdaWin { plies, line }) = lambda.find(nodes)
        && let Some(&m) = line
            .first()
            .filter(|m| asked.is_empty() || asked.contains(m))
    {
        let won = Verdict::proven(
            Proof::new(Claim::Win, kind(plies, ProofKind::Vct), plies),
            line,
            lambda.nodes,
            provenance(),
        );
        let strategy = wants.then(|| lambda.own_strategy(nodes)).flatten();
        return ([(m, won)].into_iter().collect(), Vec::new(), strategy);
    }
    let (most, nodes) = if asked.is_empty() {
        FIRST_LOOK
    } else {
        SECOND_LOOK
    };
    let mut found = lambda.candidates(asked, most, nodes);
    // Keep one of the moves that are equal up to symmetry.
    let moves: Vec<Move> = found.iter().map(|found| found.at).collect();
    let mut seen = BTreeSet::new();
    let mut children = position.children(&moves).into_iter();
    found.retain(|_| children.next().is_some_and(|child| seen.insert(child.key)));
    let share = lambda.nodes / found.len().max(1) as u64;
    let threat = |(found, rank): (&LambdaCandidate, i32)| {
        let score = |cost: u32| -10 * cost.min(100) as i32 - rank.min(9);
        found
            .cost
            .map(|cost| (found.at, ordered(score(cost), share, vec![found.at])))
    };
    let threats = found.iter().zip(0..).filter_map(threat).collect();
    let silent = found
        .iter()
        .filter(|found| found.cost.is_none())
        .map(|found| found.at)
        .collect();
    (threats, silent, None)
}

/// Returns a verdict of depth 0 that only orders the moves; any searched verdict outweighs it.
fn ordered(centi: i32, nodes: u64, line: Vec<Move>) -> Verdict {
    let score = Score::opinion(centi);
    Verdict {
        score,
        bound: Bound::Exact,
        depth: 0,
        nodes,
        line,
        proof: None,
        by: provenance(),
    }
}

/// A search for the win after a move.
type Look<'a, R> = dyn FnMut(&mut LambdaSearch<R>) -> Option<LambdaWin> + 'a;

/// Returns the losing moves, with strategies against them if it `wants` those, and the others.
fn defend<R: Rule>(
    position: &Position,
    moves: Vec<Move>,
    share: u64,
    wants: bool,
    control: &Control,
    memory: &mut TemplateMemory,
) -> (Answer, Vec<Move>, Vec<ClaimStrategy>) {
    let game: Gomoku<R> = position.game();
    let mut table = ProofTable::new(TABLE);
    let mut lambda = LambdaSearch::new(&game, &mut table, control);
    let mut answer = Answer::new();
    let (mut left, mut is_over) = (Vec::new(), false);
    for m in moves {
        match position.play(m).ok().and_then(|next| next.outcome()) {
            Some(Outcome::Win(side)) if side != position.side() => {
                let proof = Proof::new(Claim::Loss, ProofKind::Terminal, 1);
                answer.extend([(m, Verdict::proven(proof, vec![m], 0, provenance()))]);
            }
            outcome => {
                is_over |= outcome.is_some();
                left.push(m);
            }
        }
    }
    if is_over || !lambda.threaten(share) {
        return (answer, left, Vec::new());
    }
    // An attack after a reply is seldom found sooner than the one after a pass.
    let least = lambda.nodes.saturating_mul(THREAT_FACTOR);
    // Other moves lose to the strategies against these.
    let mut searched = vec![(None, None)];
    let mut beaten = Vec::new();
    // Whether a move loses, by a search for the win after it.
    let mut falls = |lambda: &mut LambdaSearch<R>, m: Move, look: &mut Look<R>| {
        let before = lambda.nodes;
        let Some(won) = look(lambda) else {
            return false;
        };
        let proof = Proof::new(Claim::Loss, ProofKind::Vct, won.plies);
        let line = std::iter::once(m).chain(won.line).collect();
        let verdict = Verdict::proven(proof, line, lambda.nodes - before, provenance());
        answer.extend([(m, verdict)]);
        let template = lambda.templates.last();
        beaten.extend(template.map(|template| (m, template.clone())));
        true
    };
    left.retain(|m| !falls(&mut lambda, *m, &mut |lambda| lambda.loses_alike(m.index())));
    let mut known = memory.find(position, &left);
    for (budget, most) in ROUNDS {
        let budget = budget.max(least).min(share);
        let mut still = Vec::new();
        let mut waiting: VecDeque<Move> = left.into();
        let mut fails = 0;
        while let Some(m) = waiting.pop_front() {
            let is_worth_it = fails < HOPELESS && still.len() < most;
            let mut search = |lambda: &mut LambdaSearch<R>| {
                let known = known.remove(&m);
                let won = known.and_then(|template| lambda.loses_like(m.index(), template));
                match won {
                    None if is_worth_it => lambda.loses(m.index(), budget),
                    won => won,
                }
            };
            if !falls(&mut lambda, m, &mut search) {
                still.push(m);
                fails += 1;
                continue;
            }
            fails = 0;
            searched.push((Some(m), lambda.templates.last().cloned()));
            waiting
                .retain(|m| !falls(&mut lambda, *m, &mut |lambda| lambda.loses_alike(m.index())));
        }
        left = still;
        if left.is_empty() || left.len() > MANY || budget >= share || control.is_stopped() {
            break;
        }
    }
    memory.note(position, beaten);
    let strategies = if wants {
        lambda.strategies(searched, share)
    } else {
        Vec::new()
    };
    (answer, left, strategies)
}

fn check_all(position: &Position, moves: &[Move]) -> Result<(), EngineError> {
    with_game!(position.variant(), G => {
        let game = position.game::<G>();
        match moves.iter().find(|m| game.check(**m).is_err()) {
            Some(m) => Err(EngineError::IllegalMove(position.write_move(*m))),
            None => Ok(()),
        }
    })
}
