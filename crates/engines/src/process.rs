//! A child process behind two pipes.
//!
//! One thread starts the process, reads its lines and reaps it; another thread writes lines to it.
//! Neither can block the caller or fill its memory: lines have a maximum length and queues a
//! maximum number of lines. A process that writes faster than its lines are read blocks on its own
//! pipe.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::address::EngineAddress;
use crate::family::Family;
use crate::fault::{FaultKind, clip};

/// Longest line, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 16;
/// Most lines that were received and not read yet.
const MAX_UNREAD_LINES: usize = 256;
/// Most lines that wait to be written. A gomoku position takes some hundreds.
const MAX_UNSENT_LINES: usize = 4_096;
/// Time for a process to end after the command to quit.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);

/// An event from the process's output.
enum Output {
    Line(String),
    Flood,
    End(String),
}

/// A running process. It and all that it started are killed on drop.
pub(crate) struct EngineProcess {
    /// `None` once it was killed.
    family: Option<Family>,
    output: Option<Receiver<Output>>,
    lines: Option<SyncSender<String>>,
    /// Dropping it lets the reading thread reap the child; its process number is free from then on.
    release: Option<SyncSender<()>>,
    /// Closes when the child is reaped.
    reaped: Receiver<()>,
    /// The line that tells the process to quit.
    farewell: &'static str,
    /// The last line that mentions an error; some engines report on stdout why they end.
    error: String,
    /// The way in which the process ended, once known.
    end: Option<FaultKind>,
}

impl EngineProcess {
    /// Starts the program in a process group of its own.
    pub(crate) fn start(
        address: &EngineAddress,
        farewell: &'static str,
    ) -> Result<Self, FaultKind> {
        let (started, start) = sync_channel(1);
        let (sender, output) = sync_channel(MAX_UNREAD_LINES);
        let (release, released) = sync_channel(0);
        let (reaps, reaped) = sync_channel(1);
        let address = address.clone();
        let keep = move || {
            let (family, mut child) = match spawn(&address) {
                Ok(started) => started,
                Err(error) => {
                    return drop(started.send(Err(format!("{}: {error}", address.program))));
                }
            };
            let complaint = complaint(&mut child);
            let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
            if started.send(Ok((family, stdin))).is_ok() {
                if let Some(stdout) = stdout {
                    listen(stdout, &sender);
                }
                let _ = sender.send(Output::End(end(&mut child, &complaint)));
            }
            drop(sender);
            let _ = released.recv();
            // The child was killed, so this returns at once.
            let _ = child.wait();
            drop(reaps);
        };
        let failed = |reason: String| {
            FaultKind::Permanent(format!(
                "cannot be started: {reason}; give the path of a program that can be run, as in \
                 --engine uci:/usr/games/NAME"
            ))
        };
        Builder::new()
            .name("engine".into())
            .spawn(keep)
            .map_err(|error| failed(error.to_string()))?;
        let started = start.recv().map_err(|_| failed("no thread".into()))?;
        let (family, stdin) = started.map_err(failed)?;
        let (lines, queue) = sync_channel(MAX_UNSENT_LINES);
        let process = Self {
            family: Some(family),
            output: Some(output),
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

    /// Queues a line for the process.
    pub(crate) fn send(&mut self, line: &str) -> Result<(), FaultKind> {
        tracing::trace!(line, "to the engine");
        let Some(lines) = &self.lines else {
            return Err(FaultKind::input_blocked());
        };
        match lines.try_send(line.to_string()) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(FaultKind::input_blocked()),
            // The pipe is closed: earlier lines explain more than this error.
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }

    /// Returns the next line, or `None` if none arrives within the time.
    pub(crate) fn hear(&mut self, time: Duration) -> Result<Option<String>, FaultKind> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let Some(output) = &self.output else {
            return Err(FaultKind::input_blocked());
        };
        let wrong = match output.recv_timeout(time) {
            Ok(Output::Line(line)) => {
                tracing::trace!(line, "from the engine");
                if line.to_ascii_lowercase().contains("error") {
                    self.error = clip(&line);
                }
                return Ok(Some(line));
            }
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Ok(Output::Flood) => format!("wrote a line of more than {MAX_LINE_BYTES} bytes"),
            Ok(Output::End(how)) if self.error.is_empty() => format!("has ended: {how}"),
            Ok(Output::End(how)) => {
                format!("has ended: {how}; its last message: {}", self.error)
            }
            Err(RecvTimeoutError::Disconnected) => "has ended: its keeper is gone".into(),
        };
        Err(self.end.insert(FaultKind::Other(wrong)).clone())
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        if self.end.is_none() && self.send(self.farewell).is_ok() {
            self.lines = None;
            let until = Instant::now() + QUIT_TIMEOUT;
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                if !matches!(self.hear(left), Ok(Some(_))) {
                    break;
                }
            }
        }
        // The child is not reaped yet.
        self.family = None;
        (self.output, self.lines, self.release) = (None, None, None);
        // If another process holds the pipe open, the reading thread goes on alone.
        let _ = self.reaped.recv_timeout(QUIT_TIMEOUT);
    }
}

fn spawn(address: &EngineAddress) -> std::io::Result<(Family, Child)> {
    let mut command = Command::new(&address.program);
    command
        .args(&address.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Family::start(&mut command)
}

/// Forwards lines until the process ends, the receiver is gone, or a line is too long.
fn listen(stdout: impl Read, output: &SyncSender<Output>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    // A pipe that cannot be read counts as closed.
    while let Ok(bytes) = stdout.fill_buf() {
        if bytes.is_empty() {
            break;
        }
        // Gomocup engines may end a line with either character, or with both.
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let taken = end.unwrap_or(bytes.len());
        if line.len() + taken > MAX_LINE_BYTES {
            let _ = output.send(Output::Flood);
            return;
        }
        line.extend_from_slice(&bytes[..taken]);
        stdout.consume(taken + usize::from(end.is_some()));
        if end.is_some() && !line.is_empty() {
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if output.send(Output::Line(text)).is_err() {
                return;
            }
        }
    }
}

/// Describes how the process ended, as far as visible without reaping it, with its last line on
/// stderr.
fn end(child: &mut Child, complaint: &Stderr) -> String {
    /// A process that closes its output is about to end.
    const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
    let until = Instant::now() + EXIT_TIMEOUT;
    let how = loop {
        match Family::end_of(child) {
            Some(how) => break how,
            None if Instant::now() > until => break "it has closed its output".to_string(),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    // The last line on stderr may still be on its way.
    let _ = complaint
        .read
        .recv_timeout(until.saturating_duration_since(Instant::now()));
    let complaint = complaint.last.lock();
    if complaint.is_empty() {
        how
    } else {
        format!("{how}; its last message: {complaint}")
    }
}

/// The process's standard error.
struct Stderr {
    /// The last line.
    last: Arc<Mutex<String>>,
    /// Closes when all of it is read.
    read: Receiver<()>,
}

/// Reads standard error and keeps the last line.
fn complaint(child: &mut Child) -> Stderr {
    let last = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&last);
    let (reads, read) = sync_channel(0);
    let complaint = Stderr { last, read };
    let Some(stderr) = child.stderr.take() else {
        return complaint;
    };
    let read = move || {
        let (sender, lines) = sync_channel(1);
        std::thread::scope(|scope| {
            scope.spawn(move || listen(stderr, &sender));
            for event in lines {
                if let Output::Line(line) = event {
                    tracing::debug!(line, "the engine complains");
                    *kept.lock() = clip(&line);
                }
            }
        });
        drop(reads);
    };
    // Without a thread nothing is kept, and the lines stay in the pipe.
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
