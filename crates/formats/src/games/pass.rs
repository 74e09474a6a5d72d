use kagetsu_game::Position;

/// Returns the position after a pass, which the rules of the games do not have: the same stones,
/// set up with the other side to move. `None` where no stones can be set up.
pub(crate) fn passed(position: &Position) -> Option<Position> {
    let other = position.side().other();
    Position::from_stones(position.variant(), &position.stones()?, other).ok()
}
