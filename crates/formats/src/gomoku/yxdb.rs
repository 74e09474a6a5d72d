//! The bytes of a position database of Yixin and Rapfi (`.db`).
//!
//! A file is one LZ4 frame or its uncompressed content: a number of records, each a key (rule,
//! size, stones) and a value. All numbers are little-endian. Values are from the view of the side
//! to move, labels from that of the side that moved last.

use std::io::Read;

use anyhow::{Context, Result, bail};
use kagetsu_game::{Bound, Move, RuleName, Side, Variant};

/// The first bytes of a compressed file.
const LZ4: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// The maximum size of an uncompressed file, which bounds the memory that a small file can claim.
const MAX_UNPACKED_BYTES: u64 = 4 << 30;
/// A value beyond this is a mate, whose distance is the difference to [`MATE`].
const MIN_MATE_SCORE: i32 = 29_500;
const MATE: i32 = 30_000;
/// The point that stands for a pass.
const PASS: (i8, i8) = (-1, -1);
/// Key and value of the record that names the encoding of the texts.
const CHARSET: (&[u8], &[u8]) = (&[0, 0, 0], b"\0\0\0\0\0charset=\"UTF-8\"");

/// The rules of a database, each with its number.
pub(crate) const RULES: [(RuleName, u8); 3] = [
    (RuleName::Freestyle, 0),
    (RuleName::Standard, 1),
    (RuleName::Renju, 2),
];

/// A position with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YixinRecord {
    pub(crate) variant: Variant,
    /// Cells `row * size + column` of the first player's stones.
    pub(crate) first: Vec<u16>,
    /// Cells of the second player's stones.
    pub(crate) second: Vec<u16>,
    /// The side to move.
    pub(crate) side: Side,
    pub(crate) label: YixinLabel,
    pub(crate) value: YixinValue,
    pub(crate) depth: u16,
    /// The bound of the value, if there is a value.
    pub(crate) bound: Option<Bound>,
    /// Comments and texts on points.
    pub(crate) text: Vec<u8>,
}

/// The label of a position, for the side that moved last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YixinLabel {
    /// No label.
    None,
    Win,
    Loss,
    Draw,
    /// A mark without a value.
    Mark(u8),
}

/// A value from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YixinValue {
    Centi(i16),
    /// Plies to the end.
    Win(u16),
    Loss(u16),
}

impl YixinValue {
    fn read(raw: i16) -> Self {
        let plies = |raw: i32| (MATE - raw).max(0) as u16;
        match i32::from(raw) {
            raw if raw > MIN_MATE_SCORE => Self::Win(plies(raw)),
            raw if raw < -MIN_MATE_SCORE => Self::Loss(plies(-raw)),
            _ => Self::Centi(raw),
        }
    }

    fn write(self) -> i16 {
        let mate = |plies: u16| MATE - i32::from(plies).min(MATE - MIN_MATE_SCORE - 1);
        match self {
            Self::Centi(centi) => centi.clamp(-MIN_MATE_SCORE as i16, MIN_MATE_SCORE as i16),
            Self::Win(plies) => mate(plies) as i16,
            Self::Loss(plies) => -mate(plies) as i16,
        }
    }
}

impl YixinLabel {
    fn read(byte: u8) -> Self {
        match byte.to_ascii_lowercase() {
            0 | 0xff => Self::None,
            b'w' => Self::Win,
            b'l' => Self::Loss,
            b'd' => Self::Draw,
            mark => Self::Mark(mark),
        }
    }

    fn write(self) -> u8 {
        match self {
            Self::None => 0xff,
            Self::Win => b'w',
            Self::Loss => b'l',
            Self::Draw => b'd',
            Self::Mark(mark) => mark,
        }
    }
}

