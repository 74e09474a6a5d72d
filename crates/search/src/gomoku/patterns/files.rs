use kagetsu_game::RuleName;

/// Names of the files of weights in `data/`, without their endings. In renju each side has its own.
const NAMES: [&str; 4] = ["freestyle", "standard", "renju-first", "renju-second"];

/// Returns the place of each side's weights among those of all rules, in the order of [`NAMES`].
pub(super) const fn places(rule: RuleName) -> [usize; 2] {
    match rule {
        RuleName::Freestyle => [0, 0],
        RuleName::Standard => [1, 1],
        RuleName::Renju => [2, 3],
    }
}

/// Returns the names of a rule's files of weights, without their endings: one for both sides, or
/// one for each.
pub(crate) fn weight_names(rule: RuleName) -> &'static [&'static str] {
    let [first, second] = places(rule);
    &NAMES[first..=second]
}
