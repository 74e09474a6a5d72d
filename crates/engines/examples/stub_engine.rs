//! An engine for tests: it knows the rules, does not search, and misbehaves on demand.
//!
//! `stub_engine PROTOCOL MODE [FILE]`, for example `stub_engine uci crash /tmp/once`. It misbehaves
//! in positions one to four moves after the start. With a FILE it misbehaves only while that file
//! does not exist, and creates it.

use std::io::{BufRead, Write};
use std::path::Path;

use kagetsu_engines::gomocup::{self, Eval, Point};
use kagetsu_engines::uci::{Dialect, FromEngine, Info, OptionKind, OptionLine, ToEngine, Value};
use kagetsu_game::xiangqi::{parse_from_one, write_from_one};
use kagetsu_game::{Move, Outcome, Position, RuleName, Variant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [protocol, mode, rest @ ..] = arguments.as_slice() else {
        panic!("stub_engine PROTOCOL MODE [FILE]")
    };
    let manners = Misbehaviour {
        mode: mode.clone(),
        once: rest.first().cloned(),
    };
    let run = match protocol.as_str() {
        "uci" => Chess::new(Dialect::Uci, manners).run(),
        "ucci" => Chess::new(Dialect::Ucci, manners).run(),
        "gomocup" => Brain::new(manners).run(),
        other => panic!("no protocol {other}"),
    };
    // The reader has closed the pipe: end quietly.
    drop(run);
}

/// The way in which the engine misbehaves.
struct Misbehaviour {
    mode: String,
    once: Option<String>,
}

/// Illegal in xiangqi, and in gomoku on any board.
const ILLEGAL: &str = "a1i8";

/// The reaction that takes the place of an answer.
enum Reaction {
    None,
    /// Plays this move.
    Play(&'static str),
}

impl Misbehaviour {
    fn is(&self, mode: &str) -> bool {
        self.mode == mode
    }

    /// Misbehaves if the position is one to four moves after the start.
    fn misbehave(&self, moves: usize) -> Reaction {
        if !(1..=4).contains(&moves) || self.is("good") {
            return Reaction::None;
        }
        if let Some(once) = &self.once {
            if Path::new(once).exists() {
                return Reaction::None;
            }
            std::fs::write(once, "").expect("a file can be made");
        }
        let mut out = std::io::stdout();
        match self.mode.as_str() {
            "crash" => {
                eprintln!("segmentation fault, as it were");
                std::process::exit(3)
            }
            "hang" => loop {
                std::thread::park();
            },
            "flood" => loop {
                // Floods the pipe until the reader closes it.
                if out.write_all(&[b'x'; 1 << 16]).is_err() {
                    std::process::exit(0);
                }
            },
            "chatter" => loop {
                if out
                    .write_all(b"info string and another thing\nMESSAGE and another thing\n")
                    .is_err()
                {
                    std::process::exit(0);
                }
            },
            "illegal" => Reaction::Play(ILLEGAL),
            "nonsense" => Reaction::Play("\u{fffd}!"),
            _ => Reaction::None,
        }
    }
}

/// A xiangqi engine.
struct Chess {
    dialect: Dialect,
    manners: Misbehaviour,
    position: Position,
    banned: Vec<Move>,
    lines: usize,
}

impl Chess {
    fn new(dialect: Dialect, manners: Misbehaviour) -> Self {
        Self {
            dialect,
            manners,
            position: Position::start(Variant::XIANGQI),
            banned: Vec::new(),
            lines: 1,
        }
    }

    fn run(&mut self) -> std::io::Result<()> {
        for line in std::io::stdin().lock().lines() {
            let answers = match ToEngine::read(self.dialect, &line?) {
                ToEngine::Hello if self.manners.is("mute") => Vec::new(),
                ToEngine::Hello => self.hello(),
                ToEngine::IsReady => vec![FromEngine::ReadyOk],
                ToEngine::SetOption { name, value } => self.set(&name, value.as_deref()),
                ToEngine::Position { fen, moves } => self.set_position(fen.as_deref(), &moves),
                ToEngine::BanMoves(moves) => {
                    self.banned = moves.iter().map(|text| self.read(text)).collect();
                    Vec::new()
                }
                ToEngine::Go(go) => {
                    let chosen: Vec<Move> =
                        go.search_moves.iter().map(|text| self.read(text)).collect();
                    self.think(go.depth.unwrap_or(3).min(3), &chosen)
                }
                ToEngine::Quit => return Ok(()),
                _ => Vec::new(),
            };
            let mut out = std::io::stdout().lock();
            for answer in answers {
                writeln!(out, "{}", answer.write(self.dialect))?;
            }
            out.flush()?;
        }
        Ok(())
    }

    fn read(&self, text: &str) -> Move {
        let is_from_one = self.manners.is("from-one");
        let m = if is_from_one {
            parse_from_one(text)
        } else {
            self.position.parse_move(text).ok()
        };
        m.unwrap_or_else(|| panic!("{text} in {}", self.position))
    }

    fn write(&self, m: Move) -> String {
        if self.manners.is("from-one") {
            write_from_one(m)
        } else {
            self.position.write_move(m)
        }
    }

