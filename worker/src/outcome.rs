//! What came of a task, as it fits into a message. One that does not would be refused, and sent again for ever.

use kagetsu_game::{Answer, Position};
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::{MESSAGE_LIMIT, v1};
use prost::Message;

/// Bytes of a message that are not its answer.
const FRAME: usize = 256;
/// Most bytes of a reason.
const MOST_REASON: usize = 4_096;

/// An answer to be sent: its lines are shortened where it is too long for a message.
pub(crate) fn answered(position: &Position, answer: &Answer) -> Outcome {
    fitted(position, answer.into(), MESSAGE_LIMIT - FRAME)
}

/// The best moves of an answer that is not complete, as many as were asked for, to be shown to a person.
pub(crate) fn so_far(answer: &Answer, width: u16) -> v1::Answer {
    const MOST_SHOWN: usize = 16;
    const LINE_SHOWN: usize = 32;
    let mut shown = v1::Answer::from(answer);
    shown
        .verdicts
        .truncate(usize::from(width.max(1)).min(MOST_SHOWN));
    shown
        .verdicts
        .iter_mut()
        .for_each(|verdict| verdict.line.truncate(LINE_SHOWN));
    shown
}

/// A failure to be sent.
pub(crate) fn failed(mut reason: String) -> Outcome {
    let end = (0..=MOST_REASON)
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
                "an answer of {bytes} bytes, more than the {limit} that a message takes"
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
    use kagetsu_game::{Bound, Move, Provenance, Score, Variant, Verdict};
    use kagetsu_proto::MAX_MOVES;

    use super::*;

    /// An answer of so many moves with lines of so many.
    fn answer(moves: usize, line: usize) -> Answer {
        let verdict = |n: usize| {
            let m = Move::new(n as u16);
            let by = Provenance {
                engine: "e".repeat(kagetsu_proto::MAX_NAME_BYTES).into(),
                day: 20_000,
            };
            let line = std::iter::once(m)
                .chain((1..line).map(|n| Move::new(200 + n as u16)))
                .collect();
            let score = Score::opinion(-(n as i32));
            (
                m,
                Verdict {
                    score,
                    bound: Bound::Exact,
                    depth: 9,
                    nodes: u64::MAX,
                    line,
                    proof: None,
                    by,
                },
            )
        };
        (0..moves).map(verdict).collect()
    }

    #[test]
    fn the_longest_answer_that_is_read_is_sent_with_shorter_lines() {
        let position = Position::start(Variant::FREESTYLE_15);
        let whole = v1::Answer::from(&answer(MAX_MOVES, MAX_MOVES));
        let Outcome::Answer(sent) = fitted(&position, whole.clone(), MESSAGE_LIMIT - FRAME) else {
            panic!("it can be sent")
        };
        assert!(whole.encoded_len() > MESSAGE_LIMIT && sent.encoded_len() <= MESSAGE_LIMIT - FRAME);
        assert!(
            sent.encoded_len() > MESSAGE_LIMIT / 4,
            "no more is lost than must be"
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
    fn what_fits_is_sent_as_it_is_and_what_never_does_is_a_failure() {
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
            panic!("three moves take more")
        };
        assert!(
            reason.contains(&format!("{bytes} bytes, more than the 100")),
            "{reason}"
        );
    }

    #[test]
    fn a_reason_has_an_end() {
        let Outcome::Failed(reason) = failed("日".repeat(MOST_REASON)) else {
            panic!("it is one")
        };
        assert!((MOST_REASON - 3..=MOST_REASON).contains(&reason.len()));
    }
}
