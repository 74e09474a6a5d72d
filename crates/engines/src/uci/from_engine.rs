use std::fmt::Write;

use kagetsu_game::Bound;

use super::Dialect;

/// A line that an engine sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromEngine {
    /// `id name Fairy-Stockfish 14`.
    Id {
        /// `name`, `author`, and in UCCI `copyright` and `user`.
        key: String,
        /// The text.
        value: String,
    },
    /// An option of the engine.
    Option(OptionLine),
    /// `uciok`, `ucciok`: the end of the introduction.
    HelloOk,
    /// `readyok`.
    ReadyOk,
    /// A report of the search.
    Info(Info),
    /// The result of a search.
    BestMove {
        /// The best move; `None` if there is no legal move.
        best: Option<String>,
        /// The expected answer.
        ponder: Option<String>,
    },
    /// Any other line, unchanged.
    Other(String),
}

/// An option as the engine declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionLine {
    /// The name; may contain blanks in UCI.
    pub name: String,
    /// The kind of its values.
    pub kind: OptionKind,
    /// The default value.
    pub default: Option<String>,
    /// The smallest and the greatest value of a spin.
    pub range: [Option<i64>; 2],
    /// The choices of a combo.
    pub choices: Vec<String>,
}

/// The kind of an option's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check,
    /// A number.
    Spin,
    /// One of several words.
    Combo,
    /// No value: a command.
    Button,
    /// Any text.
    String,
    /// UCCI: no value, a text for the user.
    Label,
}

/// A report of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Rank of the line, from 1.
    pub multi_pv: Option<u32>,
    /// Value from the view of the side to move.
    pub score: Option<Value>,
    /// `None` if the score is the value.
    pub bound: Option<Bound>,
    /// Nodes visited since `go`.
    pub nodes: Option<u64>,
    /// Milliseconds since `go`; in UCCI seconds where the option `usemillisec` is not set.
    pub time: Option<u64>,
    /// Nodes a second.
    pub speed: Option<u64>,
    /// The principal variation.
    pub line: Vec<String>,
    /// Text for the user.
    pub text: Option<String>,
}

/// A score as the protocol writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Hundredths of a pawn.
    Centi(i32),
    /// Mate in this number of the winner's moves; negative or 0 if the side to move is mated.
    Mate(i32),
}

impl FromEngine {
    /// Reads a line. Never fails: an unknown line becomes [`FromEngine::Other`], and unknown words
    /// of `info` are skipped.
    #[must_use]
    pub fn read(dialect: Dialect, line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let read = match (words.as_slice(), dialect) {
            (["id", key, value @ ..], _) => Some(Self::Id {
                key: (*key).to_string(),
                value: value.join(" "),
            }),
            (["option", rest @ ..], _) => option(dialect, rest).map(Self::Option),
            (["uciok"], Dialect::Uci) | (["ucciok"], Dialect::Ucci) => Some(Self::HelloOk),
            (["readyok"], _) => Some(Self::ReadyOk),
            (["info", rest @ ..], _) => Some(Self::Info(Info::read(dialect, rest))),
            (["nobestmove", ..], Dialect::Ucci) => Some(Self::BestMove {
                best: None,
                ponder: None,
            }),
            (["bestmove", best, rest @ ..], _) => {
                let ponder = match rest {
                    ["ponder", ponder, ..] => Some((*ponder).to_string()),
                    _ => None,
                };
                let best = Some(*best)
                    .filter(|best| !matches!(*best, "(none)" | "0000" | "none" | "null"));
                Some(Self::BestMove {
                    best: best.map(String::from),
                    ponder,
                })
            }
            _ => None,
        };
        read.unwrap_or_else(|| Self::Other(line.to_string()))
    }

    /// Writes the line without its line end.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> String {
        match self {
            Self::Id { key, value } => format!("id {key} {value}"),
            Self::Option(option) => option.write(dialect),
            Self::HelloOk => if dialect == Dialect::Uci {
                "uciok"
            } else {
                "ucciok"
            }
            .into(),
            Self::ReadyOk => "readyok".into(),
            Self::Info(info) => info.write(dialect),
            Self::BestMove { best: None, .. } => if dialect == Dialect::Uci {
                "bestmove (none)"
            } else {
                "nobestmove"
            }
            .into(),
            Self::BestMove {
                best: Some(best),
                ponder: None,
            } => format!("bestmove {best}"),
            Self::BestMove {
                best: Some(best),
                ponder: Some(ponder),
            } => format!("bestmove {best} ponder {ponder}"),
            Self::Other(line) => line.clone(),
        }
    }
}

