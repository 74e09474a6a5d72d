//! Searches of one question by several engines: equal answers, and fast reaction to notes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use kagetsu_game::{Answer, Bound, Effort, Position, Question, Score, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, Note, seeds};

fn engine() -> Engine {
    engine_with(16 << 20)
}

fn engine_with(table_bytes: usize) -> Engine {
    let options = EngineOptions {
        selective: false,
        candidates: seeds::CANDIDATES,
        table_bytes,
        ..EngineOptions::default()
    };
    Engine::new(options).expect("memory for a small table")
}

/// Returns the best move's value, its bound and its depth.
fn best_value(answer: &Answer) -> Option<(Score, Bound, u8)> {
    answer
        .best()
        .map(|(_, verdict)| (verdict.score, verdict.bound, verdict.depth))
}

/// Returns the result of one of two members that has received `notes`, and its control.
fn member(
    question: &Question,
    number: u32,
    notes: &[Note],
) -> (Option<(Score, Bound, u8)>, Control) {
    let control = Control::new();
    control.share(number, 2);
    control.receive(notes);
    let answer = engine()
        .share(question, (number, 2), &control, &mut |_| {})
        .expect("it is gomoku");
    (best_value(&answer), control)
}

/// A member that receives the notes of another gives the same answer, and sooner.
#[test]
fn members_answer_like_one_engine() {
    let (mut visited, mut sooner) = (0, 0);
    for position in seeds::positions()
        .expect("the line is legal")
        .into_iter()
        .take(8)
    {
        let question = Question::new(position.clone(), Effort::depth(6));
        let alone = engine()
            .answer(&question, &Control::new(), &mut |_| {})
            .expect("it is gomoku");
        let (first, control) = member(&question, 0, &[]);
        visited += control.nodes();
        let (second, control) = member(&question, 1, &control.take_outgoing());
        sooner += control.nodes();
        let alone = best_value(&alone);
        assert_eq!((&first, &second), (&alone, &alone), "{position}");
    }
    assert!(sooner < visited, "{sooner} positions after {visited}");
}

/// A search that another member began and never ended is deferred, and run in the end.
#[test]
fn unfinished_search_of_another_blocks_nothing() {
    let mut begun = 0;
    for position in seeds::positions()
        .expect("the line is legal")
        .into_iter()
        .take(4)
    {
        let question = Question::new(position.clone(), Effort::depth(6));
        let (first, control) = member(&question, 0, &[]);
        // Notes about the start or end of a search carry a zero word.
        let beginnings: Vec<Note> = control
            .take_outgoing()
            .into_iter()
            .filter(|note| note.to_bytes()[8..] == [0; 8])
            .collect();
        begun += beginnings.len();
        let (second, _) = member(&question, 1, &beginnings);
        assert_eq!(second, first, "{position}");
    }
    assert!(begun > 0, "nothing was ever put off");
}

/// A member that receives notes returns legal lines of the usual length, and does not repeat the
/// searches.
#[test]
fn received_lines_are_legal() {
    let mut visited = [0, 0];
    for position in seeds::positions().expect("the line is legal") {
        let question = Question::new(position.clone(), Effort::depth(9));
        let mut notes = Vec::new();
        for number in [0, 1] {
            let options = EngineOptions {
                table_bytes: 16 << 20,
                ..EngineOptions::default()
            };
            let control = Control::new();
            control.share(number, 2);
            control.receive(&notes);
            let mut engine = Engine::new(options).expect("memory for a small table");
            let answer = engine
                .share(&question, (number, 2), &control, &mut |_| {})
                .expect("it is gomoku");
            let (best, verdict) = answer.best().expect("the game is not over");
            assert_eq!(verdict.line.first(), Some(&best), "{position}");
            let end = verdict
                .line
                .iter()
                .try_fold(position.clone(), |position, m| position.play(*m));
            assert!(
                end.is_ok(),
                "{position}: member {number}: {:?}",
                verdict.line
            );
            let is_long = verdict.proof.is_some() || verdict.line.len() >= 4;
            assert!(is_long, "{position}: member {number}: {:?}", verdict.line);
            visited[number as usize] += control.nodes();
            notes = control.take_outgoing();
        }
    }
    assert!(4 * visited[1] < visited[0], "{visited:?}");
}

/// Runs a search and calls `news` at 20,000 positions. Returns the answer, and the visited
/// positions by the pace and by the control.
fn interrupted(
    mut engine: Engine,
    news: impl Fn(&Control) + Send + Sync + 'static,
) -> (Answer, u64, u64) {
    let position =
        Position::from_line(Variant::FREESTYLE_15, "h8 f6 i7 g5 j6 g9").expect("a legal line");
    let question = Question {
        moves: position.legal_moves()[110..111].to_vec(),
        ..Question::new(position, Effort::depth(9))
    };
    let visited = Arc::new(AtomicU64::new(0));
    let (count, started) = (
        Arc::clone(&visited),
        Arc::new(std::sync::OnceLock::<Control>::new()),
    );
    let handle = Arc::clone(&started);
    let control = Control::clocked(Duration::default, move |nodes| {
        let before = count.fetch_add(nodes, Relaxed);
        if before < 20_000 && before + nodes >= 20_000 {
            news(handle.get().expect("the search has begun"));
        }
    });
    started.set(control.clone()).expect("it is set once");
    let answer = engine
        .answer(&question, &control, &mut |_| {})
        .expect("the move is legal");
    (answer, visited.load(Relaxed), control.nodes())
}

#[test]
fn stopped_search_ends_within_1000_positions() {
    for table_bytes in [16 << 20, 1 << 30] {
        let (_, visited, counted) = interrupted(engine_with(table_bytes), Control::stop);
        assert!((20_000..21_000).contains(&visited), "{visited}");
        assert_eq!(visited, counted);
    }
}
