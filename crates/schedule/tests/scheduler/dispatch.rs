//! The order of assignments.

use std::sync::Arc;

use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_schedule::{Capacity, Effect, Idle, Options, Split, WorkerId};

use crate::engine;
use crate::harness::{Harness, W1, W2, acknowledge, question, revoke, workers_of};
use crate::merging::assert_same;

#[test]
fn one_question_is_divided_among_all_free_slots() {
    let mut harness = Harness::new(Options::default());
    harness.join(W1, 2);
    harness.join(W2, 2);
    let id = harness.ask(1, Split::Seeded, 0);
    let assigned = harness.assigned();
    assert_eq!(workers_of(&assigned), [W1, W2, W1, W2]);
    let seed = engine::shallow(&question(1))
        .best()
        .expect("there are moves")
        .0;
    for (worker, task) in &assigned {
        assert_eq!((task.part.moves[0], task.question), (seed, id));
        harness.finish(*worker, task);
    }
    let effects = harness.effects();
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
    assert_eq!(
        *nodes,
        answer.nodes() + again,
        "three parts searched the seed move again"
    );
}

#[test]
fn as_many_questions_as_slots_are_not_split() {
    let mut harness = Harness::new(Options::default());
    (1..=2).for_each(|n| _ = harness.ask(n, Split::Seeded, 0));
    harness.join(W1, 2);
    let parts: Vec<_> = harness
        .assigned()
        .into_iter()
        .map(|(_, task)| task.part)
        .collect();
    assert_eq!(parts, [question(1), question(2)]);
}

#[test]
fn questions_share_the_slots_that_are_free() {
    let mut harness = Harness::new(Options::default());
    let ids = [1, 2].map(|n| harness.ask(n, Split::Seeded, 0));
    harness.join(W1, 5);
    let assigned = harness.assigned();
    let parts = ids.map(|id| {
        assigned
            .iter()
            .filter(|(_, task)| task.question == id)
            .count()
    });
    assert_eq!(parts, [3, 2]);
}

#[test]
fn unsplittable_question_stays_whole() {
    let mut harness = Harness::new(Options::default());
    harness.join(W1, 8);
    harness.ask(1, Split::Never, 0);
    assert_eq!(harness.one_assigned().1.part, question(1));
}

#[test]
fn order_is_priority_then_age() {
    let mut harness = Harness::new(Options::default());
    let ids = [(1, 5), (2, 3), (3, 5), (4, 3)]
        .map(|(n, priority)| harness.ask(n, Split::Never, priority));
    harness.join(W1, 4);
    let order: Vec<_> = harness
        .assigned()
        .into_iter()
        .map(|(_, task)| task.question)
        .collect();
    assert_eq!(order, [ids[1], ids[3], ids[0], ids[2]]);
}

#[test]
fn slots_fill_before_queues() {
    let mut harness = Harness::prefetching(1);
    harness.join(W1, 1);
    harness.join(W2, 1);
    (1..=6).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let assigned = harness.assigned();
    assert_eq!(
        workers_of(&assigned),
        [W1, W2, W1, W2],
        "two each, and no more"
    );
    assert_eq!(harness.scheduler.spare_capacity(), 0);
    harness.finish(W2, &assigned[1].1);
    let effects = harness.effects();
    assert!(
        matches!(
            &effects[..],
            [Effect::Finished { .. }, Effect::Assign { worker: W2, .. }]
        ),
        "{effects:?}"
    );
}

