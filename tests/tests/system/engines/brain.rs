//! Kagetsu as an engine: a manager, a match runner or a user talks to it through two pipes.

use kagetsu_game::{Move, Position, Variant};
use kagetsu_tests::{Dialogue, Program, Scratch, words};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::world::BookBuild;

fn brain(arguments: &[&str]) -> Dialogue {
    Dialogue::of(Program::Kagetsu.command(&[&["brain", "--table-mib", "8"], arguments].concat()))
}

fn pbrain() -> Dialogue {
    Dialogue::of(Program::Pbrain.command(&["--table-mib", "8"]))
}

/// Reads `7,8`: column from the left and row from the top.
fn point(line: &str) -> Option<(u16, u16)> {
    let (x, y) = line.split_once(',')?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

fn to_move((x, y): (u16, u16), size: u16) -> Move {
    Move::new((size - 1 - y) * size + x)
}

fn to_text(m: Move, size: u16) -> String {
    format!("{},{}", m.code() % size, size - 1 - m.code() / size)
}

/// Returns the next line that is a move, and the lines before it.
fn next_move(engine: &Dialogue) -> ((u16, u16), Vec<String>) {
    let (line, before) = engine.find("a move", |line| point(line).is_some());
    (point(&line).expect("found so"), before)
}

#[test]
fn uci_from_hello_to_quit() {
    let mut engine = Dialogue::of(Program::Uci.command(&[]));
    engine.say("uci");
    let (_, lines) = engine.until("uciok");
    assert!(
        lines.iter().any(|line| line.starts_with("id name kagetsu")),
        "{lines:?}"
    );
    for option in [
        "Threads",
        "Hash",
        "MultiPV",
        "Ponder",
        "Book",
        "BookDepth",
        "UCI_Variant",
    ] {
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&format!("option name {option} type "))),
            "{option}"
        );
    }
    engine.say("setoption name MultiPV value 3\nisready");
    engine.until("readyok");
    engine.say("position startpos moves h3e3 h10g8\ngo depth 4");
    let (best, lines) = engine.until("bestmove ");
    let start = Position::from_line(Variant::XIANGQI, "h2e2 h9g7").expect("a line");
    let text = best.split(' ').nth(1).expect("a move");
    let m = kagetsu_game::xiangqi::parse_from_one(text).expect("a move, ranks from 1");
    assert!(start.legal_moves().contains(&m), "{best}");
    for part in [
        "depth 4 multipv 1",
        "depth 4 multipv 3",
        " nodes ",
        " score cp ",
        " pv ",
    ] {
        assert!(
            lines.iter().any(|line| line.contains(part)),
            "{part} in {lines:#?}"
        );
    }
    // A mate in one, and a position without a legal move.
    engine.say("position fen 3k5/R8/9/9/9/9/9/9/R8/4K4 w\ngo depth 3");
    let (_, lines) = engine.until("bestmove ");
    assert!(
        lines.iter().any(|line| line.contains("score mate 1")),
        "{lines:#?}"
    );
    engine.say("position fen R2k5/R8/9/9/9/9/9/9/9/4K4 b\ngo depth 3");
    assert_eq!(engine.until("bestmove ").0, "bestmove (none)");
    // The engine chooses among the moves asked about.
    engine.say("position startpos\ngo depth 3 searchmoves a4a5 i4i5");
    let best = engine.until("bestmove ").0;
    assert!(
        best.starts_with("bestmove a4a5") || best.starts_with("bestmove i4i5"),
        "{best}"
    );
    engine.say("go depth 1 searchmoves a0a1");
    let (_, lines) = engine.until("bestmove ");
    assert!(
        lines.iter().any(|line| line.contains("'a0a1' is no legal")),
        "{lines:#?}"
    );
    engine.say("quit");
    assert!(engine.hang_up().0.success());
}

