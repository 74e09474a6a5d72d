//! Laws of the board: what is kept up to date is what a fresh look would find.

use std::collections::BTreeSet;

use kagetsu_game::gomoku::{Caro, Freestyle, Gomoku, Renju, Rule, Standard};
use kagetsu_game::{Game, Move, Position, Score, Side, Variant};
use proptest::prelude::*;
use proptest::sample::Index;

use super::Board;
use super::patterns::kind::CellKind;
use super::threats::fours::{Completion, Fours};
use crate::heuristics::{Heuristics, Situation};
use crate::{EngineOptions, Neighbourhood};

fn start<R: Rule>(size: u8) -> Gomoku<R> {
    Gomoku::start(Variant::Gomoku {
        rule: R::NAME,
        size,
    })
}

fn legal<R: Rule>(game: &Gomoku<R>) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

/// Plays and takes back as the picks say, about three moves forth for one back, and hands out every
/// board on the way.
fn walk<R: Rule>(
    size: u8,
    picks: &[(Index, bool)],
    mut look: impl FnMut(&Board<R>, &Gomoku<R>) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut game = start::<R>(size);
    let mut board = Board::<R>::new(&game, &EngineOptions::default());
    for (pick, back) in picks {
        let moves = legal(&game);
        if moves.is_empty() || *back && !game.history().is_empty() {
            game.undo();
            board.undo();
        } else {
            let m = *pick.get(&moves);
            game.play(m);
            board.play(m);
        }
        look(&board, &game)?;
    }
    Ok(())
}

fn picks(most: usize) -> impl Strategy<Value = Vec<(Index, bool)>> {
    prop::collection::vec((any::<Index>(), prop::bool::weighted(0.25)), 1..most)
}

fn is_as_new<R: Rule>(board: &Board<R>, game: &Gomoku<R>) -> Result<(), TestCaseError> {
    let new = Board::<R>::new(game, &EngineOptions::default());
    prop_assert_eq!(board.situation(), new.situation());
    prop_assert_eq!(board.hash(), new.hash());
    prop_assert_eq!(board.facts(), new.facts());
    if game.outcome().is_none() {
        prop_assert_eq!(board.evaluate(), new.evaluate());
        prop_assert_eq!(board.moves(&Situation::Free), new.moves(&Situation::Free));
        prop_assert_eq!(board.moves(&board.situation()), new.moves(&new.situation()));
    }
    Ok(())
}

/// The board of fours sees what the other board sees, after a four and its answer too.
fn has_the_same_fours<R: Rule>(board: &Board<R>, game: &Gomoku<R>) -> Result<(), TestCaseError> {
    let me = game.side();
    if game.outcome().is_some() || board.count(me, CellKind::Five) > 0 {
        return Ok(());
    }
    let mut fours = Fours::new(board);
    let mut pairs = Vec::new();
    for cell in board.empty().iter() {
        let points: BTreeSet<usize> = board.completions(me, cell).into_iter().collect();
        match fours.completion(cell) {
            Completion::None => prop_assert!(points.is_empty()),
            Completion::One(point) => {
                prop_assert!(points.iter().eq([&usize::from(point)]));
                pairs.push((cell, usize::from(point)));
            }
            Completion::Two(a, b) => {
                prop_assert!(a != b && [a, b].iter().all(|&point| points.contains(&point.into())))
            }
        }
        prop_assert_eq!(fours.is_forbidden(me, cell), board.is_forbidden(me, cell));
    }
    for (four, answer) in pairs {
        let mut after = board.clone();
        after.play_cell(four);
        after.play_cell(answer);
        prop_assert_eq!(fours.hash_after(four, answer), after.hash());
        fours.put(four, answer);
        let counters = after
            .cells_of(me.other(), |kind| kind == CellKind::Five)
            .iter()
            .count();
        if board.count(me.other(), CellKind::Five) == 0 {
            let found = match fours.fives(me.other(), answer) {
                Completion::None => 0,
                Completion::One(_) => 1,
                Completion::Two(..) => 2,
            };
            prop_assert_eq!(found, counters.min(2));
        }
        let beside: BTreeSet<usize> = fours.cells_beside(four).into_iter().collect();
        for cell in after.empty().iter().filter(|cell| !beside.contains(cell)) {
            let before = board.completions(me, cell);
            let is_new = after
                .completions(me, cell)
                .iter()
                .any(|point| !before.contains(point));
            prop_assert!(!is_new, "a new four is overlooked");
        }
        fours.put(four, answer);
    }
    Ok(())
}

