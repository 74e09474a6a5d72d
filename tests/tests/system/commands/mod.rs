//! The commands of `kagetsu` on books and positions.

mod analyze;
mod bad_input;
mod build;
mod command_line;
mod compiled;
mod doctor;
mod foreign_text;
mod games;
mod maintenance;
mod merging;
mod proofs;
mod surakarta;
mod xiangqi;
