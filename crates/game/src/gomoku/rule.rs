use core::fmt::Debug;

use crate::{RuleName, Side};

/// A rule of gomoku as a type, so that the inner loops are compiled for each rule.
pub trait Rule: Copy + Debug + Default + Eq + Send + Sync + 'static {
    /// The name in a [`Variant`](crate::Variant).
    const NAME: RuleName;

    /// Shortest winning row, at most 5; shorter ones serve small boards that are solved completely.
    const ROW: usize = 5;

    /// Whether some points are forbidden to the first side.
    const FORBIDS: bool = false;

    /// Whether stones of the opponent at both ends of five stones keep them from winning.
    const CLOSES: bool = false;

    /// Whether an unbroken row of `run` stones wins for `side`. `is_closed` tells whether stones of
    /// the opponent stand at both ends of the row, which is asked about five stones alone.
    fn is_five(side: Side, run: usize, is_closed: impl FnOnce() -> bool) -> bool;
}

/// Five or more in a row win, for both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freestyle;

impl Rule for Freestyle {
    const NAME: RuleName = RuleName::Freestyle;

    fn is_five(_: Side, run: usize, _: impl FnOnce() -> bool) -> bool {
        run >= 5
    }
}

/// Exactly five in a row win, for both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standard;

impl Rule for Standard {
    const NAME: RuleName = RuleName::Standard;

    fn is_five(_: Side, run: usize, _: impl FnOnce() -> bool) -> bool {
        run == 5
    }
}

/// Black wins with exactly five and may not play a [`Forbidden`](super::Forbidden) point; White
/// wins with five or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renju;

impl Rule for Renju {
    const NAME: RuleName = RuleName::Renju;
    const FORBIDS: bool = true;

    fn is_five(side: Side, run: usize, _: impl FnOnce() -> bool) -> bool {
        match side {
            Side::First => run == 5,
            Side::Second => run >= 5,
        }
    }
}

/// Five win for both sides, unless the opponent's stones stand at both ends; the edge closes
/// nothing. More than five win in any case with `OVERLINES`, else never.
///
/// The rules are 9 and, with `OVERLINES`, 8 of Gomocup's referee (GomocupJudge,
/// `client/ai_match.py`) and of Piskvork (`source/game.cpp`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caro<const OVERLINES: bool>;

impl<const OVERLINES: bool> Rule for Caro<OVERLINES> {
    const NAME: RuleName = match OVERLINES {
        false => RuleName::Caro,
        true => RuleName::CaroOverline,
    };
    const CLOSES: bool = true;

    fn is_five(_: Side, run: usize, is_closed: impl FnOnce() -> bool) -> bool {
        run == 5 && !is_closed() || OVERLINES && run > 5
    }
}
