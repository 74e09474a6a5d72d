//! Results of games: as counts for the side to move, and as values of moves.

use kagetsu_api::{AnswerJson, ResultsJson};
use kagetsu_game::{Answer, Bound, Key, Move, Position, Score, Side, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Games of average result that each move has beside its own.
const PRIOR_GAMES: f64 = 4.0;
/// Centi-units that make a win e times as likely as a loss.
const SCALE: f64 = 200.0;
/// The least share of points, and the distance of the greatest from 1.
const MIN_SHARE: f64 = 0.001;

/// The measure by which moves are compared.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PickBy {
    /// Searched values; where none is known, the number of games
    #[default]
    Value,
    /// Results of the imported games alone
    Games,
    /// The mean of both, for moves that have them
    Both,
}

/// The games that passed a position, by the moves made there.
pub struct GameResults<'a> {
    at: &'a Position,
    /// The numbers of games by [`GameResult`](kagetsu_games::GameResult), for each position behind.
    moves: Vec<(Key, [f64; 4])>,
}

impl<'a> GameResults<'a> {
    pub(crate) fn new(at: &'a Position, moves: Vec<(Key, [f64; 4])>) -> Self {
        Self { at, moves }
    }

    /// Reads the results of the moves of an answer.
    pub(crate) fn of_json(at: &Position, answer: &AnswerJson) -> Vec<(Key, [f64; 4])> {
        let of_move = |(name, results): (&str, ResultsJson)| {
            let next = at.play(at.parse_move(name).ok()?).ok()?.key();
            let [wins, draws, losses] =
                [results.wins, results.draws, results.losses].map(|games| games as f64);
            let counts = match at.side() {
                Side::First => [0.0, wins, draws, losses],
                Side::Second => [0.0, losses, draws, wins],
            };
            Some((next, counts))
        };
        let mut moves: Vec<_> = answer.games_of_moves().filter_map(of_move).collect();
        // Moves that mirror each other have the same games.
        moves.sort_by_key(|(next, _)| *next);
        moves.dedup();
        moves
    }

    /// Counts the games of moves without a value: a book keeps the greatest count of its imports.
    /// The most frequent of moves that mirror each other gets all games that the others lack.
    pub(crate) fn counted(&self, answer: Answer) -> Answer {
        if self.moves.is_empty() {
            return answer;
        }
        let silent = answer.verdicts().iter().filter(|(_, v)| v.is_silent());
        let silent: Vec<_> = silent
            .filter_map(|(m, v)| Some((self.next(*m)?, *m, v.nodes)))
            .collect();
        answer.changed(|m, verdict| {
            let Some((next, ..)) = silent.iter().find(|(_, known, _)| *known == m) else {
                return;
            };
            let images = silent.iter().filter(|(image, ..)| image == next);
            let first = images.clone().max_by_key(|(.., nodes)| *nodes);
            let is_first = first.is_some_and(|(_, first, _)| *first == m);
            if let Some((_, counts)) = self.of_key(*next).filter(|_| is_first) {
                let others = images.map(|(.., nodes)| nodes).sum::<u64>() - verdict.nodes;
                let games = counts.iter().sum::<f64>() as u64;
                verdict.nodes = games.saturating_sub(others);
            }
        })
    }

    /// Adds the results to an answer.
    #[must_use]
    pub fn add_to(&self, json: AnswerJson) -> AnswerJson {
        let of_move = |name: &str| Some(self.of_move(self.at.parse_move(name).ok()?));
        json.with_games(self.all(), of_move)
    }

    /// Returns the key of the position behind a move.
    fn next(&self, m: Move) -> Option<Key> {
        self.at.play(m).ok().map(|next| next.key())
    }

    fn of_key(&self, next: Key) -> Option<&(Key, [f64; 4])> {
        self.moves.iter().find(|(known, _)| *known == next)
    }

    /// Returns wins, draws and losses of the side to move, with their weights.
    fn weights(&self, m: Move) -> [f64; 3] {
        let found = self.next(m).and_then(|next| self.of_key(next));
        found.map_or([0.0; 3], |(_, counts)| self.of_side(counts))
    }

    /// Returns the results of a move in whole games.
    pub(crate) fn of_move(&self, m: Move) -> ResultsJson {
        whole(self.weights(m))
    }

    fn of_side(&self, &[_, first, draws, second]: &[f64; 4]) -> [f64; 3] {
        match self.at.side() {
            Side::First => [first, draws, second],
            Side::Second => [second, draws, first],
        }
    }

    /// Returns the results of all games in whole games.
    #[must_use]
    pub fn all(&self) -> ResultsJson {
        whole(self.sums())
    }

    fn sums(&self) -> [f64; 3] {
        let of_side = self.moves.iter().map(|(_, counts)| self.of_side(counts));
        of_side.fold([0.0; 3], |[a, b, c], [d, e, f]| [a + d, b + e, c + f])
    }