#[test]
fn uci_search_stops_and_ponders() {
    let mut engine = brain(&["--protocol", "uci"]);
    engine.say("position startpos\ngo infinite");
    engine.until("info depth 3");
    engine.say("isready");
    engine.until("readyok");
    engine.say("stop");
    engine.until("bestmove ");
    // The expected move was played: the remaining time counts from now.
    engine.say("position startpos moves h3e3\ngo ponder wtime 3000 btime 3000 movestogo 10");
    engine.until("info depth 2");
    engine.say("ponderhit");
    let (best, _) = engine.until("bestmove ");
    assert!(best.contains(" ponder "), "{best}");
    // A pondering search sends nothing before the ponder hit, even when it is complete.
    engine.say("position startpos\ngo ponder depth 1");
    engine.until("info depth 1");
    engine.say("isready");
    let (_, lines) = engine.until("readyok");
    assert!(
        !lines.iter().any(|line| line.starts_with("bestmove")),
        "{lines:?}"
    );
    engine.say("stop");
    engine.until("bestmove ");
    // The manager closes the pipe.
    engine.say("go infinite");
    let (status, last) = engine.hang_up();
    assert!(
        status.success() && last.iter().any(|line| line.starts_with("bestmove ")),
        "{status} {last:?}"
    );
}

#[test]
fn uci_handles_other_games_and_bad_commands() {
    let mut engine = brain(&["--protocol", "uci", "--variant", "surakarta"]);
    engine.say("position startpos\ngo depth 3");
    let (best, _) = engine.until("bestmove ");
    let start = Position::start(Variant::SURAKARTA);
    let text = best.split(' ').nth(1).expect("a move");
    assert!(
        start
            .parse_move(text)
            .is_ok_and(|m| start.legal_moves().contains(&m)),
        "{best}"
    );
    engine.say(
        "setoption name UCI_Variant value freestyle-15\nposition startpos moves h8\ngo nodes 2000",
    );
    assert!(!engine.until("bestmove ").0.contains("h8 "));
    for (line, words) in [
        (
            "setoption name Hash value many",
            "option Hash must be a number",
        ),
        (
            "setoption name Threads value 0",
            "option Threads must be a number from 1",
        ),
        (
            "setoption name Colour value red",
            "there is no option 'Colour'",
        ),
        (
            "setoption name Variant value chess",
            "unknown variant 'chess'",
        ),
        ("setoption name Book value /nowhere", "no book: "),
        (
            "position startpos moves h8 h8",
            "'h8' is not a legal move of freestyle-15",
        ),
        ("position fen x y z", "there is no position to search"),
        ("position", "write `position startpos`"),
        ("go depth x", "a limit of 'go depth x' is no number"),
        ("go movetime", "a limit of 'go movetime' is no number"),
        ("position fen", "write `position startpos`"),
    ] {
        engine.say(line);
        let (reply, _) = engine.until("info string ");
        assert!(reply.contains(words), "{line}: {reply}");
    }
    // A move for the position before would be played as if it were one for this.
    engine.say("go depth 2");
    let (reply, _) = engine.until("bestmove ");
    assert_eq!(reply.trim(), "bestmove (none)");
    engine.say("position startpos moves h8");
    engine.say("\u{1}\u{2}\ngo\u{0}\nsetoption\nxyzzy\nisready");
    let (_, lines) = engine.until("readyok");
    assert!(lines.is_empty(), "{lines:?}");
    engine.say("go depth 2");
    engine.until("bestmove ");
}

#[test]
fn piped_lines_get_a_searched_move() {
    let lines = "START 15\nINFO max_node 3000\nBEGIN\nEND\n";
    for lines in [lines, lines.strip_suffix("END\n").expect("its end")] {
        let mut engine = brain(&["--protocol", "gomocup"]);
        engine.say(lines);
        let (ended, said) = engine.hang_up();
        assert!(ended.success(), "{said:?}");
        assert!(point(said.last().expect("a move")).is_some(), "{said:?}");
        // Each iteration is reported; a search that is stopped reports one.
        let iterations = said.iter().filter(|line| line.contains("depth "));
        assert!(iterations.count() > 1, "{said:?}");
    }
}

