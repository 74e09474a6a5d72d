//! Wins by continuous threats: fours alone (VCF), or moves that threaten to win by fours (VCT).
//!
//! ```
//! use kagetsu_game::{Effort, Position, Variant};
//! use kagetsu_search::Control;
//! use kagetsu_search::threats::{ThreatClass, ThreatOutcome, ThreatSearch};
//!
//! let position = Position::from_line(Variant::FREESTYLE_15, "h8 a1 i9 a4 h10 a7 i7 a10")?;
//! let mut threats = ThreatSearch::new(1 << 20);
//! let effort = Effort::nodes(10_000);
//! let found = threats.search(&position, ThreatClass::Vct, effort, &Control::new())?;
//! let ThreatOutcome::Win { plies, line, .. } = found.outcome else {
//!     panic!("two rows of two meet")
//! };
//! assert!(plies <= 7 && line.len() <= usize::from(plies));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod search;
mod settle;
mod strategy;

pub use search::{ThreatClass, ThreatOutcome, ThreatResult, ThreatSearch};
pub use strategy::{ClaimStrategy, Strategy, StrategyStep};
