//! The explorer page in a real browser.

use std::time::Duration;

use kagetsu_tests::{Browser, Program, Scratch};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::servers::http::Door;
use crate::world::{until, worker};

/// The page as people meet it, on desks and in hands, by day and by night.
const LOOKS: [(u32, u32, bool); 4] = [
    (1440, 900, false),
    (1440, 900, true),
    (390, 844, false),
    (390, 844, true),
];

fn text(selector: &str) -> String {
    format!("document.querySelector('{selector}').innerText")
}

#[test]
fn a_person_follows_the_book_and_watches_it_grow() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut door = Door::start(&["--book", book.to_str().expect("a plain name")]);
    let _worker = worker(&door.grpc);
    // A four of Black's that White has not stopped: won at the next move but two at the latest.
    let body = json!({"name": "won", "variant": "freestyle-15", "roots": ["h8 a1 i8 a3 j8 a5"], "positions": 3, "depth": 4});
    door.post("/api/v1/jobs", &body);
    until("the book", || {
        (door.get("/api/v1/jobs")[0]["state"] == "done").then_some(())
    });

    // The link holds the position; the book's moves are on the board with their proofs.
    browser.look(1440, 900, false);
    browser.open(&format!(
        "http://{}/#/freestyle-15/h8,a1,i8,a3,j8,a5",
        door.http
    ));
    browser.until("document.querySelectorAll('.stone').length === 6");
    browser.until("/^W[135]$/.test(document.querySelector('.mark.best text').textContent)");
    browser.until(&format!("{}.includes('Black to move')", text(".headline")));
    browser.until(&format!("{}.includes('wins in')", text("tr.best")));
    browser.until("document.querySelector('.headline .seal')");
    // The best move by its key, and back by another; the browser's own way back too.
    browser.press("b");
    browser.until("document.querySelectorAll('.stone').length === 7");
    browser.press("ArrowLeft");
    browser
        .until("document.querySelectorAll('.stone').length === 6 && location.hash.includes('@6')");
    browser.press("Home");
    browser.until("document.querySelectorAll('.stone').length === 0");
    browser.value("history.back()");
    browser.until("document.querySelectorAll('.stone').length === 6");
    // A move by mouse, by keyboard on the board, and typed.
    browser.open(&format!("http://{}/#/freestyle-15", door.http));
    browser.until("document.querySelectorAll('.stone').length === 0");
    browser.click("[data-point=h8]");
    browser.until("location.hash === '#/freestyle-15/h8'");
    browser.value("document.querySelector('#board').focus()");
    for key in ["ArrowUp", "ArrowUp", "Enter"] {
        browser.press(key);
    }
    browser.until("location.hash === '#/freestyle-15/h8,h9'");
    browser.click("#moves");
    browser.type_text("j10 i9");
    browser.press("Enter");
    browser.until("location.hash === '#/freestyle-15/h8,h9,j10,i9'");
    browser.click("#moves");
    browser.type_text("z99");
    browser.press("Enter");
    browser.until(&format!("{}.includes('z99')", text(".toasts")));

    // Chinese, and English again.
    browser.value("document.activeElement.blur()");
    browser.click("#language");
    browser.until(&format!(
        "{}.includes('黑方走棋') && document.documentElement.lang === 'zh-CN'",
        text(".headline")
    ));
    browser.click("#language");
    browser.until(&format!("{}.includes('Black to move')", text(".headline")));

    // An analysis deepens, and has so much time that it is at work when it is stopped.
    browser.click("#tab-analysis");
    browser.until("document.querySelector('#effort')");
    let most = "(() => { const e = document.querySelector('#effort'); e.selectedIndex = e.options.length - 1; \
                e.dispatchEvent(new Event('change')); })()";
    browser.value(most);
    browser.click("#analyze");
    browser.until("document.querySelectorAll('.deepened li').length >= 2");
    browser.click("#stop");
    browser.until(&format!("{}.includes('Stopped')", text(".progress")));

    // Pieces: chosen, and moved where the rules let them; the river is there.
    browser.open(&format!("http://{}/#/xiangqi", door.http));
    browser.until("document.querySelectorAll('.tile-piece').length === 32 && document.querySelector('.river')");
    browser.click("[data-point=h2]");
    browser.until("document.querySelectorAll('.target').length === 12");
    browser.click("[data-point=e2]");
    browser.until("location.hash === '#/xiangqi/h2e2' && document.querySelector('.came')");
    browser.open(&format!("http://{}/#/surakarta", door.http));
    browser.until(
        "document.querySelectorAll('.stone').length === 24 && document.querySelectorAll('path.line').length === 8",
    );

    // The cluster: a build is started, seen to grow, paused, resumed and given up.
    browser.click("#to-cluster");
    browser.click(".start summary");
    browser.until("document.querySelector('[name=name]').value === 'surakarta'");
    let choose = |browser: &mut Browser, name: &str, value: &str| {
        let select = format!("document.querySelector('[name={name}]')");
        browser.value(&format!(
            "{select}.value = '{value}'; {select}.dispatchEvent(new Event('change'))"
        ));
    };
    let fill = |browser: &mut Browser, name: &str, value: &str| {
        browser.value(&format!(
            "document.querySelector('[name={name}]').value = '{value}'"
        ));
    };
    // Each aim has the fields that belong to it; what the server refuses is said, and what was filled in stays.
    let fields = "[...document.querySelectorAll('.start form > [data-field]')].filter((e) => !e.hidden)\
                  .map((e) => e.dataset.field).join(' ')";
    for (aim, own) in [
        ("prove", "name roots side nodes positions"),
        ("deepen", "name roots depth top before positions"),
        ("drop-out", "name roots depth top positions"),
        ("one-side", "name roots side depth top positions"),
    ] {
        choose(&mut browser, "aim", aim);
        assert_eq!(browser.value(fields), json!(own), "{aim}");
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
    browser.until(&format!("{}.includes('z99')", text(".start .complaint")));
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
    browser.until(&format!(
        "{}.includes('priority 7')",
        text("[data-job=seen]")
    ));
    let job = "[data-job=seen]";
    browser.until(&format!("{}.includes('running')", text(job)));
    browser.until(&format!("document.querySelector('{job} .plot .curve')"));
    browser.until("document.querySelectorAll('.workers tbody tr').length === 1");
    browser.click(&format!("{job} [data-action=pause]"));
    browser.until(&format!("{}.includes('paused')", text(job)));
    browser.click(&format!("{job} [data-action=resume]"));
    browser.until(&format!("{}.includes('running')", text(job)));
    browser.click(&format!("{job} [data-action=cancel]"));
    browser.click("dialog.confirm button.danger");
    browser.until(&format!("{}.includes('cancelled')", text(job)));

    // Nothing is lost on a phone, and every control has a name.
    for (width, height, is_dark) in LOOKS {
        browser.look(width, height, is_dark);
        for view in [
            "#/freestyle-15/h8,a1,i8,a3,j8,a5",
            "#/xiangqi/h2e2",
            "#/surakarta",
            "#/cluster",
        ] {
            browser.open(&format!("http://{}/{view}", door.http));
            browser.until("document.querySelector('main') && document.body.innerText.length > 40");
            browser.value(
                "for (const form of document.querySelectorAll('.start, .more')) form.open = true",
            );
            browser.until("document.documentElement.scrollWidth <= innerWidth + 1");
            let nameless = "[...document.querySelectorAll('button, a, input, select, [role=img]')].filter((e) => \
                            e.getClientRects().length && !(e.ariaLabel || e.innerText || e.labels?.length || \
                            e.textContent)).map((e) => e.outerHTML)";
            assert_eq!(browser.value(nameless), json!([]), "{view}");
            if let Some(folder) = std::env::var_os("KAGETSU_SCREENSHOTS") {
                std::thread::sleep(Duration::from_millis(700));
                let name = format!(
                    "{}-{width}-{}.base64",
                    view.replace(['#', '/', ','], ""),
                    if is_dark { "dark" } else { "light" }
                );
                std::fs::write(
                    std::path::Path::new(&folder).join(name),
                    browser.screenshot(),
                )
                .expect("room for it");
            }
        }
    }

    // The page talks to its own server alone, and nothing in it went wrong.
    let here = format!("http://{}/", door.http);
    // What a browser draws by itself, as the sign of a field for a day, it has with it.
    let is_here =
        |url: &String| url.starts_with(&here) || url.starts_with("data:") || url == "about:blank";
    let abroad: Vec<String> = browser
        .requests()
        .into_iter()
        .filter(|url| !is_here(url))
        .collect();
    assert_eq!(abroad, Vec::<String>::new());
    assert_eq!(browser.errors(), Vec::<String>::new());
    drop(browser);
    door.coordinator.signal(Signal::SIGTERM);
    assert_eq!(door.coordinator.wait().code(), Some(0), "a clean stop");
}

