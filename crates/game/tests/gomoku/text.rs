use kagetsu_game::{Move, MoveError, Position, PositionError, RuleName, Side, Variant};
use proptest::prelude::*;

fn codes(variant: &str, line: &str) -> Result<Vec<u16>, String> {
    let position = Position::from_line(variant.parse().expect("a variant"), line)
        .map_err(|error| error.to_string())?;
    Ok(position.moves().iter().map(|m| m.code()).collect())
}

/// Readable lines with their cells: `row * size + column`, from the lower left.
#[test]
fn lines_are_read_in_every_usual_form() {
    let (h8, i9, h10, o15) = (7 * 15 + 7, 8 * 15 + 8, 9 * 15 + 7, 224);
    for (line, expected) in [
        ("", vec![]),
        (" \t\n ", vec![]),
        ("h8", vec![h8]),
        ("h8 i9 h10", vec![h8, i9, h10]),
        ("h8,i9,h10", vec![h8, i9, h10]),
        ("H8, I9, H10", vec![h8, i9, h10]),
        ("h8i9h10", vec![h8, i9, h10]),
        ("h8_i9\nh10\r\n", vec![h8, i9, h10]),
        ("[h8][i9][h10]", vec![h8, i9, h10]),
        ("1.h8 2.i9 3.h10", vec![h8, i9, h10]),
        ("1. h8 i9 2. h10", vec![h8, i9, h10]),
        ("o15a1", vec![o15, 0]),
        // Gomocup's notation: the centre, the upper right corner, the lower left corner, the point
        // above the centre.
        ("7,7", vec![h8]),
        ("7,7 14,0\n0,14 7,6", vec![h8, o15, 0, 8 * 15 + 7]),
    ] {
        assert_eq!(codes("freestyle-15", line), Ok(expected), "{line:?}");
    }
    assert_eq!(codes("renju-22", "v22 a1"), Ok(vec![483, 0]));
    assert_eq!(codes("standard-5", "0,0 4,4"), Ok(vec![20, 4]));
}

#[test]
fn lines_that_say_nothing_clear_are_refused_by_name() {
    for (line, expected) in [
        ("h8 h8", "move 2: h8 is taken"),
        ("h8 p1", "move 2: 'p1' is off the board of freestyle-15"),
        ("h0", "move 1: 'h0' is off the board of freestyle-15"),
        ("h8 i16", "move 2: 'i16' is off the board of freestyle-15"),
        ("15,0", "move 1: '15,0' is off the board of freestyle-15"),
        ("0,15", "move 1: '0,15' is off the board of freestyle-15"),
        ("7,999", "move 1: '7,999' is off the board of freestyle-15"),
        ("h8 7,7", "move 2: '7' is not a move of freestyle-15"),
        ("7,7,8,6", "move 1: '7,7,8,6' is not a move of freestyle-15"),
        ("7,7, 8,6", "move 1: '7,7,' is not a move of freestyle-15"),
        ("0,-2", "move 1: '0,-2' is not a move of freestyle-15"),
        ("8", "move 1: '8' is not a move of freestyle-15"),
        ("h", "move 1: 'h' is not a move of freestyle-15"),
        ("h8 --", "move 2: '--' is not a move of freestyle-15"),
        ("h8+", "move 1: 'h8+' is not a move of freestyle-15"),
        ("hh8", "move 1: 'h' is not a move of freestyle-15"),
        ("é8", "move 1: 'é8' is not a move of freestyle-15"),
        (
            "h99999999999999999999",
            "move 1: 'h99999999999999999999' is not a move of freestyle-15",
        ),
    ] {
        assert_eq!(
            codes("freestyle-15", line),
            Err(expected.to_owned()),
            "{line:?}"
        );
    }
}

fn board(variant: &str, rows: &str, side: Option<Side>) -> Result<Position, PositionError> {
    Position::from_board(variant.parse().expect("a variant"), rows, side)
}

#[test]
fn drawn_boards_are_read_from_the_top() {
    let drawn = board(
        "freestyle-5",
        "x . . . O\n\n. . . . .\n_+-_.\n.....\n....X\n",
        None,
    )
    .expect("a drawn board");
    let played = Position::from_line(drawn.variant(), "a5 e5 e1").expect("a legal line");
    assert_eq!(
        (drawn.canonical(), drawn.side()),
        (played.canonical(), Side::Second)
    );
    assert_eq!(
        board("freestyle-5", &played.draw(), None)
            .expect("our own drawing")
            .key(),
        played.key()
    );
    let other =
        board("freestyle-5", &played.draw(), Some(Side::First)).expect("any side may be to move");
    assert_eq!(other.side(), Side::First);
    assert_ne!(other.key(), played.key());
}

