use std::collections::BTreeSet;

use crate::SourceFile;
use crate::sentences::StyleFault;

/// Flags of other programs that messages and help texts name, and the example of a flag.
const FOREIGN: [&str; 7] = [
    "bench",
    "example",
    "features",
    "help",
    "package",
    "release",
    "some-name",
];

/// Returns the places outside tests that name a flag as `--flag` which no program declares.
pub fn unknown_flags(sources: &[SourceFile]) -> Vec<StyleFault> {
    let mut declared: BTreeSet<String> = FOREIGN.map(String::from).into();
    for source in sources {
        declared.extend(declared_flags(&source.text));
    }
    let is_program = |source: &&SourceFile| {
        let mut folders = source.path.split('/');
        !folders.any(|folder| matches!(folder, "tests" | "tests.rs" | "examples"))
    };
    let mut faults = Vec::new();
    for source in sources.iter().filter(is_program) {
        let code = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let unknown = named_flags(line).filter(|flag| !declared.contains(*flag));
            faults.extend(unknown.map(|flag| StyleFault {
                path: source.path.clone(),
                line: number + 1,
                text: format!("--{flag}"),
            }));
        }
    }
    faults
}

/// Returns the names after `--` in a line.
fn named_flags(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("--").filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let name = line[at + 2..].split(|letter| !is_word(letter)).next()?;
        let begins = name.starts_with(|letter: char| letter.is_ascii_lowercase());
        (begins && !before.is_some_and(is_word)).then_some(name)
    })
}

/// Returns the flags that a source declares: for clap by attributes or calls, and of settings.
fn declared_flags(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for begin in ["flag: Some(\"", "Arg::new(\"", ".long(\""] {
        let rest = text.split(begin).skip(1);
        found.extend(rest.filter_map(|rest| Some(rest.split('"').next()?.to_string())));
    }
    for rest in text.split("#[arg(").skip(1) {
        let mut depth = 1;
        let is_end = |letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth == 0
        };
        let Some(end) = rest.find(is_end) else {
            continue;
        };
        let (attribute, field) = rest.split_at(end);
        for words in attribute.split(',').map(str::trim) {
            let named = words
                .strip_prefix("long = ")
                .or_else(|| words.strip_prefix("alias = "));
            if let Some(name) = named {
                found.push(name.trim_matches('"').to_string());
            } else if words == "long" {
                found.extend(field_name(field));
            }
        }
    }
    found
}

/// Returns the name of the field behind an attribute as a flag.
fn field_name(text: &str) -> Option<String> {
    let mut lines = text.lines().skip(1).map(str::trim);
    let line = lines.find(|line| !line.starts_with('#') && !line.starts_with("//"))?;
    let name = line.split(':').next()?.rsplit(' ').next()?;
    Some(name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declared_flags_may_be_named() {
        let source = |path: &str, text: &str| SourceFile {
            path: path.into(),
            text: text.into(),
        };
        let declaring = "#[arg(long, value_name = \"(N)\")]\npub engine_patience: u8,\n\
            #[arg(\n    long = \"time\",\n    default_value = \"1s\"\n)]\ntime: u8,\n";
        let naming = "// --time, --engine-patience and --help\n// --engine-stall_timeout, a--b\n";
        let faults = unknown_flags(&[
            source("a/src/args.rs", declaring),
            source("a/src/lib.rs", naming),
            source("a/tests/all.rs", "--nothing"),
        ]);
        let found: Vec<_> = faults
            .iter()
            .map(|fault| (fault.line, &*fault.text))
            .collect();
        assert_eq!(found, [(2, "--engine-stall_timeout")]);
    }
}
