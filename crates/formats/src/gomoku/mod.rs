//! Formats of gomoku programs.

pub(crate) mod hints;
pub(crate) mod library;
pub(crate) mod pos;
pub(crate) mod psq;
pub(crate) mod renlib;
pub(crate) mod rif;
pub(crate) mod sgf;
pub(crate) mod yixin;
pub(crate) mod yxdb;
