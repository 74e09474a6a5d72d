use kagetsu_game::{Answer, Key, Move, Position, Score, Variant};

use super::*;
use crate::graph::frontier_change::FrontierChange;
use crate::graph::job_state::JobBody;
use crate::graph::keys::JOB;
use crate::graph::row::{Row, has_record};
use crate::{BookOptions, BuildSpec, Derived, JobSpec};
use kagetsu_store::{Batch, Pair};
use kagetsu_store::{decode, encode};

/// Values the first moves of a position, each a little lower than the one before.
fn answer(position: &Position) -> Answer {
    let verdict = |(rank, m): (usize, Move)| kagetsu_builders::opinion(m, -10 * rank as i32);
    position
        .distinct_moves()
        .into_iter()
        .take(3)
        .enumerate()
        .map(verdict)
        .collect()
}

fn grown(folder: &std::path::Path) -> Book {
    grown_with(folder, None).0
}

/// Grows a book that keeps at most so many waiting positions in memory. Returns it with the
/// positions in the order in which they were searched.
fn grown_with(folder: &std::path::Path, most: Option<usize>) -> (Book, Vec<Key>) {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    let (mut book, _) = Book::open(
        folder,
        &BookOptions {
            create: true,
            cache_bytes: 0,
        },
    )
    .expect("opens");
    let spec = JobSpec {
        name: "test".into(),
        variant,
        roots: [Position::start(variant)].into(),
        exclude: [].into(),
        build: BuildSpec {
            alpha: 1.0,
            depth: Some(2),
            top: 3,
            positions: Some(12),
            ..BuildSpec::default()
        },
    };
    book.frontiers.most = most.unwrap_or(book.frontiers.most);
    let job = book.create_job(&spec).expect("a job");
    let mut order = Vec::new();
    while let Some(work) = book.next_work(job, 1).expect("readable").first() {
        let position = &work.question.position;
        order.push(position.key());
        book.finish(work, &answer(position)).expect("room");
    }
    (book, order)
}

#[test]
fn full_frontier_is_read_again_and_checked() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let (_, order) = grown_with(folders[0].path(), None);
    let (mut book, bounded) = grown_with(folders[1].path(), Some(4));
    assert_eq!(order, bounded);
    let queue = book.frontiers.get(0).expect("it was read");
    assert!(queue.end.is_some() && queue.first.len() <= 4, "{queue:?}");
    assert!(book.check(&mut |_| {}).expect("readable").is_clean());
    let (priority, id) = *queue.first.first().expect("it waits");
    let lost = FrontierChange {
        job: 0,
        id,
        before: Some(priority),
        now: None,
    };
    book.frontiers.apply(vec![lost]);
    assert!(!book.check(&mut |_| {}).expect("readable").is_clean());
}

fn scanned(book: &Book, kind: u8) -> Vec<Pair> {
    let rows = book.store.scan(&[kind], Some(&[kind + 1]));
    rows.collect::<Result<_, _>>().expect("readable")
}

/// Returns the row in the middle of those that were searched.
fn middle(book: &Book) -> Pair {
    let mut rows = scanned(book, POSITION);
    rows.retain(|(_, bytes)| has_record(bytes));
    rows[rows.len() / 2].clone()
}

/// Returns the row with the last key, of a position that was not searched.
fn last(book: &Book) -> Pair {
    let row = scanned(book, POSITION).pop().expect("some");
    assert!(!has_record(&row.1));
    row
}

type Changes = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// Changes a row.
fn changed((key, bytes): Pair, change: impl FnOnce(&mut Row)) -> Changes {
    let mut row = Row::read(&key, &bytes).expect("written");
    change(&mut row);
    let bytes = row.write(&key);
    vec![(key, bytes)]
}

/// Flips a bit of a row.
fn flipped((key, mut bytes): Pair, at: usize) -> Changes {
    bytes[at] ^= 1;
    vec![(key, Some(bytes))]
}

type Damage = fn(&Book) -> Changes;

#[test]
fn wrong_frontier_in_memory_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut book = grown(folder.path());
    let (priority, id) = *book
        .frontiers
        .get(0)
        .and_then(|queue| queue.first.iter().nth(3))
        .expect("it waits");
    let change = |before, now| {
        vec![FrontierChange {
            job: 0,
            id,
            before,
            now,
        }]
    };
    book.frontiers.apply(change(Some(priority), None));
    let report = book.check(&mut |_| {}).expect("readable");
    let named = |report: &CheckReport, text: &str| {
        let is_it = |fault: &String| fault.contains(text);
        assert!(report.faults.iter().any(is_it), "{:#?}", report.faults);
    };
    named(&report, "does not wait in job 0");
    book.frontiers.apply(change(None, Some(priority + 1)));
    let report = book.check(&mut |_| {}).expect("readable");
    named(&report, "should not wait in job 0");
    book.frontiers
        .apply(change(Some(priority + 1), Some(priority)));
    assert!(book.check(&mut |_| {}).expect("readable").is_clean());
}

#[test]
fn every_fault_is_named() {
    let damages: [(&str, Damage); 11] = [
        ("its marker says", |book| vec![(middle(book).0, None)]),
        ("its value is not what follows", |book| {
            changed(middle(book), |row| row.value = None)
        }),
        ("its value is not what follows", |book| {
            let wrong = Derived {
                score: Score::opinion(77),
                proof: None,
                best: None,
                depth: 3,
                is_open: false,
            };
            changed(middle(book), |row| row.value = Some(wrong))
        }),
        ("the entry 'p' of", |book| flipped(last(book), 2)),
        ("the entry 'p' of", |book| {
            let row = middle(book);
            let end = row.1.len() - 1;
            flipped(row, end)
        }),
        ("a link to", |book| {
            changed(middle(book), |row| {
                let links = Arc::make_mut(&mut row.links);
                let parent = links.parents().next().expect("it is reached");
                links.unlink(parent);
            })
        }),
        ("no record leads there from", |book| {
            let stranger = Id::at_end(&middle(book).0).expect("a key");
            changed(last(book), |row| {
                Arc::make_mut(&mut row.links).link(stranger);
            })
        }),
        ("positions wait, it says", |book| {
            let (key, bytes) = scanned(book, JOB).remove(0);
            let mut job: JobBody = decode(&key, &bytes).expect("written");
            job.frontier += 1;
            vec![(key.clone(), Some(encode(&key, &job)))]
        }),
        ("its stage is another", |book| {
            changed(middle(book), |row| {
                Arc::make_mut(&mut row.links).stage = Stage::Open;
            })
        }),
        ("is damaged", |book| {
            changed(middle(book), |row| row.record = Some([1, 2, 3].into()))
        }),
        ("its key is another", |book| {
            let (from, bytes) = middle(book);
            let mut to = from.clone();
            *to.last_mut().expect("an id") ^= 1;
            let row = Row::read(&from, &bytes).expect("written");
            vec![(from, None), (to.clone(), row.write(&to))]
        }),
    ];
    for (text, damage) in damages {
        let folder = tempfile::tempdir().expect("a folder");
        let mut book = grown(folder.path());
        assert!(book.check(&mut |_| {}).expect("readable").is_clean());
        let changes = damage(&book);
        book.store.apply(Batch(changes)).expect("room");
        let report = book.check(&mut |_| {}).expect("readable");
        assert!(
            report.faults.iter().any(|fault| fault.contains(text)),
            "{text}: {:#?}",
            report.faults
        );
    }
}
