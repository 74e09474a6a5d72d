//! What workers say before their exam is passed.

use std::collections::BTreeMap;

use kagetsu_schedule::{Report, Suspension, TaskId, WorkerId};

use crate::cluster::state::State;

/// Moves of all answers that wait, eight bytes each at most: what comes beyond its worker says again when it comes back.
const MOST: usize = 8 << 20;

/// The reports that would count if their workers had passed.
#[derive(Default)]
pub(crate) struct Unheard {
    all: BTreeMap<WorkerId, BTreeMap<(TaskId, u32), Report>>,
    moves: usize,
}

impl Unheard {
    fn keep(&mut self, worker: WorkerId, task: TaskId, attempt: u32, report: Report) {
        let moves = self.moves + moves(&report);
        let said = self.all.entry(worker).or_default();
        if moves <= MOST && !said.contains_key(&(task, attempt)) {
            self.moves = moves;
            said.insert((task, attempt), report);
        }
    }

    /// All that a worker said; it waits no more.
    pub(crate) fn take(&mut self, worker: WorkerId) -> BTreeMap<(TaskId, u32), Report> {
        let said = self.all.remove(&worker).unwrap_or_default();
        self.moves -= said.values().map(moves).sum::<usize>();
        said
    }
}

/// Of an answer with its lines; of what is none a few.
fn moves(report: &Report) -> usize {
    match report {
        Report::Done(answer) => {
            8 + answer
                .verdicts()
                .iter()
                .map(|(_, verdict)| 8 + verdict.line.len())
                .sum::<usize>()
        }
        Report::Failed(_) | Report::HandedBack => 64,
    }
}

impl State {
    /// Whether a worker has questions of its exam to answer.
    pub(crate) fn is_examined(&self, worker: WorkerId) -> bool {
        self.scheduler.suspension(worker) == Some(Suspension::Qualification)
    }

    /// A worker's report. If it would count it waits for the exam of who has not passed it.
    pub(crate) fn heard(&mut self, worker: WorkerId, task: TaskId, attempt: u32, report: Report) {
        if self.trust.is_quarantined(worker) {
            return self.acknowledge(worker, task, attempt);
        }
        let is_examined = self.is_examined(worker);
        let would_count =
            self.scheduler.accepts(worker, task, attempt) && !matches!(report, Report::HandedBack);
        if is_examined && would_count {
            self.unheard.keep(worker, task, attempt, report);
            return self.scheduler.heartbeat(self.now, worker, &[]);
        }
        if let Some(watched) = self.watched(task).filter(|_| !is_examined) {
            watched.ended(task);
        }
        if let Report::Failed(reason) = &report {
            tracing::warn!(
                worker = self.name(worker),
                task = task.0,
                reason,
                "a task failed"
            );
        }
        self.scheduler
            .report(self.now, worker, task, attempt, report);
    }

    /// A worker has passed: what it said counts, and it gets tasks.
    pub(crate) fn believe(&mut self, worker: WorkerId) {
        let said = self.unheard.take(worker);
        self.scheduler.suspend(self.now, worker, None);
        said.into_iter()
            .for_each(|((task, attempt), report)| self.heard(worker, task, attempt, report));
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Answer, Bound, Move, Provenance, Score, Verdict};

    use super::*;

    fn report(lines: &[usize]) -> Report {
        let verdict = |(n, len): (usize, &usize)| {
            let (score, bound, by) = (
                Score::ZERO,
                Bound::Exact,
                Provenance {
                    engine: "e".into(),
                    day: 0,
                },
            );
            let line = vec![Move::new(1); *len];
            (
                Move::new(n as u16),
                Verdict {
                    score,
                    bound,
                    depth: 1,
                    nodes: 1,
                    line,
                    proof: None,
                    by,
                },
            )
        };
        Report::Done(lines.iter().enumerate().map(verdict).collect::<Answer>())
    }

    #[test]
    fn what_is_taken_is_counted_no_more() {
        let mut unheard = Unheard::default();
        for (worker, task, line) in [(1, 1, 0), (1, 1, 5), (2, 1, 7), (1, 2, 3), (3, 1, 0)] {
            unheard.keep(WorkerId(worker), TaskId(task), 1, report(&[line, 3]));
        }
        let taken = (0..4).map(|worker| unheard.take(WorkerId(worker)).len());
        assert_eq!(taken.collect::<Vec<_>>(), [0, 2, 1, 1], "each once");
        assert_eq!(unheard.moves, 0);
    }

    #[test]
    fn too_much_is_not_kept() {
        let mut unheard = Unheard::default();
        let much = report(&[MOST / 2]);
        (0..9).for_each(|task| unheard.keep(WorkerId(1), TaskId(task), 1, much.clone()));
        assert_eq!(unheard.take(WorkerId(1)).len(), 1);
        unheard.keep(WorkerId(1), TaskId(1), 1, much);
        assert_eq!(unheard.take(WorkerId(1)).len(), 1, "there is room again");
    }
}
