//! Round trips of every format, damaged files, and real files beside the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use encoding_rs::GB18030;
use kagetsu_book::{Annotation, AnnotationKind, Book, BookOptions};
use kagetsu_game::{
    Answer, Bound, Claim, Effort, Key, Notation, Position, Proof, ProofKind, Provenance, Question,
    Score, Variant, Verdict,
};
use kagetsu_search::{Control, Engine, EngineOptions};
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::TempDir;

use crate::gomoku::renlib::{self, LibraryNode};
use crate::xiangqi::zobrist::ZobristKeys;
use crate::{Contents, Format, Importer, Omissions, PositionRecord, export, write_game};
use anyhow::Result;

/// Returns the path of a real file, or prints that it is missing and returns `None`.
pub(crate) fn sample(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not in ../shared/data beside the checkout");
    None
}

/// Returns the real files of a folder whose names end in `end`.
fn samples(folder: &str, end: &str) -> Vec<PathBuf> {
    let Some(folder) = sample(folder) else {
        return Vec::new();
    };
    let paths = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it is there").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    paths.sort();
    paths
}

fn variant(name: &str) -> Variant {
    name.parse().expect("a variant")
}

#[track_caller]
fn read(format: Format, path: &Path, variant: Option<Variant>) -> Contents {
    let bytes = fs::read(path).expect("readable");
    contents(format, &bytes, variant)
        .unwrap_or_else(|error| panic!("{}: {error:#}", path.display()))
}

/// Reads one file.
fn contents(format: Format, bytes: &[u8], variant: Option<Variant>) -> Result<Contents> {
    let mut importer = Importer::new(format, variant);
    importer.add(bytes)?;
    Ok(importer.finish())
}

/// Reads one book of xiangqi in SQLite.
pub(crate) fn read_obk(
    bytes: &[u8],
    variant: Option<Variant>,
    keys: &ZobristKeys,
    root: Option<&Position>,
) -> Result<Contents> {
    let importer = Importer::new(Format::Obk, variant).with_zobrist(Some(keys.clone()));
    let mut importer = importer.with_root(root.cloned());
    importer.add(bytes)?;
    Ok(importer.finish())
}

fn nonzero(omissions: &Omissions) -> Omissions {
    let mut omissions = omissions.clone();
    omissions.retain(|_, count| *count > 0);
    omissions
}

fn by_key(answers: &[(Position, Answer)]) -> BTreeMap<Key, usize> {
    answers
        .iter()
        .map(|(position, answer)| (position.key(), answer.len()))
        .collect()
}

#[test]
fn real_libraries_have_known_node_counts() {
    for (name, nodes, comments, texts) in [
        ("from_sgf_24地毯之丘月_lib", 4, 0, 3),
        ("from_sgf_24地毯之名月_lib", 19_692, 0, 281),
        ("from_sgf_GOWrite棋谱_1_", 5, 0, 0),
        ("from_sgf__濤开局分析_lib_1", 31_961, 886, 13_767),
        ("from_sgf_test", 21, 0, 0),
        ("from_sgf_山口打点_東光制作_", 15_539, 0, 8_206),
        ("from_sgf_测试1", 11, 0, 0),
        ("from_sgf_浙江五子棋教室", 12, 0, 0),
        // These have no root node.
        ("handmade_v30", 13, 4, 5),
        ("handmade_v34", 13, 4, 5),
        ("rapfi_export_of_handmade", 58, 21, 32),
        ("rapfi_export_path_transposed", 4, 0, 0),
        ("rapfi_header_only", 1, 0, 0),
    ] {
        let Some(path) = sample(&format!("renju/lib/{name}.lib")) else {
            return;
        };
        let library = renlib::read(&fs::read(&path).expect("readable")).expect(name);
        assert!(!library.is_cut && library.behind == 0, "{name}");
        let nodes_found = library.nodes;
        let count =
            |has: fn(&LibraryNode) -> bool| nodes_found.iter().filter(|node| has(node)).count();
        let found = (
            nodes_found.len(),
            count(|node| !node.comment.is_empty()),
            count(|node| !node.board_text.is_empty()),
        );
        assert_eq!(found, (nodes, comments, texts), "{name}");
        let contents = read(Format::Lib, &path, Some(variant("freestyle-15")));
        // A library without a root node has one node less.
        assert_eq!(
            contents.items,
            (nodes - usize::from(!library.has_root)) as u64,
            "{name}"
        );
    }
    let wrong = fs::read(sample("renju/lib/pu_gomocupjudge.lib").expect("with the others"))
        .expect("readable");
    let refused = contents(Format::Lib, &wrong, Some(variant("freestyle-15")))
        .map(|_| ())
        .expect_err("a game on 20x20");
    assert!(refused.to_string().contains("off the board"), "{refused:#}");
}

