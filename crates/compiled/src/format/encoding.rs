//! The encoding of a position and its moves in a compiled book.

use std::borrow::Cow;
use std::cmp::Reverse;

use kagetsu_game::{Answer, Bound, Move, Proof, Provenance, Score, Verdict};

use crate::content::choice::Choice;
use crate::content::derived::Derived;

/// Moves that are kept with an exact value or a lower bound: the best.
const MAX_KNOWN_MOVES: usize = 12;
/// Moves that are kept with an upper bound above the value of the best.
const MAX_RIVAL_MOVES: usize = 4;
/// The bit of the proof byte for an open position: a move without a value may be the best.
const OPEN: u8 = 0x80;
/// The bit of the proof byte for a position whose value no move reaches.
const NO_BEST: u8 = 0x40;
/// The bits of the bound in the number of a move; the value 3 is unused.
const BOUND: u16 = 3 << 1;
/// A move that was only played has as score this less the times, as far as three bytes hold them.
const PLAYED: i32 = i16::MIN as i32;
const MAX_PLAYED: u64 = 900_000;

/// The value of a position and its best moves as a compiled book holds them, in canonical
/// orientation.
#[derive(Clone, Debug)]
pub struct Compact<'a> {
    value: Derived,
    /// The moves of the position.
    count: u8,
    /// The position, and the index of the first move.
    bytes: Cow<'a, [u8]>,
    moves: usize,
}

/// A move of a compiled book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactMove {
    /// The move.
    pub at: Move,
    /// The value, from the view of the side that makes the move.
    pub score: Score,
    /// Whether the score is exact.
    pub bound: Bound,
    /// The depth of the search in plies.
    pub depth: u8,
    /// The proof, if there is one.
    pub proof: Option<Proof>,
    /// How often it was played, if no value is known.
    pub played: u32,
}

/// Encodes a position; `None` for moves or scores that no game has.
pub(crate) fn write(value: &Derived, answer: &Answer) -> Option<Vec<u8>> {
    let kept = kept(value, answer);
    let mut bytes = vec![u8::try_from(kept.len()).ok()?];
    let has_best = value.best.is_some() && kept.first().map(|(m, _)| *m) == value.best;
    let flags = if value.is_open { OPEN } else { 0 } | if has_best { 0 } else { NO_BEST };
    bytes.push(flags | value.proof.map_or(0, |proof| proof.code() + 1));
    if let Some(proof) = value.proof {
        put(&mut bytes, proof.plies.into());
    }
    put(&mut bytes, value.depth.into());
    put(&mut bytes, zigzag(value.score.raw().into()));
    let (mut score, mut depth) = (
        i32::from(value.score.raw()),
        i32::from(value.depth.min(255)),
    );
    for (m, verdict) in kept {
        let raw = match verdict.nodes {
            times @ 1.. if verdict.is_silent() => PLAYED - times.min(MAX_PLAYED) as i32,
            _ => verdict.score.raw().into(),
        };
        if m.code() >= 1 << 13 {
            return None;
        }
        let bound = verdict.bound as u16;
        bytes.extend(
            (m.code() << 3 | bound << 1 | u16::from(verdict.proof.is_some())).to_le_bytes(),
        );
        put(&mut bytes, zigzag(raw - score));
        put(&mut bytes, zigzag(i32::from(verdict.depth) - depth));
        if let Some(proof) = verdict.proof {
            bytes.push(proof.code());
            put(&mut bytes, proof.plies.into());
        }
        (score, depth) = (raw, verdict.depth.into());
    }
    Some(bytes)
}

/// Returns the moves that are kept: the one that reaches the value, the best others, and those that
/// may be better.
fn kept<'a>(value: &Derived, answer: &'a Answer) -> Vec<&'a (Move, Verdict)> {
    let is_known = |(_, v): &&(Move, Verdict)| v.bound != Bound::Upper || v.proof.is_some();
    let (mut first, mut others): (Vec<_>, Vec<_>) = answer
        .verdicts()
        .iter()
        .filter(is_known)
        .partition(|(m, _)| Some(*m) == value.best);
    // Moves without a value are last: the most frequent come first.
    others.sort_by_key(|(_, v)| v.is_silent().then_some(Reverse(v.nodes)));
    first.extend(others.into_iter().take(MAX_KNOWN_MOVES - first.len()));
    first.extend(
        Choice::default()
            .rivals(answer)
            .into_iter()
            .take(MAX_RIVAL_MOVES),
    );
    first
}

impl<'a> Compact<'a> {
    /// Decodes a position; `None` for damaged bytes.
    #[inline]
    pub(crate) fn read(bytes: Cow<'a, [u8]>) -> Option<Self> {
        let (value, count, moves) = read_common(&bytes).or_else(|| read_any(&bytes))?;
        Some(Self {
            value,
            count,
            bytes,
            moves,
        })
    }

