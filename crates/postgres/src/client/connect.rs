use std::time::Duration;

use postgres::Client;

use crate::client::book_url::BookUrl;
use crate::client::error::RequestError;
use crate::client::tls;

/// Time within which a connection must be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which an unanswered packet ends a connection.
const UNANSWERED_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which the server gives up a statement, in milliseconds.
const STATEMENT_TIMEOUT_MS: u64 = 30_000;

/// Connects to the database of a book.
pub(crate) fn connect(url: &BookUrl) -> Result<Client, RequestError> {
    let mut config = url.config.clone();
    config
        .application_name("kagetsu")
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_user_timeout(UNANSWERED_TIMEOUT)
        .keepalives_idle(UNANSWERED_TIMEOUT);
    let fail = |error: postgres::Error| RequestError::of(url, &error);
    let mut client = config.connect(tls::connector(url)?).map_err(fail)?;
    client
        .batch_execute(&format!("set statement_timeout = {STATEMENT_TIMEOUT_MS}"))
        .map_err(fail)?;
    Ok(client)
}
