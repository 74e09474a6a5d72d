//! Contradictory proofs, found where one book learns from another.

use std::io::Write;

use anyhow::Result;
use kagetsu_game::{Answer, Position, Proof};
use kagetsu_program::Exit;
use serde::Serialize;

/// The most conflicts that are described; the others are counted.
const MAX_DESCRIBED_CONFLICTS: usize = 100;

/// Moves with two proofs that contradict each other.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Conflicts {
    /// The first of them, as text.
    conflicts: Vec<String>,
    conflict_count: u64,
}

impl Conflicts {
    /// Compares what the book knows of a position with what it is about to learn.
    pub(crate) fn look(&mut self, position: &Position, known: &Answer, learned: &Answer) {
        let describe =
            |proof: Proof| format!("{} in {} by {}", proof.claim, proof.plies, proof.kind);
        for (m, verdict) in learned.verdicts() {
            let proofs = known
                .get(*m)
                .and_then(|known| known.proof)
                .zip(verdict.proof);
            let Some((own, other)) = proofs.filter(|(own, other)| own.contradicts(*other)) else {
                continue;
            };
            self.conflict_count += 1;
            if self.conflicts.len() < MAX_DESCRIBED_CONFLICTS {
                let (name, at) = (position.write_move(*m), position.notation());
                let text = format!(
                    "{} {at}, {name}: {} against {}",
                    position.variant(),
                    describe(own),
                    describe(other)
                );
                self.conflicts.push(text);
            }
        }
    }

    /// Returns the exit code: 1 where there are conflicts.
    pub(crate) fn exit(&self) -> Exit {
        Exit::passed(self.conflict_count == 0)
    }

    /// Writes a line for each conflict.
    ///
    /// # Errors
    /// If `out` is closed.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        for conflict in &self.conflicts {
            writeln!(out, "conflict: {conflict}")?;
        }
        let more = self.conflict_count - self.conflicts.len() as u64;
        if more > 0 {
            writeln!(out, "and {more} more conflicts")?;
        }
        Ok(())
    }
}
