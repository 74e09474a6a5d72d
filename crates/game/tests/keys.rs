//! Keys are frozen, since every book on disk depends on them. A failing row means a broken promise.

use std::collections::BTreeMap;

use kagetsu_game::{Key, KnownAnswer, MoveKind, Outcome, Position, Variant, VariantError};

/// `variant | line | key` on each line of the file.
#[test]
fn keys_are_what_they_ever_were() {
    let mut rows = 0;
    for row in include_str!("keys.txt").lines() {
        let [variant, line, key] = row.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let position =
            Position::from_line(variant.parse().expect("a variant"), line).expect("a legal line");
        let expected: Key = key.parse().expect("a key");
        assert_eq!(position.key(), expected, "{row}");
        rows += 1;
    }
    assert!(rows > 10);
}

/// Codes of variants are part of keys and files.
#[test]
fn variant_codes_do_not_change() {
    for (text, code) in [
        ("freestyle-15", 0x0101_0f00),
        ("freestyle-5", 0x0101_0500),
        ("standard-15", 0x0102_0f00),
        ("renju-15", 0x0103_0f00),
        ("renju-22", 0x0103_1600),
        ("caro-15", 0x0104_0f00),
        ("caro-overline-20", 0x0105_1400),
        ("xiangqi", 0x0200_0000),
        ("xiangqi-chase", 0x0200_0001),
        ("surakarta", 0x0300_0050),
        ("surakarta-255", 0x0300_00ff),
    ] {
        let variant: Variant = text.parse().expect("a variant");
        assert_eq!(
            (variant.code(), variant.to_string()),
            (code, text.to_owned())
        );
        assert_eq!(Variant::from_code(code), Ok(variant));
    }
}

#[test]
fn all_variants_are_all_in_the_order_of_their_codes() {
    let all: Vec<Variant> = Variant::all().collect();
    assert_eq!(all.len(), 5 * 18 + 2 + 255);
    assert!(all.windows(2).all(|pair| pair[0].code() < pair[1].code()));
    assert!(
        all.iter()
            .all(|variant| variant.to_string().parse() == Ok(*variant))
    );
}

#[test]
fn every_code_names_one_variant_or_none() {
    let mut known = BTreeMap::new();
    for code in (0..=u32::MAX)
        .step_by(1 << 8)
        .take(1 << 20)
        .chain((0..=u16::MAX).map(|low| 0x0103_0000 | u32::from(low)))
    {
        match Variant::from_code(code) {
            Ok(variant) => {
                assert_eq!(variant.code(), code);
                assert!(
                    known
                        .insert(code, variant)
                        .is_none_or(|same| same == variant)
                );
                assert_eq!(variant.to_string().parse(), Ok(variant));
            }
            Err(error) => assert_eq!(error, VariantError::Code(code)),
        }
    }
    assert!(known.len() >= 3 * 18);
}

#[test]
fn texts_that_name_no_variant_are_refused() {
    for text in [
        "",
        "freestyle",
        "gomoku-15",
        "renju-4",
        "renju-23",
        "standard-",
        "renju-15-2",
        "overline-15",
        "Renju-15",
        "renju-+9",
        "renju-09",
        "xiangqi-",
        "xiangqi-none",
        "Xiangqi",
        "surakarta-",
        "surakarta-0",
        "surakarta-80",
        "surakarta-256",
        "surakarta-040",
    ] {
        assert!(text.parse::<Variant>().is_err(), "{text}");
    }
}

#[test]
fn known_answers_win_or_are_legal() {
    for variant in Variant::all() {
        for KnownAnswer { position, moves } in variant.known_answers() {
            assert_eq!(position.variant(), variant);
            assert_eq!(position.outcome(), None, "{position}");
            assert!(!position.legal_moves().is_empty(), "{position}");
            for m in moves {
                let end = position.play(m).expect("a legal move").outcome();
                assert_eq!(end, Some(Outcome::Win(position.side())), "{position}");
            }
        }
    }
    for text in ["freestyle-5", "standard-22", "caro-8", "xiangqi-chase"] {
        let variant: Variant = text.parse().expect("a variant");
        assert!(!variant.known_answers().is_empty(), "{text}");
    }
}

#[test]
fn registry_agrees_with_the_rules() {
    for variant in Variant::all() {
        let (board, start) = (variant.board(), Position::start(variant));
        let has_stones = board.moves == MoveKind::Placement;
        assert_eq!(start.stones().is_some(), has_stones, "{variant}");
        assert_eq!(start.fen().is_ok(), !has_stones, "{variant}");
        let is_square = board.columns == board.rows && variant.symmetries().count() == 8;
        assert!(is_square || !variant.is_square(), "{variant}");
        assert!(!(has_stones && variant.has_repetition()), "{variant}");
    }
}
