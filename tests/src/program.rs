use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use escargot::{CargoBuild, format};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A program of the project, built with the tests.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// The command line.
    Kagetsu,
    /// The coordinator.
    Coordinator,
    /// The worker.
    Worker,
    /// The Gomocup engine.
    Pbrain,
    /// The UCI engine.
    Uci,
    /// The UCCI engine.
    Ucci,
    /// The measurements; it starts the programs above.
    Bench,
}

/// The result of a program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
}

impl Program {
    /// Returns a command with these arguments and without the settings of the tests' environment.
    /// Where `KAGETSU_WINE` names a folder of programs for Windows, Wine runs those.
    #[must_use]
    pub fn command(self, arguments: &[&str]) -> Command {
        let mut command = match std::env::var_os("KAGETSU_WINE").map(PathBuf::from) {
            Some(folder) => {
                let mut command = Command::new("wine");
                command.arg(folder.join(self.name()).with_extension("exe"));
                command
            }
            None => Command::new(self.path()),
        };
        command.args(arguments).stdin(Stdio::null());
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KAGETSU_"))
        {
            command.env_remove(name);
        }
        command
    }

    /// Copies the program. Another process does it, because a child of another test would keep a
    /// file of this one open for writing, and such a file does not start ("text file busy").
    ///
    /// # Panics
    /// If there is no room.
    pub fn copy_to(self, path: &Path) {
        let mut copy = Command::new("cp");
        copy.arg("-p").arg(self.path()).arg(path);
        Finished::of(copy).ok();
    }

    /// Returns a command whose files cannot grow beyond this many blocks (of 512 or 1,024 bytes, by
    /// the shell), as on a full disk.
    #[must_use]
    pub fn command_with_small_disk(self, blocks: u32, arguments: &[&str]) -> Command {
        // The program must not end by the signal of a write beyond the limit.
        let limited = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let plain = self.command(arguments);
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(limited)
            .arg(plain.get_program())
            .args(plain.get_args())
            .stdin(Stdio::null());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Runs the program to its end.
    #[must_use]
    pub fn run(self, arguments: &[impl AsRef<OsStr>]) -> Finished {
        Finished::of(self.with(arguments))
    }

    /// Starts the program; its stdout can be read line by line, its log goes to the tests' stderr.
    #[must_use]
    pub fn start(self, arguments: &[impl AsRef<OsStr>]) -> Running {
        Running::of(self.with(arguments))
    }

    fn with(self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = self.command(&[]);
        command.args(arguments);
        command
    }

    fn path(self) -> &'static Path {
        path_of(self.name())
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Kagetsu => "kagetsu",
            Self::Coordinator => "kagetsu-coordinator",
            Self::Worker => "kagetsu-worker",
            Self::Pbrain => "pbrain-kagetsu",
            Self::Uci => "uci-kagetsu",
            Self::Ucci => "ucci-kagetsu",
            Self::Bench => "kagetsu-bench",
        }
    }
}

/// The test engine, an example of `kagetsu-engines`.
const STUB_ENGINE: &str = "stub_engine";

/// Returns the test engine of `kagetsu-engines`, which misbehaves on demand: `PATH PROTOCOL MODE`.
#[must_use]
pub fn stub_engine() -> &'static Path {
    path_of(STUB_ENGINE)
}

fn path_of(name: &str) -> &'static Path {
    static PATHS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    let path = PATHS.get_or_init(build_programs).get(name);
    path.unwrap_or_else(|| panic!("cargo has built no {name}"))
}

/// Builds all programs and the stub engine with the tests' profile, unless they are up to date, and
/// returns their paths by name.
///
/// It is a build of the whole workspace with an example, so cargo resolves the features of
/// dependencies as for `cargo test --workspace`, and compiles no crate a second time. The variables
/// that cargo sets for a test are removed: with them the build scripts of some crates run again,
/// and everything that uses these crates is compiled again.
fn build_programs() -> HashMap<String, PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .join("Cargo.toml");
    let is_set_by_cargo = |name: &str| {
        ["CARGO_MANIFEST_", "CARGO_PKG_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let build = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| is_set_by_cargo(name))
        .fold(CargoBuild::new(), CargoBuild::env_remove)
        .manifest_path(manifest)
        .arg("--workspace")
        .bins()
        .example(STUB_ENGINE);
    let build = if cfg!(debug_assertions) {
        build
    } else {
        build.release()
    };
    let messages = build.exec().expect("cargo starts");
    let mut paths = HashMap::new();
    for message in messages {
        let message = message.unwrap_or_else(|error| panic!("a program does not build: {error}"));
        if let Ok(format::Message::CompilerArtifact(artifact)) = message.decode()
            && let Some(executable) = artifact.executable
        {
            paths.insert(artifact.target.name.into_owned(), executable.into_owned());
        }
    }
    paths
}

impl Finished {
    /// Runs a command to its end.
    #[must_use]
    pub fn of(mut command: Command) -> Self {
        let output = command.output().expect("the program starts");
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Returns it where it succeeded.
    ///
    /// # Panics
    /// If the exit code is not 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Returns stdout as one JSON object.
    ///
    /// # Panics
    /// If the exit code is not 0, or stdout is something else.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:#?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// A running program. It is killed on drop.
#[derive(Debug)]
pub struct Running {
    child: Child,
    /// Whether its end was observed; from then on the system may reuse its process number.
    has_ended: bool,
    lines: Option<BufReader<std::process::ChildStdout>>,
}

impl Running {
    /// Starts a command.
    #[must_use]
    pub fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = child.stdout.take().map(BufReader::new);
        Self {
            child,
            has_ended: false,
            lines,
        }
    }

    /// Returns the next line of stdout without its line end; empty at the end of the output.
    ///
    /// # Panics
    /// If the line is not text.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines
            .as_mut()
            .expect("piped")
            .read_line(&mut line)
            .expect("text");
        line.trim_end().to_string()
    }

    /// Returns the address that a server prints.
    ///
    /// # Panics
    /// If it prints something else.
    pub fn address(&mut self) -> String {
        let line = self.line();
        let address = line
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("no address in '{line}'"));
        format!("http://{address}")
    }

    /// Kills the program at once, as a power cut would.
    pub fn kill(&mut self) {
        self.signal(Signal::SIGKILL);
        self.wait();
    }

    /// Sends a signal; harmless after the program's end.
    pub fn signal(&self, signal: Signal) {
        if !self.has_ended {
            let _ = kill(Pid::from_raw(self.child.id() as i32), signal);
        }
    }

    /// Waits for the program's end.
    pub fn wait(&mut self) -> ExitStatus {
        self.has_ended = true;
        self.child.wait().expect("our own child")
    }

    /// Whether the program has ended.
    pub fn has_ended(&mut self) -> bool {
        self.has_ended |= self.child.try_wait().expect("our own child").is_some();
        self.has_ended
    }

    /// Returns the process number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the rest of stdout.
    ///
    /// # Panics
    /// If it is not text.
    pub fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.lines
            .as_mut()
            .expect("piped")
            .read_to_string(&mut rest)
            .expect("text");
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}