kagetsu_game::names!(OptionKind {
    Check = "check",
    Spin = "spin",
    Combo = "combo",
    Button = "button",
    String = "string",
    Label = "label",
});

fn option(dialect: Dialect, words: &[&str]) -> Option<OptionLine> {
    const KEYS: [&str; 5] = ["type", "default", "min", "max", "var"];
    let words = match (dialect, words) {
        (Dialect::Uci, ["name", rest @ ..]) => rest,
        (Dialect::Uci, _) => return None,
        (Dialect::Ucci, rest) => rest,
    };
    let end = words.iter().position(|word| *word == "type")?;
    let kind = OptionKind::named(words.get(end + 1)?)?;
    let name = words[..end].join(" ");
    let mut option = OptionLine {
        name,
        kind,
        default: None,
        range: [None; 2],
        choices: Vec::new(),
    };
    let mut rest = &words[end + 2..];
    while let Some((key, after)) = rest.split_first() {
        let end = after
            .iter()
            .position(|word| KEYS.contains(word))
            .unwrap_or(after.len());
        let value = after[..end].join(" ");
        match *key {
            "default" => option.default = Some(value),
            "min" => option.range[0] = value.parse().ok(),
            "max" => option.range[1] = value.parse().ok(),
            "var" => option.choices.push(value),
            _ => {}
        }
        rest = &after[end..];
    }
    (!option.name.is_empty()).then_some(option)
}

impl OptionLine {
    fn write(&self, dialect: Dialect) -> String {
        let name = if dialect == Dialect::Uci { "name " } else { "" };
        let mut line = format!("option {name}{} type {}", self.name, self.kind.name());
        // Writing to a string does not fail.
        if let Some(default) = &self.default {
            let _ = write!(line, " default {default}");
        }
        for (key, number) in ["min", "max"].iter().zip(self.range) {
            if let Some(number) = number {
                let _ = write!(line, " {key} {number}");
            }
        }
        for choice in &self.choices {
            let _ = write!(line, " var {choice}");
        }
        line
    }
}

impl Info {
    fn read(dialect: Dialect, words: &[&str]) -> Self {
        let mut info = Self::default();
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            match word {
                "depth" => info.depth = number(rest.next()),
                "multipv" => info.multi_pv = number(rest.next()),
                "nodes" => info.nodes = number(rest.next()),
                "time" => info.time = number(rest.next()),
                "nps" => info.speed = number(rest.next()),
                "score" => info.score = score(&mut rest),
                "cp" => info.score = number(rest.next()).map(Value::Centi),
                "mate" => info.score = number(rest.next()).map(Value::Mate),
                "lowerbound" => info.bound = Some(Bound::Lower),
                "upperbound" => info.bound = Some(Bound::Upper),
                // Both run to the end of the line.
                "pv" => info.line = rest.by_ref().map(String::from).collect(),
                "string" | "message" => {
                    let is_text = (word == "string") == (dialect == Dialect::Uci);
                    let text: Vec<&str> = rest.by_ref().collect();
                    info.text = is_text.then(|| text.join(" "));
                }
                _ => {}
            }
        }
        info
    }

    fn write(&self, dialect: Dialect) -> String {
        let is_uci = dialect == Dialect::Uci;
        let mut line = String::from("info");
        let mut add = |name: &str, number: Option<u64>| {
            if let Some(number) = number {
                // Writing to a string does not fail.
                let _ = write!(line, " {name} {number}");
            }
        };
        add("depth", self.depth.map(Into::into));
        add("multipv", self.multi_pv.map(Into::into));
        add("nodes", self.nodes);
        add("time", self.time);
        add("nps", self.speed);
        match self.score {
            Some(Value::Centi(centi)) if is_uci => line += &format!(" score cp {centi}"),
            Some(Value::Centi(centi)) => line += &format!(" score {centi}"),
            Some(Value::Mate(moves)) => line += &format!(" score mate {moves}"),
            None => {}
        }
        match self.bound {
            Some(Bound::Lower) => line.push_str(" lowerbound"),
            Some(Bound::Upper) => line.push_str(" upperbound"),
            Some(Bound::Exact) | None => {}
        }
        if !self.line.is_empty() {
            let _ = write!(line, " pv {}", self.line.join(" "));
        } else if let Some(text) = &self.text {
            let _ = write!(
                line,
                " {} {text}",
                if is_uci { "string" } else { "message" }
            );
        }
        line
    }
}

/// Reads `cp 12` and `mate 3`, and the bare `12` of UCCI.
fn score<'a>(rest: &mut impl Iterator<Item = &'a str>) -> Option<Value> {
    match rest.next()? {
        "cp" => number(rest.next()).map(Value::Centi),
        "mate" => number(rest.next()).map(Value::Mate),
        bare => number(Some(bare)).map(Value::Centi),
    }
}

