//! The state machine under virtual time, with honest and lying workers.

mod claims;
mod conforming;
mod doubts;
mod scenarios;
mod standing;
mod values;
mod world;
