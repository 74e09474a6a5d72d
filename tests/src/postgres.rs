//! A PostgreSQL server of a test, in a temporary folder and on a free port.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use crate::ReservedPort;

/// The user that runs the server where the tests run as root, which PostgreSQL refuses.
const SERVER_USER: u32 = 65_534;
/// Time within which a server must answer.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A running server. It is stopped on drop.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: TempDir,
    port: Arc<ReservedPort>,
    process: Option<Child>,
}

/// Returns the newest folder of PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    folders
        .filter(|folder| folder.join("initdb").exists())
        .max()
}

/// Makes an empty folder that belongs to the server's user.
fn server_folder() -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("kagetsu-pg")
        .tempdir()
        .expect("room");
    if Uid::effective().is_root() {
        chown(folder.path(), Some(SERVER_USER), Some(SERVER_USER)).expect("root may");
    }
    folder
}

impl PostgresServer {
    /// Makes and starts a server; `None` where PostgreSQL is not installed.
    ///
    /// # Panics
    /// If the server does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            kagetsu_builders::skip("PostgreSQL");
            return None;
        };
        let folder = server_folder();
        let password = folder.path().join("password");
        fs::write(&password, "secret").expect("room");
        let mut server = Self {
            programs,
            folder,
            port: Arc::default(),
            process: None,
        };
        let made = server
            .command("initdb")
            .args(["-A", "scram-sha-256", "-U", "kagetsu", "-E", "UTF8"])
            .arg("--no-sync")
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(server.data())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "{made:?}");
        server.run(&[]);
        Some(server)
    }

    /// Makes and starts a standby of this server, at a port of its own or at that of a
    /// server that was killed.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn standby(&self, killed: Option<&Self>) -> Self {
        let mut standby = Self {
            programs: self.programs.clone(),
            folder: server_folder(),
            port: killed.map_or_else(Arc::default, |killed| killed.port.clone()),
            process: None,
        };
        let copied = standby
            .command("pg_basebackup")
            .args(["-h", "127.0.0.1", "-U", "kagetsu", "-R", "--no-sync"])
            .args(["--checkpoint=fast", "-p"])
            .arg(self.port().to_string())
            .arg("-D")
            .arg(standby.data())
            .env("PGPASSWORD", "secret")
            .output()
            .expect("pg_basebackup runs");
        assert!(copied.status.success(), "{copied:?}");
        standby.run(&[]);
        standby
    }

    /// Makes a standby the primary, and waits until it takes writes.
    ///
    /// # Panics
    /// If it refuses.
    pub fn promote(&self) {
        assert_eq!(self.sql("select pg_promote(true, 120)"), "t");
    }

    /// Changes a setting of the running server.
    ///
    /// # Panics
    /// If it refuses.
    pub fn set(&self, name: &str, value: &str) {
        self.sql(&format!("alter system set {name} = '{value}'"));
        self.sql("select pg_reload_conf()");
    }

    /// Makes an authority, and lets the running server use a certificate of it for a host. Returns
    /// the file with the authority's certificate.
    ///
    /// # Panics
    /// If the server refuses.
    #[must_use]
    pub fn certify(&self, host: &str) -> PathBuf {
        let mut params = CertificateParams::new(Vec::new()).expect("sound");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("chance");
        let authority = CertifiedIssuer::self_signed(params, key).expect("sound");
        let key = KeyPair::generate().expect("chance");
        let params = CertificateParams::new(vec![host.to_string()]).expect("sound");
        let certificate = params.signed_by(&key, &authority).expect("sound");
        let path = |name: &str| self.folder.path().join(name);
        for (name, text) in [
            ("server.pem", certificate.pem()),
            ("server.key", key.serialize_pem()),
            ("authority.pem", authority.pem()),
        ] {
            fs::write(path(name), text).expect("room");
            fs::set_permissions(path(name), fs::Permissions::from_mode(0o600))
                .expect("our own file");
            if Uid::effective().is_root() {
                chown(path(name), Some(SERVER_USER), Some(SERVER_USER)).expect("root may");
            }
        }
        for (name, file) in [
            ("ssl_cert_file", "server.pem"),
            ("ssl_key_file", "server.key"),
        ] {
            self.set(name, &path(file).display().to_string());
        }
        self.set("ssl", "on");
        path("authority.pem")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir("/tmp").env("LC_ALL", "C");
        if Uid::effective().is_root() {
            command.uid(SERVER_USER).gid(SERVER_USER);
        }
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the port of the server on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Starts the server with more settings, as in `fsync=off`, and waits until it answers.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn run(&mut self, settings: &[&str]) {
        let log = self.folder.path().join("log");
        let mut command = self.command("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder.path())
            .args(["-c", "listen_addresses=127.0.0.1", "-c"])
            .arg(format!("port={}", self.port()))
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).expect("room"));
        for setting in settings {
            command.args(["-c", setting]);
        }
        self.process = Some(command.spawn().expect("the server starts"));
        let begun = Instant::now();
        while self.query("select 1").is_err() {
            let log = || fs::read_to_string(&log).unwrap_or_default();
            assert!(begun.elapsed() < START_TIMEOUT, "{}", log());
            std::thread::sleep(Duration::from_millis(20));
            let process = self.process.as_mut().expect("it was started");
            if process.try_wait().expect("our own child").is_some() {
                // Processes of a killed server have not ended yet.
                self.process = Some(command.spawn().expect("the server starts"));
            }
        }
    }

    /// Runs a statement as the administrator. Returns the values, one row a line.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn sql(&self, statement: &str) -> String {
        self.query(statement).expect("the server answers")
    }

    /// Runs a statement in another database.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn sql_in(&self, database: &str, statement: &str) -> String {
        self.query_in(database, statement)
            .expect("the server answers")
    }

    fn query(&self, statement: &str) -> Result<String, String> {
        self.query_in("postgres", statement)
    }

    fn query_in(&self, database: &str, statement: &str) -> Result<String, String> {
        let output = self
            .command("psql")
            .args(["-h", "127.0.0.1", "-U", "kagetsu", "-d", database])
            .args(["-X", "-A", "-t", "-q", "-c", statement, "-p"])
            .arg(self.port().to_string())
            .env("PGPASSWORD", "secret")
            .output()
            .expect("psql runs");
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().into())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into())
        }
    }

    /// Kills the server without notice. Its processes end when they notice it.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().expect("it runs");
        process.wait().expect("it ends");
    }

    /// Returns the address of a book on the one of these servers that takes writes.
    #[must_use]
    pub fn url_of_both(&self, other: &Self, book: &str) -> String {
        format!(
            "postgres://kagetsu:secret@127.0.0.1:{},127.0.0.1:{}/postgres\
             ?target_session_attrs=read-write&book={book}",
            self.port(),
            other.port()
        )
    }

    /// Returns the address of a book on this server, password included.
    #[must_use]
    pub fn url(&self, book: &str) -> String {
        format!(
            "postgres://kagetsu:secret@127.0.0.1:{}/postgres?book={book}",
            self.port()
        )
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // The number belongs to the server until it is waited for.
            let _ = kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGQUIT);
            let _ = process.wait();
        }
    }
}
