//! Single events and what follows from them, one rule a test.

use std::time::Duration;

use kagetsu_game::{Answer, Effort, Move, Question};
use kagetsu_schedule::{
    Effect, Idle, Options, QuestionId, Report, Scheduler, Split, Task, TaskId, Totals, WorkerId, WorkerStatus,
};

use crate::engine;
use crate::merging::assert_same;

const ANN: WorkerId = WorkerId(1);
const BOB: WorkerId = WorkerId(2);

/// A scheduler with its clock, and the effects since one last looked.
struct Desk {
    scheduler: Scheduler,
    now: Duration,
}

impl Desk {
    fn new(options: Options) -> Self {
        Self { scheduler: Scheduler::new(options), now: Duration::ZERO }
    }

    /// No prefetch: what is assigned is begun.
    fn direct() -> Self {
        Self::new(Options { prefetch: 0, ..Options::default() })
    }

    fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.scheduler.tick(self.now);
    }

    fn ask(&mut self, n: usize, split: Split, priority: u64) -> QuestionId {
        let question = question(n);
        self.scheduler.submit(self.now, question.clone(), engine::shallow(&question), split, priority)
    }

    fn join(&mut self, worker: WorkerId, slots: u32) {
        self.scheduler.join(self.now, worker, slots, &[]);
    }

    fn beat(&mut self, worker: WorkerId, progress: &[(TaskId, u64)]) {
        self.scheduler.heartbeat(self.now, worker, progress);
    }

    fn report(&mut self, worker: WorkerId, task: &Task, report: Report) {
        self.scheduler.report(self.now, worker, task.id, task.attempt, report);
    }

    fn finish(&mut self, worker: WorkerId, task: &Task) {
        self.report(worker, task, done(task));
    }

    fn fail(&mut self, worker: WorkerId, task: &Task) {
        self.report(worker, task, Report::Failed("no memory".into()));
    }

    fn effects(&mut self) -> Vec<Effect> {
        std::iter::from_fn(|| self.scheduler.poll()).collect()
    }

    /// What is assigned, where nothing else happens.
    fn assigned(&mut self) -> Vec<(WorkerId, Task)> {
        let only_assigned = |effect| match effect {
            Effect::Assign { worker, task } => (worker, task),
            other => panic!("{other:?}"),
        };
        self.effects().into_iter().map(only_assigned).collect()
    }

    /// The only task assigned.
    fn one_assigned(&mut self) -> (WorkerId, Task) {
        let mut assigned = self.assigned();
        assert_eq!(assigned.len(), 1, "{assigned:?}");
        assigned.remove(0)
    }

    fn totals(&self) -> Totals {
        self.scheduler.census().totals
    }

    fn status(&self, worker: WorkerId) -> WorkerStatus {
        self.scheduler.workers().find(|status| status.id == worker).expect("it has joined")
    }
}

fn question(n: usize) -> Question {
    Question::new(engine::position(n), Effort::depth(8))
}

fn done(task: &Task) -> Report {
    Report::Done(engine::answer(&task.part))
}

fn acknowledge(worker: WorkerId, task: &Task) -> Effect {
    Effect::Acknowledge { worker, task: task.id, attempt: task.attempt }
}

fn revoke(worker: WorkerId, task: &Task) -> Effect {
    Effect::Revoke { worker, task: task.id }
}

fn workers_of(assigned: &[(WorkerId, Task)]) -> Vec<WorkerId> {
    assigned.iter().map(|(worker, _)| *worker).collect()
}

#[test]
fn one_question_is_divided_among_all_free_slots() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 2);
    desk.join(BOB, 2);
    let id = desk.ask(1, Split::Auto, 0);
    let assigned = desk.assigned();
    assert_eq!(workers_of(&assigned), [ANN, BOB, ANN, BOB]);
    let seed = engine::shallow(&question(1)).best().expect("there are moves").0;
    for (worker, task) in &assigned {
        assert_eq!((task.part.moves[0], task.question), (seed, id));
        desk.finish(*worker, task);
    }
    let effects = desk.effects();
    let [
        Effect::Progress { .. },
        Effect::Progress { .. },
        Effect::Progress { .. },
        Effect::Finished { answer, nodes, .. },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_same(&question(1), answer);
    let again = 3 * answer.get(seed).expect("the seed has a verdict").nodes;
    assert_eq!(*nodes, answer.nodes() + again, "three parts searched the seed move again");
}

