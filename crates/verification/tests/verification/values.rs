//! Cross-checks of values.

use std::time::Duration;

use kagetsu_game::{Position, Variant};
use kagetsu_schedule::WorkerId;
use kagetsu_verification::{
    AnswerRelation, CheckId, Class, Decision, Tolerance, Verification, VerificationOptions, compare,
};

use crate::world::{ENGINE, Lie, Worker, World, answer_with, position, profile, truth};

#[test]
fn wrong_value_is_found_and_taken_back() {
    for bias in [-500, -100, 100, 350, 2_500] {
        let mut world = World::new(100.0);
        world.operator(2, Worker::HONEST);
        world.operator(3, Worker::HONEST);
        world.volunteer(7, "stranger", Worker::liar(Lie::Bias(bias), 100));
        world.answer(7, &position(1), Lie::Bias(bias));
        world.run();
        assert!(world.is_quarantined(7), "{bias}");
        assert_eq!((world.false_values(), world.book.len()), (0, 1), "{bias}");
    }
}

#[test]
fn all_answers_of_a_liar_are_asked_again() {
    let mut world = World::new(0.0);
    world.operator(2, Worker::HONEST);
    world.volunteer(7, "stranger", Worker::liar(Lie::Bias(300), 100));
    (0..1_000).for_each(|n| _ = world.answer(7, &position(n), Lie::Bias(300)));
    assert_eq!(world.false_values(), 1_000, "none was checked");
    world.answer(7, &position(1_000), Lie::Claim);
    assert!(world.is_quarantined(7));
    world.run();
    assert_eq!((world.false_values(), world.book.len()), (0, 1_001));
}

#[test]
fn volunteers_do_not_confirm_each_other() {
    let mut world = World::new(100.0);
    world.volunteer(7, "one", Worker::liar(Lie::Bias(300), 100));
    world.volunteer(8, "two", Worker::liar(Lie::Bias(300), 100));
    world.answer(7, &position(1), Lie::Bias(300));
    // The coordinator searches, and its own search decides.
    assert_eq!((world.searches, world.false_values()), (1, 0));
    assert!(world.is_quarantined(7) && !world.is_quarantined(8));
}

#[test]
fn honest_answers_are_confirmed() {
    let mut world = World::new(100.0);
    world.operator(1, Worker::HONEST);
    world.operator(2, Worker::HONEST);
    world.volunteer(7, "stranger", Worker::HONEST);
    (0..30).for_each(|n| _ = world.answer(1 + n % 2, &position(n), Lie::None));
    (30..40).for_each(|n| _ = world.answer(7, &position(n), Lie::None));
    let verified = |id| world.verification.trust(WorkerId(id)).verified;
    assert_eq!((verified(1) + verified(2), verified(7)), (70, 10));
    assert_eq!((world.searches, world.false_values()), (0, 0));
}

#[test]
fn end_tables_excuse_other_values() {
    let surakarta = Position::from_line(Variant::SURAKARTA, "a2b3 a5a4").expect("a legal line");
    for (has_end_tables, position, is_blamed) in [
        (true, &surakarta, false),
        (false, &surakarta, true),
        (true, &position(1), true),
    ] {
        let mut world = World::new(100.0);
        world.verification = Verification::new(VerificationOptions {
            has_end_tables,
            ..VerificationOptions::new(100.0, 0x5eed, ENGINE)
        });
        world.operator(2, Worker::HONEST);
        world.operator(3, Worker::HONEST);
        world.volunteer(7, "stranger", Worker::liar(Lie::Bias(500), 100));
        world.answer(7, position, Lie::Bias(500));
        world.run();
        let case = format!("{has_end_tables}, {}", position.variant());
        assert_eq!(world.is_quarantined(7), is_blamed, "{case}");
    }
}

#[test]
fn only_a_share_is_asked_again() {
    let mut world = World::new(10.0);
    world.operator(1, Worker::HONEST);
    world.operator(2, Worker::HONEST);
    (0..2_000).for_each(|n| _ = world.answer(1, &position(n), Lie::None));
    let verified = world.verification.trust(WorkerId(1)).verified;
    assert!((150..250).contains(&verified), "{verified}");
}