#[test]
fn queued_task_moves_to_an_idle_worker() {
    let mut harness = Harness::prefetching(2);
    harness.join(W1, 1);
    (1..=3).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let queued = harness.assigned();
    assert_eq!(workers_of(&queued), [W1, W1, W1]);
    harness.join(W2, 1);
    let effects = harness.effects();
    let [first, Effect::Assign { worker: W2, task }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((first, task.attempt), (&revoke(W1, &queued[2].1), 2));
    assert_eq!(task.part, queued[2].1.part, "the last task in the queue");
}

#[test]
fn started_tasks_do_not_move() {
    let mut harness = Harness::direct();
    harness.join(W1, 2);
    (1..=2).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let begun: Vec<_> = harness
        .assigned()
        .into_iter()
        .map(|(_, task)| (task.id, task.attempt))
        .collect();
    harness.beat(W1, &[(begun[0].0, 10), (begun[1].0, 10)]);
    harness.scheduler.join(harness.now, W1, 1, &begun); // with fewer slots than before
    harness.join(W2, 1);
    assert_eq!(harness.effects(), []);
}

#[test]
fn second_attempt_prefers_another_worker() {
    let (mut harness, first) = Harness::with_task();
    harness.fail(W1, &first);
    let effects = harness.effects();
    assert!(
        matches!(&effects[..], [_, Effect::Assign { worker: W1, .. }]),
        "no other worker is there: {effects:?}"
    );

    harness.join(W2, 1);
    let Effect::Assign { task: second, .. } = &effects[1] else {
        unreachable!("just seen")
    };
    harness.fail(W1, second);
    let effects = harness.effects();
    assert!(
        matches!(&effects[..], [_, Effect::Assign { worker: W2, .. }]),
        "{effects:?}"
    );
}

#[test]
fn task_waits_for_a_busy_worker_not_a_failed_one() {
    let mut harness = Harness::direct();
    [W1, W2].iter().for_each(|worker| harness.join(*worker, 1));
    (1..=2).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let assigned = harness.assigned();
    harness.fail(W1, &assigned[0].1);
    assert_eq!(harness.effects(), [acknowledge(W1, &assigned[0].1)]);
    assert_eq!(harness.status(W1).idle, Some(Idle::Avoided));
    harness.scheduler.leave(harness.now, W2, true); // No other worker is left for both tasks.
    let (worker, task) = harness.one_assigned();
    assert_eq!((worker, task.id, task.attempt), (W1, assigned[0].1.id, 2));
}

#[test]
fn failed_task_avoids_workers_on_probation() {
    let mut harness = Harness::direct();
    [W1, W2, WorkerId(3)]
        .iter()
        .for_each(|worker| harness.join(*worker, 1));
    (1..=3).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let assigned = harness.assigned();
    harness.fail(W1, &assigned[0].1);
    harness.fail(W2, &assigned[1].1);
    let effects = harness.effects();
    assert_eq!(
        effects,
        [
            acknowledge(W1, &assigned[0].1),
            acknowledge(W2, &assigned[1].1)
        ]
    );
    harness.finish(WorkerId(3), &assigned[2].1);
    let effects = harness.effects();
    let [
        _,
        Effect::Assign {
            worker: WorkerId(3),
            task,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(task.id, assigned[0].1.id);
}

#[test]
fn failed_worker_has_one_task_until_it_succeeds() {
    let mut harness = Harness::direct();
    harness.join(W1, 2);
    (1..=4).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let assigned = harness.assigned();
    assert_eq!(assigned.len(), 2);
    harness.fail(W1, &assigned[0].1);
    assert_eq!(
        harness.effects(),
        [acknowledge(W1, &assigned[0].1)],
        "no new task after a failure"
    );
    harness.finish(W1, &assigned[1].1);
    let effects = harness.effects();
    let given = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Assign { .. }))
        .count();
    assert_eq!(given, 2, "full hands after a success: {effects:?}");
}

#[test]
fn worker_gets_only_variants_of_its_engine() {
    let xiangqi = || Question::new(Position::start(Variant::XIANGQI), Effort::depth(8));
    let only = |variant| Capacity {
        is_trusted: true,
        slots: 1,
        plays: Some(Arc::new([variant].into())),
    };
    let mut harness = Harness::direct();
    harness
        .scheduler
        .join(harness.now, W1, only(question(1).position.variant()), &[]);
    let first =
        harness
            .scheduler
            .submit(harness.now, xiangqi(), Answer::new(), Split::Seeded, 0, ());
    assert_eq!(
        (harness.effects().len(), harness.status(W1).idle),
        (0, Some(Idle::UnsupportedVariant))
    );
    let appetite = |harness: &Harness| {
        [question(1).position.variant(), Variant::XIANGQI]
            .map(|variant| harness.scheduler.spare_capacity_for(variant))
    };
    assert_eq!(appetite(&harness), [1, 0]);
    harness.ask(1, Split::Never, 9);
    let (worker, gomoku) = harness.one_assigned();
    assert_eq!(worker, W1);

    // If the only worker that plays the variant fails, the task does not wait for workers that do
    // not play it.
    harness
        .scheduler
        .join(harness.now, W2, only(Variant::XIANGQI), &[]);
    let (worker, task) = harness.one_assigned();
    assert_eq!((worker, task.question), (W2, first));
    harness.finish(W1, &gomoku);
    harness.effects();
    harness.fail(W2, &task);
    let effects = harness.effects();
    let [
        _,
        Effect::Assign {
            worker: W2,
            task: again,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((again.id, again.attempt), (task.id, 2));
    assert_eq!(appetite(&harness), [1, 0]);
}
