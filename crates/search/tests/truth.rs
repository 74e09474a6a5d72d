//! Every mate that the engine claims is confirmed by an exhaustive solver.

use std::collections::HashMap;

use kagetsu_builders::undated;
use kagetsu_game::gomoku::{Caro, Freestyle, Gomoku, Renju, Rule, Standard};
use kagetsu_game::{
    Bound, Claim, Effort, Game, Move, Outcome, Position, Proof, Question, Score, Variant,
};
use kagetsu_search::{Control, Engine, EngineOptions};
use proptest::prelude::*;

/// Whether the side to move can force five within `plies`: every move is tried, no pattern is
/// known.
fn wins<R: Rule>(game: &mut Gomoku<R>, plies: u16, seen: &mut HashMap<(u64, u16), bool>) -> bool {
    let key = (game.hash(), plies);
    if let Some(&known) = seen.get(&key) {
        return known;
    }
    let me = game.side();
    let found = plies > 0
        && legal(game).into_iter().any(|m| {
            after(game, m, |game| match game.outcome() {
                Some(outcome) => outcome == Outcome::Win(me),
                None => plies > 2 && loses(game, plies - 1, seen),
            })
        });
    seen.insert(key, found);
    found
}

/// Whether the side to move loses within `plies` after every move.
fn loses<R: Rule>(game: &mut Gomoku<R>, plies: u16, seen: &mut HashMap<(u64, u16), bool>) -> bool {
    legal(game).into_iter().all(|m| {
        after(game, m, |game| {
            game.outcome().is_none() && wins(game, plies - 1, seen)
        })
    })
}

fn legal<R: Rule>(game: &Gomoku<R>) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

fn after<R: Rule, T>(game: &mut Gomoku<R>, m: Move, look: impl FnOnce(&mut Gomoku<R>) -> T) -> T {
    game.play(m);
    let found = look(game);
    game.undo();
    found
}

/// A mate as the engine claims it, confirmed or refuted.
fn is_true<R: Rule>(position: &Position, m: Move, proof: Proof) -> bool {
    let mut game: Gomoku<R> = position.game();
    let me = game.side();
    after(&mut game, m, |game| match (proof.claim, game.outcome()) {
        (Claim::Win, Some(outcome)) => outcome == Outcome::Win(me) && proof.plies == 1,
        (Claim::Win, None) => loses(game, proof.plies - 1, &mut HashMap::new()),
        (Claim::Loss, None) => wins(game, proof.plies - 1, &mut HashMap::new()),
        (Claim::Draw, outcome) => outcome == Some(Outcome::Draw),
        (Claim::Loss, Some(_)) => false,
    })
}

fn engine() -> Engine {
    Engine::new(EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    })
    .expect("a small engine")
}

fn confirm<R: Rule>(position: &Position, depth: u8) -> Result<u32, TestCaseError> {
    let question = Question {
        width: 3,
        ..Question::new(position.clone(), Effort::depth(depth))
    };
    let answer = engine()
        .answer(&question, &Control::new(), &mut |_| {})
        .expect("supported");
    prop_assert_eq!(answer.is_empty(), position.outcome().is_some());
    let mut confirmed = 0;
    for (m, verdict) in answer.verdicts() {
        prop_assert!(verdict.line.first().is_none_or(|first| first == m));
        let line = [position.moves(), &verdict.line].concat();
        prop_assert!(
            Position::new(position.variant(), position.setup().cloned(), &line).is_ok(),
            "an illegal line"
        );
        prop_assert_eq!(
            verdict.score.is_mate(),
            verdict
                .proof
                .is_some_and(|proof| proof.claim != Claim::Draw)
        );
        let Some(proof) = verdict.proof else { continue };
        prop_assert_eq!(proof.score(), verdict.score);
        prop_assert_eq!(verdict.bound, Bound::Exact);
        // Trying everything takes too long beyond five plies.
        if proof.plies <= 5 {
            prop_assert!(
                is_true::<R>(position, *m, proof),
                "{position}: {} {proof:?}",
                position.write_move(*m)
            );
            confirmed += 1;
        }
    }
    // A loss is only complete with every legal move.
    if answer
        .best()
        .is_some_and(|(_, v)| v.proof.is_some_and(|proof| proof.claim == Claim::Loss))
    {
        let known: Vec<_> = answer.verdicts().iter().map(|(m, _)| *m).collect();
        let known: std::collections::BTreeSet<_> = position
            .children(&known)
            .iter()
            .map(|child| child.key)
            .collect();
        let legal = position.children(&position.legal_moves());
        prop_assert!(
            legal.iter().all(|child| known.contains(&child.key)),
            "{position}: not every move is covered"
        );
    }
    Ok(confirmed)
}

/// Stones thrown into the middle of a small board, so that there is much to threaten.
fn crowded(name: &'static str) -> impl Strategy<Value = Position> {
    let variant: Variant = name.parse().expect("a variant");
    proptest::collection::vec(any::<prop::sample::Index>(), 6..22).prop_map(move |picks| {
        let mut position = Position::start(variant);
        for pick in picks {
            let legal = position.legal_moves();
            if legal.is_empty() {
                break;
            }
            position = position.play(*pick.get(&legal)).expect("legal");
        }
        position
    })
}

