//! Dividing loses nothing, and merging does not depend on order.

use std::collections::BTreeSet;

use kagetsu_game::{Answer, Effort, Move, Question};
use kagetsu_schedule::{divide, ranges};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

use crate::engine;

fn question(n: usize, width: u16) -> Question {
    Question {
        width,
        ..Question::new(engine::position(n), Effort::depth(8))
    }
}

#[test]
fn twenty_moves_split_as_in_the_patent() {
    assert_eq!(ranges(20, 4), [0..5, 5..10, 10..15, 15..20]);
}

#[test]
fn four_parts_are_cut_as_in_the_paper() {
    for len in 4..=40 {
        let second = len / 2;
        let ends = [len / 4, second, (second + 1 + len) / 2, len];
        let cut = ranges(len, 4);
        let cut: Vec<_> = cut.iter().map(|range| range.end).collect();
        assert_eq!(cut, ends, "{len} moves");
    }
}

#[test]
fn question_has_at_most_one_range_a_move() {
    assert_eq!(ranges(3, 8), [0..1, 1..2, 2..3]);
    assert_eq!(ranges(0, 8), []);
    assert_eq!(ranges(5, 0), []);
}

#[test]
fn a_question_without_anything_to_divide_stays_whole() {
    let whole = question(1, 1);
    assert_eq!(
        divide(&whole, &Answer::new(), 4),
        std::slice::from_ref(&whole)
    );
    let one_move = Question {
        moves: vec![engine::shallow(&whole).verdicts()[0].0],
        ..whole
    };
    assert_eq!(
        divide(&one_move, &engine::shallow(&one_move), 4),
        [one_move]
    );
}

#[test]
fn moves_unknown_to_the_shallow_search_are_dealt() {
    let whole = question(2, 1);
    let shallow = engine::shallow(&whole);
    let stranger = whole
        .position
        .legal_moves()
        .into_iter()
        .find(|m| shallow.get(*m).is_none())
        .expect("many are not");
    let question = Question {
        moves: vec![stranger, shallow.verdicts()[3].0, shallow.verdicts()[1].0],
        ..whole
    };
    let parts = divide(&question, &shallow, 2);
    let moves: Vec<_> = parts.iter().map(|part| part.moves.clone()).collect();
    let [best, second] = [shallow.verdicts()[1].0, shallow.verdicts()[3].0];
    assert_eq!(moves, [vec![best, stranger], vec![best, second]]);
}

proptest! {
    /// The seed leads every part, every other move is in exactly one part, and each part keeps the
    /// shallow order.
    #[test]
    fn no_root_move_is_lost(n in 0_usize..100, parts in 2_usize..30, nodes in 1_u64..1_000_000) {
        let whole = Question { effort: Effort::nodes(nodes), ..question(n, 1) };
        let shallow = engine::shallow(&whole);
        let order: Vec<Move> = shallow.verdicts().iter().map(|(m, _)| *m).collect();
        let divided = divide(&whole, &shallow, parts);
        prop_assert_eq!(divided.len(), parts.min(order.len() - 1));
        let mut others = Vec::new();
        for part in &divided {
            prop_assert_eq!(part.moves[0], order[0]);
            let ranks: Vec<_> = part.moves.iter().map(|m| order.iter().position(|o| o == m)).collect();
            prop_assert!(ranks.is_sorted(), "{ranks:?}");
            others.extend_from_slice(&part.moves[1..]);
        }
        prop_assert_eq!(others.len(), order.len() - 1);
        prop_assert_eq!(others.into_iter().collect::<BTreeSet<_>>(), order[1..].iter().copied().collect());
        let shared: u64 = divided.iter().filter_map(|part| part.effort.nodes).sum();
        prop_assert!(nodes <= shared && shared < nodes + divided.len() as u64);
    }

    /// The merged answer of the parts equals one worker's: the best moves and values, and valid
    /// bounds on the rest.
    #[test]
    fn merged_parts_equal_the_whole(
        n in 0_usize..100, parts in 2_usize..30, width in 1_u16..6,
    ) {
        let whole = question(n, width);
        let shallow = engine::shallow(&whole);
        let answers = divide(&whole, &shallow, parts).iter().map(engine::answer).collect::<Vec<_>>();
        assert_same(&whole, &merged(&answers));
    }
}

/// The central law of the cluster, with all orders tried.
#[test]
fn a_thousand_orders_of_completion_give_one_answer() {
    let whole = question(5, 3);
    let parts = divide(&whole, &engine::shallow(&whole), 8);
    let mut answers: Vec<_> = parts.iter().map(engine::answer).collect();
    let expected = merged(&answers);
    let mut dice = SmallRng::seed_from_u64(1);
    for round in 0..1_000 {
        answers.shuffle(&mut dice);
        assert_eq!(merged(&answers), expected, "round {round}");
    }
}

fn merged(answers: &[Answer]) -> Answer {
    let mut all = Answer::new();
    answers.iter().for_each(|answer| all.merge(answer.clone()));
    all
}

/// Checks that an answer is as good as one worker's: the same moves, the same verdicts on the best
/// ones, and valid bounds.
pub(crate) fn assert_same(question: &Question, answer: &Answer) {
    let alone = engine::answer(question);
    let width = usize::from(question.width);
    assert_eq!(answer.verdicts()[..width], alone.verdicts()[..width]);
    let moves = |answer: &Answer| {
        answer
            .verdicts()
            .iter()
            .map(|(m, _)| *m)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(moves(answer), moves(&alone));
    for (m, verdict) in answer.verdicts() {
        let truth = engine::verdict(
            &question.position,
            *m,
            question.effort.depth.expect("a depth"),
        )
        .score;
        assert!(
            verdict.score >= truth,
            "{} is reported as at most {}",
            question.position.write_move(*m),
            verdict.score
        );
    }
}