    /// Returns the moves with values by their games, alone or as the mean with the searched value.
    pub(crate) fn valued(&self, answer: &Answer, by: PickBy) -> Answer {
        let [wins, draws, losses] = self.sums();
        let games = wins + draws + losses;
        let points = wins + draws / 2.0;
        let mean = if games > 0.0 { points / games } else { 0.5 };
        // People play one of two moves that mirror each other.
        let played = answer.verdicts().iter();
        let played: Vec<_> = played.map(|(m, v)| (self.next(*m), v.nodes)).collect();
        let is_rarer = |m: Move, nodes: u64| {
            let own = self.next(m);
            let mut images = played.iter().filter(|(image, _)| *image == own);
            images.any(|(_, often)| *often > nodes)
        };
        let valued = |(m, verdict): &(Move, Verdict)| {
            if is_rarer(*m, verdict.nodes) {
                return None;
            }
            let weights = self.weights(*m);
            let is_played = weights.iter().sum::<f64>() > 0.0;
            let is_valued =
                verdict.is_exact() || (verdict.bound == Bound::Lower && !verdict.is_silent());
            let own = f64::from(verdict.score.raw());
            let of_games = centi(lower_bound(weights, mean));
            let score = match by {
                PickBy::Games if is_played => of_games,
                PickBy::Both if verdict.proof.is_some() => return Some((*m, verdict.clone())),
                PickBy::Both if is_valued => (own + of_games) / 2.0,
                PickBy::Both if is_played => of_games,
                _ => return None,
            };
            let verdict = Verdict {
                score: Score::opinion(score.round() as i32),
                bound: Bound::Exact,
                proof: None,
                ..verdict.clone()
            };
            Some((*m, verdict))
        };
        answer.verdicts().iter().filter_map(valued).collect()
    }
}

fn whole([wins, draws, losses]: [f64; 3]) -> ResultsJson {
    let [wins, draws, losses] = [wins, draws, losses].map(|games| games.round() as u64);
    ResultsJson {
        wins,
        draws,
        losses,
    }
}

/// Returns a lower bound of a move's share of points: its share with some games of the mean result
/// added, less one standard error.
fn lower_bound([wins, draws, losses]: [f64; 3], mean: f64) -> f64 {
    let games = wins + draws + losses + PRIOR_GAMES;
    let share = (wins + draws / 2.0 + PRIOR_GAMES * mean) / games;
    share - (share * (1.0 - share) / games).sqrt()
}

/// Returns the centi-units that stand for a share of points.
fn centi(share: f64) -> f64 {
    let share = share.clamp(MIN_SHARE, 1.0 - MIN_SHARE);
    SCALE * (share / (1.0 - share)).ln()
}

#[cfg(test)]
mod tests {
    use kagetsu_builders::opinion;
    use kagetsu_game::Variant;

    use super::*;

    /// Returns an opinion on a move that was made so often.
    fn made(m: Move, nodes: u64) -> (Move, Verdict) {
        let verdict = opinion(m, 0).1;
        (m, Verdict { nodes, ..verdict })
    }

    #[test]
    fn few_games_count_less_than_many() {
        let start = Position::start(Variant::XIANGQI);
        let names = ["h2e2", "g3g4", "a0a1"];
        let moves = names.map(|name| start.parse_move(name).expect("legal"));
        let played = |m: Move, [wins, draws, losses]: [f64; 3]| {
            let next = start.play(m).expect("legal").key();
            (next, [1.0, wins, draws, losses])
        };
        // 1,324 games with 58 % of the points, and one that was won.
        let results = vec![
            played(moves[0], [520.0, 496.0, 308.0]),
            played(moves[1], [1.0, 0.0, 0.0]),
        ];
        let games = GameResults::new(&start, results);
        let answer: Answer = [
            opinion(moves[0], 0),
            opinion(moves[1], 10),
            opinion(moves[2], 20),
        ]
        .into_iter()
        .collect();
        let best = |by| {
            let valued = games.valued(&answer, by);
            let (m, _) = valued.best().expect("a move");
            start.write_move(m)
        };
        assert_eq!(best(PickBy::Games), "h2e2");
        assert_eq!(best(PickBy::Both), "h2e2");
        assert_eq!(games.valued(&answer, PickBy::Games).len(), 2);
        let mirror = start.parse_move("b2e2").expect("legal");
        for (one, other) in [(moves[0], mirror), (mirror, moves[0])] {
            let both: Answer = [made(one, 532), made(other, 129)].into_iter().collect();
            let valued = games.valued(&both, PickBy::Games);
            assert_eq!(valued.best().expect("a move").0, one);
        }
        let whole = games.all();
        assert_eq!((whole.wins, whole.draws, whole.losses), (521, 496, 308));
        assert_eq!(games.of_move(moves[2]).sum(), 0);
    }

    #[test]
    fn games_of_all_imports_are_counted() {
        let start = Position::start(Variant::XIANGQI);
        let moves = ["h2e2", "b2e2", "b0c2"].map(|name| start.parse_move(name).expect("legal"));
        // The book counts the games of one import of two, and no value is known.
        let made: Answer = moves
            .into_iter()
            .zip([3, 1, 0])
            .map(|(m, nodes)| made(m, nodes))
            .collect();
        let silent = made.changed(|_, verdict| {
            verdict.bound = Bound::Lower;
            verdict.score = -Score::OPINION_MAX;
            verdict.depth = 0;
        });
        let next = start.play(moves[0]).expect("legal").key();
        let games = GameResults::new(&start, vec![(next, [1.0, 2.0, 3.0, 4.0])]);
        let counted = games.counted(silent);
        let nodes = moves.map(|m| counted.get(m).expect("it was made").nodes);
        assert_eq!(nodes, [9, 1, 0]);
        // A server gives each move that mirrors another its games, too.
        let json = games.add_to(AnswerJson::new(&start, &counted, 0));
        let read = GameResults::new(&start, GameResults::of_json(&start, &json));
        assert_eq!(read.all().sum(), 9);
    }
}
