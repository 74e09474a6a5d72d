//! Wrong inputs: each row is a command, words of its message, and its exit code.

use kagetsu_tests::{Program, Scratch};

/// A command (`{book}`, `{file}`, `{games}`, `{folder}`, `{other}` and `{none}` are paths), two
/// parts of its message, and its exit code.
type Row = (&'static str, [&'static str; 2], i32);

const NO_FILE: &str = "No such file";
const USAGE: &str = "Usage:";
const NUMBER: &str = "not a whole number";

const ROWS: &[Row] = &[
    // No command, and words that are none.
    ("", [USAGE, "Read a book"], 2),
    (
        "frobnicate",
        ["unrecognized subcommand 'frobnicate'", USAGE],
        2,
    ),
    (
        "querry --book b",
        ["'querry'", "similar subcommand exists: 'query'"],
        2,
    ),
    (
        "query --bok b",
        ["'--bok'", "similar argument exists: '--book'"],
        2,
    ),
    ("jobs", [USAGE, "list"], 2),
    ("jobs lst", ["'lst'", "list"], 2),
    ("completions tcsh", ["'tcsh'", "bash"], 2),
    (
        "--log-level loud query --book b",
        ["--log-level: 'loud'", "warn, info"],
        2,
    ),
    (
        "--config /nowhere/k.toml query --book b",
        ["cannot read the settings file", NO_FILE],
        2,
    ),
    // Variants.
    (
        "moves",
        ["the game is missing", "--variant freestyle-15"],
        2,
    ),
    (
        "moves --variant frestyle-15",
        ["unknown variant", "did you mean freestyle-15?"],
        2,
    ),
    (
        "moves --variant freestyle",
        ["unknown variant", "did you mean freestyle-15?"],
        2,
    ),
    (
        "moves --variant gomoku",
        ["unknown variant", "did you mean freestyle-15?"],
        2,
    ),
    (
        "moves --variant Renju-15",
        ["unknown variant", "did you mean renju-15?"],
        2,
    ),
    (
        "moves --variant xianqi",
        ["unknown variant", "did you mean xiangqi?"],
        2,
    ),
    (
        "moves --variant cchess",
        ["unknown variant", "did you mean xiangqi?"],
        2,
    ),
    (
        "moves --variant surakata",
        ["unknown variant", "did you mean surakarta?"],
        2,
    ),
    (
        "moves --variant chess",
        ["unknown variant 'chess'; known are", "surakarta"],
        2,
    ),
    (
        "moves --variant freestyle-4",
        ["variant 'freestyle-4'", "from 5 to 22"],
        2,
    ),
    (
        "moves --variant renju-23",
        ["variant 'renju-23'", "from 5 to 22"],
        2,
    ),
    // Moves.
    (
        "moves --variant freestyle-15 --moves z99",
        ["--moves \"z99\"", "off the board"],
        2,
    ),
    (
        "moves --variant freestyle-15 --moves h8,h8",
        ["move 2", "h8 is taken"],
        2,
    ),
    (
        "moves --variant freestyle-15 --moves h",
        ["--moves \"h\"", "not a move"],
        2,
    ),
    (
        "moves --variant freestyle-15 --moves h2e2x",
        ["move 3", "'x' is not a move"],
        2,
    ),
    (
        "moves --variant xiangqi --moves h2h8",
        ["--moves \"h2h8\"", "h2h8"],
        2,
    ),
    (
        "moves --variant xiangqi --moves h2h8",
        ["h2h8 is not legal here", "another piece is in the way"],
        2,
    ),
    (
        "moves --variant xiangqi --moves h9g7",
        ["h9g7 is not legal here", "the other side's"],
        2,
    ),
    (
        "moves --variant renju",
        ["unknown variant 'renju'", "did you mean renju-15?"],
        2,
    ),
    (
        "moves --variant xiangqi --moves C9=5",
        ["--moves \"C9=5\"", "C9=5"],
        2,
    ),
    (
        "moves --variant xiangqi --moves 炮九平五",
        ["炮九平五", "not a move"],
        2,
    ),
    (
        "moves --variant xiangqi --moves a0a5",
        ["a0a5", "move 1"],
        2,
    ),
    (
        "moves --variant surakarta --moves a2a6",
        ["a2a6", "move 1"],
        2,
    ),
    // Positions.
    (
        "moves --variant xiangqi --fen nonsense",
        ["--fen \"nonsense\"", "row"],
        2,
    ),
    (
        "moves --variant freestyle-15 --fen 8/8",
        ["--fen \"8/8\"", "freestyle-15"],
        2,
    ),
    (
        "moves --variant surakarta --fen wwwwww/6/6/6/6",
        ["--fen", "row"],
        2,
    ),
    (
        "moves --variant freestyle-15 --board {none}",
        ["cannot read the board", NO_FILE],
        2,
    ),
    (
        "moves --variant freestyle-15 --side first",
        ["--side says which side", "give --board"],
        2,
    ),
    (
        "practice --book {book} --side black",
        ["'black'", "first is Black in gomoku"],
        2,
    ),
    (
        "moves --variant freestyle-15 --fen x --board y",
        ["cannot be used with", USAGE],
        2,
    ),
    (
        "moves --variant xiangqi --notation latin",
        ["'latin'", "wxf"],
        2,
    ),
    // Numbers and times.
    ("perft --variant xiangqi --depth abc", ["'abc'", NUMBER], 2),
    ("perft --variant xiangqi --depth 99", ["'99'", "20"], 2),
    ("perft --variant xiangqi", ["--depth", USAGE], 2),
    ("analyze --variant renju-15 --depth 0", ["'0'", "1.."], 2),
    ("analyze --variant renju-15 --depth x", ["'x'", NUMBER], 2),
    (
        "analyze --variant renju-15 --nodes -5",
        ["'-5' for '--nodes", NUMBER],
        2,
    ),
    (
        "analyze --variant renju-15 --time soon",
        ["'soon'", "write it as in 10s"],
        2,
    ),
    (
        "analyze --variant renju-15 --time 0s",
        ["'0s'", "write it as in 10s"],
        2,
    ),
    (
        "analyze --variant renju-15 --threads 0",
        ["'0'", "1..=1024"],
        2,
    ),
    (
        "analyze --variant renju-15 --split tree",
        ["'tree'", "shared"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --positions abc",
        ["'abc'", "--positions"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --alpha -1",
        ["'-1'", "0 to 1000"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --top 0",
        ["'0'", "1 to 1000"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --policy deep",
        ["'deep'", "drop-out"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --side black",
        ["'black'", "first"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --before 2026-01-01",
        ["--deepen", USAGE],
        2,
    ),
    (
        "pick --book {book} --temperature hot",
        ["'hot'", "not a number"],
        2,
    ),
    (
        "pick --book {book} --temperature -5",
        ["'-5'", "from 0 to 1000000"],
        2,
    ),
    ("tree --book {book} --plies 0", ["'0'", "from 1 to 100"], 2),
    (
        "suspects --book {book} --top none",
        ["'none'", "from 1 to 1000"],
        2,
    ),
    // Builds.
    ("build --variant renju-15", ["--book <DIR>", USAGE], 2),
    (
        "build --book {none}",
        ["the game of a new book", "--variant"],
        2,
    ),
    (
        "build --book {book} --moves h8 --depth 2 --positions 5",
        ["6 positions", "--positions 5 was reached before"],
        0,
    ),
    (
        "build --book {book} --moves h8 --depth 2 --positions 6 --engine uci:/bin/false",
        ["/bin/false", ""],
        2,
    ),
    (
        "build --variant renju-15 --book http://x:1",
        ["is a URL", "--coordinator http://x:1"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --roots {none}",
        ["cannot read the roots file", NO_FILE],
        2,
    ),
    (
        "build --variant freestyle-15 --book {none} --roots {games}",
        ["roots file", "line 1"],
        2,
    ),
    (
        "build --variant renju-15 --book {none} --deepen",
        ["there is no book at", "--deepen"],
        2,
    ),
    (
        "build --variant freestyle-15 --book {book} --moves a1 --deepen",
        ["does not hold the root", "build from it first"],
        2,
    ),
    (
        "build --variant freestyle-15 --book {book} --moves h8 --exclude h8 --name x",
        ["the root freestyle-15 h8", "--exclude"],
        2,
    ),
    (
        "build --variant freestyle-15 --book {book} --moves h8 --depth 3 --positions 9",
        ["differs in --depth", "--deepen searches"],
        2,
    ),
    // Books that are missing or something else.
    (
        "query --book {none} --variant renju-15",
        ["{none}", "no book"],
        2,
    ),
    (
        "query --book {games} --variant renju-15",
        ["{games}", "not a compiled book"],
        2,
    ),
    ("query --variant renju-15", ["--book <BOOK>", USAGE], 2),
    (
        "query --book= --variant renju-15",
        ["a value is required", "--book"],
        2,
    ),
    ("tree --book {none}", ["{none}", "no book"], 2),
    ("stats --book {none}", ["{none}", "no book"], 2),
    (
        "stats --book {folder}",
        ["{folder} is not a book", "give the folder of a book"],
        2,
    ),
    ("check --book {none}", ["{none}", "check the name"], 2),
    (
        "restore --from {none} --book {other}",
        ["no backup at {none}", "`kagetsu backup --book"],
        2,
    ),
    (
        "check --book http://127.0.0.1:1",
        ["is a URL", "the folder of a book"],
        2,
    ),
    ("jobs list --book {none}", ["{none}", "no book"], 2),
    (
        "jobs show nothing --book {book}",
        ["no job 'nothing'", "jobs list"],
        2,
    ),
    (
        "jobs priority x --priority 200 --book {book}",
        ["'200'", "-100..=100"],
        2,
    ),
    (
        "compile --book {none} --out {none}.kbk",
        ["{none}", "no book"],
        2,
    ),
    (
        "compile --book {book} --out {file}",
        ["is there already", "--force"],
        2,
    ),
    ("prune --book {none} --max-ply 1", ["{none}", "no book"], 2),
    (
        "prune --book {book}",
        ["nothing says what to remove", "--max-ply"],
        2,
    ),
    (
        "backup --book {book} --to {book}/copy",
        ["lies in it", "another folder"],
        2,
    ),
    ("repair --book {none}", ["{none}", "no book"], 2),
    (
        "backup --book {none} --to {other}",
        ["{none}", "no book"],
        2,
    ),
    (
        "diff {book} {book}",
        ["are the same book", "give two books"],
        2,
    ),
    ("diff {book}", ["<B>", USAGE], 2),
    ("diff {book} {none}", ["{none}", "no book"], 2),
    ("merge --into {book} {book}", ["is the book", "itself"], 2),
    ("verify --book {none}", ["{none}", "no book"], 2),
    ("verify", ["<FILE>", USAGE], 2),
    (
        "query --book {file} --searched",
        ["compiled book", "ask its folder"],
        2,
    ),
    // Positions that the book does not hold.
    (
        "query --book {book} --moves a1",
        ["does not hold freestyle-15 a1", "it begins at"],
        1,
    ),
    (
        "query --book {book} --moves h8,a1",
        ["does not hold", "as far as freestyle-15 h8"],
        1,
    ),
    (
        "query --book {book} --variant xiangqi",
        ["does not hold xiangqi", "it holds freestyle-15"],
        1,
    ),
    (
        "tree --book {file} --moves a1",
        ["does not hold freestyle-15 a1", "it begins at"],
        1,
    ),
    (
        "pick --book {book} --moves a1",
        ["does not hold freestyle-15 a1", "it begins at"],
        1,
    ),
    (
        "bottlenecks --book {book} --moves a1",
        ["does not hold", "it begins at"],
        1,
    ),
    (
        "suspects --book {book} --moves a1",
        ["does not hold", "it begins at"],
        1,
    ),
    ("suspects --book {book} --depth 5", ["--deepen", USAGE], 2),
    (
        "suspects --book {book} --deepen --lines",
        ["cannot be used with", USAGE],
        2,
    ),
    (
        "suspects --book {file} --deepen",
        ["is a file", "needs the folder of the book"],
        2,
    ),
    // Games.
    (
        "annotate {games}",
        ["no value is known", "--book BOOK, --depth or --nodes"],
        2,
    ),
    (
        "annotate --depth 1 {games}",
        ["games.txt", "tells the format"],
        2,
    ),
    ("annotate --depth 1 {none}.sgf", ["cannot read", NO_FILE], 2),
    (
        "query --book {file} --games",
        ["positions alone", "give the folder"],
        2,
    ),
    (
        "query --book {book} --result won",
        ["'won'", "first, second"],
        2,
    ),
    // Files of other programs.
    (
        "import --format lib --variant renju-15 --book {other} {games}",
        ["{games}", "RenLib"],
        2,
    ),
    (
        "import --format sgf --variant renju-15 --book {other} {games}",
        ["{games}", "no game of SGF"],
        2,
    ),
    (
        "import --format json --book {other} {games}",
        ["{games}, line 1", "positions before it"],
        2,
    ),
    (
        "import --format gpn --book {other} {games}",
        ["'gpn'", "json, csv, yxdb"],
        2,
    ),
    (
        "import --variant renju-15 --book {other} {games}.zip",
        ["the zip file is damaged", "games.txt.zip"],
        2,
    ),
    (
        "import --format lines --variant renju-15 --book {other} {games}.zip",
        ["the zip file is damaged", "games.txt.zip"],
        2,
    ),
    (
        "import --format lines --variant renju-15 --book {other} {games}.lib",
        ["games.txt.lib", "--format lib"],
        2,
    ),
    (
        "import --format json --book {other} {none}",
        ["cannot read", NO_FILE],
        2,
    ),
    (
        "import --format json --book {other} - -",
        ["- stands 2 times", "read once"],
        2,
    ),
    (
        "import --format proof --book {other} {games}",
        ["kagetsu verify", "not imported"],
        2,
    ),
    (
        "export --format lib --book {book} {games}",
        ["is there already", "--force"],
        2,
    ),
    (
        "export --format lib --book {file} {none}",
        ["only the keys", "compiled from"],
        2,
    ),
    (
        "export --format sgf --book {book} {none}",
        ["no imported games", "kagetsu import"],
        2,
    ),
    (
        "export --format json --book {book} --variant xiangqi {none}",
        ["no position of xiangqi", "freestyle-15"],
        2,
    ),
    (
        "export --format json --book {book} --moves z9 {none}",
        ["--moves \"z9\"", "off the board of freestyle-15"],
        2,
    ),
    (
        "export --book {book} {none}",
        ["tells no format", "--format"],
        2,
    ),
    (
        "export --format gpn --book {book} {none}",
        ["'gpn'", "hints, fen, pgn, eleeye, obk, proof"],
        2,
    ),
    (
        "export --format json --book {book} --variant freestyle-15 --moves a1 {none}",
        ["does not hold", "nothing below"],
        2,
    ),
    (
        "export --format proof --book {book} {none}",
        ["a win tree begins", "name it by --moves"],
        2,
    ),
    (
        "export --format json --json --book {book} -",
        ["--json reports about a file", "stdout"],
        2,
    ),
    (
        "export --format obk --book {book} {none}",
        ["--zobrist", "3,584"],
        2,
    ),
    (
        "export --format json --zobrist x --book {book} {none}",
        ["--zobrist is for", "obk"],
        2,
    ),
    // Servers, engines and certificates.
    (
        "workers list --coordinator nonsense",
        ["nonsense", "http"],
        2,
    ),
    (
        "workers list --coordinator http://127.0.0.1:1",
        ["127.0.0.1:1", "kagetsu-coordinator"],
        2,
    ),
    (
        "serve --book {book} --listen 127.0.0.1",
        ["'127.0.0.1'", "an address with a port"],
        2,
    ),
    (
        "--cluster lab jobs list",
        ["[cluster.lab]", "give --config FILE"],
        2,
    ),
    ("serve --book {none}", ["{none}", "check the name"], 2),
    ("brain --protocol xboard", ["'xboard'", "gomocup"], 2),
    (
        "brain --protocol uci --book {none}",
        ["{none}", "no book"],
        2,
    ),
    (
        "brain --protocol uci --book first=",
        ["first=", "a book is missing"],
        2,
    ),
    (
        "certs {none}certs --host https://x",
        ["'https://x'", "without https://"],
        2,
    ),
    (
        "certs {none}certs --client ca",
        ["'ca'", "neither ca nor coordinator"],
        2,
    ),
    (
        "certs {none}certs --renew",
        ["certs.toml", "--renew is for"],
        2,
    ),
    (
        "token new --tokens {none} --role king x",
        ["'king'", "read"],
        2,
    ),
    ("token list --tokens {none}", ["{none}", NO_FILE], 2),
    ("token revoke --tokens {none} x", ["{none}", NO_FILE], 2),
];

#[test]
fn wrong_inputs_get_clear_messages() {
    assert!(ROWS.len() >= 100, "{} rows", ROWS.len());
    let scratch = Scratch::new();
    let path = |name: &str| scratch.text(name);
    let [book, file, games, folder, other, none] =
        ["book", "book.kbk", "games.txt", "folder", "other", "none"].map(path);
    std::fs::create_dir(&folder).expect("room");
    std::fs::write(format!("{folder}/notes.txt"), "mine").expect("room");
    std::fs::write(format!("{games}.zip"), b"PK\x03\x04\0\xff").expect("room");
    std::fs::write(format!("{games}.lib"), b"\xffRenLib\xff\x03\0\0").expect("room");
    std::fs::write(&games, "this is a text\nand no game\n").expect("room");
    let build = "--variant freestyle-15 --moves h8 --positions 6 --depth 2 --threads 1";
    for made in [
        format!("build --book {book} {build}"),
        format!("compile --book {book} --out {file}"),
    ] {
        let made = Program::Kagetsu.run(&made.split(' ').collect::<Vec<_>>());
        assert_eq!(made.code, Some(0), "{made:#?}");
    }
    let paths = [
        ("{book}", &book),
        ("{file}", &file),
        ("{games}", &games),
        ("{folder}", &folder),
        ("{other}", &other),
        ("{none}", &none),
    ];
    let fill = |text: &str| {
        paths.iter().fold(text.to_string(), |text, (name, path)| {
            text.replace(name, path)
        })
    };
    let mut faults = Vec::new();
    for (command, words, code) in ROWS {
        let line = fill(command);
        let arguments: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let ended = Program::Kagetsu.run(&arguments);
        let said = format!("{}{}", ended.stderr, ended.stdout);
        let is_complete = words.iter().all(|word| said.contains(&fill(word)));
        let is_quiet = *code == 0 || ended.stdout.is_empty();
        if ended.code != Some(*code) || !is_complete || !is_quiet {
            faults.push(format!(
                "kagetsu {line}\n  wanted {code} {words:?}\n  {ended:?}"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // No wrong command leaves anything behind.
    for path in [&other, &none] {
        assert!(!std::path::Path::new(path).exists(), "{path} was made");
    }
}
