use alloc::vec::Vec;

use crate::{Game, Move};

/// Counts the lines of `depth` moves, the usual test of a move generator. Endings that come from the history (repetition,
/// a limit of plies) do not stop a line, endings on the board do: the numbers agree with those that other programs publish.
///
/// The last ply is counted and not played ([`Game::count_on_board`]), so that the cost is that of the plies before it.
///
/// ```
/// use kagetsu_game::{Game, Variant, perft, xiangqi::Xiangqi};
///
/// assert_eq!(perft(&mut Xiangqi::start(Variant::XIANGQI), 3), 79_666);
/// ```
pub fn perft<G: Game>(game: &mut G, depth: u32) -> u64 {
    walk(game, depth, &mut Vec::new())
}

/// [`perft`] after each move of the position, in the game's own order. Empty for a depth of 0.
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

/// `stack` holds the moves of all plies above this one, so that a walk allocates but once.
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
