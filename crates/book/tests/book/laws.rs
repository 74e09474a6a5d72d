//! Laws that hold for every book.

use std::sync::Arc;

use kagetsu_book::{Book, BookError, BookOptions, Entry, LearnError};
use kagetsu_game::{
    Answer, Bound, Claim, Key, Move, Position, Proof, ProofKind, Provenance, Score, Symmetry,
    Variant, Verdict,
};
use proptest::prelude::*;
use tempfile::TempDir;

fn new_book() -> (TempDir, Book) {
    let folder = tempfile::tempdir().expect("a folder");
    let (book, _) = Book::open(folder.path(), &BookOptions::creating()).expect("opens");
    (folder, book)
}

/// A position reached by random moves, before the game is over.
fn walked(variant: &str, choices: &[u16]) -> Position {
    let variant: Variant = variant.parse().expect("a variant");
    choices
        .iter()
        .fold(Position::start(variant), |position, choice| {
            let moves = position.legal_moves();
            let next = position
                .play(moves[usize::from(*choice) % moves.len()])
                .expect("legal");
            if next.outcome().is_some() {
                position
            } else {
                next
            }
        })
}

fn score() -> impl Strategy<Value = (Score, Option<Proof>)> {
    let proof = |claim, plies| Proof::new(claim, ProofKind::Search, plies);
    prop_oneof![
        6 => (-300i32..300).prop_map(|centi| (Score::opinion(centi), None)),
        1 => (0u16..9).prop_map(move |n| proof(Claim::Win, 2 * n + 1)).prop_map(|p| (p.score(), Some(p))),
        1 => (1u16..9).prop_map(move |n| proof(Claim::Loss, 2 * n)).prop_map(|p| (p.score(), Some(p))),
    ]
}

prop_compose! {
    /// A random verdict on one of the moves of a position.
    fn move_verdict()(
        at in any::<u16>(),
        (score, proof) in score(),
        bound in prop_oneof![Just(Bound::Exact), Just(Bound::Upper), Just(Bound::Lower)],
        depth in 1u8..12,
        nodes in 0u64..1_000_000,
        has_line in any::<bool>(),
        engine in 0u8..3,
        day in 20_000u32..20_003,
    ) -> (u16, bool, Verdict) {
        let by = Provenance { engine: Arc::from(format!("engine {engine}")), day };
        let bound = if proof.is_some() { Bound::Exact } else { bound };
        (at, has_line, Verdict { score, bound, depth, nodes, line: Vec::new(), proof, by })
    }
}

fn answer(position: &Position, verdicts: &[(u16, bool, Verdict)]) -> Answer {
    let legal = position.distinct_moves();
    let verdict = |(at, has_line, verdict): &(u16, bool, Verdict)| {
        let m = legal[usize::from(*at) % legal.len()];
        let next = position.play(m).expect("legal");
        let reply = next
            .legal_moves()
            .into_iter()
            .nth(usize::from(*at) % 5)
            .filter(|_| next.outcome().is_none());
        let line = [m].into_iter().chain(reply).filter(|_| *has_line).collect();
        (
            m,
            Verdict {
                line,
                ..verdict.clone()
            },
        )
    };
    verdicts.iter().map(verdict).collect()
}

fn found(book: &Book, position: &Position) -> Entry {
    book.lookup(position).expect("readable").expect("learned")
}

fn faults(book: &Book) -> Vec<String> {
    book.check(&mut |_| {}).expect("readable").faults
}

/// The position turned, and played in another order: the stones of each side as they came, shuffled
/// by a rotation. `None` where that cannot be played.
fn turned(position: &Position, symmetry: Symmetry, rotation: usize) -> Option<Position> {
    let variant = position.variant();
    // Pieces must begin at their places. Some symmetries break that, though a few moves can be
    // played.
    let first = Position::start(variant).legal_moves();
    if !first
        .iter()
        .all(|&m| first.contains(&variant.image(m, symmetry)))
    {
        return None;
    }
    let of_side = |first: usize| {
        let images = position
            .moves()
            .iter()
            .skip(first)
            .step_by(2)
            .map(|m| variant.image(*m, symmetry));
        let mut images: Vec<Move> = images.collect();
        let length = images.len().max(1);
        images.rotate_left(rotation % length);
        images
    };
    let sides = [of_side(0), of_side(1)];
    let moves: Vec<Move> = (0..position.moves().len())
        .map(|n| sides[n % 2][n / 2])
        .collect();
    let image = Position::new(variant, None, &moves).ok()?;
    // Pieces that take, or move twice, may come to stand elsewhere in another order.
    let is_stones = variant.places_stones();
    let is_same = is_stones || image.canonical().packed == position.canonical().packed;
    is_same.then_some(image)
}