#[test]
fn checks_wait_for_a_worker_in_calibration() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::liar(Lie::Claim, 100));
    let beginner = profile("beginner", None, Class::Operator);
    world
        .verification
        .connect(world.now, WorkerId(2), beginner)
        .expect("a known engine");
    world.answer(1, &position(1), Lie::Claim);
    assert_eq!((world.open_checks.len(), world.book.len()), (1, 0));
    // It never finishes.
    world.now += Duration::from_secs(121);
    world.verification.tick(world.now);
    world.carry_out();
    assert_eq!((world.open_checks.len(), world.searches), (0, 1));
}

#[test]
fn check_whose_worker_leaves_goes_to_the_coordinator() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::HONEST);
    world.volunteer(7, "stranger", Worker::HONEST);
    world.open_checks.clear();
    // The operator's worker has the question of a check when it leaves.
    world.workers.remove(&WorkerId(1));
    world.answer(7, &position(1), Lie::Claim);
    assert_eq!((world.open_checks.len(), world.searches), (1, 0));
    world.verification.disconnect(world.now, WorkerId(1));
    world.carry_out();
    assert_eq!((world.open_checks.len(), world.searches), (0, 1));
}

#[test]
fn checks_do_not_wait_for_a_worker_behind() {
    let mut world = World::new(100.0);
    world.operator(1, Worker::HONEST);
    world.operator(2, Worker::HONEST);
    // The second holds a task, and answers no check.
    world.workers.remove(&WorkerId(2));
    world.answer(1, &position(1), Lie::None);
    assert!(world.book.is_empty(), "its check waits");
    world.verification.fell_behind(world.now, WorkerId(2));
    world.carry_out();
    assert_eq!((world.book.len(), world.open_checks.len()), (1, 0));
    world.answer(1, &position(2), Lie::None);
    assert_eq!(world.book.len(), 2, "no check waits for it");
    world.verification.succeeded(WorkerId(2));
    world.answer(1, &position(3), Lie::None);
    assert_eq!(world.book.len(), 2, "it answers again");
}

#[test]
fn stopped_job_ends_its_checks() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::HONEST);
    world.operator(2, Worker::HONEST);
    world.workers.remove(&WorkerId(2));
    world.answer(1, &position(1), Lie::Claim);
    assert_eq!(world.open_checks.len(), 1);
    world.verification.stop_job(1);
    world.carry_out();
    assert_eq!((world.open_checks.len(), world.book.len()), (0, 1));
    assert_eq!(world.proofs(), 0);
    world.verification.unanswered(CheckId(1));
    assert_eq!(world.verification.poll(), None::<Decision>);
}

#[test]
fn tolerance_depends_on_engines_and_threads() {
    let position = position(1);
    let honest = truth(&position);
    for (bias, tolerance, differs) in [
        (50, Tolerance::SameSearch, false),
        (51, Tolerance::SameSearch, true),
        (400, Tolerance::SameEngine, false),
        (401, Tolerance::SameEngine, true),
        (800, Tolerance::OtherEngine, false),
        (801, Tolerance::OtherEngine, true),
    ] {
        let biased = answer_with(&position, Lie::Bias(bias));
        for (one, other) in [(&honest, &biased), (&biased, &honest)] {
            let tolerances = (Tolerance::SameSearch, tolerance);
            let found = compare(&position, tolerances, one, other, |_| false);
            assert_eq!(
                found.is_contradiction(),
                differs,
                "{bias} {tolerance:?} {found:?}"
            );
            let is_equal = found == AnswerRelation::Equal;
            assert_eq!(is_equal, bias <= 50, "confirmed only if equal: {found:?}");
        }
    }
}

