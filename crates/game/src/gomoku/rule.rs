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

    /// Whether an unbroken row of `run` stones wins for `side`.
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

/// Black wins with exactly five and may not play a [`Forbidden`](super::Forbidden) point; White
/// wins with five or more.
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
