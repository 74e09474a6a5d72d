use kagetsu_game::{Notation, Position};

/// A part of a result as a terminal shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextBlock {
    /// A line of text.
    Line(String),
    /// A remark beside the result, for stderr.
    Note(String),
    /// A table.
    Table {
        /// The heads of the columns.
        heads: Vec<&'static str>,
        /// The columns that stand on the right.
        right: Vec<usize>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

impl TextBlock {
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Self::Line(text.into())
    }

    /// A table whose columns from `first` to `last` stand on the right.
    pub(crate) fn table<const N: usize>(
        heads: [&'static str; N],
        right: impl IntoIterator<Item = usize>,
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Self {
        Self::Table {
            heads: heads.to_vec(),
            right: right.into_iter().collect(),
            rows: rows.into_iter().map(Vec::from).collect(),
        }
    }
}

/// Writes a move of a result in a notation.
pub(crate) fn write_move(position: &Position, name: &str, notation: Notation) -> String {
    match position.parse_move(name) {
        Ok(m) => position.write_move_in(m, notation),
        Err(_) => name.into(),
    }
}
