//! Reports of changed jobs.

use std::collections::BTreeMap;

use kagetsu_book::{Book, Deepen, Job, JobChange, JobId, JobSpec};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{spec, with};
use crate::world::{engine, new_book};

fn all(book: &Book) -> BTreeMap<JobId, Job> {
    book.jobs()
        .expect("readable")
        .into_iter()
        .map(|job| (job.id, job))
        .collect()
}

#[test]
fn unmentioned_job_is_unchanged() {
    let mut spared = 0;
    for seed in 0..24 {
        let (_folder, mut book) = new_book();
        let mut dice = StdRng::seed_from_u64(seed);
        let mut known = all(&book);
        for step in 0..120 {
            let job = JobId(dice.random_range(0..known.len().max(1) as u32));
            match dice.random_range(0..14) {
                0 | 1 => {
                    let deepen = dice.random_bool(0.3).then(|| Deepen {
                        depth: Some(9),
                        ..Deepen::default()
                    });
                    let priority = dice.random_range(-2..3);
                    let target = dice.random_range(5..60);
                    let name = format!("job {}", dice.random_range(0..6));
                    // One of the name may be another.
                    let _ = book.start_job(&JobSpec {
                        name,
                        ..with(spec(target), |build| {
                            (build.deepen, build.priority) = (deepen, priority);
                        })
                    });
                }
                2 => drop(book.change_job(job, JobChange::Pause)),
                3 => drop(book.change_job(job, JobChange::Resume)),
                4 => drop(book.change_job(job, JobChange::Priority(dice.random_range(-5..5)))),
                5 => drop(book.change_job(job, JobChange::Target(dice.random_range(1..80)))),
                6 => drop(book.change_job(
                    job,
                    JobChange::Limit(Some(dice.random_range(1..9_000)), None),
                )),
                7 if dice.random_bool(0.1) => drop(book.change_job(job, JobChange::Cancel)),
                _ => {
                    for work in book.next_work(job, 4).unwrap_or_default() {
                        match dice.random_range(0..8) {
                            0 => drop(book.set_aside(&work, "it will not").expect("room")),
                            1 => book.release(&work),
                            2 => book
                                .distrust(Some(job), &work.question.position)
                                .map(drop)
                                .expect("room"),
                            _ => drop(
                                book.finish(&work, &engine::answer(&work.question))
                                    .expect("room"),
                            ),
                        }
                    }
                }
            }
            let (changed, now) = (book.changed_jobs(), all(&book));
            for (id, job) in &now {
                let is_new = known.get(id) != Some(job);
                assert!(
                    !is_new || changed.contains(id),
                    "seed {seed}, step {step}: no change of {job:?} is reported"
                );
                spared += usize::from(!changed.contains(id));
                assert_eq!(book.job_named(&job.spec.name), Some(*id));
            }
            known = now;
        }
    }
    assert!(spared > 1_000, "most jobs stay as they are: {spared}");
}
