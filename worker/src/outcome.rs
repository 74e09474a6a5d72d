//! Outcomes of tasks that fit into a message. A longer one would be refused, and sent again without
//! end.

use kagetsu_game::{Answer, Position};
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::{MESSAGE_LIMIT, v1};
use kagetsu_search::threats::{ClaimStrategy, StrategyStep};
use prost::Message;

/// Bytes of a message beside its answer.
const ENVELOPE_BYTES: usize = 256;
/// Moves of an unfinished answer, and moves of each of their lines.
const MAX_SHOWN_MOVES: usize = 16;
const MAX_SHOWN_LINE: usize = 32;
/// Bytes of a reason.
const MAX_REASON_BYTES: usize = 4_096;

/// Bytes of the tag and the length of a strategy in a report.
const STRATEGY_ENVELOPE_BYTES: usize = 8;

/// The end of a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskResult {
    pub(crate) outcome: Outcome,
    /// The strategies behind the claims of an answer.
    pub(crate) strategies: Vec<v1::Strategy>,
}

impl TaskResult {
    /// Returns the report on a task.
    pub(crate) fn report(self, task: u64, attempt: u32) -> v1::Report {
        v1::Report {
            task,
            attempt,
            outcome: Some(self.outcome),
            strategies: self.strategies,
        }
    }
}

impl From<Outcome> for TaskResult {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            strategies: Vec::new(),
        }
    }
}

/// Returns an answer, with shorter lines if it is too long for a message, and as many strategies as
/// there is room for.
pub(crate) fn answered(
    position: &Position,
    answer: &Answer,
    strategies: &[ClaimStrategy],
) -> TaskResult {
    let limit = MESSAGE_LIMIT - ENVELOPE_BYTES;
    let outcome = fitted(position, answer.into(), limit);
    let Outcome::Answer(answer) = &outcome else {
        return outcome.into();
    };
    let mut room = limit.saturating_sub(answer.encoded_len());
    let strategies = strategies.iter().map(strategy).take_while(|strategy| {
        let bytes = strategy.encoded_len() + STRATEGY_ENVELOPE_BYTES;
        let fits = bytes <= room;
        room = room.saturating_sub(bytes);
        fits
    });
    TaskResult {
        strategies: strategies.collect(),
        outcome,
    }
}

fn strategy(found: &ClaimStrategy) -> v1::Strategy {
    let step = |step: &StrategyStep| v1::StrategyStep {
        r#move: step.at.code().into(),
        replies: step.replies.iter().map(|(m, _)| m.code().into()).collect(),
        answers: step.replies.iter().map(|(_, next)| *next).collect(),
        otherwise: step.otherwise,
    };
    v1::Strategy {
        reply: found.reply.map(|m| m.code().into()),
        steps: found.strategy.steps.iter().map(step).collect(),
    }
}

/// Returns the best moves of an unfinished answer, at most as many as were asked for, for a user
/// who watches.
pub(crate) fn so_far(answer: &Answer, width: u16) -> v1::Answer {
    let mut shown = v1::Answer::from(answer);
    shown
        .verdicts
        .truncate(usize::from(width.max(1)).min(MAX_SHOWN_MOVES));
    shown
        .verdicts
        .iter_mut()
        .for_each(|verdict| verdict.line.truncate(MAX_SHOWN_LINE));
    shown
}

/// Returns a failure, with a shorter reason if it is too long.
pub(crate) fn failed(mut reason: String) -> Outcome {
    let end = (0..=MAX_REASON_BYTES)
        .rev()
        .find(|&end| reason.is_char_boundary(end))
        .unwrap_or(0);
    reason.truncate(end);
    Outcome::Failed(reason)
}

