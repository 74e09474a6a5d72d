/// A value as an engine reports it, from the view of the side to move. A mate is a claim, not a
/// proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eval {
    /// A number on the engine's own scale, about hundredths.
    Centi(i32),
    /// `+M12`: a win in this many plies.
    Win(u32),
    /// `-M7`: a loss in this many plies.
    Loss(u32),
}

impl Eval {
    /// Returns the value of the move that leads to a position of this value.
    pub(crate) fn before(self) -> Self {
        match self {
            Self::Centi(centi) => Self::Centi(centi.saturating_neg()),
            Self::Win(plies) => Self::Loss(plies.saturating_add(1)),
            Self::Loss(plies) => Self::Win(plies.saturating_add(1)),
        }
    }

    /// Reads what Yixin and Rapfi write: `177`, `-226`, `+M12` or `-M7`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(plies) = text.strip_prefix("-M") {
            return plies.parse().ok().map(Self::Loss);
        }
        if let Some(plies) = text.strip_prefix("+M").or_else(|| text.strip_prefix('M')) {
            return plies.parse().ok().map(Self::Win);
        }
        text.parse().ok().map(Self::Centi)
    }

    /// Writes the value in the same form.
    #[must_use]
    pub fn write(self) -> String {
        match self {
            Self::Centi(centi) => centi.to_string(),
            Self::Win(plies) => format!("+M{plies}"),
            Self::Loss(plies) => format!("-M{plies}"),
        }
    }
}
