//! A site of static files, and the program for browsers in Node and in a real browser.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kagetsu_builders::{is_installed, skip};
use kagetsu_tests::{Browser, Program, Scratch};
use serde_json::{Value, json};

use crate::servers::browsing::text as text_of;
use crate::world::{kagetsu_line, refused, text};

const PROOF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/system/commands/freestyle-15-h8-l9.proof"
);
/// Positions of the five games, and how many positions a search of each may visit.
const POSITIONS: [(&str, &str); 20] = [
    ("freestyle-15", ""),
    ("freestyle-15", "h8 i9"),
    ("freestyle-15", "h8 i9 g7 g9"),
    ("freestyle-20", "k10 l11 k12"),
    ("standard-15", "h8"),
    ("standard-15", "h8 h9 j10"),
    ("standard-15", "h8 g9 i10 j9"),
    ("standard-19", "k10 l11"),
    ("renju-15", "h8 h9"),
    ("renju-15", "h8 h9 j10"),
    ("renju-15", "h8 i9 h6 h7"),
    ("renju-15", "h8 i9 g10 g9 i7"),
    ("xiangqi", ""),
    ("xiangqi", "h2e2"),
    ("xiangqi", "h2e2 h9g7 h0g2"),
    ("xiangqi", "c3c4 b9c7"),
    ("surakarta", ""),
    ("surakarta", "c2c3"),
    ("surakarta", "c2c3 d5d4"),
    ("surakarta", "b2b3 e5e4 c2c3"),
];
const NODES: u64 = 6_000;

/// The folder with the program for browsers, which `.ci/run` builds.
fn built() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/site");
    let folder = std::env::var_os("KAGETSU_SITE").map_or(beside, PathBuf::from);
    let is_built = folder.join("kagetsu.wasm").is_file();
    if !is_built {
        skip("kagetsu.wasm: run clients/web/build.sh target/site dev");
    }
    is_built.then_some(folder)
}

/// Runs a module in Node, and returns the JSON that it prints.
fn node(folder: &Path, script: &str) -> Value {
    let start = "import { readFileSync } from 'node:fs'; import { start } from './kagetsu.js'; \
                 const kagetsu = await start(readFileSync('kagetsu.wasm'), (name) => readFileSync(`kagetsu-weights/${name}.xz`));";
    let run = Command::new("node")
        .args(["--input-type=module", "-e", &format!("{start} {script}")])
        .current_dir(folder)
        .output()
        .expect("node runs");
    let printed = String::from_utf8_lossy(&run.stdout);
    serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{run:?}"))
}

#[test]
fn program_for_browsers_searches_as_the_native_one() {
    let Some(folder) = built().filter(|_| is_installed("node", &["--version"])) else {
        return;
    };
    let script = format!(
        "const all = {}.map(([variant, moves]) => kagetsu.analyze({{ variant, moves, nodes: {NODES}, top: 1 }})); \
         console.log(JSON.stringify(all.map(({{ best, score, win_in, loss_in, depth }}) => [best, score, win_in, loss_in, depth])));",
        json!(POSITIONS)
    );
    let found = node(&folder, &script);
    for ((variant, moves), found) in POSITIONS.iter().zip(found.as_array().expect("a list")) {
        let moves = moves.replace(' ', ",");
        let native = kagetsu_line(&format!(
            "analyze --variant {variant} --moves={moves} --nodes {NODES} --top 1 --threads 1 --json"
        ));
        let native: Value = serde_json::from_str(native.stdout.trim()).expect("JSON");
        let names = ["best", "score", "win_in", "loss_in", "depth"];
        let native = names.map(|name| native[name].clone());
        assert_eq!(found, &json!(native), "{variant} {moves}");
    }
}

