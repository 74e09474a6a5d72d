use super::geometry::has_crossed;
use super::{Board, Kind, Piece, SQUARES, Square, Squares};
use crate::{Chase, Outcome, Side};

/// The common features of a side's moves in a stretch.
struct Habit {
    /// Every move gave check.
    checks: bool,
    /// The pieces that every move chased, by their points at the beginning.
    chases: Squares,
}

/// Judges a repetition. `board` is the repeated position, `side` is to move in it, and `stretch`
/// are the moves (from, to) since its first occurrence, which include no capture.
#[must_use]
pub fn judge(board: &Board, side: Side, stretch: &[(Square, Square)], chase: Chase) -> Outcome {
    let [first, second] = habits(board, side, stretch);
    let chases = |habit: &Habit| chase == Chase::Simple && !habit.chases.is_empty();
    match (first.checks, second.checks) {
        (true, false) => Outcome::Win(Side::Second),
        (false, true) => Outcome::Win(Side::First),
        (true, true) => Outcome::Draw,
        (false, false) => match (chases(&first), chases(&second)) {
            (true, false) => Outcome::Win(Side::Second),
            (false, true) => Outcome::Win(Side::First),
            _ => Outcome::Draw,
        },
    }
}

/// Returns the habits by side. The position is the same at both ends of the stretch, so the walk
/// starts from this board.
fn habits(board: &Board, mut side: Side, stretch: &[(Square, Square)]) -> [Habit; 2] {
    let mut board = board.clone();
    // The original point of the piece on each point.
    let mut origins: [Option<Square>; SQUARES] = core::array::from_fn(Square::new);
    let mut habits = [(); 2].map(|()| Habit {
        checks: true,
        chases: Squares::ALL,
    });
    for &(from, to) in stretch {
        board.shift(from, to);
        origins[to.index()] = origins[from.index()].take();
        let checks = board.is_in_check(side.other());
        let chased = if checks {
            Squares::NONE
        } else {
            chased(&board, to)
        };
        let habit = &mut habits[side.index()];
        habit.checks &= checks;
        habit.chases &= chased
            .into_iter()
            .filter_map(|square| origins[square.index()])
            .collect();
        side = side.other();
    }
    habits
}

/// Returns the pieces that the piece on `hunter`, which has just moved there, chases.
fn chased(board: &Board, hunter: Square) -> Squares {
    let Some(piece) = board.at(hunter) else {
        return Squares::NONE;
    };
    let attacked = board.targets(hunter, piece) & board.side(piece.side.other());
    attacked
        .into_iter()
        .filter(|&prey| is_chased(board, hunter, piece, prey))
        .collect()
}

fn is_chased(board: &Board, hunter: Square, piece: Piece, prey: Square) -> bool {
    let Some(victim) = board.at(prey) else {
        return false;
    };
    let is_free = || !board.is_protected(prey, victim.side, hunter);
    match (piece.kind, victim.kind) {
        (Kind::Horse | Kind::Cannon, Kind::Rook) => true,
        (Kind::Horse | Kind::Rook, Kind::Cannon) | (Kind::Cannon | Kind::Rook, Kind::Horse) => {
            is_free()
        }
        (Kind::Horse | Kind::Cannon | Kind::Rook, Kind::Soldier) => {
            has_crossed(victim.side, prey.rank()) && is_free()
        }
        _ => false,
    }
}
