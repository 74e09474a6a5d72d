//! Proofs of the contrary, where one book learns from another.

use std::io::Write;

use anyhow::Result;
use kagetsu_game::{Answer, Position, Proof};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::arguments::position::named;

/// Conflicts that are told.
const TOLD: usize = 100;

/// Moves of which one side has proven what the other disproves.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Conflicts {
    /// The first of them, for people.
    conflicts: Vec<String>,
    conflict_count: u64,
}

impl Conflicts {
    /// Looks for more of them, in what is known of a position and what is said of it now.
    pub(crate) fn look(&mut self, position: &Position, known: &Answer, said: &Answer) {
        let say = |proof: Proof| format!("{} in {} by {}", proof.claim, proof.plies, proof.kind);
        for (m, verdict) in said.verdicts() {
            let proofs = known
                .get(*m)
                .and_then(|known| known.proof)
                .zip(verdict.proof);
            let Some((own, other)) = proofs.filter(|(own, other)| own.contradicts(*other)) else {
                continue;
            };
            self.conflict_count += 1;
            if self.conflicts.len() < TOLD {
                let (name, at) = (position.write_move(*m), named(position));
                let text = format!(
                    "{} {at}, {name}: {} against {}",
                    position.variant(),
                    say(own),
                    say(other)
                );
                self.conflicts.push(text);
            }
        }
    }

    /// How a command ends that met them.
    pub(crate) fn exit(&self) -> Exit {
        if self.conflict_count == 0 {
            Exit::Done
        } else {
            Exit::No
        }
    }

    /// Tells them, a line each.
    ///
    /// # Errors
    /// If nobody reads it.
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
