//! Tests of the contract between questions and answers.

use std::collections::BTreeSet;

use kagetsu_builders::undated;
use kagetsu_game::{
    Answer, Bound, Claim, Effort, Move, Position, Question, Score, Variant, Window,
};
use kagetsu_search::{Control, Engine, EngineError, EngineOptions, Progress, ThreadSplit, shallow};
use proptest::prelude::*;
use proptest::sample::Index;

const SMALL: EngineOptions = EngineOptions {
    threads: 1,
    table_bytes: 1 << 20,
    constants: kagetsu_search::Constants::Own,
    neighbourhood: kagetsu_search::Neighbourhood::Square24,
    candidates: 20,
    seed: true,
    leaf_fours: 8,
    selective: false,
    vct: true,
    split: ThreadSplit::Shared,
    end_tables: 0,
    evaluation: None,
};

fn ask(options: EngineOptions, question: &Question) -> Answer {
    let mut engine = Engine::new(options).expect("an engine");
    engine
        .answer(question, &Control::new(), &mut |_| {})
        .expect("supported and legal")
}

/// Positions of a game's first moves, where little is decided.
fn position() -> impl Strategy<Value = Position> {
    prop::collection::vec(any::<Index>(), 0..10).prop_map(|picks| {
        let mut position = Position::start("freestyle-9".parse().expect("a variant"));
        for pick in picks {
            position = position
                .play(*pick.get(&position.legal_moves()))
                .expect("legal");
        }
        position
    })
}

