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
    variant_names: "freestyle-N, standard-N, renju-N, caro-N and caro-overline-N (N from 5 to 22, \
                    as in freestyle-15)",
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
    let (name, size) = text.rsplit_once('-')?;
    let rule = RuleName::named(name)?;
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

/// A five to make, at the far corner of the board. Where six stones are no five, a five beside a
/// six; where the opponent closes fives, a five across a closed one. An engine that takes the other
/// rows for fives errs in one of the positions.
fn known_answers(variant: Variant) -> Result<Vec<KnownAnswer>, PositionError> {
    let (rule, size) = dimensions(variant);
    let last = size - 1;
    // The first line starts at a corner, so that a board of another size lacks the points:
    // XXXX. in the last row, O in the first.
    let corner: Vec<_> = (0..4).map(|n| ((last - n, last), (n, 0))).collect();
    let mut all = Vec::from([known_answer(variant, &corner, (last - 4, last))?]);
    if size < 8 {
        return Ok(all);
    }
    if !matches!(rule, RuleName::Freestyle | RuleName::CaroOverline) {
        // .XXXX.X and X.XXXX. : one end makes five, the gap six.
        for (columns, end) in [([1, 2, 3, 4, 6], 0), ([0, 2, 3, 4, 5], 6)] {
            let others = [0, 2, 4, 6, 1].map(|column| (column, last));
            let line: Vec<_> = columns
                .map(|column| (column, 3))
                .into_iter()
                .zip(others)
                .collect();
            all.push(known_answer(variant, &line, (end, 3))?);
        }
    }
    if matches!(rule, RuleName::Caro | RuleName::CaroOverline) {
        // OXXX.XO in a row, and XXXX. upwards from its fifth stone, O below.
        let own = [(1, 3), (2, 3), (3, 3), (5, 3), (5, 4), (5, 5), (5, 6)];
        let others = [(0, 3), (6, 3), (5, 2), (0, last), (2, last), (1, 0), (3, 0)];
        let line: Vec<_> = own.into_iter().zip(others).collect();
        all.push(known_answer(variant, &line, (5, 7))?);
    }
    Ok(all)
}

/// A point by its column and row.
type At = (u8, u8);

fn text((column, row): At) -> String {
    format!("{}{} ", char::from(b'a' + column), row + 1)
}

/// Returns the position after pairs of moves of both sides, and the move that wins.
fn known_answer(
    variant: Variant,
    line: &[(At, At)],
    winning: At,
) -> Result<KnownAnswer, PositionError> {
    let line: String = line
        .iter()
        .flat_map(|&(own, other)| [text(own), text(other)])
        .collect();
    let position = Position::from_line(variant, &line)?;
    let m = position
        .parse_move(text(winning).trim())
        .map_err(|error| PositionError::Move { number: 1, error })?;
    Ok(KnownAnswer {
        position,
        moves: [m].into(),
    })
}
