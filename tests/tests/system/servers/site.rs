//! A site of static files, and the program for browsers in Node and in a real browser.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kagetsu_builders::{is_installed, skip};
use kagetsu_tests::{Browser, Finished, Program, Scratch};
use serde_json::{Value, json};

use crate::servers::browsing::{SQUEEZED, WINDOWS, text as text_of};
use crate::world::{kagetsu_line, refused, text};

const PROOF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/system/commands/freestyle-15-h8-l9.proof"
);
/// Positions of the five games.
const POSITIONS: &str = include_str!("scripts/positions.json");
/// Positions that a search of each may visit.
const NODES: u64 = 6_000;
/// A clock that jumps after the first calls, as that of a tab which the browser froze.
const FROZEN: &str = "const clock = performance.now.bind(performance); let asked = 0;
    performance.now = () => clock() + ((asked += 1) > 200 ? 60_000 : 0);\n";

/// Waits until the browser keeps the site.
const KEPT: &str = "navigator.serviceWorker.ready.then(() => true)";
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

#[test]
fn program_for_browsers_searches_as_the_native_one() {
    let folder =
        kagetsu_builders::needed!(built().filter(|_| is_installed("node", &["--version"])));
    let found = node_module("search.mjs", &[&folder, Path::new(&NODES.to_string())]);
    let found: Vec<Value> = serde_json::from_str(&found).expect("JSON");
    let positions: Vec<[String; 2]> = serde_json::from_str(POSITIONS).expect("JSON");
    assert_eq!(found.len(), positions.len());
    for ([variant, moves], found) in positions.iter().zip(found) {
        let moves = moves.replace(' ', ",");
        let native = kagetsu_line(&format!(
            "analyze --variant {variant} --moves={moves} --nodes {NODES} --top 1 --threads 1 --json"
        ));
        let native: Value = serde_json::from_str(native.stdout.trim()).expect("JSON");
        let names = ["best", "score", "win_in", "loss_in", "depth"];
        let native = names.map(|name| native[name].clone());
        assert_eq!(found, json!(native), "{variant} {moves}");
    }
}

/// Runs a module beside this test in Node, and returns what it printed.
fn node_module(name: &str, arguments: &[&Path]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system/servers/scripts");
    let mut node = Command::new("node");
    let run = node.arg(folder.join(name)).args(arguments).output();
    let run = run.expect("node runs");
    assert!(run.status.success(), "{name}: {run:?}");
    String::from_utf8(run.stdout).expect("text")
}

#[test]
fn program_for_browsers_names_what_is_wrong() {
    if let Some(folder) = built().filter(|_| is_installed("node", &["--version"])) {
        node_module("program.mjs", &[&folder, Path::new(PROOF)]);
    }
}

/// A file of the folder where `.ci/run` installs what the checks take from npm, if it could.
pub(super) fn from_npm(file: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/npm");
    let folder = std::env::var_os("KAGETSU_NPM").map_or(beside, PathBuf::from);
    let file = folder.join("node_modules").join(file);
    if !file.exists() {
        println!("skipped: npm could not fetch {}", file.display());
    }
    file.exists().then_some(file)
}

#[test]
fn installed_package_is_typed_and_bundled() {
    let tools = ["npm", "tsc", "esbuild", "node"];
    let are_there = tools.iter().all(|tool| is_installed(tool, &["--version"]));
    let folder = kagetsu_builders::needed!(built().filter(|_| are_there));
    let (scratch, vite) = (Scratch::new(), from_npm("vite"));
    let with = vite.clone().unwrap_or_default();
    node_module("package.mjs", &[&folder, scratch.folder(), &with]);
    let mut browser = kagetsu_builders::needed!(vite.and_then(|_| Browser::start()));
    let server = FileServer::start(&scratch.path("example/dist"));
    browser.open(&server.1);
    browser.wait_for(&format!("{}.includes('depth')", text_of("output")));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// A server of files, and its address.
struct FileServer(Child, String);

impl FileServer {
    /// Starts `python3 -m http.server` of a folder, which knows nothing of Kagetsu and refuses
    /// ranges.
    fn start(folder: &Path) -> Self {
        let mut python = Command::new("python3");
        python.args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]);
        Self::of(python.current_dir(folder))
    }

    /// Starts a server that prints its address.
    fn of(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it is executable");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            let begun = line.split_once("http://");
            let (_, rest) = begun.or_else(|| line.split_once("http on "))?;
            let address = rest.split(['/', ' ']).next()?;
            Some(format!("http://{address}/"))
        });
        Self(child, address.expect("an address"))
    }
}

