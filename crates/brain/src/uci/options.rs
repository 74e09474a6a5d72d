use kagetsu_engines::uci::{Dialect, OptionKind, OptionLine};
use kagetsu_game::Variant;
use kagetsu_search::Engine;

use crate::move_finder::{DEFAULT_TABLE_MIB, Settings};

/// The most threads and mebibytes that can be asked for.
const THREADS: (i64, i64) = (1, 1_024);
const TABLE: (i64, i64) = (1, 1 << 20);
const WIDTH: (i64, i64) = (1, 100);
const PLIES: (i64, i64) = (0, 1_000);

/// The options beside the [`Settings`] of the finder.
#[derive(Clone, Copy, Debug)]
pub(super) struct UciOptions {
    pub(super) variant: Variant,
    /// Number of best moves to report.
    pub(super) width: u16,
    pub(super) uses_book: bool,
    /// UCI: whether xiangqi's ranks are counted from 1, as Fairy-Stockfish does, or from 0.
    pub(super) counts_from_one: bool,
    /// UCCI: whether times are in milliseconds instead of seconds.
    pub(super) uses_milliseconds: bool,
}

impl UciOptions {
    pub(super) fn new(variant: Variant) -> Self {
        Self {
            variant,
            width: 1,
            uses_book: true,
            counts_from_one: true,
            uses_milliseconds: false,
        }
    }

    /// Sets an option by its name, in any spelling. Returns the book to open, if that was set.
    ///
    /// # Errors
    /// What is wrong with the name or the value.
    pub(super) fn set(
        &mut self,
        dialect: Dialect,
        name: &str,
        value: &str,
        settings: &mut Settings,
    ) -> Result<Option<String>, String> {
        let within = |(least, most): (i64, i64)| {
            let number = value
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| {
                format!("option {name} must be a number from {least} to {most}, not '{value}'")
            })
        };
        let switch = || match value {
            "true" | "on" => Ok(true),
            "false" | "off" => Ok(false),
            _ => Err(format!(
                "option {name} must be true or false, not '{value}'"
            )),
        };
        match (name.to_ascii_lowercase().as_str(), dialect) {
            ("threads", _) => settings.threads = within(THREADS)? as usize,
            ("hash", Dialect::Uci) => settings.table_mib = Some(within(TABLE)? as u64),
            // 0 leaves it to the engine.
            ("hashsize", Dialect::Ucci) if value == "0" => {}
            ("hashsize", Dialect::Ucci) => settings.table_mib = Some(within(TABLE)? as u64),
            ("multipv", Dialect::Uci) => self.width = within(WIDTH)? as u16,
            ("bookdepth", _) => settings.book_depth = within(PLIES)? as u32,
            ("ownbook", Dialect::Uci) | ("usebook", Dialect::Ucci) => self.uses_book = switch()?,
            ("book", Dialect::Uci) | ("bookfiles", Dialect::Ucci) => {
                // An empty text is written so in UCI.
                return Ok(Some(if value == "<empty>" {
                    String::new()
                } else {
                    value.to_string()
                }));
            }
            ("variant" | "uci_variant", _) => {
                let variant: Variant = value
                    .parse()
                    .map_err(|error| format!("option {name}: {error}"))?;
                if !is_searched(variant) {
                    return Err(format!(
                        "option {name}: there is no search for {variant} yet"
                    ));
                }
                // Interfaces mean the rules in force, by which chases lose.
                self.variant = match variant {
                    Variant::XIANGQI if name.eq_ignore_ascii_case("uci_variant") => {
                        Variant::XIANGQI_CHASE
                    }
                    variant => variant,
                };
            }
            ("lowestrank", Dialect::Uci) => self.counts_from_one = within((0, 1))? == 1,
            ("usemillisec", Dialect::Ucci) => self.uses_milliseconds = switch()?,
            // Options of the protocols that change nothing here.
            ("ponder" | "uci_analysemode" | "clear hash", Dialect::Uci)
            | (
                "ponder" | "batch" | "debug" | "idle" | "randomness" | "pruning" | "knowledge"
                | "style",
                Dialect::Ucci,
            ) => {}
            _ => return Err(format!("there is no option '{name}'")),
        }
        Ok(None)
    }
}

/// Whether our own search knows the game.
fn is_searched(variant: Variant) -> bool {
    Engine::supports(variant)
}

/// Returns all options as an engine declares them at the start.
pub(super) fn all(dialect: Dialect, settings: &Settings, variant: Variant) -> Vec<OptionLine> {
    let line = |name: &str, kind, default: Option<String>| OptionLine {
        name: name.into(),
        kind,
        default,
        range: [None; 2],
        choices: Vec::new(),
    };
    let spin = |name: &str, default: i64, (least, most): (i64, i64)| OptionLine {
        range: [Some(least), Some(most)],
        ..line(name, OptionKind::Spin, Some(default.to_string()))
    };
    let check =
        |name: &str, default: bool| line(name, OptionKind::Check, Some(default.to_string()));
    let depth = spin("BookDepth", settings.book_depth.into(), PLIES);
    let threads = settings.threads as i64;
    let memory = settings.table_mib.unwrap_or(DEFAULT_TABLE_MIB) as i64;
    match dialect {
        Dialect::Uci => {
            let names = [
                "xiangqi",
                "xiangqi-chase",
                "surakarta",
                "freestyle-15",
                "standard-15",
                "renju-15",
                "caro-15",
                "caro-overline-15",
            ];
            let known = names
                .into_iter()
                .filter(|name| name.parse().is_ok_and(is_searched))
                .map(String::from);
            let variants = || OptionLine {
                choices: known.clone().collect(),
                ..line("UCI_Variant", OptionKind::Combo, Some(variant.to_string()))
            };
            vec![
                spin("Threads", threads, THREADS),
                spin("Hash", memory, TABLE),
                spin("MultiPV", 1, WIDTH),
                check("Ponder", false),
                line("Book", OptionKind::String, Some("<empty>".into())),
                line("Books", OptionKind::String, Some("all".into())),
                check("OwnBook", true),
                depth,
                variants(),
                OptionLine {
                    name: "Variant".into(),
                    ..variants()
                },
                spin("LowestRank", 1, (0, 1)),
            ]
        }
        Dialect::Ucci => vec![
            check("usemillisec", false),
            check("usebook", true),
            line("bookfiles", OptionKind::String, None),
            OptionLine {
                name: "bookdepth".into(),
                ..depth
            },
            spin("hashsize", memory, (0, TABLE.1)),
            spin("threads", threads, THREADS),
            OptionLine {
                choices: ["xiangqi", "xiangqi-chase"].map(String::from).into(),
                ..line("variant", OptionKind::Combo, Some(variant.to_string()))
            },
            line("newgame", OptionKind::Button, None),
        ],
    }
}
