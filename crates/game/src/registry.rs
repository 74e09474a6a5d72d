use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::info::{BoardShape, GameInfo, MoveKind};
use crate::position::KnownAnswer;
use crate::{Game, Move, Symmetry, Variant, gomoku, quote, surakarta, xiangqi};

/// Lists the games: the variant's name in [`Variant`], and the module with its [`GameInfo`].
macro_rules! games {
    ($($variant:ident => $module:ident),+ $(,)?) => {
        /// All games, in the order of their codes.
        static GAMES: &[&GameInfo] = &[$(&$module::GAME),+];

        impl Variant {
            /// Returns the facts about its game.
            #[must_use]
            pub const fn game(self) -> &'static GameInfo {
                match self {
                    $(Self::$variant { .. } => &$module::GAME),+
                }
            }
        }
    };
}

games! {
    Gomoku => gomoku,
    Xiangqi => xiangqi,
    Surakarta => surakarta,
}

/// Runs `$body` with `$R` naming the [`Rule`](crate::gomoku::Rule) type of gomoku's `$rule`. The
/// second form lists the types.
#[macro_export]
macro_rules! with_rule {
    ($rule:expr, $R:ident => $body:expr) => {
        $crate::with_rule!($rule, $R => $body, {
            Freestyle: Freestyle,
            Standard: Standard,
            Renju: Renju,
            Caro: Caro<false>,
            CaroOverline: Caro<true>,
        })
    };
    ($rule:expr, $R:ident => $body:expr, {
        $($name:ident: $type:ident $(<$overlines:literal>)?,)+
    }) => {
        match $rule {
            $($crate::RuleName::$name => {
                type $R = $crate::gomoku::$type $(<$overlines>)?;
                $body
            })+
        }
    };
}

/// Runs `$body` with `$G` naming the [`Game`](crate::Game) type that plays `$variant`. The one
/// place where a run-time variant becomes a type.
#[macro_export]
macro_rules! with_game {
    ($variant:expr, $G:ident => $body:expr) => {
        match $variant {
            $crate::Variant::Gomoku { rule, .. } => $crate::with_rule!(rule, GomokuRule => {
                type $G = $crate::gomoku::Gomoku<GomokuRule>;
                $body
            }),
            $crate::Variant::Xiangqi { .. } => {
                type $G = $crate::xiangqi::Xiangqi;
                $body
            }
            $crate::Variant::Surakarta { .. } => {
                type $G = $crate::surakarta::Surakarta;
                $body
            }
        }
    };
}

/// Text or a code that names no variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariantError {
    /// No game has a variant of that name.
    #[error("unknown variant '{}'{}; known are {Names}", quote(.0), Hint(*.1))]
    Unknown(String, Option<Variant>),
    /// The number in the name is out of range.
    #[error("variant '{}': {}", quote(.0), .1)]
    Number(String, &'static str),
    /// No variant has this code.
    #[error("unknown variant code {0:#010x}: written by a newer version?")]
    Code(u32),
}

/// The question whether another variant was meant.
struct Hint(Option<Variant>);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(variant) => write!(f, "; did you mean {variant}?"),
            None => Ok(()),
        }
    }
}

/// Returns the usual variant whose name is most like the text, if any is like it.
fn nearest(text: &str) -> Option<Variant> {
    /// The most letters to add, remove or replace.
    const MAX_EDITS: usize = 3;
    /// Other names of games and rules.
    const OTHER_NAMES: [(&str, Variant); 7] = [
        ("gomoku", Variant::FREESTYLE_15),
        ("free", Variant::FREESTYLE_15),
        ("five-in-a-row", Variant::FREESTYLE_15),
        ("wuziqi", Variant::FREESTYLE_15),
        ("rif", Variant::RENJU_15),
        ("cchess", Variant::XIANGQI),
        ("chinese-chess", Variant::XIANGQI),
    ];
    const USUAL: [Variant; 5] = [
        Variant::FREESTYLE_15,
        Variant::STANDARD_15,
        Variant::RENJU_15,
        Variant::XIANGQI,
        Variant::SURAKARTA,
    ];
    let text = text.to_lowercase().replace(['_', ' '], "-");
    if let Some((_, variant)) = OTHER_NAMES.iter().find(|(name, _)| *name == text) {
        return Some(*variant);
    }
    let edits = |variant: &Variant| {
        let name = variant.to_string();
        // The size may be missing.
        let bare = name.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit());
        edit_distance(&text, &name).min(edit_distance(&text, bare))
    };
    let (edits, variant) = USUAL
        .into_iter()
        .map(|variant| (edits(&variant), variant))
        .min_by_key(|(edits, _)| *edits)?;
    (edits <= MAX_EDITS && edits * 2 < text.len()).then_some(variant)
}

