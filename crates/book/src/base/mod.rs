//! The types of positions that all other rooms use: names, nodes, links, values, records.

pub(crate) mod annotations;
pub(crate) mod id;
pub(crate) mod links;
pub(crate) mod node;
pub(crate) mod record;
pub(crate) mod value;
