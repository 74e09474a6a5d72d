//! Names of variants and keys, and the codes of variants.

use kagetsu_game::{Key, Variant};

/// Asserts that names and codes of variants and names of keys are written as they were read.
pub fn names(input: (u32, &str)) {
    let (code, text) = input;
    if let Ok(variant) = text.parse::<Variant>() {
        assert_eq!(variant.to_string(), text);
    }
    if let Ok(variant) = Variant::from_code(code) {
        assert_eq!(variant.code(), code);
    }
    if let Ok(key) = text.parse::<Key>() {
        assert_eq!(key.to_string(), text.to_ascii_lowercase());
    }
}
