use super::Point;

/// A line that an engine is sent. A block, as `BOARD`, is one of these for each of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToEngine {
    /// A new, empty, square board of this size.
    Start(u32),
    /// A new, empty board of so many columns and rows.
    RectStart(u32, u32),
    /// An empty board of the same size.
    Restart,
    /// Make the first move.
    Begin,
    /// The opponent plays this: answer it.
    Turn(Point),
    /// The move that was suggested is to be played.
    Play(Point),
    /// Take this stone back.
    Takeback(Point),
    /// A block follows, of all stones; then think.
    Board,
    /// A block follows, of an opening by the rule "swap 2"; then say what to do with it.
    Swap2Board,
    /// Yixin: a block of all stones follows; do not think.
    YxBoard,
    /// Yixin: a block of points follows that are not to be played.
    YxBlock,
    /// Yixin: all points may be played again.
    YxBlockReset,
    /// Yixin: think, with so many lines.
    YxNBest(u32),
    /// Yixin: stop thinking and play.
    YxStop,
    /// Yixin: say what you can.
    YxShowInfo,
    /// Yixin: forget what is remembered.
    YxHashClear,
    /// Yixin: say which points are forbidden.
    YxShowForbid,
    /// A line of a block: a point, and in `BOARD` whose stone: 1 the engine's, 2 its opponent's, 3 one that does not count.
    Stone(Point, Option<u8>),
    /// The end of a block.
    Done,
    /// A setting; is never answered.
    Info {
        /// Its name, in lower case.
        key: String,
        /// What it is set to.
        value: String,
    },
    /// Say who you are.
    About,
    /// End.
    End,
    /// Anything else, as it stands; a blank line too.
    Other(String),
}

impl ToEngine {
    /// Reads a line. Never fails: what is not understood is [`ToEngine::Other`].
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
            ("RESTART", true) => Some(Self::Restart),
            ("BEGIN", true) => Some(Self::Begin),
            ("TURN", _) => point().map(Self::Turn),
            ("PLAY", _) => point().map(Self::Play),
            ("TAKEBACK", _) => point().map(Self::Takeback),
            ("BOARD", true) => Some(Self::Board),
            ("SWAP2BOARD", true) => Some(Self::Swap2Board),
            ("YXBOARD", true) => Some(Self::YxBoard),
            ("YXBLOCK", true) => Some(Self::YxBlock),
            ("YXBLOCKRESET", true) => Some(Self::YxBlockReset),
            ("YXNBEST", _) => rest.parse().ok().map(Self::YxNBest),
            ("YXSTOP" | "STOP", true) => Some(Self::YxStop),
            ("YXSHOWINFO", true) => Some(Self::YxShowInfo),
            ("YXHASHCLEAR", true) => Some(Self::YxHashClear),
            ("YXSHOWFORBID", true) => Some(Self::YxShowForbid),
            ("DONE", true) => Some(Self::Done),
            ("INFO", false) => {
                let (key, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                Some(Self::Info {
                    key: key.to_ascii_lowercase(),
                    value: value.trim().into(),
                })
            }
            ("ABOUT", true) => Some(Self::About),
            ("END", true) => Some(Self::End),
            _ => stone(line),
        }
    }

    /// Writes the line, without its end.
    #[must_use]
    pub fn write(&self) -> String {
        match self {
            Self::Start(size) => format!("START {size}"),
            Self::RectStart(width, height) => format!("RECTSTART {width},{height}"),
            Self::Restart => "RESTART".into(),
            Self::Begin => "BEGIN".into(),
            Self::Turn(point) => format!("TURN {point}"),
            Self::Play(point) => format!("PLAY {point}"),
            Self::Takeback(point) => format!("TAKEBACK {point}"),
            Self::Board => "BOARD".into(),
            Self::Swap2Board => "SWAP2BOARD".into(),
            Self::YxBoard => "YXBOARD".into(),
            Self::YxBlock => "YXBLOCK".into(),
            Self::YxBlockReset => "YXBLOCKRESET".into(),
            Self::YxNBest(lines) => format!("YXNBEST {lines}"),
            Self::YxStop => "YXSTOP".into(),
            Self::YxShowInfo => "YXSHOWINFO".into(),
            Self::YxHashClear => "YXHASHCLEAR".into(),
            Self::YxShowForbid => "YXSHOWFORBID".into(),
            Self::Stone(point, None) => point.to_string(),
            Self::Stone(point, Some(field)) => format!("{point},{field}"),
            Self::Done => "DONE".into(),
            Self::Info { key, value } => format!("INFO {key} {value}"),
            Self::About => "ABOUT".into(),
            Self::End => "END".into(),
            Self::Other(line) => line.clone(),
        }
    }
}

/// `START 15`, and `START 15 15` as the first Yixin-Board had it.
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
        fn what_is_written_is_read(said in line()) {
            prop_assert_eq!(&ToEngine::read(&said.write()), &said);
            prop_assert_eq!(&ToEngine::read(&format!("  {}\r\n", said.write().to_ascii_lowercase())), &said);
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
