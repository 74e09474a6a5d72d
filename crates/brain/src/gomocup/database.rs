//! The knowledge of a book in the form of Yixin's database.
//!
//! A record there is about a position; for a move it is the position behind it. Its value is from
//! the view of the side to move there, its label from the view of the side that moved there: a move
//! that wins has the label `w` and the value of a loss.

use kagetsu_engines::gomocup::Point;
use kagetsu_game::{Answer, Bound, Claim, Move, Position, RuleName, Score, Side, Variant, Verdict};

/// A question about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    /// `YXQUERYDATABASEALL`: its moves.
    All,
    /// `YXQUERYDATABASEONE`: itself.
    One,
    /// `YXQUERYDATABASETEXT`: its comment.
    Text,
    /// `YXQUERYDATABASEALLT`: its moves and its comment.
    AllAndText,
    /// A change, which is refused; its position is passed over.
    Change,
}

/// Mates in a database are counted from here.
const MATE: i32 = 30_000;
/// Centi-units in which the odds of a win grow e times, as Rapfi shows its values.
const SCALE: f64 = 250.0;
/// Nothing is known of the position, no label is set.
const ABSENT: i32 = 0;
const NO_LABEL: i32 = -1;

impl Query {
    /// The query that a line begins, if it does.
    pub(super) fn of(line: &str) -> Option<Self> {
        let word = line.split_whitespace().next()?.to_ascii_uppercase();
        match word.as_str() {
            "YXQUERYDATABASEALL" => Some(Self::All),
            "YXQUERYDATABASEONE" => Some(Self::One),
            "YXQUERYDATABASETEXT" => Some(Self::Text),
            "YXQUERYDATABASEALLT" => Some(Self::AllAndText),
            "YXEDITTVDDATABASE"
            | "YXEDITTEXTDATABASE"
            | "YXEDITLABELDATABASE"
            | "YXDELETEDATABASEONE"
            | "YXDELETEDATABASEALL" => Some(Self::Change),
            _ => None,
        }
    }

    /// The messages that answer it.
    pub(super) fn answer(
        self,
        position: &Position,
        size: u8,
        known: Option<&Answer>,
    ) -> Vec<String> {
        let text = || "DATABASE TEXT \"\"".to_string();
        match self {
            Self::All => all(position, size, known),
            Self::One => vec![one(known)],
            Self::Text => vec![text()],
            Self::AllAndText => [all(position, size, known), vec![text()]].concat(),
            Self::Change => Vec::new(),
        }
    }
}

/// Returns the position of stones in the order in which they were played, black first; a pass is
/// written `-1,-1`.
pub(super) fn position(rule: RuleName, size: u8, points: &[Point]) -> Result<Position, String> {
    let variant = Variant::Gomoku { rule, size };
    let is_pass = |point: &Point| point.x < 0 && point.y < 0;
    let read = |point: &Point| {
        point
            .to_move(size)
            .ok_or_else(|| format!("{point} is off the board"))
    };
    if !points.iter().any(is_pass) {
        let moves: Vec<Move> = points.iter().map(read).collect::<Result<_, _>>()?;
        return Position::new(variant, None, &moves).map_err(|error| error.to_string());
    }
    let mut stones = [Vec::new(), Vec::new()];
    for (point, owner) in points
        .iter()
        .zip([0, 1].into_iter().cycle())
        .filter(|(point, _)| !is_pass(point))
    {
        let m = read(point)?;
        if stones.iter().flatten().any(|stone| *stone == m) {
            return Err(format!("{point} is taken"));
        }
        stones[owner].push(m);
    }
    let side = Side::first_if(points.len().is_multiple_of(2));
    Position::from_stones(variant, &stones, side).map_err(|error| error.to_string())
}

/// A record as `DATABASE` commands write it.
struct DatabaseRecord {
    label: i32,
    value: i32,
    depth: u8,
    bound: u8,
    shown: String,
}

impl DatabaseRecord {
    /// Returns the record of a position, from the view of its side to move.
    fn of(score: Score, claim: Option<Claim>, bound: Bound, depth: u8) -> Self {
        let (won, lost) = (score.win_plies(), score.loss_plies());
        let value = match (won, lost) {
            (Some(plies), _) => MATE - i32::from(plies),
            (_, Some(plies)) => i32::from(plies) - MATE,
            _ => score.raw().into(),
        };
        // Where the side to move wins, the side that moved here loses.
        let (label, shown) = match (won, lost, claim) {
            (Some(plies), ..) => (i32::from(b'l'), format!("L{plies}")),
            (_, Some(plies), _) => (i32::from(b'w'), format!("W{plies}")),
            (.., Some(Claim::Draw)) => (i32::from(b'd'), "d".into()),
            _ => {
                let share = 100.0 / (1.0 + (f64::from(value) / SCALE).exp());
                (NO_LABEL, format!("{}%", (share as i32).clamp(0, 99)))
            }
        };
        let bound = match bound {
            Bound::Upper => 1,
            Bound::Lower => 2,
            Bound::Exact => 3,
        };
        Self {
            label,
            value,
            depth,
            bound,
            shown,
        }
    }

