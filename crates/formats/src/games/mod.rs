//! Games: as trees, as text, and counted into answers.

pub(crate) mod book_tree;
pub(crate) mod pass;
pub(crate) mod sgf_stones;
pub(crate) mod tally;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod words;
