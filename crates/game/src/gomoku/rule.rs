use core::fmt::Debug;

use crate::{RuleName, Side};

/// What tells one rule of gomoku from another; a type, so that the hot loops are made once for each rule.
pub trait Rule: Copy + Debug + Default + Send + Sync + 'static {
    /// Its name in a [`Variant`](crate::Variant).
    const NAME: RuleName;

    /// Whether `run` stones in an unbroken row win for `side`.
    fn is_five(side: Side, run: usize) -> bool;
}

/// Five or more in a row win, for both sides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Freestyle;

impl Rule for Freestyle {
    const NAME: RuleName = RuleName::Freestyle;

    fn is_five(_: Side, run: usize) -> bool {
        run >= 5
    }
}
