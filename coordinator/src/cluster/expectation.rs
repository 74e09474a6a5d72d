use kagetsu_game::Question;
use kagetsu_proto::v1;
use kagetsu_schedule::Report;
use kagetsu_verification::{AnswerLimits, conform};

/// The data that an answer is compared with, copied while the lock is held.
pub(crate) struct Expectation {
    pub(super) question: Question,
    pub(super) limits: Option<AnswerLimits>,
}

impl Expectation {
    /// Returns a worker's answer as a report: cut to what was asked, or a failure.
    pub(crate) fn read(&self, answer: &v1::Answer) -> Report {
        let position = &self.question.position;
        let answer = match answer.about(position) {
            Ok(answer) => answer,
            Err(error) => return Report::Failed(format!("an impossible answer: {error}")),
        };
        if position.outcome().is_some() && answer.is_empty() {
            return Report::Done(answer);
        }
        match &self.limits {
            None if answer.is_empty() => Report::Failed("an answer without a move".into()),
            None => Report::Done(answer),
            Some(limits) => match conform(&self.question, &answer, limits) {
                Ok(answer) => Report::Done(answer),
                Err(fault) => Report::Failed(fault.to_string()),
            },
        }
    }
}
