//! A cluster with certificates and tokens, made as an operator makes them.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;

use kagetsu_tests::{Finished, Program, Running, Scratch, kagetsu, words};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::world::{Relay, assert_fields, refused, until};

fn text(path: &std::path::Path) -> String {
    path.to_str().expect("a plain name").to_string()
}

/// Files of a cluster, made by `kagetsu certs` and `kagetsu token`.
struct SecureCluster {
    scratch: Scratch,
}

impl SecureCluster {
    fn new() -> Self {
        let safe = Self {
            scratch: Scratch::new(),
        };
        Program::Kagetsu.run(&["certs", &safe.path("certs")]).ok();
        for role in ["read", "build", "work"] {
            safe.token(role);
        }
        safe
    }

    fn path(&self, name: &str) -> String {
        text(&self.scratch.path(name))
    }

    fn cert(&self, name: &str) -> String {
        text(&self.scratch.path("certs").join(name))
    }

    /// Makes a token with the role as its name, and the file ROLE.token for its owner.
    fn token(&self, role: &str) {
        let tokens = self.path("tokens");
        let made = kagetsu!("token new --tokens {tokens} --role {role} {role}").ok();
        std::fs::write(self.path(&format!("{role}.token")), made.stdout).expect("room");
    }

    fn coordinator(&self, listen: &str, more: &[&str]) -> Vec<String> {
        let (certificate, key) = (self.cert("coordinator.pem"), self.cert("coordinator.key"));
        let (authority, tokens, book) =
            (self.cert("ca.pem"), self.path("tokens"), self.path("book"));
        words!(
            "--listen {listen} --book {book} --tls-cert {certificate} --tls-key {key}
             --tls-client-ca {authority} --tokens {tokens} {more...}"
        )
    }

    /// Returns the flags of a client with the token of a role.
    fn client(&self, url: &str, role: &str) -> Vec<String> {
        let (authority, certificate, key) = (
            self.cert("ca.pem"),
            self.cert("client.pem"),
            self.cert("client.key"),
        );
        let token = self.path(&format!("{role}.token"));
        words!(
            "--coordinator {url} --tls-ca {authority} --tls-cert {certificate} --tls-key {key}
             --token-file {token}"
        )
    }

    fn kagetsu(&self, command: &str, url: &str, role: &str) -> Finished {
        run(Program::Kagetsu, command, &self.client(url, role))
    }
}

/// Runs a command of plain words with more arguments.
fn run(program: Program, command: &str, more: &[String]) -> Finished {
    let words = command.split_whitespace().map(String::from);
    program.run(&words.chain(more.iter().cloned()).collect::<Vec<_>>())
}

const BUILD: &str = "build --variant freestyle-15 --moves h8 --positions 5 --depth 2 --json";

