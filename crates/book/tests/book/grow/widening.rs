//! Candidates of the attacker that no answer lists at first: further searches, proofs that were
//! found elsewhere, and named moves.

use kagetsu_book::{Book, BuildSpec, JobId, JobSpec, JobState, Policy};
use kagetsu_game::{
    Answer, Bound, Claim, Move, Position, Proof, ProofKind, Question, Score, Side, Variant, Verdict,
};

use crate::world::{assert_clean, new_book};

fn position(line: &str) -> Position {
    let variant: Variant = "freestyle-7".parse().expect("a variant");
    Position::from_line(variant, line).expect("legal")
}

fn spec(roots: &[&str], target: u64) -> JobSpec {
    let roots: Vec<Position> = roots.iter().map(|line| position(line)).collect();
    JobSpec {
        name: "proof".into(),
        variant: roots[0].variant(),
        roots: roots.into(),
        exclude: [].into(),
        build: BuildSpec {
            policy: Policy::PROVE,
            side: Side::First,
            nodes: Some(1_000),
            top: 1,
            positions: Some(target),
            ..BuildSpec::default()
        },
    }
}

fn verdict(m: Move, score: i32, proof: Option<Proof>) -> (Move, Verdict) {
    let verdict = Verdict {
        score: proof.map_or(Score::opinion(score), Proof::score),
        depth: 0,
        ..kagetsu_builders::verdict(m, proof)
    };
    (m, verdict)
}

/// Whether a side has stones on all of these points, in any orientation of the board.
fn has(position: &Position, side: Side, points: &[&str]) -> bool {
    let stones = position.stones().expect("gomoku");
    let names: Vec<String> = stones[side.index()]
        .iter()
        .map(|m| position.write_move(*m))
        .collect();
    points
        .iter()
        .all(|point| names.iter().any(|name| name == point))
}

/// The image of a position of a book in which the first side has d4 and its last stones are the
/// ones that the test names.
fn images(position: &Position) -> Vec<Position> {
    let [first, second] = position.stones().expect("gomoku");
    let name = |m: &Move, turn: u8| {
        let (column, row) = (m.code() % 7, m.code() / 7);
        let (column, row) = if turn & 4 == 0 {
            (column, row)
        } else {
            (row, column)
        };
        let column = if turn & 1 == 0 { column } else { 6 - column };
        let row = if turn & 2 == 0 { row } else { 6 - row };
        position.write_move(Move::new(row * 7 + column))
    };
    let image = |turn: u8| {
        let mut line = Vec::new();
        for (at, m) in first.iter().enumerate() {
            line.push(name(m, turn));
            line.extend(second.get(at).map(|m| name(m, turn)));
        }
        Position::from_line(position.variant(), &line.join(" ")).expect("legal")
    };
    (0..8).map(image).collect()
}

/// Whether an image has these stones of the attacker and no others.
fn is_shape(position: &Position, points: &[&str]) -> bool {
    let count = position.stones().expect("gomoku")[0].len();
    count == points.len()
        && images(position)
            .iter()
            .any(|image| has(image, Side::First, points))
}

fn grow(book: &mut Book, job: JobId, mut answer: impl FnMut(&Question) -> Answer) -> u64 {
    loop {
        let works = book.next_work(job, 1).expect("readable");
        let Some(work) = works.first() else { break };
        book.finish(work, &answer(&work.question)).expect("room");
    }
    book.job(job).expect("known").positions
}

fn is_won(book: &Book, line: &str) -> bool {
    let position = position(line);
    let entry = book.lookup(&position).expect("readable");
    let proof = entry.and_then(|entry| entry.derived.proof);
    let wins = if position.side() == Side::First {
        Claim::Win
    } else {
        Claim::Loss
    };
    proof.is_some_and(|proof| proof.claim == wins)
}

/// Returns the answer of a defender that loses by all replies except the `held` ones.
fn defence(position: &Position, held: impl Fn(&Position) -> bool) -> Answer {
    let lost = Proof::new(Claim::Loss, ProofKind::Vct, 8);
    let reply = |m: &Move| {
        let next = position.play(*m).expect("legal");
        verdict(*m, 0, Some(lost).filter(|_| !held(&next)))
    };
    position.distinct_moves().iter().map(reply).collect()
}

