use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Id, Parser};
use kagetsu_files::read_text;
use kagetsu_game::quote_message;
use toml::{Table, Value};

/// The heading in the help of the options that every program has.
pub const COMMON_HEADING: &str = "Log and settings";

/// Reads a program's settings from its arguments, its environment and its settings file; exits as
/// clap does on `--help` and wrong usage. See [`parse_from`].
///
/// # Errors
/// A settings file that cannot be used.
pub fn parse<C: Parser>() -> Result<C> {
    let matches = parse_from(C::command(), std::env::args_os().collect())?
        .unwrap_or_else(|error| exit_with_usage(&error));
    Ok(C::from_arg_matches(&matches)
        .unwrap_or_else(|error| exit_with_usage(&error.format(&mut C::command()))))
}

/// Prints a message of clap and exits as it says. An error repeats arguments, variables and
/// settings files, so it is printed without escape sequences, those of colours included.
pub fn exit_with_usage(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render().to_string();
    let quoted = quote_message(&text).to_string();
    // If stderr is closed, no reader is left.
    let _ = std::io::stderr().write_all(quoted.as_bytes());
    std::process::exit(error.exit_code());
}

/// Reads arguments. Every flag `--some-name`, of the program and of each of its commands, is also
/// the environment variable `KAGETSU_SOME_NAME` and the key `some-name` of the TOML file that
/// `--config FILE` (or `KAGETSU_CONFIG`) names. The order is: flag, environment, file, default; a
/// variable, or a key, does not count where a flag is given that excludes it. An unknown key is an
/// error.
///
/// # Errors
/// Outer: a settings file that cannot be used. Inner: wrong usage, or `--help`.
pub fn parse_from(
    command: Command,
    arguments: Vec<OsString>,
) -> Result<Result<clap::ArgMatches, clap::Error>> {
    let mut command = command.arg(
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .global(true)
            .value_parser(clap::value_parser!(PathBuf))
            .env("KAGETSU_CONFIG")
            .help_heading(COMMON_HEADING)
            .hide_short_help(true)
            .help("A TOML file with settings; its keys are the flags' long names"),
    );
    let mut arguments = arguments;
    if has_flag(&command, "coordinator") {
        arguments = with_address_files(arguments);
        command = with_address_file_flag(command).arg(
            Arg::new("cluster")
                .long("cluster")
                .value_name("NAME")
                .global(true)
                .env("KAGETSU_CLUSTER")
                .help_heading(COMMON_HEADING)
                .hide_short_help(true)
                .help("Connects as [cluster.NAME] of the settings file says: address, token-file, tls-ca ..."),
        );
    }
    // The settings file decides which arguments may be missing, so that errors are reported by the
    // whole command below.
    let given = command
        .clone()
        .ignore_errors(true)
        .try_get_matches_from(&arguments)
        .ok();
    let path = given
        .as_ref()
        .and_then(|given| given.get_one::<PathBuf>("config"));
    let name = given
        .as_ref()
        .and_then(|given| given.try_get_one::<String>("cluster").ok()?);
    let file = path
        .map(|path| read(path, &command))
        .transpose()?
        .unwrap_or_default();
    if let Some(path) = std::env::var_os("KAGETSU_COORDINATOR_FILE") {
        let address = format!("file:{}", path.to_string_lossy());
        let place = vec![("coordinator".into(), vec![address])];
        insert(&mut arguments, connection(&command, given.as_ref(), &place));
    }
    if let Some(name) = name {
        let cluster = cluster(&file, name, path)?;
        insert(
            &mut arguments,
            connection(&command, given.as_ref(), cluster),
        );
    }
    let matches =
        with_sources(command, &file.flags, given.as_ref()).try_get_matches_from(arguments);
    Ok(matches.map_err(in_plain_words))
}

/// Inserts flags behind those that are given.
fn insert(arguments: &mut Vec<OsString>, added: Vec<OsString>) {
    let end = arguments.iter().position(|argument| argument == "--");
    let end = end.unwrap_or(arguments.len());
    arguments.splice(end..end, added);
}

/// Adds `--coordinator-file` to every command with `--coordinator`.
fn with_address_file_flag(command: Command) -> Command {
    let takes_address = |arg: &Arg| arg.get_long() == Some("coordinator");
    let file = command.get_arguments().any(takes_address).then(|| {
        Arg::new("coordinator-file")
            .long("coordinator-file")
            .value_name("FILE")
            .help_heading("Connection")
            .help("File whose first line is the coordinator's URL, instead of --coordinator; it is read for every connection, so that the coordinator may start later or move")
    });
    command.args(file).mut_subcommands(with_address_file_flag)
}

