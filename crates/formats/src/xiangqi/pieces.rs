//! Boards of xiangqi as tables of letters.

/// The order in which Chinese programs list the 32 pieces.
pub(crate) struct PieceRow;

impl PieceRow {
    /// Red's pieces from one corner to the other, cannons and soldiers; then Black's.
    pub(crate) const STANDARD: &[u8; 32] = b"RNBAKABNRCCPPPPPrnbakabnrccppppp";
}

/// Writes a board as FEN: rows from the top, a letter or a point for each square.
pub(crate) fn fen(board: &[[char; 9]; 10], is_black: bool) -> String {
    let row = |row: &[char; 9]| {
        let mut text = String::new();
        for run in row.chunk_by(|one, next| *one == '.' && *next == '.') {
            match run[0] {
                '.' => text += &run.len().to_string(),
                piece => text.push(piece),
            }
        }
        text
    };
    let rows: Vec<String> = board.iter().map(row).collect();
    format!("{} {}", rows.join("/"), if is_black { 'b' } else { 'w' })
}
