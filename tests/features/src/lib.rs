//! Names the features of other crates that the whole workspace turns on. The checks of a part of
//! the workspace and of the Python package build this crate too, so that they share what is
//! compiled already. It has no code.
