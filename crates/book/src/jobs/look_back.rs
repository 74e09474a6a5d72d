//! Moves that a proof found elsewhere suggests, for jobs that look for a proof.
//!
//! An attacker's answer lists few moves, and the winning one may be quiet. So each answer is
//! completed by moves that are known to win with the same stones, an adviser's line names moves in
//! the positions on it, and each new proof is looked up from all positions that lead to it.

use kagetsu_game::{Answer, Bound, Claim, Move, Position, Question, Score, Verdict};

use crate::BookError;
use crate::base::id::Id;
use crate::book::{Book, answered};
use crate::jobs::winning_moves::WinningMoves;
use crate::settings::build_spec::BuildSpec;
use crate::settings::job::Work;

/// Number of suggested moves that an answer is completed by.
const MAX_SUGGESTIONS: usize = 3;

/// Opinion of the first suggested move, and how much less each further one is worth, in
/// centi-units.
const FIRST_SUGGESTION: i32 = -40;
const NEXT_SUGGESTION: i32 = -40;

/// Least value of an adviser's line that is taken for a win, in centi-units.
const MIN_WIN: i16 = 2_000;

impl Book {
    /// Completes the attacker's answer to a work by moves that won elsewhere. A move that leads to
    /// a proven win stands alone.
    pub(crate) fn with_suggestions(
        &mut self,
        work: &Work,
        answer: &Answer,
    ) -> Result<Answer, BookError> {
        let position = &work.question.position;
        let build = &self.jobs.spec(work.job)?.build;
        let is_attack = build.policy.info().widens && position.side() == build.side;
        let mut answer = answer.clone();
        if is_advice(build, &work.question) {
            answer = as_advice(answer);
        }
        let is_won = answer
            .best()
            .is_some_and(|(_, best)| best.score.win_plies().is_some());
        let Some((_, model)) = answer.verdicts().first().cloned() else {
            return Ok(answer);
        };
        if !is_attack || is_won || position.variant().gomoku().is_none() {
            return Ok(answer);
        }
        let mut moves = self.named_moves(position)?;
        for m in self.winning_moves()?.of(position) {
            if !moves.contains(&m) {
                moves.push(m);
            }
        }
        let children = position.children(&moves);
        let code = position.variant().code();
        let mut won = None;
        let mut index = self.index();
        for (m, child) in moves.iter().zip(&children) {
            let value = index.value(Id::of(code, child))?;
            let proof = value.and_then(|value| value.proof);
            if proof.is_some_and(|proof| proof.claim == Claim::Loss) {
                won = Some(*m);
                break;
            }
        }
        drop(index);
        let moves = match won {
            Some(m) => vec![m],
            None => moves.into_iter().take(MAX_SUGGESTIONS).collect(),
        };
        Ok(completed(&answer, &moves, &model))
    }

    /// Names the attacker's later moves on the line of an adviser that sees a win.
    pub(crate) fn name_line(&mut self, work: &Work, answer: &Answer) -> Result<(), BookError> {
        if !is_advice(&self.jobs.spec(work.job)?.build, &work.question) {
            return Ok(());
        }
        let best = answer.best().map(|(_, best)| best);
        let Some(best) = best.filter(|best| best.score.raw() >= MIN_WIN) else {
            return Ok(());
        };
        let mut at = work.question.position.clone();
        for (m, ply) in best.line.iter().zip(0..) {
            if ply > 0 && ply % 2 == 0 {
                let silent = Verdict {
                    score: -Score::OPINION_MAX,
                    bound: Bound::Lower,
                    depth: 0,
                    nodes: 0,
                    line: Vec::new(),
                    proof: None,
                    by: best.by.clone(),
                };
                self.suggest(&at, &[(*m, silent)].into_iter().collect())?;
                if let Some(table) = &mut self.jobs.winning_moves {
                    table.add_named(&at, *m);
                }
            }
            match at.play(*m) {
                Ok(next) if next.outcome().is_none() => at = next,
                _ => break,
            }
        }
        Ok(())
    }

    /// Learns moves that are worth a try in a position, for jobs that look for a proof. Where the
    /// position was searched, they become opinions without a search, so that jobs follow them;
    /// else they stay moves without a value until it is searched.
    ///
    /// # Errors
    /// As for [`Book::learn`].
    pub fn suggest(&mut self, position: &Position, named: &Answer) -> Result<(), BookError> {
        let known = self.lookup(position)?.map(|entry| entry.facts);
        let is_searched = known.is_some_and(|facts| {
            let mut verdicts = facts.verdicts().iter();
            verdicts.any(|(_, verdict)| !verdict.is_silent())
        });
        match named.verdicts().first() {
            Some((_, model)) if is_searched => {
                let moves: Vec<Move> = named.verdicts().iter().map(|(m, _)| *m).collect();
                self.learn(position, &completed(&Answer::new(), &moves, model))?;
            }
            _ => drop(self.learn(position, named)?),
        }
        Ok(())
    }

    /// Returns the moves that were imported for a position without a value.
    fn named_moves(&mut self, position: &Position) -> Result<Vec<Move>, BookError> {
        let Some(entry) = self.lookup(position)? else {
            return Ok(Vec::new());
        };
        let verdicts = entry.facts.verdicts().iter();
        Ok(verdicts
            .filter(|(_, verdict)| verdict.is_silent())
            .map(|(m, _)| *m)
            .collect())
    }

