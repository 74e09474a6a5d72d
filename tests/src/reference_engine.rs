use std::collections::BTreeMap;

use kagetsu_game::{Answer, Effort, Move, Position, Question, Verdict};
use kagetsu_search::{Control, Engine, EngineOptions};

/// Moves with an exact value that a build asks for in each position.
const EXACT_MOVES: u16 = 3;
/// Size of the engine's table in bytes.
const TABLE_BYTES: usize = 16 << 20;

/// One engine that is asked as a build asks; the reference for answers of a cluster or a process.
/// The order of positions and the worker that searched them must make no difference.
#[derive(Debug)]
pub struct ReferenceEngine {
    engine: Engine,
    effort: Effort,
}

impl ReferenceEngine {
    /// Returns an engine that searches to this depth.
    ///
    /// # Panics
    /// Without memory for a small table.
    #[must_use]
    pub fn new(depth: u8) -> Self {
        let options = EngineOptions {
            table_bytes: TABLE_BYTES,
            ..EngineOptions::default()
        };
        Self {
            engine: Engine::new(options).expect("memory for a small table"),
            effort: Effort::depth(depth),
        }
    }

    /// Searches until as many moves have exact values as in `found`, and compares. A build returns
    /// to a position for its other moves; how often depends on its other results.
    ///
    /// # Panics
    /// If the engine finds another answer.
    pub fn finds(&mut self, position: &Position, found: &Answer) {
        let found = exact(found);
        let mut alone = Answer::new();
        while exact(&alone).len() < found.len() {
            let before = exact(&alone).len();
            let moves = others(position, &alone);
            let question = Question {
                moves,
                width: EXACT_MOVES,
                ..Question::new(position.clone(), self.effort)
            };
            alone.merge(
                self.engine
                    .answer(&question, &Control::new(), &mut |_| {})
                    .expect("a legal question"),
            );
            assert!(
                exact(&alone).len() > before,
                "{position}: a search of all workers finds no more than {alone:?}"
            );
        }
        assert_eq!(found, exact(&alone), "{position}");
    }
}

/// Returns the moves that a build asks about next: those with a bound, then those without a value.
fn others(position: &Position, known: &Answer) -> Vec<Move> {
    if known.is_empty() {
        return Vec::new();
    }
    let bounded: Vec<Move> = known
        .verdicts()
        .iter()
        .filter(|(_, v)| !v.is_exact())
        .map(|(m, _)| *m)
        .collect();
    if bounded.is_empty() {
        position
            .distinct_moves()
            .into_iter()
            .filter(|m| known.get(*m).is_none())
            .collect()
    } else {
        bounded
    }
}

/// Returns the exact verdicts without their dates, and without the depths of proofs, which a
/// coordinator cuts to the depth of the question.
fn exact(answer: &Answer) -> BTreeMap<Move, Verdict> {
    let undated = answer.changed(|_, verdict| {
        verdict.by.day = 0;
        if verdict.proof.is_some() {
            verdict.depth = 0;
        }
    });
    let exact = undated.verdicts().iter().filter(|(_, v)| v.is_exact());
    exact.cloned().collect()
}
