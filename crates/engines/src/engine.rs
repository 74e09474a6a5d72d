use std::time::{Duration, Instant};

use kagetsu_game::{Answer, Effort, KnownAnswer, Move, Position, Question, Variant};
use kagetsu_search::{Control, Progress};

use crate::address::{Protocol, Settings};
use crate::fault::{Fault, Wrong};
use crate::gomocup;
use crate::inquiry::Inquiry;
use crate::talk::{Ask, Talk, plain};
use crate::uci;
use crate::verdicts;
use crate::watch::Watch;

/// The effort for a position with a known answer.
const CHECK_EFFORT: Effort = Effort {
    depth: Some(3),
    nodes: None,
    time: Some(Duration::from_secs(1)),
};
/// How often a question is put to it: an engine that fails is started anew.
const TRIES: u32 = 2;
/// The wait before an engine is started again after the first failure, and the longest.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Somebody else's engine, as a child process that is started again when it fails, and killed when this is dropped.
pub struct External {
    settings: Settings,
    name: String,
    /// The conversation; `None` after a failure, until the next question.
    talk: Option<Box<dyn Talk>>,
    /// Failures since its last answer.
    failures: u32,
    /// Whether it has disregarded which moves it was asked about.
    is_unruly: bool,
}

impl External {
    /// Starts the engine and hears its name.
    ///
    /// # Errors
    /// If it does not start, does not speak the protocol, or is stopped before it has.
    pub fn start(settings: Settings, control: &Control) -> Result<Self, Fault> {
        let name = plain(&settings.address.program);
        let mut engine = Self {
            settings,
            name,
            talk: None,
            failures: 0,
            is_unruly: false,
        };
        engine
            .talk(control)
            .map(drop)
            .map_err(|wrong| engine.fault(wrong))?;
        Ok(engine)
    }

    /// Another of the same, which is started with its first question.
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

    /// Its name and version, as verdicts carry it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts positions with known answers to it: whether it plays by the rules of the variant.
    ///
    /// # Errors
    /// The first thing that it does wrong.
    pub fn check(&mut self, variant: Variant, control: &Control) -> Result<(), Fault> {
        self.try_check(variant, control).map_err(|wrong| {
            self.talk = None;
            self.fault(wrong)
        })
    }

    /// Thinks as [`kagetsu_search::Engine::answer`] does, with these differences: the window is not used; a move beyond the
    /// best `width` has an upper bound; the engine's claims of wins and losses are opinions near
    /// [`OPINION_MAX`](kagetsu_game::Score::OPINION_MAX), unless our rules or our search of threats show them to be true.
    /// An engine that fails is started again, and asked once more.
    ///
    /// # Errors
    /// What it did wrong the last time.
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, Fault> {
        for last in (0..TRIES).map(|n| n + 1 == TRIES) {
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
            self.is_unruly |= matches!(wrong, Wrong::Unasked { .. });
            let fault = self.fault(wrong);
            if last || fault.wrong.is_for_good() || control.is_stopped() {
                return Err(fault);
            }
            tracing::warn!(position = %question.position, "{fault}; it is started again");
        }
        // There is a last try.
        Ok(Answer::new())
    }

    fn fault(&self, wrong: Wrong) -> Fault {
        Fault {
            engine: self.name.clone(),
            wrong,
        }
    }

    /// An engine that fails again and again is not started again and again without a pause.
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

    fn talk(&mut self, control: &Control) -> Result<&mut dyn Talk, Wrong> {
        let talk: Box<dyn Talk> = match self.talk.take() {
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

    fn supported(&self, variant: Variant) -> Result<(), Wrong> {
        let is_supported = self.settings.address.protocol.supports(variant);
        let reason = match self.settings.address.protocol {
            Protocol::Uci | Protocol::Ucci => "UCI and UCCI engines are asked about xiangqi alone",
            Protocol::Gomocup => "Gomocup engines play gomoku alone",
        };
        if is_supported {
            Ok(())
        } else {
            Err(Wrong::Unsupported { variant, reason })
        }
    }

    fn try_check(&mut self, variant: Variant, control: &Control) -> Result<(), Wrong> {
        self.supported(variant)?;
        let mut watch = Watch::new(control, self.settings.patience);
        let talk = self.talk(control)?;
        let start = KnownAnswer::any_legal_move(Position::start(variant));
        for KnownAnswer { position, moves } in [start].into_iter().chain(variant.known_answers()) {
            let ask = Ask {
                position: &position,
                moves: &[],
                lines: 1,
                effort: CHECK_EFFORT,
            };
            let found = talk.search(ask, &mut watch, &mut |_| {})?;
            let best = found.lines.first().map(|line| line.m);
            if control.is_stopped() {
                return Err(Wrong::Stopped);
            }
            let best = best.ok_or_else(|| Wrong::NoMove(position.to_string()))?;
            if !moves.is_empty() && !moves.contains(&best) {
                let names: Vec<String> = moves.iter().map(|&m| position.write_move(m)).collect();
                let (said, known) = (position.write_move(best), names.join(" or "));
                return Err(Wrong::Unknowing {
                    said,
                    position: position.to_string(),
                    known,
                    variant,
                });
            }
        }
        if talk.restricts() {
            self.is_unruly = !self.obeys(variant, &mut watch)?;
        }
        Ok(())
    }

    /// Whether it keeps to the moves that it is asked about.
    fn obeys(&mut self, variant: Variant, watch: &mut Watch<'_>) -> Result<bool, Wrong> {
        let position = Position::start(variant);
        let least = position.legal_moves().first().copied();
        let moves: Vec<Move> = least.into_iter().collect();
        let ask = Ask {
            position: &position,
            moves: &moves,
            lines: 1,
            effort: CHECK_EFFORT,
        };
        let control = watch.control;
        match self.talk(control)?.search(ask, watch, &mut |_| {}) {
            Ok(_) => Ok(true),
            Err(Wrong::Unasked { .. }) => Ok(false),
            Err(wrong) => Err(wrong),
        }
    }

    fn try_answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, Wrong> {
        let position = &question.position;
        self.supported(position.variant())?;
        let legal = position.legal_moves();
        for &m in &question.moves {
            position.play(m).map_err(Wrong::Question)?;
        }
        let is_free = question.moves.is_empty();
        let asked = if is_free { &legal } else { &question.moves };
        let ended: Answer = asked
            .iter()
            .filter_map(|&m| verdicts::ending(position, m))
            .collect();
        let is_won = ended
            .best()
            .is_some_and(|(_, verdict)| verdict.score.win_plies().is_some());
        let open: Vec<Move> = asked
            .iter()
            .copied()
            .filter(|&m| ended.get(m).is_none() && legal.contains(&m))
            .collect();
        if is_won || open.is_empty() {
            return Ok(ended);
        }
        let (patience, is_unruly) = (self.settings.patience, self.is_unruly);
        let talk = self.talk(control)?;
        let restricts = talk.restricts() && !is_unruly;
        let mut inquiry = Inquiry::new(talk, restricts, patience, question, control);
        inquiry.ask(if is_free { &[] } else { &open }, progress)?;
        let mut answer = inquiry.answer(&open)?;
        answer.merge(ended);
        Ok(answer)
    }
}
