//! Files as people have them: every row stands for a kind.

use std::io::{Cursor, Write};

use encoding_rs::{BIG5, GB18030};
use flate2::write::GzEncoder;
use kagetsu_game::{Notation, Position, Variant};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{Contents, GameTree, Importer, write_game};

fn trees(name: &str, bytes: &[u8], variant: Option<Variant>) -> Vec<GameTree> {
    let mut importer = Importer::new(None, variant);
    importer.set_source(name);
    let read = importer.read_trees(bytes);
    read.unwrap_or_else(|error| panic!("{name}: {error:#}")).0
}

fn contents(name: &str, bytes: &[u8], variant: Option<Variant>) -> Result<Contents, String> {
    let mut importer = Importer::new(None, variant);
    importer.set_source(name);
    let read = importer.add(bytes);
    read.map_err(|error| format!("{error:#}"))?;
    Ok(importer.finish())
}

/// Writes the games of a file: the moves of their main lines, and their results.
fn played(trees: &[GameTree]) -> String {
    let line = |tree: &GameTree| {
        let moves = tree.main_line().into_iter().map(|at| &tree.moves[at]);
        let mut words: Vec<String> = moves.map(|m| m.before.write_move(m.at)).collect();
        words.push(tree.result.text().into());
        words.join(" ")
    };
    trees.iter().map(line).collect::<Vec<_>>().join(" | ")
}