/// The defender's stone of the greatest code: one reply holds in every position.
fn holds(position: &Position) -> bool {
    let free = position.legal_moves();
    let last = position.stones().expect("gomoku")[1].iter().max().copied();
    free.iter().max() < last.as_ref()
}

/// The defender has no reply once the attacker has a corner.
fn corner_wins(question: &Question) -> Answer {
    let position = &question.position;
    let corners = ["a1", "a7", "g1", "g7"];
    let is_corner = |m: &Move| corners.contains(&&*position.write_move(*m));
    let [first, _] = position.stones().expect("gomoku");
    if position.side() == Side::Second {
        let is_lost = first.len() == 2 && first.iter().any(is_corner);
        return defence(position, |next| !is_lost && holds(next));
    }
    let mut moves = if question.moves.is_empty() {
        position.distinct_moves()
    } else {
        question.moves.clone()
    };
    // Three moves beside stones, then the corners, then the others.
    let (stones, free) = (
        position.stones().expect("gomoku"),
        position.distinct_moves(),
    );
    let is_beside = |m: &Move| {
        let touches = |stone: &Move| {
            let (a, b) = (stone.code(), m.code());
            (a % 7).abs_diff(b % 7) <= 1 && (a / 7).abs_diff(b / 7) <= 1
        };
        stones.iter().flatten().any(touches)
    };
    let beside = free.iter().copied().filter(is_beside);
    let first: Vec<Move> = beside.filter(|m| !is_corner(m)).take(3).collect();
    moves.sort_by_key(|m| (!first.contains(m), !is_corner(m), m.code()));
    moves.truncate(question.width.into());
    moves.iter().map(|m| verdict(*m, -10, None)).collect()
}

#[test]
fn quiet_move_is_found_by_widening() {
    let (_folder, mut book) = new_book();
    let job = book.create_job(&spec(&["d4 e6"], 20_000)).expect("a job");
    let positions = grow(&mut book, job, corner_wins);
    assert!(is_won(&book, "d4 e6"), "not within {positions} positions");
    assert_clean(&book);
}

#[test]
fn each_further_search_doubles_the_moves() {
    let (_folder, mut book) = new_book();
    let root = "d4 e6";
    let job = book.create_job(&spec(&[root], 20_000)).expect("a job");
    let mut questions = Vec::new();
    grow(&mut book, job, |question| {
        let is_advice = !question.window.asks_for_proof();
        if question.position.key() == position(root).key() && !is_advice {
            let unlisted = question.moves.len();
            questions.push((question.width, unlisted));
        }
        corner_wins(question)
    });
    let widths: Vec<u16> = questions.iter().map(|(width, _)| *width).collect();
    assert_eq!(widths[..3], [1, 1, 2]);
    // Moves near the stones come before the others.
    let near = questions[1].1;
    assert!(near < 40 && questions[2].1 == near - 1, "{questions:?}");
}

#[test]
fn exhausted_attack_ends_the_job() {
    let (_folder, mut book) = new_book();
    let mut one_ply = spec(&["d4 e6"], 20_000);
    one_ply.build.max_ply = Some(1);
    let job = book.create_job(&one_ply).expect("a job");
    let mut listed = 0;
    grow(&mut book, job, |question| {
        if question.position.side() == Side::First {
            listed += question.width;
            return corner_wins(question);
        }
        defence(&question.position, holds)
    });
    let state = book.job(job).expect("known").state;
    assert_eq!(state, JobState::Done);
    let distinct = position("d4 e6").distinct_moves().len();
    assert!(
        usize::from(listed) >= distinct,
        "{listed} of {distinct} moves"
    );
    assert!(!is_won(&book, "d4 e6"));
    assert_clean(&book);
}

