//! Answers are cut to what was asked.

use std::sync::Arc;
use std::time::Duration;

use kagetsu_game::{Answer, Bound, Effort, Question, Score, Verdict, Window};
use kagetsu_verification::{AnswerFault, AnswerLimits, conform, max_plausible_nodes};

use crate::world::{position, truth, verdict};

fn limits(max_nodes: u64) -> AnswerLimits {
    AnswerLimits {
        engine: Arc::from("kagetsu 0.1.0"),
        day: 20_000,
        max_nodes,
    }
}

fn question(effort: Effort) -> Question {
    Question::new(position(1), effort)
}

fn one(change: impl FnOnce(&mut Verdict)) -> Answer {
    let m = position(1).legal_moves()[0];
    let mut changed = verdict(34, None, m);
    change(&mut changed);
    [(m, changed)].into_iter().collect()
}

fn cut(effort: Effort, answer: &Answer, max_nodes: u64) -> Verdict {
    let answer = conform(&question(effort), answer, &limits(max_nodes)).expect("an answer");
    answer.best().expect("a verdict").1.clone()
}

#[test]
fn depth_beyond_the_task_counts_as_the_tasks() {
    let deep = one(|v| v.depth = 40);
    for (effort, nodes, depth) in [
        (Effort::depth(4), 1_000_000, 4),
        (Effort::depth(60), 1_000_000, 40),
        // Without a depth the nodes bound it.
        (Effort::nodes(1_000), 1_000_000, 24),
        (Effort::time(Duration::from_secs(1)), 1_000, 24),
    ] {
        assert_eq!(cut(effort, &deep, nodes).depth, depth, "{effort:?}");
    }
    assert_eq!(cut(Effort::depth(9), &one(|v| v.depth = 3), 9).depth, 3);
}

#[test]
fn nodes_are_at_most_what_the_time_allows() {
    let boast = one(|v| v.nodes = u64::MAX);
    let second = max_plausible_nodes(1, Duration::from_secs(1));
    assert_eq!(second, 11_000_000);
    assert_eq!(cut(Effort::depth(4), &boast, second).nodes, second);
    assert_eq!(cut(Effort::nodes(5_000), &boast, second).nodes, 10_000);
    assert_eq!(cut(Effort::depth(4), &one(|_| {}), second).nodes, 1_000);
    assert_eq!(max_plausible_nodes(u32::MAX, Duration::MAX), u64::MAX);
}

#[test]
fn nodes_of_many_moves_share_the_limit() {
    let legal = position(1).legal_moves();
    let verdicts = legal[..3].iter().map(|m| {
        let mut costly = verdict(34, None, *m);
        costly.nodes = u64::MAX / 2;
        (*m, costly)
    });
    let answer: Answer = verdicts.collect();
    let request = question(Effort::depth(4));
    let cut = conform(&request, &answer, &limits(900)).expect("an answer");
    assert!(cut.nodes() <= 900, "{}", cut.nodes());
}

#[test]
fn engine_and_date_are_the_coordinators() {
    let forged = one(|v| {
        v.by.engine = Arc::from("\u{1b}[2J<b>");
        v.by.day = u32::MAX;
    });
    let by = cut(Effort::depth(4), &forged, 1_000).by;
    assert_eq!((&*by.engine, by.day), ("kagetsu 0.1.0", 20_000));
}

#[test]
fn unproven_wins_and_losses_are_cut() {
    let (most, win) = (Score::OPINION_MAX, Score::opinion(10_000));
    for (score, bound, expected) in [
        (most, Bound::Exact, win),
        (-most, Bound::Exact, -win),
        (Score::opinion(34), Bound::Exact, Score::opinion(34)),
        (most, Bound::Lower, win),
        (-most, Bound::Upper, -win),
        // Bounds that say nothing: a smaller number would be a claim.
        (most, Bound::Upper, most),
        (-most, Bound::Lower, -most),
    ] {
        let known = position(1).legal_moves()[1];
        let mut reported = one(|v| (v.score, v.bound) = (score, bound));
        reported.extend([(known, verdict(0, None, known))]);
        let request = question(Effort::depth(4));
        let answer = conform(&request, &reported, &limits(10_000)).expect("an answer");
        let m = position(1).legal_moves()[0];
        let cut = answer.get(m).expect("a verdict");
        assert_eq!((cut.score, cut.bound), (expected, bound), "{score}");
    }
}

#[test]
fn bounds_alone_are_no_answer() {
    let bounds = one(|v| v.bound = Bound::Upper);
    let request = question(Effort::depth(4));
    let fault = conform(&request, &bounds, &limits(9)).expect_err("only bounds");
    assert_eq!(fault, AnswerFault::OnlyBounds);
    // Where the window is not full, a bound may be all that is wanted.
    let window = Window {
        alpha: Score::opinion(100),
        beta: Score::MAX,
    };
    let narrow = Question { window, ..request };
    assert!(conform(&narrow, &bounds, &limits(9)).is_ok());
}

#[test]
fn moves_that_were_not_asked_about_are_dropped() {
    let legal = position(1).legal_moves();
    let request = Question {
        moves: vec![legal[1]],
        ..question(Effort::depth(4))
    };
    let fault = conform(&request, &truth(&position(1)), &limits(9)).expect_err("another move");
    assert_eq!(fault, AnswerFault::NoMove);
    assert_eq!(
        conform(&question(Effort::depth(4)), &Answer::new(), &limits(9)),
        Err(AnswerFault::NoMove)
    );
}
