//! Prints the reference of all commands, `docs/reference/commands.md`.
//!
//! `cargo run -p book-tool --example commands > docs/reference/commands.md`
#![allow(clippy::print_stdout, reason = "its output is a document")]

use std::fmt::Write;

use clap::Command;

use book_tool::{command, groups};

/// The headings of options that the document describes once.
const SHARED_HEADINGS: [&str; 2] = ["Connection", kagetsu_program::COMMON_HEADING];
/// Columns of a help text in the document.
const COLUMNS: usize = 96;

/// Returns the reference of all commands in Markdown: docs/reference/commands.md.
fn reference() -> String {
    let root = command();
    let mut text = String::from(
        "# Commands\n\n\
         The help of every command. `kagetsu COMMAND -h` prints the short form, `--help` the long \
         one.\n`kagetsu man DIR` writes manual pages, `kagetsu completions SHELL` completions.\n\n\
         A flag `--some-name` is also the environment variable `KAGETSU_SOME_NAME`, and the key\n\
         `some-name` of the TOML file given by `--config`. A flag overrides the environment, and \
         the\nenvironment the file.\n\n\
         Exit codes: 0 done; 1 nothing found, or a failed check; 2 an error.\n\n\
         Commands that accept a coordinator's URL also take `--tls-ca`, `--tls-cert`, `--tls-key`,\n\
         `--token-file` and `--insecure`; every command takes `--log-level`, `--log-format` and\n\
         `--config`.\n",
    );
    for (group, names) in groups() {
        // Writing to memory cannot fail.
        let _ = write!(text, "\n## {group}\n");
        for name in *names {
            if let Some(command) = root.find_subcommand(name) {
                write_command(command, "kagetsu", &mut text);
            }
        }
    }
    text
}

fn write_command(command: &Command, path: &str, text: &mut String) {
    let name = format!("{path} {}", command.get_name());
    if command.has_subcommands() {
        for below in command.get_subcommands() {
            write_command(below, &name, text);
        }
        return;
    }
    let help = command
        .clone()
        .bin_name(name.clone())
        .term_width(COLUMNS)
        .disable_help_flag(true)
        .mut_args(|argument| {
            let is_shared = argument
                .get_help_heading()
                .is_some_and(|heading| SHARED_HEADINGS.contains(&heading));
            argument.hide(is_shared)
        })
        .render_long_help()
        .to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(
        text,
        "\n### {name}\n```text\n{}\n```\n",
        lines.join("\n").trim_end()
    );
}

fn main() {
    print!("{}", reference());
}

#[cfg(test)]
mod tests {
    #[test]
    fn document_is_current() {
        let written = include_str!("../../docs/reference/commands.md");
        assert!(
            written == super::reference(),
            "docs/reference/commands.md is not current; make it by \
             `cargo run -p book-tool --example commands > docs/reference/commands.md`"
        );
    }
}