/// Writes `--coordinator-file FILE` as `--coordinator=file:FILE`.
fn with_address_files(arguments: Vec<OsString>) -> Vec<OsString> {
    const FLAG: &str = "--coordinator-file";
    let mut written = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let path = match text.strip_prefix(FLAG) {
            Some("") => arguments.next_if(|next| next != "--"),
            Some(rest) => rest.strip_prefix('=').map(OsString::from),
            None => None,
        };
        if argument == "--" {
            written.push(argument);
            written.extend(arguments);
            return written;
        }
        written.push(path.map_or(argument.clone(), |path| {
            format!("--coordinator=file:{}", path.to_string_lossy()).into()
        }));
    }
    written
}

/// Returns the named connection of a settings file.
fn cluster<'a>(file: &'a SettingsFile, name: &str, path: Option<&PathBuf>) -> Result<&'a Flags> {
    let found = file.clusters.iter().find(|(known, _)| known == name);
    found.map(|(_, flags)| flags).with_context(|| {
        let place = path.map_or_else(
            || "a settings file: give --config FILE or KAGETSU_CONFIG".into(),
            |path| format!("the settings file {}", path.display()),
        );
        let names: Vec<&str> = file.clusters.iter().map(|(name, _)| &**name).collect();
        let known = match &names[..] {
            [] => String::new(),
            names => format!("; the file has {}", names.join(", ")),
        };
        format!(
            "there is no [cluster.{name}] in {place}; it holds address, token-file, tls-ca, \
             tls-cert and tls-key{known}"
        )
    })
}

/// Returns the flags of a named connection that the given command takes, and that the command line
/// neither gives nor excludes. A command without `--coordinator` reads the cluster's book.
fn connection(command: &Command, given: Option<&ArgMatches>, cluster: &Flags) -> Vec<OsString> {
    let (mut command, mut given) = (command, given);
    while let Some((name, below)) = given.and_then(ArgMatches::subcommand) {
        let Some(chosen) = command.find_subcommand(name) else {
            break;
        };
        (command, given) = (chosen, Some(below));
    }
    let Some(given) = given else {
        return Vec::new();
    };
    let takes = |flag: &str| {
        let is_it = |argument: &&Arg| argument.get_long() == Some(flag);
        command.get_arguments().find(is_it)
    };
    let excluded = excluded(command, given);
    let is_open = |argument: &Arg| {
        let id = argument.get_id();
        !excluded.contains(id) && given.value_source(id.as_str()) != Some(ValueSource::CommandLine)
    };
    let reads_a_book = takes("coordinator").is_none() && takes("token-file").is_some();
    let address = if reads_a_book { "book" } else { "coordinator" };
    let mut added = Vec::new();
    for (key, values) in cluster {
        let flag = if key == ADDRESS { address } else { key };
        if takes(flag).is_some_and(is_open) {
            added.extend(
                values
                    .iter()
                    .map(|value| format!("--{flag}={value}").into()),
            );
        }
    }
    added
}

/// Replaces the parser's words about numbers by plain ones.
fn in_plain_words(error: clap::Error) -> clap::Error {
    const WORDS: [(&str, &str); 6] = [
        ("invalid digit found in string", "not a whole number"),
        (
            "cannot parse integer from empty string",
            "a number is missing",
        ),
        (
            "number too large to fit in target type",
            "the number is too large",
        ),
        (
            "number too small to fit in target type",
            "the number is too small",
        ),
        ("invalid float literal", "not a number"),
        (
            "invalid socket address syntax",
            "not an address with a port, as in 127.0.0.1:7615",
        ),
    ];
    let text = error.render().to_string();
    let Some((theirs, ours)) = WORDS.iter().find(|(theirs, _)| text.contains(theirs)) else {
        return error;
    };
    let text = text.replace(theirs, ours);
    let body = text.strip_prefix("error: ").unwrap_or(&text);
    clap::Error::raw(error.kind(), body)
}

/// Advice on paths of Windows.
const PATH_HINT: &str = "\nwrite a path with / in place of \\, or between single quotes";
/// The key for the URL in a named connection.
const ADDRESS: &str = "address";
/// The table of named connections.
const CLUSTERS: &str = "cluster";

/// Values of flags, by the flags' long names.
type Flags = Vec<(String, Vec<String>)>;

/// The content of a settings file.
#[derive(Default)]
struct SettingsFile {
    flags: Flags,
    /// The named connections.
    clusters: Vec<(String, Flags)>,
}