    fn hello(&self) -> Vec<FromEngine> {
        let spin = |name: &str, most| {
            FromEngine::Option(OptionLine {
                name: name.into(),
                kind: OptionKind::Spin,
                default: Some("1".into()),
                range: [Some(1), Some(most)],
                choices: Vec::new(),
            })
        };
        let mut all = vec![FromEngine::Id {
            key: "name".into(),
            value: format!("Stub {}", self.manners.mode),
        }];
        all.push(spin(
            if self.dialect == Dialect::Uci {
                "Hash"
            } else {
                "hashsize"
            },
            64,
        ));
        if self.dialect == Dialect::Uci && !self.manners.is("one-line") {
            all.push(spin("MultiPV", 100));
        }
        all.push(FromEngine::HelloOk);
        all
    }

    fn set(&mut self, name: &str, value: Option<&str>) -> Vec<FromEngine> {
        if name == "MultiPV" {
            self.lines = value
                .and_then(|value| value.parse().ok())
                .expect("a number of lines");
        }
        Vec::new()
    }

    fn set_position(&mut self, fen: Option<&str>, moves: &[String]) -> Vec<FromEngine> {
        let start = fen.map_or_else(
            || Position::start(Variant::XIANGQI),
            |fen| Position::from_fen(Variant::XIANGQI, fen).expect("a FEN"),
        );
        self.position = start;
        for text in moves {
            let m = self.read(text);
            self.position = self.position.play(m).expect("a legal move");
        }
        self.banned.clear();
        Vec::new()
    }

    fn think(&self, depth: u32, chosen: &[Move]) -> Vec<FromEngine> {
        let best = |text: String| {
            vec![FromEngine::BestMove {
                best: Some(text),
                ponder: None,
            }]
        };
        if let Reaction::Play(text) = self.manners.misbehave(self.position.moves().len()) {
            return best(text.into());
        }
        if self.manners.is("illegal-check") && self.position.setup().is_some() {
            return best("a0a9".into());
        }
        if self.manners.is("chess") {
            return best("e2e4".into());
        }
        let allowed = |m: &Move| {
            self.manners.is("unruly")
                || ((chosen.is_empty() || chosen.contains(m)) && !self.banned.contains(m))
        };
        let moves: Vec<Move> = self
            .position
            .legal_moves()
            .into_iter()
            .filter(allowed)
            .collect();
        let mut valued: Vec<(i32, Move)> = moves
            .iter()
            .map(|&m| (value(&self.position, m), m))
            .collect();
        valued.sort_by_key(|(value, m)| (-value, *m));
        let Some((_, first)) = valued.first() else {
            return vec![FromEngine::BestMove {
                best: None,
                ponder: None,
            }];
        };
        let mut output = Vec::new();
        for depth in 1..=depth {
            for (rank, (value, m)) in (1..).zip(valued.iter().take(self.lines)) {
                let score = if self.manners.is("mates") {
                    Value::Mate(*value)
                } else {
                    Value::Centi(*value)
                };
                output.push(FromEngine::Info(Info {
                    depth: Some(depth),
                    multi_pv: (self.dialect == Dialect::Uci).then_some(rank),
                    score: Some(score),
                    nodes: Some(u64::from(depth) * 100),
                    line: vec![self.write(*m), "a0a9".into()],
                    ..Info::default()
                }));
            }
        }
        output.extend(best(self.write(*first)));
        output
    }
}

/// A gomoku engine. The mode `yixin`, and modes that begin with it, use Yixin's extensions.
struct Brain {
    manners: Misbehaviour,
    size: u8,
    rule: RuleName,
    depth: u32,
    /// Stones with their owner: 1 is this engine, 2 its opponent.
    stones: Vec<(Point, u8)>,
    blocked: Vec<Point>,
    /// The block command whose lines are being read.
    block: Option<gomocup::ToEngine>,
    /// Times that the table was cleared; the mode `yixin-clears` adds them to its nodes.
    clears: u32,
}

impl Brain {
    fn new(manners: Misbehaviour) -> Self {
        let (stones, blocked) = (Vec::new(), Vec::new());
        Self {
            manners,
            size: 15,
            rule: RuleName::Freestyle,
            depth: 2,
            stones,
            blocked,
            block: None,
            clears: 0,
        }
    }

    fn is_yixin(&self) -> bool {
        self.manners.mode.starts_with("yixin")
    }

    fn run(&mut self) -> std::io::Result<()> {
        use gomocup::ToEngine;
        for line in std::io::stdin().lock().lines() {
            let line = ToEngine::read(&line?);
            if line == ToEngine::End {
                return Ok(());
            }
            let answers = self.answer(line);
            let mut out = std::io::stdout().lock();
            for answer in answers {
                // Line ends as Windows writes them.
                write!(out, "{answer}\r\n")?;
            }
            out.flush()?;
        }
        Ok(())
    }

