//! Why a position is in the book, or waits for it.

use kagetsu_api::ValueJson;
use kagetsu_book::{Standing, StandingState};
use kagetsu_game::{Answer, Move, Notation, Position, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::{TextBlock, write_move};
use crate::source::Source;
use crate::view::View;

/// The moves of a line, and the moves from its end, that are described.
const MAX_MOVES: usize = 400;

/// Tells why a position is in a book, or waits for it
///
/// Each position of the line, and each move from its end, has the build jobs that come there:
/// their priority in plies (less is searched earlier) and whether they have searched it.
///
/// Example: kagetsu priorities --book h8.book --variant freestyle-15 --moves "h8 i9"
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct PrioritiesView {}

/// Why a position is in the book, or waits for it.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Priorities)]
pub struct PrioritiesJson {
    /// The positions of the line, from the first position on.
    line: Vec<StepJson>,
    /// The moves from the position that jobs come to, the most urgent first.
    moves: Vec<StepJson>,
}

/// A move, and how the jobs see the position after it.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = PriorityStep)]
pub struct StepJson {
    /// The move; null for the first position of a line.
    r#move: Option<String>,
    /// Centi-units that the move is worse than the best one, where the book has both values.
    loss: Option<u32>,
    /// Whether the book holds the position after the move.
    is_held: bool,
    /// The value of the position after the move, from the view of the side to move there.
    #[serde(flatten)]
    value: ValueJson,
    /// The jobs that come there.
    jobs: Vec<StandingJson>,
}

/// How a job sees a position.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Standing)]
pub struct StandingJson {
    /// The job's name.
    job: String,
    /// Plies from the nearest root, with the losses of moves on the way weighted by the job's
    /// alpha; positions with less are searched earlier.
    priority: f64,
    /// `searched`, `waiting` or `set-aside`.
    state: String,
}

impl From<&Standing> for StandingJson {
    fn from(standing: &Standing) -> Self {
        let state = match standing.state {
            StandingState::Waiting => "waiting",
            StandingState::SetAside => "set-aside",
            StandingState::Searched => "searched",
        };
        Self {
            job: standing.job.clone(),
            priority: standing.priority as f64 / 1e6,
            state: state.into(),
        }
    }
}

impl View for PrioritiesView {
    const NAME: &'static str = "priorities";
    type At = Position;
    type Result = PrioritiesJson;

    fn read(
        source: &Source,
        at: &Position,
        _: PrioritiesView,
    ) -> Result<PrioritiesJson, ViewError> {
        let first = at.moves().len().saturating_sub(MAX_MOVES);
        let line = first..=at.moves().len();
        let line: Vec<Position> = line.map(|plies| at.prefix(plies)).collect();
        let moves: Vec<Move> = at.legal_moves().into_iter().take(MAX_MOVES).collect();
        let children = moves.iter().filter_map(|&m| at.play(m).ok());
        let all: Vec<Position> = line.iter().cloned().chain(children).collect();
        let standings = standings(source, &all)?;
        let found = source.find_all(&all)?.into_iter();
        let answers: Vec<Option<Answer>> = found.map(|found| Some(found?.answer)).collect();
        let (standings, after) = standings.split_at(line.len());
        let (answers, held_after) = answers.split_at(line.len());
        let first = at.moves().len() + 1 - line.len();
        let steps = (0..line.len()).map(|index| {
            let before = index.checked_sub(1);
            let last = before.map(|before| at.moves()[first + before]);
            let before = before.and_then(|before| answers[before].as_ref());
            step(at, last, before, answers[index].as_ref(), &standings[index])
        });
        let answer = answers.last().and_then(Option::as_ref);
        let mut onward: Vec<StepJson> = moves
            .iter()
            .zip(after)
            .zip(held_after)
            .filter(|((_, jobs), held)| !jobs.is_empty() || held.is_some())
            .map(|((&m, jobs), held)| step(at, Some(m), answer, held.as_ref(), jobs))
            .collect();
        let urgency = |step: &StepJson| step.jobs.iter().map(|job| job.priority).reduce(f64::min);
        let urgency = |step: &StepJson| urgency(step).unwrap_or(f64::INFINITY);
        onward.sort_by(|a, b| urgency(a).total_cmp(&urgency(b)));
        Ok(PrioritiesJson {
            line: steps.collect(),
            moves: onward,
        })
    }

    fn print(result: &PrioritiesJson, at: &Position, notation: Notation) -> Vec<TextBlock> {
        let table = |head: &'static str, steps: &[StepJson], notation: Notation| {
            let rows = steps.iter().map(|step| {
                let name = step.r#move.as_deref();
                let jobs = step.jobs.iter();
                let jobs = jobs.map(|job| format!("{} {:.2} {}", job.job, job.priority, job.state));
                [
                    name.map_or_else(|| "-".into(), |name| write_move(at, name, notation)),
                    step.loss
                        .map_or_else(|| "-".into(), |loss| loss.to_string()),
                    step.value.to_string(),
                    jobs.collect::<Vec<_>>().join("; "),
                ]
            });
            TextBlock::table([head, "loss", "value", "jobs"], [1, 2], rows)
        };
        vec![
            table("line", &result.line, Notation::Engine),
            TextBlock::line(""),
            table("move", &result.moves, notation),
        ]
    }
}

/// Returns how the jobs see positions, in their order; a book without jobs has none.
fn standings(source: &Source, positions: &[Position]) -> anyhow::Result<Vec<Vec<Standing>>> {
    let read = source.inspect(|book| {
        let standings = positions.iter().map(|position| book.standings(position));
        standings.collect()
    })?;
    Ok(read.unwrap_or_else(|| vec![Vec::new(); positions.len()]))
}

fn step(
    position: &Position,
    last: Option<Move>,
    before: Option<&Answer>,
    after: Option<&Answer>,
    jobs: &[Standing],
) -> StepJson {
    StepJson {
        r#move: last.map(|m| position.write_move(m)),
        loss: last.zip(before).and_then(|(m, answer)| loss(answer, m)),
        is_held: after.is_some(),
        value: after
            .and_then(best_exact)
            .map_or_else(ValueJson::unknown, ValueJson::of),
        jobs: jobs.iter().map(StandingJson::from).collect(),
    }
}

/// Returns the best move of exact value.
fn best_exact(answer: &Answer) -> Option<&Verdict> {
    let mut exact = answer
        .verdicts()
        .iter()
        .filter(|(_, verdict)| verdict.is_exact());
    exact.next().map(|(_, verdict)| verdict)
}

/// Returns the centi-units that a move is worse than the best; `None` if one of them has no exact
/// score.
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
