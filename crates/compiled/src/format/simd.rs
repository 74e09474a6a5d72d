//! Instructions of x86-64 that a look-up uses, and portable replacements.

/// Bytes compared at once.
pub(crate) const NAMES_AT_ONCE: usize = 16;

/// Prefetches the cache line with the byte at `at`. No later instruction waits for it, so that the
/// next look-up may begin meanwhile.
#[inline]
pub(crate) fn ask(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fail at any address.
        #[expect(unsafe_code, reason = "it takes a pointer")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(bytes.get(at).copied());
}

/// Compares all names with one, and returns one bit for each that is equal.
#[inline]
pub(crate) fn equal(names: &[u8; NAMES_AT_ONCE], name: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
        let halves = u128::from_le_bytes(*names);
        // SAFETY: every x86-64 processor has these instructions.
        #[expect(
            unsafe_code,
            reason = "the compiler does not take the instructions for granted"
        )]
        unsafe {
            let names = _mm_set_epi64x((halves >> 64) as i64, halves as i64);
            _mm_movemask_epi8(_mm_cmpeq_epi8(names, _mm_set1_epi8(name.cast_signed())))
                .cast_unsigned()
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    plainly(names, name)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plainly(names: &[u8; NAMES_AT_ONCE], name: u8) -> u32 {
    names
        .iter()
        .rev()
        .fold(0, |bits, known| bits << 1 | u32::from(*known == name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn simd_gives_the_same_results(names: [u8; NAMES_AT_ONCE], few in 1u8.., name: u8) {
            let names = names.map(|known| known % few);
            prop_assert_eq!(equal(&names, name % few), plainly(&names, name % few));
            ask(&names, usize::MAX);
        }
    }
}