/// The words about each position, without file and day.
fn words(contents: &Contents) -> BTreeMap<Key, BTreeSet<String>> {
    let said = |notes: &[Annotation]| {
        let word = |note: &Annotation| format!("{:?} {} {}", note.at, note.kind, note.text);
        notes.iter().map(word).collect()
    };
    let known = contents.annotations.iter();
    known
        .map(|(position, notes)| (position.key(), said(notes)))
        .collect()
}

/// Returns a new book of what a file holds.
fn book_of(contents: &Contents) -> (TempDir, Book) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BookOptions::creating();
    let (mut book, _) = Book::open(folder.path(), &options).expect("opens");
    for (position, answer) in &contents.answers {
        book.learn(position, answer).expect("room");
    }
    for (position, notes) in &contents.annotations {
        book.annotate(position, notes).expect("room");
    }
    (folder, book)
}

#[test]
fn texts_of_real_files_come_back() {
    assert!(texts_that_come_back(20_000).is_none_or(|count| count > 50));
}

#[test]
#[ignore = "takes minutes"]
fn texts_of_large_files_come_back() {
    assert!(texts_that_come_back(200_000).is_none_or(|count| count > 20_000));
}

/// Writes the real files of at most so many bytes, and returns how many texts are read back.
fn texts_that_come_back(max_bytes: usize) -> Option<usize> {
    let mut counts = Vec::new();
    for (folder, end, format, game) in [
        ("renju/lib", ".lib", Format::Lib, "freestyle-15"),
        ("renju/sgf", ".sgf", Format::Sgf, "freestyle-15"),
        ("xiangqi/files", ".xqf", Format::Xqf, "xiangqi"),
    ] {
        for path in samples(folder, end) {
            let bytes = fs::read(&path).expect("readable");
            if bytes.len() > max_bytes {
                continue;
            }
            let Ok(read) = contents(format, &bytes, Some(variant(game))) else {
                continue; // a game on 20x20
            };
            if read.answers.is_empty() {
                continue;
            }
            let (_folder, book) = book_of(&read);
            let before = words(&read);
            // The lossless format has them, too.
            let is_small = before.len() < 2_000;
            for format in [Some(format), is_small.then_some(Format::Json)]
                .into_iter()
                .flatten()
            {
                let mut written = Vec::new();
                let (_, lost) =
                    export(format, &book, None, None, None, &mut written).expect("memory");
                let beyond = lost.get("positions_that_no_line_leads_to");
                assert_eq!(beyond, None, "{}", path.display());
                let again = contents(format, &written, Some(variant(game))).expect("our own");
                let after = words(&again);
                for (key, said) in &before {
                    assert_eq!(after.get(key), Some(said), "{}: {key}", path.display());
                }
                assert_eq!(after.len(), before.len(), "{}", path.display());
            }
            counts.push(before.values().map(BTreeSet::len).sum::<usize>());
        }
    }
    println!("{counts:?}");
    (!counts.is_empty()).then(|| counts.iter().sum())
}

