//! Why a position is in the book, or waits for it: `/priorities`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kagetsu_api::{PrioritiesJson, StandingJson, StepJson, ValueJson};
use kagetsu_game::{Answer, Move, Position, Verdict};
use kagetsu_proto::v1;

use crate::error::ApiError;
use crate::extract::position::PositionQuery;
use crate::extract::{ApiQuery, Caller};
use crate::handlers::books::decode;
use crate::state::AppState;

/// The moves of a line, and the moves from its end, that are described.
const MAX_MOVES: usize = 400;

/// Lists how each build job sees the positions of a line and the moves from its end.
#[utoipa::path(
    get,
    path = "/api/v1/priorities",
    params(PositionQuery),
    responses((status = 200, description = "The priorities", body = PrioritiesJson), (status = 304, description = "The book has not changed since the ETag"), ApiError),
)]
pub(crate) async fn priorities(
    State(app): State<Arc<AppState>>,
    caller: Caller,
    ApiQuery(query): ApiQuery<PositionQuery>,
) -> Result<Json<PrioritiesJson>, ApiError> {
    let position = query.position()?;
    let line = line_of(&position);
    let moves: Vec<Move> = position.legal_moves().into_iter().take(MAX_MOVES).collect();
    let children = moves.iter().filter_map(|&m| position.play(m).ok());
    let all: Vec<Position> = line.iter().cloned().chain(children).collect();
    let standings = app.standings(&caller, &all).await?;
    let answers = app.answers(&caller, &all).await?;
    let (standings, after) = standings.split_at(line.len());
    let (answers, held_after) = answers.split_at(line.len());
    let first = position.moves().len() + 1 - line.len();
    let steps = line.iter().enumerate().map(|(at, here)| {
        let last = at
            .checked_sub(1)
            .and_then(|_| here.moves().get(first + at - 1).copied());
        let before = at
            .checked_sub(1)
            .and_then(|before| answers[before].as_ref());
        step(
            &position,
            last,
            before,
            answers[at].as_ref(),
            &standings[at],
        )
    });
    let answer = answers.last().and_then(Option::as_ref);
    let mut onward: Vec<StepJson> = moves
        .iter()
        .zip(after)
        .zip(held_after)
        .filter(|((_, jobs), held)| !jobs.is_empty() || held.is_some())
        .map(|((&m, jobs), held)| step(&position, Some(m), answer, held.as_ref(), jobs))
        .collect();
    let urgency = |step: &StepJson| step.jobs.iter().map(|job| job.priority).reduce(f64::min);
    let urgency = |step: &StepJson| urgency(step).unwrap_or(f64::INFINITY);
    onward.sort_by(|a, b| urgency(a).total_cmp(&urgency(b)));
    Ok(Json(PrioritiesJson {
        line: steps.collect(),
        moves: onward,
    }))
}

/// The positions of a line: at most the last ones, the position itself at the end.
fn line_of(position: &Position) -> Vec<Position> {
    let moves = position.moves();
    let first = moves.len().saturating_sub(MAX_MOVES);
    let before = |length: usize| {
        let setup = position.setup().cloned();
        Position::new(position.variant(), setup, &moves[..length]).ok()
    };
    (first..=moves.len()).filter_map(before).collect()
}

fn step(
    position: &Position,
    last: Option<Move>,
    before: Option<&Answer>,
    after: Option<&Answer>,
    jobs: &[StandingJson],
) -> StepJson {
    StepJson {
        r#move: last.map(|m| position.write_move(m)),
        loss: last.zip(before).and_then(|(m, answer)| loss(answer, m)),
        is_held: after.is_some(),
        value: after.and_then(best_exact).map(ValueJson::of),
        jobs: jobs.to_vec(),
    }
}

/// The best move of exact value.
fn best_exact(answer: &Answer) -> Option<&Verdict> {
    let mut exact = answer
        .verdicts()
        .iter()
        .filter(|(_, verdict)| verdict.is_exact());
    exact.next().map(|(_, verdict)| verdict)
}

/// Centi-units that a move is worse than the best; `None` if one of them has no exact score.
fn loss(answer: &Answer, m: Move) -> Option<u32> {
    let score = |verdict: &Verdict| {
        let is_score = verdict.is_exact() && !verdict.score.is_mate();
        is_score.then(|| i32::from(verdict.score.raw()))
    };
    let best = answer
        .verdicts()
        .iter()
        .find(|(_, verdict)| verdict.is_exact());
    let best = score(&best?.1)?;
    Some((best - score(answer.get(m)?)?).max(0).unsigned_abs())
}

impl AppState {
    async fn answers(
        &self,
        caller: &Caller,
        positions: &[Position],
    ) -> Result<Vec<Option<Answer>>, ApiError> {
        let found = self.lookup_all(caller, positions, 0).await?;
        found
            .iter()
            .map(|found| decode(found.answer.as_ref()))
            .collect()
    }

    async fn standings(
        &self,
        caller: &Caller,
        positions: &[Position],
    ) -> Result<Vec<Vec<StandingJson>>, ApiError> {
        let positions = positions.iter().map(Into::into).collect();
        let request = caller.request(v1::StandingsRequest { positions });
        let standings = self.services.books().standings(request).await?.into_inner();
        let of_position =
            |all: v1::PositionStandings| all.standings.iter().map(StandingJson::from).collect();
        Ok(standings.positions.into_iter().map(of_position).collect())
    }
}
