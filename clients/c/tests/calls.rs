//! A C program looks up a compiled book, and hostile calls do no harm.
#![expect(unsafe_code, reason = "C calls take pointers")]

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use kagetsu_book::{Book, BookOptions, Compilation};
use kagetsu_builders::is_installed;
use kagetsu_c::{
    KnownMove, OpenBook as Open, kagetsu_book_close, kagetsu_book_lookup,
    kagetsu_book_lookup_stones, kagetsu_book_open, kagetsu_book_pick, kagetsu_book_positions,
    kagetsu_last_error, kagetsu_version,
};
use kagetsu_game::{Answer, Claim, Position, Proof, ProofKind, Score, Variant, Verdict};

/// A compiled book of one position, after h8 a1 h9: a win for White by i9, and i10 worth 7.
fn compiled(folder: &Path) -> PathBuf {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 a1 h9").expect("legal");
    let verdict = |name: &str, score, proof| {
        let m = position.parse_move(name).expect("legal");
        let verdict = Verdict {
            score,
            depth: 5,
            ..kagetsu_builders::verdict(m, proof)
        };
        (m, verdict)
    };
    let proof = Proof::new(Claim::Win, ProofKind::Search, 5);
    let answer: Answer = [
        verdict("i9", Score::win_in(5), Some(proof)),
        verdict("i10", Score::opinion(7), None),
    ]
    .into_iter()
    .collect();
    let (mut book, _) =
        Book::open(&folder.join("book"), &BookOptions::creating()).expect("a new book");
    book.learn(&position, &answer).expect("room for it");
    let path = folder.join("test.kbk");
    book.compile(&path, Compilation::default(), &mut |_| {})
        .expect("room for it");
    book.close().expect("room for it");
    path
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no zero byte")
}

fn open(path: &Path) -> *mut Open {
    let path = c(path.to_str().expect("a plain name"));
    let mut book = ptr::null_mut();
    // SAFETY: a text, and room for an address.
    assert_eq!(
        unsafe { kagetsu_book_open(path.as_ptr(), &raw mut book) },
        0
    );
    book
}

fn name(known: &KnownMove) -> &str {
    // SAFETY: the text ends with a zero byte.
    unsafe { CStr::from_ptr(known.text.as_ptr()) }
        .to_str()
        .expect("text")
}

fn last_error() -> String {
    // SAFETY: it leads to a text of this thread.
    unsafe { CStr::from_ptr(kagetsu_last_error()) }
        .to_str()
        .expect("text")
        .into()
}

fn empty() -> KnownMove {
    // SAFETY: all of its fields are numbers.
    unsafe { std::mem::zeroed() }
}

/// The library, as it was built with these tests.
fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("a path");
    let found = exe
        .ancestors()
        .skip(1)
        .take(2)
        .map(Path::to_path_buf)
        .find(|at| at.join("libkagetsu_c.so").exists());
    found.expect("cargo builds the library with its tests")
}

#[test]
fn the_example_compiles_and_asks() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = compiled(folder.path());
    let (here, library) = (Path::new(env!("CARGO_MANIFEST_DIR")), library());
    let program = folder.path().join("example");
    let built = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"])
        .arg(&program)
        .arg(here.join("example/example.c"))
        .arg(format!("-I{}", here.display()))
        .args([
            format!("-L{}", library.display()),
            format!("-Wl,-rpath,{}", library.display()),
            "-lkagetsu_c".into(),
        ])
        .output()
        .expect("a C compiler, as the build itself needs");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let run = |arguments: &[&str]| {
        let output = Command::new(&program)
            .arg(&book)
            .args(arguments)
            .output()
            .expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).expect("text"))
    };
    // Another order of the same moves, turned: the moves come back in the asker's own orientation.
    let (code, text) = run(&["freestyle-15", "h9 a1 h8"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(
        text,
        "i9 wins in 5, depth 5 (a proven win)\ni10 exactly 7, depth 5\npick i9\n"
    );
    assert_eq!(
        run(&["freestyle-15"]),
        (Some(1), "not in the book of 1 positions\n".into())
    );
    let (code, text) = run(&["freestyle-15", "h8 h8"]);
    assert_eq!(
        (code, text.contains("h8 is taken")),
        (Some(2), true),
        "{text}"
    );
    let (code, text) = run(&["chess"]);
    assert_eq!(
        (code, text.contains("unknown variant 'chess'")),
        (Some(2), true),
        "{text}"
    );
}

/// Runs a command and returns its output; fails with it if the command fails.
fn done(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}");
    text
}

