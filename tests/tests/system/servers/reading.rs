//! The page as a reader sees it: a book of games, bounds alone, a certificate, colours, sizes.

use kagetsu_tests::{Browser, Scratch};
use serde_json::json;

use crate::servers::browsing::{PageWorld, build_top, set_value, text};
use crate::world::{kagetsu_line, serve, text as path_text};

/// Six games: three with the cannon on the right, one with its mirror, and two others.
const GAMES: [(&str, &str); 6] = [
    ("h2e2 h9g7 h0g2", "1-0"),
    ("h2e2 h9g7 b0c2", "0-1"),
    ("h2e2 b9c7 h0g2", "1/2-1/2"),
    ("b2e2 b9c7 b0c2", "1-0"),
    ("c3c4 g6g5", "0-1"),
    ("g0e2 h7e7", "1/2-1/2"),
];

/// The luminance of an element's ground, from 0 to 1.
const GROUND: &str = "((selector) => { const [r, g, b] = getComputedStyle(document.querySelector(selector)).backgroundColor\
    .match(/[\\d.]+/g).map(Number); return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255; })";

/// The smallest letters on the board, in pixels on the screen.
const LETTERS: &str = "Math.min(...[...document.querySelectorAll('.board text:not(.river, .glyph)')].map((e) => \
    parseFloat(getComputedStyle(e).fontSize) * document.querySelector('.board').getScreenCTM().a))";