#[test]
fn a_person_shows_a_token_to_do_more_than_look() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scratch = Scratch::new();
    let [book, tokens] = ["book", "tokens"].map(|name| {
        scratch
            .path(name)
            .to_str()
            .expect("a plain name")
            .to_owned()
    });
    let made =
        Program::Kagetsu.run(&["token", "new", "--tokens", &tokens, "--role", "admin", "me"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    let pill = text(".pill");
    let enter = |browser: &mut Browser, token: &str| {
        browser.click("dialog.token input");
        browser.type_text(token.trim());
        browser.click("dialog.token button.primary");
    };

    // Where the public may look, it looks; a token that nobody knows is told so, one that is known lets the page do more.
    let door = Door::start(&["--book", &book, "--tokens", &tokens, "--public"]);
    browser.look(1440, 900, false);
    browser.open(&format!("http://{}/#/freestyle-15/h8", door.http));
    browser.until(&format!(
        "{pill}.includes('read-only') && document.querySelectorAll('.stone').length === 1"
    ));
    assert_eq!(
        browser.value("document.querySelector('dialog.token') === null"),
        json!(true)
    );
    browser.click("#token");
    browser.until(&format!(
        "{}.includes('do more here')",
        text("dialog.token p")
    ));
    enter(&mut browser, "kagetsu_0");
    browser.until(&format!(
        "{}.includes('not known here')",
        text("dialog.token p")
    ));
    enter(&mut browser, &made.stdout);
    browser.until(&format!(
        "!{pill}.includes('read-only') && !document.querySelector('dialog.token')"
    ));
    browser.click("#to-cluster");
    browser.until("document.querySelector('.start').getClientRects().length === 1");

    // Where it may not, the page asks at once, and not again and again.
    let closed = Door::start(&[
        "--book",
        &book.replace("book", "other"),
        "--tokens",
        &tokens,
    ]);
    browser.open(&format!("http://{}/#/freestyle-15/h8", closed.http));
    browser.until(&format!(
        "{}.includes('wants a token')",
        text("dialog.token p")
    ));
    browser.value("document.querySelector('dialog.token').close()");
    browser.until(&format!(
        "{pill}.includes('wants a token') && !document.querySelector('dialog.token')"
    ));
    browser.click("#token");
    enter(&mut browser, &made.stdout);
    browser.until("document.querySelectorAll('.stone').length === 1");
    assert_eq!(browser.errors(), Vec::<String>::new());
}
