//! Perft counts against published numbers and numbers from other programs.
#![expect(clippy::print_stdout, reason = "tests say what they skipped")]

#[path = "../data/mod.rs"]
mod data;

use kagetsu_game::{Game, Position, Variant, divide, perft, with_game};

/// Rows that cost more run only with `KAGETSU_ALL_ROWS`.
const EVERY_DAY: u64 = 2_000_000;

fn count(variant: Variant, fen: &str, depth: u32) -> u64 {
    let position =
        Position::from_fen(variant, fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
    with_game!(variant, G => perft(&mut position.game::<G>(), depth))
}

fn agrees_with_the_table(variant: Variant, folder: &str) {
    let Some(folder) = data::folder(folder) else {
        return;
    };
    let rows = data::json_array(&folder.join("perft.json"));
    let limit = if std::env::var_os("KAGETSU_ALL_ROWS").is_some() {
        u64::MAX
    } else {
        EVERY_DAY
    };
    let mut counted = 0;
    for row in &rows {
        let nodes = row["nodes"].as_u64().expect("a number");
        if nodes <= limit {
            let (fen, depth) = (
                row["position"].as_str().expect("a FEN"),
                row["depth"].as_u64().expect("a depth"),
            );
            assert_eq!(
                count(variant, fen, depth as u32),
                nodes,
                "{} at depth {depth}",
                row["name"]
            );
            counted += 1;
        }
    }
    println!("{counted} of {} rows counted", rows.len());
    assert!(counted > rows.len() / 2);
}

#[test]
fn xiangqi_agrees_with_the_table() {
    agrees_with_the_table(Variant::XIANGQI, "xiangqi");
}

#[test]
fn surakarta_agrees_with_the_table() {
    agrees_with_the_table(Variant::SURAKARTA, "surakarta");
}

/// Numbers that need no external data.
#[test]
fn starts_are_counted() {
    let start = |variant, depth| with_game!(variant, G => perft(&mut G::start(variant), depth));
    for (variant, counts) in [
        (Variant::XIANGQI, &[1, 44, 1920, 79_666, 3_290_240][..]),
        (Variant::SURAKARTA, &[1, 16, 256, 5382, 111_122, 2_572_484]),
        (Variant::FREESTYLE_15, &[1, 225, 50_400, 11_239_200]),
    ] {
        for (&count, depth) in counts.iter().zip(0..) {
            assert_eq!(start(variant, depth), count, "{variant} at depth {depth}");
        }
    }
}

/// OXXXX.O on a board of 7x7: the sixth stone ends the game only where it makes five.
#[test]
fn closed_fives_are_counted_on() {
    for (rule, nodes) in [
        ("standard", 40 * 40),
        ("caro", 41 * 40),
        ("caro-overline", 41 * 40),
    ] {
        let variant: Variant = format!("{rule}-7").parse().expect("a variant");
        let position = Position::from_line(variant, "b2 a2 c2 g2 d2 a7 e2 g7").expect("a line");
        let counted = with_game!(variant, G => perft(&mut position.game::<G>(), 2));
        assert_eq!(counted, nodes, "{rule}");
    }
}

#[test]
fn parts_add_up_and_leave_the_game_alone() {
    for variant in [Variant::XIANGQI, Variant::SURAKARTA, Variant::RENJU_15] {
        with_game!(variant, G => {
            let mut game = G::start(variant);
            let (mut moves, parts) = (Vec::new(), divide(&mut game, 2));
            game.moves(&mut moves);
            assert!(parts.iter().map(|(m, _)| m).eq(&moves));
            assert_eq!(parts.iter().map(|(_, count)| count).sum::<u64>(), perft(&mut game, 2));
            assert_eq!(divide(&mut game, 0), Vec::new());
            assert!(game.history().is_empty());
        });
    }
}

/// Kings move back and forth: the game is a draw by repetition, but the count goes on.
#[test]
fn endings_by_history_do_not_stop_the_counting() {
    let fen = "3k5/9/9/9/9/9/4p4/9/9/5K3 w - - 119 60";
    let position = Position::from_fen(Variant::XIANGQI, fen).expect("a position");
    let fresh =
        Position::from_fen(Variant::XIANGQI, "3k5/9/9/9/9/9/4p4/9/9/5K3 w").expect("a position");
    let count =
        |position: &Position| perft(&mut position.game::<kagetsu_game::xiangqi::Xiangqi>(), 4);
    assert!(
        position
            .play_line("f0f1")
            .expect("a legal move")
            .outcome()
            .is_some()
    );
    assert_eq!(count(&position), count(&fresh));
}