#[test]
fn book_of_games_shows_shares_and_lines() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let scratch = Scratch::new();
    let (file, book) = (scratch.path("games.pgn"), scratch.path("book"));
    let game = |(moves, result): &(&str, &str)| {
        format!(
            "[Event \"Cup\"]\n[Red \"Ann\"]\n[Black \"Bo\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
    };
    // A book of games may have a page of comment at its start.
    let games: String = GAMES.iter().map(game).collect();
    let games = games.replacen("\n\n", &format!("\n\n{{{}}} ", "棋评".repeat(300)), 1);
    std::fs::write(&file, games).expect("room");
    let (file, book) = (path_text(&file), path_text(&book));
    kagetsu_line(&format!("import --variant xiangqi --book {book} {file}")).ok();
    let (_server, _, http) = serve(book, &[]);
    browser.set_window(1440, 900, false);
    browser.open(&format!("http://{http}/"));
    // Mirrored moves are one; the bar has the results of the side to move.
    browser.wait_for("document.querySelectorAll('.verdicts tbody tr').length === 3");
    let first = text(".verdicts tbody tr");
    browser.wait_for(&format!(
        "{first}.startsWith('1h2e2') && {first}.includes('4 · 67%')"
    ));
    let bar = "[...document.querySelectorAll('tr.best .results span')].map((e) => `${e.className} ${e.style.width}`).join()";
    browser.wait_for(&format!("{bar} === 'first 50%,draws 25%,second 25%'"));
    browser.wait_for("document.querySelectorAll('.marks .arrow').length === 3");
    browser.wait_for(&format!("/h9g7|b9c7/.test({first})"));
    // Depth, nodes, engine and date are there on demand.
    let head = "[...document.querySelectorAll('.verdicts th')].map((e) => e.innerText).join()";
    browser.wait_for(&format!("{head} === 'Move,Games,Expected play'"));
    browser.click(".details");
    browser.wait_for(&format!("{head}.endsWith('Bound,Nodes,Engine,Date')"));
    // A wide window has the variations and the games beside the moves.
    browser.wait_for(&format!("{}.includes('Ann – Bo')", text(".aside")));
    browser.wait_for("document.querySelectorAll('.aside [role=treeitem]').length > 3");
    // The variations name a pair of mirrored moves as the list does, else by the usual one.
    let named = browser.evaluate(
        "(async () => { const { asPlayed } = await import('/page/board/openings.js'); \
         const { game } = await import('/page/board/games.js'); const own = [{ move: 'h0g2' }]; \
         const start = await (await fetch('/api/v1/position?variant=xiangqi')).json(); \
         return [own, []].map((listed) => asPlayed(game('xiangqi'), start, own, listed)[0].move); })()",
    );
    assert_eq!(named, json!(["h0g2", "b0c2"]));
    // A game that is dropped is opened, and the page says where it leaves the book.
    browser.evaluate(
        "(() => { const dataTransfer = new DataTransfer(); const text = '[Event \"A\"]\\n\\n1. C2=5 H8+7 2. R9+1\\n'; \
         dataTransfer.items.add(new File([text], 'a.pgn')); \
         document.querySelector('#board').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true })); })()",
    );
    browser.wait_for(&format!(
        "/Red leaves the book with move 3, a0a1; the book plays (h0g2|b0c2)/.test({})",
        text(".departure")
    ));
    browser.open(&format!("http://{http}/#/xiangqi"));
    // The games of a position are there before its moves are, and keep both moves of a pair.
    browser.evaluate(
        "(() => { const own = fetch; fetch = (url, with_) => own(url, with_).then((answer) => \
         new Promise((done) => setTimeout(done, /book|position/.test(url) ? 400 : 0, answer))); })()",
    );
    browser.press("b");
    browser.wait_for("document.querySelectorAll('.stage .came').length === 1");
    browser.click("#tab-games");
    browser.wait_for("document.querySelectorAll('.scores tbody tr').length === 2");
    browser.press("Home");
    browser.click("#tab-book");
    // A phone has one row above the board, letters that can be read, and tabs that go on.
    browser.set_window(390, 844, false);
    browser.wait_for("document.documentElement.scrollWidth <= 390");
    browser.wait_for("document.querySelector('.head').offsetHeight < 60");
    browser.wait_for(&format!("{LETTERS} >= 10.99"));
    browser.wait_for("document.querySelector('.tabs.more-behind')");
    browser.click("#menu");
    browser.click("#language");
    // A Chinese player reads files and games in the words of the game.
    let files = "[...document.querySelectorAll('.coordinate')].map((e) => e.textContent).join('')";
    browser.wait_for(&format!("{files} === '九1八2七3六4五5四6三7二8一9'"));
    browser.wait_for(&format!("{}.includes('炮二平五')", text("tr.best")));
    browser
        .wait_for("document.querySelector('#variant').selectedOptions[0].text.startsWith('象棋')");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn certificate_and_bounds_show_what_they_know() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let proof = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/system/engines/standard-15-h8-o15.proof"
    );
    let (_server, _, http) = serve(proof, &[]);
    browser.set_window(1440, 900, false);
    browser.open(&format!("http://{http}/"));
    browser.click(".details");
    browser.wait_for("document.querySelectorAll('.verdicts th').length > 6");
    let rows = text(".verdicts");
    browser.wait_for(&format!(
        "{rows}.includes('certificate') && !{rows}.includes('1970')"
    ));
    browser.wait_for("document.querySelector('td.num[title=\"0\"]').innerText === ''");
    browser.click("#tab-games");
    browser.wait_for(&format!(
        "{}.includes('keep no games')",
        text(".found-games")
    ));
    assert_eq!(browser.evaluate(&text(".toasts")), json!(""));
    browser.open(&format!("http://{http}/#/contents"));
    browser.wait_for(&format!(
        "{}.includes('no statistics')",
        text(".statistics")
    ));
    // Bounds alone are unfolded, and of two mirrored moves the page shows the one that people play.
    let scratch = Scratch::new();
    let (file, book) = (scratch.path("some.json"), scratch.path("book"));
    let verdict = |m: &str, bound: &str| {
        json!({"move": m, "score": 30, "bound": bound, "depth": 4, "nodes": 9, "line": [m],
               "proof": "none", "engine": "other", "date": "2026-11-20"})
    };
    let fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
    let start = json!({"variant": "xiangqi", "fen": fen, "side": "first", "answers": [verdict("b2e2", "exact")]});
    let moved = fen.replace("1C5C1", "4C2C1").replace(" w ", " b ");
    let bounds = json!({"variant": "xiangqi", "fen": moved, "side": "second",
                        "answers": [verdict("b9c7", "upper"), verdict("h9g7", "upper")]});
    std::fs::write(&file, format!("{start}\n{bounds}\n")).expect("room");
    let (file, book) = (path_text(&file), path_text(&book));
    kagetsu_line(&format!("import --format json --book {book} {file}")).ok();
    let (_server, _, http) = serve(book, &[]);
    browser.open(&format!("http://{http}/#/xiangqi/h2e2"));
    browser.wait_for("document.querySelectorAll('tr.bounded').length === 2");
    browser.open(&format!("http://{http}/#/xiangqi"));
    browser.wait_for(&format!("{}.includes('Best h2e2')", text(".headline")));
    browser.press("b");
    browser.wait_for("location.hash === '#/xiangqi/h2e2'");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn keys_forms_and_colours_follow_the_book() {
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    build_top(server, ("seen", "renju-15"), "h8 h9 j10", 4, 3);
    let page = format!("http://{}", server.http);
    browser.set_window(1440, 900, true);
    // The form of a build begins where the book does, though no position was seen.
    browser.open(&format!("{page}/#/cluster"));
    browser.wait_for(&format!("{}.includes('done')", text(".job")));
    browser.click(".start summary");
    browser.wait_for("document.querySelector('[name=variant]').value === 'renju-15'");
    browser.wait_for("document.querySelector('[name=roots]').value === 'h8 h9 j10'");
    // Black can be told from the dark page.
    browser.click("#to-explorer");
    browser.wait_for("document.querySelectorAll('.stone').length === 3");
    for part in [".balance .share", ".turn"] {
        let apart = browser.evaluate(&format!("Math.abs({GROUND}('{part}') - {GROUND}('body'))"));
        assert!(apart.as_f64() > Some(0.15), "{part}: {apart}");
    }
    // Two quick presses of a key play one move; a bad link keeps the line.
    browser.evaluate("for (const _ of [1, 2]) document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'b', bubbles: true }))");
    browser.wait_for("document.querySelectorAll('.stone').length === 4");
    let here = browser.evaluate("location.hash");
    browser.open(&format!("{page}/#/renju-15/h8,h8"));
    browser.wait_for(&format!("{}.includes('h8')", text(".notice")));
    browser.wait_for(&format!("location.hash === {here}"));
    // A message covers no button, not of a dialog either.
    set_value(browser, "#moves", "z99");
    browser.evaluate("document.querySelector('.type').requestSubmit()");
    browser.wait_for(&format!("{}.includes('z99')", text(".toasts")));
    let covered = "(() => { const t = document.querySelector('.toast').getBoundingClientRect(); \
        return [...document.querySelectorAll('button')].filter((e) => { const b = e.getBoundingClientRect(); \
        return b.width && b.left < t.right && b.right > t.left && b.top < t.bottom && b.bottom > t.top; }).map((e) => e.outerHTML); })()";
    assert_eq!(browser.evaluate(covered), json!([]));
    // Colours say how good a value is for the side to move, not its place in the list.
    let tones = browser.evaluate(&format!(
        "import('{page}/page/board/values.js').then(({{ signed, tone }}) => \
         [...[-269, -60, 0, 60, 269].map((score) => tone({{ score }})), signed(-3, 1), signed(-5, 1)].join())"
    ));
    assert_eq!(tones, json!("t4,t3,t2,t1,t0,0.0,−0.1"));
    // Charts have at most twelve bins with every position, and a hole is a few moves.
    let drawn = browser.evaluate(&format!(
        "import('{page}/page/contents/statistics.js').then(({{ Statistics }}) => {{ const drawn = new Statistics({{}}); drawn.build(); \
         const by_stones = Object.fromEntries([...Array(57).keys()].map((n) => [n + 3, 2])); \
         const moves = [...Array(60).keys()].map((n) => 'abcdefgh'[n % 8] + (1 + Math.floor(n / 8))); \
         drawn.known = {{ positions: 114, wins: 0, losses: 0, draws: 0, nodes: 9, by_stones, by_depth: {{}}, \
         holes: [{{ variant: 'renju-15', moves, move: 'o15', loss: 3 }}] }}; drawn.render(); \
         const counts = [...drawn.element.querySelectorAll('.chart .num')].map((e) => Number(e.textContent)); \
         return [counts.length <= 12, counts.reduce((a, b) => a + b), drawn.element.querySelector('.holes a').textContent]; }})"
    ));
    assert_eq!(drawn, json!([true, 114, "After 60 moves: a8 b8 c8 d8 o15"]));
    assert_eq!(browser.errors(), Vec::<String>::new());
}