fn number<T: std::str::FromStr>(word: Option<&str>) -> Option<T> {
    word?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;

    fn info() -> impl Strategy<Value = Info> {
        let value = prop_oneof![
            any::<i32>().prop_map(Value::Centi),
            any::<i32>().prop_map(Value::Mate)
        ];
        let bound = of(prop_oneof![Just(Bound::Lower), Just(Bound::Upper)]);
        let numbers = (
            of(any::<u32>()),
            of(any::<u32>()),
            of(any::<u64>()),
            of(any::<u64>()),
            of(any::<u64>()),
        );
        (
            numbers,
            of(value),
            bound,
            vec("[a-i][0-9][a-i][0-9]", 0..6),
            of("[a-z]{1,5} [a-z]{1,5}"),
        )
            .prop_map(
                |((depth, multi_pv, nodes, time, speed), score, bound, line, text)| {
                    let text = text.filter(|_| line.is_empty());
                    Info {
                        depth,
                        multi_pv,
                        score,
                        bound,
                        nodes,
                        time,
                        speed,
                        line,
                        text,
                    }
                },
            )
    }

    fn option_line() -> impl Strategy<Value = OptionLine> {
        let kind = prop::sample::select(OptionKind::ALL.to_vec());
        let range = (of(any::<i64>()), of(any::<i64>())).prop_map(|(least, most)| [least, most]);
        (
            "[A-Z][a-z]{1,9}",
            kind,
            of("[a-z0-9]{1,7}"),
            range,
            vec("[a-z]{4,7}", 0..4),
        )
            .prop_map(|(name, kind, default, range, choices)| OptionLine {
                name,
                kind,
                default,
                range,
                choices,
            })
    }

    fn line() -> impl Strategy<Value = FromEngine> {
        prop_oneof![
            ("name|author", "[A-Za-z0-9]{1,9}( [0-9.]{1,4})?")
                .prop_map(|(key, value)| FromEngine::Id { key, value }),
            option_line().prop_map(FromEngine::Option),
            Just(FromEngine::HelloOk),
            Just(FromEngine::ReadyOk),
            info().prop_map(FromEngine::Info),
            ("[a-i][0-9][a-i][0-9]", of("[a-i][0-9][a-i][0-9]")).prop_map(|(best, ponder)| {
                FromEngine::BestMove {
                    best: Some(best),
                    ponder,
                }
            }),
            Just(FromEngine::BestMove {
                best: None,
                ponder: None
            }),
        ]
    }

    proptest! {
        #[test]
        fn lines_from_engines_are_read_back(message in line()) {
            for dialect in [Dialect::Uci, Dialect::Ucci] {
                prop_assert_eq!(&FromEngine::read(dialect, &message.write(dialect)), &message);
            }
        }

        #[test]
        fn any_line_is_read(line in "\\PC*", words in vec("(info|score|cp|mate|pv|depth|option|name|type|var|default|min|bestmove|id|spin|string|-?[0-9]{1,25}|[a-z0-9]{1,4})", 0..14)) {
            for dialect in [Dialect::Uci, Dialect::Ucci] {
                for line in [&line, &words.join(" ")] {
                    let read = FromEngine::read(dialect, line);
                    let _ = FromEngine::read(dialect, &read.write(dialect));
                }
            }
        }
    }

    #[test]
    fn lines_of_real_engines_are_read() {
        let line = "info depth 3 seldepth 4 multipv 4 score cp -16 upperbound nodes 5003 nps 833833 tbhits 0 time 6 pv b8b4 b1c3";
        let FromEngine::Info(info) = FromEngine::read(Dialect::Uci, line) else {
            panic!("{line}")
        };
        assert_eq!(
            (info.depth, info.multi_pv, info.score),
            (Some(3), Some(4), Some(Value::Centi(-16)))
        );
        assert_eq!(
            (info.bound, info.nodes, info.line.len()),
            (Some(Bound::Upper), Some(5003), 2)
        );
        let line = "option name UCI_Variant type combo default chess var chess var xiangqi";
        let FromEngine::Option(option) = FromEngine::read(Dialect::Uci, line) else {
            panic!("{line}")
        };
        assert_eq!(
            (option.kind, option.choices),
            (OptionKind::Combo, vec!["chess".into(), "xiangqi".into()])
        );
        let FromEngine::Info(info) =
            FromEngine::read(Dialect::Ucci, "info depth 6 score 4 pv b0c2 b9c7")
        else {
            panic!("an info")
        };
        assert_eq!((info.score, info.line.len()), (Some(Value::Centi(4)), 2));
    }
}