#[test]
fn passes_of_a_library_come_back() {
    let nodes = b"\x78\x00\x79\x00\x00\x08Pass\0\0\x77\x00\x00\x00\x7a\x40";
    let file = [&b"\xffRenLib\xff\x03\x04"[..], &[0xff; 10], nodes].concat();
    let read = |bytes: &[u8]| contents(Format::Lib, bytes, Some(variant("renju-15")));
    let before = read(&file).expect("a library");
    let (_folder, book) = book_of(&before);
    let mut written = Vec::new();
    let (_, lost) = export(Format::Lib, &book, None, None, None, &mut written).expect("memory");
    assert_eq!(nonzero(&lost), Omissions::new());
    let after = read(&written).expect("our own");
    assert_eq!(words(&after), words(&before));
    assert_eq!(after.answers.len(), before.answers.len());
}

#[test]
fn written_words_are_read_back() {
    let note = |at: Option<&str>, kind: AnnotationKind, text: &str| {
        (at.map(String::from), kind, text.to_string())
    };
    let (comment, text) = (AnnotationKind::Comment, AnnotationKind::Text);
    for (game, formats, line, point) in [
        ("renju-15", &[Format::Lib, Format::Sgf][..], "h8 i9", "j10"),
        ("xiangqi", &[Format::Xqf], "h2e2", "b9c7"),
    ] {
        let start = Position::start(variant(game));
        let position = Position::from_line(variant(game), line).expect("legal");
        let mut notes = vec![
            note(None, comment, "中炮 ] \\ :\nthe second line"),
            note(None, comment, "另一个"),
        ];
        if game != "xiangqi" {
            notes.extend([
                note(Some(point), text, "甲:]"),
                note(Some(point), AnnotationKind::Mark, ""),
            ]);
        }
        let read = |(at, kind, text): &(Option<String>, AnnotationKind, String)| Annotation {
            at: at
                .as_ref()
                .map(|at| position.parse_move(at).expect("legal")),
            kind: *kind,
            text: text.clone(),
            author: "安".into(),
            source: String::new(),
            day: 20_000,
        };
        let notes: Vec<Annotation> = notes.iter().map(read).collect();
        let games = format!("{line} 1-0\n");
        let played = contents(Format::Lines, games.as_bytes(), Some(variant(game)));
        let played = played.expect("a game");
        let (_folder, mut book) = book_of(&played);
        book.annotate(&position, &notes).expect("room");
        book.annotate(&start, &notes[1..2]).expect("room");
        for format in formats {
            let mut written = Vec::new();
            export(*format, &book, None, None, None, &mut written).expect("memory");
            let again = contents(*format, &written, Some(variant(game))).expect("our own");
            let again_book = book_of(&again).1;
            let said = |book: &Book, at: &Position| -> BTreeSet<String> {
                let notes = book.annotations(at).expect("readable").into_iter();
                // SGF has a name for each mark.
                notes
                    .map(|note| {
                        format!(
                            "{:?} {} {}",
                            note.at,
                            note.kind,
                            note.text.replace("MA", "")
                        )
                    })
                    .collect()
            };
            for at in [&start, &position] {
                assert_eq!(said(&again_book, at), said(&book, at), "{format:?}");
            }
        }
    }
    // A file in the encoding that it names.
    let sgf = GB18030
        .encode("(;SZ[15]CA[GB18030];B[hh]C[中国\\]棋院]LB[ii:甲])")
        .0
        .into_owned();
    let read = contents(Format::Sgf, &sgf, Some(variant("renju-15"))).expect("SGF");
    let said: Vec<String> = words(&read).into_values().flatten().collect();
    assert!(
        said.iter().any(|said| said.ends_with("comment 中国]棋院")),
        "{said:?}"
    );
    assert!(
        said.iter().any(|said| said.ends_with("text 甲")),
        "{said:?}"
    );
}

#[test]
fn sgf_and_library_of_one_tree_agree() {
    for (sgf, lib) in [
        ("24地毯之名月.lib.sgf", "from_sgf_24地毯之名月_lib"),
        ("山口打点(東光制作).sgf", "from_sgf_山口打点_東光制作_"),
        ("测试6.sgf", "from_sgf_测试6"),
    ] {
        let Some(sgf) = sample(&format!("renju/sgf/{sgf}")) else {
            return;
        };
        let lib = sample(&format!("renju/lib/{lib}.lib")).expect("with the other");
        let [one, other] = [(Format::Sgf, &sgf), (Format::Lib, &lib)]
            .map(|(format, path)| read(format, path, Some(variant("freestyle-15"))));
        assert_eq!(
            by_key(&one.answers),
            by_key(&other.answers),
            "{}",
            sgf.display()
        );
    }
}