/// Where fives can be closed, the stops of a side's fives are the cells after which it has none,
/// two completion points win because nothing stops both, and the board of fours sees only fours
/// with one stop.
fn stops_leave_no_five<R: Rule>(board: &Board<R>, game: &Gomoku<R>) -> Result<(), TestCaseError> {
    if game.outcome().is_some() {
        return Ok(());
    }
    let (me, other) = (game.side(), game.side().other());
    let mut board = board.clone();
    let true_stops = |board: &mut Board<R>, side: Side| {
        let stops = board.empty().iter().filter(|&cell| {
            let mut after = board.clone();
            if after.side() == side {
                after.pass();
            }
            after.play_cell(cell);
            after.count(side, CellKind::Five) == 0
        });
        stops.collect::<Vec<usize>>()
    };
    for side in [me, other] {
        if board.count(side, CellKind::Five) > 0 {
            let stops: Vec<usize> = board.stops(side).iter().collect();
            prop_assert_eq!(stops, true_stops(&mut board, side));
        }
    }
    if board.count(me, CellKind::Five) > 0 {
        return Ok(());
    }
    let fours = Fours::new(&board);
    for cell in board.empty().iter() {
        let kind = board.kind(me, cell);
        let found = fours.completion(cell);
        board.play_cell(cell);
        let is_four = board.count(me, CellKind::Five) > 0;
        let stops = if is_four {
            true_stops(&mut board, me)
        } else {
            Vec::new()
        };
        board.undo_cell();
        prop_assert_eq!(
            (is_four, stops.is_empty()),
            (kind.is_four(), !kind.is_four() || kind == CellKind::Winning)
        );
        match found {
            Completion::None => prop_assert!(stops.len() != 1 || !is_four),
            Completion::One(point) => {
                prop_assert!(is_four && stops.iter().all(|&stop| stop == usize::from(point)))
            }
            Completion::Two(..) => prop_assert!(is_four && stops.is_empty()),
        }
    }
    Ok(())
}

/// Every move that is not among the replies to a line of fours loses to it as it stands.
fn other_replies_lose<R: Rule>(board: &Board<R>, game: &Gomoku<R>) -> Result<(), TestCaseError> {
    let me = game.side();
    if game.outcome().is_some()
        || [me, me.other()]
            .iter()
            .any(|&side| board.count(side, CellKind::Five) > 0)
    {
        return Ok(());
    }
    let mut board = board.clone();
    let Some(line) = board.find_threat(&mut 64) else {
        return Ok(());
    };
    let replies = board.replies_to(&line);
    for m in legal(game)
        .into_iter()
        .filter(|m| !replies.contains(m.index()))
    {
        prop_assert!(board.still_wins(m, &line), "{m:?} against {line:?}");
    }
    let searched: Vec<Move> = legal(game).into_iter().step_by(2).collect();
    let (plies, others) = board.other_replies(&mut 64, &searched).expect("the same");
    prop_assert_eq!(usize::from(plies), line.len() + 1);
    let others: BTreeSet<Move> = others.sorted().into_iter().collect();
    let unsearched = legal(game).into_iter().filter(|m| !searched.contains(m));
    let expected: BTreeSet<Move> = unsearched.filter(|m| replies.contains(m.index())).collect();
    prop_assert_eq!(others, expected);
    Ok(())
}

proptest! {
    #[test]
    fn only_replies_stop_a_line_of_fours(picks in picks(90), size in 6u8..=12) {
        walk::<Freestyle>(size, &picks, other_replies_lose)?;
        walk::<Standard>(size, &picks, other_replies_lose)?;
        walk::<Renju>(size, &picks, other_replies_lose)?;
        walk::<Caro<false>>(size, &picks, other_replies_lose)?;
        walk::<Caro<true>>(size, &picks, other_replies_lose)?;
    }

    #[test]
    fn closed_fives_are_seen_alike(picks in picks(45), size in 6u8..=12) {
        walk::<Caro<false>>(size, &picks, stops_leave_no_five)?;
        walk::<Caro<true>>(size, &picks, stops_leave_no_five)?;
    }

    #[test]
    fn fours_are_seen_alike(picks in picks(90), size in 6u8..=16) {
        walk::<Freestyle>(size, &picks, has_the_same_fours)?;
        walk::<Standard>(size, &picks, has_the_same_fours)?;
        walk::<Renju>(size, &picks, has_the_same_fours)?;
    }

    #[test]
    fn play_and_undo_keep_what_a_new_board_would_find(picks in picks(120), size in 5u8..=22) {
        walk::<Freestyle>(size, &picks, is_as_new)?;
        walk::<Standard>(size, &picks, is_as_new)?;
        walk::<Renju>(size, &picks, is_as_new)?;
        walk::<Caro<false>>(size, &picks, is_as_new)?;
    }

    #[test]
    fn forbidden_points_of_renju_are_known(picks in picks(90), size in 5u8..=15) {
        walk::<Renju>(size, &picks, |board, game| {
            for cell in board.empty().iter() {
                let is_forbidden = game.forbidden_at(Move::new(cell as u16)).is_some();
                prop_assert_eq!(board.is_forbidden(Side::First, cell), is_forbidden);
                prop_assert!(!board.is_forbidden(Side::Second, cell));
            }
            let lost = game.outcome() == Some(kagetsu_game::Outcome::Win(Side::Second));
            prop_assert!(!lost || matches!(board.situation(), Situation::Over(score) if score == Score::loss_in(0)));
            Ok(())
        })?;
    }

    #[test]
    fn evaluation_is_symmetric_between_sides(picks in picks(60)) {
        let mut game = start::<Freestyle>(11);
        for (pick, _) in &picks {
            let moves = legal(&game);
            if moves.is_empty() { break }
            game.play(*pick.get(&moves));
        }
        prop_assume!(game.outcome().is_none());
        let swapped = swapped(&game);
        let options = EngineOptions::default();
        let (board, other) = (Board::new(&game, &options), Board::new(&swapped, &options));
        prop_assert_eq!(board.evaluate(), other.evaluate());
        prop_assert_eq!(board.situation(), other.situation());
        prop_assert_eq!(board.moves(&Situation::Free), other.moves(&Situation::Free));
    }

    #[test]
    fn candidates_are_the_cells_near_stones(picks in picks(30), size in 5u8..=19) {
        let mut game = start::<Freestyle>(size);
        for (pick, _) in &picks {
            let moves = legal(&game);
            if moves.is_empty() { break }
            game.play(*pick.get(&moves));
        }
        prop_assume!(game.outcome().is_none());
        for neighbourhood in [Neighbourhood::Paper12, Neighbourhood::Square24] {
            let options = EngineOptions { neighbourhood, candidates: 500, ..EngineOptions::default() };
            let mut found = Board::new(&game, &options).moves(&Situation::Free).sorted();
            found.sort_unstable();
            let offsets = neighbourhood.offsets();
            let place = |m: Move| (m.index() as i32 % i32::from(size), m.index() as i32 / i32::from(size));
            let is_near = |m: &Move| {
                game.history().iter().any(|&stone| {
                    let ((x, y), (sx, sy)) = (place(*m), place(stone));
                    offsets.iter().any(|&(dx, dy)| (x - sx, y - sy) == (i32::from(dx), i32::from(dy)))
                })
            };
            let near: Vec<Move> = legal(&game).into_iter().filter(is_near).collect();
            prop_assert!(found == near || near.is_empty(), "{:?}", neighbourhood);
        }
    }
}