fn fitted(position: &Position, mut answer: v1::Answer, limit: usize) -> Outcome {
    let bytes = answer.encoded_len();
    let mut longest = answer
        .verdicts
        .iter()
        .map(|verdict| verdict.line.len())
        .max()
        .unwrap_or(0);
    while answer.encoded_len() > limit {
        if longest <= 1 {
            tracing::error!(%position, bytes, limit, "an answer is too long for a message: the task fails");
            return failed(format!(
                "the answer has {bytes} bytes, and a message has room for {limit}"
            ));
        }
        longest /= 2;
        answer
            .verdicts
            .iter_mut()
            .for_each(|verdict| verdict.line.truncate(longest));
        tracing::warn!(%position, bytes, limit, longest, "an answer is too long for a message: its lines are shortened");
    }
    Outcome::Answer(answer)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Move, Variant};
    use kagetsu_proto::MAX_MOVES;
    use kagetsu_search::threats::Strategy;

    use super::*;

    /// Returns an answer of `moves` moves with lines of `line` moves.
    fn answer(moves: usize, line: usize) -> Answer {
        let verdict = |n: usize| {
            let m = Move::new(n as u16);
            let (m, mut verdict) = kagetsu_builders::opinion(m, -(n as i32));
            let more = (1..line).map(|n| Move::new(200 + n as u16));
            verdict.line.extend(more);
            verdict.nodes = u64::MAX;
            verdict.by.engine = "e".repeat(kagetsu_game::MAX_NAME_BYTES).into();
            (m, verdict)
        };
        (0..moves).map(verdict).collect()
    }

    #[test]
    fn longest_answer_is_sent_with_shorter_lines() {
        let position = Position::start(Variant::FREESTYLE_15);
        let whole = v1::Answer::from(&answer(MAX_MOVES, MAX_MOVES));
        let Outcome::Answer(sent) =
            fitted(&position, whole.clone(), MESSAGE_LIMIT - ENVELOPE_BYTES)
        else {
            panic!("it can be sent")
        };
        assert!(
            whole.encoded_len() > MESSAGE_LIMIT
                && sent.encoded_len() <= MESSAGE_LIMIT - ENVELOPE_BYTES
        );
        assert!(
            sent.encoded_len() > MESSAGE_LIMIT / 4,
            "no more is cut than needed"
        );
        assert_eq!(sent.verdicts.len(), whole.verdicts.len());
        for (sent, whole) in sent.verdicts.iter().zip(&whole.verdicts) {
            let line = sent.line.clone();
            assert!(!line.is_empty() && whole.line.starts_with(&line));
            assert_eq!(
                *sent,
                v1::Verdict {
                    line,
                    ..whole.clone()
                }
            );
        }
    }

    #[test]
    fn an_answer_that_never_fits_is_a_failure() {
        let position = Position::start(Variant::FREESTYLE_15);
        let small = v1::Answer::from(&answer(3, 9));
        let bytes = small.encoded_len();
        assert_eq!(
            fitted(&position, small.clone(), bytes),
            Outcome::Answer(small.clone())
        );
        assert!(
            matches!(fitted(&position, small.clone(), bytes - 1), Outcome::Answer(shorter) if shorter != small)
        );
        let Outcome::Failed(reason) = fitted(&position, small, 100) else {
            panic!("three moves need more")
        };
        assert!(
            reason.contains(&format!("{bytes} bytes, and a message has room for 100")),
            "{reason}"
        );
    }

    #[test]
    fn strategies_fill_the_room_that_is_left() {
        let position = Position::start(Variant::FREESTYLE_15);
        let step = StrategyStep {
            at: Move::new(7),
            replies: (0..200).map(|n| (Move::new(n), u32::from(n))).collect(),
            otherwise: None,
        };
        let found = ClaimStrategy {
            reply: Some(Move::new(3)),
            strategy: Strategy {
                steps: vec![step; 2_000],
            },
        };
        let small = answered(&position, &answer(3, 9), std::slice::from_ref(&found));
        assert_eq!(small.strategies.len(), 1);
        let many = vec![found; 40];
        let cut = answered(&position, &answer(3, 9), &many);
        assert!((1..many.len()).contains(&cut.strategies.len()));
        let bytes = cut.report(u64::MAX, u32::MAX).encoded_len();
        assert!(
            (MESSAGE_LIMIT / 2..=MESSAGE_LIMIT).contains(&bytes),
            "{bytes}"
        );
    }

    #[test]
    fn long_reasons_are_cut() {
        let Outcome::Failed(reason) = failed("日".repeat(MAX_REASON_BYTES)) else {
            panic!("it is one")
        };
        assert!((MAX_REASON_BYTES - 3..=MAX_REASON_BYTES).contains(&reason.len()));
    }
}