    /// Returns the table of winning moves. The first call reads it from the book.
    fn winning_moves(&mut self) -> Result<&WinningMoves, BookError> {
        if self.jobs.winning_moves.is_none() {
            let table = self.read_winning_moves()?;
            self.jobs.winning_moves = Some(table);
            self.jobs.new_proofs.clear();
        }
        Ok(self.jobs.winning_moves.get_or_insert_default())
    }

    fn read_winning_moves(&self) -> Result<WinningMoves, BookError> {
        let mut table = WinningMoves::default();
        let mut index = self.index();
        for id in self.ids() {
            let id = id?;
            // The value tells positions of interest, without reading the others.
            let Some(value) = index.value(id)? else {
                continue;
            };
            let is_lost = value.proof.is_some_and(|proof| proof.claim == Claim::Loss);
            if !is_lost && value.depth > 0 {
                continue;
            }
            let Some(node) = index.node(id)? else {
                continue;
            };
            if is_lost {
                table.add_lost(&node.position);
            }
            for (m, _) in node.facts.verdicts().iter().filter(|(_, v)| v.is_silent()) {
                table.add_named(&node.position, *m);
            }
        }
        Ok(table)
    }

    /// Adds the proofs that are new to the table of winning moves, and lets every known position
    /// that leads to one of them follow the move that does.
    pub(crate) fn look_back(&mut self) -> Result<(), BookError> {
        while let Some(id) = self.jobs.new_proofs.pop() {
            if self.jobs.winning_moves.is_none() {
                // The table is read when a job asks for it.
                self.jobs.new_proofs.clear();
                return Ok(());
            }
            let lost = self.cached(|index| {
                let proof = index.value(id)?.and_then(|value| value.proof);
                let is_lost = proof.is_some_and(|proof| proof.claim == Claim::Loss);
                let node = index.node(id)?.filter(|_| is_lost);
                Ok::<_, BookError>(node.map(|node| node.position.clone()))
            })?;
            let Some(lost) = lost else {
                continue;
            };
            if let Some(table) = &mut self.jobs.winning_moves {
                table.add_lost(&lost);
            }
            for (before, m) in positions_before(&lost) {
                self.follow_to_proof(&before, m)?;
            }
        }
        Ok(())
    }

    /// Lets a known position that is not proven follow a move to a proven win.
    fn follow_to_proof(&mut self, before: &Position, m: Move) -> Result<(), BookError> {
        let id = Id::of(before.variant().code(), &before.canonical());
        let known =
            self.cached(|index| Ok::<_, BookError>(index.node(id)?.zip(index.value(id)?)))?;
        let Some((node, _)) = known.filter(|(_, value)| value.proof.is_none()) else {
            return Ok(());
        };
        let Some((_, model)) = node.facts.verdicts().first() else {
            return Ok(());
        };
        let answer = completed(&Answer::new(), &[m], model);
        self.log_answer(answered(None, false, before, answer))?;
        Ok(())
    }
}

/// Whether a question asks an adviser: for the attacker's best move and not for a proof, in a game
/// with threat searches.
fn is_advice(build: &BuildSpec, question: &Question) -> bool {
    let Question {
        position, window, ..
    } = question;
    build.policy.info().widens
        && position.side() == build.side
        && position.variant().has_threat_search()
        && !window.asks_for_proof()
}

/// Returns an adviser's answer without bounds, so that it has the value of one move at least.
fn as_advice(mut advice: Answer) -> Answer {
    let best = advice.best().map(|(m, _)| m);
    advice.retain(|m, verdict| verdict.is_exact() || Some(m) == best);
    advice.changed(|_, verdict| {
        verdict.bound = Bound::Exact;
        verdict.depth = verdict.depth.max(1);
    })
}

/// Adds moves to an answer as opinions that no search stands behind, with the origin of `model`.
fn completed(answer: &Answer, moves: &[Move], model: &Verdict) -> Answer {
    let mut answer = answer.clone();
    for (m, rank) in moves.iter().zip(0..) {
        let score = Score::opinion(FIRST_SUGGESTION + rank * NEXT_SUGGESTION);
        if answer
            .get(*m)
            .is_some_and(|known| known.is_exact() && known.score >= score)
        {
            continue;
        }
        answer.retain(|at, known| at != *m || known.proof.is_some());
        let verdict = Verdict {
            score,
            bound: Bound::Exact,
            depth: 0,
            nodes: 0,
            line: vec![*m],
            proof: None,
            by: model.by.clone(),
        };
        answer.extend([(*m, verdict)]);
    }
    answer
}

/// Returns the positions from which one move leads to a gomoku position, with that move.
fn positions_before(position: &Position) -> Vec<(Position, Move)> {
    let mover = position.side().other();
    let stones = position.stones().unwrap_or_default();
    let before = |&m: &Move| {
        let mut stones = stones.clone();
        stones[mover.index()].retain(|stone| *stone != m);
        let before = Position::from_stones(position.variant(), &stones, mover).ok()?;
        Some((before, m))
    };
    stones[mover.index()].iter().filter_map(before).collect()
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn each_move_leads_back_to_the_position() {
        let line = "h8 i9 g9 f10 h7";
        let position = Position::from_line(Variant::STANDARD_15, line).expect("legal");
        let all = positions_before(&position);
        assert_eq!(all.len(), 3);
        for (before, m) in all {
            assert_eq!(before.play(m).expect("legal").key(), position.key());
        }
        let xiangqi = Position::start(Variant::XIANGQI);
        assert!(positions_before(&xiangqi).is_empty());
    }
}
