//! The settings of a build as flags, made from the list of its fields.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use kagetsu_book::{BUILD_FIELDS, BuildField, FieldKind, REGISTRY};
use serde_json::{Map, Value};

/// The settings that were given on the command line, by their names in JSON.
#[derive(Clone, Debug, Default)]
pub(super) struct SettingArguments(pub(super) Map<String, Value>);

/// The heading in the help of all settings that are rarely needed.
const ADVANCED: &str = "Advanced settings";

/// The fields that have a flag of their own.
fn fields() -> impl Iterator<Item = (&'static BuildField, &'static str)> {
    BUILD_FIELDS
        .iter()
        .filter_map(|field| Some((field, field.flag?)))
}

/// The help's text about the value of an absent flag.
fn default_text(field: &BuildField) -> String {
    let general = field.default_value();
    let own = REGISTRY.iter().filter_map(|policy| {
        let defaults = policy.info().defaults;
        let (_, value) = defaults.iter().find(|(name, _)| *name == field.name)?;
        Some(format!("{value} with {policy}"))
    });
    let own: Vec<String> = own.collect();
    match (field.kind, &general) {
        (FieldKind::Switch, _) => String::new(),
        (_, Value::Null) if own.is_empty() => String::new(),
        (_, Value::Null) => format!(" [default: {}]", own.join(", ")),
        (_, Value::String(text)) => format!(" [default: {text}]"),
        (_, number) => format!(" [default: {number}]"),
    }
}

fn argument((field, flag): (&'static BuildField, &'static str)) -> Arg {
    let range = field.range();
    let range = if range.is_empty() {
        range
    } else {
        format!(",{range}")
    };
    let help = format!("{}{range}{}", field.help, default_text(field));
    let mut argument = Arg::new(field.name).long(flag).help(help);
    if !field.is_basic {
        argument = argument.help_heading(ADVANCED);
    }
    if matches!(field.kind, FieldKind::Switch) {
        return argument.action(ArgAction::SetTrue);
    }
    let name = if field.unit.is_empty() {
        field.name
    } else {
        field.unit
    };
    let argument = argument
        .value_name(name.to_uppercase())
        .allow_negative_numbers(true);
    let choices = field.choices();
    if choices.is_empty() {
        return argument.value_parser(move |text: &str| field.parse(text));
    }
    let choices = choices
        .into_iter()
        .map(|(name, help)| PossibleValue::new(name).help(help));
    argument.value_parser(PossibleValuesParser::new(choices).map(Value::from))
}

impl Args for SettingArguments {
    fn augment_args(command: Command) -> Command {
        fields().map(argument).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (field, _) in fields() {
            let value = match field.kind {
                FieldKind::Switch => matches.get_flag(field.name).then_some(Value::Bool(true)),
                _ => matches.get_one::<Value>(field.name).cloned(),
            };
            if let Some(value) = value {
                self.0.insert(field.name.into(), value);
            }
        }
        Ok(())
    }
}
