use serde::Serialize;

/// The result of checking a claim; a later one is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// The rules, or the book itself, contradict the claim.
    Failed,
    /// The book has nothing to replay for the claim, or for one that it rests on.
    Open,
    /// The claim was replayed.
    Holds,
}

/// The number of claims, by result.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Count {
    /// All claims.
    pub claims: u64,
    /// Claims that were replayed.
    pub hold: u64,
    /// Claims that neither hold nor fail: the book has no line or tree to replay.
    pub open: u64,
    /// Claims that the rules or the book contradict.
    pub failed: u64,
}

impl Findings {
    /// Whether there are claims, but none of them holds.
    #[must_use]
    pub fn has_nothing_to_show(&self) -> bool {
        let Self {
            positions, moves, ..
        } = self;
        positions.claims + moves.claims > 0 && positions.hold + moves.hold == 0
    }

    /// Whether no claim fails, and at least one holds if there are any.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.positions.failed + self.moves.failed == 0 && !self.has_nothing_to_show()
    }
}

impl Count {
    pub(super) fn add(&mut self, status: Status) {
        self.claims += 1;
        *match status {
            Status::Failed => &mut self.failed,
            Status::Open => &mut self.open,
            Status::Holds => &mut self.hold,
        } += 1;
    }
}

/// A claim that does not hold, with the reason.
#[derive(Clone, Debug, Serialize)]
pub struct FailedClaim {
    /// The variant of the position.
    pub variant: String,
    /// The position as moves or a FEN.
    pub position: String,
    /// The claimed move; `None` for a claim about the position.
    #[serde(rename = "move")]
    pub at: Option<String>,
    /// Win, loss or draw, from the view of the side to move.
    pub claim: String,
    /// The kind of proof that is claimed.
    pub proof_kind: String,
    /// Plies within which the game shall end.
    pub plies: u16,
    /// The reason.
    pub why: String,
}

/// The results of checking a book.
#[derive(Debug, Default, Serialize)]
pub struct Findings {
    /// Claims about positions.
    pub positions: Count,
    /// Claims about searched moves.
    pub moves: Count,
    /// The first failed claims.
    pub failed: Vec<FailedClaim>,
    /// The first claims that cannot be replayed by themselves; claims that rest on them are only
    /// counted.
    pub open: Vec<FailedClaim>,
}
