use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::{Annotation, AnnotationJson, Day};
use kagetsu_game::{
    Answer, Bound, Claim, Move, Position, Proof, ProofKind, Provenance, Score, Side, Variant,
    Verdict,
};
use serde::{Deserialize, Serialize};

/// A position and its searched moves, as one line of JSON.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRecord {
    pub(crate) variant: String,
    /// The position of xiangqi or surakarta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fen: Option<String>,
    /// The gomoku board: rows from the top, `X` for the first player's stones, `O` for the
    /// second's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) board: Vec<String>,
    pub(crate) side: String,
    pub(crate) answers: Vec<MoveRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) annotations: Vec<AnnotationJson>,
}

/// A searched move. Its value is from the view of the side that makes it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveRecord {
    pub(crate) r#move: String,
    /// Centi-units; absent for a mate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<i16>,
    /// Plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) win_in: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) loss_in: Option<u16>,
    /// Plies to a proven draw, above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) draw_in: Option<u16>,
    pub(crate) bound: String,
    pub(crate) depth: u8,
    pub(crate) nodes: u64,
    #[serde(default)]
    pub(crate) line: Vec<String>,
    /// `none`, `win`, `loss` or `draw`.
    pub(crate) proof: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof_kind: Option<String>,
    pub(crate) engine: String,
    /// The date of the search, as 2026-11-21.
    pub(crate) date: String,
}

const BOUNDS: [Bound; 3] = [Bound::Exact, Bound::Lower, Bound::Upper];

/// Returns the value with the given name.
fn named<T: Copy + ToString>(all: &[T], what: &str, text: &str) -> Result<T> {
    let names = || {
        all.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let found = all.iter().copied().find(|one| one.to_string() == text);
    found.ok_or_else(|| anyhow!("{what} '{text}' is none of {}", names()))
}

impl PositionRecord {
    /// Returns the record of a position.
    pub fn new(position: &Position, answer: &Answer) -> Self {
        let (fen, board) = match position.fen() {
            Ok(fen) => (Some(fen), Vec::new()),
            Err(_) => (None, board_rows(position)),
        };
        let names = |moves: &[Move]| moves.iter().map(|&m| position.write_move(m)).collect();
        let line = |(m, verdict): &(Move, Verdict)| MoveRecord {
            r#move: position.write_move(*m),
            score: (!verdict.score.is_mate() && !verdict.is_silent()).then(|| verdict.score.raw()),
            win_in: verdict.score.win_plies(),
            loss_in: verdict.score.loss_plies(),
            draw_in: draw_plies(verdict),
            bound: verdict.bound.to_string(),
            depth: verdict.depth,
            nodes: verdict.nodes,
            line: names(&verdict.line),
            proof: verdict
                .proof
                .map_or_else(|| "none".into(), |proof| proof.claim.to_string()),
            proof_kind: verdict.proof.map(|proof| proof.kind.to_string()),
            engine: verdict.by.engine.to_string(),
            date: Day(verdict.by.day).to_string(),
        };
        Self {
            variant: position.variant().to_string(),
            fen,
            board,
            side: position.side().to_string(),
            answers: answer.verdicts().iter().map(line).collect(),
            annotations: Vec::new(),
        }
    }

    /// Returns the record with annotations of its position.
    pub(crate) fn with_annotations(self, position: &Position, notes: &[Annotation]) -> Self {
        let notes = notes.iter().map(|note| AnnotationJson::new(position, note));
        Self {
            annotations: notes.collect(),
            ..self
        }
    }

    /// Returns the annotations of the record's position.
    ///
    /// # Errors
    /// The first that is none.
    pub fn annotations(&self, position: &Position) -> Result<Vec<Annotation>> {
        let read = |note: &AnnotationJson| note.read(position).context("an annotation");
        self.annotations.iter().map(read).collect()
    }

    /// Returns the record without moves.
    pub(crate) fn head(&self) -> Self {
        Self {
            variant: self.variant.clone(),
            fen: self.fen.clone(),
            board: self.board.clone(),
            side: self.side.clone(),
            ..Self::default()
        }
    }

    /// Returns the position and the answer.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn decode(&self) -> Result<(Position, Answer)> {
        let variant: Variant = self.variant.parse()?;
        let side = named(&[Side::First, Side::Second], "the side", &self.side)?;
        let position = match &self.fen {
            Some(fen) => Position::from_fen(variant, fen)?,
            None => Position::from_board(variant, &self.board.join("\n"), Some(side))?,
        };
        if position.side() != side {
            bail!(
                "the side to move is given as {side}, but the FEN says {}",
                position.side()
            );
        }
        let answers = self.answers.iter().map(|line| line.decode(&position));
        let answer = answers.collect::<Result<Answer>>()?;
        Ok((position, answer))
    }
}