#[test]
fn ucci_bans_moves_and_counts_seconds() {
    let mut engine = Dialogue::of(Program::Ucci.command(&[]));
    engine.say("ucci");
    let (_, lines) = engine.until("ucciok");
    for begin in ["option usemillisec type check", "option variant type combo"] {
        let is_declared = lines.iter().any(|line| line.starts_with(begin));
        assert!(is_declared, "{begin}: {lines:?}");
    }
    engine.say("position startpos\ngo depth 4");
    let first = engine.until("bestmove ").0;
    let first = first.split(' ').nth(1).expect("a move").to_string();
    engine.say(format!("position startpos\nbanmoves {first}\ngo depth 4"));
    let second = engine.until("bestmove ").0;
    assert!(
        !second.starts_with(&format!("bestmove {first}")),
        "{second}"
    );
    engine.say("stop");
    engine.until("nobestmove");
    engine.say("setoption usemillisec true\nposition startpos\ngo time 2000 increment 0");
    engine.until("bestmove ");
    engine.say("quit");
    assert_eq!(engine.hang_up().1, ["bye"]);
}

/// Plays a game between two engine processes. Returns the last position.
fn game(variant: &str, rule: u8, size: u16) -> Position {
    let variant: Variant = variant.parse().expect("a variant");
    let mut brains = [pbrain(), pbrain()];
    for brain in &mut brains {
        brain.say(format!(
            "START {size}\nINFO rule {rule}\nINFO timeout_turn 0\nINFO max_node 2000\nINFO timeout_turn 9000"
        ));
        brain.until("OK");
    }
    let mut position = Position::start(variant);
    brains[0].say("BEGIN");
    while position.outcome().is_none() {
        let ply = position.moves().len();
        let (played, _) = next_move(&brains[ply % 2]);
        let m = to_move(played, size);
        assert!(
            position.legal_moves().contains(&m),
            "{played:?} after {position}"
        );
        position = position.play(m).expect("legal");
        if position.outcome().is_none() {
            brains[(ply + 1) % 2].say(format!("TURN {}", to_text(m, size)));
        }
    }
    for brain in brains {
        assert!(brain.hang_up().0.success());
    }
    position
}

#[test]
fn two_engines_play_to_the_end() {
    for (variant, rule, size) in [
        ("freestyle-20", 0, 20),
        ("standard-15", 1, 15),
        ("renju-15", 4, 15),
        ("caro-overline-15", 8, 15),
        ("caro-15", 9, 15),
    ] {
        let end = game(variant, rule, size);
        assert!(end.moves().len() >= 9, "{end}");
    }
}

