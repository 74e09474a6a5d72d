//! Searches for wins by continuous threats.

pub(super) mod fours;
pub(super) mod lambda;
pub(super) mod memory;
pub(super) mod vcf;
pub(super) mod vct;