#[test]
fn every_xqf_file_is_read_to_its_end() {
    let files = samples("xiangqi/files", ".xqf");
    assert!(files.is_empty() || files.len() >= 9, "{}", files.len());
    for path in files {
        let bytes = std::fs::read(&path).expect("readable");
        let mut importer = Importer::new(Format::Xqf, None);
        importer.add(&bytes).expect("XQF");
        let contents = importer.finish();
        let cut = contents
            .omissions
            .get("files_that_end_in_the_middle")
            .copied()
            .unwrap_or(0);
        assert_eq!(cut, 0, "{}", path.display());
        let name = path.to_string_lossy();
        let is_empty = ["NoMove", "EmptyTest"]
            .iter()
            .any(|part| name.contains(part));
        assert_eq!(contents.answers.is_empty(), is_empty, "{name}");
    }
}

#[test]
fn games_of_many_programs_are_read_whole() {
    let rules = [
        ("std15", "standard-15"),
        ("renju15", "renju-15"),
        ("free15", "freestyle-15"),
        ("", "freestyle-20"),
    ];
    let games = samples("gomoku/psq", ".psq");
    for path in &games {
        let name = path.to_string_lossy();
        let (_, rule) = rules
            .iter()
            .find(|(part, _)| name.contains(part))
            .expect("the last is of all");
        let contents = read(Format::Psq, path, Some(variant(rule)));
        assert!(contents.items == 1 && contents.answers.len() > 5, "{name}");
    }
    assert!(games.is_empty() || games.len() == 57, "{}", games.len());
    for (path, rule, count) in [
        ("gomoku/games/cgomokucli_free15.sgf", "freestyle-15", None),
        ("gomoku/games/cgomokucli_std15.sgf", "standard-15", None),
        ("gomoku/games/cgomokucli_free20.sgf", "freestyle-20", None),
        ("renju/sgf/测试1.sgf", "renju-15", Some(1)),
        ("renju/sgf/浙江五子棋教室.sgf", "renju-15", Some(1)),
    ] {
        let Some(path) = sample(path) else { return };
        let contents = read(Format::Sgf, &path, Some(variant(rule)));
        assert!(
            count.is_none_or(|count| contents.items == count) && contents.items > 0,
            "{}",
            path.display()
        );
        assert_eq!(
            contents.omissions.get("moves_that_cannot_be_made"),
            None,
            "{}",
            path.display()
        );
    }
    let rif = read(
        Format::Rif,
        &sample("renju/rif/handmade_sample.rif").expect("with the others"),
        Some(variant("renju-15")),
    );
    assert_eq!((rif.items, rif.answers.len()), (3, 7));
    assert_eq!(
        nonzero(&rif.omissions),
        [("games_without_moves", 1), ("games_cut_short", 1),].into()
    );
    for (name, board, count) in [
        ("piskvork_openings.txt", "freestyle-20", 41),
        ("gomocuponline_openings.txt", "freestyle-20", 3),
        ("gomocupjudge_openings_20.txt", "freestyle-20", 6),
        ("gomocup-2026-15x15.json", "freestyle-15", 12),
        ("rapfi-natural-freestyle-15x15.json", "freestyle-15", 7),
        ("rapfi-verified-freestyle-15x15.json", "freestyle-15", 12),
    ] {
        let path = sample(&format!("gomoku/openings/{name}")).expect("with the others");
        assert_eq!(
            read(Format::Openings, &path, Some(variant(board))).items,
            count,
            "{name}"
        );
    }
}

