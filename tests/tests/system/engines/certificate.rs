//! Certificates as books of `pbrain-kagetsu`: Black wins every game from the proven positions.

use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// The variable that names a folder of certificates, `*.proof`, of one variant.
const CERTIFICATES: &str = "KAGETSU_CERTIFICATES";

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
    /// Returns one of `moves`, or any legal move if there are none.
    fn choose(
        self,
        position: &Position,
        moves: &[Move],
        chance: &mut StdRng,
        engine: &mut Engine,
    ) -> Move {
        let legal = if moves.is_empty() {
            position.legal_moves()
        } else {
            moves.to_vec()
        };
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
                let question = Question {
                    moves: moves.to_vec(),
                    ..Question::new(position.clone(), effort)
                };
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

/// Games of `pbrain-kagetsu`, which has the first side, with some books.
struct Games {
    brain: Dialogue,
    engine: Engine,
}

impl Games {
    fn new(rule: u8, books: &[&str]) -> Self {
        let mut arguments = vec!["--table-mib", "8"];
        for book in books {
            arguments.extend(["--book", book]);
        }
        let mut brain = Dialogue::of(Program::Pbrain.command(&arguments));
        brain.say("START 15");
        brain.until("OK");
        brain.say(format!("INFO rule {rule}\nINFO timeout_turn 1000"));
        let engine = Engine::new(EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        })
        .expect("an engine");
        Self { brain, engine }
    }

    /// Plays a game, whose `number` is the seed of chance, and returns its plies. The opponent's
    /// first move is one of `first`, where there are any.
    fn win(&mut self, number: u64, start: &Position, first: &[Move], opponent: Opponent) -> usize {
        let mut chance = StdRng::seed_from_u64(number);
        let (mut position, mut plies) = (start.clone(), 0);
        while position.outcome().is_none() {
            let m = if position.side() == Side::First {
                answer(&mut self.brain, &position)
            } else {
                let moves = if plies == 0 { first } else { &[] };
                opponent.choose(&position, moves, &mut chance, &mut self.engine)
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
    let mut games = Games::new(1, &[CERTIFICATE]);
    let start = Position::from_line(Variant::STANDARD_15, "h8 o15").expect("a line");
    for game in 0..GAMES {
        let opponent = match game % 10 {
            0..5 => Opponent::Random,
            5..9 => Opponent::Greedy,
            _ => Opponent::Search(Effort::nodes(2_000)),
        };
        let plies = games.win(game, &start, &[], opponent);
        assert!(
            plies <= MAX_PLIES,
            "game {game}, {opponent:?}: {plies} plies"
        );
    }
}

/// Returns the variant of a certificate and the line of its position.
fn proven_line(path: &Path) -> (Variant, String) {
    let text = std::fs::read_to_string(path).expect("a certificate");
    let after = |word: &str| {
        let line = text
            .lines()
            .take(5)
            .find_map(|line| line.strip_prefix(word));
        line.expect("a certificate").trim().to_owned()
    };
    (
        after("variant").parse().expect("a variant"),
        after("position"),
    )
}

/// White answers h8 with a move that some certificate beats, in any orientation.
#[test]
#[ignore = "takes minutes and a folder of certificates"]
fn certificates_win_every_game_from_h8() {
    let folder = std::env::var(CERTIFICATES).expect(CERTIFICATES);
    let files = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "proof"));
    paths.sort();
    let proven: Vec<(Variant, String)> = paths.iter().map(|path| proven_line(path)).collect();
    let variant = proven.first().expect("a certificate").0;
    let lines = proven.iter().map(|(_, line)| line);
    let keys = lines.map(|line| Position::from_line(variant, line).expect("legal").key());
    let keys: Vec<_> = keys.collect();
    let start = Position::from_line(variant, "h8").expect("legal");
    let is_whole = keys.contains(&start.key());
    let mut first = start.legal_moves();
    first.retain(|m| is_whole || keys.contains(&start.play(*m).expect("legal").key()));
    let books: Vec<&str> = paths
        .iter()
        .map(|path| path.to_str().expect("text"))
        .collect();
    let rule = u8::from(variant == Variant::STANDARD_15);
    let mut games = Games::new(rule, &books);
    for game in 0..GAMES {
        let opponent = match game {
            0..40 => Opponent::Random,
            40..70 => Opponent::Greedy,
            _ => Opponent::Search(Effort::time(Duration::from_secs(1))),
        };
        // A search would answer h8 with the same move in all games.
        let mut chance = StdRng::seed_from_u64(game);
        let any = [*first.choose(&mut chance).expect("a proven move")];
        let first = if game > 70 { &any[..] } else { &first };
        let plies = games.win(game, &start, first, opponent);
        println!("game {game}, {opponent:?}: won in {plies} plies");
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