#[test]
fn questions_stay_whole_where_there_are_as_many_as_slots() {
    let mut desk = Desk::new(Options::default());
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Auto, 0));
    desk.join(ANN, 2);
    let parts: Vec<_> = desk.assigned().into_iter().map(|(_, task)| task.part).collect();
    assert_eq!(parts, [question(1), question(2)]);
}

#[test]
fn questions_share_the_slots_that_are_free() {
    let mut desk = Desk::new(Options::default());
    let ids = [1, 2].map(|n| desk.ask(n, Split::Auto, 0));
    desk.join(ANN, 5);
    let assigned = desk.assigned();
    let parts = ids.map(|id| assigned.iter().filter(|(_, task)| task.question == id).count());
    assert_eq!(parts, [3, 2]);
}

#[test]
fn a_question_that_may_not_be_split_never_is() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 8);
    desk.ask(1, Split::Never, 0);
    assert_eq!(desk.one_assigned().1.part, question(1));
}

#[test]
fn the_most_urgent_comes_first_then_the_eldest() {
    let mut desk = Desk::new(Options::default());
    let ids = [(1, 5), (2, 3), (3, 5), (4, 3)].map(|(n, priority)| desk.ask(n, Split::Never, priority));
    desk.join(ANN, 4);
    let order: Vec<_> = desk.assigned().into_iter().map(|(_, task)| task.question).collect();
    assert_eq!(order, [ids[1], ids[3], ids[0], ids[2]]);
}

#[test]
fn slots_are_filled_before_queues_and_a_report_brings_the_next() {
    let mut desk = Desk::new(Options { prefetch: 1, ..Options::default() });
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    (1..=6).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    assert_eq!(workers_of(&assigned), [ANN, BOB, ANN, BOB], "two each, and no more");
    assert_eq!(desk.scheduler.appetite(), 0);
    desk.finish(BOB, &assigned[1].1);
    let effects = desk.effects();
    assert!(matches!(&effects[..], [Effect::Finished { .. }, Effect::Assign { worker: BOB, .. }]), "{effects:?}");
}

#[test]
fn what_is_queued_moves_to_whoever_falls_idle() {
    let mut desk = Desk::new(Options { prefetch: 2, ..Options::default() });
    desk.join(ANN, 1);
    (1..=3).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let queued = desk.assigned();
    assert_eq!(workers_of(&queued), [ANN, ANN, ANN]);
    desk.join(BOB, 1);
    let effects = desk.effects();
    let [first, Effect::Assign { worker: BOB, task }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((first, task.attempt), (&revoke(ANN, &queued[2].1), 2));
    assert_eq!(task.part, queued[2].1.part, "the one that she would have come to last");
}

#[test]
fn a_silent_worker_loses_its_tasks_and_its_late_answer_is_welcome() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.wait(10);
    desk.join(BOB, 1);
    assert_eq!(desk.scheduler.deadline(), Some(Duration::from_secs(15)), "a lease after her last sign");
    desk.wait(4);
    assert_eq!(desk.effects(), []);
    desk.wait(1);
    assert_eq!(desk.status(ANN).idle, Some(Idle::Silent));
    let (worker, second) = desk.one_assigned();
    assert_eq!((worker, second.id, second.attempt), (BOB, first.id, 2));

    desk.finish(ANN, &first);
    let effects = desk.effects();
    let [gone, Effect::Finished { question, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((gone, *question), (&revoke(BOB, &second), id));
    desk.finish(BOB, &second); // the revocation and the report have crossed
    assert_eq!(desk.effects(), [acknowledge(BOB, &second)]);
    desk.scheduler.settle(id);
    assert_eq!(desk.effects(), [acknowledge(ANN, &first)]);
}

#[test]
fn heartbeats_renew_the_lease() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    for nodes in 1..100 {
        desk.wait(14);
        desk.beat(ANN, &[(task.id, nodes)]);
    }
    assert_eq!(desk.effects(), []);
}

#[test]
fn a_worker_that_beats_without_working_is_found() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    for seconds in 1..60 {
        desk.wait(1);
        desk.beat(ANN, &[(task.id, 500.min(seconds * 100))]);
        desk.beat(BOB, &[]);
    }
    assert_eq!(desk.effects(), [], "it stood still after 5 s, and has 60 s to get on");
    for _ in 0..6 {
        desk.wait(1);
        desk.beat(BOB, &[]);
        desk.beat(ANN, &[(task.id, 500)]);
    }
    let effects = desk.effects();
    let [first, Effect::Assign { worker: BOB, task: again }, ..] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((first, again.id, again.attempt), (&revoke(ANN, &task), task.id, 2));
    assert_eq!(desk.totals().stalled, 1);
}