/// All that an unproven win may look like, against a search that does not see it.
#[test]
fn no_tolerance_covers_what_is_won_or_lost() {
    let position = position(1);
    let honest = truth(&position);
    let lies = [10_000, 20_000, -10_000, -20_000].map(Lie::Decided);
    for lie in lies.into_iter().chain([Lie::Claim]) {
        let decided = answer_with(&position, lie);
        for tolerance in [
            Tolerance::SameSearch,
            Tolerance::SameEngine,
            Tolerance::OtherEngine,
        ] {
            for strict in [Tolerance::SameSearch, Tolerance::SameEngine] {
                let compared =
                    |one, other| match compare(&position, (strict, tolerance), one, other, |_| {
                        false
                    }) {
                        AnswerRelation::Decided { by_first, .. } => Some(by_first),
                        _ => None,
                    };
                assert_eq!(compared(&decided, &honest), Some(true), "{lie:?}");
                assert_eq!(compared(&honest, &decided), Some(false), "{lie:?}");
            }
        }
    }
}

#[test]
fn lower_depth_is_no_way_out_of_comparison() {
    let position = position(1);
    let mut shallow = answer_with(&position, Lie::Bias(2_000));
    let (m, best) = shallow.best().map(|(m, v)| (m, v.clone())).expect("one");
    shallow = [(m, kagetsu_game::Verdict { depth: 1, ..best })]
        .into_iter()
        .collect();
    for tolerance in [
        Tolerance::SameSearch,
        Tolerance::SameEngine,
        Tolerance::OtherEngine,
    ] {
        let tolerances = (Tolerance::SameSearch, tolerance);
        let found = compare(&position, tolerances, &truth(&position), &shallow, |_| {
            false
        });
        assert!(found.is_contradiction(), "{tolerance:?}");
    }
}

#[test]
fn late_check_of_a_liar_takes_nothing_back() {
    let mut world = World::new(100.0);
    for id in [1, 2, 3] {
        world.operator(id, Worker::HONEST);
    }
    // The other workers are busy while the liar answers.
    let idle = [2, 3].map(|id| world.workers.remove(&WorkerId(id)).expect("joined"));
    world.answer(1, &position(1), Lie::Bias(300));
    world.answer(1, &position(2), Lie::InstantWin);
    assert!(world.is_quarantined(1));
    let late = std::mem::take(&mut world.open_checks);
    (2..)
        .zip(idle)
        .for_each(|(id, worker)| _ = world.workers.insert(WorkerId(id), worker));
    world.run();
    world.open_checks.extend(late);
    world.carry_out();
    assert_eq!((world.book.len(), world.false_values()), (2, 0));
    assert!(world.queue.is_empty(), "nothing waits to be asked again");
}

#[test]
fn answer_of_a_job_waits_for_its_check() {
    let mut world = World::new(100.0);
    world.operator(1, Worker::HONEST);
    world.operator(2, Worker::HONEST);
    let busy = world.workers.remove(&WorkerId(2)).expect("joined");
    world.answer(1, &position(1), Lie::Bias(300));
    assert_eq!((world.open_checks.len(), world.book.len()), (1, 0));
    assert_eq!(world.verification.held_answers(), 1);
    world.workers.insert(WorkerId(2), busy);
    world.carry_out();
    assert_eq!((world.book.len(), world.false_values()), (1, 0));
    assert_eq!(world.verification.held_answers(), 0);
}

#[test]
fn sole_worker_is_not_checked() {
    let mut world = World::new(100.0);
    world.operator(1, Worker::HONEST);
    world.answer(1, &position(1), Lie::None);
    assert_eq!((world.book.len(), world.searches), (1, 0));
    // The other worker leaves while it has the question of a check.
    world.operator(2, Worker::HONEST);
    world.workers.remove(&WorkerId(2));
    world.answer(1, &position(2), Lie::None);
    assert_eq!((world.open_checks.len(), world.book.len()), (1, 1));
    world.verification.disconnect(world.now, WorkerId(2));
    world.carry_out();
    assert_eq!(
        (world.open_checks.len(), world.book.len(), world.searches),
        (0, 2, 0)
    );
}

/// The coordinator's own search says +300.00 of a win that it cannot prove, an answer of a worker
/// +100.00.
#[test]
fn all_unproven_wins_are_equal() {
    let [one, other] = [10_000, 30_000].map(|score| answer_with(&position(1), Lie::Decided(score)));
    let strict = (Tolerance::SameSearch, Tolerance::SameSearch);
    let found = compare(&position(1), strict, &one, &other, |_| false);
    assert_eq!(found, AnswerRelation::Equal);
}
