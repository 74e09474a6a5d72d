//! Removal of positions.

use kagetsu_book::{BookError, JobState, LearnError, Pruning};
use kagetsu_game::{Effort, Key, Position, Variant};
use tempfile::TempDir;

use super::{copy_of, entries, grown};
use crate::world::{OPTIONS, assert_clean, engine, open, variant};

#[test]
fn pruned_book_equals_book_of_the_rest() {
    let unpruned = grown(40);
    let whole = entries(&open(unpruned.path()));
    let least = whole
        .values()
        .map(|entry| entry.position.canonical().stones)
        .min()
        .expect("one at least");
    for (pruning, is_kept) in [
        (
            Pruning {
                max_ply: Some(2),
                ..Pruning::default()
            },
            2,
        ),
        (
            Pruning {
                max_ply: Some(0),
                ..Pruning::default()
            },
            0,
        ),
        (Pruning::default(), u16::MAX),
    ] {
        let folder = copy_of(&unpruned);
        let (book, report) = open(folder.path()).prune(&pruning, &OPTIONS).expect("room");
        assert_clean(&book);
        let left = entries(&book);
        let should: Vec<Key> = whole
            .iter()
            .filter(|(_, entry)| entry.position.canonical().stones - least <= is_kept)
            .map(|(key, _)| *key)
            .collect();
        assert_eq!(left.keys().copied().collect::<Vec<_>>(), should);
        assert_eq!(
            (report.kept, report.kept + report.removed),
            (should.len() as u64, 40)
        );
        assert!(
            left.iter()
                .all(|(key, entry)| whole[key].facts == entry.facts)
        );
        let job = &book.jobs().expect("readable")[0];
        let state = if report.removed > 0 {
            JobState::Paused
        } else {
            JobState::Done
        };
        assert_eq!((&job.state, job.positions), (&state, report.kept));
        book.close().expect("room");
        assert_eq!(entries(&open(folder.path())), left);
    }
}

/// A book of 20 positions, with some of another variant.
fn mixed() -> (TempDir, u64) {
    let folder = grown(20);
    let mut book = open(folder.path());
    let other: Variant = "standard-7".parse().expect("a variant");
    let mut learn = |position: &Position| {
        let answer = engine::answer(&kagetsu_game::Question::new(
            position.clone(),
            Effort::depth(3),
        ));
        book.learn(position, &answer).expect("room");
        position
            .play(answer.best().expect("a move").0)
            .expect("legal")
    };
    let first = Position::from_line(other, "d4").expect("legal");
    let second = learn(&first);
    learn(&second);
    learn(&Position::from_line(other, "a1 b2").expect("legal"));
    book.close().expect("room");
    (folder, 3)
}

#[test]
fn root_that_leads_nowhere_removes_nothing() {
    let (folder, others) = mixed();
    let root = |line: &str| Position::from_line(variant(), line).expect("legal");
    // The book begins at d4, one ply beyond the start.
    for (roots, max_ply) in [
        (vec!["a1 b1"], None),
        (vec!["d4", "a1 b1"], Some(1)),
        (vec![""], Some(0)),
    ] {
        let roots: Vec<Position> = roots.into_iter().map(root).collect();
        let wrong = roots.last().cloned();
        let refused = open(folder.path()).prune(
            &Pruning {
                roots,
                max_ply,
                ..Pruning::default()
            },
            &OPTIONS,
        );
        assert!(
            matches!(refused, Err(BookError::Learn(LearnError::NoRoot(named))) if Some(&named) == wrong.as_ref())
        );
        assert_eq!(open(folder.path()).len(), 20 + others);
    }
    for (line, max_ply, left) in [("", Some(1), 1), ("d4", Some(0), 1), ("", None, 20)] {
        let (folder, _) = mixed();
        let pruning = Pruning {
            roots: vec![root(line)],
            max_ply,
            ..Pruning::default()
        };
        let (book, report) = open(folder.path()).prune(&pruning, &OPTIONS).expect("room");
        assert_eq!(report.kept, left + others, "{line}");
        assert_clean(&book);
    }
}

#[test]
fn positions_of_other_variants_stay() {
    let other: Variant = "standard-7".parse().expect("a variant");
    for (of, kept) in [
        (Some(variant()), [1, 3]),
        (Some(other), [20, 2]),
        (None, [1, 2]),
    ] {
        let (folder, _) = mixed();
        let pruning = Pruning {
            variant: of,
            max_ply: Some(0),
            ..Pruning::default()
        };
        let (book, _) = open(folder.path()).prune(&pruning, &OPTIONS).expect("room");
        assert_clean(&book);
        let left = entries(&book);
        let count = |of| {
            left.values()
                .filter(|entry| entry.position.variant() == of)
                .count()
        };
        assert_eq!([count(variant()), count(other)], kept, "{of:?}");
    }
}

#[test]
fn pruning_begins_at_roots_and_drops_worse_moves() {
    let folder = grown(40);
    let book = open(folder.path());
    let root = Position::from_line(variant(), "d4").expect("legal");
    let entry = book.lookup(&root).expect("readable").expect("the root");
    let best = entry.derived.best.expect("it has one");
    let next = root.play(best).expect("legal");
    let (book, report) = book
        .prune(
            &Pruning {
                roots: vec![next.clone()],
                ..Pruning::default()
            },
            &OPTIONS,
        )
        .expect("room");
    assert!(report.removed > 0 && book.lookup(&root).expect("readable").is_none());
    assert!(book.lookup(&next).expect("readable").is_some());
    assert_clean(&book);
    let before = entries(&book);
    let (book, report) = book
        .prune(
            &Pruning {
                max_loss: Some(0),
                ..Pruning::default()
            },
            &OPTIONS,
        )
        .expect("room");
    assert_clean(&book);
    assert!(report.removed > 0 && report.kept + report.removed == before.len() as u64);
    // Each remaining position leads only to what were its best moves. Their present values differ,
    // because the positions behind other moves are gone.
    let left = entries(&book);
    let kept: Vec<_> = before
        .iter()
        .filter(|(key, _)| left.contains_key(key))
        .map(|(_, entry)| entry)
        .collect();
    for entry in &kept {
        let best = entry
            .answer
            .verdicts()
            .iter()
            .find(|(_, v)| v.is_exact())
            .map(|(_, v)| v.score);
        for (m, verdict) in entry
            .answer
            .verdicts()
            .iter()
            .filter(|(_, v)| Some(v.score) < best)
        {
            let child = entry.position.play(*m).expect("legal").key();
            let others = kept
                .iter()
                .filter(|other| other.position.key() != entry.position.key());
            let is_best_elsewhere = others.into_iter().any(|other| {
                let moves = other.answer.verdicts().iter();
                let best = moves.clone().map(|(_, v)| v.score).max();
                moves.filter(|(_, v)| Some(v.score) == best).any(|(m, _)| {
                    other
                        .position
                        .play(*m)
                        .is_ok_and(|next| next.key() == child)
                })
            });
            assert!(
                !left.contains_key(&child) || is_best_elsewhere,
                "{verdict:?}"
            );
        }
    }
}
