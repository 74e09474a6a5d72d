use super::Point;

/// A line that an engine sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromEngine {
    /// A move, or several for an opening.
    Points(Vec<Point>),
    /// `SWAP`: the engine takes the other colour.
    Swap,
    /// `OK`, with any further text.
    Ok(String),
    /// A move that the engine suggests and does not play yet.
    Suggest(Point),
    /// A message for the user.
    Message(String),
    /// A message for the engine's author.
    Debug(String),
    /// The engine knows the command and cannot execute it.
    Error(String),
    /// The engine does not know the command.
    Unknown(String),
    /// The answer to `ABOUT`, for example `name="Rapfi", version="0.43"`.
    About {
        /// The name.
        name: String,
        /// The version; may be empty.
        version: String,
    },
    /// Yixin's report of a search, one key and value at a time.
    Info {
        /// The key in upper case.
        key: String,
        /// The value; may be empty.
        value: String,
    },
    /// Any other line, unchanged.
    Other(String),
}

impl FromEngine {
    /// Reads a line. Never fails: an unknown line becomes [`FromEngine::Other`].
    #[must_use]
    pub fn read(line: &str) -> Self {
        let line = line.trim();
        Self::parse(line).unwrap_or_else(|| Self::Other(line.to_string()))
    }

    fn parse(line: &str) -> Option<Self> {
        if line.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return points(line).map(Self::Points);
        }
        let (word, rest) = line
            .split_once(char::is_whitespace)
            .map_or((line, ""), |(word, rest)| (word, rest.trim()));
        match word.to_ascii_uppercase().as_str() {
            "OK" => Some(Self::Ok(rest.into())),
            "SWAP" => Some(Self::Swap),
            "SUGGEST" => rest.parse().ok().map(Self::Suggest),
            "MESSAGE" => Some(Self::Message(rest.into())),
            "DEBUG" => Some(Self::Debug(rest.into())),
            "ERROR" => Some(Self::Error(rest.into())),
            "UNKNOWN" => Some(Self::Unknown(rest.into())),
            "INFO" if !rest.is_empty() => {
                // `INFO PV DONE` has a key of two words.
                if rest.eq_ignore_ascii_case("PV DONE") {
                    return Some(Self::Info {
                        key: "PV DONE".into(),
                        value: String::new(),
                    });
                }
                let (key, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                Some(Self::Info {
                    key: key.to_ascii_uppercase(),
                    value: value.trim().into(),
                })
            }
            _ => {
                let version = quoted(line, "version").unwrap_or_default();
                quoted(line, "name").map(|name| Self::About { name, version })
            }
        }
    }

    /// Writes the line without its line end.
    #[must_use]
    pub fn write(&self) -> String {
        let with = |word: &str, rest: &str| {
            if rest.is_empty() {
                word.into()
            } else {
                format!("{word} {rest}")
            }
        };
        match self {
            Self::Points(points) => points
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            Self::Swap => "SWAP".into(),
            Self::Ok(rest) => with("OK", rest),
            Self::Suggest(point) => format!("SUGGEST {point}"),
            Self::Message(text) => with("MESSAGE", text),
            Self::Debug(text) => with("DEBUG", text),
            Self::Error(text) => with("ERROR", text),
            Self::Unknown(text) => with("UNKNOWN", text),
            Self::About { name, version } => format!("name=\"{name}\", version=\"{version}\""),
            Self::Info { key, value } => with(&format!("INFO {key}"), value),
            Self::Other(line) => line.clone(),
        }
    }
}

/// Reads `7,7 8,6`: one point or more, and nothing else on the line.
pub(super) fn points(text: &str) -> Option<Vec<Point>> {
    let points: Option<Vec<Point>> = text
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    points.filter(|points| !points.is_empty())
}

/// The text of `key="text"`.
fn quoted(line: &str, key: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let at = lower.find(&format!("{key}=\""))? + key.len() + 2;
    let rest = line.get(at..)?;
    Some(rest[..rest.find('"')?].to_string())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::eval::Eval;

    fn line() -> impl Strategy<Value = FromEngine> {
        let point = (-1..30_i32, -1..30_i32).prop_map(|(x, y)| Point { x, y });
        let text = "([a-z]{1,6}( [0-9a-z.]{1,6}){0,3})?";
        prop_oneof![
            vec(point.clone(), 1..4).prop_map(FromEngine::Points),
            Just(FromEngine::Swap),
            text.prop_map(FromEngine::Ok),
            point.prop_map(FromEngine::Suggest),
            text.prop_map(FromEngine::Message),
            text.prop_map(FromEngine::Debug),
            text.prop_map(FromEngine::Error),
            text.prop_map(FromEngine::Unknown),
            ("[A-Za-z ]{1,9}", "[0-9.]{0,5}")
                .prop_map(|(name, version)| FromEngine::About { name, version }),
            ("[A-Z]{3,9}", "[0-9,]{1,9}( [0-9,]{1,5})?")
                .prop_map(|(key, value)| FromEngine::Info { key, value }),
            Just(FromEngine::Info {
                key: "PV DONE".into(),
                value: String::new()
            }),
        ]
    }

    proptest! {
        #[test]
        fn lines_from_engines_are_read_back(message in line(), centi in any::<i32>(), plies in any::<u32>()) {
            prop_assert_eq!(&FromEngine::read(&message.write()), &message);
            for eval in [Eval::Centi(centi), Eval::Win(plies), Eval::Loss(plies)] {
                prop_assert_eq!(Eval::read(&eval.write()), Some(eval));
            }
        }

        #[test]
        fn any_line_is_read(line in "\\PC*", words in "(INFO|MESSAGE|SUGGEST|name=\"|OK)? ?[-+0-9, M\"]{0,30}") {
            for line in [&line, &words] {
                let read = FromEngine::read(line);
                let _ = (FromEngine::read(&read.write()), Eval::read(line));
            }
        }
    }

    #[test]
    fn lines_of_rapfi_are_read() {
        let about = r#"name="Rapfi", version="0.43.02 (clang++ 14.0.6)", author="Rapfi developers", country="China""#;
        let named = FromEngine::About {
            name: "Rapfi".into(),
            version: "0.43.02 (clang++ 14.0.6)".into(),
        };
        assert_eq!(FromEngine::read(about), named);
        assert_eq!(
            FromEngine::read("7,7"),
            FromEngine::Points(vec![Point { x: 7, y: 7 }])
        );
        let info = |key: &str, value: &str| FromEngine::Info {
            key: key.into(),
            value: value.into(),
        };
        assert_eq!(
            FromEngine::read("INFO BESTLINE 8,8 9,9"),
            info("BESTLINE", "8,8 9,9")
        );
        assert_eq!(FromEngine::read("INFO PV DONE"), info("PV DONE", ""));
        assert_eq!(FromEngine::read("INFO PV 1"), info("PV", "1"));
        assert_eq!(Eval::read("+M12"), Some(Eval::Win(12)));
    }
}
