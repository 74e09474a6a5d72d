use kagetsu_game::gomoku::MAX_SIZE;

/// Bits left free at both ends of a line, so that no window of 11 leaves its word.
const MARGIN: u32 = 5;

/// Rows, columns and the two kinds of diagonals of the largest board.
pub(super) const LINES: usize = 2 * MAX_SIZE + 2 * (2 * MAX_SIZE - 1);

/// The line through a cell in each direction, and the cell's place on it: bit `place + 5`.
pub(super) const fn places(x: usize, y: usize) -> [(usize, u32); 4] {
    const RISING: usize = 2 * MAX_SIZE;
    const FALLING: usize = 4 * MAX_SIZE - 1;
    let column = x as u32;
    [(y, column), (MAX_SIZE + x, y as u32), (RISING + x + MAX_SIZE - 1 - y, column), (FALLING + x + y, column)]
}

/// The bit of a place.
pub(super) const fn bit(place: u32) -> u32 {
    1 << (place + MARGIN)
}

/// From one cell of a line to the next.
pub(super) const fn strides(size: usize) -> [isize; 4] {
    let size = size as isize;
    [1, size, size + 1, 1 - size]
}