#[test]
fn hostile_lines_change_nothing() {
    let mut engine = pbrain();
    engine.say("TURN 7,7");
    engine.until("ERROR there is no board yet");
    engine.say("START 15\r\nINFO max_node 1000\r\nINFO timeout_turn 20000");
    engine.until("OK");
    let wrong: [(&str, &str); 12] = [
        ("RECTSTART 10,20", "ERROR boards are square"),
        ("START 100", "ERROR boards are 5 to 22"),
        ("START", "UNKNOWN"),
        ("TURN 15,0", "ERROR 15,0 is off the board"),
        ("TURN -1,3", "ERROR -1,3 is off the board"),
        ("DONE", "ERROR DONE ends what was not begun"),
        ("3,3,1", "ERROR a point belongs between"),
        ("TAKEBACK 3,3", "ERROR there is no stone on 3,3"),
        ("BOARD\n1,1,1\n1,1,2\nDONE", "ERROR 1,1 is taken"),
        ("BOARD\n1,1,3\nDONE", "ERROR 1,1: a game that goes on"),
        (
            "BOARD\n0,0,2\n0,9,1\n1,0,2\n2,9,1\n2,0,2\n4,9,1\n3,0,2\n6,9,1\n4,0,2\nDONE",
            "ERROR the game is over, Black has won; RESTART",
        ),
        ("TURN 9,9", "ERROR the game is over"),
    ];
    for (line, answer) in wrong {
        engine.say(line);
        engine.find(answer, |line| line.starts_with(answer));
    }
    let mut chance = StdRng::seed_from_u64(7);
    for _ in 0..200 {
        let length = chance.random_range(1..200);
        let words = [
            "TURN",
            "BOARD",
            "INFO",
            "INFO rule",
            "PLAY",
            "TAKEBACK",
            "YXNBEST",
            "SWAP2BOARD",
            "7,7",
            ",",
            "",
        ];
        let mut line = words[chance.random_range(0..words.len())]
            .as_bytes()
            .to_vec();
        // No digits, so that the line is no command by chance.
        line.extend((0..length).map(|_| chance.random_range(58..=255u8)));
        engine.say(line);
    }
    engine.say([b'x'; 100_000]);
    engine.say("INFO rule 0\nBOARD\n7,7,1\n8,8,2\nDONE");
    let (played, before) = next_move(&engine);
    assert!(
        played.0 < 15 && played.1 < 15 && ![(7, 7), (8, 8)].contains(&played),
        "{played:?}"
    );
    assert!(
        before.iter().all(|line| line.len() < 8_000),
        "a line is too long for a manager"
    );
    engine.say("INFO pondering 1\nINFO strength 100\nINFO rule 2\nSTART 15\nBEGIN\nEND");
    engine.until("OK");
    engine.until("ERROR rule 2 is of a game that goes on after a win");
    let (status, rest) = engine.hang_up();
    assert!(status.success() && rest.is_empty(), "{rest:?}");
}

#[test]
fn hostile_uci_and_ucci_lines_change_nothing() {
    for (protocol, line) in [("uci", "h3e3 h10g8"), ("ucci", "h2e2 h9g7")] {
        let mut engine = brain(&["--protocol", protocol]);
        engine.say(protocol);
        engine.until(&format!("{protocol}ok"));
        engine.say(format!("position startpos moves {line}"));
        let mut chance = StdRng::seed_from_u64(9);
        for _ in 0..200 {
            let words = [
                "setoption name",
                "setoption name Hash value",
                "position",
                "position fen",
                "position startpos moves",
                "banmoves z",
                "go depth",
                "go searchmoves",
                "ponderhit",
                "probe",
                "info",
                "value",
                "",
            ];
            let mut line = words[chance.random_range(0..words.len())]
                .as_bytes()
                .to_vec();
            line.push(b' ');
            // No letters of the alphabet's first half, so that the line is no move or command by
            // chance.
            line.extend((0..chance.random_range(1..200)).map(|_| chance.random_range(128..=255u8)));
            engine.say(line);
        }
        engine.say([b'x'; 100_000]);
        engine.say("stop\nisready");
        engine.until("readyok");
        // A position that cannot be read gets no move, and the next one is searched again.
        engine.say("position startpos moves zz\ngo depth 2");
        engine.find("no move", |line| {
            ["nobestmove", "bestmove (none)"].contains(&line.trim())
        });
        engine.say(format!("position startpos moves {line}"));
        engine.say("go depth 2");
        let (best, _) = engine.find("a move of Red's", |line| {
            line.starts_with("bestmove ") && !line.contains("none")
        });
        let text = best.split(' ').nth(1).expect("a move");
        let start = Position::from_line(Variant::XIANGQI, "h2e2 h9g7").expect("a line");
        let m = match protocol {
            "uci" => kagetsu_game::xiangqi::parse_from_one(text).expect("a move, ranks from 1"),
            _ => start.parse_move(text).expect("a move"),
        };
        assert!(start.legal_moves().contains(&m), "{protocol}: {best}");
        engine.say("quit");
        assert!(engine.hang_up().0.success());
    }
}

