//! Servers that cannot be used, or that may lose acknowledged work.

use kagetsu_postgres::{BookUrl, PostgresJournal};
use kagetsu_tests::PostgresServer;

use crate::book_url;

fn refusal(text: &str) -> String {
    let url = BookUrl::parse(text).expect("an address");
    let refused = PostgresJournal::create(&url).map(drop);
    refused.expect_err("refused").to_string()
}

#[test]
fn certificates_that_do_not_fit_are_refused() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let authority = server.certify("db.example");
    let plain = format!("{}&sslmode=require", server.url("a"));
    let known = format!("{plain}&sslrootcert={}", authority.display());
    for (url, words) in [
        (plain.clone(), "sslrootcert=FILE"),
        (known.clone(), "certificate"),
        (
            format!("{plain}&sslrootcert=/nowhere/ca.pem"),
            "/nowhere/ca.pem",
        ),
    ] {
        let message = refusal(&url);
        assert!(message.contains(words), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert_eq!(server.certify("127.0.0.1"), authority);
    let fits = BookUrl::parse(&known).expect("an address");
    while let Err(error) = PostgresJournal::create(&fits) {
        // The server reads its new certificate soon.
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

#[test]
fn asynchronous_standby_is_reported() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let warnings = |server: &PostgresServer| {
        let journal = PostgresJournal::create(&book_url(server, "a")).expect("answers");
        journal.warnings()
    };
    assert_eq!(warnings(&server), [""; 0]);
    let standby = server.standby(None);
    while server.sql("select count(*) from pg_stat_replication") == "0" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let found = warnings(&server);
    assert!(
        found.len() == 1 && found[0].contains("asynchronous"),
        "{found:?}"
    );
    let message = refusal(&standby.url("b"));
    assert!(message.contains("read-only standby"), "{message}");
    server.set("synchronous_standby_names", "*");
    while server.sql("select count(*) from pg_stat_replication where sync_state = 'sync'") == "0" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(warnings(&server), [""; 0]);
}
