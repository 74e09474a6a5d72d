//! Looks of the page: themes, servers without a cluster, idle workers, labels of arrows.

use kagetsu_tests::{Browser, Program, Scratch};
use serde_json::json;

use crate::servers::browsing::{PageWorld, build, build_top, text};
use crate::world::{BookBuild, serve, until};

/// The number of arrows on a board.
const MAX_ARROWS: usize = 6;
/// The luminance, from 0 to 1, of a colour as the browser computes it.
const LUMINANCE: &str = "((colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number); \
                         return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255; })";

#[test]
fn stones_keep_their_colours_in_dark_mode() {
    let mut world = kagetsu_builders::needed!(PageWorld::idle());
    let (browser, server) = (&mut world.browser, &world.server);
    for is_dark in [false, true] {
        browser.set_window(1400, 900, is_dark);
        for (link, turn) in [
            ("#/freestyle-15/h8,i9", "first"),
            ("#/freestyle-15/h8,i9,h9", "second"),
        ] {
            browser.open(&format!("http://{}/{link}", server.http));
            browser.wait_for(&format!("document.querySelector('.headline .turn.{turn}')"));
            // The stones are filled by gradients, the mark of the side to move by one colour.
            for (side, gradient) in [("first", "black-stone"), ("second", "white-stone")] {
                let fill =
                    format!("document.querySelector('.stone.{side} .body').getAttribute('fill')");
                assert_eq!(browser.evaluate(&fill), json!(format!("url(#{gradient})")));
                let mean = format!(
                    "(() => {{ const all = [...document.querySelectorAll('#{gradient} stop')]\
                     .map((stop) => {LUMINANCE}(getComputedStyle(stop).stopColor)); \
                     return all.reduce((sum, one) => sum + one, 0) / all.length; }})()"
                );
                let mean = browser.evaluate(&mean).as_f64().expect("a number");
                let is_right = if side == "first" {
                    mean < 0.3
                } else {
                    mean > 0.7
                };
                assert!(is_right, "{side}, dark {is_dark}: {mean}");
            }
            let mark = format!(
                "{LUMINANCE}(getComputedStyle(document.querySelector('.turn')).backgroundColor)"
            );
            let mark = browser.evaluate(&mark).as_f64().expect("a number");
            assert_eq!(mark < 0.3, turn == "first", "dark {is_dark}: {mark}");
        }
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn server_without_cluster_names_no_worker() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    BookBuild {
        positions: 4,
        ..BookBuild::H8
    }
    .run_in(book);
    let (_server, _, http) = serve(book, &[]);
    browser.set_window(1400, 900, false);
    browser.open(&format!("http://{http}/"));
    browser.wait_for("location.hash === '#/freestyle-15/h8'");
    let names_worker = "/kagetsu-worker|No worker/.test(document.body.innerText)";
    browser.click("#tab-analysis");
    browser.wait_for(&format!(
        "{}.includes('only reads its book')",
        text("#panel")
    ));
    assert_eq!(browser.evaluate(names_worker), json!(false));
    assert_eq!(
        browser.evaluate("document.querySelector('#analyze') === null"),
        json!(true)
    );
    browser.click("#to-cluster");
    browser.wait_for(&format!(
        "{}.includes('belong to a coordinator')",
        text(".jobs")
    ));
    assert_eq!(browser.evaluate(names_worker), json!(false));
    assert_eq!(
        browser.evaluate("document.querySelector('.workers').checkVisibility()"),
        json!(false)
    );
    // A server that is silent for a while is no reader, and the page then goes where it was sent.
    browser.evaluate("window.own = fetch; fetch = () => Promise.reject(new TypeError())");
    browser.open(&format!("http://{http}/#/freestyle-15/h8,i9"));
    let silent = format!("{}.includes('does not answer')", text("#panel"));
    browser.wait_for(&silent);
    browser.evaluate("fetch = window.own");
    browser.wait_for("document.querySelectorAll('.stone').length === 2");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn idle_worker_shows_no_speed() {
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    build(server, "seen", "freestyle-15", "h8", 10);
    // The measured speed of a worker stays known, and fades, while it is idle.
    until("an idle worker that was fast", || {
        let workers = server.get("/api/v1/workers");
        let worker = &workers[0];
        (worker["tasks"] == 0 && worker["speed"].as_f64() > Some(0.0)).then_some(())
    });
    browser.set_window(1400, 900, false);
    browser.open(&format!("http://{}/#/cluster", server.http));
    browser.wait_for("document.querySelectorAll('.workers tbody tr').length === 1");
    let speed = text(".workers [data-label=Speed]");
    browser.wait_for(&format!("{speed} === '–'"));
    let total = text(".tile:last-child strong");
    browser.wait_for(&format!("{total} === '0'"));
    let listed = Program::Kagetsu.run(&["workers", "list", "--coordinator", &server.grpc]);
    let row = listed.stdout.lines().find(|line| line.contains("kagetsu "));
    assert!(row.is_some_and(|row| row.contains(" - ")), "{listed:#?}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn every_arrow_has_its_value() {
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    build(server, "seen-x", "xiangqi", "h2e2", 4);
    build_top(server, ("seen-s", "surakarta"), "", 2, 8);
    browser.set_window(1400, 900, false);
    for (variant, line) in [("xiangqi", "h2e2"), ("surakarta", "")] {
        browser.open(&format!("http://{}/#/{variant}/{line}", server.http));
        let known = server.get(&format!("/api/v1/book?variant={variant}&moves={line}"));
        let answers = known["answers"].as_array().expect("answers").iter();
        let exact = answers.filter(|answer| answer["bound"] == "exact").count();
        assert!(exact > 1, "{known}");
        browser.wait_for(&format!(
            "document.querySelectorAll('.marks .arrow').length === {}",
            exact.min(MAX_ARROWS)
        ));
        let labels = browser.evaluate(
            "[...document.querySelectorAll('.marks .arrow')].map(({ dataset: { move } }) => \
             document.querySelector(`.marks .label[data-move=\"${move}\"] text`)?.textContent)",
        );
        let mut labels = labels.as_array().expect("labels").iter();
        let is_value = |label: &str| label.trim_start_matches(['+', '−']).parse::<f64>().is_ok();
        assert!(
            labels.all(|label| label.as_str().is_some_and(is_value)),
            "{labels:?}"
        );
        // No label covers half of another.
        let covered = browser.evaluate(
            "(() => { const all = [...document.querySelectorAll('.marks .plate')].map((e) => e.getBoundingClientRect()); \
             return all.flatMap((a, at) => all.slice(at + 1).filter((b) => \
             Math.abs(a.x - b.x) < a.width / 2 && Math.abs(a.y - b.y) < a.height / 2)).length; })()",
        );
        assert_eq!(covered, json!(0), "{variant}");
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn proven_replies_are_counted() {
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    // Black has an open three, so that most of White's replies lose.
    let line = "h8 a1 i8 a3 j8";
    let body = json!({"name": "three", "variant": "freestyle-15", "roots": [line], "policy": "prove", "positions": 1});
    server.post("/api/v1/jobs", &body);
    until("the first search", || {
        (server.get("/api/v1/jobs")[0]["positions"] == 1).then_some(())
    });
    let known = server.get(&format!(
        "/api/v1/book?variant=freestyle-15&moves={}",
        line.replace(' ', "%20")
    ));
    let answers = known["answers"].as_array().expect("answers").iter();
    let lost = answers.filter(|answer| answer["proof"] == "loss").count();
    assert!(lost > 0 && known["proof"] == "none", "{known}");
    browser.set_window(1400, 900, false);
    browser.open(&format!(
        "http://{}/#/freestyle-15/{}",
        server.http,
        line.replace(' ', ",")
    ));
    let bar = "document.querySelector('.proving [role=progressbar]')";
    browser.wait_for(bar);
    for (name, value) in [("valuenow", lost), ("valuemax", 220)] {
        let shown = browser.evaluate(&format!("{bar}.getAttribute('aria-{name}')"));
        assert_eq!(shown, json!(value.to_string()));
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}
