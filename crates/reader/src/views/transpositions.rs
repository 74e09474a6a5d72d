//! The moves and the lines that share a position.

use std::collections::BTreeMap;

use anyhow::Result;
use kagetsu_api::ValueJson;
use kagetsu_game::{Key, Move, Notation, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::{TextBlock, write_move};
use crate::source::Source;
use crate::view::View;

/// The moves from a position, and the moves of a line, that are looked up.
const MAX_MOVES: usize = 400;

/// Lists the moves into the book, and the other lines to a position
///
/// The first list has the positions of the book that one move leads to, with all moves that lead
/// to each. The second has other positions of the book from which one move leads here.
///
/// Example: kagetsu transpositions --book h8.book --variant freestyle-15 --moves "h8 i9 h9"
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct TranspositionsView {}

/// The moves from a position and the lines to it that the book knows.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Transpositions)]
pub struct TranspositionsJson {
    /// The positions of the book that one move leads to.
    behind: Vec<SuccessorJson>,
    /// Other positions of the book from which one move leads here.
    before: Vec<ParentJson>,
}

/// A position of the book, and every move that leads to it.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Successor)]
pub struct SuccessorJson {
    /// The key of the position.
    key: String,
    /// The moves, which are equal by symmetry.
    moves: Vec<String>,
}

/// A position of the book from which one move leads to the position that was asked about.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Parent)]
pub struct ParentJson {
    /// The moves to that position.
    moves: Vec<String>,
    /// The move from there.
    r#move: String,
    /// The value of the move there.
    #[serde(flatten)]
    value: ValueJson,
}

impl View for TranspositionsView {
    const NAME: &'static str = "transpositions";
    type At = Position;
    type Result = TranspositionsJson;

    fn read(
        source: &Source,
        at: &Position,
        _: TranspositionsView,
    ) -> Result<TranspositionsJson, ViewError> {
        Ok(TranspositionsJson {
            behind: successors(source, at)?,
            before: parents(source, at)?,
        })
    }

    fn print(result: &TranspositionsJson, at: &Position, notation: Notation) -> Vec<TextBlock> {
        let names = |moves: &[String]| -> Vec<String> {
            let names = moves.iter().map(|name| write_move(at, name, notation));
            names.collect()
        };
        let behind = result.behind.iter();
        let behind = behind.map(|next| [names(&next.moves).join(" "), next.key.clone()]);
        let before = result.before.iter().map(|parent| {
            let line = parent.moves.join(" ");
            [line, parent.r#move.clone(), parent.value.to_string()]
        });
        vec![
            TextBlock::table(["moves into the book", "key"], [], behind),
            TextBlock::line(""),
            TextBlock::table(["other line", "move", "value"], [2], before),
        ]
    }
}

/// Returns the positions of the book that one move leads to, with all moves that lead to each.
fn successors(source: &Source, position: &Position) -> Result<Vec<SuccessorJson>> {
    let moves: Vec<Move> = position.legal_moves().into_iter().take(MAX_MOVES).collect();
    let mut by_key: BTreeMap<Key, Vec<Move>> = BTreeMap::new();
    for (m, child) in moves.iter().zip(position.children(&moves)) {
        by_key.entry(child.key).or_default().push(*m);
    }
    let mut groups = Vec::new();
    let mut positions = Vec::new();
    for (key, moves) in by_key {
        if let Ok(next) = position.play(moves[0]) {
            groups.push((key, moves));
            positions.push(next);
        }
    }
    let found = source.find_all(&positions)?;
    let held = groups.into_iter().zip(found);
    let held = held.filter(|(_, found)| found.is_some());
    let successor = |(key, moves): (Key, Vec<Move>)| SuccessorJson {
        key: key.to_string(),
        moves: moves.iter().map(|&m| position.write_move(m)).collect(),
    };
    Ok(held.map(|(group, _)| successor(group)).collect())
}

/// Returns the positions of the book from which another last move leads to this position: an
/// earlier move of the side that moved last is made last, where the other moves are legal without
/// it.
fn parents(source: &Source, position: &Position) -> Result<Vec<ParentJson>> {
    let last = position.moves().len().saturating_sub(1);
    let others = (0..last).rev().filter(|at| at % 2 == last % 2);
    let parents: Vec<(Position, Move)> = others
        .take(MAX_MOVES)
        .filter_map(|at| without(position, at))
        .collect();
    let positions: Vec<Position> = parents.iter().map(|(parent, _)| parent.clone()).collect();
    let mut held = Vec::new();
    for ((parent, m), found) in parents.into_iter().zip(source.find_all(&positions)?) {
        let Some(found) = found else { continue };
        let moves = parent.moves().iter();
        let value = found.answer.get(m).map(ValueJson::of);
        held.push(ParentJson {
            moves: moves.map(|&m| parent.write_move(m)).collect(),
            r#move: parent.write_move(m),
            value: value.unwrap_or_else(ValueJson::unknown),
        });
    }
    Ok(held)
}

/// Returns the position in which move `at` has not been made yet, and that move. The later moves of
/// the same side are made earlier. `None` if that is not legal or leads elsewhere.
fn without(position: &Position, at: usize) -> Option<(Position, Move)> {
    let mut moves = position.moves().to_vec();
    let missing = *moves.get(at)?;
    let mut gap = at;
    while gap + 2 < moves.len() {
        moves[gap] = moves[gap + 2];
        gap += 2;
    }
    moves.pop();
    let before = Position::new(position.variant(), position.setup().cloned(), &moves).ok()?;
    let after = before.play(missing).ok()?;
    (after.key() == position.key()).then_some((before, missing))
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn earlier_stone_can_be_played_last() {
        let position =
            Position::from_line(Variant::FREESTYLE_15, "h8 i9 j10 a1 c3").expect("legal");
        let ways: Vec<_> = [2, 0]
            .into_iter()
            .filter_map(|at| without(&position, at))
            .collect();
        assert_eq!(ways.len(), 2);
        for (before, m) in ways {
            assert_eq!(before.play(m).expect("legal").key(), position.key());
        }
        assert!(without(&position, 9).is_none());
    }

    #[test]
    fn dependent_moves_stay_in_order() {
        // Red's horse and soldier move in either order; the horse's moves keep theirs.
        let position =
            Position::from_line(Variant::XIANGQI, "h0g2 h9g7 g3g4 g6g5 g2e1").expect("legal");
        assert!(without(&position, 0).is_none());
        let (before, m) = without(&position, 2).expect("the horse needs no soldier");
        assert_eq!(
            (
                before.write_move(m).as_str(),
                before.play(m).expect("legal").key()
            ),
            ("g3g4", position.key())
        );
        let position = Position::from_line(Variant::SURAKARTA, "b2b3 e5e4 c2c3").expect("legal");
        assert!(without(&position, 0).is_some());
    }
}