#[test]
fn quoted_source_lines_are_read() {
    let Some(path) = sample("xiangqi/books/wukong_opening_book_uci.txt") else {
        return;
    };
    let contents = read(Format::Lines, &path, Some(Variant::XIANGQI));
    assert_eq!(
        (contents.items, nonzero(&contents.omissions)),
        (15, Omissions::new())
    );
}

#[test]
fn all_xiangqi_notations_are_read() {
    let counts = |name: &str| {
        let contents = read(Format::Pgn, &sample(name)?, None);
        assert_eq!(nonzero(&contents.omissions), Omissions::new(), "{name}");
        Some((contents.items, by_key(&contents.answers)))
    };
    let Some(coordinates) = counts("xiangqi/pgn/bulk_games_uci.pgn") else {
        return;
    };
    // The same games are written in Western and in Chinese notation.
    let wxf = counts("xiangqi/pgn/wukong_bulk_games_wxf.pgn").expect("with the other");
    assert_eq!(
        counts("xiangqi/pgn/xqdb_international.pgn").as_ref(),
        Some(&wxf)
    );
    assert_eq!(
        counts("xiangqi/pgn/xqdb_traditional.pgn").as_ref(),
        Some(&wxf)
    );
    // The coordinates differ in one move of another soldier: e5e6, where the others have the rear
    // one of e3 and e5.
    assert_eq!((coordinates.0, wxf.0), (15, 15));
    let others = |a: &BTreeMap<Key, usize>, b: &BTreeMap<Key, usize>| {
        a.keys().filter(|key| !b.contains_key(key)).count()
    };
    assert_eq!(
        (
            others(&coordinates.1, &wxf.1),
            others(&wxf.1, &coordinates.1)
        ),
        (5, 5)
    );
}

#[test]
fn games_in_big5_are_read() {
    let games = samples("xiangqi/pgn/ccpd_big5", ".pgn");
    assert!(games.is_empty() || games.len() == 48, "{}", games.len());
    for path in games {
        let contents = read(Format::Pgn, &path, None);
        // One file holds a position without moves.
        let is_empty = contents.answers.is_empty();
        assert!(!is_empty || contents.items > 0, "{}", path.display());
    }
}

#[test]
fn real_databases_have_known_record_counts() {
    // The large files were converted from libraries, so most of their moves have no value.
    for (name, records, positions, texts) in [
        ("rapfi_search_raw", 941, 353, 0),
        ("rapfi_search_lz4", 941, 353, 0),
        ("rapfi_import_handmade", 10, 6, 5),
        ("rapfi_import_tao_lib_29232", 29_232, 19_617, 768),
    ] {
        let Some(path) = sample(&format!("gomoku/yxdb/{name}.db")) else {
            return;
        };
        let contents = read(Format::Yxdb, &path, None);
        let found = (
            contents.items,
            contents.answers.len(),
            contents.omissions.get("texts").copied(),
        );
        assert_eq!(found, (records, positions, Some(texts)), "{name}");
    }
}

#[test]
fn elephanteye_book_is_walked_from_start() {
    let Some(path) = sample("xiangqi/books/eleeye_BOOK.DAT") else {
        return;
    };
    let contents = read(Format::Eleeye, &path, None);
    assert_eq!((contents.items, contents.answers.len()), (12_081, 8_706));
}

/// Returns a book without positions.
pub(crate) fn empty_book() -> (TempDir, Book) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BookOptions {
        create: true,
        cache_bytes: 1 << 16,
    };
    let (book, _) = Book::open(&folder.path().join("book"), &options).expect("opens");
    (folder, book)
}

/// Searches positions along a line of the picked moves, or of the best ones.
pub(crate) fn grow<'a>(
    book: &mut Book,
    start: &Position,
    picks: impl Iterator<Item = Option<&'a Index>>,
) {
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 1 << 16,
        ..EngineOptions::default()
    })
    .expect("one");
    let mut position = start.clone();
    for pick in picks {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let question = Question {
            width: 3,
            ..Question::new(position.clone(), Effort::depth(2))
        };
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .expect("it is searched");
        book.learn(&position, &answer).expect("room");
        let best = || answer.best().expect("it goes on").0;
        let next = pick.map_or_else(best, |pick| *pick.get(&legal));
        position = position.play(next).expect("legal");
    }
}

