//! Files of other programs: `import` and `export`.

mod arguments;
pub(crate) mod export;
pub(crate) mod import;
mod subtree;
