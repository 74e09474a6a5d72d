//! The files of weights in `data/`: parts of the program, or given to it without the feature
//! `weights`, as in a page that loads those of one game.

use std::sync::OnceLock;

use kagetsu_game::{RuleName, Variant};

/// Names of gomoku's files, without their endings. In renju each side has its own.
const NAMES: [&str; 4] = ["freestyle", "standard", "renju-first", "renju-second"];

/// Names of the files of networks and of move orders, the latter in the order of [`NAMES`].
const FILES: [&str; 9] = [
    "freestyle.bin",
    "standard.bin",
    "renju-first.bin",
    "renju-second.bin",
    "xiangqi.bin",
    "freestyle.order",
    "standard.order",
    "renju-first.order",
    "renju-second.order",
];
/// Their bytes.
const BYTES: [usize; FILES.len()] = [
    135_968, 135_968, 135_968, 135_968, 179_072, 92_820, 92_820, 92_820, 92_820,
];
/// The place of the network of xiangqi.
pub(crate) const XIANGQI: usize = 4;
/// The place of the first move order.
pub(crate) const ORDERS: usize = 5;

#[cfg(feature = "weights")]
const OWN: [&[u8]; FILES.len()] = [
    include_bytes!("../../data/freestyle.bin"),
    include_bytes!("../../data/standard.bin"),
    include_bytes!("../../data/renju-first.bin"),
    include_bytes!("../../data/renju-second.bin"),
    include_bytes!("../../data/xiangqi.bin"),
    include_bytes!("../../data/freestyle.order"),
    include_bytes!("../../data/standard.order"),
    include_bytes!("../../data/renju-first.order"),
    include_bytes!("../../data/renju-second.order"),
];
#[cfg(not(feature = "weights"))]
const OWN: [&[u8]; FILES.len()] = [&[]; FILES.len()];

static GIVEN: [OnceLock<Vec<u8>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Returns the place of each side's weights among those of all rules, in the order of [`NAMES`].
/// Caro has none of its own and uses those of standard gomoku.
pub(crate) const fn places(rule: RuleName) -> [usize; 2] {
    match rule {
        RuleName::Freestyle => [0, 0],
        RuleName::Standard | RuleName::Caro | RuleName::CaroOverline => [1, 1],
        RuleName::Renju => [2, 3],
    }
}

/// Returns the names of a rule's files of weights, without their endings: one for both sides, or
/// one for each.
pub fn weight_names(rule: RuleName) -> &'static [&'static str] {
    let [first, second] = places(rule);
    &NAMES[first..=second]
}

/// Returns the content of a file; nothing if the program does not have it.
pub(crate) fn content(file: usize) -> &'static [u8] {
    match OWN[file] {
        [] => GIVEN[file].get().map_or(&[], Vec::as_slice),
        own => own,
    }
}

/// Reads a file of this many numbers of 16 bits, the low byte first; `None` for another length.
pub(crate) fn numbers(bytes: &[u8], count: usize) -> Option<Vec<i16>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let is_whole = pairs.len() == count && rest.is_empty();
    is_whole.then(|| pairs.iter().map(|&pair| i16::from_le_bytes(pair)).collect())
}

/// Returns the name of a file of weights that a search of the variant needs and that the program
/// does not have. With the feature `weights` it has all.
#[must_use]
pub fn missing_weights(variant: Variant) -> Option<&'static str> {
    let needed = match variant.gomoku() {
        Some((rule, _)) => {
            let [first, second] = places(rule);
            vec![first, second, ORDERS + first, ORDERS + second]
        }
        None if variant == Variant::SURAKARTA => vec![],
        None => vec![XIANGQI],
    };
    let missing = needed.into_iter().find(|file| content(*file).is_empty());
    missing.map(|file| FILES[file])
}

/// Gives the program the content of a file of weights, by the name in `data/`. Returns whether it
/// is one.
pub fn give_weights(name: &str, bytes: Vec<u8>) -> bool {
    let Some(file) = FILES.iter().position(|known| *known == name) else {
        return false;
    };
    // The first content of a file stays.
    bytes.len() == BYTES[file] && !GIVEN[file].get_or_init(|| bytes).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_weights_of_their_kind_are_taken() {
        for (file, name) in FILES.iter().enumerate() {
            let own = content(file).to_vec();
            assert!(!give_weights(name, own[1..].to_vec()), "{name}");
            assert!(!give_weights(&name[1..], own.clone()), "{name}");
            assert!(give_weights(name, own), "{name}");
        }
        for variant in Variant::all() {
            assert_eq!(missing_weights(variant), None, "{variant}");
        }
    }
}
