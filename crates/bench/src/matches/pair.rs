use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kagetsu_game::{Answer, Claim, Effort, Outcome, Position, Question, Side};
use kagetsu_search::Control;
use serde::Serialize;

use super::player::{Player, PlayerSettings};

/// The two engines of a match, A and B.
pub(crate) struct Players {
    players: [Player; 2],
    efforts: [Effort; 2],
    /// Whether a game goes on when a side has proven how it ends.
    play_out: bool,
}

/// The work of one engine's searches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchWork {
    moves: u64,
    /// Moves of the book, which took no search.
    book_moves: u64,
    nodes: u64,
    time: Duration,
    /// Moves whose value was not proven, and the sum of their depths.
    unproven: u64,
    depths: u64,
}

/// Two games of one opening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The game in which A has the first side, and the game in which B has it.
    pub(crate) outcomes: [Outcome; 2],
    /// The side to move after the opening.
    pub(crate) mover: Side,
    /// Plies of both games, those of the opening among them.
    pub(crate) plies: usize,
    /// The work of A and of B.
    pub(crate) work: [SearchWork; 2],
}

impl Pair {
    /// Half points of A in each game.
    pub(crate) fn halves(&self) -> [u8; 2] {
        let [first, second] = self.outcomes;
        [(first, Side::First), (second, Side::Second)].map(|(outcome, side)| match outcome {
            Outcome::Draw => 1,
            Outcome::Win(winner) => 2 * u8::from(winner == side),
        })
    }
}

impl Players {
    /// # Errors
    /// If an engine does not start.
    pub(crate) fn new(
        settings: &[PlayerSettings; 2],
        play_out: bool,
        control: &Control,
    ) -> Result<Self> {
        let [a, b] = settings;
        Ok(Self {
            players: [Player::start(a, control)?, Player::start(b, control)?],
            efforts: [a.effort, b.effort],
            play_out,
        })
    }

    /// Plays both games of an opening; `None` where `control` stopped them.
    ///
    /// # Errors
    /// If an engine does not play this, or gives no move.
    pub(crate) fn pair(&mut self, opening: &Position, control: &Control) -> Result<Option<Pair>> {
        self.players.iter_mut().for_each(Player::forget_asked);
        let mut work = [SearchWork::default(); 2];
        let mut outcomes = [Outcome::Draw; 2];
        let mut plies = 0;
        for (outcome, first) in outcomes.iter_mut().zip([0, 1]) {
            self.players.iter_mut().for_each(Player::begin_game);
            let mut position = opening.clone();
            *outcome = loop {
                if let Some(outcome) = position.outcome() {
                    break outcome;
                }
                let side = position.side();
                let player = first ^ side.index();
                let answer = self.think(player, &position, control, &mut work[player])?;
                if control.is_stopped() {
                    return Ok(None);
                }
                if let Some(outcome) = proven(&answer, side).filter(|_| !self.play_out) {
                    break outcome;
                }
                let Some((best, _)) = answer.best() else {
                    bail!("an engine gave no move in {position}")
                };
                position = position.play(best)?;
            };
            plies += position.moves().len();
        }
        Ok(Some(Pair {
            outcomes,
            mover: opening.side(),
            plies,
            work,
        }))
    }

    /// Returns the positions in which A's book was asked in the last pair, game by game, and
    /// whether it gave a move.
    pub(crate) fn asked(&self) -> &[Vec<(Position, bool)>] {
        self.players[0].asked()
    }

    fn think(
        &mut self,
        player: usize,
        position: &Position,
        control: &Control,
        work: &mut SearchWork,
    ) -> Result<Answer> {
        let question = Question::new(position.clone(), self.efforts[player]);
        if let Some(answer) = self.players[player].book_move(&question)? {
            work.book_moves += 1;
            return Ok(answer);
        }
        let (begun, mut nodes) = (Instant::now(), 0);
        let answer = self.players[player]
            .answer(&question, control, &mut |progress| nodes = progress.nodes)?;
        work.moves += 1;
        work.nodes += answer.nodes().max(nodes);
        work.time += begun.elapsed();
        if let Some((_, verdict)) = answer.best().filter(|(_, verdict)| verdict.proof.is_none()) {
            work.unproven += 1;
            work.depths += u64::from(verdict.depth);
        }
        Ok(answer)
    }
}

/// How the game ends by what the side to move has proven of its best move.
fn proven(answer: &Answer, side: Side) -> Option<Outcome> {
    let proof = answer.best()?.1.proof?;
    Some(match proof.claim {
        Claim::Win => Outcome::Win(side),
        Claim::Loss => Outcome::Win(side.other()),
        Claim::Draw => Outcome::Draw,
    })
}

