use alloc::vec::Vec;

use crate::{Game, Move};

/// Counts the lines of `depth` moves, the usual test of a move generator. Endings on the board stop
/// a line; endings that come from the history (a repetition, a limit of plies) do not, so the
/// numbers agree with published ones.
///
/// The last ply is counted without being played ([`Game::count_on_board`]).
///
/// ```
/// use kagetsu_game::{Game, Variant, perft, xiangqi::Xiangqi};
///
/// assert_eq!(perft(&mut Xiangqi::start(Variant::XIANGQI), 3), 79_666);
/// ```
pub fn perft<G: Game>(game: &mut G, depth: u32) -> u64 {
    walk(game, depth, &mut Vec::new())
}

/// Returns [`perft`] after each move of the position, in the game's own order; empty for depth 0.
pub fn divide<G: Game>(game: &mut G, depth: u32) -> Vec<(Move, u64)> {
    let Some(rest) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let mut moves = Vec::new();
    game.moves_on_board(&mut moves);
    let count = |m| {
        game.play(m);
        let count = perft(game, rest);
        game.undo();
        (m, count)
    };
    moves.into_iter().map(count).collect()
}

/// Counts recursively. `stack` holds the moves of all plies above, so that the walk allocates once.
fn walk<G: Game>(game: &mut G, depth: u32, stack: &mut Vec<Move>) -> u64 {
    match depth {
        0 => return 1,
        1 => return game.count_on_board(),
        _ => {}
    }
    let base = stack.len();
    game.moves_on_board(stack);
    let mut count = 0;
    for index in base..stack.len() {
        game.play(stack[index]);
        count += walk(game, depth - 1, stack);
        game.undo();
    }
    stack.truncate(base);
    count
}
