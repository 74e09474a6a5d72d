use super::growth_policy::GrowthPolicy;

/// Drop-out expansion (Lincke: "Strategies for the automatic construction of opening books", 2000).
///
/// A position's priority is that of the position before it, plus one for the ply, plus `alpha` for
/// each 100 centi-units that its move is worse than the best. The least is next.
pub(super) struct DropOut;

impl GrowthPolicy for DropOut {
    fn name(&self) -> &'static str {
        "drop-out"
    }

    fn label(&self) -> &'static str {
        "Grow it widely"
    }

    fn help(&self) -> &'static str {
        "The position nearest to the roots, where a worse move counts as farther away"
    }

    fn defaults(&self) -> &'static [(&'static str, u32)] {
        &[("depth", 6)]
    }

    fn ignores(&self) -> &'static [&'static str] {
        &["side"]
    }
}
