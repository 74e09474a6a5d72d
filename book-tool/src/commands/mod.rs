//! The commands, a file or a folder each, by theme.

pub(crate) mod analysis;
pub(crate) mod bench;
pub(crate) mod books;
pub(crate) mod cluster;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod jobs;
pub(crate) mod lookup;
pub(crate) mod maintenance;
pub(crate) mod manual;
pub(crate) mod verify;
