use std::collections::BTreeMap;

use kagetsu_game::{Answer, Effort, Move, Position, Provenance, Question, Verdict};
use kagetsu_search::{Control, Engine, EngineOptions};

/// Moves with an exact value that a build asks for in each position.
const WIDTH: u16 = 3;
/// Bytes of the engine's table.
const TABLE: usize = 16 << 20;

/// One engine, asked as a build asks: what a cluster or a process found is held against it. In which order positions came,
/// and who searched them, must not be seen.
#[derive(Debug)]
pub struct Alone {
    engine: Engine,
    effort: Effort,
}

impl Alone {
    /// An engine that searches so many plies.
    ///
    /// # Panics
    /// Without memory for a small table.
    #[must_use]
    pub fn new(depth: u8) -> Self {
        let options = EngineOptions {
            table_bytes: TABLE,
            ..EngineOptions::default()
        };
        Self {
            engine: Engine::new(options).expect("memory for a small table"),
            effort: Effort::depth(depth),
        }
    }

    /// Asks until as many moves have exact values as were found: a build comes back to a position for its other moves; how
    /// often depends on what else it knows by then.
    ///
    /// # Panics
    /// If the engine finds anything else.
    pub fn finds(&mut self, position: &Position, found: &Answer) {
        let found = exact(found);
        let mut alone = Answer::new();
        while exact(&alone).len() < found.len() {
            let before = exact(&alone).len();
            let moves = others(position, &alone);
            let question = Question {
                moves,
                width: WIDTH,
                ..Question::new(position.clone(), self.effort)
            };
            alone.merge(
                self.engine
                    .answer(&question, &Control::new(), &mut |_| {})
                    .expect("a legal question"),
            );
            assert!(
                exact(&alone).len() > before,
                "{position}: nobody finds more than {alone:?}"
            );
        }
        assert_eq!(found, exact(&alone), "{position}");
    }
}

/// What a build asks about next: moves of which a bound is known, and then those of which nothing is.
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

/// Exact verdicts, but for the day.
fn exact(answer: &Answer) -> BTreeMap<Move, Verdict> {
    let exact = answer
        .verdicts()
        .iter()
        .filter(|(_, verdict)| verdict.is_exact());
    let undated = |(m, verdict): &(Move, Verdict)| {
        let by = Provenance {
            day: 0,
            ..verdict.by.clone()
        };
        (
            *m,
            Verdict {
                by,
                ..verdict.clone()
            },
        )
    };
    exact.map(undated).collect()
}
