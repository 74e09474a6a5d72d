use kagetsu_game::Side;

use super::growth_policy::{Candidate, GrowthPolicy, PolicyInfo};

/// A repertoire: drop-out expansion that follows only the best move of one side, and every move of
/// the other side that loses no more than `margin`.
pub(super) struct OneSide;

impl GrowthPolicy for OneSide {
    fn info(&self) -> &'static PolicyInfo {
        &PolicyInfo {
            name: "one-side",
            label: "A repertoire for one side",
            help: "As drop-out, but follows only the best move of one side and all moves of the \
                   other within the margin: a repertoire",
            defaults: &[("depth", 6), ("margin", 100)],
            ignores: &[],
            can_deepen: true,
            widens: false,
        }
    }

    fn follows(&self, side: Side, candidate: &Candidate) -> bool {
        if candidate.by == side {
            candidate.is_best
        } else {
            candidate.is_within_margin
        }
    }
}
