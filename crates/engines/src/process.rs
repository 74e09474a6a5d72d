//! A program at the other end of two pipes.
//!
//! A keeper thread starts it, reads its lines and lives until it is gone; a writer thread sends it lines. Neither end can
//! hold us up or fill our memory: lines have a greatest length and queues a greatest number of them, and a program that
//! says more than is heard waits in its own pipe.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::address::Address;
use crate::fault::{Wrong, clip};

/// Most bytes of a line.
pub(crate) const MOST_LINE: usize = 1 << 16;
/// Lines that were said and not heard.
const WAITING: usize = 256;
/// Lines that were sent and are not read; a position of gomoku takes some hundreds.
const UNREAD: usize = 4_096;
/// How long a program has to end when it is told to.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a program's output has come to.
enum Heard {
    Line(String),
    Flood,
    End(String),
}

/// A running program; it and all of its process group are killed when this value is dropped.
pub(crate) struct Process {
    group: Pid,
    said: Option<Receiver<Heard>>,
    lines: Option<SyncSender<String>>,
    /// Dropped: the keeper may reap the child, whose number is free from then on.
    release: Option<SyncSender<()>>,
    /// Ends when the child is reaped.
    reaped: Receiver<()>,
    /// Told to a program that is to end.
    farewell: &'static str,
    /// The last line that spoke of an error: some say on stdout why they end.
    error: String,
    /// How it ended, once that was heard.
    end: Option<Wrong>,
}

impl Process {
    /// Starts the program in a process group of its own.
    pub(crate) fn start(address: &Address, farewell: &'static str) -> Result<Self, Wrong> {
        let (started, start) = sync_channel(1);
        let (sender, said) = sync_channel(WAITING);
        let (release, released) = sync_channel(0);
        let (reaps, reaped) = sync_channel(1);
        let address = address.clone();
        let keep = move || {
            let mut child = match spawn(&address) {
                Ok(child) => child,
                Err(error) => {
                    return drop(started.send(Err(format!("{}: {error}", address.program))));
                }
            };
            let complaint = complaint(&mut child);
            let (id, stdin, stdout) = (child.id(), child.stdin.take(), child.stdout.take());
            if started.send(Ok((id, stdin))).is_ok() {
                if let Some(stdout) = stdout {
                    listen(stdout, &sender);
                }
                let _ = sender.send(Heard::End(end(&child, &complaint)));
            }
            drop(sender);
            let _ = released.recv();
            // It was killed: this takes no time.
            let _ = child.wait();
            drop(reaps);
        };
        let failed = |reason: String| Wrong::Start(reason);
        Builder::new()
            .name("engine".into())
            .spawn(keep)
            .map_err(|error| failed(error.to_string()))?;
        let started = start.recv().map_err(|_| failed("no thread".into()))?;
        let (id, stdin) = started.map_err(failed)?;
        let group = Pid::from_raw(i32::try_from(id).map_err(|error| failed(error.to_string()))?);
        let (lines, queue) = sync_channel(UNREAD);
        let process = Self {
            group,
            said: Some(said),
            lines: Some(lines),
            release: Some(release),
            reaped,
            farewell,
            error: String::new(),
            end: None,
        };
        let stdin = stdin.ok_or_else(|| failed("it has no stdin".into()))?;
        let write = move || write_all(stdin, &queue);
        Builder::new()
            .name("engine-stdin".into())
            .spawn(write)
            .map_err(|error| failed(error.to_string()))?;
        Ok(process)
    }

    /// Sends a line; it need not have arrived.
    pub(crate) fn send(&mut self, line: &str) -> Result<(), Wrong> {
        tracing::trace!(line, "to the engine");
        let Some(lines) = &self.lines else {
            return Err(Wrong::Deaf);
        };
        match lines.try_send(line.to_string()) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Wrong::Deaf),
            // Its pipe is closed: what it said before tells more.
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }

    /// The next line, or `None` if there is none within the time.
    pub(crate) fn hear(&mut self, time: Duration) -> Result<Option<String>, Wrong> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let Some(said) = &self.said else {
            return Err(Wrong::Deaf);
        };
        let wrong = match said.recv_timeout(time) {
            Ok(Heard::Line(line)) => {
                tracing::trace!(line, "from the engine");
                if line.to_ascii_lowercase().contains("error") {
                    self.error = clip(&line);
                }
                return Ok(Some(line));
            }
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Ok(Heard::Flood) => Wrong::Flood(MOST_LINE),
            Ok(Heard::End(how)) if self.error.is_empty() => Wrong::Ended(how),
            Ok(Heard::End(how)) => Wrong::Ended(format!("{how}; it said: {}", self.error)),
            Err(RecvTimeoutError::Disconnected) => Wrong::Ended("its keeper is gone".into()),
        };
        self.end = Some(wrong.clone());
        Err(wrong)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.end.is_none() && self.send(self.farewell).is_ok() {
            self.lines = None;
            let until = Instant::now() + LAST_WORDS;
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                if !matches!(self.hear(left), Ok(Some(_))) {
                    break;
                }
            }
        }
        // The child is not reaped yet, so the number is its own still.
        let _ = killpg(self.group, Signal::SIGKILL);
        (self.said, self.lines, self.release) = (None, None, None);
        // Where a stranger holds its pipe open the keeper goes on without us.
        let _ = self.reaped.recv_timeout(LAST_WORDS);
    }
}