/// Returns a book of searched positions of one game.
pub(crate) fn searched(name: &str, picks: &[Index], count: usize) -> (TempDir, Book) {
    let (folder, mut book) = empty_book();
    let start = Position::start(variant(name));
    grow(&mut book, &start, picks.iter().take(count).map(Some));
    (folder, book)
}

/// Returns a book of the positions along the best moves from the start.
pub(crate) fn followed(name: &str, count: usize) -> (TempDir, Book) {
    let (folder, mut book) = empty_book();
    let start = Position::start(variant(name));
    grow(&mut book, &start, std::iter::repeat_n(None, count));
    (folder, book)
}

fn written(format: Format, book: &Book) -> Vec<u8> {
    let mut bytes = Vec::new();
    export(format, book, None, None, None, &mut bytes).expect("memory");
    bytes
}

pub(crate) fn learned(contents: &Contents) -> (TempDir, Book) {
    let (folder, mut book) = empty_book();
    for (position, answer) in &contents.answers {
        book.learn(position, answer).expect("room");
    }
    (folder, book)
}

/// Returns a score, with a proof where it has one; a mate always has one.
fn value() -> impl Strategy<Value = (Score, Option<Proof>)> {
    let kinds = [
        ProofKind::Terminal,
        ProofKind::Vcf,
        ProofKind::Vct,
        ProofKind::Search,
        ProofKind::Tree,
        ProofKind::Manual,
    ];
    let proof = (
        prop::sample::select(vec![Claim::Win, Claim::Loss, Claim::Draw]),
        prop::sample::select(kinds.to_vec()),
        0u16..60,
    );
    prop_oneof![
        (-29_000i32..=29_000).prop_map(|centi| (Score::opinion(centi), None)),
        proof.prop_map(|(claim, kind, number)| {
            let plies = match claim {
                Claim::Win => 2 * number + 1,
                Claim::Loss => 2 * number + 2,
                Claim::Draw => number,
            };
            let proof = Proof::new(claim, kind, plies);
            (proof.score(), Some(proof))
        }),
    ]
}

prop_compose! {
    /// A possible verdict of a move, with indices of the move and of its continuation.
    fn verdict_parts()(
        at in any::<Index>(),
        replies in prop::collection::vec(any::<Index>(), 0..4),
        (score, proof) in value(),
        bound in prop::sample::select(vec![Bound::Upper, Bound::Lower, Bound::Exact]),
        (depth, nodes, day) in (any::<u8>(), any::<u64>(), 0u32..60_000),
        engine in "[a-z0-9 .,;\"'\\\\äß花月-]{1,16}",
    ) -> (Index, Vec<Index>, Verdict) {
        let bound = if proof.is_some() { Bound::Exact } else { bound };
        (at, replies, Verdict { score, bound, depth, nodes, line: Vec::new(), proof, by: Provenance { engine: engine.into(), day } })
    }
}