    /// Returns the first four bytes of the shown text as one number.
    fn tag(&self) -> i32 {
        self.shown
            .bytes()
            .take(4)
            .fold(0, |tag, byte| tag << 8 | i32::from(byte))
    }
}

/// Returns the record of the position behind a move.
fn behind(verdict: &Verdict) -> DatabaseRecord {
    // One ply nearer to the end, and seen from the other side.
    let score = match (verdict.score.win_plies(), verdict.score.loss_plies()) {
        (Some(plies), _) => Score::loss_in(plies.saturating_sub(1)),
        (_, Some(plies)) => Score::win_in(plies.saturating_sub(1)),
        _ => -verdict.score,
    };
    DatabaseRecord::of(
        score,
        verdict.proof.map(|proof| proof.claim),
        verdict.bound.negated(),
        verdict.depth.saturating_sub(1),
    )
}

fn all(position: &Position, size: u8, known: Option<&Answer>) -> Vec<String> {
    let legal = position.legal_moves();
    let row = |(m, verdict): &(Move, Verdict)| {
        let (Point { x, y }, record) = (Point::of(*m, size), behind(verdict));
        let (tag, value, depth) = (record.tag(), record.value, record.depth);
        // No comment, and no text on the point.
        format!("DATABASE {x} {y} {tag} {value} {depth} {} 0 ", record.bound)
    };
    let verdicts = known.map_or(&[][..], Answer::verdicts);
    let mut lines = vec!["DATABASE REFRESH".to_string()];
    lines.extend(verdicts.iter().filter(|(m, _)| legal.contains(m)).map(row));
    lines.push("DATABASE DONE".into());
    lines
}

fn one(known: Option<&Answer>) -> String {
    let best = known.and_then(|answer| kagetsu_compiled::Choice::default().pick(answer));
    let Some((_, verdict)) = best else {
        return format!("DATABASE ONE {ABSENT} 0 0 0");
    };
    let record = DatabaseRecord::of(
        verdict.score,
        verdict.proof.map(|proof| proof.claim),
        Bound::Exact,
        verdict.depth,
    );
    format!(
        "DATABASE ONE {} {} {} {} {}",
        record.label, record.value, record.depth, record.bound, record.shown
    )
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Move, Proof, ProofKind};

    use super::*;

    fn verdict(score: Score, bound: Bound, proof: Option<Proof>) -> Verdict {
        Verdict {
            score,
            bound,
            depth: 11,
            ..kagetsu_builders::verdict(Move::new(0), proof)
        }
    }

    #[test]
    fn a_record_is_seen_from_both_sides() {
        // A published record: value -104 from the side to move, exact at depth 10, is shown as 60%.
        let record = DatabaseRecord::of(Score::opinion(-104), None, Bound::Exact, 10);
        assert_eq!(
            (
                record.label,
                record.value,
                record.depth,
                record.bound,
                record.shown.as_str()
            ),
            (-1, -104, 10, 3, "60%")
        );
        // "41%", packed.
        assert_eq!(
            DatabaseRecord {
                shown: "41%".into(),
                ..record
            }
            .tag(),
            3_420_453
        );
        let proof = Proof::new(Claim::Win, ProofKind::Vcf, 18);
        let win = behind(&verdict(Score::win_in(18), Bound::Exact, Some(proof)));
        assert_eq!(
            (win.label, win.value, win.shown.as_str()),
            (119, -29_983, "W17")
        );
        let bounded = behind(&verdict(Score::opinion(30), Bound::Upper, None));
        assert_eq!((bounded.value, bounded.bound, bounded.depth), (-30, 2, 10));
    }

    #[test]
    fn passes_change_the_colours() {
        let point = |x, y| Point { x, y };
        let plain =
            position(RuleName::Freestyle, 15, &[point(7, 7), point(8, 6)]).expect("a position");
        assert_eq!(plain.to_string(), "freestyle-15 h8 i9");
        let passed = position(
            RuleName::Freestyle,
            15,
            &[point(7, 7), point(-1, -1), point(8, 6)],
        )
        .expect("a position");
        let drawn = "...............\n".repeat(6)
            + "........X......\n"
            + ".......X.......\n"
            + &"...............\n".repeat(7);
        let variant = Variant::FREESTYLE_15;
        let expected = Position::from_board(variant, &drawn, Some(Side::Second)).expect("a board");
        assert_eq!(passed.key(), expected.key());
        assert!(
            position(
                RuleName::Freestyle,
                15,
                &[point(-1, -1), point(3, 3), point(3, 3)]
            )
            .is_err()
        );
        assert!(position(RuleName::Freestyle, 15, &[point(15, 3)]).is_err());
    }
}