fn is_fact(answer: &Answer) -> bool {
    answer
        .verdicts()
        .iter()
        .any(|(_, verdict)| verdict.proof.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_best_are_exact_and_the_others_stand_below_them(position in position(), width in 1u16..6, depth in 1u8..5) {
        prop_assume!(position.outcome().is_none());
        let answer = ask(SMALL, &Question { width, ..Question::new(position, Effort::depth(depth)) });
        prop_assume!(!is_fact(&answer));
        let verdicts = answer.verdicts();
        let (best, others) = verdicts.split_at(usize::from(width).min(verdicts.len()));
        prop_assert!(best.iter().all(|(m, v)| v.bound == Bound::Exact && v.depth == depth && v.line.first() == Some(m)));
        let last = best.last().map(|(_, v)| v.score);
        prop_assert!(others.iter().all(|(_, v)| v.bound == Bound::Upper && Some(v.score) == last && v.line.is_empty()));
    }

    #[test]
    fn a_wider_question_finds_the_same_values(position in position(), width in 2u16..6, depth in 1u8..4) {
        // On an empty board the width selects the moves.
        prop_assume!(position.outcome().is_none() && !position.moves().is_empty());
        // Without what depends on the order of the search: table and fours by a budget.
        let options = EngineOptions { table_bytes: 0, leaf_fours: 0, ..SMALL };
        let values = |width| {
            let answer = ask(options, &Question { width, ..Question::new(position.clone(), Effort::depth(depth)) });
            answer.verdicts().iter().take(width.into()).map(|(_, v)| v.score).collect::<Vec<_>>()
        };
        let (one, all) = (values(1), values(width));
        prop_assert_eq!(one.first(), all.first());
        prop_assert!(all.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn the_moves_asked_about_have_verdicts_and_no_others(
        position in position(), picks in prop::collection::vec(any::<Index>(), 1..6), depth in 1u8..4,
    ) {
        prop_assume!(position.outcome().is_none());
        let legal = position.legal_moves();
        let moves: Vec<Move> = picks.iter().map(|pick| *pick.get(&legal)).collect();
        let answer = ask(SMALL, &Question { moves: moves.clone(), ..Question::new(position, Effort::depth(depth)) });
        let known: BTreeSet<Move> = answer.verdicts().iter().map(|(m, _)| *m).collect();
        let requested: BTreeSet<Move> = moves.into_iter().collect();
        let is_won = answer.best().is_some_and(|(_, v)| v.proof.is_some_and(|proof| proof.claim == Claim::Win));
        prop_assert!(known == requested || is_won && known.is_subset(&requested));
    }

    #[test]
    fn threads_change_no_value_and_lose_no_move(
        position in position(), threads in 2usize..5, depth in 1u8..4, seeded in any::<bool>(),
    ) {
        prop_assume!(position.outcome().is_none());
        let split = if seeded { ThreadSplit::Seeded } else { ThreadSplit::Shared };
        let ask = |threads| {
            let options = EngineOptions { threads, split, table_bytes: 0, leaf_fours: 0, ..SMALL };
            ask(options, &Question::new(position.clone(), Effort::depth(depth)))
        };
        let (one, many) = (ask(1), ask(threads));
        let moves = |answer: &Answer| answer.verdicts().iter().map(|(m, _)| *m).collect::<BTreeSet<_>>();
        prop_assert_eq!(one.best().map(|(_, v)| v.score), many.best().map(|(_, v)| v.score));
        prop_assert_eq!(moves(&one), moves(&many));
    }

    #[test]
    fn narrow_window_bounds_the_value(position in position(), alpha in -300i32..300, depth in 1u8..4) {
        prop_assume!(position.outcome().is_none());
        let options = EngineOptions { table_bytes: 0, leaf_fours: 0, ..SMALL };
        let question = Question::new(position, Effort::depth(depth));
        let whole = ask(options, &question);
        let value = whole.best().expect("a move").1.score;
        let (alpha, beta) = (Score::opinion(alpha), Score::opinion(alpha + 50));
        let answer = ask(options, &Question { window: Window { alpha, beta }, ..question });
        let (_, best) = answer.best().expect("a move");
        match best.bound {
            Bound::Exact => prop_assert_eq!(best.score, value),
            Bound::Lower => prop_assert!(best.score <= value && best.score >= beta),
            Bound::Upper => prop_assert!(best.score >= value && value <= alpha),
        }
    }

    #[test]
    fn node_limit_holds_and_answers_repeat(position in position(), nodes in 1u64..5_000) {
        prop_assume!(position.outcome().is_none());
        let effort = Effort { nodes: Some(nodes), ..Effort::depth(20) };
        let question = Question::new(position, effort);
        let answer = ask(SMALL, &question);
        prop_assert!(answer.best().is_some());
        prop_assert!(answer.nodes() <= nodes + 1 + answer.len() as u64 || is_fact(&answer));
        prop_assert_eq!(undated(&answer), undated(&ask(SMALL, &question)));
    }
}

#[test]
fn the_2_ply_search_knows_every_candidate_exactly() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 f6 i7 g5").expect("legal");
    let answer = shallow(&position).expect("supported");
    assert_eq!(answer.len(), EngineOptions::default().candidates);
    assert!(
        answer
            .verdicts()
            .iter()
            .all(|(_, v)| v.is_exact() && v.depth == 2)
    );
    assert!(
        answer
            .verdicts()
            .is_sorted_by(|(_, a), (_, b)| a.score >= b.score)
    );
}

#[test]
fn the_first_stone_is_set_in_the_middle() {
    let answer = ask(
        SMALL,
        &Question::new(Position::start(Variant::FREESTYLE_15), Effort::depth(2)),
    );
    let start = Position::start(Variant::FREESTYLE_15);
    assert_eq!(
        answer.best().map(|(m, _)| start.write_move(m)).as_deref(),
        Some("h8")
    );
}

#[test]
fn symmetric_moves_are_searched_once() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
    let options = EngineOptions {
        candidates: 400,
        ..SMALL
    };
    let answer = ask(options, &Question::new(position.clone(), Effort::depth(2)));
    // The 24 cells within two of the centre make 5 classes under symmetry.
    assert_eq!(answer.len(), 5);
    let known: Vec<Move> = answer.verdicts().iter().map(|(m, _)| *m).collect();
    let keys: BTreeSet<_> = position
        .children(&known)
        .iter()
        .map(|child| child.key)
        .collect();
    assert_eq!(keys.len(), 5);
}

#[test]
fn kept_table_saves_positions_until_cleared() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9 j7 h9").expect("legal moves");
    let mut engine = Engine::new(EngineOptions::default())
        .expect("memory")
        .with_kept_table();
    let mut ask = |clear: bool| {
        if clear {
            engine.clear_table();
        }
        let question = Question::new(position.clone(), Effort::depth(9));
        let answer = engine.answer(&question, &Control::new(), &mut |_| {});
        answer.expect("gomoku")
    };
    let (first, again, cleared) = (ask(false), ask(false), ask(true));
    assert!(
        again.nodes() < first.nodes(),
        "{} {}",
        again.nodes(),
        first.nodes()
    );
    assert_eq!(undated(&cleared), undated(&first));
}

