use std::collections::BTreeMap;

use kagetsu_game::Answer;
use kagetsu_schedule::{TaskId, WorkerId};
use tokio::sync::watch;

/// The state of an analysis as its client sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Update {
    pub(crate) answer: Answer,
    pub(crate) nodes: u64,
    /// The result, or why there is none; `None` while the analysis runs.
    pub(crate) end: Option<Result<(), String>>,
}

/// The progress of an analysis that a client follows: finished tasks, and intermediate results of
/// running ones.
pub(crate) struct AnalysisProgress {
    updates: watch::Sender<Update>,
    /// Whether every worker searches the whole question, so that the deepest result counts.
    is_shared: bool,
    reported: Answer,
    /// The worker with the deepest result of a shared search.
    by: Option<WorkerId>,
    /// Last intermediate result of each running task, and the nodes that it has visited.
    running: BTreeMap<TaskId, (Answer, u64)>,
}

impl AnalysisProgress {
    /// Returns the progress, and the receiver of its updates.
    pub(crate) fn new(is_shared: bool) -> (Self, watch::Receiver<Update>) {
        let (updates, seen) = watch::channel(Update::default());
        (
            Self {
                updates,
                is_shared,
                reported: Answer::new(),
                by: None,
                running: BTreeMap::new(),
            },
            seen,
        )
    }

    /// A running task has visited more nodes, and perhaps finished an iteration.
    pub(crate) fn progress(
        &mut self,
        worker: WorkerId,
        task: TaskId,
        nodes: u64,
        so_far: Option<Answer>,
    ) {
        let (answer, visited) = self.running.entry(task).or_default();
        *visited = nodes;
        match so_far {
            Some(so_far) if !self.is_shared => *answer = so_far,
            Some(so_far) if depth(&so_far) > depth(&self.reported) => {
                (self.reported, self.by) = (so_far, Some(worker))
            }
            _ => {}
        }
        self.tell();
    }

    /// A task no longer runs.
    pub(crate) fn ended(&mut self, task: TaskId) {
        self.running.remove(&task);
    }

    /// The finished tasks have found this together.
    pub(crate) fn reported(&mut self, answer: Answer) {
        self.reported = answer;
        self.tell();
    }

    /// Returns the final answer and the workers that found it. In a shared search the first report
    /// ends the search, and may come from a worker that began late: a deeper intermediate result
    /// of another worker replaces it, unless the report proves something.
    pub(crate) fn deepest(&self, answer: Answer, by: Vec<WorkerId>) -> (Answer, Vec<WorkerId>) {
        let is_proven = answer
            .best()
            .is_some_and(|(_, verdict)| verdict.proof.is_some());
        match self
            .by
            .filter(|_| self.is_shared && !is_proven && depth(&self.reported) > depth(&answer))
        {
            Some(worker) => (self.reported.clone(), vec![worker]),
            None => (answer, by),
        }
    }

    /// The analysis has ended, with an answer and its nodes or with a reason why there is none.
    pub(crate) fn end(self, end: Result<(Answer, u64), String>) {
        // A client that has gone is about to cancel the question.
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
        // In a shared search the running tasks count the nodes of what was reported, too.
        let mut nodes = if self.is_shared { 0 } else { answer.nodes() };
        for (so_far, visited) in self.running.values() {
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

/// Returns the depth of the best move; 0 without one.
fn depth(answer: &Answer) -> u8 {
    answer.best().map_or(0, |(_, verdict)| verdict.depth)
}

/// Returns the deeper of two answers; the later one if they are equally deep.
pub(crate) fn deeper<'a>(before: &'a Answer, found: &'a Answer) -> &'a Answer {
    if depth(found) < depth(before) {
        before
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Move, Verdict};

    use super::*;

    fn answer(m: u16, depth: u8, nodes: u64) -> Answer {
        let (m, verdict) = kagetsu_builders::opinion(Move::new(m), m.into());
        let verdict = Verdict {
            depth,
            nodes,
            ..verdict
        };
        [(m, verdict)].into_iter().collect()
    }

    #[test]
    fn deepest_member_is_seen() {
        let (mut analysis, seen) = AnalysisProgress::new(true);
        let now = || (seen.borrow().answer.clone(), seen.borrow().nodes);
        analysis.progress(WorkerId(1), TaskId(1), 200, Some(answer(7, 5, 150)));
        analysis.progress(WorkerId(1), TaskId(2), 50, Some(answer(9, 4, 40)));
        assert_eq!(now(), (answer(7, 5, 150), 250));
        analysis.progress(WorkerId(1), TaskId(2), 90, Some(answer(8, 6, 80)));
        analysis.progress(WorkerId(1), TaskId(1), 300, None);
        assert_eq!(now(), (answer(8, 6, 80), 390));
        analysis.ended(TaskId(2));
        analysis.progress(WorkerId(1), TaskId(1), 400, Some(answer(7, 6, 350)));
        assert_eq!(
            now(),
            (answer(8, 6, 80), 400),
            "the first of equal depth stays"
        );
        let late = vec![WorkerId(9)];
        assert_eq!(
            analysis.deepest(answer(3, 2, 5), late.clone()),
            (answer(8, 6, 80), vec![WorkerId(1)])
        );
        assert_eq!(
            analysis.deepest(answer(3, 6, 5), late.clone()),
            (answer(3, 6, 5), late)
        );
    }

    #[test]
    fn shallower_answer_never_follows_a_deeper_one() {
        let before = answer(7, 2, 30);
        assert_eq!(deeper(&before, &Answer::new()), &before);
        assert_eq!(deeper(&before, &answer(9, 1, 10)), &before);
        assert_eq!(deeper(&before, &answer(9, 2, 10)), &answer(9, 2, 10));
    }

    #[test]
    fn reported_and_running_results_are_seen() {
        let (mut analysis, seen) = AnalysisProgress::new(false);
        let now = || (seen.borrow().answer.clone(), seen.borrow().nodes);
        analysis.progress(WorkerId(1), TaskId(1), 100, None);
        assert_eq!(now(), (Answer::new(), 100));
        analysis.progress(WorkerId(1), TaskId(1), 200, Some(answer(7, 3, 150)));
        analysis.progress(WorkerId(1), TaskId(2), 50, Some(answer(9, 4, 40)));
        analysis.progress(WorkerId(1), TaskId(1), 300, None);
        let mut both = answer(7, 3, 150);
        both.merge(answer(9, 4, 40));
        assert_eq!(now(), (both, 350));
        analysis.ended(TaskId(1));
        analysis.reported(answer(7, 5, 400));
        let mut both = answer(7, 5, 400);
        both.merge(answer(9, 4, 40));
        assert_eq!(now(), (both, 450));
        analysis.end(Ok((answer(7, 5, 400), 500)));
        assert_eq!(
            (now(), seen.borrow().end.clone()),
            ((answer(7, 5, 400), 500), Some(Ok(())))
        );
    }
}
