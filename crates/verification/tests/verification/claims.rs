//! Claims of proof.

use kagetsu_game::Score;

use crate::world::{Lie, Worker, World, position};

/// The best score of a position in the book.
fn score(world: &World, n: u64) -> Option<Score> {
    let (_, answer) = world.book.get(&position(n).key())?;
    answer.best().map(|(_, verdict)| verdict.score)
}

#[test]
fn two_workers_that_agree_are_no_proof() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::liar(Lie::Claim, 100));
    world.operator(2, Worker::liar(Lie::Claim, 100));
    world.answer(1, &position(1), Lie::Claim);
    assert_eq!(world.proofs(), 0);
    let score = score(&world, 1).expect("an opinion");
    assert!(score < Score::OPINION_MAX && !score.is_mate(), "{score}");
}

#[test]
fn claim_of_the_only_worker_is_an_opinion() {
    let mut world = World::new(100.0);
    world.operator(1, Worker::liar(Lie::Claim, 100));
    world.answer(1, &position(1), Lie::Claim);
    assert_eq!(world.proofs(), 0);
    assert_eq!(score(&world, 1), Some(Score::opinion(10_000)));
}

#[test]
fn claim_that_an_equal_search_lacks_is_wrong() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::liar(Lie::Claim, 100));
    world.operator(2, Worker::HONEST);
    world.answer(1, &position(1), Lie::Claim);
    // The coordinator's own search is the third opinion.
    assert!(world.is_quarantined(1) && !world.is_quarantined(2));
    assert_eq!((world.searches, world.false_values()), (1, 0));
}

#[test]
fn proof_that_the_rules_refute_ends_a_worker() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::liar(Lie::InstantWin, 100));
    world.answer(1, &position(1), Lie::InstantWin);
    assert!(world.is_quarantined(1));
    assert!(world.book.is_empty());
    assert_eq!(world.queue.len(), 1, "the position waits again");
}

#[test]
fn claim_of_a_volunteer_needs_a_second_opinion() {
    for (has_engine, has_operator) in [(true, false), (true, true), (false, false)] {
        let mut world = World::new(0.0);
        world.has_engine = has_engine;
        if has_operator {
            world.operator(1, Worker::HONEST);
        }
        world.volunteer(7, "stranger", Worker::liar(Lie::Claim, 100));
        world.volunteer(8, "friend", Worker::liar(Lie::Claim, 100));
        world.answer(7, &position(1), Lie::Claim);
        assert_eq!((world.proofs(), world.false_values()), (0, 0));
        if !has_engine {
            assert_eq!(world.queue.len(), 1, "nothing could verify it");
        }
    }
}

#[test]
fn quarantined_workers_claims_are_dropped() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::liar(Lie::InstantWin, 100));
    world.answer(1, &position(1), Lie::InstantWin);
    world.answer(1, &position(2), Lie::Claim);
    assert!(world.book.is_empty());
    assert_eq!(world.queue.len(), 2);
}
