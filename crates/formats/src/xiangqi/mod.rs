//! Formats of xiangqi programs.

pub(crate) mod bridge;
pub(crate) mod colours;
pub(crate) mod eleeye;
pub(crate) mod obk;
pub(crate) mod pgn;
pub(crate) mod pgn_text;
pub(crate) mod pieces;
pub(crate) mod squares;
pub(crate) mod texts;
pub(crate) mod ubb;
pub(crate) mod written_move;
pub(crate) mod xqf;
pub(crate) mod zobrist;

use anyhow::{Result, ensure};
use kagetsu_game::Variant;

/// Refuses a variant that these formats cannot mean.
///
/// # Errors
/// If it is no xiangqi.
fn check_variant(variant: Variant) -> Result<()> {
    let is_xiangqi = matches!(variant, Variant::Xiangqi { .. });
    ensure!(is_xiangqi, "this format is of xiangqi, not of {variant}");
    Ok(())
}
