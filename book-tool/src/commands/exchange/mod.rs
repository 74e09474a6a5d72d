//! Files of other programs: `import` and `export`.

pub(crate) mod annotate;
mod arguments;
mod departures;
pub(crate) mod export;
pub(crate) mod import;
mod learner;
mod played;
mod proof;
pub(super) mod site;
mod subtree;