/// The end of a game of renju: White has moved, and the last point is forbidden to Black.
const LAST_POINT_FORBIDDEN: [&str; 15] = [
    "XOOOOXOXOOXXXXO",
    "OXXOXXOOXOXOOOO",
    "XXOOXXOXOXOOXOO",
    "XOOOOXXOOXXXXOX",
    "XOOXOOOXOOOOXXO",
    "XOOOOXOXOXXOOXX",
    "OXXOXOOXXXXOOOX",
    "OOOXOOOOXOOOXXO",
    "OXOXOXXOOOOXOXX",
    "OXOXOXXOXXOOOOX",
    "XXXXOXXXOXXOXOX",
    "XOOOXXOXXXXOXOO",
    "OOXXXOXXO.XXOXX",
    "OXOXOXOOXOXXOXX",
    "XXOXXXOXXXOOOXX",
];

#[test]
fn forbidden_point_is_played_where_no_other_is_left() {
    let mut engine = pbrain();
    engine.say("START 15");
    engine.until("OK");
    engine.say("INFO rule 4");
    engine.say("BOARD");
    for (y, row) in LAST_POINT_FORBIDDEN.iter().enumerate() {
        for (x, stone) in row.chars().enumerate().filter(|(_, stone)| *stone != '.') {
            engine.say(format!("{x},{y},{}", if stone == 'X' { 1 } else { 2 }));
        }
    }
    engine.say("DONE");
    assert_eq!(next_move(&engine).0, (9, 12));
}

#[test]
fn swap2_requests_are_answered() {
    let mut engine = pbrain();
    engine.say("START 15\nINFO max_node 5000\nSWAP2BOARD\nDONE");
    let (line, _) = engine.find("three stones", |line| {
        line.split(' ').filter(|word| point(word).is_some()).count() == 3
    });
    let stones: Vec<&str> = line.split(' ').collect();
    engine.say(format!("SWAP2BOARD\n{}\nDONE", stones.join("\n")));
    let decides = |line: &str| line == "SWAP" || point(line).is_some();
    engine.find("a decision", decides);
    // Black's three nearly wins, so the engine takes Black.
    engine.say("SWAP2BOARD\n7,7\n0,0\n7,8\nDONE");
    assert_eq!(engine.find("a decision", decides).0, "SWAP");
    engine.say("SWAP2BOARD\n7,7\n0,0\nDONE");
    engine.until("ERROR swap 2 has openings of 0, 3 or 5 stones");
    // Yixin-Board's words.
    engine.say("YXSWAP2STEP1");
    for number in 1..=3 {
        let begin = format!("MESSAGE SWAP2 MOVE{number} ");
        engine.find("a stone", |line| line.starts_with(&begin));
    }
    let [lost, level] = [("0,0,2", "SWAP1 YES"), ("8,6,2", "SWAP2 ")];
    for (step, (white, decision)) in [("YXSWAP2STEP2", lost), ("YXSWAP2STEP3", level)] {
        engine.say(format!("YXBOARD\n7,7,1\n{white}\n7,8,1\nDONE\n{step}"));
        let decision = format!("MESSAGE {decision}");
        engine.find("a decision", |line| line.starts_with(&decision));
    }
    let count = |line: &str| line.split(' ').filter(|word| point(word).is_some()).count();
    engine.say("YXBALANCEONE 0");
    engine.find("a move", |line| count(line) == 1);
    engine.say("YXBALANCETWO 0");
    engine.find("two moves", |line| count(line) == 2);
    engine.say("YXBALANCEONE x");
    engine.until("ERROR YXBALANCEONE: write a value in hundredths, as in YXBALANCEONE 0");
    engine.say("YXHASHDUMP\nEND\nYXHASHLOAD\nSTART 3\nYXDRAW\nYXRESIGN");
    for refused in ["the table", "the table", "no draw", "no resignation"] {
        let begin = format!("MESSAGE {refused}");
        engine.find("a refusal", |line| line.starts_with(&begin));
    }
    engine.say("YXSEARCHDEFEND");
    let _ = next_move(&engine);
}

