//! The book of a coordinator whose journal is in a database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use kagetsu_book::{Book, BookOptions, JournalError};
use kagetsu_postgres::{BookLease, BookUrl, SharedBook};

use super::leadership::Leadership;
use crate::config::Config;

/// Time for which a coordinator leads without renewing its lease.
const LEASE_TTL: Duration = Duration::from_secs(10);

/// A coordinator's part in the replication of its book.
#[derive(Clone)]
pub(crate) struct Replica {
    /// The place of the journal for messages.
    pub(crate) place: String,
    pub(crate) lease: Arc<dyn BookLease>,
    pub(crate) leadership: Leadership,
    /// The address at which clients and workers reach this coordinator.
    pub(crate) address: String,
    pub(crate) ttl: Duration,
}

impl Replica {
    /// Returns the error for a change of a book that another coordinator leads.
    pub(crate) fn not_leader(&self) -> JournalError {
        JournalError::NotLeader {
            book: self.place.clone(),
            address: self.leadership.leader(),
        }
    }
}

/// Opens the book of `config` if its journal is in a database.
///
/// # Errors
/// If a setting is missing, or the database or the disk refuses.
pub(crate) fn open(
    config: &Config,
    path: &Path,
    options: &BookOptions,
) -> Result<Option<(Book, Replica)>> {
    let Some(text) = path.to_str().filter(|text| BookUrl::is_one(text)) else {
        return Ok(None);
    };
    let url = BookUrl::parse(text)?;
    let cache = config.cache.as_deref().with_context(|| {
        format!("--book {url} needs --cache DIR, a folder for what is computed from the journal")
    })?;
    let address = config.advertise.clone().ok_or_else(|| {
        anyhow!("--book {url} needs --advertise URL, the address for workers and clients")
    })?;
    let SharedBook {
        journal,
        lease,
        warnings,
    } = kagetsu_postgres::join(&url)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    // The coordinator waits for its database and answers look-ups meanwhile.
    lease.set_commit_patience(None);
    let (book, notices) = Book::open_journal(cache, journal, options)?;
    for notice in notices {
        tracing::warn!(book = %url, "{notice}");
    }
    let replica = Replica {
        place: url.to_string(),
        lease,
        leadership: Leadership::new(false),
        address,
        ttl: Some(config.lease)
            .filter(|ttl| !ttl.is_zero())
            .unwrap_or(LEASE_TTL),
    };
    Ok(Some((book, replica)))
}
