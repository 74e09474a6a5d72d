//! TLS between a client and a coordinator: valid setups, and every kind of wrong one.

use std::path::PathBuf;
use std::sync::Arc;

use kagetsu_coordinator::Config;
use kagetsu_proto::{Access, AuthenticatedChannel, ServerFiles, ServerTls, TlsError, v1};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};
use tokio::net::TcpListener;

use crate::world::Cluster;

/// A folder of certificates.
struct Folder(TempDir);

/// The holder of a certificate.
#[derive(Clone, Copy)]
enum Usage {
    Server,
    Client,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("room");
    }

    /// An authority of this name.
    fn authority(&self, name: &str) -> CertifiedIssuer<'static, KeyPair> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("chance"))
            .expect("sound");
        self.write(&format!("{name}.pem"), &authority.pem());
        authority
    }

    /// A certificate for a host, from `days.0` to `days.1` from now.
    fn certificate(
        &self,
        (name, host, usage): (&str, &str, Usage),
        days: (i64, i64),
        authority: &CertifiedIssuer<'static, KeyPair>,
    ) {
        let mut params = CertificateParams::new([host.to_string()]).expect("a name");
        params.extended_key_usages = vec![match usage {
            Usage::Server => ExtendedKeyUsagePurpose::ServerAuth,
            Usage::Client => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        params.not_before = OffsetDateTime::now_utc() + Duration::days(days.0);
        params.not_after = OffsetDateTime::now_utc() + Duration::days(days.1);
        let key = KeyPair::generate().expect("chance");
        let certificate = params.signed_by(&key, authority).expect("sound");
        self.write(&format!("{name}.pem"), &certificate.pem());
        self.write(&format!("{name}.key"), &key.serialize_pem());
    }

    /// Two authorities, and certificates good and bad.
    fn full() -> Self {
        let folder = Self::new();
        let (ours, others) = (folder.authority("ca"), folder.authority("other-ca"));
        let (here, now) = ("127.0.0.1", (-1, 30));
        folder.certificate(("server", here, Usage::Server), now, &ours);
        folder.certificate(("server-expired", here, Usage::Server), (-30, -9), &ours);
        folder.certificate(("server-early", here, Usage::Server), (9, 30), &ours);
        folder.certificate(("server-elsewhere", "a.example", Usage::Server), now, &ours);
        folder.certificate(("client", "client", Usage::Client), now, &ours);
        folder.certificate(
            ("client-expired", "client", Usage::Client),
            (-30, -9),
            &ours,
        );
        folder.certificate(("client-foreign", "client", Usage::Client), now, &others);
        folder.write("empty", "");
        folder.write(
            "broken",
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        );
        folder
    }

    /// As a client.
    fn access(&self, authority: Option<&str>, own: Option<&str>) -> Access {
        Access {
            tls_ca: authority.map(|name| self.path(&format!("{name}.pem"))),
            tls_cert: own.map(|name| self.path(&format!("{name}.pem"))),
            tls_key: own.map(|name| self.path(&format!("{name}.key"))),
            ..Access::default()
        }
    }

    fn server(
        &self,
        certificate: &str,
        client_authority: Option<&str>,
    ) -> Result<Arc<ServerTls>, TlsError> {
        let files = ServerFiles {
            certificate: self.path(&format!("{certificate}.pem")),
            key: self.path(&format!("{certificate}.key")),
            client_authority: client_authority.map(|name| self.path(&format!("{name}.pem"))),
        };
        ServerTls::new(files, &["h2"]).map(Arc::new)
    }
}

/// Starts a coordinator without a book.
async fn start(tls: Option<Arc<ServerTls>>) -> Cluster {
    Cluster::listen(&Config::default(), None, tls, Access::default()).await
}

async fn list(caller: AuthenticatedChannel) -> Result<(), tonic::Status> {
    let mut client = v1::workers_client::WorkersClient::new(caller);
    client
        .list(v1::ListWorkersRequest::default())
        .await
        .map(drop)
}

/// Connects and lists the workers; fails with the message of the error.
async fn ask(access: &Access, url: &str) -> Result<(), String> {
    let connector = access.connector(url).map_err(|error| error.to_string())?;
    let caller = connector
        .connect()
        .await
        .map_err(|error| error.to_string())?;
    list(caller).await.map_err(|status| status.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_setups_fail_before_the_first_request() {
    let folder = Folder::full();
    let (plain, tls, mutual) = (None, Some(("server", None)), Some(("server", Some("ca"))));
    // Server, scheme, client's authority and certificate, parts of the error (none: success).
    #[expect(clippy::type_complexity, reason = "rows of a table")]
    let rows: &[(
        Option<(&str, Option<&str>)>,
        &str,
        Option<&str>,
        Option<&str>,
        &[&str],
    )] = &[
        (plain, "http", None, None, &[]),
        (tls, "https", Some("ca"), None, &[]),
        (tls, "https", Some("ca"), Some("client"), &[]),
        (mutual, "https", Some("ca"), Some("client"), &[]),
        (
            plain,
            "https",
            Some("ca"),
            None,
            &["does not speak TLS", "http://"],
        ),
        (
            tls,
            "http",
            None,
            None,
            &["speaks TLS", "https://", "--tls-ca"],
        ),
        (
            mutual,
            "http",
            Some("ca"),
            Some("client"),
            &["speaks TLS", "https://"],
        ),
        (tls, "https", None, None, &["--tls-ca", "ca.pem"]),
        (
            tls,
            "https",
            Some("other-ca"),
            None,
            &["not signed by the authority", "other-ca.pem"],
        ),
        (
            Some(("server-expired", None)),
            "https",
            Some("ca"),
            None,
            &["expired 9 days ago", "kagetsu certs", "--renew"],
        ),
        (
            Some(("server-early", None)),
            "https",
            Some("ca"),
            None,
            &["not valid yet", "clocks"],
        ),
        (
            Some(("server-elsewhere", None)),
            "https",
            Some("ca"),
            None,
            &["not for 127.0.0.1 but for a.example"],
        ),
        (
            Some(("client", None)),
            "https",
            Some("ca"),
            None,
            &["not a server's", "coordinator.pem"],
        ),
        (
            mutual,
            "https",
            Some("ca"),
            None,
            &["wants a certificate", "--tls-cert"],
        ),
        (
            mutual,
            "https",
            Some("ca"),
            Some("client-foreign"),
            &["does not believe", "client-foreign.pem", "--tls-client-ca"],
        ),
        (
            mutual,
            "https",
            Some("ca"),
            Some("client-expired"),
            &["client-expired.pem has expired", "--renew"],
        ),
        (
            mutual,
            "https",
            Some("ca"),
            Some("server"),
            &["does not believe", "for clients"],
        ),
    ];
    for (index, (server, scheme, authority, own, words)) in rows.iter().enumerate() {
        let tls = server.map(|(name, clients)| folder.server(name, clients).expect("sound files"));
        let coordinator = start(tls).await;
        let url = format!("{scheme}://{}", coordinator.address());
        let result = ask(&folder.access(*authority, *own), &url).await;
        match result {
            Ok(()) => assert!(words.is_empty(), "row {index}: let in"),
            Err(error) => {
                assert!(!words.is_empty(), "row {index}: {error}");
                for word in [&url]
                    .into_iter()
                    .map(String::as_str)
                    .chain(words.iter().copied())
                {
                    assert!(
                        error.contains(word),
                        "row {index}: '{word}' is missing in: {error}"
                    );
                }
            }
        }
        coordinator.end().await;
    }
}

#[test]
fn unusable_files_are_named() {
    let folder = Folder::full();
    let server = |certificate: &str, key: &str, authority: Option<&str>| {
        let client_authority = authority.map(|name| folder.path(name));
        let files = ServerFiles {
            certificate: folder.path(certificate),
            key: folder.path(key),
            client_authority,
        };
        ServerTls::new(files, &["h2"])
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(server("server.pem", "server.key", Some("ca.pem")), Ok(()));
    for (certificate, key, authority, words) in [
        (
            "missing.pem",
            "server.key",
            None,
            &["missing.pem", "cannot read", "kagetsu certs"][..],
        ),
        (
            "server.pem",
            "missing.key",
            None,
            &["missing.key", "cannot read"],
        ),
        (
            "empty",
            "server.key",
            None,
            &["empty", "no certificate", "BEGIN CERTIFICATE"],
        ),
        ("broken", "server.key", None, &["broken", "no certificate"]),
        (
            "server.key",
            "server.key",
            None,
            &["server.key", "no certificate"],
        ),
        (
            "server.pem",
            "server.pem",
            None,
            &["server.pem", "no private key", "BEGIN PRIVATE KEY"],
        ),
        (
            "server.pem",
            "client.key",
            None,
            &["client.key", "server.pem", "made together"],
        ),
        (
            "server.pem",
            "server.key",
            Some("empty"),
            &["empty", "no certificate"],
        ),
        (
            "server.pem",
            "server.key",
            Some("missing.pem"),
            &["missing.pem", "cannot read"],
        ),
    ] {
        let error = server(certificate, key, authority).expect_err(certificate);
        for word in words {
            assert!(error.contains(word), "'{word}' is missing in: {error}");
        }
    }
    let client = |access: Access| {
        access
            .connector("https://127.0.0.1:1")
            .map(drop)
            .expect_err("refused")
            .to_string()
    };
    assert!(client(folder.access(Some("missing"), None)).contains("missing.pem"));
    assert!(client(folder.access(Some("ca"), Some("missing"))).contains("missing.pem"));
    let mixed = Access {
        tls_key: Some(folder.path("server.key")),
        ..folder.access(Some("ca"), Some("client"))
    };
    assert!(client(mixed).contains("made together"));
    let token = |file| Access {
        token_file: Some(folder.path(file)),
        ..Access::default()
    };
    let plain = |access: Access, url| {
        access
            .connector(url)
            .map(drop)
            .expect_err("refused")
            .to_string()
    };
    assert!(plain(token("missing"), "http://127.0.0.1:1").contains("cannot read the token file"));
    assert!(plain(token("empty"), "http://127.0.0.1:1").contains("holds no token"));
    assert!(plain(token("server.pem"), "http://127.0.0.1:1").contains("holds no token"));
    folder.write("token", "kagetsu_1\n");
    assert!(token("token").connector("http://127.0.0.1:1").is_ok());
    assert!(plain(token("token"), "http://10.0.0.1:1").contains("plain text"));
    assert!(
        Access {
            insecure: true,
            ..token("token")
        }
        .connector("http://10.0.0.1:1")
        .is_ok()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn renewed_certificates_are_reloaded() {
    let folder = Folder::new();
    let ours = folder.authority("ca");
    folder.certificate(("server", "127.0.0.1", Usage::Server), (-30, -9), &ours);
    let tls = folder.server("server", None).expect("sound files");
    let coordinator = start(Some(Arc::clone(&tls))).await;
    let url = format!("https://{}", coordinator.address());
    let access = folder.access(Some("ca"), None);
    assert!(
        ask(&access, &url)
            .await
            .expect_err("expired")
            .contains("expired")
    );
    assert!(!tls.reload().expect("the same files"));
    // The new files have the times of the old ones, as on a disk with a coarse clock.
    let files = ["server.pem", "server.key"].map(|name| folder.path(name));
    let before = files.each_ref().map(|file| {
        file.metadata()
            .and_then(|about| about.modified())
            .expect("a time")
    });
    folder.certificate(("server", "127.0.0.1", Usage::Server), (-1, 30), &ours);
    for (file, before) in files.iter().zip(before) {
        let file = std::fs::File::options()
            .write(true)
            .open(file)
            .expect("it is there");
        file.set_modified(before).expect("our own file");
    }
    assert!(tls.reload().expect("sound files"));
    assert_eq!(ask(&access, &url).await, Ok(()));
    folder.write("server.pem", "nonsense");
    assert!(tls.reload().is_err());
    assert_eq!(
        ask(&access, &url).await,
        Ok(()),
        "the previous certificate stays in use"
    );
    coordinator.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_block_no_others() {
    let folder = Folder::full();
    let coordinator = start(Some(folder.server("server", None).expect("sound files"))).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(
            tokio::net::TcpStream::connect(coordinator.address())
                .await
                .expect("it listens"),
        );
    }
    let url = format!("https://{}", coordinator.address());
    assert_eq!(ask(&folder.access(Some("ca"), None), &url).await, Ok(()));
    coordinator.end().await;
}

#[tokio::test]
async fn other_servers_are_recognised() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    for (says, words) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "HTTP/1"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no coordinator"),
        (b"", "no coordinator answers"),
    ] {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", socket.local_addr().expect("an address"));
        let stranger = tokio::spawn(async move {
            let (mut stream, _) = socket.accept().await.expect("a client");
            let _ = stream.read(&mut [0; 64]).await;
            let _ = stream.write_all(says).await;
            let _ = stream.shutdown().await;
            // Closing a socket with unread bytes resets it and loses the answer.
            while let Ok(1..) = stream.read(&mut [0; 64]).await {}
        });
        let error = ask(&Access::default(), &url)
            .await
            .expect_err("no coordinator");
        assert!(error.contains(words) && error.contains(&url), "{error}");
        stranger.await.expect("no panic");
    }
}

#[test]
fn server_reports_an_invalid_certificate() {
    let folder = Folder::full();
    let fault = |name: &str| {
        let (certificate, key) = (
            folder.path(&format!("{name}.pem")),
            folder.path(&format!("{name}.key")),
        );
        let files = ServerFiles {
            certificate,
            key,
            client_authority: None,
        };
        ServerTls::new(files, &["h2"])
            .expect("files that can be used")
            .validity_fault(std::time::SystemTime::now())
    };
    assert_eq!(fault("server"), None);
    let expired = fault("server-expired").expect("a fault");
    assert!(
        expired.contains("server-expired.pem expired 9 days ago"),
        "{expired}"
    );
    assert!(expired.contains("kagetsu certs DIR --renew"), "{expired}");
    let early = fault("server-early").expect("a fault");
    assert!(
        early.contains("server-early.pem is not valid before"),
        "{early}"
    );
}
