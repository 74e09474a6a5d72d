//! Positions with known answers: what an engine must not get wrong before its word is taken.

use kagetsu_game::{Effort, Move, Position, PositionError, RuleName, Variant};

/// A position, and the only moves that will do there.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) position: Position,
    /// Empty: any legal move.
    pub(crate) moves: Vec<Move>,
}

impl Known {
    fn any(position: Position) -> Self {
        Self {
            position,
            moves: Vec::new(),
        }
    }
}

/// How hard an engine thinks about a position with a known answer.
pub(crate) const EFFORT: Effort = Effort {
    depth: Some(3),
    nodes: None,
    time: Some(std::time::Duration::from_millis(1_000)),
};

/// The positions of a variant; the first is the start of a game.
pub(crate) fn known_answers(variant: Variant) -> Vec<Known> {
    let rows = match variant {
        Variant::Gomoku { rule, size } => gomoku(variant, rule, size),
        Variant::Xiangqi { .. } => xiangqi(variant),
        Variant::Surakarta { .. } => Ok(Vec::new()),
    };
    let mut all = vec![Known::any(Position::start(variant))];
    all.extend(rows.expect("a table of positions that can be"));
    all
}

/// A check to answer, with two moves for it; a mate in one; a horse whose leg is held; kings that may not see each other.
fn xiangqi(variant: Variant) -> Result<Vec<Known>, PositionError> {
    const FENS: [&str; 4] = [
        "3k5/9/9/9/9/9/9/9/3r5/4K4 w - - 0 1",
        "3k5/9/9/9/9/9/9/4R4/9/3RK4 w - - 0 1",
        "4k4/9/9/9/4p4/4N4/9/9/4p4/4K4 b - - 0 1",
        "4k4/9/9/9/9/9/4R4/9/9/4K4 b - - 0 1",
    ];
    FENS.iter()
        .map(|fen| Position::from_fen(variant, fen).map(Known::any))
        .collect()
}

/// A five to make, at the far corner of the board; where six is not five, a five beside a six.
fn gomoku(variant: Variant, rule: RuleName, size: u8) -> Result<Vec<Known>, PositionError> {
    let point = |column: u8, row: u8| format!("{}{}", char::from(b'a' + column), row + 1);
    let last = size - 1;
    // From the corner inwards, so that a board of another size has no such stones: XXXX. in the last row, O in the first.
    let mut line = String::new();
    for n in 0..4 {
        line += &format!("{} {} ", point(last - n, last), point(n, 0));
    }
    let four = Position::from_line(variant, &line)?;
    let known = |position: &Position, moves: &[String]| {
        moves
            .iter()
            .map(|text| position.parse_move(text))
            .collect::<Result<Vec<_>, _>>()
    };
    let wrong = |error| PositionError::Move { number: 1, error };
    let five = known(&four, &[point(last - 4, last)]).map_err(wrong)?;
    let mut all = vec![Known {
        moves: five,
        position: four,
    }];
    if rule != RuleName::Freestyle && size >= 8 {
        // .XXXX.X and X.XXXX. : one end makes five, the gap six. Whoever takes six for five errs in one of them.
        for (columns, end) in [([1, 2, 3, 4, 6], 0), ([0, 2, 3, 4, 5], 6)] {
            let mut line = String::new();
            for (column, other) in columns.into_iter().zip([0, 2, 4, 6, 1]) {
                line += &format!("{} {} ", point(column, 3), point(other, last));
            }
            let six = Position::from_line(variant, &line)?;
            let five = known(&six, &[point(end, 3)]).map_err(wrong)?;
            all.push(Known {
                moves: five,
                position: six,
            });
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Outcome;

    use super::*;

    #[test]
    fn every_known_answer_wins_or_is_legal() {
        let gomoku = ["freestyle", "standard", "renju"];
        let names = gomoku
            .iter()
            .flat_map(|rule| (5..=22).map(move |size| format!("{rule}-{size}")));
        for name in names.chain(["xiangqi".into(), "xiangqi-chase".into()]) {
            let variant: Variant = name.parse().expect("a variant");
            let all = known_answers(variant);
            assert!(all.len() >= 2, "{name}");
            for Known {
                position, moves, ..
            } in all
            {
                assert!(
                    position.outcome().is_none() && !position.legal_moves().is_empty(),
                    "{position}"
                );
                for m in moves {
                    let side = position.side();
                    assert_eq!(
                        position.play(m).expect("legal").outcome(),
                        Some(Outcome::Win(side)),
                        "{position}"
                    );
                }
            }
        }
    }
}
