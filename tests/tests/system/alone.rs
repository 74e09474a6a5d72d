//! What a cluster has found, held against one engine that is asked the same: in which order positions came, and who
//! searched them, must not be seen.

use std::collections::BTreeMap;
use std::path::Path;

use kagetsu_book::{Book, BookOptions};
use kagetsu_game::{Answer, Effort, Key, Position, Question};
use kagetsu_search::{Control, Engine, EngineOptions};

/// Moves with an exact value in each position of a build, as `kagetsu build` has it.
const WIDTH: u16 = 3;

/// Positions, each with its moves and their exact verdicts in words, as they were searched.
pub(crate) type Facts = BTreeMap<Key, BTreeMap<String, String>>;

/// All facts of a book that is proven whole first, each of them what an engine finds alone that searches so many plies.
pub(crate) fn facts(book: &Path, depth: u32) -> Facts {
    let (book, _) = Book::open(book, &BookOptions::default()).expect("a sound book");
    let report = book.check(&mut |_| {}).expect("readable");
    assert!(report.is_clean(), "{report:?}");
    let options = EngineOptions { table_bytes: 16 << 20, ..EngineOptions::default() };
    let mut engine = Engine::new(options).expect("memory for a small table");
    let effort = Effort::depth(u8::try_from(depth).expect("a few plies"));
    let fact = |entry: kagetsu_book::Entry| {
        let (position, found) = (entry.position, entry.facts);
        let alone = asked_alone(&mut engine, &position, effort, exact(&position, &found).len());
        assert_eq!(exact(&position, &found), exact(&position, &alone), "{position}");
        (position.key(), exact(&position, &found))
    };
    book.positions().map(|entry| entry.expect("readable")).map(fact).collect()
}

/// What one engine says of a position until so many moves have exact values. A build comes back to a position for its other
/// moves; how often depends on what else it knows by then.
fn asked_alone(engine: &mut Engine, position: &Position, effort: Effort, values: usize) -> Answer {
    let mut known = Answer::new();
    loop {
        let before = exact(position, &known).len();
        let question =
            Question { moves: others(position, &known), width: WIDTH, ..Question::new(position.clone(), effort) };
        known.merge(engine.answer(&question, &Control::new(), &mut |_| {}).expect("a legal question"));
        let now = exact(position, &known).len();
        if now >= values || now == before {
            return known;
        }
    }
}

/// The moves that a build asks about next: those of which a bound is known, and then those of which nothing is.
fn others(position: &Position, known: &Answer) -> Vec<kagetsu_game::Move> {
    if known.is_empty() {
        return Vec::new();
    }
    let bounded: Vec<_> = known.verdicts().iter().filter(|(_, v)| !v.is_exact()).map(|(m, _)| *m).collect();
    if bounded.is_empty() {
        position.distinct_moves().into_iter().filter(|m| known.get(*m).is_none()).collect()
    } else {
        bounded
    }
}

fn exact(position: &Position, answer: &Answer) -> BTreeMap<String, String> {
    let exact = answer.verdicts().iter().filter(|(_, v)| v.is_exact());
    let words = exact.map(|(m, v)| {
        let line: Vec<_> = v.line.iter().map(|m| m.code()).collect();
        let words = format!("{} depth {} nodes {} {line:?} {:?}", v.score, v.depth, v.nodes, v.proof);
        (position.write_move(*m), words)
    });
    words.collect()
}
