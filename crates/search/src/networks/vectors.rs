//! Code for the vector instructions of the processor at hand.

/// Evaluates an expression that is compiled for each of several instruction sets, with the best one
/// that the processor has. Functions that it calls profit only if they are always inlined.
macro_rules! vectorized {
    ($work:expr) => {
        fearless_simd::dispatch!(fearless_simd::Level::new(), _ => $work)
    };
}

pub(crate) use vectorized;
