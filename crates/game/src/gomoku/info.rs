use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::info::{BoardShape, GameInfo, MoveKind, plain_number};
use crate::position::{KnownAnswer, Position, PositionError};
use crate::{RuleName, Variant};

/// Gomoku in the registry.
pub(crate) const GAME: GameInfo = GameInfo {
    name: "gomoku",
    code: 1,
    variant_names: "freestyle-N, standard-N and renju-N (N from 5 to 22, as in freestyle-15)",
    has_repetition: false,
    is_square: true,
    has_threat_search: true,
    board: |variant| {
        let size = dimensions(variant).1;
        BoardShape {
            columns: size,
            rows: size,
            moves: MoveKind::Placement,
        }
    },
    variants,
    parse,
    write: |variant| {
        let (rule, size) = dimensions(variant);
        format!("{rule}-{size}")
    },
    from_code,
    known_answers: |variant| known_answers(variant).expect("the table holds legal positions"),
};

const fn dimensions(variant: Variant) -> (RuleName, u8) {
    variant.gomoku().expect("a gomoku variant")
}

fn variants() -> Vec<Variant> {
    let sizes = |rule| Variant::GOMOKU_SIZES.map(move |size| Variant::Gomoku { rule, size });
    RuleName::ALL.into_iter().flat_map(sizes).collect()
}

fn parse(text: &str) -> Option<Result<Variant, &'static str>> {
    let (name, size) = text.split_once('-')?;
    let rule = RuleName::ALL.into_iter().find(|rule| rule.name() == name)?;
    let size = plain_number(size).filter(|size| Variant::GOMOKU_SIZES.contains(size));
    Some(
        size.map(|size| Variant::Gomoku { rule, size })
            .ok_or("the board size must be from 5 to 22"),
    )
}

/// The code of a variant, without the game's byte: rule from 1, size, 0.
pub(crate) const fn code(rule: RuleName, size: u8) -> [u8; 3] {
    [rule as u8 + 1, size, 0]
}

fn from_code([rule, size, options]: [u8; 3]) -> Option<Variant> {
    let rule = *RuleName::ALL.get(usize::from(rule).checked_sub(1)?)?;
    let is_known = options == 0 && Variant::GOMOKU_SIZES.contains(&size);
    is_known.then_some(Variant::Gomoku { rule, size })
}

/// A five to make, at the far corner of the board; and where six stones are no five, a five beside
/// a six.
fn known_answers(variant: Variant) -> Result<Vec<KnownAnswer>, PositionError> {
    let (rule, size) = dimensions(variant);
    let last = size - 1;
    // The line starts at a corner, so that a board of another size lacks the points:
    // XXXX. in the last row, O in the first.
    let mut line = String::new();
    for n in 0..4 {
        line += &format!("{} {} ", point(last - n, last), point(n, 0));
    }
    let mut all = Vec::from([known_answer(variant, &line, &point(last - 4, last))?]);
    if rule != RuleName::Freestyle && size >= 8 {
        // .XXXX.X and X.XXXX. : one end makes five, the gap six. An engine that takes six for five
        // errs in one of them.
        for (columns, end) in [([1, 2, 3, 4, 6], 0), ([0, 2, 3, 4, 5], 6)] {
            let mut line = String::new();
            for (column, other) in columns.into_iter().zip([0, 2, 4, 6, 1]) {
                line += &format!("{} {} ", point(column, 3), point(other, last));
            }
            all.push(known_answer(variant, &line, &point(end, 3))?);
        }
    }
    Ok(all)
}

fn point(column: u8, row: u8) -> String {
    format!("{}{}", char::from(b'a' + column), row + 1)
}

fn known_answer(variant: Variant, line: &str, winning: &str) -> Result<KnownAnswer, PositionError> {
    let position = Position::from_line(variant, line)?;
    let m = position
        .parse_move(winning)
        .map_err(|error| PositionError::Move { number: 1, error })?;
    Ok(KnownAnswer {
        position,
        moves: [m].into(),
    })
}
