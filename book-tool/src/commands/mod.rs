//! The commands, a file or a folder each, by theme.

pub(crate) mod analysis;
pub(crate) mod bench;
pub(crate) mod books;
pub(crate) mod cluster;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod jobs;
pub(crate) mod lookup;
pub(crate) mod maintenance;
pub(crate) mod manual;
pub(crate) mod verify;

use kagetsu_game::{Answer, Move, Position, Verdict};

/// Returns the verdict on a move, or on one that leads to the same position by symmetry.
pub(crate) fn verdict_on<'a>(at: &Position, answer: &'a Answer, m: Move) -> Option<&'a Verdict> {
    let after = |m: Move| at.play(m).ok().map(|next| next.key());
    let same = |(known, _): &&(Move, Verdict)| after(*known) == after(m);
    let by_symmetry = || answer.verdicts().iter().find(same).map(|known| &known.1);
    answer.get(m).or_else(by_symmetry)
}
