//! Messages for the errors of a database.

use kagetsu_book::JournalError;
use kagetsu_game::quote;
use postgres::error::SqlState;

use crate::client::book_url::BookUrl;

/// Whether a request that failed may succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It fails in the same way.
    Never,
    /// The connection was lost, the server starts or stops, or another transaction was in the way.
    Soon,
    /// It succeeds when an operator has mended the server, as where the disk is full.
    AfterRepair,
}

/// The reason why a request to the database failed.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) message: String,
    pub(crate) retry: Retry,
}

impl RequestError {
    pub(crate) fn fatal(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            retry: Retry::Never,
        }
    }

    pub(crate) fn of(url: &BookUrl, error: &postgres::Error) -> Self {
        let Some(database) = error.as_db_error() else {
            return Self::connection(url, error);
        };
        let code = database.code();
        let user = url.config.get_user().unwrap_or("this user");
        let named = url.config.get_dbname().unwrap_or(user);
        let text = quote(database.message());
        let advice = if *code == SqlState::INVALID_PASSWORD {
            format!(
                "; give the password of {user} as PGPASSWORD or in the file that PGPASSFILE names"
            )
        } else if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
            "; pg_hba.conf of the server says which users may connect and how".into()
        } else if *code == SqlState::INVALID_CATALOG_NAME {
            format!("; make it with: createdb {named}")
        } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            format!("; {READ_ONLY_ADVICE}")
        } else if *code == SqlState::DISK_FULL {
            "; make room on the server and do the same again: nothing acknowledged is lost".into()
        } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
            format!("; grant {user} the rights to create and change tables in {named}")
        } else {
            String::new()
        };
        Self {
            message: format!("the database {url} refused a request: {text}{advice}"),
            retry: retry(code),
        }
    }

    fn connection(url: &BookUrl, error: &postgres::Error) -> Self {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text = format!("{text}: {cause_text}");
            }
            source = cause.source();
        }
        let is_password = text.contains("password missing");
        let is_certificate = text.contains("certificate") || text.contains("tls");
        let advice = if is_password {
            "; give it as PGPASSWORD or in the file that PGPASSFILE names"
        } else if is_certificate {
            "; sslrootcert=FILE in the address names the authority of the server's certificate, \
             sslmode=disable turns TLS off"
        } else {
            "; is the server running, and the address right?"
        };
        Self {
            message: format!("cannot reach the database {url}: {}{advice}", quote(&text)),
            retry: if is_password || is_certificate {
                Retry::Never
            } else {
                Retry::Soon
            },
        }
    }
}

/// The advice for a standby, which takes no writes.
pub(crate) const STANDBY_ADVICE: &str = "it is a read-only standby: give the address of the \
    primary, or all hosts with target_session_attrs=read-write";
/// The advice for a server that refuses a write, and is a standby or not.
pub(crate) const READ_ONLY_ADVICE: &str = "its transactions are read-only: give the address of the \
    primary, or change default_transaction_read_only of the role or the database";

/// Returns whether a request that failed with this code may succeed later.
fn retry(code: &SqlState) -> Retry {
    if *code == SqlState::DISK_FULL {
        return Retry::AfterRepair;
    }
    let is_soon = ["08", "40", "57P"]
        .iter()
        .any(|class| code.code().starts_with(class))
        || [
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            // A connection that was lost may keep a row locked for a while.
            SqlState::QUERY_CANCELED,
            SqlState::LOCK_NOT_AVAILABLE,
        ]
        .contains(code);
    if is_soon { Retry::Soon } else { Retry::Never }
}

impl From<RequestError> for JournalError {
    fn from(error: RequestError) -> Self {
        Self::Server(error.message)
    }
}
