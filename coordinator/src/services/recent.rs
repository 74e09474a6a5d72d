use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tonic::Status;

/// A value of the book that is expensive to read: it is read again when the book has changed, but
/// not more often than once in an interval.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    interval: Duration,
    known: Mutex<Option<ReadValue<T>>>,
}

#[derive(Debug)]
struct ReadValue<T> {
    value: T,
    epoch: Option<u64>,
    /// The time of the reading.
    at: Instant,
}

impl<T: Clone> Recent<T> {
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            interval,
            known: Mutex::new(None),
        }
    }

    /// Returns the value. `epoch` changes with the book; `read` reads the value anew.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) async fn get(
        &self,
        epoch: Option<u64>,
        read: impl AsyncFnOnce() -> Result<T, Status>,
    ) -> Result<T, Status> {
        let mut known = self.known.lock().await;
        if let Some(known) = &*known
            && (known.epoch == epoch || known.at.elapsed() < self.interval)
        {
            return Ok(known.value.clone());
        }
        let value = read().await?;
        *known = Some(ReadValue {
            value: value.clone(),
            epoch,
            at: Instant::now(),
        });
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn value_is_read_again_when_the_book_changes() {
        let reads = std::cell::Cell::new(0);
        let read = async || {
            reads.set(reads.get() + 1);
            Ok(reads.get())
        };
        let lasting = Recent::new(Duration::from_secs(3_600));
        let fleeting = Recent::new(Duration::ZERO);
        let rows = [
            (&lasting, 1, 1),
            (&lasting, 2, 1),
            (&fleeting, 1, 2),
            (&fleeting, 1, 2),
            (&fleeting, 2, 3),
        ];
        for (recent, epoch, expected) in rows {
            let value = recent.get(Some(epoch), read).await;
            assert_eq!(value.ok(), Some(expected), "epoch {epoch}");
        }
    }
}
