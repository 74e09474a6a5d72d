use alloc::vec::Vec;

/// A position as bytes: everything that decides its future, and no history. The form is the game's own; it is the same
/// on disk and on the wire, and only grows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packed(pub Vec<u8>);

/// Bytes that are no position of the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are no {variant} position: {reason}")]
pub struct UnpackError {
    /// Which game was expected.
    pub variant: crate::Variant,
    /// What is wrong with them.
    pub reason: &'static str,
}
