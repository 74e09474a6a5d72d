//! Games and trees of moves, counted into answers.

use std::collections::{BTreeMap, HashMap, HashSet};

use kagetsu_book::{Annotation, AnnotationKind, Day};
use kagetsu_game::{
    Answer, Bound, Claim, Key, Move, Outcome, Position, PositionError, Proof, ProofKind,
    Provenance, Score, Variant, Verdict,
};
pub(crate) use kagetsu_games::GameResult;
use kagetsu_games::{GameRecord, GameTags, after};

use crate::games::book_tree::comments;
use crate::games::tree::GameTree;

/// The value that a file gives a move, from the view of the side that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GivenValue {
    pub(crate) score: Score,
    pub(crate) proof: Option<Proof>,
    /// The depth of the search, if the file gives it.
    pub(crate) depth: u8,
}

impl GivenValue {
    /// A value without a proof, in centi-units.
    pub(crate) fn opinion(centi: i32) -> Self {
        Self {
            score: Score::opinion(centi),
            proof: None,
            depth: 0,
        }
    }
}

impl From<Proof> for GivenValue {
    fn from(proof: Proof) -> Self {
        Self {
            score: proof.score(),
            proof: Some(proof),
            depth: 0,
        }
    }
}

/// The number of games in which a move was made, and the value that a file gives it.
#[derive(Clone, Copy, Debug, Default)]
struct GameTally {
    games: u64,
    given: Option<GivenValue>,
}

/// The moves that were played in each position, counted over all symmetric images.
#[derive(Debug, Default)]
pub(crate) struct Games {
    known: HashMap<(Variant, Key), usize>,
    played: Vec<(Position, BTreeMap<Move, GameTally>)>,
    /// The number of moves on points that renju forbids, which a book does not hold.
    fouls: u64,
    /// The number of trees of lines, which are no games, with a title or a result.
    pub(crate) titles: u64,
    /// The games without branches.
    records: Vec<GameRecord>,
    /// The words of people, without file and day, in canonical orientation.
    notes: Vec<(Position, Annotation)>,
}

impl Games {
    /// Returns the games without branches.
    #[cfg(test)]
    pub(crate) fn records(&self) -> &[GameRecord] {
        &self.records
    }

    /// Takes the games without branches.
    pub(crate) fn take_records(&mut self) -> Vec<GameRecord> {
        std::mem::take(&mut self.records)
    }

    /// Takes the words of people.
    pub(crate) fn take_notes(&mut self) -> Vec<(Position, Annotation)> {
        std::mem::take(&mut self.notes)
    }

    /// Adds a comment or another annotation; an empty text says nothing.
    pub(crate) fn note(
        &mut self,
        position: &Position,
        at: Option<Move>,
        kind: AnnotationKind,
        text: &str,
    ) {
        if !text.is_empty() || kind == AnnotationKind::Mark {
            let annotation = Annotation {
                at,
                kind,
                text: text.into(),
                author: String::new(),
                source: String::new(),
                day: 0,
            };
            self.notes.extend(in_canonical(position, annotation));
        }
    }

    /// Returns the number of moves on forbidden points.
    pub(crate) fn fouls(&self) -> u64 {
        self.fouls
    }

    fn tally(&mut self, position: &Position, m: Move) -> Option<&mut GameTally> {
        let (variant, canonical) = (position.variant(), position.canonical());
        let at = match self.known.get(&(variant, canonical.key)) {
            Some(at) => *at,
            None => {
                let canonical_position = Position::unpack(variant, canonical.packed).ok()?;
                self.played.push((canonical_position, BTreeMap::new()));
                self.known
                    .insert((variant, canonical.key), self.played.len() - 1);
                self.played.len() - 1
            }
        };
        let (played, m) = (&mut self.played[at], variant.image(m, canonical.symmetry));
        if !played.1.contains_key(&m) && !played.0.legal_moves().contains(&m) {
            self.fouls += 1;
            return None;
        }
        Some(played.1.entry(m).or_default())
    }

    /// Counts `games` games in which a move was made; a move of a tree of lines is of none.
    pub(crate) fn add(&mut self, position: &Position, m: Move, games: u64) {
        if let Some(tally) = self.tally(position, m) {
            tally.games += games;
        }
    }

    /// Sets the value that a file gives a move.
    pub(crate) fn set_value(&mut self, position: &Position, m: Move, given: GivenValue) {
        if let Some(tally) = self.tally(position, m) {
            tally.given = Some(given);
        }
    }

    /// Adds other games. A proof stays among two given values of a move, then the stronger proof,
    /// then the greater value.
    pub(crate) fn join(&mut self, other: Self) {
        self.fouls += other.fouls;
        self.records.extend(other.records);
        self.notes.extend(other.notes);
        for (position, moves) in other.played {
            for (m, theirs) in moves {
                let Some(tally) = self.tally(&position, m) else {
                    continue;
                };
                tally.games += theirs.games;
                let given = [tally.given, theirs.given].into_iter().flatten();
                tally.given = given.max_by_key(|given| (given.proof, given.score));
            }
        }
    }

    /// Counts one game from a position, as far as its moves are legal. Returns the number of legal
    /// moves.
    pub(crate) fn play(&mut self, start: &Position, moves: &[Move], ending: GameResult) -> usize {
        self.play_named(start, moves, ending, GameTags::default())
    }

