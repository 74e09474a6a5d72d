//! A connection to the database on a thread of its own, so that callers may be async.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use postgres::Client;
use postgres::error::SqlState;

use crate::client::book_url::BookUrl;
use crate::client::connect::connect;
use crate::client::error::{RequestError, Retry};

type Request = Box<dyn FnOnce(&mut DatabaseConnection) + Send>;

/// Time between two attempts of a request.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// A connection that is made again when it was lost.
struct DatabaseConnection {
    url: BookUrl,
    client: Option<Client>,
}

impl DatabaseConnection {
    fn run<T>(
        &mut self,
        work: &mut dyn FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, RequestError> {
        let client = match &mut self.client {
            Some(client) if !client.is_closed() => client,
            client => client.insert(connect(&self.url)?),
        };
        let done = work(client);
        // After a lost connection the outcome is unknown, and the next request connects. It
        // connects elsewhere, too, where this server has become a standby.
        let is_lost = |error: &postgres::Error| {
            client.is_closed()
                || error.as_db_error().is_none()
                || error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
        };
        if done.as_ref().is_err_and(is_lost) {
            self.client = None;
        }
        done.map_err(|error| RequestError::of(&self.url, &error))
    }
}

/// The thread with the connection. Dropping it ends the thread.
pub(crate) struct DatabaseSession {
    requests: Sender<Request>,
}

impl DatabaseSession {
    /// Starts the thread. It connects with the first request.
    pub(crate) fn start(url: &BookUrl) -> Result<Self, RequestError> {
        let (requests, received) = channel::<Request>();
        let mut connection = DatabaseConnection {
            url: url.clone(),
            client: None,
        };
        std::thread::Builder::new()
            .name("postgres".into())
            .spawn(move || {
                while let Ok(request) = received.recv() {
                    request(&mut connection);
                }
            })
            .map_err(|error| RequestError::fatal(format!("cannot start a thread: {error}")))?;
        Ok(Self { requests })
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Client) -> Result<T, postgres::Error> + Send + 'static,
    ) -> Result<T, RequestError> {
        let (answer, answered) = channel();
        let request: Request = Box::new(move |connection| {
            // The caller waits below.
            let _ = answer.send(connection.run(&mut work));
        });
        let gone = || RequestError::fatal("the thread of the database has ended");
        self.requests.send(request).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }

    /// Repeats a request while it fails and `may_repeat` says so, by the kind of failure and the
    /// time since the first attempt.
    pub(crate) fn persist<T: Send + 'static>(
        &self,
        may_repeat: impl Fn(Retry, Duration) -> bool,
        work: impl Fn(&mut Client) -> Result<T, postgres::Error> + Clone + Send + 'static,
    ) -> Result<T, RequestError> {
        let begun = Instant::now();
        loop {
            let work = work.clone();
            match self.request(move |client| work(client)) {
                Err(error) if may_repeat(error.retry, begun.elapsed()) => {
                    std::thread::sleep(RETRY_PAUSE);
                }
                other => return other,
            }
        }
    }
}
