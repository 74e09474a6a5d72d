use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::content::annotation::Annotation;

/// The parts of a compiled book beside its values, which it has on request: the words of people
/// and the results of games, by the keys of their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Extras {
    /// Annotations in canonical orientation.
    pub annotations: BTreeMap<u128, Vec<Annotation>>,
    /// The key behind each move that was made in games, with the numbers of these games: without a
    /// known result, won by the first side, drawn, won by the second side.
    pub games: BTreeMap<u128, Vec<(u128, [u32; 4])>>,
}

impl Extras {
    /// Returns the bytes behind the summary; none where there is nothing.
    #[cfg(feature = "files")]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if *self == Self::default() {
            return Vec::new();
        }
        postcard::to_allocvec(self).expect("plain data, and memory grows")
    }
}
