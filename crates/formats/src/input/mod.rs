//! Files as people have them: packed, in any encoding, without the name of their format.

pub(crate) mod archive;
pub(crate) mod detect;
pub(crate) mod encoding;
#[cfg(test)]
mod tests;