/// A server of files that gives a book once `/go` was asked for.
const SLOW_SERVER: &str = "
import http.server, threading
go = threading.Event()
class Slow(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/go': go.set()
        if self.path.endswith(('.kbk', '.xz')) and 'weights' not in self.path: go.wait()
        super().do_GET()
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Slow)
print(f'http://127.0.0.1:{server.server_port}/', flush=True)
server.serve_forever()";

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.expect("cp runs").success());
}

impl Drop for FileServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A browser, and a place for a book and its site.
struct SiteWorld {
    browser: Browser,
    scratch: Scratch,
    wasm: PathBuf,
    book: PathBuf,
    site: PathBuf,
}

impl SiteWorld {
    fn new() -> Option<Self> {
        let wasm = built()?.join("kagetsu.wasm");
        let mut browser = Browser::start()?;
        browser.set_window(1400, 900, false);
        let scratch = Scratch::new();
        let (book, site) = (scratch.path("small.book"), scratch.path("site"));
        Some(Self {
            browser,
            scratch,
            wasm,
            book,
            site,
        })
    }

    fn grow(&self, positions: u32) {
        let book = text(&self.book);
        let line = format!("build --book {book} --variant standard-15 --moves h8 --depth 2");
        kagetsu_line(&format!("{line} --positions {positions}"));
    }

    fn export(&self, wasm: &Path, book: &Path, more: &str) -> Finished {
        let (wasm, book, site) = (text(wasm), text(book), text(&self.site));
        let line = format!("export --format site --wasm {wasm} --book {book} --out {site}{more}");
        kagetsu_line(&line)
    }

    /// Waits until an element of the page says this.
    fn says(&mut self, selector: &str, words: &str) {
        let said = format!("{}.includes({})", text_of(selector), json!(words));
        self.browser.wait_for(&said);
    }

    /// Waits until there is such an element.
    fn see(&mut self, selector: &str) {
        let seen = format!("document.querySelector({})", json!(selector));
        self.browser.wait_for(&seen);
    }

    /// Drops a file on the page.
    fn drop_file(&mut self, name: &str, content: &str) {
        // The page is drawn after its pill.
        self.see("#main");
        self.browser.evaluate(&format!(
            "(() => {{ const dataTransfer = new DataTransfer(); \
             dataTransfer.items.add(new File([{}], {})); \
             const how = {{ bubbles: true, cancelable: true, dataTransfer }}; \
             document.querySelector('#main').dispatchEvent(new DragEvent('drop', how)); }})()",
            json!(content),
            json!(name)
        ));
    }

    /// The texts of the regions that a screen reader announces, from the accessibility tree.
    fn heard(&mut self) -> Vec<String> {
        let tree = self
            .browser
            .command("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().expect("nodes").clone();
        let is_live = |node: &&Value| {
            let properties = node["properties"].as_array().into_iter().flatten();
            let mut live = properties.filter(|property| property["name"] == "live");
            live.any(|property| property["value"]["value"] == "polite")
        };
        let children = |node: &Value| node["childIds"].as_array().cloned().unwrap_or_default();
        let live: Vec<Value> = nodes.iter().filter(is_live).flat_map(children).collect();
        let said = nodes.iter().filter(|node| live.contains(&node["nodeId"]));
        said.map(|node| node["name"]["value"].to_string()).collect()
    }

    /// Lets the engine deepen the position on the page.
    fn analyse(&mut self) {
        self.browser.click("#tab-analysis");
        self.browser.click("#analyze");
        self.see(".deepened li + li");
    }
}

impl Drop for SiteWorld {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.browser.errors(), Vec::<String>::new());
        }
    }
}

