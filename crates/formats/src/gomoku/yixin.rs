//! Databases of Yixin and Rapfi as books: their values belong to positions, a book's to moves.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};
use kagetsu_book::{Book, Day, Entry};
use kagetsu_game::{
    Answer, Bound, Claim, Key, Move, Position, Proof, ProofKind, Provenance, Score, Variant,
    Verdict,
};

use crate::games::tally::longest;
use crate::gomoku::yxdb::{RULES, YixinLabel, YixinRecord, YixinValue};
use crate::omissions::{IMPOSSIBLE_ENDS, MISSING_DISTANCES, MoveDetail, Omissions};

/// The engine name under which imported values are kept.
const ENGINE: &str = "yixin database";

/// Returns the positions whose moves lead to records, with the values of these moves.
///
/// The value of a record is lost if no position of the file leads to it, and so are marks without a
/// value, comments and texts on points. A move to a record without a value is kept as a move that
/// was made.
///
/// # Errors
/// If the stones of a record are no position.
pub(crate) fn answers(records: &[YixinRecord]) -> Result<(Vec<(Position, Answer)>, Omissions)> {
    let mut omissions = Omissions::new();
    let mut known: HashMap<(Variant, Key), (usize, Option<RecordValue>)> = HashMap::new();
    let mut positions = Vec::with_capacity(records.len());
    for (at, record) in records.iter().enumerate() {
        let position = position(record).with_context(|| format!("record {}", at + 1))?;
        let (value, has_distance) = match value_of(record, &position) {
            (
                Some(RecordValue {
                    proof: Some(proof), ..
                }),
                _,
            ) if !can_be(&position, proof) => {
                omissions.omit(IMPOSSIBLE_ENDS, 1);
                (None, true)
            }
            value => value,
        };
        omissions.omit("texts", u64::from(!record.text.is_empty()));
        let is_implied = value.is_some_and(|value| {
            value
                .proof
                .is_some_and(|proof| is_label_of(record.label, proof.claim))
        });
        omissions.omit(
            "labels",
            u64::from(record.label != YixinLabel::None && !is_implied),
        );
        omissions.omit(MISSING_DISTANCES, u64::from(!has_distance));
        known.insert((record.variant, position.key()), (at, value));
        positions.push(position);
    }
    let day = Day::today().0;
    let by = Provenance {
        engine: ENGINE.into(),
        day,
    };
    let mut used = vec![false; records.len()];
    let mut found = Vec::new();
    for position in positions {
        let moves = position.legal_moves();
        let children = position.children(&moves);
        let mut verdicts: Vec<(Move, Verdict)> = Vec::new();
        for (m, child) in moves.into_iter().zip(children) {
            let Some(&(at, value)) = known.get(&(position.variant(), child.key)) else {
                continue;
            };
            used[at] = true;
            verdicts.push((
                m,
                value.map_or_else(|| made(&by), |value| value.before(m, &by)),
            ));
        }
        if !verdicts.is_empty() {
            found.push((position, verdicts.into_iter().collect()));
        }
    }
    let is_lost = |(at, value): &&(usize, Option<RecordValue>)| value.is_some() && !used[*at];
    omissions.omit(
        "values_without_a_move",
        known.values().filter(is_lost).count() as u64,
    );
    // No move leads to the start.
    let is_alone = |(at, value): &&(usize, Option<RecordValue>)| {
        value.is_none() && !used[*at] && !records[*at].first.is_empty()
    };
    omissions.omit(
        "positions_without_a_move",
        known.values().filter(is_alone).count() as u64,
    );
    Ok((found, omissions))
}

/// The value of a record, from the view of the side to move.
#[derive(Clone, Copy, Debug)]
struct RecordValue {
    score: Score,
    proof: Option<Proof>,
    bound: Bound,
    depth: u16,
}

impl RecordValue {
    /// Returns the value of the move that leads to the record, from the view of the side that makes
    /// it.
    fn before(self, m: Move, by: &Provenance) -> Verdict {
        let proof = self.proof.map(Proof::before);
        Verdict {
            score: proof.map_or_else(|| self.score.before(), Proof::score),
            bound: proof.map_or(self.bound.negated(), |_| Bound::Exact),
            depth: u8::try_from(self.depth + 1).unwrap_or(u8::MAX),
            nodes: 0,
            line: vec![m],
            proof,
            by: by.clone(),
        }
    }
}

/// Returns the verdict of a move to a record without a value: the move was made.
fn made(by: &Provenance) -> Verdict {
    let score = -Score::OPINION_MAX;
    Verdict {
        score,
        bound: Bound::Lower,
        depth: 0,
        nodes: 1,
        line: Vec::new(),
        proof: None,
        by: by.clone(),
    }
}

