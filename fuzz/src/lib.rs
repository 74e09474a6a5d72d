//! What the fuzz targets share: a variant chosen by two bytes.

use kagetsu_game::{RuleName, Variant};

/// One of the gomoku variants, all of which can be reached.
#[must_use]
pub fn gomoku(rule: u8, size: u8) -> Variant {
    let sizes = Variant::GOMOKU_SIZES;
    let size = sizes.start() + size % (sizes.end() - sizes.start() + 1);
    Variant::Gomoku { rule: RuleName::ALL[usize::from(rule) % RuleName::ALL.len()], size }
}
