//! Views of a book for people: its content in short, and how its jobs see a position.

pub(crate) mod overview;
mod roots;
pub(crate) mod scan;
pub(crate) mod standing;
pub(crate) mod suspects;
pub(crate) mod value_table;
mod way;
