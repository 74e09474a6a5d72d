//! Moves in WXF and in Chinese.

use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Notation, Position, Variant};

#[test]
fn entries() {
    const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR";
    const TANDEM: &str = "3k5/4P4/9/4P4/9/2R1P1P2/6P2/2R6/9/4K4";
    const THREE: &str = "4k4/9/2P6/2P6/2P6/9/9/9/9/3K5";
    const GUARDS: &str = "3k5/9/9/9/9/2B6/9/3A5/9/2BA1K3";
    for (rows, side, m, wxf, chinese) in [
        (START, "w", "h2e2", "C2=5", "炮二平五"),
        (START, "b", "h9g7", "H8+7", "马8进7"),
        (START, "w", "b0c2", "H8+7", "马八进七"),
        (START, "w", "a0a1", "R9+1", "车九进一"),
        (START, "b", "b7b0", "C2+7", "炮2进7"),
        (START, "b", "e6e5", "P5+1", "卒5进1"),
        (START, "w", "d0e1", "A6+5", "仕六进五"),
        (START, "w", "g0e2", "E3+5", "相三进五"),
        (START, "b", "c9e7", "E3+5", "象3进5"),
        (START, "w", "e0e1", "K5+1", "帅五进一"),
        (START, "b", "e9e8", "K5+1", "将5进1"),
        (TANDEM, "w", "c4c5", "+R+1", "前车进一"),
        (TANDEM, "w", "c2a2", "-R=9", "后车平九"),
        // Files from the right, and from the front on each: g4, g3, e8, e6, e4.
        (TANDEM, "w", "g4g5", "aP+1", "一兵进一"),
        (TANDEM, "w", "e8d8", "cP=6", "三兵平六"),
        (TANDEM, "w", "e4e5", "eP+1", "五兵进一"),
        (THREE, "w", "c7b7", "aP=8", "前兵平八"),
        (THREE, "w", "c6b6", "bP=8", "中兵平八"),
        (THREE, "w", "c5d5", "cP=6", "后兵平六"),
        (GUARDS, "w", "d0e1", "A6+5", "仕六进五"),
        (GUARDS, "w", "d2e1", "A6-5", "仕六退五"),
        (GUARDS, "w", "c0a2", "E7+9", "相七进九"),
        (GUARDS, "w", "c4e2", "E7-5", "相七退五"),
    ] {
        let position = Position::from_fen(Variant::XIANGQI, &format!("{rows} {side}")).expect(rows);
        let m = position
            .parse_move(m)
            .unwrap_or_else(|error| panic!("{rows}: {error}"));
        let game: Xiangqi = position.game();
        assert_eq!(
            (game.wxf(m), game.chinese(m)),
            (wxf.into(), chinese.into()),
            "{rows} {side}"
        );
    }
}

#[test]
fn entries_are_read_as_they_are_written() {
    let mut position = Position::start(Variant::XIANGQI);
    // Every legal move of a game's first plies has a name that leads back to it, in all notations.
    for _ in 0..12 {
        for m in position.legal_moves() {
            for notation in Notation::ALL {
                let name = position.write_move_in(m, notation);
                assert_eq!(position.parse_move(&name), Ok(m), "{name} in {position}");
            }
        }
        let moves = position.legal_moves();
        position = position.play(moves[moves.len() / 2]).expect("legal");
    }
}

#[test]
fn spellings_of_entries_are_understood() {
    let start = Position::start(Variant::XIANGQI);
    let lines = [
        "C2=5 H8+7",
        "c2=5 n8+7",
        "1. C2.5 H8+7",
        "炮二平五 马8进7",
        "炮二平五马8进7",
        "砲二平五 馬８進７",
        "h2e2 h9g7",
    ];
    let played = start.play_line("h2e2 h9g7").expect("legal");
    for line in lines {
        assert_eq!(start.play_line(line).as_ref(), Ok(&played), "{line}");
    }
    // Two soldiers on each of two files, a pair of cannons, and characters of the other side.
    const PAIRS: &str = "3k5/9/2P3P2/2P3P2/9/4C4/4C4/9/4A4/4K4 w";
    let pairs = Position::from_fen(Variant::XIANGQI, PAIRS).expect("legal");
    for (m, names) in [
        ("c7d7", ["前七平六", "+7=6", "前七.6"]),
        ("g6f6", ["后三平四", "後3平４", "-3=4"]),
        ("e4d4", ["前砲平六", "C+=6", "+包平6"]),
        ("e1d0", ["士五退六", "仕5下六", "a5-6"]),
    ] {
        for name in names {
            assert_eq!(pairs.parse_move(name), pairs.parse_move(m), "{name}");
        }
    }
    assert!(pairs.parse_move("前兵进一").is_err(), "two soldiers can");
    for wrong in ["C9=5", "炮九平五", "炮二", "C2=", "C2*5", "炮二平五马8"] {
        assert!(start.play_line(wrong).is_err(), "{wrong}");
    }
    let line = played.write_line_in(&[], Notation::Wxf);
    assert!(line.is_empty());
    let names = start.write_line_in(played.moves(), Notation::Chinese);
    assert_eq!(names, ["炮二平五", "马8进7"]);
}