impl FromStr for PositionRecord {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_str(text).context("not what export writes")
    }
}

impl MoveRecord {
    fn decode(&self, position: &Position) -> Result<(Move, Verdict)> {
        let m = position.parse_move(&self.r#move)?;
        let about = || format!("move {}", self.r#move);
        let score = self.value().with_context(about)?;
        let claim = if self.proof == "none" {
            None
        } else {
            Some(named(&Claim::ALL, "the proof", &self.proof)?)
        };
        let kind = self
            .proof_kind
            .as_deref()
            .map(|kind| named(&ProofKind::ALL, "the kind of proof", kind))
            .transpose()?;
        let proof = match (claim, kind) {
            (None, None) => None,
            (Some(claim), Some(kind)) => {
                let plies = score
                    .win_plies()
                    .or_else(|| score.loss_plies())
                    .or(self.draw_in)
                    .unwrap_or(0);
                Some(Proof::new(claim, kind, plies))
            }
            _ => bail!("{}: a proof and its kind go together", about()),
        };
        if proof.is_some_and(|proof| proof.score() != score) || proof.is_none() && score.is_mate() {
            bail!(
                "{}: a mate is a proof, and a proof has the value that it proves",
                about()
            );
        }
        if proof.is_some_and(|proof| proof.claim != Claim::Draw && proof.plies == 0) {
            bail!(
                "{}: a win or a loss counts this move, so it is in 1 ply at least",
                about()
            );
        }
        if self.draw_in.is_some() && claim != Some(Claim::Draw) {
            bail!(
                "{}: draw_in says in how many plies a proven draw comes, but no draw is proven",
                about()
            );
        }
        let mut after = position.clone();
        let mut line = Vec::with_capacity(self.line.len());
        for text in &self.line {
            let next = after.parse_move(text).with_context(about)?;
            after = after.play(next).with_context(about)?;
            line.push(next);
        }
        if line.first().is_some_and(|first| *first != m) {
            bail!(
                "{}: its line begins with another move, {}",
                about(),
                self.line[0]
            );
        }
        let bound = named(&BOUNDS, "the bound", &self.bound).with_context(about)?;
        let by = Provenance {
            engine: self.engine.as_str().into(),
            day: self.date.parse::<Day>()?.0,
        };
        Ok((
            m,
            Verdict {
                score,
                bound,
                depth: self.depth,
                nodes: self.nodes,
                line,
                proof,
                by,
            },
        ))
    }

    fn value(&self) -> Result<Score> {
        let within = |plies: u16| (plies <= Score::MAX_PLIES).then_some(plies);
        let score = match (self.score, self.win_in, self.loss_in) {
            (Some(score), None, None) => Score::from_raw(score).filter(|score| !score.is_mate()),
            (None, Some(plies), None) => within(plies).map(Score::win_in),
            (None, None, Some(plies)) => within(plies).map(Score::loss_in),
            // A move that was made in a game and never searched.
            (None, None, None) if self.depth == 0 && self.bound == Bound::Lower.name() => {
                Some(-Score::OPINION_MAX)
            }
            _ => bail!("there must be one of score, win_in and loss_in"),
        };
        score.context("the value is beyond all bounds")
    }
}

/// Returns the plies to a proven draw, where they are known.
pub(crate) fn draw_plies(verdict: &Verdict) -> Option<u16> {
    verdict
        .proof
        .filter(|proof| proof.claim == Claim::Draw && proof.plies > 0)
        .map(|proof| proof.plies)
}

/// Returns the rows of a gomoku board from the top, one character a point; none for other games.
pub(crate) fn board_rows(position: &Position) -> Vec<String> {
    let rows = board_text(position);
    rows.split_terminator('/').map(String::from).collect()
}

/// Returns the rows of a board from the top with `/` between them; nothing for a game that does
/// not place stones.
pub(crate) fn board_text(position: &Position) -> String {
    let size = position.variant().gomoku().map(|(_, size)| size.into());
    let Some((size, stones)) = size.zip(position.stones()) else {
        return String::new();
    };
    let mut cells = [".".repeat(size).as_str(), "/"]
        .concat()
        .repeat(size)
        .into_bytes();
    cells.pop();
    for (stones, letter) in stones.into_iter().zip(*b"XO") {
        for m in stones {
            cells[(size - 1 - m.index() / size) * (size + 1) + m.index() % size] = letter;
        }
    }
    String::from_utf8(cells).expect("the letters are ASCII")
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Effort;
    use kagetsu_game::Question;
    use kagetsu_search::{Control, Engine, EngineOptions};
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn around(position: &Position, answer: &Answer) -> (Position, Answer) {
        let text =
            serde_json::to_string(&PositionRecord::new(position, answer)).expect("plain data");
        let read: PositionRecord = text
            .parse()
            .unwrap_or_else(|error| panic!("{error:#}: {text}"));
        read.decode()
            .unwrap_or_else(|error| panic!("{error:#}: {text}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn written_files_are_read_back(
            name in prop::sample::select(vec!["freestyle-15", "renju-15", "standard-7", "xiangqi", "surakarta"]),
            picks in prop::collection::vec(any::<Index>(), 0..30),
            depth in 1u8..4,
        ) {
            let mut position = Position::start(name.parse().expect("a variant"));
            for pick in picks {
                let legal = position.legal_moves();
                if !legal.is_empty() {
                    position = position.play(*pick.get(&legal)).expect("legal");
                }
            }
            let mut engine = Engine::new(EngineOptions { table_bytes: 1 << 16, ..EngineOptions::default() }).expect("one");
            let question = Question::new(position.clone(), Effort::depth(depth));
            let answer = engine.answer(&question, &Control::new(), &mut |_| {}).expect("it is searched");
            let (read, same) = around(&position, &answer);
            prop_assert_eq!(read.key(), position.key());
            prop_assert_eq!(read.side(), position.side());
            prop_assert_eq!(same, answer);
        }
    }

    #[test]
    fn impossible_field_is_refused_by_name() {
        let good = r#"{"variant":"freestyle-5","board":[".....",".....","..X..",".....","....."],"side":"second","answers":
            [{"move":"a1","score":12,"bound":"exact","depth":3,"nodes":9,"line":["a1"],"proof":"none","engine":"e","date":"2026-11-21"}]}"#;
        let valued =
            r#""score":12,"bound":"exact","depth":3,"nodes":9,"line":["a1"],"proof":"none""#;
        let decode = |text: &str| {
            text.parse::<PositionRecord>()
                .and_then(|record| record.decode())
        };
        assert!(decode(good).is_ok());
        for (from, to, words) in [
            ("freestyle-5", "freestyle-99", "5 to 22"),
            (
                "\"second\"",
                "\"third\"",
                "the side 'third' is none of first, second",
            ),
            ("..X..", "..Y..", "'Y'"),
            ("\"a1\",\"score\"", "\"z9\",\"score\"", "z9"),
            ("\"score\":12", "\"score\":32767", "beyond all bounds"),
            ("\"score\":12", "\"win_in\":3", "a mate is a proof"),
            (
                "\"score\":12",
                "\"score\":12,\"win_in\":3",
                "one of score, win_in and loss_in",
            ),
            ("\"none\"", "\"win\"", "go together"),
            (
                valued,
                r#""win_in":0,"bound":"exact","depth":3,"nodes":9,"line":["a1"],"proof":"win","proof_kind":"search""#,
                "in 1 ply at least",
            ),
            (
                valued,
                r#""loss_in":0,"bound":"exact","depth":3,"nodes":9,"line":["a1"],"proof":"loss","proof_kind":"search""#,
                "in 1 ply at least",
            ),
            (
                "exact",
                "about",
                "the bound 'about' is none of exact, lower, upper",
            ),
            ("2026-11-21", "yesterday", "not a day"),
            ("\"nodes\":9", "\"nodes\":-9", "not what export writes"),
            ("\"side\"", "\"colour\"", "not what export writes"),
        ] {
            let text = good.replace(from, to);
            assert_ne!(text, good, "{from}");
            let error = format!("{:#}", decode(&text).expect_err(&text));
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