/// Installs the library as a user would, and builds the example in C++ with CMake and pkg-config.
#[test]
fn cmake_installs_the_library() {
    if !["cmake", "c++", "make"]
        .iter()
        .all(|tool| is_installed(tool, &["--version"]))
    {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let book = compiled(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).display().to_string();
    // The test lies in the folder `deps` of its profile's folder.
    let exe = std::env::current_exe().expect("a path");
    let profile = exe.ancestors().nth(2).expect("cargo's folder");
    let is_debug = profile.ends_with("debug");
    let target = profile.parent().expect("cargo's folder").display();
    let kind = if is_debug { "Debug" } else { "Release" };
    done(
        Command::new("cmake")
            .args(["-S", &here, "-B", &at("build")])
            .args([
                format!("-DCMAKE_BUILD_TYPE={kind}"),
                format!("-DKAGETSU_TARGET_DIR={target}"),
                // The crates that the checks have compiled serve here too.
                "-DKAGETSU_CARGO_ARGUMENTS=--package;kagetsu-features".to_string(),
            ]),
    );
    done(Command::new("cmake").args(["--build", &at("build")]));
    let prefix = at("usr");
    done(Command::new("cmake").args(["--install", &at("build"), "--prefix", &prefix]));

    let example = format!("{here}/example");
    done(
        Command::new("cmake")
            .args(["-S", &example, "-B", &at("example")])
            .arg(format!("-DCMAKE_PREFIX_PATH={prefix}")),
    );
    done(Command::new("cmake").args(["--build", &at("example")]));
    let book = book.display().to_string();
    let arguments = [book.as_str(), "freestyle-15", "h9 a1 h8"];
    let text = done(Command::new(at("example/example_cpp")).args(arguments));
    assert_eq!(text, "i9 exactly 31995, depth 5\ni10 exactly 7, depth 5\n");
    let text = done(Command::new(at("example/example_c")).args(arguments));
    assert!(text.ends_with("pick i9\n"), "{text}");

    if is_installed("pkg-config", &["--version"]) {
        let mut flags = Command::new("pkg-config");
        flags
            .args(["--cflags", "--libs", "kagetsu_book"])
            .env("PKG_CONFIG_PATH", format!("{prefix}/lib/pkgconfig"));
        let flags = done(&mut flags);
        let mut compiler = Command::new("cc");
        compiler
            .args(["-o", &at("by-pkg-config")])
            .arg(format!("{example}/example.c"))
            .args(flags.split_whitespace());
        done(&mut compiler);
    }
}

#[test]
fn stones_say_the_same_as_moves_from_many_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = open(&compiled(folder.path()));
    let shared = book as usize;
    // SAFETY: an open book.
    assert_eq!(unsafe { kagetsu_book_positions(book) }, 1);
    let ask = move || {
        let book = shared as *const Open;
        let mut cells = [0_u8; 225];
        let (h8, a1, h9) = (7 * 15 + 7, 14 * 15, 6 * 15 + 7);
        (cells[h8], cells[a1], cells[h9]) = (1, 2, 1);
        let (mut moves, mut count) = ([empty(); 1], 0);
        let variant = c("freestyle-15");
        for _ in 0..200 {
            // SAFETY: an open book, a text, 225 cells, room for one move.
            let status = unsafe {
                let (cells, out) = (cells.as_ptr(), moves.as_mut_ptr());
                kagetsu_book_lookup_stones(
                    book,
                    variant.as_ptr(),
                    cells,
                    225,
                    2,
                    out,
                    1,
                    &raw mut count,
                )
            };
            assert_eq!((status, count, name(&moves[0])), (0, 2, "i9"));
            assert_eq!(
                (moves[0].score, moves[0].plies, moves[0].proof),
                (31_995, 5, 3)
            );
        }
    };
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(ask)).collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("no panic"));
    // SAFETY: the book is open and no thread uses it any more.
    unsafe { kagetsu_book_close(book) };
}

