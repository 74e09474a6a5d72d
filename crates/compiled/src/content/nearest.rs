use std::fmt;

use kagetsu_game::{Position, Variant};

use crate::content::overview::Overview;

/// Roots that a message names.
const MAX_NAMED: usize = 4;

/// The part of a book that is nearest to a position that the book does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// An earlier position of the same line.
    Line(Position),
    /// The roots of the same variant, and the number of all of them.
    Roots(Vec<Position>, u64),
    /// The variants that the book holds, with their numbers of positions.
    Variants(Vec<(Variant, u64)>),
    /// Nothing: the book is empty, or does not say what it holds.
    Nothing,
}

impl Nearest {
    /// Returns the message about a position that the book does not hold.
    #[must_use]
    pub fn message(&self, position: &Position) -> String {
        match self {
            Self::Nothing => format!("the book does not hold {position}"),
            nearest => format!("the book does not hold {position}; {nearest}"),
        }
    }
}

impl Overview {
    /// Returns the part that is nearest to a position that the book does not hold. `line` is the
    /// longest of [`Position::prefixes`] that it holds.
    #[must_use]
    pub fn nearest(&self, position: &Position, line: Option<Position>) -> Nearest {
        if let Some(line) = line {
            return Nearest::Line(line);
        }
        let held = self.variant(position.variant());
        if let Some(held) = held.filter(|held| !held.roots.is_empty()) {
            let roots = held.roots.iter().map(|root| root.position.clone());
            return Nearest::Roots(roots.collect(), held.all_roots);
        }
        if self.variants.is_empty() {
            return Nearest::Nothing;
        }
        let variants = self.variants.iter();
        Nearest::Variants(
            variants
                .map(|held| (held.variant, held.positions))
                .collect(),
        )
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(position) if position.moves().is_empty() => {
                write!(f, "it holds only the first position of this line")
            }
            Self::Line(position) => {
                let count = position.moves().len();
                let plural = if count == 1 { "" } else { "s" };
                write!(
                    f,
                    "it holds this line as far as {position} ({count} move{plural})"
                )
            }
            Self::Roots(roots, all) => {
                f.write_str("it begins at ")?;
                for (index, root) in roots.iter().take(MAX_NAMED).enumerate() {
                    let separator = if index == 0 { "" } else { " | " };
                    write!(f, "{separator}{root}")?;
                }
                match all.saturating_sub(roots.len().min(MAX_NAMED) as u64) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::Variants(variants) => {
                f.write_str("it holds ")?;
                for (index, (variant, positions)) in variants.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{variant} ({positions} positions)")?;
                }
                Ok(())
            }
            Self::Nothing => f.write_str("it is empty"),
        }
    }
}