fn read(path: &Path, command: &Command) -> Result<SettingsFile> {
    let file = path.display();
    let text = read_text(path)
        .map_err(|error| anyhow!("cannot read the settings file {file}: {error}"))?;
    let hint = if text.contains('\\') { PATH_HINT } else { "" };
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
        let error = error.to_string();
        anyhow!(
            "the settings file {file} is not TOML: {}{hint}",
            error.trim_end()
        )
    })?;
    let mut clusters = Vec::new();
    if let Some(Value::Table(named)) = table.remove(CLUSTERS) {
        for (name, connection) in named {
            let Value::Table(connection) = connection else {
                bail!(unknown_key(path, &format!("{CLUSTERS}.{name}")));
            };
            let is_known = |key: &str| key == ADDRESS || has_flag(command, key);
            clusters.push((name, flags(path, connection, is_known)?));
        }
    }
    let is_known = |key: &str| has_flag(command, key) && key != "config" && key != CLUSTERS;
    Ok(SettingsFile {
        flags: flags(path, table, is_known)?,
        clusters,
    })
}

fn unknown_key(path: &Path, key: &str) -> String {
    let file = path.display();
    format!("the settings file {file} has the key '{key}', but there is no such flag; see --help")
}

/// Returns the values of a table whose keys are names of flags.
fn flags(path: &Path, table: Table, is_known: impl Fn(&str) -> bool) -> Result<Flags> {
    let setting = |(key, value): (String, Value)| {
        ensure!(is_known(&key), unknown_key(path, &key));
        let values = match value {
            Value::Array(values) => values.into_iter().map(scalar).collect(),
            value => scalar(value).map(|value| vec![value]),
        };
        let values = values.with_context(|| {
            format!(
                "the settings file {}: '{key}' must be a string without control characters, a \
                 number, true, false, or a list of them{PATH_HINT}",
                path.display()
            )
        })?;
        Ok((key, values))
    };
    table.into_iter().map(setting).collect()
}

