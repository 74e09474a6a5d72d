//! The search for whole entries in a damaged journal.

use crate::error::BookError;
use crate::journal::frame::{FRAME_BYTES, HEADER_BYTES, MAX_ENTRY_BYTES, checksum};
use crate::journal::log::Sequence;

/// A callback for each whole entry of a damaged journal, and whether it follows the one before
/// without a gap.
type Salvaged<'a> = dyn FnMut(Sequence, &[u8], bool) -> Result<(), BookError> + 'a;

/// Finds the whole entries of a damaged journal: behind damage it tries every byte as the beginning
/// of the next entry. Returns the number of bytes that belong to no whole entry.
pub(crate) fn whole_entries(bytes: &[u8], each: &mut Salvaged) -> Result<u64, BookError> {
    let (mut at, mut last, mut lost) = (HEADER_BYTES as usize, 0, 0);
    let mut is_next = true;
    while at < bytes.len() {
        match entry_at(&bytes[at..], last) {
            Some((number, entry)) => {
                each(Sequence(number), entry, is_next && number == last + 1)?;
                (at, last, is_next) = (at + FRAME_BYTES + entry.len(), number, true);
            }
            None => (at, lost, is_next) = (at + 1, lost + 1, false),
        }
    }
    Ok(lost)
}

/// Returns the whole entry at the beginning of these bytes, if its number is greater than the last.
fn entry_at(bytes: &[u8], last: u64) -> Option<(u64, &[u8])> {
    let (frame, rest) = bytes.split_first_chunk::<FRAME_BYTES>()?;
    let [length, of_length, of_entry] =
        [0, 4, 8].map(|at| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let number = u64::from(number_of(u32::from_le_bytes(of_length), length));
    let entry = rest
        .get(..u32::from_le_bytes(length) as usize)
        .filter(|entry| entry.len() <= MAX_ENTRY_BYTES as usize)?;
    let is_whole = number > last && checksum(number, entry) == u32::from_le_bytes(of_entry);
    is_whole.then_some((number, entry))
}

/// Returns the number below 2^32 that has this checksum together with a length. Four bytes reach
/// every state of a CRC-32 in exactly one way, so the computation can be reversed.
fn number_of(sum: u32, length: [u8; 4]) -> u32 {
    let zeros = [0; 4];
    let before = length
        .iter()
        .rev()
        .chain(&zeros)
        .chain(&zeros)
        .fold(!sum, |state, byte| step_back(state, *byte));
    !before
}

/// Returns the state of a CRC-32 before a byte.
fn step_back(state: u32, byte: u8) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let state = (0..8).fold(state, |state, _| {
        // The highest bit says whether the polynomial was added.
        if state >> 31 == 1 {
            (state ^ POLYNOMIAL) << 1 | 1
        } else {
            state << 1
        }
    });
    state ^ u32::from(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::frame::{frame, header};

    #[test]
    fn the_number_of_an_entry_is_found_from_its_checksum() {
        for number in [1, 2, 255, 256, 70_000, u32::MAX] {
            for length in [[0; 4], [1, 2, 3, 4], [255; 4]] {
                assert_eq!(number_of(checksum(number.into(), &length), length), number);
            }
        }
    }

    #[test]
    fn whole_entries_behind_damage_are_found() {
        let entries: Vec<Vec<u8>> = (0..30_u8)
            .map(|n| vec![n; usize::from(n) * 7 % 40])
            .collect();
        let frames: Vec<Vec<u8>> = (1..)
            .zip(&entries)
            .map(|(number, entry)| frame(number, entry).expect("short"))
            .collect();
        let whole: Vec<u8> = [header(), frames.concat()].concat();
        let begins = |nth: usize| 12 + frames[..nth].iter().map(Vec::len).sum::<usize>();
        for (from, to) in [
            (0, 3),
            (0, 13),
            (begins(4), begins(4) + 1),
            (begins(9) + 5, begins(12) + 3),
            (begins(29), whole.len()),
        ] {
            let mut bytes = whole.clone();
            bytes[from..to].iter_mut().for_each(|byte| *byte ^= 0x5a);
            let mut found = Vec::new();
            whole_entries(&bytes, &mut |Sequence(number), entry, _| {
                assert_eq!(entry, entries[number as usize - 1]);
                found.push(number as usize);
                Ok(())
            })
            .expect("nothing fails");
            let is_hit = |number: &usize| begins(number - 1) < to && from < begins(*number);
            let expected: Vec<usize> = (1..=30).filter(|number| !is_hit(number)).collect();
            assert_eq!(found, expected, "{from}..{to}");
        }
    }
}
