//! The command `kagetsu`.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use book_tool::Cli;
use mimalloc::MiMalloc;

/// With the system's allocator a book server spends a third of its time on memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu", || {
        // The settings of `kagetsu bench` are those of another program.
        let mut arguments = std::env::args_os().skip(1);
        if arguments.next().is_some_and(|first| first == "bench") {
            return book_tool::run_beside(arguments);
        }
        let cli: Cli = kagetsu_program::parse()?;
        let mut out = std::io::BufWriter::new(std::io::stdout());
        let exit = cli.run(&mut out)?;
        out.flush()?;
        Ok(exit)
    })
}
