use super::Point;

/// A line that an engine receives. A block such as `BOARD` consists of one value for each of its
/// lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToEngine {
    /// A new, empty, square board of this size.
    Start(u32),
    /// A new, empty board with this number of columns and rows.
    RectStart(u32, u32),
    /// An empty board of the same size.
    Restart,
    /// The engine makes the first move.
    Begin,
    /// The opponent plays this move; the engine answers it.
    Turn(Point),
    /// The engine plays the move that it suggested.
    Play(Point),
    /// Removes this stone.
    Takeback(Point),
    /// A block of all stones follows; then the engine searches.
    Board,
    /// A block with an opening by the swap-2 rule follows; the engine chooses what to do with it.
    Swap2Board,
    /// Yixin: a block of all stones follows; the engine does not search.
    YxBoard,
    /// Yixin: a block of points follows that must not be played.
    YxBlock,
    /// Yixin: all points may be played again.
    YxBlockReset,
    /// Yixin: search with this number of lines.
    YxNBest(u32),
    /// Yixin: stop the search and play.
    YxStop,
    /// Yixin: list the engine's abilities.
    YxShowInfo,
    /// Yixin: clear the table.
    YxHashClear,
    /// Yixin: list the forbidden points.
    YxShowForbid,
    /// A line of a block: a point, and in `BOARD` the owner of the stone: 1 the engine, 2 its
    /// opponent, 3 a stone that does not count.
    Stone(Point, Option<u8>),
    /// The end of a block.
    Done,
    /// A setting; engines do not answer it.
    Info {
        /// The name in lower case.
        key: String,
        /// The value.
        value: String,
    },
    /// Asks for name and version.
    About,
    /// Ends the engine.
    End,
    /// Any other line, unchanged; also a blank line.
    Other(String),
}

/// The lines of one word.
const WORDS: [(&str, ToEngine); 14] = [
    ("RESTART", ToEngine::Restart),
    ("BEGIN", ToEngine::Begin),
    ("BOARD", ToEngine::Board),
    ("SWAP2BOARD", ToEngine::Swap2Board),
    ("YXBOARD", ToEngine::YxBoard),
    ("YXBLOCK", ToEngine::YxBlock),
    ("YXBLOCKRESET", ToEngine::YxBlockReset),
    ("YXSTOP", ToEngine::YxStop),
    ("YXSHOWINFO", ToEngine::YxShowInfo),
    ("YXHASHCLEAR", ToEngine::YxHashClear),
    ("YXSHOWFORBID", ToEngine::YxShowForbid),
    ("DONE", ToEngine::Done),
    ("ABOUT", ToEngine::About),
    ("END", ToEngine::End),
];

impl ToEngine {
    /// Reads a line. Never fails: an unknown line becomes [`ToEngine::Other`].
    #[must_use]
    pub fn read(line: &str) -> Self {
        let line = line.trim();
        Self::parse(line).unwrap_or_else(|| Self::Other(line.to_string()))
    }

    fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line
            .split_once(char::is_whitespace)
            .map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let point = || rest.parse().ok();
        let is_bare = rest.is_empty();
        match (word.to_ascii_uppercase().as_str(), is_bare) {
            ("START", _) => start(rest),
            ("RECTSTART", _) => {
                let (w, h) = rest.split_once(',')?;
                Some(Self::RectStart(
                    w.trim().parse().ok()?,
                    h.trim().parse().ok()?,
                ))
            }
            ("TURN", _) => point().map(Self::Turn),
            ("PLAY", _) => point().map(Self::Play),
            ("TAKEBACK", _) => point().map(Self::Takeback),
            ("YXNBEST", _) => rest.parse().ok().map(Self::YxNBest),
            ("STOP", true) => Some(Self::YxStop),
            ("INFO", false) => {
                let (key, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                Some(Self::Info {
                    key: key.to_ascii_lowercase(),
                    value: value.trim().into(),
                })
            }
            (word, true) => {
                let named = WORDS.into_iter().find(|(known, _)| *known == word);
                named.map(|(_, line)| line).or_else(|| stone(line))
            }
            _ => stone(line),
        }
    }

