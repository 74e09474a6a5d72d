//! Wins by continuous threats: fours alone (VCF), or whatever threatens to win by fours (VCT).
//!
//! ```
//! use kagetsu_game::{Effort, Position, Variant};
//! use kagetsu_search::Control;
//! use kagetsu_search::threats::{Class, Outcome, Threats};
//!
//! let position = Position::from_line(Variant::FREESTYLE_15, "h8 a1 i9 a4 h10 a7 i7 a10")?;
//! let mut threats = Threats::new(1 << 20);
//! let found = threats.search(&position, Class::Vct, Effort::nodes(10_000), &Control::new())?;
//! let Outcome::Win { plies, line, .. } = found.outcome else { panic!("two rows of two meet") };
//! assert!(plies <= 7 && line.len() <= usize::from(plies));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod search;
mod settle;
mod strategy;

pub use search::{Class, Found, Outcome, Threats};
pub use strategy::{Plan, Step};
