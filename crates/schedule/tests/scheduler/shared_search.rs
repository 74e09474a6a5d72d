//! Shared searches: every worker searches the whole question.

use std::sync::Arc;
use std::time::Duration;

use kagetsu_game::{Answer, Effort, Question};
use kagetsu_schedule::{
    Capacity, Effect, Options, QuestionId, Scheduler, Split, Task, TaskId, TaskRole, WorkerId,
};

use crate::engine;
use crate::harness::done;

fn question() -> Question {
    Question::new(engine::position(1), Effort::depth(6))
}

/// Returns a scheduler with this many workers of one slot each.
fn scheduler(workers: u64) -> Scheduler {
    let mut scheduler = Scheduler::new(Options::default());
    (0..workers).for_each(|worker| scheduler.join(Duration::ZERO, WorkerId(worker), 1, &[]));
    scheduler
}

type Assigned = Vec<(WorkerId, Task)>;

/// Returns the assignments and revocations so far.
fn assignments(scheduler: &mut Scheduler) -> (Assigned, Vec<(WorkerId, TaskId)>) {
    let (mut assigned, mut revoked) = (Vec::new(), Vec::new());
    while let Some(effect) = scheduler.poll() {
        match effect {
            Effect::Assign { worker, task } => assigned.push((worker, task)),
            Effect::Revoke { worker, task } => revoked.push((worker, task)),
            _ => {}
        }
    }
    (assigned, revoked)
}

fn numbers(assigned: &[(WorkerId, Task)], of: QuestionId) -> Vec<u16> {
    let number = |(_, task): &(WorkerId, Task)| match task.role {
        TaskRole::Member { number, .. } => number,
        role => panic!("{role:?}"),
    };
    assigned
        .iter()
        .filter(|(_, task)| task.question == of)
        .map(number)
        .collect()
}

fn submit(scheduler: &mut Scheduler, question: Question) -> QuestionId {
    scheduler.submit(
        Duration::ZERO,
        question,
        Answer::new(),
        Split::Shared,
        0,
        (),
    )
}

fn finish(scheduler: &mut Scheduler, second: u64, worker: WorkerId, task: &Task) {
    let now = Duration::from_secs(second);
    scheduler.report(now, worker, task.id, task.attempt, done(task));
}

#[test]
fn first_answer_of_a_shared_search_counts() {
    let mut scheduler = scheduler(5);
    let id = submit(&mut scheduler, question());
    let (assigned, _) = assignments(&mut scheduler);
    assert_eq!(numbers(&assigned, id), [0, 1, 2, 3, 4]);
    assert!(assigned.iter().all(|(_, task)| task.part == question()));
    let progress: Vec<_> = assigned
        .iter()
        .map(|(worker, task)| (*worker, [(task.id, 100)]))
        .collect();
    progress.iter().for_each(|(worker, reported)| {
        scheduler.heartbeat(Duration::from_secs(1), *worker, reported)
    });
    let (first, task) = &assigned[3];
    let answer = engine::answer(&question());
    finish(&mut scheduler, 2, *first, task);
    let mut revoked = 0;
    let end = loop {
        match scheduler.poll().expect("it is answered") {
            Effect::Revoke { worker, .. } => revoked += u64::from(worker != *first),
            Effect::Finished {
                question,
                answer,
                nodes,
                by,
            } => break (question, answer, nodes, by),
            _ => {}
        }
    };
    assert_eq!(
        (revoked, end),
        (4, (id, answer.clone(), answer.nodes() + 400, vec![*first]))
    );
    scheduler.settle(id);
    // A late second answer does no harm.
    let (late, task) = &assigned[0];
    finish(&mut scheduler, 3, *late, task);
    assert_eq!(assignments(&mut scheduler), (Vec::new(), Vec::new()));
    let counts = scheduler.counts();
    assert_eq!(
        (
            counts.open_questions,
            counts.waiting_tasks,
            counts.leased_tasks
        ),
        (0, 0, 0)
    );
}

#[test]
fn late_workers_join_lost_ones_are_not_awaited() {
    let mut scheduler = scheduler(1);
    let id = submit(&mut scheduler, question());
    assert_eq!(numbers(&assignments(&mut scheduler).0, id), [0]);
    scheduler.join(Duration::ZERO, WorkerId(7), 2, &[]);
    assert_eq!(numbers(&assignments(&mut scheduler).0, id), [1, 2]);
    scheduler.leave(Duration::ZERO, WorkerId(0), false);
    assignments(&mut scheduler);
    assert_eq!(scheduler.counts().leased_tasks, 2);
    // No member is left over for slots that do not exist.
    assert_eq!(scheduler.counts().waiting_tasks, 0);
}

