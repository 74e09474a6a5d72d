//! Benchmarks of the gomoku board: `cargo bench -p kagetsu-game --bench gomoku`.
//!
//! The position has 30 stones, as in the middle of a game.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kagetsu_game::gomoku::{Freestyle, Gomoku, Renju, Rule};
use kagetsu_game::{Game, Move, Position, Symmetry, Variant};

const LINE: &str = "h8 i9 h9 h10 g8 i8 f8 e8 i10 g7 f9 g10 f10 f7 e9 i11 d10 c11 g12 e10 j9 h7 k8 h6 i6 j7 e6 k11 e12 l6";

fn board<R: Rule>(variant: Variant) -> Gomoku<R> {
    Position::from_line(variant, LINE)
        .expect("a legal line")
        .game()
}

fn play_and_undo<R: Rule>(criterion: &mut Criterion, variant: Variant) {
    let mut board = board::<R>(variant);
    let mut moves = Vec::new();
    board.moves(&mut moves);
    criterion.bench_function(
        &format!("{variant}: play and undo each of {} moves", moves.len()),
        |bencher| {
            bencher.iter(|| {
                for &m in &moves {
                    board.play(m);
                    black_box(board.outcome());
                    board.undo();
                }
            });
        },
    );
}

fn boards(criterion: &mut Criterion) {
    play_and_undo::<Freestyle>(criterion, Variant::FREESTYLE_15);
    play_and_undo::<Renju>(criterion, Variant::RENJU_15);

    let renju = board::<Renju>(Variant::RENJU_15);
    criterion.bench_function("judge all 195 empty points", |bencher| {
        bencher.iter(|| {
            (0..225)
                .filter_map(|code| black_box(&renju).forbidden_at(Move::new(code)))
                .count()
        });
    });
    criterion.bench_function("judge one point that is a double three", |bencher| {
        let position = Position::from_line(Variant::RENJU_15, "i8 a1 j8 a15 h9 o1 h10 o15")
            .expect("a legal line");
        let (board, m) = (
            position.game::<Gomoku<Renju>>(),
            position.parse_move("h8").expect("an empty point"),
        );
        assert!(board.forbidden_at(m).is_some());
        bencher.iter(|| black_box(&board).forbidden_at(black_box(m)));
    });
    criterion.bench_function("pack", |bencher| {
        bencher.iter(|| black_box(&renju).pack(Symmetry::new(5)))
    });
    criterion.bench_function("unpack", |bencher| {
        let packed = renju.pack(Symmetry::IDENTITY);
        bencher.iter(|| Gomoku::<Renju>::unpack(Variant::RENJU_15, black_box(&packed)));
    });
}

fn positions(criterion: &mut Criterion) {
    let position = Position::from_line(Variant::FREESTYLE_15, LINE).expect("a legal line");
    criterion.bench_function("key, with the replay of 30 moves", |bencher| {
        bencher.iter(|| black_box(&position).key())
    });
    let moves = position.legal_moves();
    criterion.bench_function(
        &format!("canonical forms of {} children", moves.len()),
        |bencher| {
            bencher.iter(|| black_box(&position).children(&moves));
        },
    );
}

criterion_group!(benches, boards, positions);
criterion_main!(benches);
