//! The lines of Gomocup's protocol, and of Yixin's extensions to it as Rapfi uses them.
//!
//! Lines are read into values and values are written as lines, in both directions, so that an
//! engine and its caller share one implementation. Reading is tolerant where engines and managers
//! differ: keywords in any case, blanks anywhere.
//!
//! Sources: the protocol's document of Piskvork (2023), Gomocup's judge, the Yixin protocol
//! document, and the output of Rapfi 0.43.02.

use kagetsu_game::RuleName;

mod from_engine;
mod point;
mod session;
mod to_engine;

pub use from_engine::FromEngine;
pub use point::Point;
pub(crate) use session::Session;
pub use to_engine::ToEngine;

pub use crate::eval::Eval;

/// The numbers of rules, sums of 1 (exactly five), 4 (renju) and 8 (caro). Those that engines are
/// told come first.
pub const RULES: [(i64, RuleName); 6] = [
    (0, RuleName::Freestyle),
    (1, RuleName::Standard),
    (4, RuleName::Renju),
    (5, RuleName::Renju),
    (8, RuleName::CaroOverline),
    (9, RuleName::Caro),
];
