//! Annotations: a set of people's words at each position, which no care of the book loses.

use std::fs;

use kagetsu_book::{Annotation, AnnotationKind, Book, BookOptions, Pruning, backup, repair};
use kagetsu_game::{Move, Position, Symmetry};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::world::{OPTIONS, assert_clean, closed_book, new_book, open, variant};

fn at(line: &str) -> Position {
    Position::from_line(variant(), line).expect("legal")
}

fn note(at: Option<u16>, kind: AnnotationKind, text: &str, day: u32) -> Annotation {
    Annotation {
        at: at.map(Move::new),
        kind,
        text: text.into(),
        author: "Ann".into(),
        source: "a.lib".into(),
        day,
    }
}

/// Returns all annotations of a book as text.
fn told(book: &Book) -> Vec<String> {
    book.annotated()
        .map(|known| format!("{:?}", known.expect("readable")))
        .collect()
}

/// Something that a person does: the position, whether to write or to take back, the annotation.
fn deed() -> impl Strategy<Value = (Position, bool, Annotation)> {
    let line = prop::sample::select(vec!["", "d4", "d4 e5", "d4 c5"]);
    let kind = prop::sample::select(vec![
        AnnotationKind::Comment,
        AnnotationKind::Text,
        AnnotationKind::Score(-7),
    ]);
    (
        line,
        any::<bool>(),
        prop::option::of(0u16..49),
        kind,
        "[ab]?",
        0u32..3,
    )
        .prop_map(|(line, writes, point, kind, text, day)| {
            (at(line), writes, note(point, kind, &text, day))
        })
}

fn book_of(deeds: &[(Position, bool, Annotation)]) -> (TempDir, Book) {
    let (folder, mut book) = new_book();
    for (position, writes, annotation) in deeds {
        let one = std::slice::from_ref(annotation);
        if *writes {
            book.annotate(position, one).expect("room");
        } else {
            book.take_back(position, one).expect("room");
        }
    }
    (folder, book)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn merges_of_annotations_are_unions(
        one in prop::collection::vec(deed(), 0..12),
        other in prop::collection::vec(deed(), 0..12),
        third in prop::collection::vec(deed(), 0..12),
    ) {
        let books = [&one, &other, &third].map(|deeds| book_of(deeds));
        let merged = [[0, 1, 2], [2, 1, 0], [1, 0, 2]].map(|order| {
            let (folder, mut book) = new_book();
            for at in order {
                book.merge_annotations(&books[at].1).expect("room");
                prop_assert_eq!(book.merge_annotations(&books[at].1).expect("room"), 0);
            }
            assert_clean(&book);
            drop(folder);
            Ok(told(&book))
        });
        let [first, second, last] = merged;
        let first = first?;
        prop_assert_eq!(&first, &second?);
        prop_assert_eq!(&first, &last?);
        // Both ways give the same.
        let [(_a, mut a), (_b, mut b), _] = books;
        a.merge_annotations(&b).expect("room");
        b.merge_annotations(&a).expect("room");
        prop_assert_eq!(told(&a), told(&b));
    }
}

#[test]
fn annotations_turn_with_their_position() {
    let (_folder, mut book) = new_book();
    let position = at("d4 e5 c3 b1");
    let written = note(Some(9), AnnotationKind::Text, "A", 1);
    let kept = [written, note(None, AnnotationKind::Comment, "on it", 1)];
    assert_eq!(book.annotate(&position, &kept).expect("room"), 2);
    assert_eq!(book.annotate(&position, &kept).expect("room"), 0, "twice");
    for symmetry in variant().symmetries() {
        let image = |m: &Move| variant().image(*m, symmetry);
        let moves: Vec<Move> = position.moves().iter().map(image).collect();
        let image = Position::new(variant(), None, &moves).expect("legal");
        let mut found = book.annotations(&image).expect("readable");
        found.sort_by_key(|annotation| annotation.at.is_none());
        let turned = |symmetry: Symmetry| kept.clone().map(|note| note.turned(variant(), symmetry));
        assert_eq!(found, turned(symmetry), "{symmetry:?}");
    }
    let beyond = note(Some(49), AnnotationKind::Mark, "", 1);
    assert!(book.annotate(&position, &[beyond]).is_err());
    let long = note(None, AnnotationKind::Comment, &"a".repeat(3 << 20), 1);
    assert!(book.annotate(&position, &[long]).is_err());
}

#[test]
fn taken_back_annotations_stay_away() {
    let (_folder, mut book) = new_book();
    let (_other, mut other) = new_book();
    let (start, one) = (at(""), [note(None, AnnotationKind::Comment, "one", 5)]);
    book.annotate(&start, &one).expect("room");
    other.merge_annotations(&book).expect("room");
    assert_eq!(book.take_back(&start, &one).expect("room"), 1);
    assert_eq!(book.merge_annotations(&other).expect("room"), 0);
    assert!(told(&book).is_empty());
    // It comes back where it is written again, on its first day.
    let later = [note(None, AnnotationKind::Comment, "one", 9)];
    assert_eq!(book.annotate(&start, &later).expect("room"), 1);
    assert_eq!(book.annotations(&start).expect("readable"), one);
}

#[test]
fn care_of_a_book_keeps_annotations() {
    let folder = closed_book(12);
    let mut book = open(folder.path());
    // The last position has no record, and another leads to none.
    let best = book.lookup(&at("d4")).expect("readable").expect("held");
    let behind = at("d4").play(best.answer.verdicts()[0].0).expect("legal");
    for position in [at("d4"), behind, at("a1 g7 b1")] {
        for text in ["one", "two"] {
            let one = [note(Some(3), AnnotationKind::Comment, text, 4)];
            book.annotate(&position, &one).expect("room");
        }
    }
    let before = told(&book);
    assert_eq!(before.len(), 3);
    let (book, report) = book.compact(&OPTIONS).expect("room");
    assert!(report.entries < report.entries_before, "{report:?}");
    assert_eq!(told(&book), before);
    let pruning = Pruning {
        max_ply: Some(1),
        roots: vec![at("d4")],
        ..Pruning::default()
    };
    let (mut book, report) = book.prune(&pruning, &OPTIONS).expect("room");
    assert!(report.removed > 0);
    assert_eq!(told(&book), before);
    assert_eq!(told(&book.snapshot().expect("room")), before);
    assert_clean(&book);
    book.close().expect("room");
    let copy = tempfile::tempdir().expect("a folder");
    backup(folder.path(), copy.path()).expect("room");
    let (read, _) = Book::open_to_read(copy.path(), &BookOptions::default()).expect("opens");
    assert_eq!(told(&read), before);
    fs::remove_dir_all(folder.path().join("store")).expect("room");
    let (book, _) = repair(folder.path(), &OPTIONS).expect("room");
    assert_eq!(told(&book), before, "rebuilt from the journal");
}
