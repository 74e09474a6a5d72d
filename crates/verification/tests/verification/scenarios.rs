//! Lying workers of many kinds, and how many of their values stay.

use crate::world::{Lie, Worker, World, position};

/// Positions of a simulated job.
const POSITIONS: u64 = 2_000;

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

/// Returns a cell of the table: the mean number of false values that stay, with its standard error.
fn cell(share: f64, rate: u32, liars: Liars, positions: u64) -> String {
    const RUNS: u64 = 20;
    let (mut stay, mut clean, mut caught) = (Vec::new(), 0, 0);
    for seed in 1..=RUNS {
        let liar = Worker::liar(Lie::Bias(350), rate);
        let world = run(share, liars, &liar, seed * 7_919, positions);
        stay.push(world.false_values() as f64);
        clean += usize::from(world.false_values() == 0);
        caught += usize::from(world.is_quarantined(10));
    }
    let mean = stay.iter().sum::<f64>() / RUNS as f64;
    let squares = stay.iter().map(|stay| (stay - mean).powi(2)).sum::<f64>();
    let error = (squares / (RUNS - 1) as f64 / RUNS as f64).sqrt();
    format!("{mean:.1} ± {error:.1} (caught {caught}/{RUNS}, clean {clean}/{RUNS})")
}

/// Prints a row of cells for each share and rate in percent.
fn print_table(rows: &[(f64, u32)], positions: u64) {
    println!("| p | lies | one liar | two colluding | ten names of one token |");
    println!("| --- | --- | --- | --- | --- |");
    for &(share, rate) in rows {
        let cells = Liars::ALL.map(|liars| cell(share, rate, liars, positions));
        println!("| {share} % | {rate} % | {} |", cells.join(" | "));
    }
}

/// Prints the table of `docs/measurements`.
#[test]
#[ignore = "prints a table"]
fn table_of_surviving_false_values() {
    let shares = [2.0, 5.0, 10.0, 100.0];
    let rows = shares.map(|share| [1, 10, 100].map(|rate| (share, rate)));
    print_table(&rows.concat(), POSITIONS);
}

/// Prints the cells that the coordinator's tests repeat.
#[test]
#[ignore = "prints a table"]
fn table_of_small_builds() {
    let rows = [(2.0, 10), (5.0, 10), (10.0, 10), (10.0, 100), (100.0, 10)];
    print_table(&rows, 300);
}
