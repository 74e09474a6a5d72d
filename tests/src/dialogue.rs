use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for a line; it only bounds a failing test.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// A program that the test talks to line by line. It is killed on drop.
#[derive(Debug)]
pub struct Dialogue {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Dialogue {
    /// Starts a command.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let input = child.stdin.take();
        Self {
            child,
            input,
            lines,
        }
    }

    /// Sends lines, or any bytes.
    ///
    /// # Panics
    /// If the program has closed its input.
    pub fn say(&mut self, text: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("not hung up");
        input
            .write_all(text.as_ref())
            .and_then(|()| input.write_all(b"\n"))
            .expect("it listens");
        input.flush().expect("it listens");
    }

    /// Returns the next line that begins with `begin`, and the lines before it.
    ///
    /// # Panics
    /// If none comes.
    pub fn until(&self, begin: &str) -> (String, Vec<String>) {
        self.find(&format!("a line that begins with '{begin}'"), |line| {
            line.starts_with(begin)
        })
    }

    /// Returns the next line for which `is_it` holds, and the lines before it.
    ///
    /// # Panics
    /// If none comes.
    pub fn find(&self, what: &str, is_it: impl Fn(&str) -> bool) -> (String, Vec<String>) {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(TEST_TIMEOUT) {
                Ok(line) if is_it(&line) => return (line, before),
                Ok(line) => before.push(line),
                Err(error) => panic!("{error} waiting for {what} after {before:#?}"),
            }
        }
    }

    /// Closes the program's stdin and waits for its end. Returns the remaining lines.
    ///
    /// # Panics
    /// If it does not end in time.
    pub fn hang_up(mut self) -> (ExitStatus, Vec<String>) {
        drop(self.input.take());
        let mut last = Vec::new();
        loop {
            match self.lines.recv_timeout(TEST_TIMEOUT) {
                Ok(line) => last.push(line),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("{error}: it goes on after the end of its stdin: {last:#?}"),
            }
        }
        (self.child.wait().expect("our own child"), last)
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