#[test]
fn game_keeps_its_table_until_cleared() {
    let mut engine = pbrain();
    engine.say("START 15");
    // Searches after some commands, and returns the number of positions.
    let mut search = |before: &str| -> u64 {
        engine.say(format!(
            "{before}\nINFO thread_num 1\nINFO max_depth 9\nINFO timeout_turn 600000\n\
             BOARD\n7,7,2\n8,6,1\n9,8,2\nDONE"
        ));
        let (_, lines) = next_move(&engine);
        let mut counts = lines.iter().filter_map(|line| line.split_once(" nodes "));
        let last = counts.next_back().expect("an iteration").1;
        let number = last.split(' ').next().expect("a number");
        number.parse().expect("a number")
    };
    let fresh = search("");
    let kept = search("");
    assert!(kept < fresh, "{kept} of {fresh}");
    for clear in ["YXHASHCLEAR", "RESTART", "START 15"] {
        assert_eq!(search(clear), fresh, "{clear}");
        assert_eq!(search(""), kept, "{clear}");
    }
}

#[test]
fn gui_asks_for_lines_and_forbidden_points() {
    let mut engine = pbrain();
    engine.say("start 15\ninfo rule 4\ninfo max_node 3000\ninfo show_detail 3");
    engine.until("OK");
    // A cross of two open threes of Black.
    engine.say(
        "yxboard\n7,6,1\n0,0,2\n7,8,1\n14,0,2\n6,7,1\n0,14,2\n8,7,1\n14,14,2\ndone\nyxshowforbid",
    );
    assert_eq!(engine.until("FORBID").0, "FORBID 0707.");
    // Black has no win by threats here, so that two moves have values.
    engine.say("yxboard\n7,7,1\n8,8,2\ndone\nyxblock\n7,8\n7,9\ndone\nyxnbest 2");
    let (played, lines) = next_move(&engine);
    assert!(![(7, 8), (7, 9)].contains(&played));
    for word in [
        "INFO PV 0",
        "INFO PV 1",
        "INFO NUMPV 2",
        "INFO EVAL ",
        "INFO BESTLINE ",
        "INFO PV DONE",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(word)),
            "{word} in {lines:#?}"
        );
    }
}