    /// The same for a game of which a file gives players, event or date.
    pub(crate) fn play_named(
        &mut self,
        start: &Position,
        moves: &[Move],
        ending: GameResult,
        tags: GameTags,
    ) -> usize {
        let game = GameRecord::new(start, moves, ending, tags);
        let (positions, moves) = (game.positions(), game.moves());
        let ending = match ending {
            GameResult::Unknown => GameResult::of(&game.played),
            result => result,
        };
        // A game counts once in a position, however often it comes back to it.
        let mut passed = HashSet::new();
        for (position, m) in positions.iter().zip(&moves) {
            // Another move at its return leads on, too.
            self.add(position, *m, passed.insert(position.key()).into());
        }
        if !moves.is_empty() {
            self.records.push(GameRecord {
                result: ending,
                ..game
            });
        }
        moves.len()
    }

    /// Keeps the comments of a tree.
    pub(crate) fn note_tree(&mut self, tree: &GameTree) {
        for text in comments(&tree.comment) {
            self.note(&tree.start, None, AnnotationKind::Comment, text);
        }
        for m in tree.moves.iter().filter(|m| !m.comment.is_empty()) {
            let after = after(&m.before, m.at);
            let (position, at) = after
                .as_ref()
                .map_or((&m.before, Some(m.at)), |after| (after, None));
            for text in comments(&m.comment) {
                self.note(position, at, AnnotationKind::Comment, text);
            }
        }
    }

    /// Counts a tree of moves, and keeps its comments. Its main line is a game if it has no
    /// variations, or if the file says how two players ended it. Returns whether the tree is a game
    /// of such players that cannot be kept, since it has passes or stones set up on the way.
    pub(crate) fn play_tree(&mut self, tree: GameTree) -> bool {
        self.note_tree(&tree);
        let main = tree.main_line();
        let GameTags { first, second, .. } = &tree.tags;
        let is_ended = tree.result != GameResult::Unknown;
        let is_named = is_ended && !first.is_empty() && !second.is_empty();
        let is_whole = main.len() == tree.moves.len();
        let is_kept = (is_whole || is_named) && tree.is_played(&main);
        let kept: HashSet<usize> = main.iter().copied().filter(|_| is_kept).collect();
        for (at, m) in tree.moves.iter().enumerate() {
            if !kept.contains(&at) {
                self.add(&m.before, m.at, 0);
            }
        }
        if is_kept {
            let line: Vec<Move> = main.iter().map(|at| tree.moves[*at].at).collect();
            self.play_named(&tree.start, &line, tree.result, tree.tags);
        } else if !is_named && (is_ended || !tree.tags.event.is_empty()) {
            self.titles += 1;
        }
        is_named && !is_kept
    }

    /// Returns each position with its moves: with the value that a file gives, else with a mark
    /// that the move was made. Results of games are no values.
    pub(crate) fn answers(self, engine: &str) -> Vec<(Position, Answer)> {
        let by = Provenance {
            engine: engine.into(),
            day: Day::today().0,
        };
        let verdict = |(m, tally): (Move, GameTally)| {
            let unknown = GivenValue::opinion((-Score::OPINION_MAX).raw().into());
            let given = tally.given.unwrap_or(unknown);
            let is_given = tally.given.is_some();
            let verdict = Verdict {
                score: given.score,
                bound: if is_given { Bound::Exact } else { Bound::Lower },
                depth: given.depth,
                nodes: tally.games,
                line: Vec::from_iter(is_given.then_some(m)),
                proof: given.proof,
                by: by.clone(),
            };
            (m, verdict)
        };
        let played = self
            .played
            .into_iter()
            .filter(|(_, moves)| !moves.is_empty());
        played
            .map(|(position, moves)| (position, moves.into_iter().map(verdict).collect()))
            .collect()
    }
}

/// Turns an annotation with its position to canonical orientation.
pub(crate) fn in_canonical(
    position: &Position,
    note: Annotation,
) -> Result<(Position, Annotation), PositionError> {
    let (variant, canonical) = (position.variant(), position.canonical());
    let note = note.turned(variant, canonical.symmetry);
    Ok((Position::unpack(variant, canonical.packed)?, note))
}

/// Returns the proof of the gomoku move that led to a position, for a given win or loss without a
/// distance: the distance is the longest that the free points allow. Returns `None` if the position
/// contradicts the claim.
pub(crate) fn longest(after: &Position, claim: Claim) -> Option<Proof> {
    let (_, size) = after.variant().gomoku()?;
    let left = (u16::from(size) * u16::from(size)).checked_sub(after.canonical().stones)?;
    let proof = |plies: u16| Some(Proof::new(claim, ProofKind::Manual, plies));
    match (after.outcome(), claim) {
        (Some(Outcome::Win(side)), Claim::Win) if side != after.side() => proof(1),
        (Some(_), _) | (None, Claim::Draw) => None,
        // The move is the first ply, and the winner makes the last one.
        (None, Claim::Win) => proof(1 + left / 2 * 2).filter(|_| left > 1),
        (None, Claim::Loss) => proof(left.div_ceil(2) * 2).filter(|_| left > 0),
    }
}