#[test]
fn site_shows_book_engine_and_proof_without_a_server() {
    let mut world = kagetsu_builders::needed!(SiteWorld::new());
    world.grow(6);
    let more = format!(" --with {PROOF} --title Small");
    world.export(&world.wasm, &world.book, &more);
    let worker = world.site.join("page/engine/worker.js");
    let begun = std::fs::read_to_string(&worker).expect("text");
    std::fs::write(&worker, format!("{FROZEN}{begun}")).expect("room");
    let server = FileServer::start(&world.site);
    let address = server.1.clone();
    world.browser.open(&address);
    world.see("table.verdicts tbody tr + tr");
    world
        .browser
        .wait_for("document.title === 'Small' && location.hash === '#/standard-15/h8'");
    world.says(".pill", "in this browser");
    world.says(".site-title", "Small");
    world.analyse();
    world.says(".progress", "the browser paused it for 60 s");
    // A screen reader hears the best move: it stands in a region that is announced.
    world.says("[role=status]", "Depth");
    let heard = world.heard();
    assert!(heard.iter().any(|text| text.contains("Depth")), "{heard:?}");
    world.browser.click("#stop");
    world.says(".progress", "Stopped");
    // A game is dropped on the page; the page stays there when it is loaded again, and goes back.
    let stones = |count: u32| format!("document.querySelectorAll('.stone').length === {count}");
    world.drop_file("game.sgf", "(;GM[4]SZ[15];B[hh];W[ih];B[ig])");
    world.browser.wait_for(&stones(3));
    world.browser.command("Page.reload", json!({}));
    world.see(".pill.up");
    world.browser.wait_for(&stones(3));
    world.browser.press("ArrowLeft");
    world.browser.wait_for(&stones(2));
    world.browser.evaluate("history.back()");
    world.browser.wait_for(&stones(3));
    // A game is annotated: the book names where it is left, and the engine what each move costs.
    world
        .browser
        .open(&format!("{address}#/standard-15/h8,a1,i9,a3,a5,a7"));
    world.browser.click("#tab-analysis");
    world.browser.click("#annotate");
    world.see(".annotated .doubt");
    world.see(".graph:not([hidden]) .curve");
    // The certificate is checked here, and answers as a book: White plays, the proof replies.
    world.browser.click("#tab-proof");
    world.browser.click("[data-proof]");
    world.says(".panel", "is right: Black wins");
    world
        .browser
        .open(&format!("{address}#/freestyle-15/h8,l9,g9,h10,f8,g8"));
    world.see(".headline .seal");
    world.browser.click("#tab-practice");
    world.browser.click("#practise-first");
    world.browser.click("[data-point=a1]");
    world.says(".log", "leaves the proof");
    // Without its host the site still opens, from what the browser kept.
    world.browser.evaluate(KEPT);
    drop(server);
    world
        .browser
        .open(&format!("{address}?again#/standard-15/h8"));
    world.see("table.verdicts tbody tr + tr");
    world.browser.click("#language");
    world.says(".pill", "本浏览器");
}

