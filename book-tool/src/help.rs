//! The help of all commands: groups, a short form, and examples.

use std::fmt::Write;

use clap::Command;

/// The commands that a newcomer needs, each with a line of its own in the short help.
const FIRST: (&str, &[&str]) = (
    "First steps",
    &[
        "open", "analyze", "build", "query", "tree", "explore", "practice", "import", "export",
    ],
);

/// The other commands by group, a line for each group.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "Read a book",
        &[
            "pick",
            "stats",
            "suspects",
            "bottlenecks",
            "games",
            "transpositions",
            "priorities",
            "contents",
        ],
    ),
    (
        "Games, notes and moves",
        &["annotate", "annotations", "moves"],
    ),
    (
        "Care for a book",
        &[
            "merge", "diff", "prune", "compact", "check", "repair", "backup", "restore", "journal",
        ],
    ),
    ("Compiled books", &["books", "compile"]),
    ("Proofs", &["verify", "shrink"]),
    ("Engines", &["brain", "tables"]),
    (
        "Servers",
        &["serve", "jobs", "workers", "certs", "token", "doctor"],
    ),
    ("Development", &["perft", "bench", "man", "completions"]),
];

/// The flags with a short form, which every command that takes the flag accepts.
const SHORT_FLAGS: &[(&str, char)] = &[
    ("book", 'b'),
    ("variant", 'v'),
    ("moves", 'm'),
    ("format", 'f'),
    ("out", 'o'),
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

/// The groups of commands, the first steps first.
pub fn groups() -> impl Iterator<Item = &'static (&'static str, &'static [&'static str])> {
    std::iter::once(&FIRST).chain(OTHERS)
}

/// Arranges the help of a command and of all below it: commands in groups, examples at the end,
/// advanced options and the list of all commands in the long help alone. Adds the short flags.
pub(crate) fn arrange(command: Command) -> Command {
    let first = command_list(&command, std::iter::once(&FIRST));
    let mut others = String::new();
    for (group, names) in OTHERS {
        // Writing to memory cannot fail.
        let _ = writeln!(others, "  {group:<16} {}", names.join(", "));
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{first}\n\
         More commands; `kagetsu COMMAND -h` explains one:\n{others}\n\
         Options:\n{{options}}{{after-help}}"
    );
    let all = command_list(&command, OTHERS);
    let command = shorten(command).help_template(template);
    match command.get_after_help().map(ToString::to_string) {
        Some(example) => command.after_long_help(format!("{all}\n{example}")),
        None => command.after_long_help(all),
    }
}

/// Lists commands by group, each with the first line of its help.
fn command_list<'a>(
    command: &Command,
    groups: impl IntoIterator<Item = &'a (&'a str, &'a [&'a str])>,
) -> String {
    let about = |name: &&str| {
        let command = command.find_subcommand(name)?;
        Some(format!("  {name:<14} {}\n", command.get_about()?))
    };
    let list = |(group, names): &(&str, &[&str])| {
        let lines: String = names.iter().filter_map(about).collect();
        format!("{group}:\n{lines}")
    };
    let lists: Vec<String> = groups.into_iter().map(list).collect();
    lists.join("\n")
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
            let short = SHORT_FLAGS
                .iter()
                .find(|(name, _)| argument.get_long() == Some(name));
            let argument = match short {
                Some((_, short)) => argument.short(*short),
                None => argument,
            };
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
        let mut grouped: Vec<&str> = groups().flat_map(|(_, names)| *names).copied().collect();
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
    fn help_of_the_program_fits_a_screen() {
        const MAX_LINES: usize = 45;
        let help = crate::command().render_help().to_string();
        let lines = help.lines().count();
        assert!(lines <= MAX_LINES, "{lines} lines\n{help}");
        assert_eq!(FIRST.1.len(), 9);
        for (group, names) in groups() {
            let missing = names.iter().find(|name| !help.contains(**name));
            assert!(
                help.contains(group) && missing.is_none(),
                "{missing:?}\n{help}"
            );
        }
        let wide = help.lines().filter(|line| line.len() > 100).count();
        assert_eq!(wide, 0, "{help}");
    }

    fn flags<'a>(command: &'a Command, out: &mut Vec<&'a clap::Arg>) {
        out.extend(command.get_arguments());
        for below in command.get_subcommands() {
            flags(below, out);
        }
    }

    #[test]
    fn frequent_flags_have_a_short_form() {
        let command = crate::command();
        let mut all = Vec::new();
        flags(&command, &mut all);
        for (long, short) in SHORT_FLAGS {
            let taken = all.iter().filter(|flag| flag.get_long() == Some(long));
            let shorts: Vec<_> = taken.map(|flag| flag.get_short()).collect();
            assert!(!shorts.is_empty(), "--{long}");
            assert!(
                shorts.iter().all(|found| *found == Some(*short)),
                "--{long}"
            );
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
