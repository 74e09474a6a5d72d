//! The limit of this machine: the same searches by engines outside a cluster.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_game::Question;
use kagetsu_search::{Control, Engine, EngineOptions};

/// Memory of an engine's table.
const TABLE: usize = 128 << 20;

/// How engines search questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// An idle engine takes the next question.
    Divided,
    /// Every engine searches every question.
    Repeated,
}

/// Returns an engine of one thread, like that of a worker of one slot.
pub(crate) fn engine() -> Result<Engine> {
    Ok(Engine::new(EngineOptions {
        table_bytes: TABLE,
        ..EngineOptions::default()
    })?)
}

/// How long so many engines of one thread each take, side by side.
pub(crate) fn search(engines: u16, questions: &[Question], sharing: Sharing) -> Result<Duration> {
    let all = (0..engines).map(|_| engine()).collect::<Result<Vec<_>>>()?;
    let common = AtomicUsize::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let search = |mut engine: Engine| {
            let own = AtomicUsize::new(0);
            let next = if sharing == Sharing::Divided {
                &common
            } else {
                &own
            };
            while let Some(question) = questions.get(next.fetch_add(1, Relaxed)) {
                engine.answer(question, &Control::new(), &mut |_| {})?;
            }
            anyhow::Ok(())
        };
        let threads: Vec<_> = all
            .into_iter()
            .map(|engine| scope.spawn(move || search(engine)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().ok().context("an engine panicked")?)
    })?;
    Ok(begun.elapsed())
}
