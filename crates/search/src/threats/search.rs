use std::sync::Arc;
use std::time::Duration;

use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::{Effort, Game, Move, Position, ProofKind, RuleName, Variant, with_rule};

use super::strategy::Strategy;
use crate::gomoku::{Board, LambdaSearch, ProofTable, ProofTemplate, Vct, VctDecision};
use crate::heuristics::Heuristics;
use crate::{Control, EngineError, EngineOptions};

/// The threats that the attacker may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreatClass {
    /// Fours only: victory by continuous fours.
    Vcf,
    /// Also open threes and other threats of a VCF: victory by continuous threats.
    Vct,
}

/// The result of a threat search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreatOutcome {
    /// The side to move wins against every defence.
    Win {
        /// Plies within which the game ends.
        plies: u16,
        /// [`ProofKind::Vcf`] or [`ProofKind::Vct`]; [`ProofKind::Terminal`] for a five at once.
        kind: ProofKind,
        /// The line against a long defence. It may be shorter than `plies`.
        line: Vec<Move>,
    },
    /// There is no win of the class within the requested plies, or of any length without such a
    /// limit. Other wins may exist.
    NoWin,
    /// The search ended before it could decide.
    Unknown,
}

/// The result and the cost of one search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreatResult {
    /// The answer.
    pub outcome: ThreatOutcome,
    /// Positions searched; for VCF, fours tried.
    pub nodes: u64,
    /// Wall-clock time, without setting up the board.
    pub time: Duration,
}

/// Searches for wins by continuous threats, one after another. A search reuses what earlier
/// ones learned about the same variant.
#[derive(Debug)]
pub struct ThreatSearch {
    table: ProofTable,
    variant: Option<Variant>,
    /// Proofs of wins after replies to the last position.
    refuted: Option<(Position, Vec<Arc<ProofTemplate>>)>,
    /// Whether wins and strategies may be longer than need be.
    takes_any: bool,
}

