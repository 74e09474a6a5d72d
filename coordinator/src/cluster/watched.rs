use std::collections::BTreeMap;

use kagetsu_game::Answer;
use kagetsu_schedule::{TaskId, WorkerId};
use tokio::sync::watch;

use crate::cluster::hub::Update;

/// An analysis that somebody watches: what its parts have reported, and what those at work have said on the way.
pub(crate) struct Watched {
    updates: watch::Sender<Update>,
    /// Whether each task is all of it, so that the deepest says most.
    is_pool: bool,
    reported: Answer,
    /// Whose words these are, of a pool.
    by: Option<WorkerId>,
    /// The last words of each task at work, and the positions it has visited.
    at_work: BTreeMap<TaskId, (Answer, u64)>,
}

impl Watched {
    /// With the receiver in which it is seen to grow.
    pub(crate) fn new(is_pool: bool) -> (Self, watch::Receiver<Update>) {
        let (updates, seen) = watch::channel(Update::default());
        (
            Self {
                updates,
                is_pool,
                reported: Answer::new(),
                by: None,
                at_work: BTreeMap::new(),
            },
            seen,
        )
    }

    /// A worker's task has visited so many positions, and perhaps found something.
    pub(crate) fn progress(
        &mut self,
        worker: WorkerId,
        task: TaskId,
        nodes: u64,
        so_far: Option<Answer>,
    ) {
        let (answer, visited) = self.at_work.entry(task).or_default();
        *visited = nodes;
        match so_far {
            Some(so_far) if !self.is_pool => *answer = so_far,
            Some(so_far) if depth(&so_far) > depth(&self.reported) => {
                (self.reported, self.by) = (so_far, Some(worker))
            }
            _ => {}
        }
        self.tell();
    }

    /// A task is at work no longer.
    pub(crate) fn ended(&mut self, task: TaskId) {
        self.at_work.remove(&task);
    }

    /// All that was reported by now.
    pub(crate) fn reported(&mut self, answer: Answer) {
        self.reported = answer;
        self.tell();
    }

    /// The last word on it, and whose it is: of a pool what another has said on the way, where that is deeper and the answer
    /// proves nothing. The first answer ends the search, and may be that of one who began late.
    pub(crate) fn deepest(&self, answer: Answer, by: Vec<WorkerId>) -> (Answer, Vec<WorkerId>) {
        let is_proven = answer
            .best()
            .is_some_and(|(_, verdict)| verdict.proof.is_some());
        match self
            .by
            .filter(|_| self.is_pool && !is_proven && depth(&self.reported) > depth(&answer))
        {
            Some(worker) => (self.reported.clone(), vec![worker]),
            None => (answer, by),
        }
    }

    /// The answer is there, or a reason why there is none.
    pub(crate) fn end(self, end: Result<(Answer, u64), String>) {
        // Nobody may be listening any more; then the question is about to be cancelled.
        let _ = match end {
            Ok((answer, nodes)) => self.updates.send(Update {
                answer,
                nodes,
                end: Some(Ok(())),
            }),
            Err(reason) => {
                self.updates
                    .send_modify(|update| update.end = Some(Err(reason)));
                Ok(())
            }
        };
    }

    fn tell(&self) {
        let mut answer = self.reported.clone();
        // Who is at work counts what was found on the way, too.
        let mut nodes = if self.is_pool { 0 } else { answer.nodes() };
        for (so_far, visited) in self.at_work.values() {
            answer.merge(so_far.clone());
            nodes = nodes.saturating_add(*visited);
        }
        let _ = self.updates.send(Update {
            answer,
            nodes,
            end: None,
        });
    }
}

/// Plies that the best move was searched to; 0 where there is none.
fn depth(answer: &Answer) -> u8 {
    answer.best().map_or(0, |(_, verdict)| verdict.depth)
}

/// What is found, unless what was known before is deeper: who begins with one ply knows less than was told.
pub(crate) fn deeper<'a>(before: &'a Answer, found: &'a Answer) -> &'a Answer {
    if depth(found) < depth(before) {
        before
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Bound, Move, Provenance, Score, Verdict};

    use super::*;

    fn answer(m: u16, depth: u8, nodes: u64) -> Answer {
        let by = Provenance {
            engine: "e".into(),
            day: 0,
        };
        let score = Score::opinion(i32::from(m));
        [(
            Move::new(m),
            Verdict {
                score,
                bound: Bound::Exact,
                depth,
                nodes,
                line: vec![],
                proof: None,
                by,
            },
        )]
        .into_iter()
        .collect()
    }

    #[test]
    fn of_members_the_deepest_is_seen() {
        let (mut watched, seen) = Watched::new(true);
        let now = || (seen.borrow().answer.clone(), seen.borrow().nodes);
        watched.progress(WorkerId(1), TaskId(1), 200, Some(answer(7, 5, 150)));
        watched.progress(WorkerId(1), TaskId(2), 50, Some(answer(9, 4, 40)));
        assert_eq!(now(), (answer(7, 5, 150), 250));
        watched.progress(WorkerId(1), TaskId(2), 90, Some(answer(8, 6, 80)));
        watched.progress(WorkerId(1), TaskId(1), 300, None);
        assert_eq!(now(), (answer(8, 6, 80), 390));
        watched.ended(TaskId(2));
        watched.progress(WorkerId(1), TaskId(1), 400, Some(answer(7, 6, 350)));
        assert_eq!(
            now(),
            (answer(8, 6, 80), 400),
            "the first of equal depth stays"
        );
        let late = vec![WorkerId(9)];
        assert_eq!(
            watched.deepest(answer(3, 2, 5), late.clone()),
            (answer(8, 6, 80), vec![WorkerId(1)])
        );
        assert_eq!(
            watched.deepest(answer(3, 6, 5), late.clone()),
            (answer(3, 6, 5), late)
        );
    }

    #[test]
    fn nothing_less_deep_is_told_after_what_was_known_before() {
        let before = answer(7, 2, 30);
        assert_eq!(deeper(&before, &Answer::new()), &before);
        assert_eq!(deeper(&before, &answer(9, 1, 10)), &before);
        assert_eq!(deeper(&before, &answer(9, 2, 10)), &answer(9, 2, 10));
    }

    #[test]
    fn what_is_seen_is_what_was_reported_and_what_is_at_work() {
        let (mut watched, seen) = Watched::new(false);
        let now = || (seen.borrow().answer.clone(), seen.borrow().nodes);
        watched.progress(WorkerId(1), TaskId(1), 100, None);
        assert_eq!(now(), (Answer::new(), 100));
        watched.progress(WorkerId(1), TaskId(1), 200, Some(answer(7, 3, 150)));
        watched.progress(WorkerId(1), TaskId(2), 50, Some(answer(9, 4, 40)));
        watched.progress(WorkerId(1), TaskId(1), 300, None);
        let mut both = answer(7, 3, 150);
        both.merge(answer(9, 4, 40));
        assert_eq!(now(), (both, 350));
        watched.ended(TaskId(1));
        watched.reported(answer(7, 5, 400));
        let mut both = answer(7, 5, 400);
        both.merge(answer(9, 4, 40));
        assert_eq!(now(), (both, 450));
        watched.end(Ok((answer(7, 5, 400), 500)));
        assert_eq!(
            (now(), seen.borrow().end.clone()),
            ((answer(7, 5, 400), 500), Some(Ok(())))
        );
    }
}