    /// Returns the value of the position.
    #[must_use]
    pub fn value(&self) -> Derived {
        self.value
    }

    /// Returns the moves, the one that reaches the value first; `None` in place of a damaged one.
    #[inline]
    pub fn moves(&self) -> impl Iterator<Item = Option<CompactMove>> {
        let moves = self.bytes.get(self.moves..).unwrap_or_default();
        moves_in(moves, self.count, self.value)
    }

    /// Returns the moves as an answer; `None` for damaged bytes.
    pub(crate) fn answer(&self, by: &Provenance) -> Option<Answer> {
        let verdict = |stored: Option<CompactMove>| {
            let CompactMove {
                at,
                score,
                bound,
                depth,
                proof,
                played,
            } = stored?;
            let line = if bound == Bound::Exact {
                vec![at]
            } else {
                Vec::new()
            };
            Some((
                at,
                Verdict {
                    score,
                    bound,
                    depth,
                    nodes: played.into(),
                    line,
                    proof,
                    by: by.clone(),
                },
            ))
        };
        self.moves().map(verdict).collect()
    }
}

/// Decodes the common case: no proof, not open, a depth of one byte. Few steps depend on these
/// bytes, which wait for memory; with more of them the processor could not begin the next
/// look-up meanwhile.
#[inline]
fn read_common(bytes: &[u8]) -> Option<(Derived, u8, usize)> {
    let [count, 0, depth @ ..0x80, low, high, ..] = *bytes else {
        return None;
    };
    let long = low >> 7;
    if long & high >> 7 != 0 {
        return None;
    }
    let raw = u32::from(low & 0x7f) | (u32::from(high) * u32::from(long)) << 7;
    let score = score(unzigzag(raw))?;
    let moves = 4 + usize::from(long);
    let head = u16::from_le_bytes(*bytes.get(moves..)?.first_chunk()?);
    if count == 0 || head & BOUND == BOUND {
        return None;
    }
    let value = Derived {
        score,
        proof: None,
        best: Some(Move::new(head >> 3)),
        depth: depth.into(),
        is_open: false,
    };
    Some((value, count, moves))
}

/// Decodes any position.
#[inline]
fn read_any(whole: &[u8]) -> Option<(Derived, u8, usize)> {
    let mut bytes = whole;
    let [count, flags] = take(&mut bytes)?;
    let proof = match flags & !(OPEN | NO_BEST) {
        0 => None,
        code => Some(proof(code - 1, &mut bytes)?),
    };
    let depth = u16::try_from(get(&mut bytes)?).ok()?;
    let score = score(unzigzag(get(&mut bytes)?))?;
    let mut value = Derived {
        score,
        proof,
        best: None,
        depth,
        is_open: flags & OPEN != 0,
    };
    if flags & NO_BEST == 0 {
        value.best = Some(moves_in(bytes, count, value).next()??.at);
    }
    Some((value, count, whole.len() - bytes.len()))
}

/// Decodes the moves of a position with a value.
#[inline]
fn moves_in(moves: &[u8], count: u8, value: Derived) -> impl Iterator<Item = Option<CompactMove>> {
    let mut rest = moves;
    let (mut before, mut depth) = (
        i32::from(value.score.raw()),
        i32::from(value.depth.min(255)),
    );
    (0..count).map(move |_| {
        let head = u16::from_le_bytes(take(&mut rest)?);
        let bound = match head >> 1 & 3 {
            0 => Bound::Upper,
            1 => Bound::Lower,
            2 => Bound::Exact,
            _ => return None,
        };
        let (higher, deeper) = differences(&mut rest)?;
        (before, depth) = (before.checked_add(higher)?, depth.checked_add(deeper)?);
        let proof = if head & 1 == 1 {
            let [code] = take(&mut rest)?;
            Some(proof(code, &mut rest)?)
        } else {
            None
        };
        let played = (PLAYED - before).max(0).cast_unsigned();
        Some(CompactMove {
            at: Move::new(head >> 3),
            score: if played > 0 {
                -Score::OPINION_MAX
            } else {
                score(before)?
            },
            bound,
            depth: u8::try_from(depth).ok()?,
            proof,
            played,
        })
    })
}

/// Decodes two differences, with a short path for the usual two bytes.
#[inline]
fn differences(bytes: &mut &[u8]) -> Option<(i32, i32)> {
    match **bytes {
        [first @ ..0x80, second @ ..0x80, ref rest @ ..] => {
            *bytes = rest;
            Some((unzigzag(first.into()), unzigzag(second.into())))
        }
        _ => Some((unzigzag(get(bytes)?), unzigzag(get(bytes)?))),
    }
}

