//! Checks of a book in a database: the connection, the tables, and the server's durability.

use kagetsu_book::{Journal, without_password};
use kagetsu_postgres::{BookUrl, PostgresJournal};

use super::finding::HealthFinding;

pub(super) fn check(text: &str) -> Vec<HealthFinding> {
    let opened = BookUrl::parse(text)
        .map_err(|error| error.to_string())
        .and_then(|url| PostgresJournal::open(&url).map_err(|error| error.to_string()));
    let subject = without_password(text);
    let advice = "docs/cluster/replication.md describes books in a database";
    match opened {
        // The message names the way out.
        Err(found) => vec![HealthFinding::fault(subject, found, advice)],
        Ok(journal) => {
            let found = format!("answers; the journal has {} entries", journal.entries());
            let warnings = journal.warnings().into_iter();
            let warnings =
                warnings.map(|found| HealthFinding::warning("durability", found, advice));
            [HealthFinding::ok(subject, found)]
                .into_iter()
                .chain(warnings)
                .collect()
        }
    }
}