    /// Writes the line without its line end.
    #[must_use]
    pub fn write(&self) -> String {
        match self {
            Self::Start(size) => format!("START {size}"),
            Self::RectStart(width, height) => format!("RECTSTART {width},{height}"),
            Self::Turn(point) => format!("TURN {point}"),
            Self::Play(point) => format!("PLAY {point}"),
            Self::Takeback(point) => format!("TAKEBACK {point}"),
            Self::YxNBest(lines) => format!("YXNBEST {lines}"),
            Self::Stone(point, None) => point.to_string(),
            Self::Stone(point, Some(field)) => format!("{point},{field}"),
            Self::Info { key, value } => format!("INFO {key} {value}"),
            Self::Other(line) => line.clone(),
            word => {
                let named = WORDS.iter().find(|(_, known)| known == word);
                named.map_or(String::new(), |(name, _)| (*name).into())
            }
        }
    }
}

/// Reads `START 15`, and `START 15 15` as the first Yixin-Board wrote it.
fn start(rest: &str) -> Option<ToEngine> {
    let mut sizes = rest.split_whitespace().map(|size| size.parse::<u32>().ok());
    let size = sizes.next()??;
    match sizes.next() {
        None => Some(ToEngine::Start(size)),
        Some(Some(second)) if second == size => Some(ToEngine::Start(size)),
        Some(Some(second)) => Some(ToEngine::RectStart(size, second)),
        Some(None) => None,
    }
}

fn stone(line: &str) -> Option<ToEngine> {
    let mut numbers = line
        .split(',')
        .map(|number| number.trim().parse::<i32>().ok());
    let point = Point {
        x: numbers.next()??,
        y: numbers.next()??,
    };
    let field = match numbers.next() {
        None => None,
        Some(field) => Some(u8::try_from(field?).ok()?),
    };
    numbers
        .next()
        .is_none()
        .then_some(ToEngine::Stone(point, field))
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;

    fn point() -> impl Strategy<Value = Point> {
        (-1..30_i32, -1..30_i32).prop_map(|(x, y)| Point { x, y })
    }

    fn line() -> impl Strategy<Value = ToEngine> {
        let bare = [
            ToEngine::Restart,
            ToEngine::Begin,
            ToEngine::Board,
            ToEngine::Swap2Board,
            ToEngine::YxBoard,
            ToEngine::YxBlock,
            ToEngine::YxBlockReset,
            ToEngine::YxStop,
            ToEngine::YxShowInfo,
            ToEngine::YxHashClear,
            ToEngine::YxShowForbid,
            ToEngine::Done,
            ToEngine::About,
            ToEngine::End,
        ];
        prop_oneof![
            prop::sample::select(bare.to_vec()),
            any::<u32>().prop_map(ToEngine::Start),
            (any::<u32>(), any::<u32>()).prop_map(|(w, h)| ToEngine::RectStart(w, h)),
            point().prop_map(ToEngine::Turn),
            point().prop_map(ToEngine::Play),
            point().prop_map(ToEngine::Takeback),
            any::<u32>().prop_map(ToEngine::YxNBest),
            (point(), of(0..4_u8)).prop_map(|(point, field)| ToEngine::Stone(point, field)),
            ("[a-z_]{1,12}", "[0-9a-z/]{1,12}( [a-z]{1,5})?")
                .prop_map(|(key, value)| ToEngine::Info { key, value }),
        ]
    }

    proptest! {
        #[test]
        fn lines_to_engines_are_read_back(message in line()) {
            prop_assert_eq!(&ToEngine::read(&message.write()), &message);
            prop_assert_eq!(&ToEngine::read(&format!("  {}\r\n", message.write().to_ascii_lowercase())), &message);
        }

        #[test]
        fn any_line_is_read(line in "\\PC*", words in "(START|TURN|INFO|board|PLAY|YXNBEST|RECTSTART)? ?[-0-9, ]{0,30}") {
            for line in [&line, &words] {
                let read = ToEngine::read(line);
                prop_assert_eq!(ToEngine::read(&read.write()), read);
            }
        }
    }
}