fn spawn(address: &Address) -> std::io::Result<Child> {
    let mut command = Command::new(&address.program);
    command.args(&address.arguments).process_group(0);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_us(&mut command);
    command.spawn()
}

/// Lets the system kill the program when the thread that started it is gone, whatever ended that: nobody is left to.
#[cfg(target_os = "linux")]
fn die_with_us(command: &mut Command) {
    let us = nix::unistd::getpid();
    let die = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // Who was gone before that will not be missed later.
        if nix::unistd::getppid() == us {
            Ok(())
        } else {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: between fork and exec only two system calls are made, both of them safe after a fork; nothing is allocated.
    #[expect(unsafe_code, reason = "there is no safe way to say this to the system")]
    unsafe {
        command.pre_exec(die);
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_us(_: &mut Command) {}

/// Passes lines on until the program ends, is no longer listened to, or writes a line without end.
fn listen(stdout: impl Read, said: &SyncSender<Heard>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    // A pipe that cannot be read is as good as closed.
    while let Ok(bytes) = stdout.fill_buf() {
        if bytes.is_empty() {
            break;
        }
        // Gomocup's engines may end a line with either, or with both.
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let taken = end.unwrap_or(bytes.len());
        if line.len() + taken > MOST_LINE {
            let _ = said.send(Heard::Flood);
            return;
        }
        line.extend_from_slice(&bytes[..taken]);
        stdout.consume(taken + usize::from(end.is_some()));
        if end.is_some() && !line.is_empty() {
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if said.send(Heard::Line(text)).is_err() {
                return;
            }
        }
    }
}

/// How the program ended, as far as can be seen without reaping it, and the last that it complained of.
fn end(child: &Child, complaint: &Complaint) -> String {
    /// A program that closes its output is about to end.
    const SOON: Duration = Duration::from_secs(1);
    let until = Instant::now() + SOON;
    let how = loop {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(Pid::from_raw(child.id() as i32)), flags) {
            Ok(WaitStatus::Exited(_, code)) => break format!("exit code {code}"),
            Ok(WaitStatus::Signaled(_, signal, _)) => break format!("ended by {signal}"),
            _ if Instant::now() > until => break "it has closed its output".to_string(),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    // What it said last may still be on its way.
    let _ = complaint
        .read
        .recv_timeout(until.saturating_duration_since(Instant::now()));
    let complaint = complaint
        .last
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if complaint.is_empty() {
        how
    } else {
        format!("{how}; it said: {complaint}")
    }
}

/// What a program complains of.
struct Complaint {
    /// The last line.
    last: Arc<Mutex<String>>,
    /// Ends when all of it is read.
    read: Receiver<()>,
}

/// Reads what the program complains of, and keeps the last line.
fn complaint(child: &mut Child) -> Complaint {
    let last = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&last);
    let (reads, read) = sync_channel(0);
    let complaint = Complaint { last, read };
    let Some(stderr) = child.stderr.take() else {
        return complaint;
    };
    let read = move || {
        let (sender, lines) = sync_channel(1);
        std::thread::scope(|scope| {
            scope.spawn(move || listen(stderr, &sender));
            for heard in lines {
                if let Heard::Line(line) = heard {
                    tracing::debug!(line, "the engine complains");
                    *kept.lock().unwrap_or_else(PoisonError::into_inner) = clip(&line);
                }
            }
        });
        drop(reads);
    };
    // Without a thread nothing is kept, and its complaints wait in the pipe.
    let _ = Builder::new().name("engine-stderr".into()).spawn(read);
    complaint
}

fn write_all(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .is_err()
        {
            return;
        }
    }
}
