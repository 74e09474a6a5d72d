use alloc::vec::Vec;

/// A position as bytes, without history. Each game has its own form, which is the same on disk and
/// on the wire.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packed(pub Vec<u8>);

/// The error of bytes that are not a position of the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no {variant} position: {reason}")]
pub struct UnpackError {
    /// The expected variant.
    pub variant: crate::Variant,
    /// The fault.
    pub reason: &'static str,
}
