/// SplitMix64: reproducible random numbers. Print the seed with every failure.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number from 0 to `sides - 1`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * sides as u128) >> 64) as usize
    }
}

/// Returns the number of cases: `KAGETSU_CASES` if it is set, else `every_day`.
pub(crate) fn cases(every_day: usize) -> usize {
    std::env::var("KAGETSU_CASES").map_or(every_day, |text| {
        text.parse().expect("KAGETSU_CASES is a number")
    })
}
