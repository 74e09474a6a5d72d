//! Inputs of the verification state machine: calibration questions, the thread that replays claims,
//! the strategies that prove them, the file of quarantined workers.

pub(crate) mod calibration;
pub(crate) mod claim_verifier;
pub(crate) mod quarantine_file;
pub(crate) mod strategies;