/// Returns the number of positions to try; `KAGETSU_CASES` raises it.
fn cases(few: u32) -> u32 {
    std::env::var("KAGETSU_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(few)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100)))]

    #[test]
    fn freestyle_mates_are_confirmed(position in crowded("freestyle-6"), depth in 1u8..5) {
        confirm::<Freestyle>(&position, depth)?;
    }

    #[test]
    fn standard_mates_are_confirmed(position in crowded("standard-7"), depth in 1u8..4) {
        confirm::<Standard>(&position, depth)?;
    }

    #[test]
    fn renju_mates_are_confirmed(position in crowded("renju-7"), depth in 1u8..4) {
        confirm::<Renju>(&position, depth)?;
    }

    #[test]
    fn caro_mates_are_confirmed(position in crowded("caro-7"), depth in 1u8..4) {
        confirm::<Caro<false>>(&position, depth)?;
    }

    #[test]
    fn caro_mates_with_overlines_are_confirmed(position in crowded("caro-overline-7"), depth in 1u8..4) {
        confirm::<Caro<true>>(&position, depth)?;
    }

    #[test]
    fn answer_does_not_depend_on_earlier_questions(
        position in crowded("freestyle-9"), other in crowded("freestyle-9"), depth in 1u8..5,
    ) {
        let question = Question { width: 2, ..Question::new(position, Effort::depth(depth)) };
        let fresh = engine().answer(&question, &Control::new(), &mut |_| {}).expect("supported");
        let mut used = engine();
        used.answer(&Question::new(other, Effort::depth(4)), &Control::new(), &mut |_| {}).expect("supported");
        let again = used.answer(&question, &Control::new(), &mut |_| {}).expect("supported");
        prop_assert_eq!(undated(&again), undated(&fresh));
    }

    #[test]
    fn the_table_changes_no_value(position in crowded("freestyle-9"), depth in 1u8..4) {
        let with = |table_bytes| {
            let options = EngineOptions { table_bytes, leaf_fours: 0, selective: false, ..EngineOptions::default() };
            let question = Question { width: 2, ..Question::new(position.clone(), Effort::depth(depth)) };
            let answer = Engine::new(options).expect("an engine").answer(&question, &Control::new(), &mut |_| {});
            answer.expect("supported").best().map(|(_, v)| v.score)
        };
        let (on, off) = (with(1 << 20), with(0));
        // A proof in the table may be deeper than the search.
        let is_proof = on.is_some_and(kagetsu_game::Score::is_mate);
        prop_assert!(on == off || is_proof, "{on:?} with the table, {off:?} without");
    }

    #[test]
    fn an_image_of_a_position_has_the_same_value(position in crowded("freestyle-9"), symmetry in 1u8..8) {
        let variant = position.variant();
        let image: Vec<Move> =
            position.moves().iter().map(|&m| variant.image(m, kagetsu_game::Symmetry::new(symmetry))).collect();
        let image = Position::new(variant, None, &image).expect("as legal");
        // All candidates and no fours by a budget: which of two equal ones is left out depends on
        // how the board lies.
        let plain = EngineOptions { selective: false, ..EngineOptions::default() };
        let options = EngineOptions { candidates: 400, leaf_fours: 0, table_bytes: 0, ..plain };
        let value = |position: Position| {
            let question = Question::new(position, Effort::depth(2));
            let answer = Engine::new(options).expect("an engine").answer(&question, &Control::new(), &mut |_| {});
            answer.expect("supported").best().map(|(_, v)| v.score)
        };
        prop_assert_eq!(value(position), value(image));
    }
}

#[test]
fn a_search_that_is_stopped_at_once_still_answers() {
    let control = Control::new();
    control.stop();
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9 h9").expect("legal");
    let answer = engine()
        .answer(
            &Question::new(position, Effort::depth(9)),
            &control,
            &mut |_| {},
        )
        .expect("supported");
    assert!(answer.best().is_some());
}

#[test]
fn reply_beyond_the_candidates_saves() {
    // After e5 the candidates of both sides lose somewhere in the tree, but other moves do not.
    let line = "g6 k7 l7 g5 f9 h7 h5 f7 g7 j6 g10 g9 e8 h11 h8 e6 e10 f8 h10 f10 e11 e9 f6 i9 d11 \
                c12 f11 g11 c11 b11 d4";
    let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
    let question = Question::new(position, Effort::depth(12));
    let answer = engine()
        .answer(&question, &Control::new(), &mut |_| {})
        .expect("supported");
    let (_, best) = answer.best().expect("a move");
    assert!(best.score > -Score::OPINION_MAX, "{best:?}");
}

#[test]
fn more_threads_find_a_move_too() {
    let options = EngineOptions {
        threads: 3,
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    };
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 a1 i8 a15 j8 o1").expect("legal");
    let question = Question::new(position, Effort::depth(4));
    let answer =
        Engine::new(options)
            .expect("threads")
            .answer(&question, &Control::new(), &mut |_| {});
    assert_eq!(
        answer
            .expect("supported")
            .best()
            .and_then(|(_, v)| v.score.win_plies()),
        Some(3)
    );
}
