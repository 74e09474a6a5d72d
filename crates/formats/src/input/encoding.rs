//! Texts in the encodings that programs wrote before UTF-8.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The letters of moves on Chinese score sheets.
const ENTRY_LETTERS: &str =
    "车車俥马馬傌炮砲兵卒士仕象相将將帅帥进進退平前后後一二三四五六七八九１２３４５６７８９";

/// More letters of moves than this in another encoding show that a game is written in that.
const MIN_ENTRY_LETTERS: usize = 6;

/// Decodes a text of xiangqi. A file that was joined from several may have games in several
/// encodings.
pub(crate) fn decode_entries(bytes: &[u8]) -> Cow<'_, str> {
    let is_entry = |letter: &char| ENTRY_LETTERS.contains(*letter);
    let entries = |text: &str| text.chars().filter(is_entry).count();
    let encoding = encoding_of(bytes, None, entries);
    let games = games(bytes);
    if games.len() == 1 || [UTF_16LE, UTF_16BE].contains(&encoding) || is_utf_8(bytes) {
        return encoding.decode(bytes).0;
    }
    let decoded = games.into_iter().map(|game| {
        let own = encoding_of(game, None, entries).decode(game).0;
        let text = encoding.decode(game).0;
        let is_own = entries(&own) > 2 * entries(&text) + MIN_ENTRY_LETTERS;
        if is_own { own } else { text }
    });
    decoded.collect::<String>().into()
}

/// Splits a text where a tag stands behind an empty line.
fn games(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut games, mut begin, mut at, mut is_behind) = (Vec::new(), 0, 0, false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if is_behind && line.starts_with(b"[") {
            games.push(&bytes[begin..at]);
            begin = at;
        }
        is_behind = line.trim_ascii().is_empty();
        at += line.len();
    }
    games.push(&bytes[begin..]);
    games
}

fn is_utf_8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// Decodes the texts of one file, which are in UTF-8 or in one other encoding.
pub(crate) fn decode_texts<'a>(texts: impl Iterator<Item = &'a Vec<u8>> + Clone) -> Vec<String> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    texts
        .clone()
        .for_each(|text| _ = detector.feed(text, false));
    detector.feed(b"", true);
    let is_utf_8 = texts.clone().all(|text| std::str::from_utf8(text).is_ok());
    let guess = detector.guess(None, Utf8Detection::Deny);
    let all: Vec<u8> = texts.clone().flatten().copied().collect();
    let encoding = if is_utf_8 {
        UTF_8
    } else if guess.is_single_byte() && is_chinese(&all) {
        GB18030
    } else {
        guess
    };
    let decoded = |text: &Vec<u8>| encoding.decode_without_bom_handling(text).0.into_owned();
    texts.map(decoded).collect()
}

/// Whether a text is Chinese but for single letters that a program has cut in two: most pairs of
/// its bytes beyond ASCII are Chinese letters.
fn is_chinese(bytes: &[u8]) -> bool {
    let text = GB18030.decode_without_bom_handling(bytes).0;
    let letters = text
        .chars()
        .filter(|c| ('\u{4e00}'..'\u{a000}').contains(c))
        .count();
    let lost = text.matches(char::REPLACEMENT_CHARACTER).count();
    let pairs = bytes.iter().filter(|byte| !byte.is_ascii()).count() / 2;
    // An accented letter of a Western text makes a Chinese one with the letter behind it.
    (pairs * 3 / 5..=pairs).contains(&letters) && letters > lost * 20
}

/// Decodes a text in its encoding.
pub(crate) fn decode<'a>(
    bytes: &'a [u8],
    named: Option<&[u8]>,
    readable: impl Fn(&str) -> usize,
) -> Cow<'a, str> {
    encoding_of(bytes, named, readable).decode(bytes).0
}