#[test]
fn xiangqi_texts_of_many_programs_are_read() {
    const TAGS: &str = "[Game \"Chinese Chess\"]\n[Red \"胡一\"]\n";
    let fen = |rows: &str| format!("[FEN \"{rows} w - - 0 1\"]\n");
    for (text, expected) in [
        ("1. 炮二平五 马8进7 2. 马二进三 1-0", "h2e2 h9g7 h0g2 1-0"),
        ("1. 砲二平五 馬８進７\n2. 傌二進三 *", "h2e2 h9g7 h0g2 *"),
        ("1.炮二平五马8进7 2.马二进三", "h2e2 h9g7 h0g2 *"),
        (
            "1、炮二平五，马8进7；2、马二进三。 红胜",
            "h2e2 h9g7 h0g2 1-0",
        ),
        ("1. C2=5 H8+7 2. H2+3 0-1", "h2e2 h9g7 h0g2 0-1"),
        ("1. C2.5 n8+7 2. N2+3 1/2", "h2e2 h9g7 h0g2 1/2-1/2"),
        ("1. H2-E2 H9-G7 2. H0-G2", "h2e2 h9g7 h0g2 *"),
        ("1. h2e2 1... h9g7 2. h0g2 ½-½", "h2e2 h9g7 h0g2 1/2-1/2"),
        // XBoard and UCI2WB; Fairy-Stockfish and pychess, ranks from 1.
        ("1. Che2 Hg7 2. Hg2 *", "h2e2 h9g7 h0g2 *"),
        ("1. Che3 Nhg8 2. Ng3 *", "h2e2 h9g7 h0g2 *"),
        ("1. h3e3 h10g8 2. h1g3", "h2e2 h9g7 h0g2 *"),
        ("1. c4 Cxh0+ 2. Rxh0 1-0", "c3c4 h7h0 i0h0 1-0"),
        ("1. c5 Cxh1+ 2. Rxh1 1-0", "c3c4 h7h0 i0h0 1-0"),
        (
            "1. h2e2! {a;b} h9g7?? $4 2. h0g2 ± 1-0",
            "h2e2 h9g7 h0g2 1-0",
        ),
        (
            "1. h2e2（好棋）h9g7 (1... b9c7) 2. h0g2 黑胜",
            "h2e2 h9g7 h0g2 0-1",
        ),
        // Where a game ends.
        (
            "1. h2e2 h9g7 *\n\n1. b0c2 c6c5 *",
            "h2e2 h9g7 * | b0c2 c6c5 *",
        ),
        ("1. h2e2 h9g7\n\n1. b0c2 c6c5", "h2e2 h9g7 * | b0c2 c6c5 *"),
        (
            "1. h2e2 h9g7 1-0\n====\n欢迎访问 http://a.b/\n",
            "h2e2 h9g7 1-0",
        ),
        (
            "1. h2e2 h9g7 1-0\n[Red \"a\"]\n1. b0c2 0-1",
            "h2e2 h9g7 1-0 | b0c2 0-1",
        ),
    ] {
        let bare = text.to_string();
        let tagged = [TAGS, text].concat();
        let set_up = [
            TAGS,
            &fen("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR[]"),
            text,
        ]
        .concat();
        let no_side = set_up.replace("[] w - - 0 1", "");
        for whole in [&bare, &tagged, &set_up, &no_side] {
            let of_bytes = |bytes: &[u8]| played(&trees("a.pgn", bytes, None));
            assert_eq!(of_bytes(whole.as_bytes()), expected, "{whole}");
            assert_eq!(of_bytes(&GB18030.encode(whole).0), expected, "{whole}");
            let (full, _, is_lossy) = BIG5.encode(whole);
            if !is_lossy {
                assert_eq!(of_bytes(&full), expected, "{whole}");
            }
        }
    }
    let behind = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w\n炮二平五\n马8进7";
    assert_eq!(
        played(&trees("a.txt", behind.as_bytes(), None)),
        "h2e2 h9g7 *"
    );
    let wxf = "FORMAT\tWXF\nGAME\tx\nRED\t胡一;上海\nBLACK\t柳二;\nRESULT\t1-0\n\
               START{\n1. C2.5 H8+7\n2. H2+3\n}END\nCOMMENT{\nfine\n}END\n";
    let found = trees("a.wxf", wxf.as_bytes(), None);
    assert_eq!(played(&found), "h2e2 h9g7 h0g2 1-0");
    assert_eq!(found[0].tags.first, "胡一");
    let cbf = "\u{feff}<?xml version=\"1.0\"?>\n<ChineseChessRecord Version=\"1.0\">\n <Head>\n  \
               <Name>a &amp; b</Name>\n  <Red>胡一</Red>\n  <Black />\n  \
               <RecordResult>3</RecordResult>\n </Head>\n <MoveList>\n  <Move value=\"00-00\">\
               <![CDATA[start]]></Move>\n  <Move value=\"77-47\" />\n  <Move value=\"70-62\">\
               <![CDATA[one\ntwo]]></Move>\n  <Move value=\"79-67\" end=\"1\"/>\n </MoveList>\n";
    let found = trees("a.xml", cbf.as_bytes(), None);
    assert_eq!(played(&found), "h2e2 h9g7 h0g2 1/2-1/2");
    let tags = &found[0].tags;
    assert_eq!((&*tags.first, &*tags.event), ("胡一", "a & b"));
    let comments = (&*found[0].comment, &*found[0].moves[1].comment);
    assert_eq!(comments, ("start", "one two"));
    for (wrong, named) in [("79-66", "h0g3"), ("99-67", "99-67")] {
        let text = cbf.replace("79-67", wrong);
        let read = contents("a.cbf", text.as_bytes(), None).expect("two moves");
        let first = &read.omissions.first()["games_cut_short"];
        assert_eq!(first, &format!("a.cbf, line 14, after ply 2: '{named}'"));
    }
}

#[test]
fn stones_of_many_programs_are_read() {
    let renju = Some(Variant::RENJU_15);
    for (text, expected) in [
        ("(;SZ[15]RE[黑胜];B[hh];W[ih])", "h8 i8 1-0"),
        ("(;SZ[15]RE[White wins];B[hh];W[ih])", "h8 i8 0-1"),
        ("(;SZ[15:15]RE[W+R];B[HH];W[i8])", "h8 i8 0-1"),
        // White first; a pass; a result that says nothing.
        ("(;SZ[15]RE[W+];W[hh];B[ih])", "h8 i8 1-0"),
        ("(;SZ[15]RE[soon];B[hh];W[];B[ih];W[hi])", "h8 i8 h7 *"),
        // Brackets without a mark, one too many, and an escaped one.
        (
            "(;SZ[15]PB[Anna[3d]]PW[Ben]RE[B+R];B[hh];W[ih])",
            "h8 i8 1-0",
        ),
        ("(;SZ[15]C[see A] and B];B[hh]C[[a];b];W[ih])", "h8 i8 *"),
        ("(;SZ[15];B[hh]];W[ih]C[a\\]b])", "h8 i8 *"),
        // A wrong name of the encoding.
        ("(;SZ[15]CA[UTF-16]PB[胡一];B[hh];W[ih])", "h8 i8 *"),
    ] {
        assert_eq!(
            played(&trees("a.sgf", text.as_bytes(), renju)),
            expected,
            "{text}"
        );
    }
    let gbk = GB18030
        .encode("(;SZ[15]CA[UTF-8]PB[胡一]RE[白勝];B[hh];W[ih])")
        .0;
    let found = trees("a.sgf", &gbk, renju);
    assert_eq!(
        (&*played(&found), &*found[0].tags.first),
        ("h8 i8 0-1", "胡一")
    );
    let anna = "(;SZ[15]PB[Anna[3d]]PW[Ben];B[hh])";
    assert_eq!(trees("a", anna.as_bytes(), renju)[0].tags.first, "Anna[3d]");
}

