//! Prints the reference of all commands, `docs/reference/commands.md`.
//!
//! `cargo run -p book-tool --example commands > docs/reference/commands.md`
#![allow(clippy::print_stdout, reason = "its output is a document")]

fn main() {
    print!("{}", book_tool::reference());
}
