use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::sync::mpsc::{Receiver, sync_channel};

/// The maximum length of a line, in bytes; longer lines are cut.
const MAX_LINE_BYTES: usize = 1 << 16;
/// The maximum number of unread lines in the channel.
const MAX_WAITING_LINES: usize = 64;

/// Reads lines in a thread of its own, so that the next line can stop a search. Invalid UTF-8 is
/// replaced, and long lines are cut. The channel ends with the stream.
pub(crate) fn read(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(MAX_WAITING_LINES);
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Some(line) = next(&mut stream) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Returns the next line without its end (LF, CR or both), or `None` at the end of the stream or on
/// a read error.
fn next(stream: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let buffer = match stream.fill_buf() {
            // A signal is no end of the stream.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::warn!("cannot read the next command: {error}");
                return None;
            }
            Ok(buffer) => buffer,
        };
        if buffer.is_empty() {
            tracing::debug!("the commands have ended");
            return (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned());
        }
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = MAX_LINE_BYTES - line.len();
        line.extend(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        stream.consume(used);
        if end.is_some() {
            return Some(String::from_utf8_lossy(&line).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_any_of_the_three_ends() {
        let lines: Vec<String> = read(&b"START 15\r\nBEGIN\rEND\n\xff"[..]).iter().collect();
        assert_eq!(lines, ["START 15", "", "BEGIN", "END", "\u{fffd}"]);
    }

    #[test]
    fn a_long_line_takes_no_memory() {
        let flood = std::io::repeat(b'x').take(10 << 20).chain(&b"\nquit\n"[..]);
        let lines: Vec<usize> = read(flood).iter().map(|line| line.len()).collect();
        assert_eq!(lines, [MAX_LINE_BYTES, 4]);
    }
}
