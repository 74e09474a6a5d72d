//! The commands `completions` and `man`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Command;
use kagetsu_program::{Exit, shown};

/// Prints a completion script for a shell
///
/// Example: kagetsu completions bash > /etc/bash_completion.d/kagetsu
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the manual page of the program, or writes those of all commands
///
/// Without DIR it prints the page of `kagetsu` itself. With DIR it writes a page for every command,
/// as in kagetsu-jobs-list.1.
///
/// Example: kagetsu man /usr/local/share/man/man1
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder for the pages, which is created if missing
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn completions(
    args: &CompletionsArgs,
    mut command: Command,
    out: &mut dyn Write,
) -> Result<Exit> {
    // The generator panics on a closed pipe, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "kagetsu", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Done)
}

pub(crate) fn man(args: &ManArgs, command: Command, out: &mut dyn Write) -> Result<Exit> {
    let Some(folder) = &args.folder else {
        page(&command).render(&mut &mut *out)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut pages = 0;
    write_pages(&command, "", folder, &mut pages)?;
    writeln!(out, "{}: {pages} pages", shown(folder))?;
    Ok(Exit::Done)
}

/// Writes the page of a command and of all below it.
fn write_pages(command: &Command, path: &str, folder: &Path, pages: &mut usize) -> Result<()> {
    let name = format!("{path}{}", command.get_name());
    let file = folder.join(format!("{name}.1"));
    let mut bytes = Vec::new();
    page(
        &command
            .clone()
            .name(name.clone())
            .bin_name(name.replace('-', " ")),
    )
    .render(&mut bytes)?;
    std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    *pages += 1;
    for below in command.get_subcommands() {
        write_pages(below, &format!("{name}-"), folder, pages)?;
    }
    Ok(())
}

fn page(command: &Command) -> clap_mangen::Man {
    // The page would name a page of the command `help`, which does not exist.
    let command = command.clone().disable_help_subcommand(true);
    clap_mangen::Man::new(command)
}
