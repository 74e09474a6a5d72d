use std::fmt::Write;

use super::Dialect;

/// A line that an engine receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToEngine {
    /// `uci`, `ucci`: asks for the introduction.
    Hello,
    /// Asks for `readyok`.
    IsReady,
    /// The next position belongs to another game.
    NewGame,
    /// Sets an option.
    SetOption {
        /// The name; may contain blanks in UCI.
        name: String,
        /// The value; a button has none.
        value: Option<String>,
    },
    /// Sets the position.
    Position {
        /// The first position; `None` for the start of a game.
        fen: Option<String>,
        /// The moves since then.
        moves: Vec<String>,
    },
    /// UCCI: moves that must not be chosen in the position just set.
    BanMoves(Vec<String>),
    /// Starts a search.
    Go(Go),
    /// Stops the search and asks for the best move.
    Stop,
    /// The opponent has played the expected move.
    PonderHit,
    /// Ends the engine.
    Quit,
    /// Any other line, unchanged; also a blank line, and a `position` or `go` that cannot be read.
    Other(String),
}

/// Limits and root moves of a search. A limit that is `None` does not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// UCI: the moves to choose from; empty means all.
    pub search_moves: Vec<String>,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// UCI: milliseconds for this move.
    pub move_time: Option<u64>,
    /// UCI: search for a mate in this number of moves.
    pub mate: Option<u32>,
    /// Searches until `stop`.
    pub is_infinite: bool,
    /// Searches in the opponent's time.
    pub ponders: bool,
    /// UCI: the clocks of White (Red) and Black. UCCI: of the engine and its opponent.
    pub clocks: [Clock; 2],
}

/// One player's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left: milliseconds in UCI, and in UCCI if the option `usemillisec` is set; else
    /// seconds. Negative after the flag has fallen.
    pub time: Option<i64>,
    /// Time added by each move, in the same unit.
    pub increment: Option<i64>,
    /// Moves until time is added. UCI has one number for both players.
    pub moves_to_go: Option<u32>,
}

impl ToEngine {
    /// Reads a line. Never fails: an unknown line becomes [`ToEngine::Other`], as does a `go` with
    /// a limit that is no number. Unknown words of `go` are skipped, as the protocols demand.
    #[must_use]
    pub fn read(dialect: Dialect, line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((&first, rest)) = words.split_first() else {
            return Self::Other(line.to_string());
        };
        let read = match (first, dialect) {
            ("uci", Dialect::Uci) | ("ucci", Dialect::Ucci) => Some(Self::Hello),
            ("isready", _) => Some(Self::IsReady),
            ("ucinewgame", Dialect::Uci) => Some(Self::NewGame),
            ("setoption", _) => set_option(dialect, rest),
            ("position", _) => position(rest),
            ("banmoves", Dialect::Ucci) => Some(Self::BanMoves(texts(rest))),
            ("go", _) => Go::read(dialect, rest).map(Self::Go),
            ("stop", _) => Some(Self::Stop),
            ("ponderhit", _) => Some(Self::PonderHit),
            ("quit", _) => Some(Self::Quit),
            _ => None,
        };
        read.unwrap_or_else(|| Self::Other(line.to_string()))
    }

