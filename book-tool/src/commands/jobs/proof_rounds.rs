//! Builds that look for a proof in freestyle or standard gomoku: rounds of searches, and between
//! them a search for replies that lose to the answer to another reply.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use kagetsu_book::Policy;
use kagetsu_game::Side;
use kagetsu_reader::fill;
use kagetsu_terminal::runtime::runtime;

use super::arguments::{Args, BuildRequest};
use super::execution::{Ended, here, write_notice};
use crate::commands::verify::siblings::SiblingProver;

/// Least time of a round of a build that looks for a proof.
const FIRST_ROUND: Duration = Duration::from_secs(60);

/// Time of a round in times of the search for replies that lose to known answers before it.
const ROUNDS_PER_SPREAD: u32 = 3;

/// Builds with a cluster inside this process. A build that looks for a proof in freestyle or
/// standard gomoku stops now and then, so that what beats one reply of the loser is tried on the
/// others.
///
/// # Errors
/// If the build cannot go on.
pub(super) fn run(args: &Args, request: &BuildRequest) -> Result<Ended> {
    let path = args.book.as_ref();
    let proving = path.filter(|_| request.build.policy == Policy::PROVE);
    let siblings = proving.map(|_| SiblingProver::new(args.variant));
    let siblings = siblings.transpose()?.flatten();
    let (Some(path), Some(mut siblings)) = (proving, siblings) else {
        return runtime()?.block_on(here(args, request, args.time));
    };
    let begun = Instant::now();
    let left = || args.time.map(|time| time.saturating_sub(begun.elapsed()));
    let loser = request.build.side.other();
    let mut round = FIRST_ROUND;
    loop {
        if path.join("journal").exists() {
            let begun = Instant::now();
            let time = left().map_or(round, |left| left.min(round));
            let spread = Spread { path, loser, time };
            let (found, is_stopped) = spread.run(&mut siblings)?;
            let took = begun.elapsed();
            if found > 0 {
                let seconds = took.as_secs_f64();
                write_notice(format!(
                    "kagetsu: {found} replies lose to known answers ({seconds:.1} s)"
                ));
            }
            if is_stopped {
                // The job is paused at once, and says how far it is.
                return runtime()?.block_on(here(args, request, Some(Duration::ZERO)));
            }
            round = FIRST_ROUND.max(took * ROUNDS_PER_SPREAD);
        }
        let time = left().map_or(round, |left| left.min(round));
        let round_begun = Instant::now();
        let ended = runtime()?.block_on(here(args, request, Some(time)))?;
        let is_interrupted = round_begun.elapsed() < time;
        if !ended.is_stopped || is_interrupted || left().is_some_and(|left| left.is_zero()) {
            return Ok(ended);
        }
        let Ended { job, .. } = ended;
        write_notice(format!("{}: {} positions", job.name, job.positions));
    }
}

/// A search of a book for replies that lose to known answers.
struct Spread<'a> {
    path: &'a Path,
    loser: Side,
    time: Duration,
}

impl Spread<'_> {
    /// Returns the number of replies found, and whether Ctrl-C ended the search.
    fn run(&self, siblings: &mut SiblingProver) -> Result<(usize, bool)> {
        let (until, is_stopped) = (Instant::now() + self.time, AtomicBool::new(false));
        let is_over = || is_stopped.load(Ordering::Relaxed) || Instant::now() >= until;
        let mut spread = || {
            fill(self.path, |book| {
                siblings.spread(book, self.loser, &is_over)
            })
        };
        let (done, ended) = tokio::sync::oneshot::channel::<()>();
        let runtime = runtime()?;
        let found = thread::scope(|scope| {
            let spreading = scope.spawn(move || {
                let _done = done;
                spread()
            });
            runtime.block_on(async {
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => is_stopped.store(true, Ordering::Relaxed),
                    // It is dropped at the end of the search.
                    _ = ended => {}
                }
            });
            spreading.join()
        });
        match found {
            Ok(found) => Ok((found?, is_stopped.into_inner())),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