#[test]
fn what_waits_in_a_queue_does_not_stand_still() {
    let mut desk = Desk::new(Options { prefetch: 1, ..Options::default() });
    desk.join(ANN, 1);
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    for nodes in 1..100 {
        desk.wait(10);
        desk.beat(ANN, &[(assigned[0].1.id, nodes)]);
    }
    assert_eq!(desk.effects(), []);
}

#[test]
fn a_second_attempt_goes_to_another_worker_if_there_is_one() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.fail(ANN, &first);
    let effects = desk.effects();
    assert!(matches!(&effects[..], [_, Effect::Assign { worker: ANN, .. }]), "she is alone: {effects:?}");

    desk.join(BOB, 1);
    let Effect::Assign { task: second, .. } = &effects[1] else { unreachable!("just seen") };
    desk.fail(ANN, second);
    let effects = desk.effects();
    assert!(matches!(&effects[..], [_, Effect::Assign { worker: BOB, .. }]), "{effects:?}");
}

#[test]
fn a_task_waits_for_a_busy_worker_rather_than_for_one_that_failed() {
    let mut desk = Desk::direct();
    [ANN, BOB].iter().for_each(|worker| desk.join(*worker, 1));
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    desk.fail(ANN, &assigned[0].1);
    assert_eq!(desk.effects(), [acknowledge(ANN, &assigned[0].1)]);
    assert_eq!(desk.status(ANN).idle, Some(Idle::Avoided));
    desk.scheduler.leave(desk.now, BOB, true); // now she is alone, and has to do both
    let (worker, task) = desk.one_assigned();
    assert_eq!((worker, task.id, task.attempt), (ANN, assigned[0].1.id, 2));
}

#[test]
fn a_worker_that_failed_has_one_task_until_it_succeeds() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 2);
    (1..=4).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    assert_eq!(assigned.len(), 3);
    desk.fail(ANN, &assigned[0].1);
    desk.finish(ANN, &assigned[1].1);
    let effects = desk.effects();
    let given = effects.iter().filter(|effect| matches!(effect, Effect::Assign { .. })).count();
    assert_eq!(given, 2, "nothing after the failure, full hands after the success: {effects:?}");
}

#[test]
fn a_question_that_fails_three_times_is_set_aside_with_its_reason() {
    let mut desk = Desk::direct();
    let workers = [ANN, BOB, WorkerId(3), WorkerId(4)];
    workers.iter().for_each(|worker| desk.join(*worker, 1));
    let id = desk.ask(1, Split::Never, 0);
    let mut tried = Vec::new();
    let failed = loop {
        let effects = desk.effects();
        match effects.last() {
            Some(Effect::Assign { worker, task }) => {
                tried.push(*worker);
                desk.fail(*worker, task);
            }
            other => break other.cloned(),
        }
    };
    assert_eq!(tried, [ANN, BOB, WorkerId(3)]);
    let reason = "failed 3 times, at last on worker 3: no memory".into();
    assert_eq!(failed, Some(Effect::Failed { question: id, reason }));
    assert_eq!(desk.scheduler.census().open_questions, 0);
}