impl SearchWork {
    pub(crate) fn add(&mut self, more: Self) {
        self.moves += more.moves;
        self.book_moves += more.book_moves;
        self.nodes += more.nodes;
        self.time += more.time;
        self.unproven += more.unproven;
        self.depths += more.depths;
    }

    /// Returns the means of a move.
    pub(crate) fn json(self, engine: String) -> EngineJson {
        let mean = |sum: f64, count: u64| sum / count.max(1) as f64;
        let seconds = self.time.as_secs_f64();
        EngineJson {
            engine,
            book_moves: self.book_moves,
            searched: self.moves,
            mean_depth: mean(self.depths as f64, self.unproven),
            mean_nodes: mean(self.nodes as f64, self.moves),
            mean_ms: mean(1e3 * seconds, self.moves),
            nodes_per_second: self.nodes as f64 / seconds.max(1e-9),
        }
    }
}

/// One engine's work in a match.
#[derive(Serialize)]
pub(crate) struct EngineJson {
    engine: String,
    book_moves: u64,
    searched: u64,
    mean_depth: f64,
    mean_nodes: f64,
    mean_ms: f64,
    nodes_per_second: f64,
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;
    use crate::matches::player::PlayerEngine;

    fn settings(a: &str, b: &str) -> [PlayerSettings; 2] {
        [a, b].map(|text| PlayerSettings {
            engine: PlayerEngine::Own(text.parse().expect("options")),
            effort: Effort::depth(2),
            book: None,
        })
    }

    fn players(a: &str, b: &str) -> Players {
        Players::new(&settings(a, b), true, &Control::new()).expect("engines")
    }

    #[test]
    fn equal_engines_share_the_points_of_every_opening() {
        let mut players = players("table=1MiB", "table=1MiB");
        for line in ["h8 i9 g7", "h8 h9 k5 g8", "h8 i9 h9 h10 i8"] {
            let opening = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
            let pair = players
                .pair(&opening, &Control::new())
                .expect("playable")
                .expect("it is not stopped");
            assert_eq!(
                (pair.outcomes[0], pair.halves().iter().sum::<u8>()),
                (pair.outcomes[1], 2),
                "{line}: {pair:?}"
            );
        }
    }

    #[test]
    fn book_moves_need_no_search() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = kagetsu_book::BookOptions {
            create: true,
            ..kagetsu_book::BookOptions::default()
        };
        let (mut book, _) = kagetsu_book::Book::open(folder.path(), &options).expect("room");
        let opening = Position::from_line(Variant::FREESTYLE_15, "h8 i9 g7").expect("legal");
        let mut engine = kagetsu_search::Engine::new("table=1MiB".parse().expect("options"));
        let engine = engine.as_mut().expect("an engine");
        let question = Question::new(opening.clone(), Effort::depth(2));
        let answer = engine.answer(&question, &Control::new(), &mut |_| {});
        book.learn(&opening, &answer.expect("a move"))
            .expect("room");
        book.close().expect("room");
        let mut settings = settings("table=1MiB", "table=1MiB");
        settings[1].book = Some(folder.path().to_string_lossy().into_owned());
        let mut players = Players::new(&settings, true, &Control::new()).expect("engines");
        let pair = players.pair(&opening, &Control::new());
        let pair = pair.expect("playable").expect("it is not stopped");
        assert_eq!(pair.work.map(|work| work.book_moves), [0, 1]);
    }

    #[test]
    fn sides_of_a_pair_are_not_confused() {
        // The first side has an open four, so the player of this side wins.
        let won =
            Position::from_line(Variant::FREESTYLE_15, "h8 a1 h9 c1 h10 e1 h11 g1").expect("legal");
        let mut players = players("table=1MiB", "candidates=1,table=1MiB");
        let pair = players
            .pair(&won, &Control::new())
            .expect("playable")
            .expect("it is not stopped");
        assert_eq!(
            (pair.outcomes, pair.halves()),
            ([Outcome::Win(Side::First); 2], [2, 0])
        );
        assert_eq!((pair.plies, pair.work.map(|work| work.moves)), (18, [1, 1]));
        let win = |side| Pair {
            outcomes: [Outcome::Win(side), Outcome::Win(side.other())],
            ..pair
        };
        assert_eq!(
            (win(Side::First).halves(), win(Side::Second).halves()),
            ([2; 2], [0; 2])
        );
        let stopped = Control::new();
        stopped.stop();
        assert!(players.pair(&won, &stopped).expect("playable").is_none());
    }
}