/// Whether a label, given for the side that moved last, agrees with a claim of the side to move.
fn is_label_of(label: YixinLabel, claim: Claim) -> bool {
    matches!(
        (label, claim),
        (YixinLabel::Win, Claim::Loss)
            | (YixinLabel::Loss, Claim::Win)
            | (YixinLabel::Draw, Claim::Draw)
    )
}

/// Whether the game can end as claimed: the winner makes the last move, and each ply takes a point.
fn can_be(position: &Position, proof: Proof) -> bool {
    let longest = longest(position, proof.claim.negated()).map(|proof| proof.plies - 1);
    proof.claim == Claim::Draw
        || longest.is_some_and(|most| proof.plies <= most && proof.plies % 2 == most % 2)
}

/// Returns the value of a record, if a book can hold it, and whether a win or loss has a distance.
fn value_of(record: &YixinRecord, position: &Position) -> (Option<RecordValue>, bool) {
    let manual = |claim, plies| Proof::new(claim, ProofKind::Manual, plies);
    // A label belongs to the move before the position, which is one ply more.
    let endless = |claim| {
        longest(position, claim).map(|proof| manual(proof.claim.negated(), proof.plies - 1))
    };
    let (proof, has_distance) = match (record.value, record.label) {
        (YixinValue::Win(plies), _) => (Some(manual(Claim::Win, plies)), true),
        (YixinValue::Loss(plies), _) => (Some(manual(Claim::Loss, plies)), true),
        (_, YixinLabel::Draw) => (Some(manual(Claim::Draw, 0)), true),
        (_, YixinLabel::Win) => (endless(Claim::Win), false),
        (_, YixinLabel::Loss) => (endless(Claim::Loss), false),
        _ => (None, true),
    };
    let opinion = match record.value {
        YixinValue::Centi(centi) => Score::opinion(centi.into()),
        YixinValue::Win(_) | YixinValue::Loss(_) => Score::ZERO,
    };
    let bound = if proof.is_some() {
        Some(Bound::Exact)
    } else {
        record.bound
    };
    let score = proof.map_or(opinion, Proof::score);
    (
        bound.map(|bound| RecordValue {
            score,
            proof,
            bound,
            depth: record.depth,
        }),
        has_distance || proof.is_none(),
    )
}

fn position(record: &YixinRecord) -> Result<Position> {
    let stones =
        [&record.first, &record.second].map(|cells| cells.iter().copied().map(Move::new).collect());
    Ok(Position::from_stones(record.variant, &stones, record.side)?)
}

/// Returns the gomoku positions of a book, or those of one game, as records, with the positions
/// that their moves lead to.
///
/// # Errors
/// If a record of the book is damaged.
pub(crate) fn records(book: &Book, only: Option<Variant>) -> Result<(Vec<YixinRecord>, Omissions)> {
    let mut own: BTreeMap<(Variant, Key), YixinRecord> = BTreeMap::new();
    let mut leaves: BTreeMap<(Variant, Key), YixinRecord> = BTreeMap::new();
    let mut omissions = Omissions::new();
    for entry in book.positions() {
        let entry = entry?;
        let variant = entry.position.variant();
        let rule = variant.gomoku().map(|(rule, _)| rule);
        let is_held = RULES.iter().any(|(held, _)| Some(*held) == rule);
        if !is_held || only.is_some_and(|only| only != variant) {
            omissions.omit("positions_of_other_games", 1);
            continue;
        }
        own.insert((variant, entry.position.key()), of_entry(&entry));
        for (m, verdict) in entry.answer.verdicts() {
            // A foul of renju ends the game, so no position follows.
            let Ok(child) = entry.position.play(*m) else {
                continue;
            };
            leaves.insert((variant, child.key()), of_move(&child, verdict));
            omissions.omit_details(verdict, &MoveDetail::ALL[1..]);
        }
    }
    leaves.extend(own);
    Ok((leaves.into_values().collect(), omissions))
}

fn of_entry(entry: &Entry) -> YixinRecord {
    let derived = &entry.derived;
    // A move without a value may be better than the best.
    let bound = if derived.is_open {
        Bound::Lower
    } else {
        Bound::Exact
    };
    record(
        &entry.position,
        derived.score,
        derived.proof,
        bound,
        derived.depth,
    )
}

/// Returns the record of the position after a move, from the view of its side to move.
fn of_move(child: &Position, verdict: &Verdict) -> YixinRecord {
    let claim = |proof: Proof| Proof {
        claim: proof.claim.negated(),
        plies: proof.plies.saturating_sub(1),
        ..proof
    };
    let depth = u16::from(verdict.depth).saturating_sub(1);
    record(
        child,
        verdict.score.after(),
        verdict.proof.map(claim),
        verdict.bound.negated(),
        depth,
    )
}