    fn answer(&mut self, line: gomocup::ToEngine) -> Vec<String> {
        use gomocup::ToEngine;
        match line {
            ToEngine::About if self.manners.is("nameless") => Vec::new(),
            ToEngine::About => vec![format!(
                "name=\"Stub {}\", version=\"1\", author=\"test\"",
                self.manners.mode
            )],
            ToEngine::YxShowInfo if self.is_yixin() => {
                vec![
                    "MESSAGE INFO MAX_THREAD_NUM 256".into(),
                    "MESSAGE INFO MAX_HASH_SIZE 30".into(),
                ]
            }
            ToEngine::Start(size) => self.start(size),
            ToEngine::Info { key, value } => {
                self.set(&key, &value);
                Vec::new()
            }
            ToEngine::Begin => {
                self.stones.clear();
                self.think(1)
            }
            ToEngine::YxBlockReset if self.is_yixin() => {
                self.blocked.clear();
                Vec::new()
            }
            ToEngine::Board | ToEngine::YxBoard | ToEngine::YxBlock => {
                if line != ToEngine::YxBlock {
                    self.stones.clear();
                }
                self.block = Some(line);
                Vec::new()
            }
            ToEngine::Stone(point, field) => {
                match (&self.block, field) {
                    (Some(ToEngine::YxBlock), _) => self.blocked.push(point),
                    (_, Some(field)) => self.stones.push((point, field)),
                    _ => {}
                }
                Vec::new()
            }
            ToEngine::Done if self.block.take() == Some(ToEngine::Board) => self.think(1),
            ToEngine::Done => Vec::new(),
            ToEngine::YxNBest(lines) if self.is_yixin() => self.think(lines as usize),
            ToEngine::YxHashClear if self.is_yixin() => {
                self.clears += 1;
                Vec::new()
            }
            _ => vec!["UNKNOWN command".into()],
        }
    }

    fn start(&mut self, size: u32) -> Vec<String> {
        self.stones.clear();
        let size = if self.manners.is("yixin-size") {
            20
        } else {
            size
        };
        match u8::try_from(size)
            .ok()
            .filter(|size| Variant::GOMOKU_SIZES.contains(size))
        {
            Some(_) if self.manners.is("refuses") => vec!["ERROR only boards of 20".into()],
            Some(size) => {
                self.size = size;
                vec!["OK".into()]
            }
            None => vec!["ERROR size".into()],
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        match (key, value) {
            ("rule", _) if self.manners.is("freestyle") => {}
            ("rule", sum) => {
                let rule = gomocup::RULES
                    .into_iter()
                    .find(|(number, _)| number.to_string() == sum);
                self.rule = rule.map_or(self.rule, |(_, rule)| rule);
            }
            ("max_depth", _) => self.depth = value.parse().unwrap_or(2),
            _ => {}
        }
    }

    fn think(&self, lines: usize) -> Vec<String> {
        match self.manners.misbehave(self.stones.len()) {
            Reaction::Play(ILLEGAL) => return vec!["99,99".into()],
            Reaction::Play(text) => return vec![text.into()],
            Reaction::None => {}
        }
        let variant = Variant::Gomoku {
            rule: self.rule,
            size: self.size,
        };
        let moves: Vec<Move> = self
            .stones
            .iter()
            .filter_map(|(point, _)| point.to_move(self.size))
            .collect();
        let Ok(position) = Position::new(variant, None, &moves) else {
            return vec!["ERROR stones".into()];
        };
        let is_free = |m: &Move| !self.blocked.contains(&Point::of(*m, self.size));
        let free = position
            .legal_moves()
            .into_iter()
            .filter(|m| self.manners.is("yixin-unruly") || is_free(m));
        let mut valued: Vec<(i32, Move)> = free.map(|m| (value(&position, m), m)).collect();
        valued.sort_by_key(|(value, m)| (-value, *m));
        let Some((_, best)) = valued.first() else {
            return vec!["ERROR no move".into()];
        };
        let more = if self.manners.is("yixin-clears") {
            self.clears
        } else {
            0
        };
        let mut output = vec!["MESSAGE thinking".to_string(), "DEBUG 1,1".into()];
        if self.is_yixin() {
            for depth in 1..=self.depth.min(2) {
                for (rank, (value, m)) in valued.iter().take(lines).enumerate() {
                    let eval = match value {
                        9_000 => Eval::Win(1),
                        value if self.manners.is("yixin-mates") => Eval::Win(value.unsigned_abs()),
                        value => Eval::Centi(*value),
                    };
                    output.extend([
                        format!("INFO PV {rank}"),
                        format!("INFO NUMPV {lines}"),
                        format!("INFO DEPTH {depth}"),
                        format!("INFO TOTALNODES {}", depth * 100 + more),
                        format!("INFO EVAL {}", eval.write()),
                        format!("INFO BESTLINE {}", Point::of(*m, self.size)),
                        "INFO PV DONE".into(),
                    ]);
                }
            }
        }
        output.push(Point::of(*best, self.size).to_string());
        output
    }
}

/// A deterministic value: a win where there is one, else a number made from the position's key.
fn value(position: &Position, m: Move) -> i32 {
    let next = position.play(m).expect("legal");
    match next.outcome() {
        Some(Outcome::Win(side)) if side == position.side() => 9_000,
        Some(_) => -9_000,
        None => (next.key().0 % 401) as i32 - 200,
    }
}