#[test]
fn roles_hold_in_cluster_with_tls_and_tokens() {
    let safe = SecureCluster::new();
    let mut coordinator = Program::Coordinator.start(&safe.coordinator("127.0.0.1:0", &[]));
    let url = coordinator.address().replace("http://", "https://");
    let worker = [safe.client(&url, "work"), words!("--slots 1")].concat();
    let _worker = Program::Worker.start(&worker);

    let built = safe.kagetsu(BUILD, &url, "build").json();
    assert_fields(&built, &json!({"state": "done", "positions": 5}));
    let jobs = safe.kagetsu("jobs list --json", &url, "read").json();
    assert_eq!(jobs[0]["state"], json!("done"));
    let workers = safe.kagetsu("workers list --json", &url, "read").json();
    assert_eq!(
        (workers.as_array().map(Vec::len), &workers[0]["token"]),
        (Some(1), &json!("work")),
        "{workers}"
    );
    let listed = safe.kagetsu("workers list", &url, "read").stdout;
    assert!(
        listed.contains("token") && listed.contains("work"),
        "{listed}"
    );

    // A role with too few rights, in each way.
    let name = built["name"].as_str().expect("a name");
    let reader = "'read' has the role read";
    for (command, role, says) in [
        (
            &*format!("jobs cancel {name}"),
            "read",
            [reader, "build, admin"],
        ),
        (BUILD, "read", [reader, "build, admin"]),
        (
            "analyze --variant freestyle-15 --depth 1",
            "build",
            ["'build' has the role build", "analyse, admin"],
        ),
        (
            "jobs list",
            "work",
            ["'work'", "read, analyse, build, admin"],
        ),
    ] {
        refused(&safe.kagetsu(command, &url, role), &says);
    }
    refused(
        &run(Program::Worker, "", &safe.client(&url, "read")),
        &[reader, "work, volunteer, admin"],
    );

    // No token, an unknown token, and a token where none is expected.
    let bare: Vec<String> = safe.client(&url, "read").into_iter().take(8).collect();
    refused(
        &run(Program::Kagetsu, "jobs list", &bare),
        &["a token is needed", "--token-file", "kagetsu token new"],
    );
    refused(&run(Program::Worker, "", &bare), &["a token is needed"]);
    std::fs::write(
        safe.path("other.token"),
        format!("kagetsu_{}", "0".repeat(64)),
    )
    .expect("room");
    refused(
        &safe.kagetsu("jobs list", &url, "other"),
        &["not known", "revoked"],
    );
    refused(
        &safe.kagetsu("jobs list", &url, "missing"),
        &["missing.token", "cannot read the token file"],
    );
    let from_environment = |token: &str| {
        let mut command = Program::Kagetsu.command(&["jobs", "list", "--json"]);
        command.args(&bare).env("KAGETSU_TOKEN", token);
        Finished::of(command)
    };
    let token = std::fs::read_to_string(safe.path("read.token")).expect("made");
    assert_eq!(from_environment(token.trim()).code, Some(0));
    refused(
        &from_environment("two words"),
        &["KAGETSU_TOKEN holds no token"],
    );

    // Without TLS, and without a certificate.
    let plain = url.replace("https://", "http://");
    refused(
        &safe.kagetsu("jobs list", &plain, "read"),
        &["speaks TLS", "https://"],
    );
    let authority = safe.cert("ca.pem");
    let anonymous = words!("--coordinator {url} --tls-ca {authority}");
    refused(
        &run(Program::Kagetsu, "jobs list", &anonymous),
        &["wants a certificate", "--tls-cert"],
    );

    // A revoked token stops working without a restart.
    let tokens = safe.path("tokens");
    kagetsu!("token revoke --tokens {tokens} read").ok();
    coordinator.signal(Signal::SIGHUP);
    until("the token is gone", || {
        let listed = safe.kagetsu("jobs list", &url, "read");
        (listed.code == Some(2)).then(|| refused(&listed, &["not known"]))
    });
    assert_eq!(
        safe.kagetsu("jobs list --json", &url, "build").code,
        Some(0)
    );
    coordinator.signal(Signal::SIGTERM);
    assert_eq!(coordinator.wait().code(), Some(0), "a clean stop");
}

/// The proxy knows the coordinator's name alone, so a direct connection finds nothing.
#[test]
fn tls_cluster_is_reached_through_a_proxy() {
    const HOST: &str = "coordinator.example:7615";
    let safe = SecureCluster::new();
    let folder = safe.path("certs");
    kagetsu!("certs {folder} --renew --host coordinator.example").ok();
    let mut coordinator = Program::Coordinator.start(&safe.coordinator("127.0.0.1:0", &[]));
    let target = coordinator.address().replace("http://", "https://");
    let proxy = Relay::proxy_to(&target, HOST);
    let through = |program: Program, line: &str, role: &str| {
        let mut command = program.command(&line.split_whitespace().collect::<Vec<_>>());
        command.args(safe.client(&format!("https://{HOST}"), role));
        command.env("HTTPS_PROXY", proxy.url()).env("NO_PROXY", "");
        command
    };
    let _worker = Running::of(through(Program::Worker, "--slots 1", "work"));
    let built = Finished::of(through(Program::Kagetsu, BUILD, "build")).json();
    assert_eq!(built["state"], json!("done"));
}

#[test]
fn misconfigured_worker_ends_with_reason() {
    let (safe, other) = (SecureCluster::new(), SecureCluster::new());
    let mut coordinator = Program::Coordinator.start(&safe.coordinator("127.0.0.1:0", &[]));
    let url = coordinator.address().replace("http://", "https://");
    let stranger = other.client(&url, "work");
    refused(
        &run(Program::Worker, "", &stranger),
        &[
            "not signed by the authority of --tls-ca",
            "ca.pem of its cluster",
        ],
    );
    let plain = url.replace("https://", "http://");
    refused(
        &run(Program::Worker, "", &words!("--coordinator {plain}")),
        &["it speaks TLS", "https://"],
    );
    let file = safe.path("coordinator.url");
    let token = safe.path("work.token");
    let by_file = |line: &str| {
        std::fs::write(&file, line).expect("room");
        Program::Worker.run(&words!("--coordinator-file {file} --token-file {token}"))
    };
    refused(
        &by_file("http://node.example:7615\n"),
        &[
            "a token must not go to http://node.example:7615",
            "--insecure",
        ],
    );
    refused(&by_file("seven\n"), &[&file, "says 'seven', which is none"]);
    coordinator.signal(Signal::SIGTERM);
    coordinator.wait();
}