/// The same stones with the colours exchanged, and the other side to move.
fn swapped(game: &Gomoku<Freestyle>) -> Gomoku<Freestyle> {
    let size = usize::from(game.size());
    let letter = |cell: &Option<Side>| match cell {
        Some(Side::First) => 'O',
        Some(Side::Second) => 'X',
        None => '.',
    };
    let rows: Vec<String> = game
        .cells()
        .chunks(size)
        .rev()
        .map(|row| row.iter().map(letter).collect())
        .collect();
    let position =
        Position::from_board(game.variant(), &rows.join("\n"), Some(game.side().other()));
    position.expect("a drawn board").game()
}

#[test]
fn a_symmetric_board_is_even_but_for_the_move() {
    let board = Board::<Freestyle>::new(&start(15), &EngineOptions::default());
    assert!((Score::ZERO..Score::opinion(500)).contains(&board.evaluate()));
}

#[test]
fn threats_force_exactly_their_answers() {
    fn check_by<R: Rule>(line: &str, situation: Situation, moves: &[&str]) {
        let position = Position::from_line(start::<R>(15).variant(), line).expect("legal");
        let board = Board::<R>::new(&position.game(), &EngineOptions::default());
        assert_eq!(board.situation(), situation, "{line}");
        let mut found: Vec<String> = board
            .moves(&situation)
            .sorted()
            .iter()
            .map(|&m| position.write_move(m))
            .collect();
        found.sort();
        assert!(
            situation == Situation::Free || found == moves,
            "{line}: {found:?}"
        );
    }
    let check = check_by::<Freestyle>;
    // __XXX__: a stone one step away from it leaves the open four on the other side.
    check(
        "g8 a1 h8 a3 i8",
        Situation::Forced { otherwise: 4 },
        &["f8", "j8"],
    );
    // O_XXX__: three answers.
    check(
        "g8 e8 h8 a3 i8",
        Situation::Forced { otherwise: 4 },
        &["f8", "j8", "k8"],
    );
    // _X_XX_: the gap and both ends.
    check(
        "f8 a1 h8 a3 i8",
        Situation::Forced { otherwise: 4 },
        &["e8", "g8", "j8"],
    );
    // OXXXX_: the one completion point.
    check(
        "g8 f8 h8 a3 i8 a5 j8",
        Situation::Forced { otherwise: 2 },
        &["k8"],
    );
    // Where OXXXXXO is no five: a stone beside the five answers a four, and one beside a five of
    // the open four takes the other.
    let check = check_by::<Caro<false>>;
    let four = Situation::Forced { otherwise: 2 };
    check("g8 f8 h8 a3 i8 a5 j8", four, &["k8", "l8"]);
    check("b8 a8 c8 f8 d8 a5 e8", Situation::Free, &[]);
    // The edge closes nothing.
    check("a8 a3 b8 f8 c8 c5 e8", four, &["d8"]);
    check("g8 f8 h8 l8 i8 a5 j8", Situation::Free, &[]);
    let three = Situation::Forced { otherwise: 4 };
    check("g8 a1 h8 a3 i8", three, &["e8", "f8", "j8", "k8"]);
}
