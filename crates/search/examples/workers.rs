//! Compares ways to search one position by several engines without common memory, as the workers
//! of a browser: `cargo run --release -p kagetsu-search --example workers -- DEPTH TOP ENGINES`.
//!
//! Prints for each opening how many positions a lone engine visits for each position of the
//! busiest of the engines. Engines advance in step, so the load of the machine does not count.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use kagetsu_game::{Answer, Bound, Effort, Move, Position, Question, Score, Window};
use kagetsu_search::{Control, Engine, EngineOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const OPENINGS: [&str; 16] = [
    "freestyle-15 h8 i9 g7 g9",
    "freestyle-15 h8 i9 h6",
    "freestyle-15 h8 h9 j10 g10",
    "freestyle-15 h8 g9 k6 j9",
    "standard-15 h8 h9 j10",
    "standard-15 h8 g9 i10 j9",
    "standard-15 h8 i10 g6 h11",
    "renju-15 h8 h9 j10",
    "renju-15 h8 i9 h6 h7",
    "renju-15 h8 i9 g10 g9 i7",
    "xiangqi h2e2 h9g7 h0g2",
    "xiangqi c3c4 b9c7",
    "xiangqi h2e2 b9c7 h0g2 a9b9",
    "surakarta c2c3 d5d4",
    "surakarta b2b3 e5e4 c2c3",
    "surakarta d2d3 b5b4",
];
/// Positions that an engine may be ahead of the others.
const STEP: u64 = 4_096;

fn main() -> Result<(), Failure> {
    let arguments: Vec<u64> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let [depth, top, engines] = arguments[..] else {
        return Err("workers DEPTH TOP ENGINES".into());
    };
    let mut logs = [0.0; 2];
    for opening in OPENINGS {
        let (variant, moves) = opening.split_once(' ').unwrap_or((opening, ""));
        let position = Position::start(variant.parse()?).play_line(moves)?;
        let question = Question {
            width: top as u16,
            ..Question::new(position, Effort::depth(depth as u8))
        };
        let (alone, best) = alone(&question)?;
        let (shared, same) = shared(&question, engines as usize)?;
        let dealt = dealt(&question, engines as usize)?;
        let ratios = [shared, dealt].map(|nodes| alone as f64 / nodes as f64);
        println!(
            "{opening}: {alone} alone, shared {:.2}, dealt {:.2}, same best move: {}",
            ratios[0],
            ratios[1],
            same == best
        );
        logs = [0, 1].map(|at| logs[at] + ratios[at].ln());
    }
    let means = logs.map(|log| (log / OPENINGS.len() as f64).exp());
    println!(
        "geometric means: shared {:.2}, dealt {:.2}",
        means[0], means[1]
    );
    Ok(())
}

fn best(answer: &Answer) -> Option<Move> {
    answer.best().map(|(m, _)| m)
}

fn alone(question: &Question) -> Result<(u64, Option<Move>), Failure> {
    let control = Control::new();
    let answer = Engine::new(EngineOptions::default())?.answer(question, &control, &mut |_| {})?;
    Ok((control.nodes().max(answer.nodes()), best(&answer)))
}

/// Every engine searches everything, and they send each other notes.
fn shared(question: &Question, of: usize) -> Result<(u64, Option<Move>), Failure> {
    let controls: Arc<Vec<OnceLock<Control>>> =
        Arc::new((0..of).map(|_| OnceLock::new()).collect());
    let visited: Arc<Vec<AtomicU64>> = Arc::new((0..of).map(|_| AtomicU64::new(0)).collect());
    let is_over = Arc::new(AtomicBool::new(false));
    let first: Mutex<Option<(u64, Option<Move>)>> = Mutex::new(None);
    for number in 0..of {
        let (others, visited, is_over) = (controls.clone(), visited.clone(), is_over.clone());
        let control = Control::paced(move |nodes| {
            let before = visited[number].fetch_add(nodes, Relaxed);
            if (before + nodes) / STEP == before / STEP {
                return;
            }
            let own = others[number].get().expect("it was set");
            let notes = own.take_outgoing();
            for (_, other) in others.iter().enumerate().filter(|(at, _)| *at != number) {
                other.get().expect("it was set").receive(&notes);
            }
            let least = || {
                visited
                    .iter()
                    .map(|one| one.load(Relaxed))
                    .min()
                    .unwrap_or(0)
            };
            while before > least() + STEP && !is_over.load(Relaxed) {
                std::thread::yield_now();
            }
            if is_over.load(Relaxed) {
                own.stop();
            }
        });
        controls[number].set(control).expect("set once");
    }
    std::thread::scope(|scope| {
        for number in 0..of {
            let (controls, visited, is_over, first) = (&controls, &visited, &is_over, &first);
            scope.spawn(move || {
                let control = controls[number].get().expect("it was set");
                let mut engine = Engine::new(EngineOptions::default()).expect("memory");
                let among = (number as u32, of as u32);
                let answer = engine.share(question, among, control, &mut |_| {});
                if !is_over.swap(true, Relaxed) {
                    let nodes = visited[number].load(Relaxed);
                    let found = answer.ok().and_then(|answer| best(&answer));
                    *first.lock().expect("no panic") = Some((nodes, found));
                }
            });
        }
    });
    let first = first.into_inner().expect("no panic");
    Ok(first.unwrap_or((1, None)))
}

/// The root moves of each depth are dealt to the engines, with the value of the last depth as the
/// bound.
fn dealt(question: &Question, of: usize) -> Result<u64, Failure> {
    const MARGIN: i16 = 30;
    let top = usize::from(question.width);
    let deepest = question.effort.depth.unwrap_or(1);
    let first_depth = deepest.saturating_sub(4).max(1);
    let options = EngineOptions {
        seed: false,
        ..EngineOptions::default()
    };
    let control = Control::new();
    let begin = Question {
        effort: Effort::depth(first_depth),
        ..question.clone()
    };
    let mut engines = vec![Engine::new(EngineOptions::default())?.with_kept_table()];
    let answer = engines[0].answer(&begin, &control, &mut |_| {})?;
    let mut time = control.nodes().max(answer.nodes());
    for _ in 0..of {
        engines.push(Engine::new(options)?.with_kept_table());
    }
    engines.remove(0);
    let mut order: Vec<(Move, Score)> = answer
        .verdicts()
        .iter()
        .map(|(m, verdict)| (*m, verdict.score))
        .collect();
    for depth in first_depth + 1..=deepest {
        order.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
        let mut margin = MARGIN;
        loop {
            let kth = order[(top - 1).min(order.len() - 1)].1;
            let alpha = Score::from_raw(kth.raw() - margin).unwrap_or(Score::MIN);
            let alpha = if margin > 1000 { Score::MIN } else { alpha };
            let (mut found, mut slowest) = (Vec::new(), 0);
            for (number, engine) in engines.iter_mut().enumerate() {
                let moves: Vec<Move> = order
                    .iter()
                    .skip(number)
                    .step_by(of)
                    .map(|(m, _)| *m)
                    .collect();
                if moves.is_empty() {
                    continue;
                }
                let control = Control::new();
                let part = Question {
                    moves,
                    window: Window {
                        alpha,
                        beta: Score::MAX,
                    },
                    effort: Effort::depth(depth),
                    width: top.div_ceil(of) as u16,
                    ..question.clone()
                };
                let answer = engine.answer(&part, &control, &mut |_| {})?;
                slowest = slowest.max(control.nodes().max(answer.nodes()));
                found.extend(
                    answer
                        .verdicts()
                        .iter()
                        .map(|(m, verdict)| (*m, verdict.score, verdict.bound)),
                );
            }
            time += slowest;
            found.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
            let is_found = found
                .iter()
                .take(top)
                .all(|(_, _, bound)| *bound != Bound::Upper);
            order = found.into_iter().map(|(m, score, _)| (m, score)).collect();
            if is_found || alpha == Score::MIN {
                break;
            }
            margin *= 8;
        }
        if order[0].1.win_plies().is_some() {
            break;
        }
    }
    Ok(time)
}
