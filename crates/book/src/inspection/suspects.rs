use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use kagetsu_game::{Move, Position, Score, Verdict};

use crate::{Book, BookError, Entry};

/// The loss along a line, in centi-units, that makes a position as unimportant as one ply more.
const LOSS_PER_PLY: u32 = 25;
/// The doubt of a value that changed by a whole unit: as much as that of ten missing plies.
const DOUBT_PER_UNIT: f64 = 10.0;
/// The doubt where the search and the positions behind prefer different moves.
const DOUBT_OF_OTHER_BEST: f64 = 3.0;
/// The doubt of a best move by another version of the engine than the newest of the book.
const DOUBT_OF_OLD_ENGINE: f64 = 1.0;

/// A position whose value is doubtful.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The position, with the moves from the first one.
    pub position: Position,
    /// How doubtful the value is, in missing plies; less for positions far from the first one.
    pub doubt: f64,
    /// Plies of the search that valued it.
    pub depth: u8,
    /// Why the value is doubtful.
    pub reasons: Vec<Doubt>,
}

/// A reason to doubt a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The search was this many plies less deep than half of the book.
    Shallow(u8),
    /// The search gave one value, and the positions behind the moves give another.
    OtherValue {
        /// The value of the search.
        searched: Score,
        /// The value of the positions behind.
        behind: Score,
    },
    /// The search preferred one move, and the positions behind the moves prefer another.
    OtherBest {
        /// The best move of the search.
        searched: Move,
        /// The best move by the positions behind.
        behind: Move,
    },
    /// Another engine searched it than searched the newest position.
    OtherEngine(String),
}

/// A position of the book with its distance from the first one.
struct Important {
    entry: Entry,
    /// Plies from the first position, with those that its losses count for.
    distance: u32,
}

impl Book {
    /// Returns the doubtful ones among the `most` most important positions from a position on, the
    /// most doubtful first; `None` if the book does not hold that.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn suspects(
        &self,
        root: &Position,
        most: usize,
    ) -> Result<Option<Vec<Suspect>>, BookError> {
        let (mut seen, mut lines) = (BTreeSet::from([root.key()]), vec![root.clone()]);
        // Positions that wait, as indices of `lines`, the nearest first.
        let mut open = BinaryHeap::from([Reverse((0, 0))]);
        let mut found: Vec<Important> = Vec::new();
        while found.len() < most {
            let Some(Reverse((distance, index))) = open.pop() else {
                break;
            };
            let position: Position = lines[index].clone();
            let Some(entry) = self.lookup(&position)? else {
                continue;
            };
            let best = entry.answer.best().map(|(_, verdict)| verdict.score);
            for (m, verdict) in entry.answer.verdicts() {
                let Ok(next) = position.play(*m) else {
                    continue;
                };
                if seen.insert(next.key()) {
                    let loss = best.map_or(0, |best| loss(best, verdict.score));
                    open.push(Reverse((distance + 1 + loss / LOSS_PER_PLY, lines.len())));
                    lines.push(next);
                }
            }
            found.push(Important { entry, distance });
        }
        if found.is_empty() {
            return Ok(None);
        }
        let standard = UsualSearch::of(&found);
        let judged = found.into_iter().filter_map(|seen| standard.judge(seen));
        let mut suspects: Vec<Suspect> = judged.collect();
        suspects.sort_by(|one, other| other.doubt.total_cmp(&one.doubt));
        Ok(Some(suspects))
    }
}

/// Returns the loss of a move against the best, in centi-units.
fn loss(best: Score, score: Score) -> u32 {
    let [best, score] = [best, score].map(centi);
    u32::try_from(best - score).unwrap_or(0)
}

/// Returns a score in centi-units; a win or loss counts as 100 units.
fn centi(score: Score) -> i32 {
    const DECIDED: i32 = 10_000;
    i32::from(score.raw()).clamp(-DECIDED, DECIDED)
}

/// The usual search of a book, against which its positions are judged.
struct UsualSearch {
    /// The depth that half of the positions have.
    depth: u8,
    /// The engine of the latest search.
    engine: String,
}

