use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Clients that agree on secrets at the same time, where there are many connections; else half as many as those.
const MOST: usize = 512;
/// How long one that has begun to agree keeps its place when others want it: many who come at once, as after a restart, are
/// not slow.
const TURN: Duration = Duration::from_secs(1);

/// Clients with whom secrets are being agreed on. One that says nothing takes nobody's place: when there are too many, the
/// longest silent goes first.
#[derive(Debug)]
pub(super) struct Agreements {
    most: usize,
    /// The oldest first.
    all: VecDeque<Agreement>,
}

#[derive(Debug)]
struct Agreement {
    since: Instant,
    has_spoken: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Agreements {
    /// Beside so many connections.
    pub(super) fn beside(connections: usize) -> Self {
        Self {
            most: MOST.min(connections.div_ceil(2)),
            all: VecDeque::new(),
        }
    }

    /// Makes room for one more; whether another had to go for it. Takes at most [`TURN`], and that only where all that there
    /// are have begun to agree.
    pub(super) async fn make_room(&mut self) -> bool {
        self.all.retain(|agreement| !agreement.task.is_finished());
        if self.all.len() < self.most {
            return false;
        }
        let silent = self
            .all
            .iter()
            .position(|agreement| !agreement.has_spoken.load(Relaxed));
        let Some(mut slowest) = self.all.remove(silent.unwrap_or_default()) else {
            return false;
        };
        if silent.is_none()
            && tokio::time::timeout_at(slowest.since + TURN, &mut slowest.task)
                .await
                .is_ok()
        {
            return false;
        }
        slowest.task.abort();
        true
    }

    /// Begins to agree with one more, who is to set what `agree` is given when the client has said something.
    pub(super) fn begin<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        agree: impl FnOnce(Arc<AtomicBool>) -> F,
    ) {
        let has_spoken = Arc::<AtomicBool>::default();
        let task = tokio::spawn(agree(Arc::clone(&has_spoken)));
        self.all.push_back(Agreement {
            since: Instant::now(),
            has_spoken,
            task,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn the_longest_silent_goes_first() {
        let mut all = Agreements::beside(2 * MOST);
        for number in 0..MOST {
            assert!(!all.make_room().await, "{number}");
            all.begin(|has_spoken| {
                has_spoken.store(number < 3, Relaxed);
                pending()
            });
        }
        assert!(all.make_room().await);
        assert_eq!(all.all.len(), MOST - 1);
        let spoke = all
            .all
            .iter()
            .take(4)
            .map(|one| one.has_spoken.load(Relaxed))
            .collect::<Vec<_>>();
        assert_eq!(spoke, [true, true, true, false]);
    }

    #[tokio::test]
    async fn who_has_begun_has_its_turn() {
        for ends in [true, false] {
            let mut all = Agreements::beside(2 * MOST);
            for _ in 0..MOST {
                all.begin(|has_spoken| {
                    has_spoken.store(true, Relaxed);
                    async move {
                        if !ends {
                            pending().await
                        }
                    }
                });
            }
            assert_eq!(
                all.make_room().await,
                !ends,
                "who is about to end is waited for"
            );
        }
    }
}