/// The positions behind the moves of an answer, and the values of the moves.
fn values(position: &Position, answer: &Answer) -> Vec<(Key, Score, Bound)> {
    let moves: Vec<Move> = answer.verdicts().iter().map(|(m, _)| *m).collect();
    let children = position.children(&moves).into_iter().map(|child| child.key);
    let stated = answer.verdicts().iter().map(|(_, v)| (v.score, v.bound));
    let mut values: Vec<_> = children
        .zip(stated)
        .map(|(key, (score, bound))| (key, score, bound))
        .collect();
    values.sort();
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_image_and_order_hits_one_record(
        variant in prop::sample::select(vec!["freestyle-9", "standard-10", "renju-9", "xiangqi", "surakarta"]),
        choices in proptest::collection::vec(any::<u16>(), 1..14),
        verdicts in proptest::collection::vec(move_verdict(), 1..8),
        rotation in 0usize..7,
    ) {
        let (_folder, mut book) = new_book();
        let position = walked(variant, &choices);
        let answer = answer(&position, &verdicts);
        book.learn(&position, &answer).expect("room");
        let stored = found(&book, &position);
        prop_assert_eq!(&stored.facts, &answer);
        // Where the position is its own image a move and its image are one.
        let is_one_of_a_kind = position.distinct_moves().len() == position.legal_moves().len();
        for symmetry in position.variant().symmetries() {
            for rotation in [0, rotation] {
                let Some(image) = turned(&position, symmetry, rotation) else {
                    // Another order may pass a forbidden point; pieces may not begin with the other
                    // side.
                    let is_stones = position.variant().places_stones();
                    prop_assert!(rotation > 0 || !is_stones, "{:?} cannot be played", symmetry);
                    continue;
                };
                let entry = found(&book, &image);
                if is_one_of_a_kind {
                    prop_assert_eq!(&entry.facts, &answer.clone().turned(position.variant(), symmetry), "{:?}", symmetry);
                    let best = stored.derived.best.map(|m| position.variant().image(m, symmetry));
                    prop_assert_eq!(entry.derived.best, best);
                }
                prop_assert_eq!(values(&image, &entry.facts), values(&position, &answer), "{:?}", symmetry);
                prop_assert_eq!(values(&image, &entry.answer), values(&position, &stored.answer), "{:?}", symmetry);
                book.learn(&image, &entry.facts).expect("room");
                prop_assert_eq!(book.len(), 1, "{:?} gives another record", symmetry);
            }
        }
        prop_assert_eq!(&found(&book, &position).facts, &answer);
    }

    #[test]
    fn order_and_repetition_of_answers_do_not_matter(
        choices in proptest::collection::vec(any::<u16>(), 1..9),
        reports in proptest::collection::vec(proptest::collection::vec(move_verdict(), 1..6), 1..5),
        again in any::<prop::sample::Index>(),
    ) {
        let position = walked("renju-9", &choices);
        let answers: Vec<Answer> = reports.iter().map(|verdicts| answer(&position, verdicts)).collect();
        let (_one, mut forth) = new_book();
        let (_other, mut back) = new_book();
        for answer in &answers {
            forth.learn(&position, answer).expect("room");
        }
        for answer in answers.iter().rev().chain([again.get(&answers)]) {
            back.learn(&position, answer).expect("room");
        }
        prop_assert_eq!(found(&forth, &position), found(&back, &position));
        prop_assert_eq!(faults(&back), Vec::<String>::new());
    }

    #[test]
    fn path_is_propagated_as_if_learned_from_its_end(
        choices in proptest::collection::vec(any::<u16>(), 3..10),
        reports in proptest::collection::vec(proptest::collection::vec(move_verdict(), 1..6), 10),
    ) {
        // Every position of one game gets an answer that gives the next move an exact value: they
        // are linked.
        let end = walked("freestyle-6", &choices);
        let moves = end.moves();
        let at = |n: usize| Position::new(end.variant(), None, &moves[..n]).expect("played");
        let answers: Vec<(Position, Answer)> = (0..moves.len()).map(|n| {
            let mut answer = answer(&at(n), &reports[n]);
            let m = moves[n];
            answer.retain(|other, _| other != m);
            let by = Provenance { engine: "game".into(), day: 1 };
            answer.extend([(m, Verdict { score: Score::ZERO, bound: Bound::Exact, depth: 1, nodes: 1, line: vec![m], proof: None, by })]);
            (at(n), answer)
        }).collect();
        let (_one, mut forth) = new_book();
        let (_other, mut back) = new_book();
        for (position, answer) in &answers {
            forth.learn(position, answer).expect("room");
        }
        for (position, answer) in answers.iter().rev() {
            back.learn(position, answer).expect("room");
        }
        for (position, _) in &answers {
            prop_assert_eq!(found(&forth, position), found(&back, position));
        }
        prop_assert_eq!(faults(&forth), Vec::<String>::new());
    }
}

#[test]
fn impossible_answer_is_not_learned() {
    let (_folder, mut book) = new_book();
    let position =
        Position::from_line("freestyle-15".parse().expect("a variant"), "h8 i9").expect("legal");
    let taken = position.moves()[0];
    let answer: Answer = [kagetsu_builders::opinion(taken, 0)].into_iter().collect();
    assert!(matches!(
        book.learn(&position, &answer),
        Err(BookError::Learn(LearnError::Illegal { .. }))
    ));
    assert!(matches!(
        book.learn(&position, &Answer::new()),
        Err(BookError::Learn(LearnError::Empty(_)))
    ));
    assert!(book.is_empty() && book.sequence().0 == 0);
    assert_eq!(book.lookup(&position).expect("readable"), None);
}

