use std::io::{self, ErrorKind, Write};

/// Standard output that notes whether its reader has closed the pipe.
#[derive(Debug)]
pub struct Stdout {
    inner: io::Stdout,
    is_closed: bool,
}

impl Stdout {
    /// Whether the reader has closed the pipe. Errors of a command after that are no errors.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        let is_broken = |error: &io::Error| error.kind() == ErrorKind::BrokenPipe;
        self.is_closed |= done.as_ref().is_err_and(is_broken);
        done
    }
}

impl Default for Stdout {
    fn default() -> Self {
        Self {
            inner: io::stdout(),
            is_closed: false,
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.inner.write(bytes);
        self.note(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.inner.flush();
        self.note(done)
    }
}