/// Returns the number of letters to add, remove or replace that turn one text into the other
/// (Levenshtein's distance).
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, &their) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != their);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// The names of all variants, as a list.
struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, game) in GAMES.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", game.variant_names)?;
        }
        Ok(())
    }
}

impl Variant {
    /// Returns all variants of all games, in the order of their codes.
    pub fn all() -> impl Iterator<Item = Self> {
        GAMES.iter().flat_map(|game| (game.variants)())
    }

    /// Returns the four bytes that name the variant on disk and in keys: the game, then three of
    /// the game's own. Frozen.
    #[must_use]
    pub const fn code(self) -> u32 {
        let [a, b, c] = match self {
            Self::Gomoku { rule, size } => gomoku::code(rule, size),
            Self::Xiangqi { chase } => xiangqi::code(chase),
            Self::Surakarta { limit } => surakarta::code(limit),
        };
        u32::from_be_bytes([self.game().code, a, b, c])
    }

    /// Returns the variant with this code.
    ///
    /// # Errors
    /// [`VariantError::Code`] if there is none.
    pub fn from_code(code: u32) -> Result<Self, VariantError> {
        let [game, rest @ ..] = code.to_be_bytes();
        let game = GAMES.iter().find(|info| info.code == game);
        game.and_then(|game| (game.from_code)(rest))
            .ok_or(VariantError::Code(code))
    }

    /// Returns the shape of the board.
    #[must_use]
    pub fn board(self) -> BoardShape {
        (self.game().board)(self)
    }

    /// Whether a move puts a stone on an empty point, so that the stones tell the number of plies.
    #[must_use]
    pub fn places_stones(self) -> bool {
        self.board().moves == MoveKind::Placement
    }

    /// Whether a position can come again in a game; see [`GameInfo::has_repetition`].
    #[must_use]
    pub const fn has_repetition(self) -> bool {
        self.game().has_repetition
    }

    /// Whether the search looks for wins by threats; see [`GameInfo::has_threat_search`].
    #[must_use]
    pub const fn has_threat_search(self) -> bool {
        self.game().has_threat_search
    }

    /// Whether the game has all symmetries of a square; see [`GameInfo::is_square`].
    #[must_use]
    pub const fn is_square(self) -> bool {
        self.game().is_square
    }

    /// Returns positions with known answers; may be empty.
    #[must_use]
    pub fn known_answers(self) -> Vec<KnownAnswer> {
        (self.game().known_answers)(self)
    }

    /// Returns all symmetries of the board under which this game stays the same, the identity
    /// first.
    pub fn symmetries(self) -> impl Iterator<Item = Symmetry> + Clone {
        (0..with_game!(self, G => G::SYMMETRIES)).map(Symmetry::new)
    }

    /// Returns the image of a move under `symmetry`.
    #[must_use]
    pub fn image(self, m: Move, symmetry: Symmetry) -> Move {
        with_game!(self, G => G::image(self, m, symmetry))
    }

    /// Returns the symmetry that undoes `symmetry`.
    #[must_use]
    pub fn inverse(self, symmetry: Symmetry) -> Symmetry {
        with_game!(self, G => G::inverse(symmetry))
    }
}

/// The name that [`Variant::from_str`] reads.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&(self.game().write)(*self))
    }
}

impl FromStr for Variant {
    type Err = VariantError;

    /// Reads the name of a rule with the board size, as in `renju-15`; `xiangqi`, or
    /// `xiangqi-chase` where a perpetual chase loses; `surakarta`, or `surakarta-40` with another
    /// limit of plies than 80.
    fn from_str(text: &str) -> Result<Self, VariantError> {
        match GAMES.iter().find_map(|game| (game.parse)(text)) {
            Some(Ok(variant)) => Ok(variant),
            Some(Err(reason)) => Err(VariantError::Number(text.to_string(), reason)),
            None => Err(VariantError::Unknown(text.to_string(), nearest(text))),
        }
    }
}