fn scalar(value: Value) -> Option<String> {
    match value {
        // In double quotes the `\b` of `D:\books` is such a character.
        Value::String(text) => Some(text).filter(|text| !text.contains(char::is_control)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

fn has_flag(command: &Command, name: &str) -> bool {
    command
        .get_arguments()
        .any(|arg| arg.get_long() == Some(name))
        || command
            .get_subcommands()
            .any(|command| has_flag(command, name))
}

/// Adds environment and file to the arguments. `given` is the command line, as far as it can be
/// parsed.
fn with_sources(command: Command, file: &Flags, given: Option<&ArgMatches>) -> Command {
    let excluded = given
        .map(|given| excluded(&command, given))
        .unwrap_or_default();
    let below = |name: &str| {
        let (chosen, given) = given?.subcommand()?;
        (chosen == name).then_some(given)
    };
    command
        .mut_args(|arg| {
            if excluded.contains(arg.get_id()) {
                arg
            } else {
                with_source(arg, file)
            }
        })
        .mut_subcommands(|command| {
            let given = below(command.get_name());
            with_sources(command, file, given)
        })
}

/// Returns the arguments that exclude one that the command line gives.
fn excluded(command: &Command, given: &ArgMatches) -> BTreeSet<Id> {
    let ids: BTreeSet<&Id> = given.ids().collect();
    let is_given = |arg: &Arg| {
        let id = arg.get_id();
        ids.contains(id) && given.value_source(id.as_str()) == Some(ValueSource::CommandLine)
    };
    let mut excluded = BTreeSet::new();
    for arg in command.get_arguments() {
        for other in command.get_arg_conflicts_with(arg) {
            // One of two arguments that exclude each other says so.
            excluded.extend(is_given(arg).then(|| other.get_id().clone()));
            excluded.extend(is_given(other).then(|| arg.get_id().clone()));
        }
    }
    excluded
}

fn with_source(arg: Arg, file: &Flags) -> Arg {
    let Some(name) = arg.get_long().map(ToString::to_string) else {
        return arg;
    };
    if matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    ) {
        return arg;
    }
    // A negative number is a wrong value; clap would take it for another flag.
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let arg = if takes_value {
        arg.allow_negative_numbers(true)
    } else {
        arg
    };
    let arg = arg
        .env(format!("KAGETSU_{}", name.to_uppercase().replace('-', "_")))
        .hide_env(true);
    match file.iter().find(|(key, _)| *key == name) {
        Some((_, values)) => arg.required(false).default_values(values.clone()),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use clap::FromArgMatches;

    use super::*;

    #[derive(Debug, Parser)]
    struct ExampleProgram {
        #[command(subcommand)]
        command: Sub,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Sub {
        Go {
            #[arg(long)]
            how_far: u32,
            #[arg(long)]
            quick: bool,
            #[arg(long)]
            stop: Vec<String>,
        },
    }

    fn go(toml: &str, arguments: &[&str]) -> Result<(u32, bool, Vec<String>), String> {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(toml.as_bytes()).expect("room for it");
        let path = file.path().to_str().expect("a plain name");
        let all = [&["program", "--config", path, "go"], arguments].concat();
        let arguments = all.into_iter().map(OsString::from).collect();
        let matches = parse_from(
            <ExampleProgram as clap::CommandFactory>::command(),
            arguments,
        );
        let matches = matches
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        let Sub::Go {
            how_far,
            quick,
            stop,
        } = ExampleProgram::from_arg_matches(&matches)
            .expect("checked")
            .command;
        Ok((how_far, quick, stop))
    }

    #[test]
    fn flag_beats_file_and_file_beats_default() {
        assert_eq!(
            go("how-far = 3\nquick = true\nstop = ['a', 'b']", &[]),
            Ok((3, true, vec!["a".into(), "b".into()]))
        );
        assert_eq!(
            go("how-far = 3", &["--how-far", "7", "--stop", "c"]),
            Ok((7, false, vec!["c".into()]))
        );
        assert!(
            go("", &[])
                .expect_err("how-far is required")
                .contains("--how-far")
        );
    }

    #[test]
    fn unknown_keys_and_wrong_values_are_errors() {
        let negative = go("", &["--how-far", "-1"]).expect_err("less than nothing");
        assert!(
            negative.contains("'-1' for '--how-far") && negative.contains("not in 0"),
            "{negative}"
        );
        assert!(
            go("how-fat = 3", &[])
                .expect_err("misspelt")
                .contains("no such flag")
        );
        assert!(
            go("how-far = {a = 1}", &[])
                .expect_err("a table")
                .contains("must be a string")
        );
        assert!(
            go("how-far = 'x'", &[])
                .expect_err("no number")
                .contains("invalid")
        );
        for (text, says) in [
            ("how-far = ", "not TOML"),
            ("stop = \"D:\\games\"", "write a path with /"),
        ] {
            assert!(go(text, &[]).expect_err("no TOML").contains(says));
        }
    }

    /// Returns the long flags that `--cluster lab` adds to a command line.
    fn connected(arguments: &str) -> Result<Vec<String>, String> {
        let flag = |name: &'static str| Arg::new(name).long(name);
        let jobs = Command::new("jobs")
            .arg(flag("coordinator").conflicts_with("book"))
            .args([flag("book"), flag("token-file"), flag("tls-ca")]);
        let query = Command::new("query").args([flag("book"), flag("token-file")]);
        let check = Command::new("check").arg(flag("book"));
        let command = Command::new("program").subcommands([jobs, query, check]);
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text = "[cluster.lab]\naddress = 'https://lab:7615'\ntoken-file = 'lab.token'";
        file.write_all(text.as_bytes()).expect("room for it");
        let path = file.path().to_str().expect("a plain name");
        let all = format!("program --config {path} {arguments}");
        let matches = parse_from(command, all.split(' ').map(OsString::from).collect())
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        let (_, below) = matches.subcommand().expect("a command");
        let named = |id: &str| {
            let value = below.try_get_one::<String>(id).ok()??;
            Some(format!("{id} {value}"))
        };
        let flags = ["coordinator", "book", "token-file"];
        Ok(flags.into_iter().filter_map(named).collect())
    }

    #[test]
    fn named_connection_stands_for_its_flags() {
        let (url, token) = ("https://lab:7615", "token-file lab.token");
        for (arguments, wanted) in [
            (
                "--cluster lab jobs",
                vec![format!("coordinator {url}"), token.into()],
            ),
            (
                "query --cluster=lab",
                vec![format!("book {url}"), token.into()],
            ),
            ("--cluster lab check", vec![]),
            (
                "--cluster lab query --book b",
                vec!["book b".into(), token.into()],
            ),
            (
                "--cluster lab jobs --book b",
                vec!["book b".into(), token.into()],
            ),
            (
                "--cluster lab jobs --token-file t",
                vec![format!("coordinator {url}"), "token-file t".into()],
            ),
        ] {
            assert_eq!(connected(arguments), Ok(wanted), "{arguments}");
        }
        let error = connected("--cluster home jobs").expect_err("another name");
        assert!(
            error.contains("[cluster.home]") && error.contains("the file has lab"),
            "{error}"
        );
    }

    #[test]
    fn every_flag_has_its_variable() {
        let command = with_sources(
            <ExampleProgram as clap::CommandFactory>::command(),
            &Vec::new(),
            None,
        );
        let go = command.get_subcommands().next().expect("go");
        let names = go
            .get_arguments()
            .filter_map(|arg| arg.get_env())
            .collect::<Vec<_>>();
        assert_eq!(names, ["KAGETSU_HOW_FAR", "KAGETSU_QUICK", "KAGETSU_STOP"]);
    }
}