#[test]
fn set_up_stones_and_properties_are_written_again() {
    for text in [
        "(;SZ[15]AB[hh][hi][hj]AW[ii]PL[W];W[gg];B[ff])",
        "(;SZ[15]AB[aa:ac]AW[da][db][dc];B[hh]N[n]TR[hh]LB[ii:a];W[ii])",
        "(;SZ[15]PB[Anna]PW[Ben]BR[5d]RU[Renju]GN[g]PC[Oslo]RE[B+R];B[hh]MA[a][b];W[ii])",
        "(;SZ[15];B[hh];W[];B[ii])",
        "(;SZ[15];B[hh];W[ii];AB[gg]AW[jj]AE[hh]PL[B];B[ff]C[c];W[ee])",
        "(;SZ[15];AB[gg];W[ff](;B[ee];W[dd])(;AE[gg]PL[W];W[aa]))",
    ] {
        let freestyle = Some(Variant::FREESTYLE_15);
        let tree = trees("a.sgf", text.as_bytes(), freestyle).remove(0);
        let written = write_game(&tree, &[], Notation::Engine).expect("stones");
        let again = trees("a.sgf", written.as_bytes(), freestyle).remove(0);
        let drawn = |tree: &GameTree| {
            let last = tree.moves.last().expect("a move");
            (tree.start.draw(), last.before.draw(), tree.start.side())
        };
        assert_eq!(drawn(&again), drawn(&tree), "{written}");
        assert_eq!(again.properties, tree.properties, "{written}");
        let kept = |tree: &GameTree| {
            let moves = tree.moves.iter().map(|m| m.properties.clone());
            moves.collect::<Vec<_>>()
        };
        assert_eq!(kept(&again), kept(&tree), "{written}");
    }
    let pgn = "[Red \"a\"]\n[ECCO \"B10\"]\n[FEN \"3k5/9/9/9/9/9/9/R8/9/4K4 b\"]\n1... d9d8 $3 *";
    let tree = trees("a.pgn", pgn.as_bytes(), None).remove(0);
    let written = write_game(&tree, &[], Notation::Engine).expect("pieces");
    for part in ["[ECCO \"B10\"]", "[FEN \"3k5", "1... D9-D8 $3 *"] {
        assert!(written.contains(part), "{written}");
    }
}

#[test]
fn packed_files_are_read_and_others_are_told() {
    let game = GB18030.encode("1. 炮二平五 马8进7 1-0").0.into_owned();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("games/one.pgn", &game[..]),
        ("two.wxf", b"FORMAT WXF\nSTART{\n1. C2=5\n}END"),
        ("readme.txt", b"read me"),
    ] {
        zip.start_file(name, SimpleFileOptions::default())
            .expect("room");
        zip.write_all(content).expect("room");
    }
    let zip = zip.finish().expect("room").into_inner();
    assert_eq!(
        played(&trees("a.zip", &zip, None)),
        "h2e2 h9g7 1-0 | h2e2 *"
    );
    let read = contents("a.zip", &zip, None).expect("two games");
    assert_eq!(read.items, 2);
    let other = &read.omissions.first()["files_of_another_format"];
    assert_eq!(other, "'a.zip/readme.txt'");
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&game).expect("room");
    let gzip = gzip.finish().expect("room");
    assert_eq!(played(&trees("a.pgn.gz", &gzip, None)), "h2e2 h9g7 1-0");
    let cut = contents("a.zip", &zip[..zip.len() / 2], None);
    assert!(cut.is_err_and(|error| error.contains("damaged")));
}