#[test]
fn silent_connections_do_not_block_others() {
    let safe = SecureCluster::new();
    let log = safe.scratch.path("log");
    let arguments = safe.coordinator("127.0.0.1:0", &[]);
    let mut command = Program::Coordinator.command(&[]);
    command
        .args(arguments)
        .stderr(std::fs::File::create(&log).expect("room"));
    let mut coordinator = Running::of(command);
    let url = coordinator.address().replace("http://", "https://");
    let address = url.trim_start_matches("https://");
    let _silent: Vec<TcpStream> = (0..800)
        .map(|_| TcpStream::connect(address).expect("accepted"))
        .collect();
    assert_eq!(
        safe.kagetsu("jobs list --json", &url, "read").json(),
        json!([])
    );
    coordinator.signal(Signal::SIGTERM);
    coordinator.wait();
    let text = std::fs::read_to_string(log).expect("text");
    let refusals = text
        .lines()
        .filter(|line| line.contains("a client is refused"))
        .count();
    assert!(
        (1..100).contains(&refusals),
        "the log names a few of some 300 refusals, not {refusals}"
    );
}

#[test]
fn refusals_are_logged_with_their_reason() {
    use std::io::{Read, Write};

    let safe = SecureCluster::new();
    let log = safe.scratch.path("log");
    let (book, tokens) = (safe.path("book"), safe.path("tokens"));
    let mut command = Program::Coordinator.command(&[]);
    command.args(words!(
        "--listen 127.0.0.1:0 --http 127.0.0.1:0 --book {book} --tokens
        {tokens}"
    ));
    command.stderr(std::fs::File::create(&log).expect("room"));
    let mut coordinator = Running::of(command);
    let url = coordinator.address();
    let http = coordinator.line();
    let http = http.trim_start_matches("http on ");
    let mut line = TcpStream::connect(http).unwrap_or_else(|error| panic!("{http}: {error}"));
    line.write_all(b"GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        .expect("room");
    let mut answer = String::new();
    line.read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let (name, token) = ("bell\u{7}", safe.path("work.token"));
    let arguments = words!("--name {name} --coordinator {url} --token-file {token}");
    refused(&Program::Worker.run(&arguments), &["cannot be printed"]);
    coordinator.signal(Signal::SIGTERM);
    coordinator.wait();
    let text = std::fs::read_to_string(log).expect("text");
    let is_logged = |words: &[&str]| {
        text.lines()
            .any(|line| words.iter().all(|word| line.contains(word)))
    };
    assert!(
        is_logged(&["rejected a request", "client=\"127.0.0.1:", "/api/v1/jobs"]),
        "{text}"
    );
    assert!(
        is_logged(&[
            "a worker is refused: ",
            "cannot be printed",
            "client=\"127.0.0.1:"
        ]),
        "{text}"
    );
}

#[test]
fn remote_access_needs_tls_and_authentication() {
    let safe = SecureCluster::new();
    let refuses =
        |arguments: &[String], words: &[&str]| refused(&Program::Coordinator.run(arguments), words);
    let all = safe.coordinator("0.0.0.0:0", &[]);
    let (tls, tokens) = (all[4..8].to_vec(), all[10..].to_vec());
    let listen: Vec<String> = all[..2].to_vec();
    refuses(
        &listen,
        &["0.0.0.0:0", "--tls-cert", "--tokens", "--insecure"],
    );
    refuses(
        &[listen.clone(), tls.clone()].concat(),
        &["authenticate clients", "--tokens", "--insecure"],
    );
    refuses(
        &[listen.clone(), tokens].concat(),
        &["plain text", "--tls-cert", "--insecure"],
    );
    for more in [
        &all[4..10],
        &[all[4..8].to_vec(), all[10..].to_vec()].concat(),
        &["--insecure".to_string()],
    ] {
        let mut coordinator = Program::Coordinator.start(&[&listen, more].concat());
        assert!(coordinator.address().contains("0.0.0.0"));
    }

    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = port.local_addr().expect("an address").to_string();
    refuses(
        &["--listen".into(), address.clone()],
        &[&address, "another program listens there", "another port"],
    );
    refuses(
        &["--listen".into(), "192.0.2.1:0".into(), "--insecure".into()],
        &["192.0.2.1:0", "no such address"],
    );

    let wrong = |index: usize, file: &str| {
        let mut arguments = safe.coordinator("127.0.0.1:0", &[]);
        arguments[index] = safe.path(file);
        arguments
    };
    std::fs::write(safe.path("nonsense"), "nonsense").expect("room");
    refuses(
        &wrong(5, "missing"),
        &["missing", "cannot read", "kagetsu certs"],
    );
    refuses(&wrong(5, "nonsense"), &["nonsense", "no certificate"]);
    refuses(&wrong(7, "nonsense"), &["nonsense", "no private key"]);
    refuses(&wrong(9, "nonsense"), &["nonsense", "no certificate"]);
    refuses(
        &wrong(11, "missing"),
        &["missing", "there is no tokens file", "kagetsu token new"],
    );
    refuses(&wrong(11, "nonsense"), &["nonsense", "damaged"]);
}

#[test]
fn certificates_are_kept_and_renewed() {
    let safe = SecureCluster::new();
    let folder = safe.path("certs");
    let certs = |more: &str| run(Program::Kagetsu, &format!("certs {folder} {more}"), &[]);
    let files = || {
        let read = |name: &str| std::fs::read_to_string(safe.cert(name)).expect("made");
        [
            "ca.pem",
            "ca.key",
            "coordinator.pem",
            "coordinator.key",
            "client.pem",
            "client.key",
        ]
        .map(read)
    };
    let before = files();
    refused(&certs(""), &["ca.pem", "not written over", "--renew"]);
    assert_eq!(files(), before);
    let renewed = certs("--renew --host a.example --client alice --days 30").ok();
    assert!(
        renewed.stdout.contains("a.example") && renewed.stdout.contains("client, alice"),
        "{renewed:#?}"
    );
    let after = files();
    let same = [0, 1, 2, 3, 4, 5].map(|index| before[index] == after[index]);
    assert_eq!(
        same,
        [true, true, false, true, false, true],
        "new certificates for the same keys"
    );
    assert!(std::path::Path::new(&safe.cert("alice.key")).exists());
    // The old and the new certificates come from one authority.
    let mut coordinator = Program::Coordinator.start(&safe.coordinator("127.0.0.1:0", &[]));
    let url = coordinator.address().replace("http://", "https://");
    std::fs::write(safe.cert("client.pem"), &before[4]).expect("room");
    assert_eq!(safe.kagetsu("jobs list --json", &url, "read").code, Some(0));
    drop(coordinator);

    std::fs::remove_file(safe.cert("ca.key")).expect("made");
    refused(&certs("--renew"), &["ca.key", "authority's key"]);
    std::fs::write(safe.cert("certs.toml"), "nonsense").expect("room");
    refused(&certs("--renew"), &["certs.toml", "damaged"]);
    let none = safe.path("none");
    refused(
        &kagetsu!("certs {none} --renew"),
        &["certs.toml", "kagetsu certs"],
    );
    let usage = kagetsu!("certs {none} --host https://a.example:1");
    assert_eq!(usage.code, Some(2));
    assert!(usage.stderr.contains("without https://"), "{usage:#?}");
}

#[test]
fn tokens_are_shown_once_and_listed_as_hashes() {
    let safe = SecureCluster::new();
    let file = safe.path("tokens");
    let listed = kagetsu!("token list --tokens {file} --json").json();
    let names: Vec<_> = listed
        .as_array()
        .expect("an array")
        .iter()
        .map(|t| t["name"].clone())
        .collect();
    assert_eq!(names, [json!("read"), json!("build"), json!("work")]);
    let secret = std::fs::read_to_string(safe.path("read.token")).expect("made");
    let shown = kagetsu!("token list --tokens {file}").stdout
        + &std::fs::read_to_string(&file).expect("made");
    assert!(
        !shown.contains(secret.trim()) && shown.contains("default"),
        "{shown}"
    );
    let missing = safe.path("missing");
    for (asked, says) in [
        (
            kagetsu!("token new --tokens {file} --role read read"),
            ["'read' already", "another name"],
        ),
        (
            kagetsu!("token new --tokens {file} --role read 'a b'"),
            ["\"a b\" is no name for a token", "letters"],
        ),
        (
            kagetsu!("token revoke --tokens {file} unknown"),
            ["no token 'unknown'", "kagetsu token list"],
        ),
        (
            kagetsu!("token list --tokens {missing}"),
            ["missing", "there is no tokens file"],
        ),
        (
            kagetsu!("token revoke --tokens {missing} read"),
            ["missing", "there is no tokens file"],
        ),
    ] {
        refused(&asked, &says);
    }
    let out = safe.path("out.token");
    let made = kagetsu!("token new --tokens {file} --role read --out {out} out").ok();
    let secret = std::fs::read_to_string(&out).expect("made");
    assert!(secret.starts_with("kagetsu_") && !made.stdout.contains(secret.trim()));
    for private in [&out, &file] {
        let mode = std::fs::metadata(private)
            .expect("made")
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{private}: {mode:o}");
    }
    let usage = kagetsu!("token new --tokens {file} --role king k");
    refused(&usage, &["no role"]);
}
