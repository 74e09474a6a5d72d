//! Which ways lead to a position, and which moves lead to the same one: `/transpositions`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use kagetsu_api::{ParentJson, SuccessorJson, TranspositionsJson, ValueJson};
use kagetsu_game::{Move, Position};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_server::Books as _;
use tonic::Request;

use crate::error::ApiError;
use crate::extract::Params;
use crate::extract::position;
use crate::services::Services;
use crate::state::AppState;

/// Moves of a position, and of a line, that are looked up.
const MOST: usize = 400;

/// `GET /api/v1/transpositions`.
pub(crate) async fn transpositions<S: Services>(
    State(app): State<Arc<AppState<S>>>,
    params: Params,
) -> Result<Response, ApiError> {
    params.only(&position::PARAMETERS)?;
    let position = position::from_query(&params)?;
    let json = TranspositionsJson {
        behind: app.behind(&position).await?,
        before: app.before(&position).await?,
    };
    Ok(Json(json).into_response())
}

impl<S: Services> AppState<S> {
    async fn lookup_all(
        &self,
        positions: &[Position],
        top: u32,
    ) -> Result<Vec<v1::Found>, ApiError> {
        let positions = positions.iter().map(Into::into).collect();
        let request = Request::new(v1::LookupManyRequest { positions, top });
        Ok(self
            .services
            .books()
            .lookup_many(request)
            .await?
            .into_inner()
            .found)
    }

    /// The moves whose positions the book holds, by position.
    async fn behind(&self, position: &Position) -> Result<Vec<SuccessorJson>, ApiError> {
        let moves: Vec<Move> = position.legal_moves().into_iter().take(MOST).collect();
        let mut alike: BTreeMap<_, Vec<Move>> = BTreeMap::new();
        for (m, child) in moves.iter().zip(position.children(&moves)) {
            alike.entry(child.key).or_default().push(*m);
        }
        let next =
            |(_, moves): (&_, &Vec<Move>)| moves.first().and_then(|&m| position.play(m).ok());
        let next: Vec<Position> = alike.iter().filter_map(next).collect();
        let found = self.lookup_all(&next, 1).await?;
        let held = alike
            .iter()
            .zip(found)
            .filter(|(_, found)| found.answer.is_some());
        let behind =
            |((key, moves), _): ((&kagetsu_game::Key, &Vec<Move>), v1::Found)| SuccessorJson {
                key: key.to_string(),
                moves: moves.iter().map(|&m| position.write_move(m)).collect(),
            };
        Ok(held.map(behind).collect())
    }

    /// The positions of the book that another order of the moves comes through last: an earlier move of the side that moved
    /// may have been its last, where the others can be made without it.
    async fn before(&self, position: &Position) -> Result<Vec<ParentJson>, ApiError> {
        let last = position.moves().len().saturating_sub(1);
        let others = (0..last).rev().filter(|at| at % 2 == last % 2);
        let ways: Vec<(Position, Move)> = others
            .take(MOST)
            .filter_map(|at| without(position, at))
            .collect();
        let positions: Vec<Position> = ways.iter().map(|(before, _)| before.clone()).collect();
        let found = self.lookup_all(&positions, 0).await?;
        let mut all = Vec::new();
        for ((before, m), found) in ways.into_iter().zip(found) {
            let Some(answer) = crate::handlers::books::read(found.answer.as_ref())? else {
                continue;
            };
            all.push(ParentJson {
                moves: before
                    .moves()
                    .iter()
                    .map(|&m| before.write_move(m))
                    .collect(),
                r#move: before.write_move(m),
                value: answer.get(m).map(ValueJson::of),
            });
        }
        Ok(all)
    }
}

/// The position in which move `at` is still to come, and the move; the side's later moves come earlier.
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
    fn a_stone_that_comes_last_leads_to_the_same_position() {
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
    fn moves_that_need_each_other_stay_in_order() {
        // A horse and a soldier of Red's in either order; the horse's second leap not before its first.
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
