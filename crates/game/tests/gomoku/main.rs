//! Gomoku's three rules against tables of judged positions and against slow, plain twins of the fast code.

mod data;
mod definition;
mod dice;
mod forbidden;
