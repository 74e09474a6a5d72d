//! The settings of a build job: their values, ranges, texts and faults.

pub(crate) mod build_fields;
pub(crate) mod build_spec;
pub(crate) mod field_description;
pub(crate) mod spec_fault;