#[test]
fn site_says_in_a_sentence_what_is_wrong() {
    let mut world = kagetsu_builders::needed!(SiteWorld::new());
    let missing = world.scratch.path("none.wasm");
    let foreign = world.scratch.path("foreign.txt");
    std::fs::write(&foreign, "GIF89a").expect("room");
    let made = world.export(&missing, Path::new(PROOF), "");
    refused(&made, &["--wasm"]);
    let made = world.export(&world.wasm, &foreign, "");
    refused(&made, &["no compiled book and no certificate"]);
    world.grow(3);
    world.export(&world.wasm, &world.book, "");
    let whole = std::fs::read(world.site.join("small.kbk")).expect("it was written");
    let engine = "page/engine/kagetsu.js";
    let lacking = std::fs::read_to_string(world.site.join(engine)).expect("text");
    let lacking = format!("delete globalThis.WebAssembly;\n{lacking}");
    // The page reads the book whole, so that it may be a certificate.
    let site = std::fs::read_to_string(world.site.join("site.json")).expect("text");
    let site = site.replace("\"parts\":true", "\"parts\":false");
    std::fs::write(world.site.join("site.json"), site).expect("room");
    let proof = std::fs::read(PROOF).expect("it is there");
    let [cut, shorter] = [&whole, &proof].map(|file| &file[..file.len() - 40]);
    let faults: [(&str, &[u8], &str); 7] = [
        ("kagetsu.wasm", b"broken", "needs WebAssembly|无法运行引擎"),
        (engine, lacking.as_bytes(), "needs WebAssembly|无法运行引擎"),
        ("small.kbk", cut, "is damaged|开局库已损坏"),
        ("small.kbk", shorter, "missing or was cut off|不完整"),
        ("small.kbk", b"", "missing or was cut off|不完整"),
        ("small.kbk", b"GIF89a", "not a compiled book|开局库已损坏"),
        ("site.json", b"<html>", "site cannot be read|无法读取本站"),
    ];
    for (number, (file, content, sentences)) in faults.iter().enumerate() {
        let faulty = world.scratch.path(&format!("faulty-{number}"));
        copy(&world.site, &faulty);
        std::fs::write(faulty.join(file), content).expect("room");
        let server = FileServer::start(&faulty);
        world.browser.open(&server.1);
        for sentence in sentences.split('|') {
            world.says(".notice", sentence);
            world.browser.click("#language");
        }
        // The engine needs no book.
        if *file == "small.kbk" {
            world.analyse();
            world.browser.click("#stop");
        }
    }
    // Files that are dropped on the page, and a certificate that the server lost meanwhile.
    world.export(&world.wasm, Path::new(PROOF), "");
    let server = FileServer::start(&world.site);
    world.browser.open(&server.1);
    world.see(".pill.up");
    for (file, content, sentence) in [
        ("none.proof", "", "The file is empty."),
        ("none.kbk", "GIF89a", "none.kbk is not a compiled book"),
    ] {
        world.drop_file(file, content);
        world.says(".results-of-proofs", sentence);
    }
    drop(server);
    world
        .browser
        .evaluate("window.fetch = () => Promise.reject(new TypeError('none'))");
    world.browser.click("[data-proof]");
    world.says(".results-of-proofs", "missing or was cut off");
    world.export(&world.wasm, &world.book, "");
    // A browser with little memory: too little for the program, or for its search.
    let server = FileServer::start(&world.site);
    for pages in [60, 600] {
        let limit = format!("--js-flags=--wasm-max-mem-pages={pages}");
        world.browser = Browser::with(&[&limit]).expect("it was there");
        world.browser.set_window(1400, 900, false);
        world.browser.open(&server.1);
        if pages > 60 {
            world.browser.click("#tab-analysis");
            world.browser.click("#analyze");
        }
        world.says(".notice:not([hidden]), .toast", "lack of memory");
    }
}

#[test]
fn site_analyses_before_its_book_is_open() {
    let Some(mut world) = SiteWorld::new() else {
        return;
    };
    world.export(&world.wasm, Path::new(PROOF), "");
    let mut python = Command::new("python3");
    python.args(["-c", SLOW_SERVER]).current_dir(&world.site);
    let server = FileServer::of(&mut python);
    world.browser.open(&server.1);
    world.says(".pill", "Loading the book … · in this browser");
    world.see(".stone");
    world.says("#panel", "Loading the book");
    world.analyse();
    world.browser.click("#stop");
    world.browser.evaluate("fetch('/go').then(() => true)");
    world.says(".pill", "406 positions · in this browser");
    world.browser.click("#tab-book");
    world.says("#panel", "e9");
}