fn score(raw: i32) -> Option<Score> {
    Score::from_raw(i16::try_from(raw).ok()?)
}

fn proof(code: u8, bytes: &mut &[u8]) -> Option<Proof> {
    let plies = u16::try_from(get(bytes)?).ok()?;
    Proof::from_code(code, plies)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// Maps small numbers of either sign to small numbers: 0, -1, 1, -2, 2.
fn zigzag(number: i32) -> u32 {
    (number << 1 ^ number >> 31).cast_unsigned()
}

fn unzigzag(number: u32) -> i32 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Encodes a number with seven bits a byte, the least first; the eighth bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Decodes a number of at most three bytes.
fn get(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let [byte] = take(bytes)?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Claim, ProofKind};
    use proptest::prelude::*;

    use super::*;

    fn by() -> Provenance {
        Provenance {
            engine: "test".into(),
            day: 9,
        }
    }

    fn known() -> impl Strategy<Value = (i16, bool, u8, Option<u16>)> {
        (
            -30_000i16..=30_000,
            any::<bool>(),
            any::<u8>(),
            proptest::option::weighted(0.2, 0u16..=1_999),
        )
    }

    proptest! {
        #[test]
        fn encoded_values_are_read_back(
            values in proptest::collection::btree_map(0u16..8_192, known(), 0..=MAX_KNOWN_MOVES),
            (at, depth, is_open) in (any::<prop::sample::Index>(), any::<u16>(), any::<bool>()),
        ) {
            let proof = |plies| Proof::new(Claim::Win, ProofKind::Vct, plies);
            let verdict = |(code, (raw, is_exact, depth, plies)): (&u16, &(i16, bool, u8, Option<u16>))| {
                let (m, bound) = (Move::new(*code), if *is_exact { Bound::Exact } else { Bound::Lower });
                let score = Score::from_raw(*raw).expect("in range");
                let line = if *is_exact { vec![m] } else { vec![] };
                (m, Verdict { score, bound, depth: *depth, nodes: 0, line, proof: plies.map(proof), by: by() })
            };
            let answer: Answer = values.iter().map(verdict).collect();
            let best = (!answer.is_empty()).then(|| at.get(answer.verdicts()));
            let value = Derived {
                score: best.map_or(Score::ZERO, |(_, v)| v.score),
                proof: best.and_then(|(_, v)| v.proof),
                best: best.map(|(m, _)| *m),
                depth,
                is_open,
            };
            let bytes = write(&value, &answer).expect("all moves are a game's");
            prop_assert!(bytes.len() < 200);
            let read = Compact::read(Cow::Borrowed(&bytes)).expect("just written");
            let any = read_any(&bytes).expect("just written");
            prop_assert_eq!((read.value, read.count, read.moves), any);
            prop_assert_eq!(read.value(), value);
            prop_assert_eq!(read.answer(&by()), Some(answer));
        }

        #[test]
        fn played_moves_keep_their_counts(times in proptest::collection::vec(0u64..=MAX_PLAYED, 0..30)) {
            let verdict = |(code, nodes): (u16, &u64)| {
                let (score, bound) = (-Score::OPINION_MAX, Bound::Lower);
                (Move::new(code), Verdict { score, bound, depth: 0, nodes: *nodes, line: vec![], proof: None, by: by() })
            };
            let answer: Answer = (0..).zip(&times).map(verdict).collect();
            let value = Derived { score: Score::ZERO, proof: None, best: None, depth: 0, is_open: true };
            let bytes = write(&value, &answer).expect("all moves are a game's");
            let read = Compact::read(Cow::Borrowed(&bytes)).and_then(|compact| compact.answer(&by()));
            let counts = |answer: &Answer| {
                let mut counts: Vec<u64> = answer.verdicts().iter().map(|(_, v)| v.nodes).collect();
                counts.sort_by_key(|times| Reverse(*times));
                counts.truncate(MAX_KNOWN_MOVES);
                counts
            };
            let read = read.expect("just written");
            prop_assert!(read.verdicts().iter().all(|(_, v)| v.is_silent()));
            prop_assert_eq!(counts(&read), counts(&answer));
        }

        #[test]
        fn no_bytes_are_a_surprise(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let (Some(common), Some(any)) = (read_common(&bytes), read_any(&bytes)) {
                prop_assert_eq!(common, any);
            }
            if let Some(answer) = Compact::read(Cow::Borrowed(&bytes)).and_then(|compact| compact.answer(&by())) {
                prop_assert!(answer.len() <= bytes.len());
            }
        }
    }
}