#[test]
fn program_for_browsers_names_what_is_wrong() {
    let Some(folder) = built().filter(|_| is_installed("node", &["--version"])) else {
        return;
    };
    let whole = std::fs::read_to_string(PROOF).expect("a certificate");
    let claim = whole.lines().nth(3).expect("a claim");
    let script = format!(
        "const bytes = (text) => new TextEncoder().encode(text); const whole = {}; \
         const code = (does) => {{ try {{ return does().claim ?? 'fine'; }} catch (error) {{ return error.code; }} }}; \
         const file = (length) => ({{ length: () => length, read: () => new Uint8Array(9) }}); \
         console.log(JSON.stringify([ \
         () => kagetsu.verify(bytes(whole)), () => kagetsu.verify(bytes(whole.slice(0, -20))), \
         () => kagetsu.verify(bytes(whole.replace({}, 'claim win 1'))), \
         () => kagetsu.open(bytes('GIF89a')), () => kagetsu.open(bytes(whole)), \
         () => kagetsu.open(file(0)), () => kagetsu.open(file(9999)), \
         () => kagetsu.open({{ length() {{ throw new Error(); }} }}), \
         () => kagetsu.position({{ variant: 'chess' }}), \
         () => kagetsu.position({{ variant: 'freestyle-15', moves: 'h8 h8' }}), \
         () => kagetsu.lookup({{ variant: 'renju-15' }}), \
         () => kagetsu.call('nothing'), \
         () => kagetsu.analyze({{ variant: 'xiangqi', time_ms: 1 }}), \
         () => kagetsu.analyze({{ variant: 'xiangqi' }}, {{ mustStop: () => true }}), \
         ].map(code)));",
        json!(whole),
        json!(claim)
    );
    let (proof, book) = ("wrong_proof", "damaged_book");
    let codes = [
        "win",
        proof,
        proof,
        book,
        "fine",
        book,
        book,
        book,
        "bad_request",
        "bad_request",
        "not_in_book",
        "not_found",
        "fine",
        "fine",
    ];
    assert_eq!(node(&folder, &script), json!(codes));
}

/// The second side has an open four on a board that a mirror turns into itself.
#[test]
fn replies_that_mirror_each_other_are_one() {
    let Some(folder) = built().filter(|_| is_installed("node", &["--version"])) else {
        return;
    };
    let line = "a1 g8 p1 h8 a16 i8 p16 j8";
    let proof = format!(
        "kagetsu-proof 1\nvariant freestyle-16\nposition {line}\nclaim loss 2\n1 f8\n2 k8\n\
         3 - f8>2 *>1\nend 3\n"
    );
    let script = format!(
        "const proof = new TextEncoder().encode({}); const {{ positions }} = kagetsu.verify(proof); \
         kagetsu.open(proof); const query = {{ variant: 'freestyle-16', moves: '{line}' }}; \
         const {{ behind }} = kagetsu.call('transpositions', query); \
         console.log(JSON.stringify([positions > 0, kagetsu.lookup(query).answers.length, behind.length]));",
        json!(proof)
    );
    assert_eq!(node(&folder, &script), json!([true, 248, 124]));
}

/// Writes a file of a program that uses the package.
fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("room");
    std::fs::write(file, text).expect("room");
}

/// Runs a tool in a folder, and returns what it printed.
fn run(folder: &Path, tool: &str, arguments: &[&str]) -> String {
    let run = Command::new(tool)
        .args(arguments)
        .current_dir(folder)
        .output();
    let run = run.expect("an installed tool");
    assert!(run.status.success(), "{tool}: {run:?}");
    String::from_utf8(run.stdout).expect("text")
}

