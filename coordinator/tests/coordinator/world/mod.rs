//! The world of the tests: coordinators, their tokens, and workers that a test controls.

mod cluster;
mod scripted_worker;
mod tokens;

pub(crate) use cluster::{
    Cluster, PAGE_ORIGIN, accepted, build, is_found_alone, named, next, position, refused, with,
    within,
};
pub(crate) use scripted_worker::{ScriptedWorker, answer, hello};
pub(crate) use tokens::TokenFile;
