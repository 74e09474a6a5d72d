use super::growth_policy::{GrowthPolicy, PolicyInfo};

/// Drop-out expansion (Lincke: "Strategies for the automatic construction of opening books", 2000).
///
/// A position's priority is that of the position before it, plus one for the ply, plus `alpha` for
/// each 100 centi-units that its move is worse than the best. The least is next.
pub(super) struct DropOut;

impl GrowthPolicy for DropOut {
    fn info(&self) -> &'static PolicyInfo {
        &PolicyInfo {
            name: "drop-out",
            label: "Grow it widely",
            help: "The position nearest to the roots, where a worse move counts as farther away",
            defaults: &[("depth", 6)],
            ignores: &["side"],
            can_deepen: true,
            widens: false,
        }
    }
}