fn record(
    position: &Position,
    score: Score,
    proof: Option<Proof>,
    bound: Bound,
    depth: u16,
) -> YixinRecord {
    // Only gomoku comes here.
    let stones = position.stones().unwrap_or_default();
    let [first, second] = stones.map(|side| side.into_iter().map(Move::code).collect());
    let (value, label) = match proof {
        Some(Proof {
            claim: Claim::Win,
            plies,
            ..
        }) => (YixinValue::Win(plies), YixinLabel::Loss),
        Some(Proof {
            claim: Claim::Loss,
            plies,
            ..
        }) => (YixinValue::Loss(plies), YixinLabel::Win),
        Some(Proof {
            claim: Claim::Draw, ..
        }) => (YixinValue::Centi(0), YixinLabel::Draw),
        None => (YixinValue::Centi(score.raw()), YixinLabel::None),
    };
    YixinRecord {
        variant: position.variant(),
        first,
        second,
        side: position.side(),
        label,
        value,
        depth,
        bound: Some(bound),
        text: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Side;

    use super::*;

    #[test]
    fn values_of_positions_are_values_of_moves() {
        let stones =
            |first: &[u16], second: &[u16], side, label, value, depth, bound| YixinRecord {
                variant: Variant::FREESTYLE_15,
                first: first.to_vec(),
                second: second.to_vec(),
                side,
                label,
                value,
                depth,
                bound,
                text: Vec::new(),
            };
        let exact = Some(Bound::Exact);
        let records = [
            stones(
                &[112],
                &[],
                Side::Second,
                YixinLabel::None,
                YixinValue::Centi(-40),
                9,
                exact,
            ),
            stones(
                &[112],
                &[113],
                Side::First,
                YixinLabel::None,
                YixinValue::Centi(55),
                8,
                Some(Bound::Lower),
            ),
            stones(
                &[112],
                &[128],
                Side::First,
                YixinLabel::Loss,
                YixinValue::Win(17),
                0,
                None,
            ),
            stones(
                &[112],
                &[0],
                Side::First,
                YixinLabel::Win,
                YixinValue::Centi(0),
                0,
                None,
            ),
            stones(
                &[112],
                &[1],
                Side::First,
                YixinLabel::Mark(b'!'),
                YixinValue::Centi(0),
                0,
                None,
            ),
            stones(
                &[112],
                &[7],
                Side::First,
                YixinLabel::None,
                YixinValue::Centi(0),
                0,
                None,
            ),
            // The first player does not make the sixteenth ply from here.
            stones(
                &[112],
                &[2],
                Side::First,
                YixinLabel::None,
                YixinValue::Win(16),
                0,
                None,
            ),
            stones(
                &[0, 1, 2],
                &[7, 9, 60],
                Side::First,
                YixinLabel::None,
                YixinValue::Centi(0),
                0,
                None,
            ),
        ];
        let (answers, mut omissions) = answers(&records).expect("positions");
        omissions.retain(|_, lost| *lost > 0);
        let expected = [
            "values_without_a_move",
            "labels",
            MISSING_DISTANCES,
            IMPOSSIBLE_ENDS,
            "positions_without_a_move",
        ];
        assert_eq!(omissions, expected.map(|what| (what, 1)).into());
        let [(position, answer)] = &answers[..] else {
            panic!("one position leads to others: {answers:?}")
        };
        assert_eq!(position.side(), Side::Second);
        // These are i8, i9, a1 and h1 with their three images, and b1 and c1 with their seven.
        let of = |name: &str| {
            answer
                .get(position.parse_move(name).expect("a move"))
                .expect("known")
                .clone()
        };
        assert_eq!(answer.len(), 32);
        for name in ["i8", "g8", "h7", "h9"] {
            let Verdict {
                score,
                bound,
                depth,
                proof,
                ..
            } = of(name);
            assert_eq!(
                (score, bound, depth, proof),
                (Score::opinion(-55), Bound::Upper, 9, None)
            );
        }
        let loss = Proof::new(Claim::Loss, ProofKind::Manual, 18);
        assert_eq!(of("i9").proof, Some(loss));
        assert_eq!(of("i9").score, Score::loss_in(18));
        // The distance is not given, so it is the longest that the board allows.
        let win = Proof::new(Claim::Win, ProofKind::Manual, 223);
        assert_eq!(of("a1").proof, Some(win));
        assert!(of("h1").is_silent());
    }
}