impl ThreatSearch {
    /// Returns a search with a table of at most `bytes`, or of the least possible size.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            table: ProofTable::new(bytes),
            variant: None,
            refuted: None,
            takes_any: false,
        }
    }

    /// Lets wins and strategies be longer than need be, which finds them several times as fast.
    #[must_use]
    pub fn with_any_length(mut self) -> Self {
        self.takes_any = true;
        self
    }

    /// Clears the table.
    pub fn clear(&mut self) {
        self.table.clear();
        self.refuted = None;
    }

    /// Searches for a win of the side to move; `effort.depth` limits its plies.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] for games other than gomoku.
    pub fn search(
        &mut self,
        position: &Position,
        class: ThreatClass,
        effort: Effort,
        control: &Control,
    ) -> Result<ThreatResult, EngineError> {
        let rule = self.enter(position)?;
        Ok(with_rule!(rule, R => self.run::<R>(position, class, effort, control)))
    }

    /// Searches for a VCT of the side to move, the shortest if that is cheap, and returns the
    /// strategy against every legal reply. `None` if none is found within the effort.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] for games other than gomoku.
    pub fn strategy(
        &mut self,
        position: &Position,
        effort: Effort,
        control: &Control,
    ) -> Result<Option<Strategy>, EngineError> {
        let rule = self.enter(position)?;
        Ok(with_rule!(rule, R => self.run_strategy::<R>(position, effort, control)))
    }

    /// Searches for a VCT after `reply`, of the side that is not to move at `position`, and returns
    /// the strategy against every legal answer. Proofs of other replies to the last position are
    /// tried first, so that many replies to one position cost little more than a few. `None` as for
    /// [`ThreatSearch::strategy`].
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] for games other than gomoku, [`EngineError::IllegalMove`].
    pub fn refute(
        &mut self,
        position: &Position,
        reply: Move,
        nodes: u64,
        control: &Control,
    ) -> Result<Option<Strategy>, EngineError> {
        let rule = self.enter(position)?;
        with_rule!(rule, R => {
            let game: Gomoku<R> = position.game();
            if game.check(reply).is_err() {
                return Err(EngineError::IllegalMove(position.write_move(reply)));
            }
            Ok(self.run_refute(position, &game, reply, nodes, control))
        })
    }

    /// Returns the rule of a position, and clears the table if the variant differs from the last
    /// one.
    fn enter(&mut self, position: &Position) -> Result<RuleName, EngineError> {
        let variant = position.variant();
        let Variant::Gomoku { rule, .. } = variant else {
            return Err(EngineError::Unsupported(variant));
        };
        if self.variant.replace(variant) != Some(variant) {
            self.clear();
        }
        Ok(rule)
    }

    fn run_refute<R: Rule>(
        &mut self,
        position: &Position,
        game: &Gomoku<R>,
        reply: Move,
        nodes: u64,
        control: &Control,
    ) -> Option<Strategy> {
        if position.play(reply).ok()?.outcome().is_some() {
            return None;
        }
        let mut lambda = LambdaSearch::new(game, &mut self.table, control);
        lambda.takes_any = self.takes_any;
        lambda.templates = self
            .refuted
            .take()
            .filter(|(of, _)| of == position)
            .map(|(_, known)| known)
            .unwrap_or_default();
        let strategy = lambda.strategy(reply.index(), nodes);
        self.refuted = Some((position.clone(), lambda.templates));
        strategy
    }

    fn run_strategy<R: Rule>(
        &mut self,
        position: &Position,
        effort: Effort,
        control: &Control,
    ) -> Option<Strategy> {
        let game: Gomoku<R> = position.game();
        if game.outcome().is_some() {
            return None;
        }
        let mut board = Board::<R>::new(&game, &EngineOptions::default()).without_network();
        let mut vct = Vct::new(&mut board, &mut self.table, control);
        let found = if self.takes_any {
            vct.find_any(effort)
        } else {
            vct.find_short(effort)
        };
        match found {
            VctDecision::Win { plies, .. } => vct.strategy(plies),
            VctDecision::NoWin { .. } | VctDecision::Unknown => None,
        }
    }

    fn run<R: Rule>(
        &mut self,
        position: &Position,
        class: ThreatClass,
        effort: Effort,
        control: &Control,
    ) -> ThreatResult {
        let game: Gomoku<R> = position.game();
        if game.outcome().is_some() {
            return ThreatResult {
                outcome: ThreatOutcome::NoWin,
                nodes: 0,
                time: Duration::ZERO,
            };
        }
        let mut board = Board::<R>::new(&game, &EngineOptions::default()).without_network();
        let begun = control.now();
        let (outcome, nodes) = match class {
            ThreatClass::Vcf => fours(&mut board, effort),
            ThreatClass::Vct => {
                let mut vct = Vct::new(&mut board, &mut self.table, control);
                let found = if self.takes_any {
                    vct.find_any(effort)
                } else {
                    vct.find(effort)
                };
                let outcome = match found {
                    VctDecision::Win { plies, line } => ThreatOutcome::Win {
                        plies,
                        kind: kind(plies, ProofKind::Vct),
                        line,
                    },
                    VctDecision::NoWin { .. } => ThreatOutcome::NoWin,
                    VctDecision::Unknown => ThreatOutcome::Unknown,
                };
                (outcome, vct.nodes)
            }
        };
        ThreatResult {
            outcome,
            nodes,
            time: control.now().saturating_sub(begun),
        }
    }
}

pub(super) fn kind(plies: u16, kind: ProofKind) -> ProofKind {
    if plies == 1 {
        ProofKind::Terminal
    } else {
        kind
    }
}

fn fours<R: Rule>(board: &mut Board<R>, effort: Effort) -> (ThreatOutcome, u64) {
    let all = effort
        .nodes
        .and_then(|nodes| u32::try_from(nodes).ok())
        .unwrap_or(u32::MAX);
    let mut budget = all;
    let line = board.vcf(&mut budget, u32::from(effort.depth.unwrap_or(u8::MAX) / 2));
    let outcome = match line {
        Some(line) => {
            let plies = line.len() as u16;
            ThreatOutcome::Win {
                plies,
                kind: kind(plies, ProofKind::Vcf),
                line,
            }
        }
        None if budget == 0 => ThreatOutcome::Unknown,
        None => ThreatOutcome::NoWin,
    };
    (outcome, u64::from(all - budget))
}
