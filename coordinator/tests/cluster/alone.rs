//! What a book holds, held against one engine that is asked the same: who searched what, and in which order, must not be
//! seen.

use std::collections::BTreeMap;

use kagetsu_game::{Answer, Move, Position, Question, Verdict};
use kagetsu_proto::v1;
use kagetsu_search::{Control, Engine, EngineOptions};

/// Each of these positions, which a build of two plies has come to, has the facts that an engine finds alone.
pub(crate) fn is_found_alone(book: Vec<v1::Found>) {
    let options = EngineOptions { table_bytes: 1 << 20, ..EngineOptions::default() };
    let mut engine = Engine::new(options).expect("an engine");
    for found in book {
        let position = Position::try_from(&found.position.expect("named")).expect("a position");
        let facts = exact(&found.facts.expect("searched").about(&position).expect("legal moves"));
        let mut alone = Answer::new();
        // A build comes back to a position for its other moves; how often depends on what else it knows by then.
        while exact(&alone).len() < facts.len() {
            let before = exact(&alone).len();
            let effort = kagetsu_game::Effort::depth(2);
            let question =
                Question { moves: others(&position, &alone), width: 3, ..Question::new(position.clone(), effort) };
            alone.merge(engine.answer(&question, &Control::new(), &mut |_| {}).expect("a good question"));
            assert!(exact(&alone).len() > before, "{position}: nobody finds more than {alone:?}");
        }
        assert_eq!(facts, exact(&alone), "{position}");
    }
}

/// What is asked about next: moves of which a bound is known, and then those of which nothing is.
fn others(position: &Position, known: &Answer) -> Vec<Move> {
    if known.is_empty() {
        return Vec::new();
    }
    let bounded: Vec<Move> = known.verdicts().iter().filter(|(_, v)| !v.is_exact()).map(|(m, _)| *m).collect();
    if bounded.is_empty() {
        position.distinct_moves().into_iter().filter(|m| known.get(*m).is_none()).collect()
    } else {
        bounded
    }
}

/// Exact verdicts, but for the day.
fn exact(answer: &Answer) -> BTreeMap<Move, Verdict> {
    let exact = answer.verdicts().iter().filter(|(_, verdict)| verdict.is_exact());
    let undated = |(m, verdict): &(Move, Verdict)| {
        let by = kagetsu_game::Provenance { day: 0, ..verdict.by.clone() };
        (*m, Verdict { by, ..verdict.clone() })
    };
    exact.map(undated).collect()
}
