//! The facts that a book states about its positions and about itself.

pub(crate) mod annotation;
pub(crate) mod annotation_json;
pub(crate) mod behind;
pub(crate) mod check_report;
pub(crate) mod choice;
pub(crate) mod day;
pub(crate) mod derived;
pub(crate) mod extras;
pub(crate) mod nearest;
pub(crate) mod overview;
pub(crate) mod stats;