#[test]
fn book_moves_are_played_and_announced() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let book = book.to_str().expect("text");
    BookBuild::H8.run_in(book);
    let picked = Program::Kagetsu.run(&words!(
        "pick --book {book} --variant freestyle-15
        --moves h8"
    ));
    let position = Position::start(Variant::FREESTYLE_15);
    let picked = position.parse_move(picked.stdout.trim()).expect("a move");
    let query = Program::Kagetsu.run(&words!(
        "query --book {book} --variant freestyle-15
        --moves h8 --json"
    ));
    let mut engine = Dialogue::of(Program::Pbrain.command(&["--book", book]));
    engine.say("START 15\nINFO timeout_turn 300\nTURN 7,7");
    let (_, before) = next_move(&engine);
    let is_left = |line: &String| line.contains("is not played: this search sees more");
    assert!(before.iter().any(is_left), "{before:?}");
    let command = Program::Pbrain.command(&["--book", book, "--min-nodes", "0"]);
    let mut engine = Dialogue::of(command);
    engine.say("START 15\nINFO timeout_turn 60000\nTURN 7,7");
    let (played, before) = next_move(&engine);
    assert_eq!(to_move(played, 15), picked);
    assert!(
        before
            .iter()
            .any(|line| line.starts_with("MESSAGE book move ") && line.ends_with(" ms")),
        "{before:?}"
    );
    // A GUI asks for the book's moves with Yixin's database commands.
    engine.say("yxquerydatabaseall\n7,7\ndone");
    let (_, before) = engine.until("MESSAGE DATABASE DONE");
    let scores: Vec<String> = before
        .iter()
        .filter_map(|line| line.split(' ').nth(5))
        .map(String::from)
        .collect();
    let answers = query.json()["answers"].as_array().expect("answers").clone();
    let expected: Vec<String> = answers
        .iter()
        .map(|v| (-v["score"].as_i64().expect("no mate so early")).to_string())
        .collect();
    assert_eq!(scores, expected, "{before:?}");
    engine.say("yxquerydatabaseone\n7,7\ndone");
    let best = answers
        .iter()
        .find(|v| v["bound"] == "exact")
        .expect("the best");
    let (one, _) = engine.until("MESSAGE DATABASE ONE ");
    assert!(
        one.starts_with(&format!(
            "MESSAGE DATABASE ONE -1 {} {} 3 ",
            best["score"], best["depth"]
        )),
        "{one}"
    );
    engine.say("yxquerydatabaseone\n0,0\ndone");
    assert_eq!(
        engine.until("MESSAGE DATABASE ONE").0,
        "MESSAGE DATABASE ONE 0 0 0 0"
    );
    engine.say("yxquerydatabasetext\n7,7\ndone\nyxeditlabeldatabase 3,3 a\n7,7\ndone");
    engine.until("MESSAGE DATABASE TEXT \"\"");
    engine.until("ERROR the book is only read here");
    engine.say(
        "info usedatabase 0\nyxquerydatabaseone\n7,7\ndone\nyxquerydatabaseall\n99,7\ndone\nabout",
    );
    let (_, silence) = engine.until("name=");
    assert_eq!(
        silence,
        Vec::<String>::new(),
        "a book that is not used says nothing"
    );
    // A single book is switched off and on by its number.
    engine.say("info usedatabase 1\ninfo book list");
    let (listed, _) = engine.until("MESSAGE book 1 ");
    assert_eq!(listed, format!("MESSAGE book 1 {book} is on"));
    engine.say("info book 1 off\nyxquerydatabaseone\n7,7\ndone");
    assert!(engine.until("MESSAGE book 1 ").0.ends_with(" is off"));
    assert_eq!(
        engine.until("MESSAGE DATABASE ONE").0,
        "MESSAGE DATABASE ONE 0 0 0 0"
    );
    engine.say("info book 2 on\ninfo book what\ninfo book 1 on");
    engine.until("MESSAGE there is no book 2; books that are open: 1");
    engine.until("MESSAGE INFO book what: write `INFO book 2 off`");
    assert!(engine.until("MESSAGE book 1 ").0.ends_with(" is on"));
    engine.say("yxsetdatabase\n/nowhere");
    engine.until("MESSAGE DATABASE LOAD START /nowhere");
    engine.until("ERROR no book: ");
    drop(engine);
    let mut engine = brain(&[
        "--protocol",
        "uci",
        "--variant",
        "freestyle-15",
        "--min-nodes",
        "0",
        "--book",
        book,
    ]);
    engine.say("position startpos moves h8\ngo movetime 60000");
    let (best, before) = engine.until("bestmove ");
    assert_eq!(
        best.split(' ').nth(1),
        Some(position.write_move(picked).as_str())
    );
    let is_book_move =
        |line: &String| line.starts_with("info string book move ") && line.ends_with(" ms");
    assert!(before.iter().any(is_book_move), "{before:?}");
    for (books, plays) in [("none", false), ("1", true), ("all", true)] {
        let go = "position startpos moves h8\ngo depth 1";
        engine.say(format!("setoption name Books value {books}\n{go}"));
        let (_, before) = engine.until("bestmove ");
        assert_eq!(
            before.iter().any(is_book_move),
            plays,
            "{books}: {before:?}"
        );
    }
    engine.say("setoption name Books value 1,7");
    engine.until("info string option Books: there is no book 7");
    let missing = Program::Pbrain.run(&["--book", "/nowhere"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("/nowhere"), "{missing:?}");
}
