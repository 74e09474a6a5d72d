//! The command `kagetsu`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use book_tool::Cli;
use clap::FromArgMatches;
use kagetsu_program::{Exit, Stdout, exit_with_usage};
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
        let command = book_tool::command();
        let mut arguments: Vec<OsString> = std::env::args_os().collect();
        // A file manager starts the program with a file alone, on a double click.
        if let [_, place] = &arguments[..]
            && command.find_subcommand(place).is_none()
            && Path::new(place).exists()
        {
            arguments.insert(1, "open".into());
        }
        let matches = kagetsu_program::parse_from(command, arguments)?
            .unwrap_or_else(|error| exit_with_usage(&error));
        let cli = Cli::from_arg_matches(&matches)
            .unwrap_or_else(|error| exit_with_usage(&error.format(&mut book_tool::command())));
        let mut out = BufWriter::new(Stdout::default());
        let ended = cli.run(&mut out).and_then(|exit| {
            out.flush()?;
            Ok(exit)
        });
        // A reader that stops reading has seen enough.
        if out.get_ref().is_closed() {
            return Ok(Exit::Done);
        }
        ended
    })
}