/// Reads the records of a file, without the record of the encoding.
///
/// # Errors
/// The first invalid record, by its number.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<YixinRecord>> {
    let mut unpacked = Vec::new();
    let mut rest = if bytes.starts_with(&LZ4) {
        let mut frame = lz4_flex::frame::FrameDecoder::new(bytes).take(MAX_UNPACKED_BYTES);
        frame
            .read_to_end(&mut unpacked)
            .context("the LZ4 frame is damaged")?;
        &unpacked[..]
    } else {
        bytes
    };
    let count =
        u32::from_le_bytes(cut(&mut rest).context("it is shorter than a number of records")?);
    let mut records = Vec::new();
    for number in 1..=count {
        let record = record(&mut rest).with_context(|| format!("record {number} of {count}"))?;
        records.extend(record);
    }
    if !rest.is_empty() {
        bail!(
            "{} bytes follow after the last of its {count} records",
            rest.len()
        );
    }
    Ok(records)
}

/// Takes bytes off the front.
fn cut<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

fn part<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = u16::from_le_bytes(cut(rest).context("it ends in the middle")?);
    let (bytes, after) = rest
        .split_at_checked(length.into())
        .context("it ends in the middle")?;
    *rest = after;
    Ok(bytes)
}

fn record(rest: &mut &[u8]) -> Result<Option<YixinRecord>> {
    let key = part(rest)?;
    if key.is_empty() {
        return Ok(None);
    }
    let body = part(rest)?;
    if key == CHARSET.0 {
        return Ok(None);
    }
    let (&[rule, width, height], stones) =
        key.split_first_chunk().context("the key is too short")?;
    let Some(&(rule, _)) = RULES.iter().find(|(_, number)| *number == rule) else {
        bail!("there is no rule {rule}");
    };
    if width != height || !Variant::GOMOKU_SIZES.contains(&width) {
        bail!("boards of {width} by {height} points are not played here");
    }
    let (pairs, odd) = stones.as_chunks::<2>();
    if !odd.is_empty() {
        bail!("half a stone");
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (at, &[x, y]) in pairs.iter().enumerate() {
        if (x as i8, y as i8) == PASS {
            continue;
        }
        if x >= width || y >= width {
            bail!("a stone off the board");
        }
        let cell = u16::from(y) * u16::from(width) + u16::from(x);
        if at < pairs.len().div_ceil(2) {
            first.push(cell)
        } else {
            second.push(cell)
        }
    }
    let byte = |at: usize| body.get(at).copied().unwrap_or(0);
    let depth_and_bound = u16::from_le_bytes([byte(3), byte(4)]);
    let bound = match depth_and_bound & 3 {
        1 => Some(Bound::Upper),
        2 => Some(Bound::Lower),
        3 => Some(Bound::Exact),
        _ => None,
    };
    Ok(Some(YixinRecord {
        variant: Variant::Gomoku { rule, size: width },
        first,
        second,
        side: Side::first_if(pairs.len().is_multiple_of(2)),
        label: YixinLabel::read(byte(0)),
        value: YixinValue::read(i16::from_le_bytes([byte(1), byte(2)])),
        depth: depth_and_bound >> 2,
        bound,
        text: body.get(5..).unwrap_or_default().to_vec(),
    }))
}

/// Writes records as an uncompressed file, which Yixin and Rapfi both read. Positions are turned
/// and sorted as these programs do.
pub(crate) fn write(records: &[YixinRecord]) -> Vec<u8> {
    let mut parts: Vec<(Vec<u8>, Vec<u8>)> = records
        .iter()
        .map(|record| (key(record), body(record)))
        .collect();
    // The order is by rule and size, then by the number of stones, then by the bytes.
    parts.sort_by(|(a, _), (b, _)| (&a[..3], a.len(), a).cmp(&(&b[..3], b.len(), b)));
    parts.dedup_by(|(a, _), (b, _)| a == b);
    let charset = (CHARSET.0.to_vec(), CHARSET.1.to_vec());
    let mut bytes = (parts.len() as u32 + 1).to_le_bytes().to_vec();
    for (key, body) in [charset].iter().chain(&parts) {
        for part in [key, body] {
            bytes.extend((part.len() as u16).to_le_bytes());
            bytes.extend(part);
        }
    }
    bytes
}

/// Returns the key: the least of the eight images of a position.
fn key(record: &YixinRecord) -> Vec<u8> {
    let Some((rule, size)) = record.variant.gomoku() else {
        return Vec::new();
    };
    let rule = RULES.iter().find(|(name, _)| *name == rule);
    let rule = rule.map_or(0, |(_, number)| *number);
    let turned = |symmetry| {
        let stones = |cells: &[u16]| {
            let point = |cell: &u16| {
                let cell = record.variant.image(Move::new(*cell), symmetry).code();
                (
                    (cell % u16::from(size)) as u8,
                    (cell / u16::from(size)) as u8,
                )
            };
            let mut points: Vec<(u8, u8)> = cells.iter().map(point).collect();
            points.sort_unstable();
            points
        };
        let (mut first, mut second) = (stones(&record.first), stones(&record.second));
        // Passes pad the stones, because their numbers determine the side to move.
        let pass = (PASS.0 as u8, PASS.1 as u8);
        let ahead = usize::from(record.side == Side::Second);
        while first.len() < second.len() + ahead {
            first.push(pass);
        }
        while second.len() + ahead < first.len() {
            second.push(pass);
        }
        first
            .into_iter()
            .chain(second)
            .flat_map(|(x, y)| [x, y])
            .collect::<Vec<u8>>()
    };
    let images = record.variant.symmetries().map(turned);
    let least = images.min().unwrap_or_default();
    [&[rule, size, size], &least[..]].concat()
}

fn body(record: &YixinRecord) -> Vec<u8> {
    let bound = match record.bound {
        None => 0,
        Some(Bound::Upper) => 1,
        Some(Bound::Lower) => 2,
        Some(Bound::Exact) => 3,
    };
    let depth_and_bound = (record.depth.min(u16::MAX >> 2) << 2) | bound;
    let mut bytes = vec![record.label.write()];
    bytes.extend(record.value.write().to_le_bytes());
    bytes.extend(depth_and_bound.to_le_bytes());
    // The length of a part has 16 bits.
    bytes.extend(record.text.iter().take(usize::from(u16::MAX) - bytes.len()));
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn some_record() -> impl Strategy<Value = YixinRecord> {
        let stones = btree_set(0u16..225, 0..40)
            .prop_map(Vec::from_iter)
            .prop_shuffle();
        let label = prop::sample::select(vec![
            YixinLabel::None,
            YixinLabel::Win,
            YixinLabel::Loss,
            YixinLabel::Draw,
            YixinLabel::Mark(b'!'),
        ]);
        let value = prop_oneof![
            (-29_500i16..=29_500).prop_map(YixinValue::Centi),
            (0u16..400).prop_map(YixinValue::Win),
            (0u16..400).prop_map(YixinValue::Loss),
        ];
        let bound = prop::sample::select(vec![
            None,
            Some(Bound::Exact),
            Some(Bound::Lower),
            Some(Bound::Upper),
        ]);
        (
            stones,
            label,
            value,
            0u16..5_000,
            bound,
            vec(any::<u8>(), 0..20),
        )
            .prop_map(|(stones, label, value, depth, bound, text)| {
                let variant = Variant::FREESTYLE_15;
                let (first, second) = stones.split_at(stones.len().div_ceil(2));
                let side = Side::first_if(first.len() == second.len());
                let (first, second) = (first.to_vec(), second.to_vec());
                YixinRecord {
                    variant,
                    first,
                    second,
                    side,
                    label,
                    value,
                    depth,
                    bound,
                    text,
                }
            })
    }

    proptest! {
        #[test]
        fn written_files_are_read_back(record in some_record()) {
            let bytes = write(std::slice::from_ref(&record));
            let records = read(&bytes).expect("our own");
            prop_assert_eq!(records.len(), 1);
            let turned = &records[0];
            prop_assert_eq!(write(&records), bytes);
            prop_assert_eq!(
                YixinRecord { first: record.first.clone(), second: record.second.clone(), ..turned.clone() },
                record
            );
        }

        #[test]
        fn arbitrary_database_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200), record in some_record(), at: prop::sample::Index, byte: u8) {
            let _ = read(&bytes);
            let _ = read(&[&LZ4[..], &bytes].concat());
            let mut damaged = write(&[record]);
            let at = at.index(damaged.len());
            damaged[at] = byte;
            let _ = read(&damaged);
            let _ = read(&damaged[..at]);
        }
    }
}