/// The attacker wins with the stones d4 e5 f6, wherever the others are, but lists the last of them
/// only where he has d4 and f6.
fn diagonal(question: &Question) -> Answer {
    let position = &question.position;
    if position.side() == Side::Second {
        let is_lost = is_shape(position, &["d4", "e5", "f6"]);
        let is_first_reply = is_shape(position, &["d4", "e5"]);
        let one = |next: &Position| {
            let replies: &[&str] = if is_first_reply {
                &["a6", "g3"]
            } else {
                &["a6"]
            };
            let is_reply = |image: &Position| {
                let has_reply = replies
                    .iter()
                    .any(|reply| has(image, Side::Second, &[reply]));
                has(image, Side::First, &["d4"]) && has_reply
            };
            if position.stones().expect("gomoku")[1].len() == 1 {
                let image = images(next).into_iter().find(|image| {
                    has(image, Side::Second, &["b1"])
                        && (has(image, Side::First, &["e5"]) || has(image, Side::First, &["f6"]))
                });
                image.is_some_and(|image| is_reply(&image))
            } else {
                holds(next)
            }
        };
        return defence(position, |next| !is_lost && one(next));
    }
    let moves = position.legal_moves();
    let leads_to = |m: &&Move| {
        let next = position.play(**m).expect("legal");
        is_shape(&next, &["d4", "e5", "f6"])
    };
    if is_shape(position, &["d4", "f6"])
        && let Some(m) = moves.iter().find(leads_to)
    {
        return [verdict(*m, -10, None)].into_iter().collect();
    }
    let others = moves.iter().find(|m| !leads_to(m));
    others
        .map(|m| verdict(*m, -2_000, None))
        .into_iter()
        .collect()
}

#[test]
fn proof_is_found_from_other_positions() {
    let (_folder, mut book) = new_book();
    let roots = ["d4 b1 f6", "d4 b1 e5"];
    let job = book.create_job(&spec(&roots, 60)).expect("a job");
    let positions = grow(&mut book, job, diagonal);
    for line in ["d4 b1 f6", "d4 b1 e5", "d4 b1 e5 a6", "d4 b1 e5 g3"] {
        assert!(is_won(&book, line), "{line} after {positions} positions");
    }
    assert_clean(&book);
}

#[test]
fn known_positions_follow_a_new_proof() {
    let (_folder, mut book) = new_book();
    let job = book.create_job(&spec(&["d4 b1 f6"], 60)).expect("a job");
    // Another source has searched this position, and does not list f6.
    let known = position("d4 b1 e5 a6");
    let c2 = known.parse_move("c2").expect("legal");
    let answer: Answer = [verdict(c2, -10, None)].into_iter().collect();
    book.learn(&known, &answer).expect("room");
    grow(&mut book, job, diagonal);
    assert!(is_won(&book, "d4 b1 e5 a6"));
    assert_clean(&book);
}

#[test]
fn hint_is_followed_in_a_searched_position() {
    let (_folder, mut book) = new_book();
    let root = position("d4 b1");
    let [searched, named] = ["e5", "c6"].map(|m| root.parse_move(m).expect("legal"));
    let answer: Answer = [verdict(searched, -10, None)].into_iter().collect();
    book.learn(&root, &answer).expect("room");
    let made = Verdict {
        score: -Score::OPINION_MAX,
        bound: Bound::Lower,
        ..verdict(named, 0, None).1
    };
    let hint: Answer = [(named, made)].into_iter().collect();
    for _ in 0..2 {
        book.suggest(&root, &hint).expect("room");
        let facts = book.lookup(&root).expect("readable").expect("known").facts;
        assert_eq!(facts.len(), 2);
        assert!(facts.get(named).is_some_and(Verdict::is_exact));
    }
    assert_clean(&book);
}

#[test]
fn named_move_is_tried_first() {
    let (_folder, mut book) = new_book();
    let root = position("d4 b1");
    let named = root.parse_move("c6").expect("legal");
    let made = Verdict {
        score: -Score::OPINION_MAX,
        bound: Bound::Lower,
        ..verdict(named, 0, None).1
    };
    let answer: Answer = [(named, made)].into_iter().collect();
    book.learn(&root, &answer).expect("room");
    let job = book.create_job(&spec(&["d4 b1"], 20)).expect("a job");
    let positions = grow(&mut book, job, |question| {
        let position = &question.position;
        if position.side() == Side::Second {
            let is_lost = is_shape(position, &["d4", "c6"]);
            return defence(position, |next| !is_lost && holds(next));
        }
        let moves = position.distinct_moves();
        [verdict(moves[0], -10, None)].into_iter().collect()
    });
    assert!(is_won(&book, "d4 b1"));
    assert!(positions <= 4, "{positions} positions");
    assert_clean(&book);
}