/// Returns the encoding of a text: by its byte order mark; UTF-8; the one that it names, if its
/// bytes are of it; else the one of the likely encodings in which the most is `readable`.
fn encoding_of(
    bytes: &[u8],
    named: Option<&[u8]>,
    readable: impl Fn(&str) -> usize,
) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let zeros = |odd: usize| {
        let bytes = bytes.iter().skip(odd).step_by(2);
        bytes.filter(|byte| **byte == 0).count()
    };
    // A text without letters beyond ASCII has a zero beside each letter.
    for (encoding, odd) in [(UTF_16LE, 1), (UTF_16BE, 0)] {
        if zeros(odd) * 4 > bytes.len() && zeros(1 - odd) * 16 < bytes.len() {
            return encoding;
        }
    }
    if is_utf_8(bytes) {
        return UTF_8;
    }
    let named = named.and_then(Encoding::for_label).filter(|named| {
        let decoded = named.decode_without_bom_handling_and_without_replacement(bytes);
        decoded.is_some()
    });
    if let Some(named) = named {
        return named;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Allow);
    let rated = [guess, GB18030, BIG5, UTF_8, WINDOWS_1252].map(|encoding| {
        let text = encoding.decode_without_bom_handling(bytes).0;
        let lost = text.matches(char::REPLACEMENT_CHARACTER).count();
        ((readable(&text), std::cmp::Reverse(lost)), encoding)
    });
    // Among equals the first stays.
    let best = rated
        .into_iter()
        .reduce(|best, next| match next.0 > best.0 {
            true => next,
            false => best,
        });
    best.map_or(UTF_8, |(_, encoding)| encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_its_encoding() {
        const SIMPLE: &str = "[Red \"王一\"]\n1. 炮二平五 马8进7 2. 马二进三 车９平８\n";
        const FULL: &str = "[Red \"王一\"]\n1. 炮二平五 馬8進7 2. 馬二進三 車９平８\n";
        let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        for (text, bytes) in [
            (SIMPLE, SIMPLE.as_bytes().to_vec()),
            (SIMPLE, GB18030.encode(SIMPLE).0.into_owned()),
            (FULL, BIG5.encode(FULL).0.into_owned()),
            (FULL, GB18030.encode(FULL).0.into_owned()),
            (SIMPLE, ["\u{feff}", SIMPLE].concat().into_bytes()),
            (
                SIMPLE,
                wide(&["\u{feff}", SIMPLE].concat(), u16::to_le_bytes),
            ),
            (
                SIMPLE,
                wide(&["\u{feff}", SIMPLE].concat(), u16::to_be_bytes),
            ),
            ("1. h2e2 h9g7", wide("1. h2e2 h9g7", u16::to_le_bytes)),
            ("1. h2e2 h9g7", wide("1. h2e2 h9g7", u16::to_be_bytes)),
        ] {
            assert_eq!(decode_entries(&bytes), text, "{bytes:?}");
        }
        // One wrong byte makes no other encoding of a text in UTF-8.
        let mut broken = SIMPLE.as_bytes().to_vec();
        broken.push(0xff);
        assert!(decode_entries(&broken).starts_with(SIMPLE));
        // Comments of a library, of which one is cut in the middle of a letter.
        let said = "黑5是第一胜点，白棋的最强防御在右下角，此形与云月必胜法一样";
        let mut texts = vec![b"Welcome to this book of openings".to_vec(); 9];
        texts.push(GB18030.encode(said).0.into_owned());
        texts.push(texts[9][..texts[9].len() - 1].to_vec());
        assert_eq!(decode_texts(texts.iter())[9], said);
        let western = [b"caf\xe9 \xe0 No\xebl, \xe9lan".to_vec()];
        assert_eq!(decode_texts(western.iter())[0], "café à Noël, élan");
        // Games of three files in one.
        let [utf_8, full] = [UTF_8, BIG5].map(|encoding| encoding.encode(FULL).0);
        let simple = GB18030.encode(SIMPLE).0;
        let parts = [&simple[..], &utf_8[..], &full[..]].join(&b"\r\n"[..]);
        let expected = [SIMPLE, FULL, FULL].join("\r\n");
        assert_eq!(decode_entries(&parts), expected);
        // Names alone, with moves in Latin letters.
        let names = "[Event \"全国象棋团体锦标赛\"]\n[Red \"柳大华\"]\n1. h2e2 h9g7\n";
        assert_eq!(decode_entries(&GB18030.encode(names).0), names);
        let names = "[Event \"臺灣象棋團體賽\"]\n[Red \"趙國榮\"]\n1. h2e2 h9g7\n";
        assert_eq!(decode_entries(&BIG5.encode(names).0), names);
    }
}
