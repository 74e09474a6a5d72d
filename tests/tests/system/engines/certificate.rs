//! Certificates as books of `pbrain-kagetsu`: Black wins every game from the proven positions.

use kagetsu_game::{Effort, Move, Outcome, Position, Question, Side, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_tests::{Dialogue, Program};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

const CERTIFICATE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/system/engines/standard-15-h8-o15.proof"
);

/// Number of columns and rows.
const SIZE: u16 = 15;

/// Number of games.
const GAMES: u64 = 100;

/// Plies within which the certificate wins.
const MAX_PLIES: usize = 41;

/// How White chooses its moves.
#[derive(Clone, Copy, Debug)]
enum Opponent {
    /// Any legal move.
    Random,
    /// The move in the longest row of either side.
    Greedy,
    /// The move of our own search.
    Search(Effort),
}

impl Opponent {
    /// Returns a legal move.
    fn choose(self, position: &Position, chance: &mut StdRng, engine: &mut Engine) -> Move {
        let legal = position.legal_moves();
        let any = *legal.choose(chance).expect("the board has room");
        match self {
            Self::Random => any,
            Self::Greedy if chance.random_range(0..8) == 0 => any,
            Self::Greedy => {
                let best = legal
                    .iter()
                    .max_by_key(|m| (longest_row(position, **m), m.code()));
                *best.expect("the board has room")
            }
            Self::Search(effort) => {
                let question = Question::new(position.clone(), effort);
                let answer = engine.answer(&question, &Control::new(), &mut |_| {});
                answer
                    .expect("a legal position")
                    .best()
                    .map_or(any, |(m, _)| m)
            }
        }
    }
}

/// The longest row through a point, of the stones of one side and the point.
fn longest_row(position: &Position, at: Move) -> usize {
    let stones = position.stones().expect("gomoku");
    let (column, row) = (i32::from(at.code() % SIZE), i32::from(at.code() / SIZE));
    let count = |side: &[Move], step: (i32, i32)| {
        let on = |steps: &i32| {
            let (column, row) = (column + steps * step.0, row + steps * step.1);
            let is_on_board = (0..15).contains(&column) && (0..15).contains(&row);
            is_on_board && side.contains(&Move::new((row * 15 + column) as u16))
        };
        (1..5).take_while(on).count() + (1..5).map(|steps| -steps).take_while(on).count()
    };
    let steps = [(1, 0), (0, 1), (1, 1), (1, -1)];
    let rows = stones
        .iter()
        .flat_map(|side| steps.map(|step| count(side, step)));
    rows.max().unwrap_or(0)
}

/// Asks the brain, which has the first side, for its move.
fn answer(brain: &mut Dialogue, position: &Position) -> Move {
    let [first, second] = position.stones().expect("gomoku");
    let mut board = String::from("BOARD\n");
    for at in 0..first.len().max(second.len()) {
        for (stones, owner) in [(&first, 1), (&second, 2)] {
            if let Some(m) = stones.get(at) {
                let (column, row) = (m.code() % SIZE, SIZE - 1 - m.code() / SIZE);
                board += &format!("{column},{row},{owner}\n");
            }
        }
    }
    brain.say(&(board + "DONE"));
    let read = |line: &str| {
        let (column, row) = line.split_once(',')?;
        Some((column.parse::<u16>().ok()?, row.parse::<u16>().ok()?))
    };
    let (line, _) = brain.find("a move", |line| read(line).is_some());
    let (column, row) = read(&line).expect("found so");
    Move::new((SIZE - 1 - row) * SIZE + column)
}

/// Games of `pbrain-kagetsu`, which has the first side and the certificate as its book.
struct Games {
    brain: Dialogue,
    engine: Engine,
}

impl Games {
    fn new() -> Self {
        let arguments = ["--table-mib", "8", "--book", CERTIFICATE];
        let mut brain = Dialogue::of(Program::Pbrain.command(&arguments));
        brain.say("START 15");
        brain.until("OK");
        brain.say("INFO rule 1\nINFO timeout_turn 1000");
        let engine = Engine::new(EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        })
        .expect("an engine");
        Self { brain, engine }
    }

    /// Plays a game, whose `number` is the seed of chance, and returns its plies.
    fn win(&mut self, number: u64, start: &Position, opponent: Opponent) -> usize {
        let mut chance = StdRng::seed_from_u64(number);
        let (mut position, mut plies) = (start.clone(), 0);
        while position.outcome().is_none() {
            let m = if position.side() == Side::First {
                answer(&mut self.brain, &position)
            } else {
                opponent.choose(&position, &mut chance, &mut self.engine)
            };
            position = position.play(m).expect("a legal move");
            plies += 1;
        }
        let end = position.outcome();
        let won = Some(Outcome::Win(Side::First));
        assert_eq!(end, won, "game {number}, {opponent:?}: {position}");
        plies
    }
}

#[test]
fn certificate_wins_every_game() {
    let mut games = Games::new();
    let start = Position::from_line(Variant::STANDARD_15, "h8 o15").expect("a line");
    for game in 0..GAMES {
        let opponent = match game % 10 {
            0..5 => Opponent::Random,
            5..9 => Opponent::Greedy,
            _ => Opponent::Search(Effort::nodes(2_000)),
        };
        let plies = games.win(game, &start, opponent);
        assert!(
            plies <= MAX_PLIES,
            "game {game}, {opponent:?}: {plies} plies"
        );
    }
}

#[test]
fn certificate_answers_queries() {
    let place = ["--variant", "standard-15", "--book", CERTIFICATE];
    let known =
        Program::Kagetsu.run(&[&["query", "--json", "--moves", "h8 o15"], &place[..]].concat());
    let known = known.json();
    assert_eq!(known["win_in"], 41, "{known}");
    let unknown = Program::Kagetsu.run(&[&["query", "--moves", "h8 i9"], &place[..]].concat());
    assert_eq!(unknown.code, Some(1), "{unknown:#?}");
}
