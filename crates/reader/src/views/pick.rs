//! One move, as an engine chooses it.

use anyhow::Context;
use kagetsu_api::{ResultsJson, ValueJson};
use kagetsu_book::Choice;
use kagetsu_compiled::outweighs_search;
use kagetsu_game::{Move, Notation, Position};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::{TextBlock, write_move};
use crate::ranged::Ranged;
use crate::results::PickBy;
use crate::source::Source;
use crate::view::View;

/// Chooses one book move, as an engine would
///
/// Without --temperature it picks the best move; with it, a random one, in which a move T
/// centi-units worse than the best is e times less likely. A proven win is always chosen, a proven
/// loss only if every move loses. Moves with only an upper bound are never chosen; they are listed
/// on stderr if they may be better. A move that a person prefers is chosen before all others, one
/// to be avoided never where there is another.
///
/// --by games compares a lower bound of each move's share of points in the imported games: the
/// share p of its n games and of 4 games with the mean result of the position, less
/// sqrt(p(1-p)/(n+4)). The bound b counts as 200 ln(b/(1-b)) centi-units; --by both takes the mean
/// of that and the value.
///
/// The exit code is 1 if the book has no move, searched too little behind it (--min-nodes), or ends
/// too soon after it (--before-edge).
///
/// Example: kagetsu pick --book h8.book --variant freestyle-15 --moves h8 --temperature 20 --seed 7
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct PickView {
    /// Loss of value, in centi-units, that makes a move e times less likely; 0 picks the best move
    #[arg(long, default_value_t, value_name = "T", value_parser = parse_temperature)]
    #[serde(deserialize_with = "read_temperature")]
    #[schema(minimum = 0, maximum = 1_000_000, default = 0)]
    temperature: f64,
    /// Seed of the random generator; without one each choice has another
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Skips unproven moves that were searched less deeply than N plies
    #[arg(long, default_value_t, value_name = "N")]
    #[schema(inline)]
    min_depth: Ranged<0, 0, 255>,
    /// Picks no unproven move unless the book's searches behind it visited N positions together
    #[arg(long, default_value_t, value_name = "N")]
    #[schema(inline)]
    min_nodes: Ranged<0, 0, { u32::MAX }>,
    /// Skips moves more than N centi-units worse than the best
    #[arg(long, value_name = "N")]
    margin: Option<u16>,
    /// Skips moves after which the book's best line is shorter than N plies
    #[arg(long, default_value_t, value_name = "N")]
    #[schema(inline)]
    before_edge: Ranged<0, 0, 255>,
    /// Measure by which moves are compared: values, results of imported games, or both
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    #[schema(inline)]
    by: PickBy,
    /// Years after which a game counts half as much, for --by games and both; 0 counts all alike
    #[arg(long, default_value_t, value_name = "YEARS")]
    #[schema(inline)]
    half_life: Ranged<0, 0, 1_000>,
}

/// The greatest temperature.
const MAX_TEMPERATURE: f64 = 1e6;

fn checked(temperature: f64) -> Result<f64, String> {
    if (0.0..=MAX_TEMPERATURE).contains(&temperature) {
        return Ok(temperature);
    }
    Err(format!(
        "{temperature}: must be a number from 0 to {MAX_TEMPERATURE}"
    ))
}

fn parse_temperature(text: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "not a number".to_string());
    number.and_then(checked)
}

