//! Lying workers of many kinds, and how many of their values stay.

use crate::world::{Lie, Worker, World, position};

/// The liars of a scenario.
#[derive(Clone, Copy, Debug)]
enum Liars {
    One,
    /// Two volunteers with a token each.
    TwoColluding,
    /// Ten workers with one token.
    TenOfOneToken,
}

impl Liars {
    const ALL: [Self; 3] = [Self::One, Self::TwoColluding, Self::TenOfOneToken];

    fn tokens(self) -> Vec<&'static str> {
        match self {
            Self::One => vec!["t"],
            Self::TwoColluding => vec!["t", "u"],
            Self::TenOfOneToken => vec!["t"; 10],
        }
    }
}

/// Runs a job with two honest workers of the operator. Gives the world at its end.
fn run(share: f64, liars: Liars, liar: &Worker, seed: u64, positions: u64) -> World {
    let mut world = World::with_seed(share, seed);
    world.operator(1, Worker::HONEST);
    world.operator(2, Worker::HONEST);
    for (id, token) in (10..).zip(liars.tokens()) {
        world.volunteer(id, token, liar.clone());
    }
    world.queue = (0..positions).map(position).collect();
    world.run();
    world
}

#[test]
fn no_scenario_brings_a_false_proof_or_ends_early() {
    let lies = [
        Lie::Claim,
        Lie::InstantWin,
        Lie::Bias(50),
        Lie::Bias(100),
        Lie::Bias(-200),
        Lie::Bias(350),
        Lie::Bias(500),
        Lie::Bias(2_500),
    ];
    let mut scenarios = 0;
    for liars in Liars::ALL {
        for lie in lies {
            for (share, rate) in [(2.0, 100), (100.0, 10)] {
                let world = run(share, liars, &Worker::liar(lie, rate), 3, 300);
                let what = format!("{liars:?} {lie:?} {share} % {rate} %");
                assert_eq!((world.proofs(), world.book.len()), (0, 300), "{what}");
                assert!(
                    !world.is_quarantined(1) && !world.is_quarantined(2),
                    "{what}"
                );
                // A bias within the tolerance of equal searches is none.
                let is_visible = lie != Lie::Bias(50);
                if share > 99.0 && is_visible {
                    assert_eq!(world.false_values(), 0, "{what}");
                }
                if matches!(lie, Lie::Claim | Lie::InstantWin) {
                    assert_eq!(world.false_values(), 0, "{what}");
                }
                scenarios += 1;
            }
        }
    }
    assert_eq!(scenarios, 48);
}
