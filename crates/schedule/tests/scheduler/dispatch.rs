//! The order of assignments.

use std::sync::Arc;

use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_schedule::{Capacity, Effect, Idle, Options, Split, WorkerId};

use crate::desk::{ANN, BOB, Desk, acknowledge, question, revoke, workers_of};
use crate::engine;
use crate::merging::assert_same;

#[test]
fn one_question_is_divided_among_all_free_slots() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 2);
    desk.join(BOB, 2);
    let id = desk.ask(1, Split::Seeded, 0);
    let assigned = desk.assigned();
    assert_eq!(workers_of(&assigned), [ANN, BOB, ANN, BOB]);
    let seed = engine::shallow(&question(1))
        .best()
        .expect("there are moves")
        .0;
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
    assert_eq!(
        *nodes,
        answer.nodes() + again,
        "three parts searched the seed move again"
    );
}

#[test]
fn as_many_questions_as_slots_are_not_split() {
    let mut desk = Desk::new(Options::default());
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Seeded, 0));
    desk.join(ANN, 2);
    let parts: Vec<_> = desk
        .assigned()
        .into_iter()
        .map(|(_, task)| task.part)
        .collect();
    assert_eq!(parts, [question(1), question(2)]);
}

#[test]
fn questions_share_the_slots_that_are_free() {
    let mut desk = Desk::new(Options::default());
    let ids = [1, 2].map(|n| desk.ask(n, Split::Seeded, 0));
    desk.join(ANN, 5);
    let assigned = desk.assigned();
    let parts = ids.map(|id| {
        assigned
            .iter()
            .filter(|(_, task)| task.question == id)
            .count()
    });
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
    let ids =
        [(1, 5), (2, 3), (3, 5), (4, 3)].map(|(n, priority)| desk.ask(n, Split::Never, priority));
    desk.join(ANN, 4);
    let order: Vec<_> = desk
        .assigned()
        .into_iter()
        .map(|(_, task)| task.question)
        .collect();
    assert_eq!(order, [ids[1], ids[3], ids[0], ids[2]]);
}

#[test]
fn slots_fill_before_queues() {
    let mut desk = Desk::new(Options {
        prefetch: 1,
        ..Options::default()
    });
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    (1..=6).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    assert_eq!(
        workers_of(&assigned),
        [ANN, BOB, ANN, BOB],
        "two each, and no more"
    );
    assert_eq!(desk.scheduler.spare_capacity(), 0);
    desk.finish(BOB, &assigned[1].1);
    let effects = desk.effects();
    assert!(
        matches!(
            &effects[..],
            [Effect::Finished { .. }, Effect::Assign { worker: BOB, .. }]
        ),
        "{effects:?}"
    );
}

#[test]
fn what_is_queued_moves_to_whoever_falls_idle() {
    let mut desk = Desk::new(Options {
        prefetch: 2,
        ..Options::default()
    });
    desk.join(ANN, 1);
    (1..=3).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let queued = desk.assigned();
    assert_eq!(workers_of(&queued), [ANN, ANN, ANN]);
    desk.join(BOB, 1);
    let effects = desk.effects();
    let [first, Effect::Assign { worker: BOB, task }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((first, task.attempt), (&revoke(ANN, &queued[2].1), 2));
    assert_eq!(
        task.part, queued[2].1.part,
        "the one that she would have come to last"
    );
}

#[test]
fn what_is_begun_does_not_move() {
    let mut desk = Desk::direct();
    desk.join(ANN, 2);
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let begun: Vec<_> = desk
        .assigned()
        .into_iter()
        .map(|(_, task)| (task.id, task.attempt))
        .collect();
    desk.beat(ANN, &[(begun[0].0, 10), (begun[1].0, 10)]);
    desk.scheduler.join(desk.now, ANN, 1, &begun); // with fewer slots than before
    desk.join(BOB, 1);
    assert_eq!(desk.effects(), []);
}

#[test]
fn second_attempt_prefers_another_worker() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.fail(ANN, &first);
    let effects = desk.effects();
    assert!(
        matches!(&effects[..], [_, Effect::Assign { worker: ANN, .. }]),
        "she is alone: {effects:?}"
    );

    desk.join(BOB, 1);
    let Effect::Assign { task: second, .. } = &effects[1] else {
        unreachable!("just seen")
    };
    desk.fail(ANN, second);
    let effects = desk.effects();
    assert!(
        matches!(&effects[..], [_, Effect::Assign { worker: BOB, .. }]),
        "{effects:?}"
    );
}

#[test]
fn task_waits_for_a_busy_worker_not_a_failed_one() {
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
fn failed_task_avoids_workers_on_probation() {
    let mut desk = Desk::direct();
    [ANN, BOB, WorkerId(3)]
        .iter()
        .for_each(|worker| desk.join(*worker, 1));
    (1..=3).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    desk.fail(ANN, &assigned[0].1);
    desk.fail(BOB, &assigned[1].1);
    let effects = desk.effects();
    assert_eq!(
        effects,
        [
            acknowledge(ANN, &assigned[0].1),
            acknowledge(BOB, &assigned[1].1)
        ]
    );
    desk.finish(WorkerId(3), &assigned[2].1);
    let effects = desk.effects();
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
    let mut desk = Desk::direct();
    desk.join(ANN, 2);
    (1..=4).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    assert_eq!(assigned.len(), 2);
    desk.fail(ANN, &assigned[0].1);
    assert_eq!(
        desk.effects(),
        [acknowledge(ANN, &assigned[0].1)],
        "no new task after a failure"
    );
    desk.finish(ANN, &assigned[1].1);
    let effects = desk.effects();
    let given = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Assign { .. }))
        .count();
    assert_eq!(given, 2, "full hands after a success: {effects:?}");
}

#[test]
fn a_worker_gets_only_what_its_engine_plays() {
    let xiangqi = || Question::new(Position::start(Variant::XIANGQI), Effort::depth(8));
    let only = |variant| Capacity {
        is_trusted: true,
        slots: 1,
        plays: Some(Arc::new([variant].into())),
    };
    let mut desk = Desk::direct();
    desk.scheduler
        .join(desk.now, ANN, only(question(1).position.variant()), &[]);
    let first = desk
        .scheduler
        .submit(desk.now, xiangqi(), Answer::new(), Split::Seeded, 0);
    assert_eq!(
        (desk.effects().len(), desk.status(ANN).idle),
        (0, Some(Idle::UnsupportedVariant))
    );
    let appetite = |desk: &Desk| {
        [question(1).position.variant(), Variant::XIANGQI]
            .map(|variant| desk.scheduler.spare_capacity_for(variant))
    };
    assert_eq!(appetite(&desk), [1, 0]);
    desk.ask(1, Split::Never, 9);
    let (worker, gomoku) = desk.one_assigned();
    assert_eq!(worker, ANN);

    // If the only worker that plays the variant fails, the task does not wait for workers that do
    // not play it.
    desk.scheduler
        .join(desk.now, BOB, only(Variant::XIANGQI), &[]);
    let (worker, task) = desk.one_assigned();
    assert_eq!((worker, task.question), (BOB, first));
    desk.finish(ANN, &gomoku);
    desk.effects();
    desk.fail(BOB, &task);
    let effects = desk.effects();
    let [
        _,
        Effect::Assign {
            worker: BOB,
            task: again,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((again.id, again.attempt), (task.id, 2));
    assert_eq!(appetite(&desk), [1, 0]);
}
