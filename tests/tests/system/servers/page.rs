//! The explorer page in a real browser.

use kagetsu_tests::{Browser, Program, Scratch};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::servers::browsing::{
    ENGLISH_WORDS, NAMELESS, PageWorld, WINDOWS, build_top, keep_picture, text,
};
use crate::servers::http::HttpCoordinator;
use crate::world::{until, worker};

/// Asks for something that the server does not have, and gives up while the answer arrives.
const ASK_AND_LEAVE: &str = "(async () => {
    const { get } = await import('/page/base/api.js');
    const own = window.fetch;
    const stop = new AbortController();
    window.fetch = async (_, { signal }) => new Response(new ReadableStream({
        start: (body) => signal.addEventListener('abort', () => body.error(signal.reason)),
    }), { status: 404 });
    const answer = get('/book', {}, stop.signal).then(() => 'an answer', (error) => error.name);
    window.fetch = own;
    await new Promise((done) => setTimeout(done));
    stop.abort();
    return answer;
})()";

#[test]
fn answer_given_up_is_no_error_of_the_server() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    browser.open(&format!("http://{}/", server.http));
    browser.wait_for("document.querySelector('#board')");
    assert_eq!(browser.evaluate(ASK_AND_LEAVE), "AbortError");
}

#[test]
fn page_explores_the_book_and_shows_builds() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let _worker = worker(&server.grpc);
    // White has not stopped Black's three stones, so Black wins within five plies.
    let body = json!({"name": "won", "variant": "freestyle-15", "roots": ["h8 a1 i8 a3 j8 a5"], "positions": 3, "depth": 4});
    server.post("/api/v1/jobs", &body);
    until("the book", || {
        (server.get("/api/v1/jobs")[0]["state"] == "done").then_some(())
    });

    // The link holds the position; the book's moves are on the board with their proofs.
    browser.set_window(1440, 900, false);
    browser.open(&format!(
        "http://{}/#/freestyle-15/h8,a1,i8,a3,j8,a5",
        server.http
    ));
    browser.wait_for("document.querySelectorAll('.stone').length === 6");
    browser.wait_for("/^W[135]$/.test(document.querySelector('.mark.best text').textContent)");
    browser.wait_for(&format!("{}.includes('Black to move')", text(".headline")));
    browser.wait_for(&format!("{}.includes('wins in')", text("tr.best")));
    browser.wait_for("document.querySelector('.headline .seal')");
    // Keys play the best move and go back; so does the browser's history.
    browser.press("b");
    browser.wait_for("document.querySelectorAll('.stone').length === 7");
    browser.press("ArrowLeft");
    browser.wait_for(
        "document.querySelectorAll('.stone').length === 6 && location.hash.includes('@6')",
    );
    browser.press("Home");
    browser.wait_for("document.querySelectorAll('.stone').length === 0");
    browser.evaluate("history.back()");
    browser.wait_for("document.querySelectorAll('.stone').length === 6");
    // A move by mouse, by keyboard on the board, and typed.
    browser.open(&format!("http://{}/#/freestyle-15", server.http));
    browser.wait_for("document.querySelectorAll('.stone').length === 0");
    browser.click("[data-point=h8]");
    browser.wait_for("location.hash === '#/freestyle-15/h8'");
    browser.evaluate("document.querySelector('#board').focus()");
    for key in ["ArrowUp", "ArrowUp", "Enter"] {
        browser.press(key);
    }
    browser.wait_for("location.hash === '#/freestyle-15/h8,h9'");
    browser.click("#moves");
    browser.type_text("j10 i9");
    browser.press("Enter");
    browser.wait_for("location.hash === '#/freestyle-15/h8,h9,j10,i9'");
    browser.click("#moves");
    browser.type_text("z99");
    browser.press("Enter");
    browser.wait_for(&format!("{}.includes('z99')", text(".toasts")));

    // Chinese, and English again.
    browser.evaluate("document.activeElement.blur()");
    browser.click("#language");
    browser.wait_for(&format!(
        "{}.includes('黑方走棋') && document.documentElement.lang === 'zh-CN'",
        text(".headline")
    ));
    browser.click("#language");
    browser.wait_for(&format!("{}.includes('Black to move')", text(".headline")));

    // An analysis deepens; it has time enough to be stopped before its end.
    browser.click("#tab-analysis");
    browser.wait_for("document.querySelector('#effort')");
    let most = "(() => { const e = document.querySelector('#effort'); e.selectedIndex = e.options.length - 1; \
                e.dispatchEvent(new Event('change')); })()";
    browser.evaluate(most);
    browser.click("#analyze");
    browser.wait_for("document.querySelectorAll('.deepened li').length >= 2");
    browser.click("#stop");
    browser.wait_for(&format!("{}.includes('Stopped')", text(".progress")));

    // Pieces are selected and moved to their legal targets.
    browser.open(&format!("http://{}/#/xiangqi", server.http));
    browser.wait_for("document.querySelectorAll('.tile-piece').length === 32 && document.querySelector('.river')");
    browser.click("[data-point=h2]");
    browser.wait_for("document.querySelectorAll('.target').length === 12");
    browser.click("[data-point=e2]");
    browser.wait_for("location.hash === '#/xiangqi/h2e2' && document.querySelector('.came')");
    browser.open(&format!("http://{}/#/surakarta", server.http));
    browser.wait_for(
        "document.querySelectorAll('.stone').length === 24 && document.querySelectorAll('path.line').length === 8",
    );

    // A build is started, observed, paused, resumed and cancelled.
    browser.click("#to-cluster");
    browser.click(".start summary");
    browser.wait_for("document.querySelector('[name=name]').value === 'surakarta'");
    let choose = |browser: &mut Browser, name: &str, value: &str| {
        let select = format!("document.querySelector('[name={name}]')");
        browser.evaluate(&format!(
            "{select}.value = '{value}'; {select}.dispatchEvent(new Event('change'))"
        ));
    };
    let fill = |browser: &mut Browser, name: &str, value: &str| {
        browser.evaluate(&format!(
            "document.querySelector('[name={name}]').value = '{value}'"
        ));
    };
    // Each aim shows its own fields. After an error of the server the fields keep their content.
    let fields = "[...document.querySelectorAll('.start form > [data-field]')].filter((e) => !e.hidden)\
                  .map((e) => e.dataset.field).join(' ')";
    for (aim, own) in [
        ("prove", "name roots side nodes positions"),
        ("deepen", "name roots depth top before positions"),
        ("drop-out", "name roots depth top positions"),
        ("one-side", "name roots side depth top positions"),
    ] {
        choose(&mut browser, "aim", aim);
        assert_eq!(browser.evaluate(fields), json!(own), "{aim}");
    }
    choose(&mut browser, "variant", "freestyle-15");
    choose(&mut browser, "side", "second");
    for (name, value) in [
        ("name", "seen"),
        ("roots", "h8 z99"),
        ("positions", ""),
        ("depth", "2"),
    ] {
        fill(&mut browser, name, value);
    }
    browser.click(".start button[type=submit]");
    browser.wait_for(&format!("{}.includes('z99')", text(".start .complaint")));
    browser.click(".start .more summary");
    for (name, value) in [
        ("roots", "h8; i9"),
        ("margin", "0.50"),
        ("priority", "7"),
        ("total_nodes", "900000000"),
    ] {
        fill(&mut browser, name, value);
    }
    browser.click(".start button[type=submit]");
    browser.wait_for(&format!(
        "{}.includes('priority 7')",
        text("[data-job=seen]")
    ));
    let job = "[data-job=seen]";
    browser.wait_for(&format!("{}.includes('running')", text(job)));
    browser.wait_for(&format!("document.querySelector('{job} .plot .curve')"));
    browser.wait_for("document.querySelectorAll('.workers tbody tr').length === 1");
    browser.click(&format!("{job} [data-action=pause]"));
    browser.wait_for(&format!("{}.includes('paused')", text(job)));
    browser.click(&format!("{job} [data-action=resume]"));
    browser.wait_for(&format!("{}.includes('running')", text(job)));
    browser.click(&format!("{job} [data-action=cancel]"));
    browser.click("dialog.confirm button.danger");
    browser.wait_for(&format!("{}.includes('cancelled')", text(job)));

    // No window needs sideways scrolling, and every control has a name.
    for (width, height, is_dark) in WINDOWS {
        browser.set_window(width, height, is_dark);
        for view in [
            "#/freestyle-15/h8,a1,i8,a3,j8,a5",
            "#/xiangqi/h2e2",
            "#/surakarta",
            "#/cluster",
        ] {
            browser.open(&format!("http://{}/{view}", server.http));
            browser
                .wait_for("document.querySelector('main') && document.body.innerText.length > 40");
            browser.evaluate(
                "for (const form of document.querySelectorAll('.start, .more')) form.open = true",
            );
            browser.wait_for(&format!(
                "document.documentElement.scrollWidth <= {width} + 1"
            ));
            assert_eq!(browser.evaluate(NAMELESS), json!([]), "{view}");
            let view = view.replace(['#', '/', ','], "");
            keep_picture(&mut browser, &view, width, is_dark);
        }
    }

    // The page requests nothing from other servers and has no errors.
    let here = format!("http://{}/", server.http);
    // The browser's own icons are `data:` addresses.
    let is_here =
        |url: &String| url.starts_with(&here) || url.starts_with("data:") || url == "about:blank";
    let others: Vec<String> = browser
        .requests()
        .into_iter()
        .filter(|url| !is_here(url))
        .collect();
    assert_eq!(others, Vec::<String>::new());
    assert_eq!(browser.errors(), Vec::<String>::new());
    drop(browser);
    server.coordinator.signal(Signal::SIGTERM);
    assert_eq!(server.coordinator.wait().code(), Some(0), "a clean stop");
}