#[test]
fn trees_go_on_behind_a_bound() {
    let (_folder, mut book) = searched("xiangqi", &[], 0);
    let start = Position::start(Variant::XIANGQI);
    let after = start.play_line("h0g2").expect("legal");
    for (position, m, bound) in [
        (&start, "h2e2", Bound::Exact),
        (&start, "h0g2", Bound::Upper),
        (&after, "h9g7", Bound::Exact),
    ] {
        let verdict = Verdict {
            score: Score::opinion(0),
            bound,
            depth: 1,
            nodes: 1,
            line: Vec::new(),
            proof: None,
            by: Provenance {
                engine: "x".into(),
                day: 0,
            },
        };
        let m = position.parse_move(m).expect("legal");
        let answer: Answer = [(m, verdict)].into_iter().collect();
        book.learn(position, &answer).expect("room");
    }
    for format in [Format::Pgn, Format::Xqf] {
        let read = contents(format, &written(format, &book), None).expect("just written");
        let positions = read.answers.iter().map(|(position, _)| position.key());
        assert!(positions.collect::<Vec<_>>().contains(&after.key()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn csv_is_lossless(
        name in prop::sample::select(vec!["freestyle-15", "renju-15", "xiangqi", "surakarta"]),
        picks in prop::collection::vec(any::<Index>(), 1..8),
    ) {
        let (_folder, book) = searched(name, &picks, 8);
        let bytes = written(Format::Csv, &book);
        let contents = contents(Format::Csv, &bytes, None).expect("just written");
        let facts = |book: &Book| -> Vec<_> {
            book.positions().map(|entry| entry.map(|entry| (entry.position.key(), entry.facts)).expect("readable")).collect()
        };
        let (_other, copy) = learned(&contents);
        prop_assert_eq!(facts(&copy), facts(&book));
        prop_assert_eq!(written(Format::Csv, &copy), bytes);
    }

    #[test]
    fn json_and_csv_are_lossless(
        name in prop::sample::select(vec!["freestyle-15", "renju-15", "standard-7", "xiangqi", "surakarta"]),
        picks in prop::collection::vec(any::<Index>(), 0..12),
        parts in prop::collection::vec(verdict_parts(), 1..20),
    ) {
        let mut position = Position::start(variant(name));
        for pick in picks {
            let legal = position.legal_moves();
            if let Ok(next) = position.play(*pick.get(&legal)) && next.outcome().is_none() {
                position = next;
            }
        }
        let legal = position.legal_moves();
        let verdict = |(pick, replies, verdict): &(Index, Vec<Index>, Verdict)| {
            let m = *pick.get(&legal);
            let (mut line, mut next) = (vec![m], position.play(m).expect("legal"));
            for reply in replies {
                let legal = next.legal_moves();
                if !legal.is_empty() {
                    line.push(*reply.get(&legal));
                    next = next.play(line[line.len() - 1]).expect("legal");
                }
            }
            let line = if replies.is_empty() { Vec::new() } else { line };
            (m, Verdict { line, ..verdict.clone() })
        };
        let answer: Answer = parts.iter().map(verdict).collect();
        let (_folder, mut book) = searched(name, &[], 0);
        book.learn(&position, &answer).expect("room");
        let facts = |book: &Book| book.lookup(&position).expect("readable").expect("learned").facts;
        prop_assert_eq!(facts(&book), answer);
        let text = String::from_utf8(written(Format::Json, &book)).expect("UTF-8");
        let records = text.lines().map(|line| line.parse::<PositionRecord>().and_then(|record| record.decode()));
        let answers = records.collect::<Result<_>>().expect("just written");
        for contents in [
            Contents { answers, items: 1, ..Contents::default() },
            contents(Format::Csv, &written(Format::Csv, &book), None).expect("just written"),
        ] {
            let (_other, copy) = learned(&contents);
            prop_assert_eq!(facts(&copy), facts(&book));
        }
    }

    #[test]
    fn formats_round_trip_what_they_carry(
        (name, format) in prop::sample::select(vec![
            ("freestyle-15", Format::Lib),
            ("renju-15", Format::Lib),
            ("freestyle-20", Format::Openings),
            ("xiangqi", Format::Fen),
            ("surakarta", Format::Fen),
            ("xiangqi", Format::Eleeye),
        ]),
        picks in prop::collection::vec(any::<Index>(), 1..10),
    ) {
        let (_folder, book) = searched(name, &picks, 10);
        let first = contents(format, &written(format, &book), Some(variant(name)));
        // A book may have no balanced opening; the file is then empty.
        let Ok(first) = first else { return Ok(()) };
        for (position, answer) in &first.answers {
            for (m, verdict) in answer.verdicts().iter().filter(|(_, v)| v.is_exact()) {
                let entry = book.lookup(position).expect("readable");
                let known = entry.as_ref().and_then(|entry| entry.answer.get(*m));
                prop_assert_eq!(known.map(|v| v.score), Some(verdict.score), "{}", position.write_move(*m));
            }
        }
        // A second export loses nothing more.
        if matches!(format, Format::Lib | Format::Fen) {
            let (_one, copy) = learned(&first);
            let bytes = written(format, &copy);
            let second = contents(format, &bytes, Some(variant(name))).expect("just written");
            let (_other, again) = learned(&second);
            prop_assert_eq!(written(format, &again), bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(
        format in prop::sample::select(Format::ALL.to_vec()),
        name in prop::sample::select(vec!["freestyle-15", "renju-15", "xiangqi", "surakarta"]),
        mut bytes in prop::collection::vec(any::<u8>(), 0..300),
        begin in prop::sample::select(vec![
            &b""[..], b"\xffRenLib\xff\x03\x04", b"Piskvorky 15x15, 1:1, 0\n8,8,0\n", b"(;SZ[15];B[hh](", b"<game bresult=\"1\"><move>h8",
            b"[Event \"x\"]\n\n1. h2e2 h9g7", b"0,0, 1,1", b"h8 i9 1-0\n", b"variant,position,side,move,score,win_in,loss_in",
            b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20",
        ]),
    ) {
        let mut all = begin.to_vec();
        all.append(&mut bytes);
        // Errors are fine here; panics are not.
        let keys = ZobristKeys::from_seed(1);
        let mut importer = Importer::new(format, Some(variant(name))).with_zobrist(Some(keys));
        let _ = importer.add(&all);
        for tree in importer.read_trees(&all).map_or_else(|_| Vec::new(), |(trees, _)| trees) {
            let _ = write_game(&tree, &[], Notation::Chinese);
        }
    }
}

#[test]
fn byte_order_mark_is_skipped() {
    for (format, name, text) in [
        (Format::Lines, "freestyle-15", "h8 i9 h9 1-0\n"),
        (Format::Openings, "freestyle-15", "0,0, 1,1\n"),
        (Format::Hints, "freestyle-15", "h8 i9 g9 f10 h7\n"),
        (
            Format::Psq,
            "freestyle-15",
            "Piskvorky 15x15, 1:1, 0\n8,8,0\n9,9,0\n-1\n",
        ),
        (Format::Sgf, "freestyle-15", "(;GM[4]SZ[15];B[hh];W[ii])"),
        (
            Format::Pgn,
            "xiangqi",
            "[Event \"x\"]\n\n1. h2e2 h9g7 1-0\n",
        ),
        (
            Format::Fen,
            "xiangqi",
            "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w; bm h2e2; ce 34\n",
        ),
    ] {
        let read = |text: &str| {
            let Contents {
                answers,
                items,
                omissions,
                ..
            } = contents(format, text.as_bytes(), Some(variant(name))).expect(text);
            (answers, items, omissions)
        };
        let plain = read(text);
        assert!(!plain.0.is_empty(), "{text}");
        assert_eq!(read(&format!("\u{feff}{text}")), plain);
    }
}

/// The game ended because Black played a forbidden point, which a book does not hold.
#[test]
fn game_ended_by_foul_is_learned_without_it() {
    let game = "g8 a1 i8 c15 h7 o1 h9 o15 h8\n";
    let contents =
        contents(Format::Lines, game.as_bytes(), Some(variant("renju-15"))).expect("a game");
    let (_folder, book) = learned(&contents);
    assert_eq!(
        (book.len(), contents.omissions["moves_on_forbidden_points"]),
        (8, 1)
    );
}

#[test]
fn cut_or_changed_files_do_not_panic() {
    for (format, path, name) in [
        (Format::Lib, "renju/lib/handmade_v34.lib", "renju-15"),
        (Format::Psq, "gomoku/psq/engine_std15_01.psq", "standard-15"),
        (Format::Sgf, "renju/sgf/test.sgf", "renju-15"),
        (Format::Rif, "renju/rif/handmade_sample.rif", "renju-15"),
    ] {
        let Some(path) = sample(path) else { return };
        let whole = fs::read(&path).expect("readable");
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            for bytes in [&whole[..at], &changed] {
                if let Ok(contents) = contents(format, bytes, Some(variant(name))) {
                    assert!(contents.answers.len() <= whole.len());
                }
            }
        }
    }
}
