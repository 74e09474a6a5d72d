//! Engine protocols: external engines as workers, and Kagetsu as an engine.

mod brain;
mod cchess;
mod certificate;
mod external;
mod fairy;
mod pygomo;
