//! The moves and the lines that share a position: `/transpositions`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kagetsu_api::{ParentJson, SuccessorJson, TranspositionsJson, ValueJson};
use kagetsu_game::{Key, Move, Position};
use kagetsu_proto::v1;

use crate::error::ApiError;
use crate::extract::position::PositionQuery;
use crate::extract::{ApiQuery, Caller};
use crate::handlers::books::decode;
use crate::state::AppState;

/// The moves from a position, and the moves of a line, that are looked up.
const MAX_MOVES: usize = 400;

/// Lists the moves that lead to positions of the book, and other lines to this position.
#[utoipa::path(
    get,
    path = "/api/v1/transpositions",
    params(PositionQuery),
    responses((status = 200, description = "Moves and lines", body = TranspositionsJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn transpositions(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<PositionQuery>,
) -> Result<Json<TranspositionsJson>, ApiError> {
    let position = query.position()?;
    Ok(Json(TranspositionsJson {
        behind: app.successors(&caller, &position).await?,
        before: app.parents(&caller, &position).await?,
    }))
}

impl AppState {
    /// Looks up positions with their `top` best moves; 0 for all moves.
    pub(crate) async fn lookup_all(
        &self,
        caller: &Caller,
        positions: &[Position],
        top: u32,
    ) -> Result<Vec<v1::Found>, ApiError> {
        let positions = positions.iter().map(Into::into).collect();
        let request = caller.request(v1::LookupManyRequest { positions, top });
        let found = self.services.books().lookup_many(request).await?;
        Ok(found.into_inner().found)
    }

    /// The positions of the book that one move leads to, with all moves that lead to each.
    async fn successors(
        &self,
        caller: &Caller,
        position: &Position,
    ) -> Result<Vec<SuccessorJson>, ApiError> {
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
        let found = self.lookup_all(caller, &positions, 1).await?;
        let held = groups.into_iter().zip(found);
        let held = held.filter(|(_, found)| found.answer.is_some());
        let successor = |((key, moves), _): ((Key, Vec<Move>), v1::Found)| SuccessorJson {
            key: key.to_string(),
            moves: moves.iter().map(|&m| position.write_move(m)).collect(),
        };
        Ok(held.map(successor).collect())
    }

    /// The positions of the book from which another last move leads to this position: an earlier
    /// move of the side that moved last is made last, where the other moves are legal without it.
    async fn parents(
        &self,
        caller: &Caller,
        position: &Position,
    ) -> Result<Vec<ParentJson>, ApiError> {
        let last = position.moves().len().saturating_sub(1);
        let others = (0..last).rev().filter(|at| at % 2 == last % 2);
        let parents: Vec<(Position, Move)> = others
            .take(MAX_MOVES)
            .filter_map(|at| without(position, at))
            .collect();
        let positions: Vec<Position> = parents.iter().map(|(parent, _)| parent.clone()).collect();
        let found = self.lookup_all(caller, &positions, 0).await?;
        let mut held = Vec::new();
        for ((parent, m), found) in parents.into_iter().zip(found) {
            let Some(answer) = decode(found.answer.as_ref())? else {
                continue;
            };
            let moves = parent.moves().iter();
            held.push(ParentJson {
                moves: moves.map(|&m| parent.write_move(m)).collect(),
                r#move: parent.write_move(m),
                value: answer.get(m).map(ValueJson::of),
            });
        }
        Ok(held)
    }
}

/// The position in which move `at` has not been made yet, and that move. The later moves of the
/// same side are made earlier. `None` if that is not legal or leads elsewhere.
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
