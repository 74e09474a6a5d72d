//! A PostgreSQL server of a test, in a temporary folder and on a free port.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kagetsu_postgres::BookUrl;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use tempfile::TempDir;

/// The user that runs the server where the tests run as root, which PostgreSQL refuses.
const NOBODY: u32 = 65_534;
/// Time within which a server must answer.
const START_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    pub(crate) port: u16,
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

impl Server {
    /// Makes and starts a server; `None` where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::Builder::new()
            .prefix("kagetsu-pg")
            .tempdir()
            .expect("room");
        if Uid::effective().is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        let password = folder.path().join("password");
        fs::write(&password, "secret").expect("room");
        let mut server = Self {
            programs,
            folder,
            port: free_port(),
            process: None,
        };
        let made = server
            .command("initdb")
            .args([
                "-A",
                "scram-sha-256",
                "-U",
                "kagetsu",
                "--no-sync",
                "-E",
                "UTF8",
            ])
            .arg(format!("--pwfile={}", password.display()))
            .arg("-D")
            .arg(server.data())
            .output()
            .expect("initdb runs");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        server.run(&[]);
        Some(server)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir("/tmp").env("LC_ALL", "C");
        if Uid::effective().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the server with more settings, and waits until it answers.
    pub(crate) fn run(&mut self, settings: &[&str]) {
        let mut command = self.command("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder.path())
            .args([
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "logging_collector=off",
            ])
            .arg("-c")
            .arg(format!("port={}", self.port))
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.folder.path().join("log")).expect("room"));
        for setting in settings {
            command.args(["-c", setting]);
        }
        self.process = Some(command.spawn().expect("the server starts"));
        let begun = Instant::now();
        loop {
            let connected = self.try_client();
            if connected.is_ok() {
                return;
            }
            assert!(
                begun.elapsed() < START_TIMEOUT,
                "{}",
                fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn try_client(&self) -> Result<postgres::Client, postgres::Error> {
        postgres::Client::connect(
            &format!(
                "host=127.0.0.1 port={} user=kagetsu password=secret dbname=postgres",
                self.port
            ),
            postgres::NoTls,
        )
    }

    /// Returns a connection of an administrator.
    pub(crate) fn client(&self) -> postgres::Client {
        self.try_client().expect("the server answers")
    }

    /// Kills the server with all of its processes, without notice.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        // A killed postmaster leaves its processes behind until they notice; the lock file says
        // which server may start again.
        process.kill().expect("it runs");
        process.wait().expect("it ends");
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
    }

    pub(crate) fn url(&self, book: &str) -> BookUrl {
        let text = format!(
            "postgres://kagetsu:secret@127.0.0.1:{}/postgres?book={book}",
            self.port
        );
        BookUrl::parse(&text).expect("an address")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGQUIT);
            let _ = process.wait();
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").port()
}