#[test]
fn one_bad_part_sets_the_whole_question_aside_and_stops_the_others() {
    let mut desk = Desk::new(Options { max_attempts: 1, ..Options::default() });
    [ANN, BOB, WorkerId(3)].iter().for_each(|worker| desk.join(*worker, 1));
    desk.ask(1, Split::Auto, 0);
    let parts = desk.assigned();
    desk.finish(ANN, &parts[0].1);
    desk.effects();
    desk.fail(BOB, &parts[1].1);
    let effects = desk.effects();
    let expected = [acknowledge(BOB, &parts[1].1), revoke(WorkerId(3), &parts[2].1), acknowledge(ANN, &parts[0].1)];
    assert_eq!(effects[..3], expected);
    assert!(matches!(effects[3..], [Effect::Failed { .. }]));
}

#[test]
fn a_question_that_kills_its_workers_is_set_aside() {
    let mut desk = Desk::new(Options { max_losses: 4, ..Options::default() });
    desk.ask(1, Split::Never, 0);
    for n in 1..=4 {
        desk.join(WorkerId(n), 1);
        assert_eq!(desk.one_assigned().0, WorkerId(n));
        desk.scheduler.leave(desk.now, WorkerId(n), false);
    }
    let effects = desk.effects();
    assert!(matches!(&effects[..], [Effect::Failed { reason, .. }] if reason.starts_with("4 workers")), "{effects:?}");
}

#[test]
fn an_old_failure_does_not_end_a_new_attempt() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.fail(ANN, &first);
    desk.effects();
    for report in [Report::Failed("again".into()), Report::HandedBack] {
        desk.report(ANN, &first, report);
        assert_eq!(desk.effects(), [acknowledge(ANN, &first)]);
    }
    assert_eq!(desk.status(ANN).tasks, [first.id]);
}

#[test]
fn what_was_never_handed_out_is_not_believed() {
    let mut desk = Desk::new(Options { first_id: 1_000, ..Options::default() });
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    assert!(id.0 >= 1_000 && task.id.0 >= 1_000);
    for (number, attempt) in [(task.id.0, 0), (task.id.0, 2), (7, 1)] {
        let false_one = Task { id: TaskId(number), attempt, ..task.clone() };
        desk.finish(BOB, &false_one);
        assert_eq!(desk.effects(), [acknowledge(BOB, &false_one)]);
    }
}

#[test]
fn verdicts_that_nobody_asked_for_do_not_count() {
    let mut desk = Desk::direct();
    desk.join(ANN, 3);
    desk.ask(1, Split::Auto, 0);
    let parts = desk.assigned();
    let stray = Question { moves: vec![Move::new(40_000)], ..question(1) };
    let strays = engine::answer(&stray);
    desk.report(ANN, &parts[0].1, Report::Done(strays.clone()));
    assert_eq!(desk.effects()[0], acknowledge(ANN, &parts[0].1));
    assert_eq!(desk.totals().failed, 1, "it says nothing else");

    let mut answer = engine::answer(&parts[1].1.part);
    answer.merge(strays);
    desk.report(ANN, &parts[1].1, Report::Done(answer));
    let effects = desk.effects();
    assert!(
        effects.contains(&Effect::Progress { question: parts[1].1.question, answer: engine::answer(&parts[1].1.part) })
    );
}

#[test]
fn a_finished_game_has_an_empty_answer() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.report(ANN, &task, Report::Done(Answer::new()));
    assert!(matches!(&desk.effects()[..], [Effect::Finished { answer, .. }] if answer.is_empty()));
}

#[test]
fn a_cancelled_question_is_revoked_and_its_reports_are_acknowledged() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    let id = desk.ask(1, Split::Auto, 0);
    let parts = desk.assigned();
    desk.finish(BOB, &parts[1].1);
    desk.effects();
    desk.scheduler.cancel(desk.now, id);
    assert_eq!(desk.effects(), [revoke(ANN, &parts[0].1), acknowledge(BOB, &parts[1].1)]);
    desk.finish(ANN, &parts[0].1);
    assert_eq!(desk.effects(), [acknowledge(ANN, &parts[0].1)]);
    desk.scheduler.cancel(desk.now, id);
    assert_eq!((desk.effects(), desk.totals().cancelled), (vec![], 1));
}

