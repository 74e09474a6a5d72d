//! Jobs that look for a proof.

use kagetsu_book::{Book, BookOptions, BuildSpec, JobId, JobSpec, JobState, Policy, Work};
use kagetsu_game::{
    Answer, Bound, Claim, Effort, Move, Position, Proof, ProofKind, Question, Score, Side, Variant,
    Verdict, Window,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::with;
use crate::world::{assert_clean, engine, new_book, open};

fn spec(line: &str, attacker: Side, target: u64) -> JobSpec {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    JobSpec {
        name: "proof".into(),
        variant,
        roots: [Position::from_line(variant, line).expect("legal")].into(),
        exclude: [].into(),
        build: BuildSpec {
            policy: Policy::PROVE,
            side: attacker,
            nodes: Some(1_000),
            top: 3,
            positions: Some(target),
            ..BuildSpec::default()
        },
    }
}

/// As the engine of hashes, with losses of the defender that no search has found, and without
/// depths where the attacker looks for a win by threats.
fn answer(question: &Question, seed: u64) -> Answer {
    let position = &question.position;
    let is_lost = |verdict: &Verdict| verdict.nodes + seed;
    engine::answer(question).changed(|m, verdict| {
        let hash = position.play(m).expect("legal").key().0 as u64 >> 9;
        let may_be = question.window.beta < Score::ZERO && verdict.proof.is_none();
        if question.window.alpha > Score::ZERO && verdict.proof.is_none() {
            verdict.depth = 0;
        }
        if !may_be || (hash ^ is_lost(verdict)).is_multiple_of(16) {
            // A search for losses values every move.
            if may_be {
                verdict.bound = Bound::Exact;
            }
            return;
        }
        let proof = Proof::new(Claim::Loss, ProofKind::Vct, 8);
        (verdict.score, verdict.bound) = (proof.score(), Bound::Exact);
        verdict.proof = Some(proof);
    })
}

fn next(book: &mut Book, job: JobId, n: usize) -> Vec<Work> {
    book.next_work(job, n).expect("readable")
}

#[test]
fn frontier_in_memory_equals_a_rebuilt_one() {
    for seed in 0..4 {
        let folders = [
            tempfile::tempdir().expect("a folder"),
            tempfile::tempdir().expect("a folder"),
        ];
        let [mut kept, mut anew] = [open(folders[0].path()), open(folders[1].path())];
        let spec = spec("d4", Side::Second, 80);
        let job = kept.create_job(&spec).expect("a job");
        assert_eq!(anew.create_job(&spec).expect("a job"), job);
        let mut chance = StdRng::seed_from_u64(seed);
        while kept.job(job).expect("known").state == JobState::Running {
            let n = chance.random_range(1..4);
            let [works, same] = [&mut kept, &mut anew].map(|book| next(book, job, n));
            assert!(
                works
                    .iter()
                    .map(|work| &work.question)
                    .eq(same.iter().map(|work| &work.question)),
                "seed {seed}"
            );
            for (work, same) in works.iter().zip(&same) {
                match chance.random_range(0..12) {
                    0 => {
                        kept.release(work);
                        anew.release(same);
                    }
                    1 => {
                        kept.set_aside(work, "a test").expect("room");
                        anew.set_aside(same, "a test").expect("room");
                    }
                    _ => {
                        let answer = answer(&work.question, seed);
                        kept.finish(work, &answer).expect("room");
                        anew.finish(same, &answer).expect("room");
                    }
                }
            }
            anew.close().expect("room");
            anew = Book::open(folders[1].path(), &BookOptions::default())
                .expect("opens")
                .0;
        }
        assert_clean(&kept);
        assert_eq!(crate::world::dump(&kept), crate::world::dump(&anew));
    }
}

#[test]
fn proven_win_ends_waiting() {
    for seed in 0..3 {
        let (_folder, mut book) = new_book();
        let spec = spec("d4 a1", Side::First, 3_000);
        let (job, root) = (book.create_job(&spec).expect("a job"), &spec.roots[0]);
        loop {
            let works = next(&mut book, job, 2);
            if works.is_empty() {
                break;
            }
            for work in &works {
                book.finish(work, &answer(&work.question, seed))
                    .expect("room");
            }
        }
        let entry = book
            .lookup(root)
            .expect("readable")
            .expect("it was searched");
        assert_eq!(
            entry.derived.proof.map(|proof| proof.claim),
            Some(Claim::Win),
            "seed {seed}"
        );
        let job = book.job(job).expect("known");
        assert_eq!(
            (job.state, job.frontier),
            (JobState::Done, 0),
            "seed {seed}"
        );
        assert!(
            Some(job.positions) < spec.build.positions,
            "seed {seed}: {} positions",
            job.positions
        );
        assert_clean(&book);
    }
}

#[test]
fn attacker_needs_best_move_defender_all_moves() {
    let (folder, mut book) = new_book();
    let job = book.create_job(&spec("d4", Side::First, 9)).expect("a job");
    let works = next(&mut book, job, 1);
    let question = &works[0].question;
    let distinct = question.position.distinct_moves().len() as u64;
    assert_eq!(question.window.beta, -Score::OPINION_MAX);
    assert_eq!(question.effort, Effort::nodes(1_000 * distinct));
    book.finish(&works[0], &answer(&works[0].question, 3))
        .expect("room");
    let works = next(&mut book, job, 2);
    assert_eq!(works.len(), 2);
    for work in works {
        let wins = Window {
            alpha: Score::OPINION_MAX,
            beta: Score::MAX,
        };
        assert_eq!(
            (work.question.window, work.question.effort),
            (wins, Effort::nodes(10_000))
        );
    }
    // The book keeps a job's settings, and refuses the same job with others.
    drop(book);
    let mut book = open(folder.path());
    let kept = book.job(job).expect("known").spec.build;
    assert_eq!((kept.policy, kept.side), (Policy::PROVE, Side::First));
    let other = spec("d4", Side::Second, 9);
    let refused = book.start_job(&other).expect_err("another side");
    assert!(refused.to_string().contains("--side"), "{refused}");
}

/// The attacker wins by a corner, and only at the root. A search for threats misses it, or finds it
/// costly. Every other move makes a cheap threat, in three ways, to which there always is one
/// reply.
fn trap(question: &Question, is_missed: bool) -> Answer {
    let position = &question.position;
    let is_taken = |position: &Position| {
        let free = position.legal_moves();
        ["a1", "a7", "g1", "g7"]
            .iter()
            .any(|corner| free.iter().all(|m| position.write_move(*m) != *corner))
    };
    let verdict = |m: Move, score: i32, proof: Option<Proof>| match proof {
        Some(_) => (m, kagetsu_builders::verdict(m, proof)),
        None => kagetsu_builders::opinion(m, score),
    };
    let mut moves = position.distinct_moves();
    moves.sort_by_cached_key(|m| {
        let next = position.play(*m).expect("legal");
        (
            is_taken(&next),
            (next.key().0 ^ position.key().0).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 64,
        )
    });
    if position.side() == Side::Second {
        let lost = Some(Proof::new(Claim::Loss, ProofKind::Vct, 8));
        return moves
            .iter()
            .enumerate()
            .map(|(at, m)| verdict(*m, 0, lost.filter(|_| at > 0)))
            .collect();
    }
    let stones = 49 - position.legal_moves().len();
    if is_taken(position) && stones == 4 {
        let won = Some(Proof::new(Claim::Win, ProofKind::Vct, 7));
        return [verdict(moves[0], 0, won)].into_iter().collect();
    }
    let corner = moves.last().filter(|_| stones == 2);
    if !question.window.asks_for_proof() {
        let value = if corner.is_some() { 3_000 } else { -3_000 };
        let advised = moves.last().map(|m| verdict(*m, value, None));
        return advised.into_iter().collect();
    }
    let corner = corner.filter(|_| !is_missed);
    let corner = corner.map(|m| verdict(*m, -100, None));
    moves
        .iter()
        .take(3)
        .map(|m| verdict(*m, -10, None))
        .chain(corner)
        .map(|(m, verdict)| {
            (
                m,
                Verdict {
                    depth: 0,
                    ..verdict
                },
            )
        })
        .collect()
}

#[test]
fn costly_or_advised_move_gets_its_turn() {
    for is_missed in [false, true] {
        let (_folder, mut book) = new_book();
        let spec = with(spec("d4 e4", Side::First, 600), |build| build.top = 4);
        let job = book.create_job(&spec).expect("a job");
        let mut advice = 0;
        while let Some(work) = next(&mut book, job, 1).first() {
            advice += usize::from(!work.question.window.asks_for_proof());
            book.finish(work, &trap(&work.question, is_missed))
                .expect("room");
        }
        let entry = book
            .lookup(&spec.roots[0])
            .expect("readable")
            .expect("it was searched");
        assert!(
            entry.derived.proof.is_some(),
            "not within {} positions",
            book.len()
        );
        assert!(advice > 0 || !is_missed);
        assert_clean(&book);
    }
}
