//! Verification of what workers answer: calibration, cross-checks, repeated proofs, trust, quarantine.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod exam;
pub(crate) mod prover;
pub(crate) mod quarantine;
pub(crate) mod trust;
pub(crate) mod unheard;