#[test]
fn installed_package_is_typed_and_bundled() {
    let tools = ["npm", "tsc", "esbuild", "node"];
    let are_there = tools.iter().all(|tool| is_installed(tool, &["--version"]));
    let Some(folder) = built().filter(|_| are_there) else {
        return;
    };
    let scratch = Scratch::new();
    let user = scratch.path("user");
    let installed = user.join("node_modules/kagetsu");
    std::fs::create_dir_all(&installed).expect("room");
    let packed = run(
        &folder,
        "npm",
        &[
            "pack",
            "--silent",
            "--offline",
            "--pack-destination",
            text(&user),
        ],
    );
    run(
        &user,
        "tar",
        &[
            "-xf",
            packed.trim(),
            "-C",
            text(&installed),
            "--strip-components=1",
        ],
    );
    write(&user, "package.json", r#"{"type": "module"}"#);
    let typed = "import { start, type Analysis } from 'kagetsu';
        const kagetsu = await start(new Uint8Array(), (name: string) => new TextEncoder().encode(name));
        const found: Analysis = kagetsu.analyze({ variant: 'renju-15', nodes: 1 });
        const plies: number | null = found.answers[0].win_in;
        // @ts-expect-error
        kagetsu.analyze({ moves: plies });";
    write(&user, "typed.ts", typed);
    let options =
        "--noEmit --strict --target es2022 --module node16 --moduleResolution node16 typed.ts";
    run(&user, "tsc", &options.split(' ').collect::<Vec<_>>());
    let bundled = "import { start } from 'kagetsu'; import { readFileSync } from 'node:fs';
        import program from 'kagetsu/kagetsu.wasm';
        import weights from 'kagetsu/kagetsu-weights/xiangqi.bin.xz';
        const file = (name) => readFileSync(new URL(name, import.meta.url));
        const kagetsu = await start(file(program), () => file(weights));
        console.log(kagetsu.analyze({ variant: 'xiangqi', depth: 1, top: 1 }).best.length);";
    write(&user, "bundled.js", bundled);
    let options = "bundled.js --bundle --format=esm --platform=node --loader:.wasm=file \
                   --loader:.xz=file --outdir=out --log-level=error";
    run(
        &user,
        "esbuild",
        &options.split_whitespace().collect::<Vec<_>>(),
    );
    assert_eq!(run(&user, "node", &["out/bundled.js"]).trim(), "4");
}

/// `python3 -m http.server` of a folder, which knows nothing of Kagetsu and refuses ranges.
struct FileServer(Child, String);

impl FileServer {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let port = line
            .split("port ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let url = format!("http://127.0.0.1:{}/", port.expect("a port"));
        Self(child, url)
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn site_shows_book_engine_and_proof_without_a_server() {
    let Some(folder) = built() else { return };
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scratch = Scratch::new();
    let (book, site) = (scratch.path("small.book"), scratch.path("site"));
    let wasm = folder.join("kagetsu.wasm");
    let (book, wasm) = (text(&book), text(&wasm));
    kagetsu_line(&format!(
        "build --book {book} --variant standard-15 --moves h8 --positions 6 --depth 2"
    ));
    let made = kagetsu_line(&format!(
        "export --format site --wasm {wasm} --book {book} --with {PROOF} --title Small --out {}",
        text(&site)
    ));
    assert_eq!(made.code, Some(0), "{made:?}");
    let server = FileServer::start(&site);
    browser.set_window(1400, 900, false);
    browser.open(&server.1);
    browser.wait_for("document.querySelectorAll('table.verdicts tbody tr').length > 1");
    browser.wait_for("document.title === 'Small' && location.hash === '#/standard-15/h8'");
    browser.wait_for(&format!("{}.includes('in this browser')", text_of(".pill")));
    browser.wait_for(&format!("{} === 'Small'", text_of(".site-title")));
    // The engine deepens until it is stopped, and the book answers meanwhile.
    browser.click("#tab-analysis");
    browser.click("#analyze");
    browser.wait_for("document.querySelectorAll('.deepened li').length >= 2");
    browser.click("#stop");
    browser.wait_for(&format!("{}.includes('Stopped')", text_of(".progress")));
    // A game is annotated: the book names where it is left, and the engine what each move costs.
    browser.open(&format!("{}#/standard-15/h8,a1,i9,a3,a5,a7", server.1));
    browser.click("#annotate");
    browser.wait_for("document.querySelectorAll('.annotated .doubt').length >= 1");
    browser.wait_for("document.querySelector('.graph:not([hidden]) .curve')");
    // The certificate is checked here, and answers as a book: White plays, the proof replies.
    browser.click("#tab-proof");
    browser.click("[data-proof]");
    browser.wait_for(&format!(
        "{}.includes('is right: Black wins')",
        text_of(".panel")
    ));
    browser.open(&format!("{}#/freestyle-15/h8,l9,g9,h10,f8,g8", server.1));
    browser.wait_for("document.querySelector('.headline .seal')");
    browser.click("#tab-practice");
    browser.click("#practise-first");
    browser.click("[data-point=a1]");
    browser.wait_for(&format!("{}.includes('leaves the proof')", text_of(".log")));
    // Without its host the site still opens, from what the browser kept.
    browser.evaluate("navigator.serviceWorker.ready.then(() => true)");
    let address = server.1.clone();
    drop(server);
    browser.open(&format!("{address}?again#/standard-15/h8"));
    browser.wait_for("document.querySelectorAll('table.verdicts tbody tr').length > 1");
    browser.click("#language");
    browser.wait_for(&format!("{}.includes('本浏览器')", text_of(".pill")));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn site_says_which_file_is_missing() {
    let Some(folder) = built() else { return };
    let scratch = Scratch::new();
    let site = scratch.path("site");
    let foreign = scratch.path("foreign.txt");
    std::fs::write(&foreign, "GIF89a").expect("room");
    let wasm = folder.join("kagetsu.wasm");
    let export = |wasm: &Path, book: &Path, word: &str| {
        let (wasm, book, site) = (text(wasm), text(book), text(&site));
        let line = format!("export --format site --wasm {wasm} --book {book} --out {site}");
        refused(&kagetsu_line(&line), &[word]);
    };
    export(&scratch.path("none.wasm"), Path::new(PROOF), "--wasm");
    export(&wasm, &foreign, "no compiled book and no certificate");
    kagetsu_line(&format!(
        "export --format site --wasm {} --book {PROOF} --out {}",
        text(&wasm),
        text(&site)
    ));
    std::fs::remove_file(site.join("kagetsu.wasm")).expect("it was written");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let server = FileServer::start(&site);
    browser.open(&server.1);
    browser.wait_for(&format!("{}.includes('kagetsu.wasm')", text_of(".notice")));
}

#[test]
fn reading_server_offers_engine_in_the_browser() {
    let Some(folder) = built() else { return };
    let Some(mut browser) = Browser::start() else {
        return;
    };
    // The program for browsers lies beside the program, as in a release.
    let scratch = Scratch::new();
    let (book, beside) = (scratch.path("b"), scratch.path("kagetsu"));
    let program = Program::Kagetsu.command(&[]);
    std::fs::copy(program.get_program(), &beside).expect("room");
    std::fs::copy(folder.join("kagetsu.wasm"), scratch.path("kagetsu.wasm")).expect("room");
    let weights = folder.join("kagetsu-weights");
    let to = scratch.path("");
    run(&to, "cp", &["-r", text(&weights), "."]);
    let book = text(&book);
    kagetsu_line(&format!(
        "build --book {book} --variant standard-15 --moves h8 --positions 3 --depth 2"
    ));
    let mut server = Command::new(beside)
        .args([
            "serve",
            "--book",
            book,
            "--listen",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is executable");
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
    let address = lines.find_map(|line| Some(line.ok()?.strip_prefix("http on ")?.to_string()));
    let server = FileServer(server, address.expect("an address"));
    browser.set_window(1400, 900, false);
    browser.open(&format!("http://{}/", server.1));
    browser.click("#tab-analysis");
    browser.click("#analyze");
    browser.wait_for("document.querySelectorAll('.deepened li').length >= 2");
    browser.click("#stop");
    browser.click("#tab-proof");
    browser.wait_for(&format!(
        "{}.includes('by the rules alone')",
        text_of(".panel")
    ));
    assert_eq!(browser.errors(), Vec::<String>::new());
}