#[test]
fn questions_at_the_same_time_share_the_workers() {
    let mut scheduler = scheduler(4);
    let first = submit(&mut scheduler, question());
    assert_eq!(numbers(&assignments(&mut scheduler).0, first).len(), 4);
    let second = submit(&mut scheduler, question());
    let (assigned, revoked) = assignments(&mut scheduler);
    assert_eq!((numbers(&assigned, second).len(), revoked.len()), (2, 2));
    scheduler.cancel(Duration::ZERO, second);
    let (assigned, revoked) = assignments(&mut scheduler);
    assert_eq!((numbers(&assigned, first).len(), revoked.len()), (2, 2));
}

#[test]
fn one_member_for_each_slot_by_priority() {
    let mut scheduler = scheduler(2);
    for _ in 0..4 {
        scheduler.submit(
            Duration::ZERO,
            question(),
            Answer::new(),
            Split::Never,
            1,
            (),
        );
    }
    let (held, _) = assignments(&mut scheduler);
    assert_eq!(held.len(), 4, "one begun and one queued each");
    let id = submit(&mut scheduler, question());
    let mut members = Vec::new();
    for (worker, task) in held {
        finish(&mut scheduler, 1, worker, &task);
        members.extend(
            assignments(&mut scheduler)
                .0
                .into_iter()
                .filter(|(_, task)| task.question == id),
        );
    }
    let mut workers: Vec<_> = members.iter().map(|(worker, _)| worker.0).collect();
    workers.sort_unstable();
    assert_eq!(workers, [0, 1]);
}

#[test]
fn node_limit_is_shared_out_time_is_not() {
    let mut scheduler = scheduler(4);
    let effort = Effort {
        nodes: Some(1_001),
        time: Some(Duration::from_secs(9)),
        depth: None,
    };
    submit(
        &mut scheduler,
        Question {
            effort,
            ..question()
        },
    );
    for (_, task) in assignments(&mut scheduler).0 {
        assert!(
            task.part.effort.nodes.is_some_and(|nodes| nodes >= 251),
            "{:?}",
            task.part.effort
        );
        assert_eq!(task.part.effort.time, Some(Duration::from_secs(9)));
    }
    scheduler.join(Duration::from_secs(4), WorkerId(9), 1, &[]);
    let (assigned, _) = assignments(&mut scheduler);
    let [(_, task)] = &assigned[..] else {
        panic!("{assigned:?}")
    };
    assert_eq!(task.part.effort.time, Some(Duration::from_secs(5)));
}

#[test]
fn no_member_joins_late_in_the_search() {
    let time = Duration::from_secs(8);
    let mut scheduler = scheduler(1);
    let id = submit(
        &mut scheduler,
        Question::new(engine::position(1), Effort::time(time)),
    );
    assert_eq!(numbers(&assignments(&mut scheduler).0, id), [0]);
    scheduler.join(time * 3 / 4, WorkerId(7), 1, &[]);
    assert_eq!(numbers(&assignments(&mut scheduler).0, id), [1]);
    scheduler.join(time * 3 / 4 + Duration::from_millis(1), WorkerId(8), 1, &[]);
    assert_eq!(assignments(&mut scheduler).0, []);
    // A shared search always has one member.
    [0, 7]
        .into_iter()
        .for_each(|worker| scheduler.leave(time, WorkerId(worker), true));
    assert_eq!(assignments(&mut scheduler).0.len(), 1);
}

#[test]
fn node_limit_is_shared_among_startable_members() {
    let limited_question = || {
        Question::new(
            engine::position(1),
            Effort {
                nodes: Some(64_000),
                ..Effort::default()
            },
        )
    };
    let nodes = |assigned: &Assigned| {
        assigned
            .iter()
            .map(|(_, task)| task.part.effort.nodes)
            .collect::<Vec<_>>()
    };
    let of = |variant: &str, slots| {
        let plays = [variant.parse().expect("a variant")].into();
        Capacity {
            is_trusted: true,
            slots,
            plays: Some(Arc::new(plays)),
        }
    };
    let mut strangers = Scheduler::new(Options::default());
    strangers.join(Duration::ZERO, WorkerId(1), of("freestyle-15", 2), &[]);
    strangers.join(Duration::ZERO, WorkerId(2), of("xiangqi", 62), &[]);
    submit(&mut strangers, limited_question());
    assert_eq!(
        nodes(&assignments(&mut strangers).0),
        [Some(32_000), Some(32_000)]
    );
    assert_eq!(
        strangers.counts().waiting_tasks,
        0,
        "no member without a free slot is expected"
    );

    let mut busy = Scheduler::new(Options {
        prefetch: 0,
        ..Options::default()
    });
    busy.join(Duration::ZERO, WorkerId(1), 4, &[]);
    for n in 2..6 {
        let at_work = Question::new(engine::position(n), Effort::depth(2));
        busy.submit(Duration::ZERO, at_work, Answer::new(), Split::Never, 5, ());
    }
    let (held, _) = assignments(&mut busy);
    submit(&mut busy, limited_question());
    let (worker, task) = &held[0];
    finish(&mut busy, 1, *worker, task);
    assert_eq!(nodes(&assignments(&mut busy).0), [Some(64_000)]);
}