#[test]
fn unread_text_is_named_with_its_place() {
    let xiangqi = |text: &str| contents("a.pgn", text.as_bytes(), None).expect("a game");
    for (text, kind, first) in [
        (
            "1. h2e2 h9g8 1-0",
            "games_cut_short",
            "line 1, after ply 1: 'h9g8'",
        ),
        (
            "[Red \"a\"]\n\n1. 炮二平五\n马8进9 兵一进九",
            "games_cut_short",
            "line 4, after ply 2: '兵一进九'",
        ),
        (
            "[Red \"a\"]\n[Result \"soon\"]\n1. h2e2",
            "results_in_unknown_words",
            "line 2: 'soon'",
        ),
        (
            "1. h2e2 1-0\nthe end",
            "words_that_are_no_game",
            "line 2: 'the'",
        ),
        (
            "[Red \"a\"]\n[FEN \"4k4/9 w\"]\n1. h2e2\n\n[Red \"b\"]\n1. h2e2",
            "games_from_impossible_positions",
            "line 2: 'the FEN has 2 rows, a board of xiangqi has 10: 4k4/9 w'",
        ),
        (
            "[FEN \"4k4/9/9/9/9/9/9/9/9/9 w\"]\n1. h2e2\n\n[Red \"b\"]\n1. h2e2",
            "games_from_impossible_positions",
            "line 1: 'the game is over there: 4k4/9/9/9/9/9/9/9/9/9 w'",
        ),
    ] {
        let read = xiangqi(text);
        assert_eq!(read.omissions[kind], 1, "{text}");
        assert_eq!(
            read.omissions.first()[kind],
            format!("a.pgn, {first}"),
            "{text}"
        );
    }
    for (name, text, part) in [
        ("a.pgn", "hello world", "line 1: 'hello' is no move"),
        ("a", "what is this", "tells the format"),
        ("a.lines", "h2e2 h9g8", "line 1"),
        ("a.epd", "4k4/9 w", "line 1: the FEN has 2 rows"),
        ("a.cbr", "CCBridge", "does not begin as"),
        ("a.ubb", "[DhtmlXQ][/DhtmlXQ]", "DhtmlXQ_movelist"),
    ] {
        let variant = Some(Variant::XIANGQI);
        let error = contents(name, text.as_bytes(), variant).expect_err("wrong");
        assert!(error.contains(part), "{name}: {error}");
    }
}

