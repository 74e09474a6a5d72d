//! The help of all commands: groups, a short form, and examples.

use std::fmt::Write;

use clap::Command;

/// The groups of commands in the help, and the commands of each.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Analyse a position", &["analyze", "moves", "perft"]),
    ("Build a book", &["build", "jobs", "suspects"]),
    (
        "Read a book",
        &[
            "query",
            "pick",
            "tree",
            "explore",
            "practice",
            "stats",
            "bottlenecks",
        ],
    ),
    (
        "Books and games as files",
        &["import", "export", "annotate", "compile", "patch"],
    ),
    (
        "Care for a book",
        &[
            "merge", "diff", "prune", "compact", "check", "verify", "shrink", "repair", "backup",
            "restore", "journal",
        ],
    ),
    (
        "Run servers and engines",
        &["serve", "brain", "workers", "certs", "token", "doctor"],
    ),
    ("Other", &["bench", "completions", "man"]),
];

/// The headings of options that the short help leaves out.
const ADVANCED: &[&str] = &[
    "Advanced settings",
    "Connection",
    "Protection",
    kagetsu_program::COMMON_HEADING,
];

/// The beginning of the paragraph with an example.
const EXAMPLE: &str = "Example: ";

/// Arranges the help of a command and of all below it: commands in groups, examples at the end,
/// and advanced options in the long help alone.
pub(crate) fn arrange(command: Command) -> Command {
    let groups = command_list(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n\
         {{options}}{{after-help}}"
    );
    shorten(command).help_template(template)
}

/// Lists the commands by group, each with the first line of its help.
fn command_list(command: &Command) -> String {
    let mut list = String::new();
    for (group, names) in GROUPS {
        // Writing to memory cannot fail.
        let _ = writeln!(list, "{group}:");
        for name in *names {
            let about = command
                .find_subcommand(name)
                .and_then(Command::get_about)
                .map_or_else(String::new, ToString::to_string);
            let _ = writeln!(list, "  {name:<12} {about}");
        }
        list.push('\n');
    }
    list.truncate(list.trim_end().len());
    list.push('\n');
    list
}

fn shorten(command: Command) -> Command {
    let long = command.get_long_about().map(ToString::to_string);
    let split = long.as_deref().and_then(|long| {
        let (text, example) = long.rsplit_once(EXAMPLE)?;
        Some((text.trim_end().to_string(), format!("{EXAMPLE}{example}")))
    });
    let command = match split {
        Some((text, example)) => command.long_about(text).after_help(example),
        None => command,
    };
    command
        .mut_args(|argument| {
            let is_advanced = argument
                .get_help_heading()
                .is_some_and(|heading| ADVANCED.contains(&heading));
            if is_advanced {
                argument.hide_short_help(true)
            } else {
                argument
            }
        })
        .mut_subcommands(shorten)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &Command, path: &str, out: &mut Vec<(String, Command)>) {
        let own = format!("{path}{}", command.get_name());
        if !command.has_subcommands() {
            out.push((own, command.clone()));
            return;
        }
        for below in command.get_subcommands() {
            leaves(below, &format!("{own} "), out);
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = crate::command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        grouped.sort_unstable();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn every_help_has_an_example_and_fits_a_screen() {
        const MAX_SHORT_LINES: usize = 50;
        let mut all = Vec::new();
        leaves(&crate::command(), "", &mut all);
        for (name, mut command) in all {
            let short = command.render_help().to_string();
            let line = format!("Example: {name}");
            assert!(
                short.contains(&line) || short.contains("| kagetsu"),
                "{name}: {short}"
            );
            let lines = short.lines().count();
            assert!(lines <= MAX_SHORT_LINES, "{name}: {lines} lines\n{short}");
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 80, "{name}: '{about}'");
        }
    }

    #[test]
    fn short_help_leaves_out_connections_and_logging() {
        let mut command = crate::command();
        let query = command.find_subcommand_mut("query").expect("a command");
        let (short, long) = (
            query.render_help().to_string(),
            query.render_long_help().to_string(),
        );
        assert!(
            !short.contains("--tls-ca") && long.contains("--tls-ca"),
            "{long}"
        );
    }
}
