use super::points::Zone;

/// The stones of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ZoneBoard<const WORDS: usize> {
    /// Stones of the winner.
    pub(super) own: Zone<WORDS>,
    /// Stones of the loser.
    pub(super) foe: Zone<WORDS>,
}

impl<const WORDS: usize> ZoneBoard<WORDS> {
    pub(super) fn stones(self) -> Zone<WORDS> {
        self.own.or(self.foe)
    }
}
