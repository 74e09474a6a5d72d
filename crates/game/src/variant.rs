/// The game, its rules and its board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// Five in a row.
    Gomoku {
        /// The rule.
        rule: RuleName,
        /// Columns, and rows, of the board: 5 to 22.
        size: u8,
    },
    /// Chinese chess.
    Xiangqi {
        /// The rule for perpetual chases.
        chase: Chase,
    },
    /// Surakarta on its board of 6x6.
    Surakarta {
        /// Plies without a capture after which the game ends and more pieces win: 1 to 255,
        /// usually 80.
        limit: u8,
    },
}

/// The rules of gomoku.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleName {
    /// Five or more in a row win.
    Freestyle,
    /// Exactly five in a row win.
    Standard,
    /// Black wins with exactly five and may make no overline, double four or double three; White
    /// wins with five or more.
    Renju,
    /// Exactly five in a row win, unless the opponent's stones stand at both ends.
    Caro,
    /// The same, and six or more in a row win in any case.
    CaroOverline,
}

/// The rule of xiangqi for chasing an unprotected piece for ever. Perpetual check always loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chase {
    /// It draws, as any other repetition.
    None,
    /// It loses, by the simplified rule of the UCCI league (see [`xiangqi`](crate::xiangqi)).
    Simple,
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

    /// Xiangqi in which a perpetual chase loses.
    pub const XIANGQI_CHASE: Self = Self::Xiangqi {
        chase: Chase::Simple,
    };

    /// Surakarta with the usual limit.
    pub const SURAKARTA: Self = Self::Surakarta { limit: 80 };

    /// The smallest and the largest gomoku board.
    pub const GOMOKU_SIZES: core::ops::RangeInclusive<u8> = 5..=22;

    /// Returns rule and board size of a gomoku variant, for formats and protocols that know gomoku
    /// alone; `None` for other games.
    #[must_use]
    pub const fn gomoku(self) -> Option<(RuleName, u8)> {
        match self {
            Self::Gomoku { rule, size } => Some((rule, size)),
            _ => None,
        }
    }
}

crate::names!(RuleName {
    Freestyle = "freestyle",
    Standard = "standard",
    Renju = "renju",
    Caro = "caro",
    CaroOverline = "caro-overline",
});
