//! The definition of a build job: its settings with their ranges and texts, and its growth policy.

pub(crate) mod build_fields;
pub(crate) mod build_spec;
pub(crate) mod field_description;
pub(crate) mod job;
pub(crate) mod move_filter;
pub(crate) mod policies;