fn read_temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    checked(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// A book move, as an engine chooses it.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Pick)]
pub struct PickJson {
    /// The move.
    r#move: String,
    /// Its value, from the view of the side that makes it.
    #[serde(flatten)]
    value: ValueJson,
    /// The results of the imported games in which it was made; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    games: Option<ResultsJson>,
    /// Plies of the search that valued it.
    depth: u8,
    /// Moves that may be better: the book has only an upper bound of them.
    rivals: Vec<String>,
}

impl View for PickView {
    const NAME: &'static str = "pick";
    const IS_BRIEF: bool = true;
    type At = Position;
    type Result = PickJson;

    fn read(source: &Source, at: &Position, options: PickView) -> Result<PickJson, ViewError> {
        let choice = Choice {
            temperature: options.temperature,
            seed: options.seed,
            min_depth: options.min_depth.get() as u8,
            margin: options.margin,
        };
        let known = source.lookup(at)?.unwrap_or_default();
        if known.is_empty() {
            return Err(source.not_held(at));
        }
        let known = source.by_hand(at, known)?;
        let years = options.half_life.get();
        let results = source.results(at, (years > 0).then(|| years.into()))?;
        let answer = match options.by {
            PickBy::Value => known.clone(),
            by => results.valued(&known, by),
        };
        if answer.is_empty() {
            let reason = format!("no imported game with a result passed {at}, and --by needs one");
            return Err(ViewError::Nothing(reason));
        }
        let Some((m, verdict)) = choice.pick(&answer) else {
            let deeper = Choice {
                min_depth: 0,
                ..choice
            };
            let least = choice.min_depth;
            return Err(ViewError::Nothing(if deeper.pick(&answer).is_some() {
                format!(
                    "the book has moves for {at}, all of them searched less deeply than {least} \
                     plies; --min-depth leaves them out"
                )
            } else {
                format!("the book has no move for {at}")
            }));
        };
        let least = options.min_nodes.get();
        let lookup = |at: &Position| source.lookup(at);
        if !outweighs_search((at, verdict), source.entry_nodes(), least.into(), lookup)? {
            let name = at.write_move(*m);
            return Err(ViewError::Nothing(format!(
                "the book's searches behind {name} visited fewer than {least} positions; \
                 --min-nodes leaves it out"
            )));
        }
        let most = options.before_edge.get();
        let plies = plies_behind(source, at, *m, most)?;
        if plies < most {
            let name = at.write_move(*m);
            let message = format!("the book ends {plies} plies behind {name}");
            return Err(ViewError::Nothing(message));
        }
        let rivals = choice.rivals(&answer).into_iter();
        let rivals = rivals.filter(|(rival, _)| rival != m);
        let games = results.of_move(*m);
        Ok(PickJson {
            r#move: at.write_move(*m),
            value: known.get(*m).map_or_else(ValueJson::unknown, ValueJson::of),
            games: Some(games).filter(|games| games.sum() > 0),
            depth: verdict.depth,
            rivals: rivals.map(|(m, _)| at.write_move(*m)).collect(),
        })
    }

    fn print(result: &PickJson, at: &Position, notation: Notation) -> Vec<TextBlock> {
        let mut blocks = vec![TextBlock::Line(write_move(at, &result.r#move, notation))];
        if !result.rivals.is_empty() {
            let rivals = result.rivals.join(" ");
            blocks.push(TextBlock::Note(format!(
                "in doubt: {rivals} may be better, the book has only an upper bound; build on"
            )));
        }
        blocks
    }
}

/// Returns the length of the book's best line after a move, up to `most` plies. A line that ends
/// the game counts as long enough.
fn plies_behind(source: &Source, position: &Position, m: Move, most: u32) -> anyhow::Result<u32> {
    let (mut at, mut next) = (position.clone(), m);
    for plies in 0..most {
        at = at
            .play(next)
            .with_context(|| format!("the book has an illegal move in {at}"))?;
        if at.outcome().is_some() {
            return Ok(most);
        }
        let answer = source.lookup(&at)?.unwrap_or_default();
        let Some((best, _)) = Choice::default().pick(&answer) else {
            return Ok(plies);
        };
        next = *best;
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use kagetsu_book::{Annotation, AnnotationKind, Book, BookOptions};
    use kagetsu_builders::opinion;
    use kagetsu_game::{Answer, Variant};

    use super::*;

    #[test]
    fn people_choose_before_values_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(folder.path(), &options).expect("a new book");
        let start = Position::start(Variant::FREESTYLE_15);
        let [a, b, c] = ["h8", "g7", "a1"].map(|name| start.parse_move(name).expect("legal"));
        let answer: Answer = [opinion(a, 30), opinion(b, 20), opinion(c, 10)]
            .into_iter()
            .collect();
        book.learn(&start, &answer).expect("room");
        book.close().expect("room");
        for (m, kind, wanted) in [
            (a, AnnotationKind::Comment, "h8"),
            (a, AnnotationKind::Avoid, "g7"),
            (c, AnnotationKind::Prefer, "a1"),
        ] {
            let note = Annotation {
                at: Some(m),
                kind,
                text: "a reason".into(),
                author: String::new(),
                source: String::new(),
                day: 1,
            };
            let (mut book, _) = Book::open(folder.path(), &options).expect("the book");
            book.annotate(&start, &[note]).expect("room");
            book.close().expect("room");
            let source = crate::open_files(folder.path()).expect("the book");
            let picked = PickView::read(&source, &start, PickView::default()).expect("a move");
            assert_eq!(picked.r#move, wanted, "{kind}");
        }
    }
}