#[test]
fn site_shows_what_a_second_export_changed() {
    let mut world = kagetsu_builders::needed!(SiteWorld::new());
    world.grow(3);
    world.export(&world.wasm, &world.book, "");
    let again = world.export(&world.wasm, &world.book, "");
    assert!(again.stdout.contains(" 0 of them new"), "{again:?}");
    let open = [
        "open",
        text(&world.site),
        "--no-browser",
        "--http",
        "127.0.0.1:0",
    ];
    let ranged = FileServer::of(&mut Program::Kagetsu.command(&open));
    for (server, positions) in [(ranged, 4), (FileServer::start(&world.site), 5)] {
        let address = server.1.clone();
        world.browser.open(&address);
        world.says(".pill", &format!("{} positions", positions - 1));
        world.browser.evaluate(KEPT);
        world.grow(positions);
        world.export(&world.wasm, &world.book, "");
        world
            .browser
            .evaluate("document.dispatchEvent(new Event('visibilitychange'))");
        world.says(".pill", &format!("{positions} positions"));
        world.browser.wait_for(
            "fetch('site.json').then((now) => now.text()).then(async (now) => { window.isKept = \
             now === await (await caches.match(new URL('site.json', location))).text(); }) && window.isKept",
        );
        drop(server);
        world.browser.open(&format!("{address}?again"));
        world.says(".pill", &format!("{positions} positions"));
    }
}

#[test]
fn site_has_no_finding_of_axe() {
    let (Some(axe), Some(mut world)) = (from_npm("axe-core/axe.min.js"), SiteWorld::new()) else {
        return;
    };
    world.export(&world.wasm, Path::new(PROOF), "");
    let server = FileServer::start(&world.site);
    let axe = std::fs::read_to_string(axe).expect("text");
    for (width, height, is_dark) in WINDOWS {
        world.browser.set_window(width, height, is_dark);
        let proven = format!("{}?{width}{is_dark}#/freestyle-15/h8,l9", server.1);
        world.browser.open(&proven);
        if is_dark {
            let click = "document.querySelector('#language').click() ?? true";
            world.browser.wait_for(click);
        }
        for view in ["book", "tree", "analysis", "practice", "proof", "notes"] {
            match view {
                "analysis" => world.analyse(),
                _ => world.browser.click(&format!("#tab-{view}")),
            }
            let script = format!(
                "if (!window.axe) {{ {axe}\n }} axe.run().then(({{ violations }}) => \
                 violations.map(({{ id, nodes }}) => [id, nodes[0].html].join()))"
            );
            for script in [&script, SQUEEZED] {
                assert_eq!(world.browser.evaluate(script), json!([]), "{view} {width}");
            }
        }
    }
}

#[test]
fn reading_server_offers_engine_in_the_browser() {
    let mut world = kagetsu_builders::needed!(SiteWorld::new());
    // The program for browsers lies beside the program, as in a release.
    let beside = world.scratch.path("kagetsu");
    Program::Kagetsu.copy_to(&beside);
    std::fs::copy(&world.wasm, beside.with_extension("wasm")).expect("room");
    let weights = world.wasm.with_file_name("kagetsu-weights");
    copy(&weights, &world.scratch.path("kagetsu-weights"));
    world.grow(3);
    let mut serve = Command::new(beside);
    let places = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    serve.args(["serve", "--book", text(&world.book)]);
    let server = FileServer::of(serve.args(places));
    world.browser.open(&server.1);
    world.analyse();
    world.browser.click("#stop");
    world.browser.click("#tab-proof");
    world.says(".panel", "by the rules alone");
}