    /// Writes the line without its line end.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> String {
        let is_uci = dialect == Dialect::Uci;
        match self {
            Self::Hello => if is_uci { "uci" } else { "ucci" }.into(),
            Self::IsReady => "isready".into(),
            Self::NewGame => if is_uci {
                "ucinewgame"
            } else {
                "setoption newgame"
            }
            .into(),
            Self::SetOption { name, value } => match (value, is_uci) {
                (Some(value), true) => format!("setoption name {name} value {value}"),
                (None, true) => format!("setoption name {name}"),
                (Some(value), false) => format!("setoption {name} {value}"),
                (None, false) => format!("setoption {name}"),
            },
            Self::Position { fen, moves } => {
                let start = fen
                    .as_ref()
                    .map_or_else(|| "startpos".into(), |fen| format!("fen {fen}"));
                if moves.is_empty() {
                    format!("position {start}")
                } else {
                    format!("position {start} moves {}", moves.join(" "))
                }
            }
            Self::BanMoves(moves) => format!("banmoves {}", moves.join(" ")),
            Self::Go(go) => go.write(dialect),
            Self::Stop => "stop".into(),
            Self::PonderHit => "ponderhit".into(),
            Self::Quit => "quit".into(),
            Self::Other(line) => line.clone(),
        }
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn set_option(dialect: Dialect, words: &[&str]) -> Option<ToEngine> {
    let (name, value) = match dialect {
        Dialect::Uci => {
            let (&name, rest) = words.split_first()?;
            let end = rest
                .iter()
                .position(|word| *word == "value")
                .unwrap_or(rest.len());
            (name == "name").then_some(())?;
            (
                rest[..end].join(" "),
                rest.get(end + 1..).map(|value| value.join(" ")),
            )
        }
        Dialect::Ucci => {
            let (&name, rest) = words.split_first()?;
            (name.to_string(), (!rest.is_empty()).then(|| rest.join(" ")))
        }
    };
    match name.as_str() {
        "" => None,
        "newgame" if dialect == Dialect::Ucci && value.is_none() => Some(ToEngine::NewGame),
        _ => Some(ToEngine::SetOption { name, value }),
    }
}

fn position(words: &[&str]) -> Option<ToEngine> {
    let end = words
        .iter()
        .position(|word| *word == "moves")
        .unwrap_or(words.len());
    let moves = texts(words.get(end + 1..).unwrap_or_default());
    match &words[..end] {
        ["startpos", ..] => Some(ToEngine::Position { fen: None, moves }),
        ["fen", fen @ ..] if !fen.is_empty() => Some(ToEngine::Position {
            fen: Some(fen.join(" ")),
            moves,
        }),
        _ => None,
    }
}

impl Go {
    /// Returns `None` if a number is missing or cannot be read.
    fn read(dialect: Dialect, words: &[&str]) -> Option<Self> {
        let mut go = Self::default();
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            match (word, dialect) {
                ("infinite", Dialect::Uci) => go.is_infinite = true,
                ("ponder", _) => go.ponders = true,
                ("depth", Dialect::Ucci) => match rest.next() {
                    Some("infinite") => go.is_infinite = true,
                    depth => go.depth = Some(number(depth)?),
                },
                ("depth", _) => go.depth = Some(number(rest.next())?),
                ("nodes", _) => go.nodes = Some(number(rest.next())?),
                ("movetime", Dialect::Uci) => go.move_time = Some(number(rest.next())?),
                ("mate", Dialect::Uci) => go.mate = Some(number(rest.next())?),
                ("wtime", Dialect::Uci) | ("time", Dialect::Ucci) => {
                    go.clocks[0].time = Some(number(rest.next())?)
                }
                ("btime", Dialect::Uci) | ("opptime", Dialect::Ucci) => {
                    go.clocks[1].time = Some(number(rest.next())?)
                }
                ("winc", Dialect::Uci) | ("increment", Dialect::Ucci) => {
                    go.clocks[0].increment = Some(number(rest.next())?)
                }
                ("binc", Dialect::Uci) | ("oppincrement", Dialect::Ucci) => {
                    go.clocks[1].increment = Some(number(rest.next())?);
                }
                ("movestogo", Dialect::Uci) => {
                    let moves = Some(number(rest.next())?);
                    go.clocks
                        .iter_mut()
                        .for_each(|clock| clock.moves_to_go = moves);
                }
                ("movestogo", Dialect::Ucci) => {
                    go.clocks[0].moves_to_go = Some(number(rest.next())?)
                }
                ("oppmovestogo", Dialect::Ucci) => {
                    go.clocks[1].moves_to_go = Some(number(rest.next())?)
                }
                // The protocol puts it last; all words that follow are moves.
                ("searchmoves", Dialect::Uci) => {
                    go.search_moves = rest.by_ref().map(String::from).collect()
                }
                _ => {}
            }
        }
        Some(go)
    }

