use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use kagetsu_game::{Effort, Move, Outcome, Position, Question, Score};
use kagetsu_search::Control;
use rayon::prelude::*;
use serde::Serialize;

use super::walks::{BookVisit, units};
use crate::matches::player::{Player, PlayerSettings};

/// Units of regret up to which a move counts as small, and up to which it may be played.
const MAX_SMALL: f64 = 0.25;
const MAX_FAIR: f64 = 1.0;

/// A move of the book as a longer search sees it.
pub(super) struct JudgedMove {
    visit: BookVisit,
    /// The move that the judge would play.
    best: Move,
    /// Whether that is the book's move, or its image.
    pub(super) is_stable: bool,
    /// Units by which the book's move is worse; 0 where it is not.
    pub(super) regret: f64,
}

/// Grades of the moves at one ply. Each move has the first grade that fits.
#[derive(Default, Serialize)]
pub(super) struct PlyGradeJson {
    ply: usize,
    moves: u32,
    proven: u32,
    stable: u32,
    below_025: u32,
    below_100: u32,
    open: u32,
    contradicted: u32,
}

/// One of the moves with the greatest regret.
#[derive(Serialize)]
pub(super) struct WorstMoveJson {
    position: String,
    book: String,
    judge: String,
    regret: f64,
    /// By another program; null without one.
    by_another: Option<f64>,
}

/// Judges the moves of a book on all cores. Those that the book has proven are not judged.
///
/// # Errors
/// If the judge fails.
pub(super) fn judge(visits: Vec<BookVisit>, settings: &PlayerSettings) -> Result<Vec<JudgedMove>> {
    on_all_cores(visits, settings, |judge, visit| {
        if visit.is_proven {
            let best = visit.book_move;
            return Ok(JudgedMove {
                visit,
                best,
                is_stable: true,
                regret: 0.0,
            });
        }
        let (best, regret) = regret(judge, &visit, settings.effort)?;
        let key = |m| visit.position.play(m).map(|next| next.key());
        let is_stable = key(best)? == key(visit.book_move)?;
        Ok(JudgedMove {
            visit,
            best,
            is_stable,
            regret,
        })
    })
}

/// Returns the values of positions for the sides to move, in units.
///
/// # Errors
/// If the judge fails.
pub(super) fn values(positions: Vec<Position>, settings: &PlayerSettings) -> Result<Vec<Score>> {
    on_all_cores(positions, settings, |judge, position| {
        Ok(value(judge, &position, settings.effort)?.1)
    })
}

fn on_all_cores<I: Send, T: Send>(
    items: Vec<I>,
    settings: &PlayerSettings,
    work: impl Fn(&mut Player, I) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    let start = || Player::start(settings, &Control::new());
    let worked = items.into_par_iter().map_init(start, |judge, item| {
        let judge = judge.as_mut().map_err(|error| anyhow!("{error:#}"))?;
        judge.begin_game();
        work(judge, item)
    });
    worked.collect()
}

/// Returns the move that the judge would play, and the regret of the book's move.
fn regret(judge: &mut Player, visit: &BookVisit, effort: Effort) -> Result<(Move, f64)> {
    let (best, most) = value(judge, &visit.position, effort)?;
    let best = best.context("a position of the book has no move")?;
    let next = visit.position.play(visit.book_move)?;
    if next.key() == visit.position.play(best)?.key() {
        return Ok((best, 0.0));
    }
    let (_, after) = value(judge, &next, effort)?;
    Ok((best, (units(most) - units(after.before())).max(0.0)))
}

/// Returns the best move and the value of a position for the side to move.
fn value(judge: &mut Player, position: &Position, effort: Effort) -> Result<(Option<Move>, Score)> {
    match position.outcome() {
        Some(Outcome::Draw) => return Ok((None, Score::ZERO)),
        Some(Outcome::Win(winner)) if winner == position.side() => {
            return Ok((None, Score::win_in(0)));
        }
        Some(Outcome::Win(_)) => return Ok((None, Score::loss_in(0))),
        None => (),
    }
    let question = Question::new(position.clone(), effort);
    let answer = judge.answer(&question, &Control::new(), &mut |_| {})?;
    let (best, verdict) = answer.best().context("the judge gave no move")?;
    Ok((Some(best), verdict.score))
}

/// Returns the grades by ply.
pub(super) fn grades(judged: &[JudgedMove]) -> Vec<PlyGradeJson> {
    let mut grades: BTreeMap<usize, PlyGradeJson> = BTreeMap::new();
    for JudgedMove {
        visit,
        is_stable,
        regret,
        ..
    } in judged
    {
        let ply = visit.position.moves().len();
        let grade = grades.entry(ply).or_default();
        (grade.ply, grade.moves) = (ply, grade.moves + 1);
        *match regret {
            _ if visit.is_proven => &mut grade.proven,
            MAX_FAIR.. => &mut grade.contradicted,
            _ if visit.is_open => &mut grade.open,
            _ if *is_stable => &mut grade.stable,
            ..MAX_SMALL => &mut grade.below_025,
            _ => &mut grade.below_100,
        } += 1;
    }
    grades.into_values().collect()
}

/// Returns the moves with the greatest regret, which another program may judge too.
///
/// # Errors
/// If the other program fails.
pub(super) fn worst(
    judged: &[JudgedMove],
    most: usize,
    another: Option<&PlayerSettings>,
) -> Result<Vec<WorstMoveJson>> {
    let mut bad: Vec<_> = judged.iter().filter(|judged| judged.regret > 0.0).collect();
    bad.sort_by(|a, b| b.regret.total_cmp(&a.regret));
    bad.truncate(most);
    let mut another = match another {
        Some(settings) => Some((Player::start(settings, &Control::new())?, settings.effort)),
        None => None,
    };
    let row = |JudgedMove {
                   visit,
                   best,
                   regret: by_own,
                   ..
               }: &JudgedMove| {
        let name = |m| visit.position.write_move(m);
        let by_another = another.as_mut().map(|(judge, effort)| {
            judge.begin_game();
            Ok::<_, anyhow::Error>(regret(judge, visit, *effort)?.1)
        });
        Ok(WorstMoveJson {
            position: visit.position.to_string(),
            book: name(visit.book_move),
            judge: name(*best),
            regret: *by_own,
            by_another: by_another.transpose()?,
        })
    };
    bad.into_iter().map(row).collect()
}
