//! Servers that cannot be used, or that may lose acknowledged work.

use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::{PermissionsExt, chown};

use kagetsu_postgres::{BookUrl, PostgresJournal};
use kagetsu_tests::PostgresServer;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::book_url;

fn refusal(text: &str) -> String {
    let url = BookUrl::parse(text).expect("an address");
    let refused = PostgresJournal::create(&url).map(drop);
    refused.expect_err("refused").to_string()
}

/// Makes an authority, and lets the server use a certificate of it for a host. Returns the
/// authority's certificate.
fn certify(server: &PostgresServer, host: &str) -> String {
    let mut params = CertificateParams::new(Vec::new()).expect("sound");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("chance");
    let authority = CertifiedIssuer::self_signed(params, key).expect("sound");
    let key = KeyPair::generate().expect("chance");
    let params = CertificateParams::new(vec![host.to_string()]).expect("sound");
    let certificate = params.signed_by(&key, &authority).expect("sound");
    for (name, text) in [
        ("server.pem", certificate.pem()),
        ("server.key", key.serialize_pem()),
        ("authority.pem", authority.pem()),
    ] {
        let path = server.folder().join(name);
        write(&path, text).expect("room");
        set_permissions(&path, Permissions::from_mode(0o600)).expect("our own file");
        let owner =
            std::os::unix::fs::MetadataExt::uid(&server.folder().metadata().expect("it is there"));
        chown(&path, Some(owner), Some(owner)).expect("our own file");
    }
    server.folder().join("authority.pem").display().to_string()
}

#[test]
fn certificates_that_do_not_fit_are_refused() {
    let Some(mut server) = PostgresServer::start() else {
        return;
    };
    let run = |server: &mut PostgresServer| {
        server.kill();
        let at = server.folder().display().to_string();
        let files = [
            "ssl=on".to_string(),
            format!("ssl_cert_file={at}/server.pem"),
            format!("ssl_key_file={at}/server.key"),
        ];
        server.run(&[&files[0], &files[1], &files[2]]);
    };
    let authority = certify(&server, "db.example");
    run(&mut server);
    let plain = format!("{}&sslmode=require", server.url("a"));
    let known = format!("{plain}&sslrootcert={authority}");
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
    assert_eq!(certify(&server, "127.0.0.1"), authority);
    run(&mut server);
    let fits = BookUrl::parse(&known).expect("an address");
    drop(PostgresJournal::create(&fits).expect("the certificate fits"));
}

#[test]
fn asynchronous_standby_is_reported() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let warnings = |server: &PostgresServer| {
        let journal = PostgresJournal::create(&book_url(server, "a")).expect("answers");
        journal.warnings()
    };
    assert_eq!(warnings(&server), [""; 0]);
    let standby = server.standby(None);
    while server.sql("select count(*) from pg_stat_replication") == "0" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let said = warnings(&server);
    assert!(
        said.len() == 1 && said[0].contains("asynchronous"),
        "{said:?}"
    );
    let message = refusal(&standby.url("b"));
    assert!(message.contains("read-only standby"), "{message}");
    server.set("synchronous_standby_names", "*");
    while server.sql("select count(*) from pg_stat_replication where sync_state = 'sync'") == "0" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(warnings(&server), [""; 0]);
}
