//! Code for the vector instructions of the processor at hand.

/// Evaluates an expression that is compiled for each of several instruction sets, with the best one
/// that the processor has. Functions that it calls profit only if they are always inlined.
macro_rules! vectorized {
    ($work:expr) => {
        fearless_simd::dispatch!(fearless_simd::Level::new(), _ => $work)
    };
}

/// Returns the sum of the products of two vectors.
#[inline(always)]
pub(crate) fn product(left: &[i16], right: &[i16]) -> i32 {
    let factors = left.iter().zip(right);
    factors
        .map(|(&left, &right)| i32::from(left) * i32::from(right))
        .sum()
}

pub(crate) use vectorized;