#[test]
fn drawings_show_coordinates_and_the_last_move() {
    let position = Position::from_line("standard-5".parse().expect("a variant"), "c3 e5")
        .expect("a legal line");
    let last = position.moves()[1];
    let drawing = "
 5  .  .  .  . [O]
 4  .  .  .  .  .
 3  .  .  X  .  .
 2  .  .  .  .  .
 1  .  .  .  .  .
    a  b  c  d  e
";
    assert_eq!(position.draw(), drawing[1..]);
    // A mark shows on an empty point and hides no stone.
    let marks = [
        (position.parse_move("b1").expect("legal"), '1'),
        (last, '2'),
    ];
    assert_eq!(
        position.draw_marked(&marks),
        drawing[1..].replace("1  .  .", "1  .  1")
    );
}

#[test]
fn unreadable_boards_name_row_and_column() {
    let empty = ".....\n".repeat(5);
    for (rows, expected) in [
        (
            empty.replacen("...", ".#.", 1),
            "row 1, column 2: '#' is none of X (first player), O (second player) and . (empty)",
        ),
        (
            format!("{}....\n", ".....\n".repeat(4)),
            "row 5 has 4 points, a board of freestyle-5 has 5",
        ),
        (
            ".....\n".repeat(4),
            "4 rows are drawn, a board of freestyle-5 has 5",
        ),
        (
            ".....\n".repeat(6),
            "6 rows are drawn, a board of freestyle-5 has 5",
        ),
        (
            String::new(),
            "0 rows are drawn, a board of freestyle-5 has 5",
        ),
        (
            empty.replacen("..", "XX", 1),
            "2 stones of the first player and 0 of the second do not tell which side moves; give the side",
        ),
    ] {
        assert_eq!(
            board("freestyle-5", &rows, None)
                .expect_err("no board")
                .to_string(),
            expected,
            "{rows}"
        );
    }
}

/// A position's text is a line that commands accept.
#[test]
fn positions_are_named_by_a_line() {
    let named = |variant, rows: &str, side| {
        board(variant, &rows.replace('/', "\n"), side)
            .expect("a board")
            .to_string()
    };
    assert_eq!(
        named("freestyle-5", "...../.O.../..X../...X./.....", None),
        "freestyle-5 d2 b4 c3"
    );
    // The stone that makes five comes last.
    assert_eq!(
        named(
            "standard-6",
            "....../....../....../....../OOOO../XXXXX.",
            None
        ),
        "standard-6 a1 a2 b1 b2 c1 c2 d1 d2 e1"
    );
    // No game leads to these numbers of stones.
    let odd = named(
        "freestyle-5",
        "...../...../..X../...X./.....",
        Some(Side::First),
    );
    assert_eq!(odd, "freestyle-5 X d2 c3, first to move");
}

/// Characters of carelessly typed moves and boards.
const TYPED: &str = "[a-wA-W0-9 ,._\\[\\]xXoO\n+-]{0,80}";

proptest! {
    #[test]
    fn no_text_panics_a_parser(any in any::<String>(), typed in TYPED, size in 5_u8..=22) {
        for text in [any, typed] {
            for rule in RuleName::ALL {
                let variant: Variant = format!("{rule}-{size}").parse().expect("a variant");
                if let Ok(position) = Position::from_line(variant, &text) {
                    let words: Vec<String> = position.moves().iter().map(|&m| position.write_move(m)).collect();
                    prop_assert_eq!(Position::from_line(variant, &words.concat()), Ok(position));
                }
                let _ = Position::start(variant).parse_move(&text);
                let _ = Position::from_board(variant, &text, None);
            }
            let _ = text.parse::<Variant>();
            let _ = text.parse::<kagetsu_game::Key>();
        }
    }

    #[test]
    fn drawings_are_read_back(size in 5_u8..=22, cells in prop::collection::vec(0..3_usize, 484)) {
        let rows: Vec<String> = cells.chunks(size.into()).take(size.into())
            .map(|row| row.iter().map(|&cell| ['.', 'X', 'O'][cell]).collect()).collect();
        let variant: Variant = format!("standard-{size}").parse().expect("a variant");
        if let Ok(position) = Position::from_board(variant, &rows.join("\n"), Some(Side::Second)) {
            let again = Position::from_board(variant, &position.draw(), Some(Side::Second));
            prop_assert_eq!(again, Ok(position));
        }
    }

    /// Codes come over the wire; any code is judged and turned without panic.
    #[test]
    fn no_code_panics_a_board(code in any::<u16>(), size in 5_u8..=22) {
        let variant: Variant = format!("renju-{size}").parse().expect("a variant");
        let (m, position) = (Move::new(code), Position::start(variant));
        let is_on_board = code < u16::from(size).pow(2);
        prop_assert_eq!(position.play(m).is_ok(), is_on_board);
        prop_assert!(is_on_board || matches!(position.play(m), Err(MoveError::OffBoard(..))));
        for symmetry in variant.symmetries() {
            prop_assert_eq!(variant.image(variant.image(m, symmetry), variant.inverse(symmetry)), m);
        }
        prop_assert!(!position.write_move(m).is_empty());
    }
}
