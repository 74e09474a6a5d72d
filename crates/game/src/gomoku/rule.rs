use core::fmt::Debug;

use crate::{RuleName, Side};

/// What tells one rule of gomoku from another; a type, so that the hot loops are made once for each rule.
pub trait Rule: Copy + Debug + Default + Eq + Send + Sync + 'static {
    /// Its name in a [`Variant`](crate::Variant).
    const NAME: RuleName;

    /// Stones of the shortest row that wins, at most 5. Fewer than five is for small boards, whose truth is known.
    const ROW: usize = 5;

    /// Whether some points are forbidden to [`Side::First`].
    const FORBIDS: bool = false;

    /// Whether `run` stones in an unbroken row win for `side`.
    fn is_five(side: Side, run: usize) -> bool;
}

/// Five or more in a row win, for both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freestyle;

impl Rule for Freestyle {
    const NAME: RuleName = RuleName::Freestyle;

    fn is_five(_: Side, run: usize) -> bool {
        run >= 5
    }
}

/// Exactly five in a row win, for both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standard;

impl Rule for Standard {
    const NAME: RuleName = RuleName::Standard;

    fn is_five(_: Side, run: usize) -> bool {
        run == 5
    }
}

/// Black wins with exactly five and may not play a [`Forbidden`](super::Forbidden) point; White wins with five or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renju;

impl Rule for Renju {
    const NAME: RuleName = RuleName::Renju;
    const FORBIDS: bool = true;

    fn is_five(side: Side, run: usize) -> bool {
        match side {
            Side::First => run == 5,
            Side::Second => run >= 5,
        }
    }
}