#[test]
fn games_of_other_rules_are_left_out() {
    const CHESS: &str = "[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n";
    for (text, named) in [
        ("[Variant \"Crazyhouse\"]\n1. e4 e5", "line 1: 'Crazyhouse'"),
        ("[Variant \"Chess960\"]\n1. h2e2", "line 1: 'Chess960'"),
        (
            "[Variant \"Minixiangqi\"]\n1. h2e2",
            "line 1: 'Minixiangqi'",
        ),
        ("[Variant \"Janggi\"]\n1. h2e2", "line 1: 'Janggi'"),
        ("[Variant \"Shogi\"]\n1. Pg4 Pc6", "line 1: 'Shogi'"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0", "line 1: 'Nf3'"),
        (
            "[Red \"a\"]\n1. c4 e5 2. Nc3 Nf6 3. g3 d5 4. cxd5 Nxd5 0-1",
            "line 2: 'Nc3'",
        ),
        ("1. e4 e5\n2. O-O O-O-O 3. b8=Q# 1-0", "line 2: 'O-O'"),
        (
            "1. e4 c5 2. Sf3 d6 3. d4 cxd4 4. Sxd4 Sf6 *",
            "line 1: 'Sf3'",
        ),
        ("[ECO \"C20\"]\n1. e4 e5 1/2-1/2", "line 2: 'e4'"),
    ] {
        let whole = format!("{text}\n\n[Variant \"xiangqi\"]\n1. h2e2");
        let read = contents("a.pgn", whole.as_bytes(), None).expect("a game");
        let first = &read.omissions.first()["games_of_other_rules"];
        assert_eq!(*first, format!("a.pgn, {named}"), "{text}");
        assert_eq!(read.games.len(), 1, "{text}");
    }
    let read = contents("a.pgn", CHESS.as_bytes(), None).expect("tags");
    let first = &read.omissions.first()["games_from_impossible_positions"];
    assert!(first.contains("8 rows"), "{first}");
    for (text, moves) in [
        ("[Variant \"Chinese Chess\"]\n1. h2e2", 1),
        ("[Variant \"中国象棋\"]\n[Game \"第一局\"]\n1. h2e2", 1),
        ("1. c4 Nc7 2. e4 1-0", 3),
        ("1. Che2 Hg7 2. Qd1", 2),
    ] {
        let found = trees("a.pgn", text.as_bytes(), None);
        assert_eq!(found[0].moves.len(), moves, "{text}");
    }
}

#[test]
fn gomoku_is_read_from_pgn() {
    let text =
        "[Event \"?\"]\n[Black \"Ann\"]\n[White \"Bo\"]\n[Result \"0-1\"]\n[GameType \"61,15\"]\n";
    for (moves, expected, first) in [
        (
            "1. f3 g3 2. h3 black 3. h5 i5 0-1",
            "f3 g3 h3 h5 i5 1-0",
            "Bo",
        ),
        (
            "1. h8 h9 2. l10 white 3. -- i8 4. j7 1-0",
            "h8 h9 l10 i8 j7 1-0",
            "Ann",
        ),
        (
            "1. o8 o7 2. l3 k3 3. j3 -- 4. black j6 0-1",
            "o8 o7 l3 k3 j3 j6 0-1",
            "Ann",
        ),
        (
            "1. o8 o7 2. l3 k3 3. j3 -- 4. white j6 0-1",
            "o8 o7 l3 k3 j3 j6 1-0",
            "Bo",
        ),
        ("1. H8 I9 *", "h8 i9 0-1", "Ann"),
        // Five in a row say more than the tag.
        (
            "1. h8 a1 2. h9 a2 3. h10 a3 4. h11 a4 5. h12 0-1",
            "h8 a1 h9 a2 h10 a3 h11 a4 h12 1-0",
            "Ann",
        ),
    ] {
        let whole = format!("{text}\n{moves}\n");
        let found = trees("a.txt", whole.as_bytes(), Some(Variant::STANDARD_15));
        assert_eq!(
            (&*played(&found), &*found[0].tags.first),
            (expected, first),
            "{moves}"
        );
        let error = contents("a.txt", whole.as_bytes(), None).expect_err("no variant");
        assert!(
            error.contains("is a point of gomoku: give the game"),
            "{error}"
        );
    }
}

#[test]
fn results_of_lines_are_told_from_moves() {
    for (line, variant, games) in [
        ("h2e2 h9g7 1/2", Variant::XIANGQI, "1/2-1/2"),
        ("炮二平五 马8进7 红胜", Variant::XIANGQI, "1-0"),
        ("h8 i9 0-1", Variant::FREESTYLE_15, "0-1"),
        ("7,7 8,6", Variant::FREESTYLE_15, "*"),
        ("7,7 8,6 1-0", Variant::FREESTYLE_15, "1-0"),
    ] {
        let mut importer = Importer::new(crate::Format::Lines, Some(variant));
        importer.add(line.as_bytes()).expect(line);
        let trees = importer.read_trees(line.as_bytes()).expect(line).0;
        assert_eq!(trees[0].result.text(), games, "{line}");
        assert_eq!(trees[0].moves.len(), 2, "{line}");
    }
    let start = Position::start(Variant::XIANGQI);
    let around = "a0a1 a9a8 a1a0 a8a9 ".repeat(3);
    for (line, counts) in [
        (&*around, vec![1]),
        ("a0a1 a9a8 a1a0 a8a9 h2e2", vec![0, 1]),
    ] {
        let mut importer = Importer::new(crate::Format::Lines, Some(Variant::XIANGQI));
        importer.add(line.as_bytes()).expect("a game that goes on");
        let answers = importer.finish().answers;
        let first = answers
            .iter()
            .find(|(position, _)| position.key() == start.key());
        let verdicts = first.expect("it was played from").1.verdicts();
        let mut found: Vec<u64> = verdicts.iter().map(|(_, verdict)| verdict.nodes).collect();
        found.sort_unstable();
        // A game counts once in a position, and another move at its return leads on.
        assert_eq!(found, counts, "{line}");
    }
}