impl UsualSearch {
    fn of(found: &[Important]) -> Self {
        let best = |seen: &Important| seen.entry.facts.best().map(|(_, verdict)| verdict.clone());
        let searched = found.iter().filter_map(best);
        let searched: Vec<Verdict> = searched.filter(|verdict| !verdict.is_silent()).collect();
        let mut depths: Vec<u8> = searched.iter().map(|verdict| verdict.depth).collect();
        depths.sort_unstable();
        let latest = searched.iter().max_by_key(|verdict| verdict.by.day);
        Self {
            depth: depths.get(depths.len() / 2).copied().unwrap_or(0),
            engine: latest.map_or_else(String::new, |verdict| verdict.by.engine.to_string()),
        }
    }

    /// Returns the doubt about a position; `None` without any.
    fn judge(&self, seen: Important) -> Option<Suspect> {
        let Important { entry, distance } = seen;
        let (searched_best, searched) = entry.facts.best()?;
        if entry.derived.proof.is_some() || searched.proof.is_some() {
            return None;
        }
        let (mut doubt, mut reasons) = (0.0, Vec::new());
        if searched.depth < self.depth {
            let missing = self.depth - searched.depth;
            doubt += f64::from(missing);
            reasons.push(Doubt::Shallow(missing));
        }
        if searched.is_silent() {
            // Games made the moves, and no search has a value or a choice to doubt.
            return Self::suspect(entry, doubt, distance, 0, reasons);
        }
        let (before, behind) = (searched.score, entry.derived.score);
        let change = centi(behind).abs_diff(centi(before));
        if change >= LOSS_PER_PLY {
            doubt += f64::from(change.min(1_000)) / 100.0 * DOUBT_PER_UNIT;
            reasons.push(Doubt::OtherValue {
                searched: before,
                behind,
            });
        }
        if let Some(best) = entry.derived.best.filter(|best| *best != searched_best) {
            doubt += DOUBT_OF_OTHER_BEST;
            reasons.push(Doubt::OtherBest {
                searched: searched_best,
                behind: best,
            });
        }
        if *searched.by.engine != *self.engine {
            doubt += DOUBT_OF_OLD_ENGINE;
            reasons.push(Doubt::OtherEngine(searched.by.engine.to_string()));
        }
        let depth = searched.depth;
        Self::suspect(entry, doubt, distance, depth, reasons)
    }

    /// Returns the position with its doubt, which counts less far from the first one.
    fn suspect(
        entry: Entry,
        doubt: f64,
        distance: u32,
        depth: u8,
        reasons: Vec<Doubt>,
    ) -> Option<Suspect> {
        (doubt > 0.0).then(|| Suspect {
            position: entry.position,
            doubt: doubt / (1.0 + f64::from(distance) / 4.0),
            depth,
            reasons,
        })
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Answer, Bound, Verdict};

    use super::*;
    use crate::BookOptions;

    #[test]
    fn moves_of_games_alone_are_only_shallow() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(folder.path(), &options).expect("a new book");
        let silent = (-Score::OPINION_MAX, Bound::Lower, 0);
        for (line, name, (score, bound, depth)) in [
            ("h8", "i9", (Score::opinion(10), Bound::Exact, 6)),
            ("h8 i9", "h9", (Score::opinion(-10), Bound::Exact, 6)),
            ("h8 i9 h9", "h10", (Score::opinion(10), Bound::Exact, 6)),
            ("h8 i9 h9 h10", "i8", silent),
        ] {
            let position = kagetsu_builders::position(line);
            let m = position.parse_move(name).expect("legal");
            let verdict = Verdict {
                score,
                bound,
                depth,
                ..kagetsu_builders::verdict(m, None)
            };
            let answer: Answer = [(m, verdict)].into_iter().collect();
            book.learn(&position, &answer).expect("room");
        }
        let root = kagetsu_builders::position("h8");
        let suspects = book.suspects(&root, usize::MAX).expect("readable");
        let suspects = suspects.expect("the root is there");
        let reasons: Vec<_> = suspects
            .iter()
            .map(|suspect| (suspect.position.moves().len(), &suspect.reasons[..]))
            .collect();
        assert_eq!(reasons, [(4, &[Doubt::Shallow(6)][..])]);
    }
}
