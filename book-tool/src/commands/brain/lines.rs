use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, sync_channel};

/// Bytes of the longest line that is read; what is longer is cut.
const LONGEST: usize = 1 << 16;
/// Lines that wait to be understood.
const WAITING: usize = 64;

/// The lines of a stream, read by a thread of their own so that a search can be stopped by the next one. What is not UTF-8
/// is replaced, and what is too long is cut. The channel ends where the stream does.
pub(crate) fn read(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(WAITING);
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

/// The next line without its end, be it LF, CR or both; `None` at the end of the stream, or where it cannot be read.
fn next(stream: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let buffer = stream.fill_buf().ok()?;
        if buffer.is_empty() {
            return (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned());
        }
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let room = LONGEST - line.len();
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
        assert_eq!(lines, [LONGEST, 4]);
    }
}
