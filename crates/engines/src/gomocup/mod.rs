//! The lines of Gomocup's protocol, and of Yixin's extensions to it as Rapfi uses them.
//!
//! Lines are read into values and values are written as lines, in both directions, so that an
//! engine and its caller share one implementation. Reading is tolerant where engines and managers
//! differ: keywords in any case, blanks anywhere.
//!
//! Sources: the protocol's document of Piskvork (2023), Gomocup's judge, the Yixin protocol
//! document, and the output of Rapfi 0.43.02.

mod from_engine;
mod point;
mod session;
mod to_engine;

pub use from_engine::FromEngine;
pub use point::Point;
pub(crate) use session::Session;
pub use to_engine::ToEngine;

pub use crate::eval::Eval;