#[test]
fn a_report_that_comes_again_is_not_acknowledged_before_the_answer_is_safe() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.finish(ANN, &task);
    assert!(matches!(&desk.effects()[..], [Effect::Finished { .. }]));
    desk.scheduler.join(desk.now, ANN, 1, &[(task.id, task.attempt)]);
    desk.finish(ANN, &task);
    assert_eq!(desk.effects(), []);
    desk.scheduler.settle(id);
    desk.finish(ANN, &task);
    assert_eq!(desk.effects(), [acknowledge(ANN, &task), acknowledge(ANN, &task)]);
}

#[test]
fn an_unfinished_question_cannot_be_settled() {
    let mut desk = Desk::direct();
    let id = desk.ask(1, Split::Never, 0);
    desk.scheduler.settle(id);
    assert_eq!(desk.scheduler.census().open_questions, 1);
}

#[test]
fn a_worker_that_comes_back_keeps_what_it_still_has() {
    let mut desk = Desk::new(Options { prefetch: 1, ..Options::default() });
    desk.join(ANN, 1);
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let had = desk.assigned();
    desk.scheduler.leave(desk.now, ANN, false);
    assert_eq!(desk.scheduler.census().waiting_tasks, 2);
    let stranger = (TaskId(99), 1);
    desk.scheduler.join(desk.now, ANN, 1, &[(had[0].1.id, 1), stranger]);
    let effects = desk.effects();
    let [Effect::Revoke { worker: ANN, task: TaskId(99) }, Effect::Assign { worker: ANN, task }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((task.id, task.attempt), (had[1].1.id, 2), "she has lost the other");
    desk.finish(ANN, &had[0].1);
    assert!(matches!(&desk.effects()[..], [Effect::Finished { .. }]));
    assert_eq!((desk.totals().lost, desk.totals().regained), (2, 1));
}

#[test]
fn a_worker_that_starts_anew_unseen_has_lost_its_tasks() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.join(BOB, 1);
    desk.join(ANN, 1);
    let (worker, again) = desk.one_assigned();
    assert_eq!((worker, again.id, again.attempt), (BOB, task.id, 2));
}

#[test]
fn a_worker_that_wakes_up_keeps_what_nobody_else_answered() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.wait(20);
    assert_eq!(desk.scheduler.census().waiting_tasks, 1);
    desk.beat(ANN, &[(task.id, 5_000)]);
    assert_eq!((desk.effects(), desk.status(ANN).tasks), (vec![], vec![task.id]));
    desk.beat(BOB, &[(task.id, 5_000)]); // he has never joined
    assert_eq!(desk.effects(), []);
}

#[test]
fn a_goodbye_hands_back_and_nobody_is_to_blame() {
    let mut desk = Desk::new(Options { max_losses: 1, max_attempts: 1, ..Options::default() });
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.report(ANN, &task, Report::HandedBack);
    assert_eq!(desk.effects(), [acknowledge(ANN, &task)], "and nothing new for one who is about to stop");
    assert_eq!(desk.status(ANN).idle, Some(Idle::Draining));
    desk.scheduler.leave(desk.now, ANN, true);
    for attempt in 2..20 {
        desk.join(BOB, 1);
        let (_, again) = desk.one_assigned();
        assert_eq!((again.id, again.attempt), (task.id, attempt));
        desk.scheduler.leave(desk.now, BOB, true);
    }
}

#[test]
fn time_that_runs_backwards_stands_still() {
    let mut desk = Desk::direct();
    desk.wait(100);
    desk.scheduler.join(Duration::from_secs(3), ANN, 1, &[]);
    assert_eq!(desk.status(ANN).last_sign, Duration::from_secs(100));
    desk.scheduler.tick(Duration::from_secs(50));
    assert_eq!(desk.status(ANN).idle, Some(Idle::NoTasks));
}

#[test]
fn speed_is_what_the_heartbeats_say() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    for beat in 1..=5 {
        desk.wait(2);
        desk.beat(ANN, &[(task.id, beat * 3_000_000)]);
    }
    let speed = desk.status(ANN).speed;
    assert!((1_400_000..=1_500_000).contains(&speed), "{speed}");
}
