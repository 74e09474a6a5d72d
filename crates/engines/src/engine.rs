use std::time::{Duration, Instant};

use kagetsu_game::{Answer, Effort, KnownAnswer, Move, Position, Question, Variant};
use kagetsu_search::{Control, Progress};

use crate::address::{EngineSettings, Protocol};
use crate::fault::{Fault, FaultKind};
use crate::gomocup;
use crate::search_series::SearchSeries;
use crate::search_watch::SearchWatch;
use crate::session::{EngineSession, SearchRequest, plain};
use crate::uci;
use crate::verdicts;

/// The effort for a position with a known answer.
const CHECK_EFFORT: Effort = Effort {
    depth: Some(3),
    nodes: None,
    time: Some(Duration::from_secs(1)),
};
/// Attempts to answer one question; the engine is restarted between them.
const MAX_ATTEMPTS: u32 = 2;
/// Shortest and longest wait before an engine is restarted after a failure.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Another program's engine as a child process. It is restarted when it fails and killed on drop.
pub struct External {
    settings: EngineSettings,
    name: String,
    /// The open session; `None` after a failure, until the next question.
    talk: Option<Box<dyn EngineSession>>,
    /// Failures since the last answer.
    failures: u32,
    /// Whether the engine has ignored a restriction to some root moves.
    ignores_restrictions: bool,
    keeps_table: bool,
    /// Whether the engine forgets earlier searches before the next question.
    is_clear_due: bool,
}

impl External {
    /// Starts the engine and reads its name.
    ///
    /// # Errors
    /// If it does not start, does not speak the protocol, or `control` stops it first.
    pub fn start(settings: EngineSettings, control: &Control) -> Result<Self, Fault> {
        let name = plain(&settings.address.program);
        let mut engine = Self {
            settings,
            name,
            talk: None,
            failures: 0,
            ignores_restrictions: false,
            keeps_table: false,
            is_clear_due: true,
        };
        engine
            .talk(control)
            .map(drop)
            .map_err(|wrong| engine.fault(wrong))?;
        Ok(engine)
    }

    /// Lets the engine use what it found for earlier questions, as
    /// [`kagetsu_search::Engine::with_kept_table`] does.
    #[must_use]
    pub fn with_kept_table(mut self) -> Self {
        self.keeps_table = true;
        self
    }

    /// Lets the engine forget earlier searches before the next question.
    pub fn clear_table(&mut self) {
        self.is_clear_due = true;
    }