#[test]
fn progress_ends_with_the_answer() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 f6 i7").expect("legal");
    let mut reports: Vec<Progress> = Vec::new();
    let mut engine = Engine::new(SMALL).expect("an engine");
    let question = Question::new(position, Effort::depth(4));
    let control = Control::new();
    let answer = engine
        .answer(&question, &control, &mut |progress| {
            reports.push(progress.clone())
        })
        .expect("supported");
    assert_eq!(
        reports
            .iter()
            .map(|progress| progress.depth)
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!(
        reports.last().map(|progress| &progress.answer),
        Some(&answer)
    );
    assert!(reports.is_sorted_by(|a, b| a.nodes < b.nodes));
    assert!(control.nodes() > 0 && control.nodes() <= reports[3].nodes);
}

#[test]
fn stopped_search_keeps_the_last_iteration() {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 f6 i7").expect("legal");
    let control = Control::new();
    let mut last = Answer::new();
    let mut engine = Engine::new(SMALL).expect("an engine");
    let answer = engine.answer(
        &Question::new(position, Effort::depth(40)),
        &control,
        &mut |progress| {
            if progress.depth == 3 {
                control.stop();
            }
            last = progress.answer.clone();
        },
    );
    assert_eq!(answer.expect("supported"), last);
    assert!(last.verdicts().iter().all(|(_, v)| v.depth == 3));
}

#[test]
fn every_game_is_answered() {
    for name in [
        "freestyle-15",
        "standard-9",
        "renju-15",
        "caro-15",
        "caro-overline-20",
        "xiangqi",
        "xiangqi-chase",
        "surakarta",
        "surakarta-20",
    ] {
        let variant: Variant = name.parse().expect("a variant");
        assert!(Engine::supports(variant));
        assert!(
            !ask(
                SMALL,
                &Question::new(Position::start(variant), Effort::depth(1))
            )
            .is_empty(),
            "{name}"
        );
    }
}

#[test]
fn unanswerable_questions_are_refused() {
    let mut engine = Engine::new(SMALL).expect("an engine");
    let mut ask = |question: &Question| engine.answer(question, &Control::new(), &mut |_| {});
    let position = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
    let taken = position.moves().to_vec();
    let refused = ask(&Question {
        moves: taken,
        ..Question::new(position, Effort::depth(1))
    });
    assert_eq!(refused, Err(EngineError::IllegalMove("h8".into())));
    assert_eq!(
        Engine::new(EngineOptions {
            threads: 0,
            ..SMALL
        })
        .err(),
        Some(EngineError::NoThreads)
    );
}

#[test]
fn a_finished_game_has_an_empty_answer() {
    let position =
        Position::from_line(Variant::FREESTYLE_15, "h8 a1 h9 a2 h10 a3 h11 a4 h12").expect("legal");
    assert!(ask(SMALL, &Question::new(position, Effort::depth(3))).is_empty());
}

#[test]
fn table_larger_than_memory_is_refused() {
    let refused = Engine::new(EngineOptions {
        table_bytes: 1 << 60,
        ..EngineOptions::default()
    })
    .err();
    assert_eq!(refused, Some(EngineError::Table(1 << 60)));
}
