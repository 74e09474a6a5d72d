//! What the verification state machine needs from the outside: calibration questions, the thread
//! that replays claims, the file of quarantined workers.

pub(crate) mod calibration;
pub(crate) mod claim_verifier;
pub(crate) mod quarantine_file;