#[test]
fn token_lets_the_page_change_things() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let scratch = Scratch::new();
    let [book, tokens] = ["book", "tokens"].map(|name| scratch.text(name));
    let made =
        Program::Kagetsu.run(&["token", "new", "--tokens", &tokens, "--role", "admin", "me"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    let pill = text(".pill");
    let enter = |browser: &mut Browser, token: &str| {
        browser.click("dialog.token input");
        browser.type_text(token.trim());
        browser.click("dialog.token button.primary");
    };

    // The public may read. An unknown token is rejected; a valid one lets the page do more.
    let server = HttpCoordinator::start(&["--book", &book, "--tokens", &tokens, "--public"]);
    browser.set_window(1440, 900, false);
    browser.open(&format!("http://{}/#/freestyle-15/h8", server.http));
    browser.wait_for(&format!(
        "{pill}.includes('read-only') && document.querySelectorAll('.stone').length === 1"
    ));
    assert_eq!(
        browser.evaluate("document.querySelector('dialog.token') === null"),
        json!(true)
    );
    browser.click("#token");
    browser.wait_for(&format!(
        "{}.includes('do more here')",
        text("dialog.token p")
    ));
    enter(&mut browser, "kagetsu_0");
    browser.wait_for(&format!(
        "{}.includes('not known here')",
        text("dialog.token p")
    ));
    enter(&mut browser, &made.stdout);
    browser.wait_for(&format!(
        "!{pill}.includes('read-only') && !document.querySelector('dialog.token')"
    ));
    browser.click("#to-cluster");
    browser.wait_for("document.querySelector('.start').getClientRects().length === 1");

    // Where the public may not read, the page asks for a token at once, but only once.
    let closed = HttpCoordinator::start(&[
        "--book",
        &book.replace("book", "other"),
        "--tokens",
        &tokens,
    ]);
    browser.open(&format!("http://{}/#/freestyle-15/h8", closed.http));
    browser.wait_for(&format!(
        "{}.includes('wants a token')",
        text("dialog.token p")
    ));
    browser.evaluate("document.querySelector('dialog.token').close()");
    browser.wait_for(&format!(
        "{pill}.includes('wants a token') && !document.querySelector('dialog.token')"
    ));
    browser.click("#token");
    enter(&mut browser, &made.stdout);
    browser.wait_for("document.querySelectorAll('.stone').length === 1");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn page_walks_lines_and_explains_bad_input() {
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    build_top(server, ("seen", "freestyle-15"), "h8 i9", 2, 2);
    let stones = |count: u32| format!("document.querySelectorAll('.stone').length === {count}");
    browser.set_window(1440, 900, true);
    browser.open(&format!("http://{}/#/freestyle-15/h8,i9", server.http));
    browser.wait_for(&stones(2));

    // Moves with a value come first; those with only an upper bound are folded and have no marks.
    let known = server.get("/api/v1/book?variant=freestyle-15&moves=h8%20i9");
    let answers = known["answers"].as_array().expect("answers");
    let bounded = answers
        .iter()
        .filter(|answer| answer["bound"] == "upper" && answer["proof"] == "none")
        .count();
    assert!(bounded > 0 && bounded < answers.len(), "{known}");
    let marks = answers.len() - bounded;
    browser.wait_for(&format!(
        "document.querySelectorAll('.mark').length === {marks}"
    ));
    browser.wait_for("document.querySelectorAll('tr.bounded').length === 0");
    browser.click(".fold");
    browser.wait_for(&format!(
        "document.querySelectorAll('tr.bounded').length === {bounded}"
    ));
    let score = known["score"].as_i64().expect("a score");
    let shown = format!("{}.{:02}", score.abs() / 100, score.abs() % 100);
    browser.wait_for(&format!("{}.includes('{shown}')", text(".headline")));

    // After a click the keys left and right walk the line, and so does the wheel.
    browser.click("[data-point=h9]");
    browser.wait_for(&stones(3));
    browser.press("ArrowLeft");
    browser.wait_for(&stones(2));
    browser.press("ArrowRight");
    browser.wait_for(&stones(3));
    browser.wheel("#board", -100);
    browser.wait_for(&stones(2));
    browser.wheel("#board", 100);
    browser.wait_for(&stones(3));

    // A typed line that begins with the moves on the board is the whole line.
    browser.click("#moves");
    browser.type_text("h8 i9 h9 j10");
    browser.press("Enter");
    browser.wait_for("location.hash === '#/freestyle-15/h8,i9,h9,j10'");

    // A bad link says what is wrong with it.
    browser.open(&format!("http://{}/#/surakarta/a1z9", server.http));
    browser.wait_for(&format!("{}.includes('a1z9')", text(".notice")));
    browser.wait_for("document.querySelector('#moves').placeholder.startsWith('a2a3')");
    browser.click(".notice button");
    browser.wait_for("document.querySelector('.notice').hidden");
    browser.open(&format!("http://{}/#/go-19", server.http));
    browser.wait_for(&format!("{}.includes('go-19')", text(".notice")));
    browser.wait_for("document.querySelector('#variant').value === 'freestyle-15'");

    // A Chinese page has no English sentence.
    browser.click("#language");
    browser.wait_for("document.documentElement.lang === 'zh-CN'");
    for view in ["#/freestyle-15/h8,i9", "#/renju-15/h8,h8", "#/cluster"] {
        browser.open(&format!("http://{}/{view}", server.http));
        browser.wait_for("document.querySelector('main') && document.body.innerText.length > 40");
        browser.wait_for(&format!("({ENGLISH_WORDS}).length === 0"));
    }
    browser.wait_for(&format!(
        "{}.includes('没有进行中的任务')",
        text(".workers")
    ));
    assert_eq!(browser.errors(), Vec::<String>::new());
}
