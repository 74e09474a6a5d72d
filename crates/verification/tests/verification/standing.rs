//! Calibration, quarantine, failures.

use std::sync::Arc;

use kagetsu_game::Variant;
use kagetsu_schedule::WorkerId;
use kagetsu_verification::{
    Admission, Class, Decision, Profile, Verification, VerificationOptions,
};

use crate::world::{ENGINE, Lie, Worker, World, pass, position, profile};

fn connect(world: &mut World, id: u64, profile: &Profile) -> Admission {
    world
        .verification
        .connect(world.now, WorkerId(id), profile.clone())
        .expect("a known engine")
}

#[test]
fn worker_is_calibrated_once() {
    let mut world = World::new(0.0);
    let one = profile("w", Some("one"), Class::Operator);
    assert_eq!(connect(&mut world, 1, &one), Admission::Calibrating);
    assert_eq!(connect(&mut world, 1, &one), Admission::Calibrating);
    assert!(pass(&mut world.verification, 1, &one));
    world.verification.disconnect(world.now, WorkerId(1));
    assert_eq!(connect(&mut world, 1, &one), Admission::Admitted);
    // Another token under the same number proves nothing.
    let other = profile("w", Some("other"), Class::Operator);
    assert_eq!(connect(&mut world, 1, &other), Admission::Calibrating);
}

#[test]
fn failed_calibration_ends_with_the_process() {
    let mut world = World::new(0.0);
    let worker = profile("w", None, Class::Operator);
    connect(&mut world, 1, &worker);
    world
        .verification
        .fail_calibration(world.now, WorkerId(1), "wrong".into());
    assert!(!pass(&mut world.verification, 1, &worker));
    assert_eq!(connect(&mut world, 1, &worker), Admission::Quarantined);
    world.verification.disconnect(world.now, WorkerId(1));
    assert_eq!(connect(&mut world, 2, &worker), Admission::Calibrating);
    assert!(world.verification.quarantined().is_empty(), "it has gone");
}

#[test]
fn restarted_liar_keeps_quarantine() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::HONEST);
    world.answer(1, &position(1), Lie::InstantWin);
    world.verification.disconnect(world.now, WorkerId(1));
    let named = profile("w1", None, Class::Operator);
    assert_eq!(connect(&mut world, 2, &named), Admission::Quarantined);
    assert_eq!(world.verification.quarantined().len(), 1);
    // The list outlives the coordinator.
    let stored = world.verification.quarantined();
    let mut next = Verification::new(VerificationOptions::new(0.0, 1, ENGINE));
    next.restore(stored.clone());
    assert_eq!(next.quarantined(), stored);
    let again = next.connect(world.now, WorkerId(3), named).expect("known");
    assert_eq!(again, Admission::Quarantined);
    assert_eq!(next.release(world.now, "w1"), [WorkerId(3)]);
    assert!(next.quarantined().is_empty());
}

#[test]
fn quarantine_covers_all_names_of_a_volunteers_token() {
    let mut world = World::new(0.0);
    world.volunteer(7, "many", Worker::HONEST);
    world.volunteer(8, "many", Worker::HONEST);
    world.volunteer(9, "other", Worker::HONEST);
    world.answer(8, &position(1), Lie::None);
    world.answer(7, &position(2), Lie::InstantWin);
    assert!(world.is_quarantined(7) && world.is_quarantined(8) && !world.is_quarantined(9));
    assert_eq!(world.queue.len(), 2, "the other's answer is asked again");
    let new = profile("fresh name", Some("many"), Class::Volunteer);
    assert_eq!(connect(&mut world, 10, &new), Admission::Quarantined);
    // Release by one name frees the token.
    assert_eq!(world.verification.release(world.now, "v7").len(), 3);
}

