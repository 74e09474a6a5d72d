use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// The three rules of gomoku.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleName {
    /// Five or more in a row win.
    Freestyle,
    /// Exactly five in a row win.
    Standard,
    /// Black wins with exactly five and may make no overline, double four or double three; White wins with five or more.
    Renju,
}

/// Which game is played, by which rule, on which board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// Five in a row.
    Gomoku {
        /// What wins.
        rule: RuleName,
        /// Columns, and rows, of the board: 5 to 22.
        size: u8,
    },
    /// Chinese chess.
    Xiangqi {
        /// What is held against a side that chases for ever.
        chase: Chase,
    },
    /// Surakarta on its board of 6x6.
    Surakarta {
        /// The game ends after so many plies without a capture, and more pieces win: 1 to 255, usually 80.
        limit: u8,
    },
}

/// Whether chasing an unprotected piece for ever loses a game of xiangqi, as checking for ever always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chase {
    /// It draws, as any other repetition.
    None,
    /// It loses, by the simplified rule of the UCCI league (see [`xiangqi`](crate::xiangqi)).
    Simple,
}

/// Text that names no variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariantError {
    /// No game of that name.
    #[error(
        "unknown variant '{0}'; known are freestyle-N, standard-N and renju-N (N from 5 to 22, as in freestyle-15), \
         xiangqi, xiangqi-chase, surakarta and surakarta-N (N plies without a capture end the game, 1 to 255)"
    )]
    Unknown(String),
    /// A board that is too small or too large.
    #[error("variant '{0}': the board size must be from 5 to 22")]
    Size(String),
    /// A limit of plies that is too small or too large.
    #[error(
        "variant '{0}': the limit of plies without a capture must be from 1 to 255; 80, the usual one, is left out"
    )]
    Limit(String),
    /// A code on disk or wire that no variant has.
    #[error("unknown variant code {0:#010x}: written by a newer version?")]
    Code(u32),
}

impl Variant {
    /// Freestyle gomoku on the usual board.
    pub const FREESTYLE_15: Self = Self::Gomoku {
        rule: RuleName::Freestyle,
        size: 15,
    };

    /// Standard gomoku on the usual board.
    pub const STANDARD_15: Self = Self::Gomoku {
        rule: RuleName::Standard,
        size: 15,
    };

    /// Renju on its board.
    pub const RENJU_15: Self = Self::Gomoku {
        rule: RuleName::Renju,
        size: 15,
    };

    /// Xiangqi, where only perpetual check loses by repetition.
    pub const XIANGQI: Self = Self::Xiangqi { chase: Chase::None };

    /// Surakarta with the usual limit.
    pub const SURAKARTA: Self = Self::Surakarta { limit: 80 };

    /// The smallest and the largest gomoku board.
    pub const GOMOKU_SIZES: core::ops::RangeInclusive<u8> = 5..=22;

    /// All of them, in the order of their codes.
    pub fn all() -> impl Iterator<Item = Self> {
        let sizes = |rule| Self::GOMOKU_SIZES.map(move |size| Self::Gomoku { rule, size });
        let gomoku = RuleName::ALL.into_iter().flat_map(sizes);
        let xiangqi = [Chase::None, Chase::Simple].map(|chase| Self::Xiangqi { chase });
        gomoku
            .chain(xiangqi)
            .chain((1..=u8::MAX).map(|limit| Self::Surakarta { limit }))
    }

    /// Four bytes that name the variant on disk and in keys: game, rule, size, options. Frozen.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Gomoku { rule, size } => 1 << 24 | (rule as u32 + 1) << 16 | (size as u32) << 8,
            Self::Xiangqi { chase } => 2 << 24 | chase as u32,
            Self::Surakarta { limit } => 3 << 24 | limit as u32,
        }
    }

    /// The variant with this code.
    ///
    /// # Errors
    /// [`VariantError::Code`] when there is none.
    pub fn from_code(code: u32) -> Result<Self, VariantError> {
        let [game, rule, size, options] = code.to_be_bytes();
        match (game, rule, options) {
            (1, 1..=3, 0) if Self::GOMOKU_SIZES.contains(&size) => Ok(Self::Gomoku {
                rule: RuleName::ALL[usize::from(rule) - 1],
                size,
            }),
            (2, 0, 0) if size == 0 => Ok(Self::Xiangqi { chase: Chase::None }),
            (2, 0, 1) if size == 0 => Ok(Self::Xiangqi {
                chase: Chase::Simple,
            }),
            (3, 0, 1..) if size == 0 => Ok(Self::Surakarta { limit: options }),
            _ => Err(VariantError::Code(code)),
        }
    }
}

impl RuleName {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Freestyle, Self::Standard, Self::Renju];
}

/// As in the text of a [`Variant`].
impl fmt::Display for RuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Freestyle => "freestyle",
            Self::Standard => "standard",
            Self::Renju => "renju",
        })
    }
}

/// As in [`Variant::from_str`].
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Gomoku { rule, size } => write!(f, "{rule}-{size}"),
            Self::Xiangqi { chase: Chase::None } => f.write_str("xiangqi"),
            Self::Xiangqi {
                chase: Chase::Simple,
            } => f.write_str("xiangqi-chase"),
            Self::SURAKARTA => f.write_str("surakarta"),
            Self::Surakarta { limit } => write!(f, "surakarta-{limit}"),
        }
    }
}

impl FromStr for Variant {
    type Err = VariantError;

    /// `freestyle-15`, `standard-15`, `renju-15`, the number being the board size; `xiangqi`, or `xiangqi-chase` where a
    /// perpetual chase loses; `surakarta`, or `surakarta-40` with another limit of plies than 80.
    fn from_str(text: &str) -> Result<Self, VariantError> {
        let (name, number) = text
            .split_once('-')
            .map_or((text, None), |(name, rest)| (name, Some(rest)));
        let gomoku =
            |rule| gomoku(rule, number).ok_or_else(|| VariantError::Size(text.to_string()));
        match (name, number) {
            ("freestyle", Some(_)) => gomoku(RuleName::Freestyle),
            ("standard", Some(_)) => gomoku(RuleName::Standard),
            ("renju", Some(_)) => gomoku(RuleName::Renju),
            ("xiangqi", None) => Ok(Self::XIANGQI),
            ("xiangqi", Some("chase")) => Ok(Self::Xiangqi {
                chase: Chase::Simple,
            }),
            ("surakarta", None) => Ok(Self::SURAKARTA),
            ("surakarta", limit) => {
                surakarta(limit).ok_or_else(|| VariantError::Limit(text.to_string()))
            }
            _ => Err(VariantError::Unknown(text.to_string())),
        }
    }
}

fn gomoku(rule: RuleName, size: Option<&str>) -> Option<Variant> {
    let size = plain_number(size?).filter(|size| Variant::GOMOKU_SIZES.contains(size))?;
    Some(Variant::Gomoku { rule, size })
}

/// The usual limit has a name without a number, and every variant has one name only.
fn surakarta(limit: Option<&str>) -> Option<Variant> {
    let limit = plain_number(limit?).filter(|&limit| limit > 0)?;
    Some(Variant::Surakarta { limit }).filter(|&variant| variant != Variant::SURAKARTA)
}

/// A number written as we write it: no sign, no leading zero.
fn plain_number(text: &str) -> Option<u8> {
    text.parse()
        .ok()
        .filter(|number: &u8| number.to_string() == text)
}