    fn write(&self, dialect: Dialect) -> String {
        let mut line = String::from("go");
        let mut add = |name: &str, number: Option<i128>| {
            if let Some(number) = number {
                // Writing to a string does not fail.
                let _ = write!(line, " {name} {number}");
            }
        };
        let [own, other] = &self.clocks;
        let limits = [
            ("depth", self.depth.map(i128::from)),
            ("nodes", self.nodes.map(i128::from)),
        ];
        let clocks = match dialect {
            Dialect::Uci => [
                ("wtime", own.time.map(i128::from)),
                ("winc", own.increment.map(i128::from)),
                ("movestogo", own.moves_to_go.map(i128::from)),
                ("btime", other.time.map(i128::from)),
                ("binc", other.increment.map(i128::from)),
                ("movetime", self.move_time.map(i128::from)),
                ("mate", self.mate.map(i128::from)),
            ],
            Dialect::Ucci => [
                ("time", own.time.map(i128::from)),
                ("increment", own.increment.map(i128::from)),
                ("movestogo", own.moves_to_go.map(i128::from)),
                ("opptime", other.time.map(i128::from)),
                ("oppincrement", other.increment.map(i128::from)),
                ("oppmovestogo", other.moves_to_go.map(i128::from)),
                ("nodes", None),
            ],
        };
        limits
            .into_iter()
            .chain(clocks)
            .for_each(|(name, number)| add(name, number));
        let is_uci = dialect == Dialect::Uci;
        if self.is_infinite {
            line.push_str(if is_uci {
                " infinite"
            } else {
                " depth infinite"
            });
        }
        if self.ponders {
            line.insert_str("go".len(), " ponder");
        }
        if is_uci && !self.search_moves.is_empty() {
            line.push_str(" searchmoves ");
            line.push_str(&self.search_moves.join(" "));
        }
        line
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

    fn moves() -> impl Strategy<Value = Vec<String>> {
        vec("[a-i][0-9][a-i][0-9]", 0..5)
    }

    fn clock() -> impl Strategy<Value = Clock> {
        (of(any::<i64>()), of(any::<i64>())).prop_map(|(time, increment)| Clock {
            time,
            increment,
            moves_to_go: None,
        })
    }

    fn go(dialect: Dialect) -> impl Strategy<Value = Go> {
        let numbers = (
            of(any::<u32>()),
            of(any::<u64>()),
            of(any::<u64>()),
            of(any::<u32>()),
            of(any::<u32>()),
        );
        (
            numbers,
            any::<bool>(),
            any::<bool>(),
            clock(),
            clock(),
            moves(),
        )
            .prop_map(
                move |(
                    (depth, nodes, move_time, mate, togo),
                    is_infinite,
                    ponders,
                    own,
                    other,
                    search_moves,
                )| {
                    let is_uci = dialect == Dialect::Uci;
                    let other = Clock {
                        moves_to_go: togo.filter(|_| is_uci),
                        ..other
                    };
                    Go {
                        search_moves: if is_uci { search_moves } else { Vec::new() },
                        depth: depth.filter(|_| !is_infinite),
                        nodes,
                        move_time: move_time.filter(|_| is_uci),
                        mate: mate.filter(|_| is_uci),
                        is_infinite,
                        ponders,
                        clocks: [
                            Clock {
                                moves_to_go: togo,
                                ..own
                            },
                            other,
                        ],
                    }
                },
            )
    }

    fn line(dialect: Dialect) -> impl Strategy<Value = ToEngine> {
        let name = if dialect == Dialect::Uci {
            "[A-Z][a-z]{1,8}( [A-Z][a-z]{1,6})?"
        } else {
            "[a-z]{2,6}"
        };
        prop_oneof![
            Just(ToEngine::Hello),
            Just(ToEngine::IsReady),
            Just(ToEngine::NewGame),
            Just(ToEngine::Stop),
            Just(ToEngine::PonderHit),
            Just(ToEngine::Quit),
            (name, of("[a-z0-9/]{1,9}( [a-z]{2,4})?"))
                .prop_map(|(name, value)| ToEngine::SetOption { name, value }),
            (of("[a-zA-Z0-9/]{1,40} [wb]( - - 0 1)?"), moves())
                .prop_map(|(fen, moves)| ToEngine::Position { fen, moves }),
            go(dialect).prop_map(ToEngine::Go),
        ]
    }

    proptest! {
        #[test]
        fn lines_to_engines_are_read_back(uci in line(Dialect::Uci), ucci in line(Dialect::Ucci)) {
            prop_assert_eq!(ToEngine::read(Dialect::Uci, &uci.write(Dialect::Uci)), uci);
            prop_assert_eq!(ToEngine::read(Dialect::Ucci, &ucci.write(Dialect::Ucci)), ucci);
        }

        #[test]
        fn any_line_is_read(line in "\\PC*", words in vec("(go|position|setoption|name|value|fen|moves|depth|searchmoves|time|[0-9]+|-?[a-z0-9]{1,4})", 0..12)) {
            for dialect in [Dialect::Uci, Dialect::Ucci] {
                for line in [&line, &words.join(" ")] {
                    let read = ToEngine::read(dialect, line);
                    prop_assert_eq!(ToEngine::read(dialect, &read.write(dialect)), read);
                }
            }
        }
    }

    #[test]
    fn documented_lines_round_trip() {
        let ban = ToEngine::BanMoves(vec!["h2e2".into(), "b2e2".into()]);
        assert_eq!(ToEngine::read(Dialect::Ucci, "banmoves h2e2  b2e2"), ban);
        let hash = ToEngine::SetOption {
            name: "Hash".into(),
            value: Some("16".into()),
        };
        assert_eq!(
            ToEngine::read(Dialect::Uci, "setoption name Hash value 16"),
            hash
        );
        let read = ToEngine::read(Dialect::Ucci, "go time 60000 movestogo 40 opptime 30000");
        let clock = |time, moves_to_go| Clock {
            time: Some(time),
            increment: None,
            moves_to_go,
        };
        assert_eq!(
            read,
            ToEngine::Go(Go {
                clocks: [clock(60_000, Some(40)), clock(30_000, None)],
                ..Go::default()
            })
        );
    }
}
