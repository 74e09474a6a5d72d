//! Wrong inputs: each line of `table.txt` is an exit code, a command, and words of its message.

use kagetsu_tests::{Program, Scratch};

const TABLE: &str = include_str!("table.txt");

#[test]
fn wrong_inputs_get_clear_messages() {
    let rows = || TABLE.lines().filter(|line| !line.starts_with('#'));
    assert!(rows().count() >= 220, "{} rows", rows().count());
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
    for row in rows() {
        let mut fields = row.split(" | ");
        let code = fields.next().and_then(|code| code.parse().ok());
        let line = fill(fields.next().unwrap_or_else(|| panic!("no command: {row}")));
        let words: Vec<String> = fields.map(fill).collect();
        assert_eq!(words.len(), 2, "{row}");
        let arguments: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let ended = Program::Kagetsu.run(&arguments);
        let said = format!("{}{}", ended.stderr, ended.stdout);
        let is_complete = words.iter().all(|word| said.contains(word));
        let is_quiet = code == Some(0) || ended.stdout.is_empty();
        if ended.code != code || !is_complete || !is_quiet {
            faults.push(format!("kagetsu {line}\n  wanted {row}\n  {ended:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // No wrong command leaves anything behind.
    for path in [&other, &none] {
        assert!(!std::path::Path::new(path).exists(), "{path} was made");
    }
}