/// `proof` for each of the first `count` moves.
fn proven(position: &Position, count: usize, proof: Proof) -> Answer {
    let verdict = |m: Move| (m, kagetsu_builders::verdict(m, Some(proof)));
    position
        .distinct_moves()
        .into_iter()
        .take(count)
        .map(verdict)
        .collect()
}

#[test]
fn partial_list_of_moves_proves_no_loss() {
    let (_folder, mut book) = new_book();
    let position =
        Position::from_line("freestyle-5".parse().expect("a variant"), "c3").expect("legal");
    let all = position.distinct_moves().len();
    let loss = Proof::new(Claim::Loss, ProofKind::Search, 8);
    book.learn(&position, &proven(&position, all - 1, loss))
        .expect("room");
    let partial = found(&book, &position).derived;
    assert_eq!((partial.proof, partial.is_open), (None, true));
    book.learn(&position, &proven(&position, all, loss))
        .expect("room");
    let whole = found(&book, &position).derived;
    assert_eq!((whole.proof, whole.is_open), (Some(loss), false));
}

#[test]
fn a_proof_is_carried_up_with_its_distance() {
    let (_folder, mut book) = new_book();
    let root = Position::from_line("freestyle-5".parse().expect("a variant"), "c3").expect("legal");
    let m = root.distinct_moves()[0];
    let next = root.play(m).expect("legal");
    let opinion = kagetsu_builders::opinion(m, 9);
    book.learn(&root, &[opinion].into_iter().collect())
        .expect("room");
    let loss = Proof::new(Claim::Loss, ProofKind::Vct, 6);
    book.learn(&next, &proven(&next, usize::MAX, loss))
        .expect("room");
    let derived = found(&book, &root).derived;
    let win = Proof::new(Claim::Win, ProofKind::Tree, 7);
    assert_eq!(
        (derived.proof, derived.score, derived.best),
        (Some(win), Score::win_in(7), Some(m))
    );
    assert_eq!(
        found(&book, &root).answer.best().map(|(_, v)| v.proof),
        Some(Some(win))
    );
}

/// Random verdicts on these moves of a position: score, bound, depth.
fn answer_of(position: &Position, verdicts: &[(&str, i32, Bound, u8)]) -> Answer {
    let verdict = |(m, centi, bound, depth): &(&str, i32, Bound, u8)| {
        let m = position.parse_move(m).expect("a move");
        let (m, mut verdict) = kagetsu_builders::opinion(m, *centi);
        (verdict.bound, verdict.depth) = (*bound, *depth);
        if *bound != Bound::Exact {
            verdict.line.clear();
        }
        (m, verdict)
    };
    verdicts.iter().map(verdict).collect()
}

fn at(variant: &str, line: &str) -> Position {
    Position::from_line(variant.parse().expect("a variant"), line).expect("legal")
}

#[test]
fn deeper_search_of_move_or_child_counts() {
    let (_folder, mut book) = new_book();
    let (root, next) = (at("freestyle-15", "h8"), at("freestyle-15", "h8 h9"));
    book.learn(&root, &answer_of(&root, &[("h9", 40, Bound::Exact, 6)]))
        .expect("room");
    for (depth, score) in [(4, 40), (5, -70), (8, -70)] {
        book.learn(&next, &answer_of(&next, &[("i9", 70, Bound::Exact, depth)]))
            .expect("room");
        let entry = found(&book, &root);
        let best = entry
            .answer
            .best()
            .map(|(_, verdict)| (verdict.score, verdict.depth));
        assert_eq!(
            (entry.derived.score, entry.derived.depth),
            (Score::opinion(score), u16::from(depth + 1).max(6))
        );
        assert_eq!(
            best,
            Some((Score::opinion(score), (depth + 1).max(6))),
            "searched {depth} plies deep"
        );
    }
    assert!(faults(&book).is_empty());
}

#[test]
fn move_without_a_search_has_no_value() {
    let (_folder, mut book) = new_book();
    let (root, next) = (at("freestyle-15", "h8"), at("freestyle-15", "h8 h9"));
    book.learn(&root, &answer_of(&root, &[("h9", 40, Bound::Exact, 6)]))
        .expect("room");
    let before = found(&book, &root);
    for verdict in [
        ("i9", i32::MIN, Bound::Lower, 0),
        ("g10", 300, Bound::Upper, 9),
    ] {
        // Neither position has a value: the searched score before it stands.
        book.learn(&next, &answer_of(&next, &[verdict]))
            .expect("room");
        let open = found(&book, &next).derived;
        assert_eq!((open.best, open.is_open), (None, true));
        assert_eq!(found(&book, &root), before);
    }
    book.learn(&next, &answer_of(&next, &[("h10", -20, Bound::Exact, 9)]))
        .expect("room");
    assert_eq!(found(&book, &root).derived.score, Score::opinion(20));
    assert!(faults(&book).is_empty());
}