    /// Returns an engine with the same settings, which starts with its first question.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            name: self.name.clone(),
            talk: None,
            failures: 0,
            ..*self
        }
    }

    /// Returns the engine's name and version, as verdicts carry them.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the engine positions with known answers, to check that it plays by the variant's
    /// rules.
    ///
    /// # Errors
    /// The first fault of the engine.
    pub fn check(&mut self, variant: Variant, control: &Control) -> Result<(), Fault> {
        self.try_check(variant, control).map_err(|wrong| {
            self.talk = None;
            self.fault(wrong)
        })
    }

    /// Answers a question like [`kagetsu_search::Engine::answer`], with these differences: the
    /// window is not used; a move beyond the best `width` has an upper bound; the engine's claims
    /// of wins and losses become opinions near [`OPINION_MAX`](kagetsu_game::Score::OPINION_MAX),
    /// unless the rules or Kagetsu's threat search prove them. An engine that fails is restarted
    /// and asked once more.
    ///
    /// # Errors
    /// The fault of the last attempt.
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, Fault> {
        for last in (0..MAX_ATTEMPTS).map(|n| n + 1 == MAX_ATTEMPTS) {
            self.pause(control);
            let wrong = match self.try_answer(question, control, progress) {
                Ok(answer) => {
                    self.failures = 0;
                    return Ok(answer);
                }
                Err(wrong) => wrong,
            };
            self.talk = None;
            self.failures = self.failures.saturating_add(1);
            self.ignores_restrictions |= matches!(wrong, FaultKind::Disallowed(..));
            let fault = self.fault(wrong);
            if last || matches!(fault.wrong, FaultKind::Permanent(_)) || control.is_stopped() {
                return Err(fault);
            }
            tracing::warn!(position = %question.position, "{fault}; it is started again");
        }
        // Unreachable: the last attempt returns above.
        Ok(Answer::new())
    }

    fn fault(&self, wrong: FaultKind) -> Fault {
        Fault {
            engine: self.name.clone(),
            wrong,
        }
    }

    /// Waits before a restart, longer after each failure in a row.
    fn pause(&self, control: &Control) {
        let (first, longest) = BACKOFF;
        let doubled = first
            .saturating_mul(1 << self.failures.saturating_sub(1).min(10))
            .min(longest);
        let until = Instant::now()
            + if self.failures == 0 {
                Duration::ZERO
            } else {
                doubled
            };
        while Instant::now() < until && !control.is_stopped() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn talk(&mut self, control: &Control) -> Result<&mut dyn EngineSession, FaultKind> {
        let talk: Box<dyn EngineSession> = match self.talk.take() {
            Some(talk) => talk,
            None => match self.settings.address.protocol {
                Protocol::Uci | Protocol::Ucci => {
                    Box::new(uci::Session::start(&self.settings, control)?)
                }
                Protocol::Gomocup => Box::new(gomocup::Session::start(&self.settings, control)?),
            },
        };
        self.name = talk.name().to_string();
        Ok(&mut **self.talk.insert(talk))
    }

    fn supported(&self, variant: Variant) -> Result<(), FaultKind> {
        let is_supported = self.settings.address.protocol.supports(variant);
        let reason = match self.settings.address.protocol {
            Protocol::Uci | Protocol::Ucci => "UCI and UCCI engines are asked about xiangqi alone",
            Protocol::Gomocup => "Gomocup engines play gomoku alone",
        };
        if is_supported {
            Ok(())
        } else {
            Err(FaultKind::unsupported(variant, reason))
        }
    }

    fn try_check(&mut self, variant: Variant, control: &Control) -> Result<(), FaultKind> {
        self.supported(variant)?;
        let mut watch = SearchWatch::new(control, self.settings.stall_timeout);
        let talk = self.talk(control)?;
        let start = KnownAnswer::any_legal_move(Position::start(variant));
        for KnownAnswer { position, moves } in [start].into_iter().chain(variant.known_answers()) {
            let ask = SearchRequest {
                position: &position,
                moves: &[],
                lines: 1,
                effort: CHECK_EFFORT,
            };
            let found = talk.search(ask, &mut watch, &mut |_| {})?;
            let best = found.lines.first().map(|line| line.m);
            if control.is_stopped() {
                return Err(FaultKind::stopped());
            }
            let best = best.ok_or_else(|| FaultKind::no_move(&position))?;
            if !moves.is_empty() && !moves.contains(&best) {
                let names: Vec<String> = moves.iter().map(|&m| position.write_move(m)).collect();
                let (played, known) = (position.write_move(best), names.join(" or "));
                return Err(FaultKind::Other(format!(
                    "played '{played}' in {position}, where only {known} will do: does it play \
                     {variant}?"
                )));
            }
        }
        if talk.restricts() {
            self.ignores_restrictions = !self.obeys(variant, &mut watch)?;
        }
        Ok(())
    }

    /// Whether the engine respects a restriction to some root moves.
    fn obeys(&mut self, variant: Variant, watch: &mut SearchWatch<'_>) -> Result<bool, FaultKind> {
        let position = Position::start(variant);
        let least = position.legal_moves().first().copied();
        let moves: Vec<Move> = least.into_iter().collect();
        let ask = SearchRequest {
            position: &position,
            moves: &moves,
            lines: 1,
            effort: CHECK_EFFORT,
        };
        let control = watch.control;
        match self.talk(control)?.search(ask, watch, &mut |_| {}) {
            Ok(_) => Ok(true),
            Err(FaultKind::Disallowed(..)) => Ok(false),
            Err(wrong) => Err(wrong),
        }
    }

    fn try_answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, FaultKind> {
        let position = &question.position;
        self.supported(position.variant())?;
        let legal = position.legal_moves();
        for &m in &question.moves {
            position.play(m).map_err(|error| {
                FaultKind::Permanent(format!(
                    "was asked about a move that cannot be made: {error}"
                ))
            })?;
        }
        let is_free = question.moves.is_empty();
        let allowed = if is_free { &legal } else { &question.moves };
        let ended: Answer = allowed
            .iter()
            .filter_map(|&m| verdicts::ending(position, m))
            .collect();
        let is_won = ended
            .best()
            .is_some_and(|(_, verdict)| verdict.score.win_plies().is_some());
        let open: Vec<Move> = allowed
            .iter()
            .copied()
            .filter(|&m| ended.get(m).is_none() && legal.contains(&m))
            .collect();
        if is_won || open.is_empty() {
            return Ok(ended);
        }
        let (stall_timeout, ignores_restrictions) =
            (self.settings.stall_timeout, self.ignores_restrictions);
        let is_clear_due = std::mem::take(&mut self.is_clear_due) || !self.keeps_table;
        let talk = self.talk(control)?;
        if is_clear_due {
            talk.clear_table()?;
        }
        let restricts = talk.restricts() && !ignores_restrictions;
        let mut inquiry = SearchSeries::new(talk, restricts, stall_timeout, question, control);
        inquiry.ask(if is_free { &[] } else { &open }, progress)?;
        let mut answer = inquiry.answer(&open)?;
        answer.merge(ended);
        Ok(answer)
    }
}