#[test]
fn invalid_calls_have_a_code_and_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = compiled(folder.path());
    let book = open(&path);
    let lookup = |variant: *const c_char, fen: *const c_char, moves: *const c_char| {
        let mut count = 7_usize;
        // SAFETY: an open book, texts or nothing, no room for moves.
        let status = unsafe {
            kagetsu_book_lookup(
                book,
                variant,
                fen,
                moves,
                ptr::null_mut(),
                0,
                &raw mut count,
            )
        };
        (status, last_error())
    };
    let (variant, xiangqi, junk) = (c("freestyle-15"), c("xiangqi"), c("9/9"));
    let nothing = ptr::null();
    assert_eq!(
        lookup(nothing, nothing, nothing),
        (-1, "variant is NULL".into())
    );
    assert_eq!(lookup(variant.as_ptr(), nothing, nothing).0, 1);
    assert_eq!(
        lookup(c"\xff".as_ptr(), nothing, nothing),
        (-1, "variant is no UTF-8".into())
    );
    let (status, words) = lookup(xiangqi.as_ptr(), junk.as_ptr(), nothing);
    assert_eq!((status, words.starts_with("fen: ")), (-2, true), "{words}");
    let (status, words) = lookup(variant.as_ptr(), nothing, c"h8 q1".as_ptr());
    assert_eq!(
        (status, words.starts_with("moves: ")),
        (-2, true),
        "{words}"
    );
    let mut out = empty();
    let mut count = 0;
    let cells = [9_u8; 225];
    // SAFETY: the library refuses null pointers and invalid cells; every other pointer has the room
    // that it needs.
    unsafe {
        let text = variant.as_ptr();
        assert_eq!(
            kagetsu_book_lookup(
                ptr::null(),
                text,
                nothing,
                nothing,
                &raw mut out,
                1,
                &raw mut count
            ),
            -1
        );
        assert_eq!(
            kagetsu_book_lookup(
                book,
                text,
                nothing,
                nothing,
                ptr::null_mut(),
                4,
                &raw mut count
            ),
            -1
        );
        assert_eq!(
            kagetsu_book_lookup(
                book,
                text,
                nothing,
                nothing,
                &raw mut out,
                1,
                ptr::null_mut()
            ),
            -1
        );
        for (cells, length, side) in [
            (ptr::null(), 225, 1),
            (cells.as_ptr(), 224, 1),
            (cells.as_ptr(), 225, 3),
            (cells.as_ptr(), 225, 1),
        ] {
            let status = kagetsu_book_lookup_stones(
                book,
                text,
                cells,
                length,
                side,
                &raw mut out,
                1,
                &raw mut count,
            );
            assert_eq!(status, -1, "{length} {side}: {}", last_error());
        }
        for temperature in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                kagetsu_book_pick(
                    book,
                    text,
                    nothing,
                    nothing,
                    temperature,
                    1,
                    0,
                    &raw mut out
                ),
                -1
            );
        }
        kagetsu_book_close(book);
        kagetsu_book_close(ptr::null_mut());
        assert_eq!(kagetsu_book_positions(ptr::null()), 0);
        assert_eq!(
            CStr::from_ptr(kagetsu_version()).to_str(),
            Ok(env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn files_that_are_no_books_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read(compiled(folder.path())).expect("it is there");
    let try_open = |bytes: Option<&[u8]>| {
        let path = folder.path().join("tried.kbk");
        let _ = std::fs::remove_file(&path);
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).expect("room for it");
        }
        let path = c(path.to_str().expect("a plain name"));
        let mut book = std::ptr::dangling_mut();
        // SAFETY: a text, and room for an address.
        let status = unsafe { kagetsu_book_open(path.as_ptr(), &raw mut book) };
        assert!(book.is_null(), "an error leaves no book");
        (status, last_error())
    };
    assert_eq!(try_open(None).0, -3);
    assert_eq!(try_open(Some(b"not a book")).0, -3);
    let mut flipped = whole.clone();
    flipped[20] ^= 1;
    let (status, words) = try_open(Some(&flipped));
    assert_eq!((status, words.contains("tried.kbk")), (-4, true), "{words}");
    assert_eq!(try_open(Some(&whole[..whole.len() - 1])).0, -4);
}

#[test]
fn file_that_changes_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = compiled(folder.path());
    let (variant, moves) = (c("freestyle-15"), c("h8 a1 h9"));
    let look_up = |book: *const Open| {
        let (mut out, mut count) = (empty(), 0);
        // SAFETY: an open book, texts, and room for a move and a number.
        unsafe {
            kagetsu_book_lookup(
                book,
                variant.as_ptr(),
                ptr::null(),
                moves.as_ptr(),
                &raw mut out,
                1,
                &raw mut count,
            )
        }
    };
    let (used, fresh) = (open(&path), open(&path));
    assert_eq!(look_up(used), 0);
    std::fs::write(&path, []).expect("room");
    assert_eq!((look_up(used), look_up(fresh)), (0, -3));
    let text = last_error();
    assert!(text.contains("changed while it was open"), "{text}");
    for book in [used, fresh] {
        // SAFETY: it is open, and not used after this.
        unsafe { kagetsu_book_close(book) };
    }
}