#[test]
fn operators_of_one_name_are_told_apart() {
    let mut world = World::new(0.0);
    let same = profile("node", None, Class::Operator);
    world.join(1, same.clone(), Worker::HONEST);
    world.join(2, same, Worker::HONEST);
    world.answer(1, &position(1), Lie::InstantWin);
    assert!(world.is_quarantined(1) && !world.is_quarantined(2));
}

#[test]
fn worker_that_fails_everything_is_quarantined() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::HONEST);
    for _ in 0..15 {
        world.verification.failed(world.now, WorkerId(1), "no");
    }
    world.verification.succeeded(WorkerId(1));
    for _ in 0..15 {
        world.verification.failed(world.now, WorkerId(1), "no");
    }
    assert!(!world.is_quarantined(1));
    world.verification.failed(world.now, WorkerId(1), "no");
    let trust = world.verification.trust(WorkerId(1));
    assert_eq!((trust.done, trust.failed), (1, 31));
    let reason = trust.quarantine.expect("a reason");
    assert_eq!(reason, "it failed 16 tasks in a row, the last: no");
}

#[test]
fn volunteer_needs_an_engine_that_can_be_compared() {
    let mut world = World::new(0.0);
    let other = Profile {
        engine: Arc::from("rapfi 1.0"),
        ..profile("v", Some("t"), Class::Volunteer)
    };
    let refused = world
        .verification
        .connect(world.now, WorkerId(7), other.clone())
        .expect_err("nothing here runs it");
    assert!(refused.to_string().contains("'rapfi 1.0'"), "{refused}");
    let own = Profile {
        class: Class::Operator,
        ..other.clone()
    };
    world.join(1, own, Worker::HONEST);
    assert_eq!(connect(&mut world, 7, &other), Admission::Calibrating);
}

#[test]
fn trusting_machine_accepts_everything() {
    let mut world = World::new(100.0);
    let mut options = VerificationOptions::new(100.0, 1, ENGINE);
    options.trusts_all = true;
    world.verification = Verification::new(options);
    let engine = profile("embedded", None, Class::Operator);
    assert_eq!(connect(&mut world, 1, &engine), Admission::Admitted);
    world.answer(1, &position(1), Lie::Claim);
    assert_eq!(world.proofs(), 1);
    assert_eq!(world.verification.poll(), None::<Decision>);
}

#[test]
fn volunteer_searches_with_one_thread() {
    let mut world = World::new(0.0);
    let eight = Profile {
        threads: 8,
        ..profile("v", Some("t"), Class::Volunteer)
    };
    let refused = world
        .verification
        .connect(world.now, WorkerId(7), eight)
        .expect_err("its answers cannot be repeated");
    assert!(refused.to_string().contains("--threads 1"), "{refused}");
}

#[test]
fn worker_without_variants_is_not_admitted() {
    for class in [Class::Operator, Class::Volunteer] {
        let mut world = World::new(0.0);
        let none = Profile {
            plays: Arc::default(),
            ..profile("w", Some("t"), class)
        };
        let refused = world
            .verification
            .connect(world.now, WorkerId(7), none)
            .expect_err("nothing tells whether it is right");
        assert!(refused.to_string().contains("no calibration"), "{refused}");
    }
}

#[test]
fn worker_plays_only_what_it_was_calibrated_in() {
    let mut world = World::new(0.0);
    let many = Profile {
        plays: Arc::new(Variant::all().collect()),
        ..profile("w", None, Class::Operator)
    };
    let one = Arc::new([Variant::RENJU_15].into());
    connect(&mut world, 1, &many);
    assert!(
        !world
            .verification
            .pass_calibration(WorkerId(1), Arc::default(), true)
    );
    assert!(
        world
            .verification
            .pass_calibration(WorkerId(1), Arc::clone(&one), true)
    );
    // Nor does a new connection bring back the others.
    assert_eq!(connect(&mut world, 1, &many), Admission::Admitted);
    assert_eq!(world.verification.plays(WorkerId(1)), Some(&one));
}
