//! The panels of the explorer page, its dialogs, and the contents of the book, in a real browser.

use std::time::Duration;

use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Position, Variant};
use kagetsu_tests::{Browser, Scratch};
use serde_json::json;

use crate::servers::http::HttpCoordinator;
use crate::servers::page::{ENGLISH_WORDS, WINDOWS, text};
use crate::world::{until, worker};

/// Lists texts with too little contrast.
const CONTRAST: &str = include_str!("contrast.js");
/// Visible controls without a name.
const NAMELESS: &str = "[...document.querySelectorAll('button, a, input, select, textarea, [role=img]')]\
    .filter((e) => e.getClientRects().length && !(e.ariaLabel || e.innerText || e.labels?.length || \
    e.textContent)).map((e) => e.outerHTML)";

fn build(server: &HttpCoordinator, name: &str, variant: &str, root: &str, positions: u32) {
    let body = json!({"name": name, "variant": variant, "roots": [root], "positions": positions, "depth": 2, "top": 3});
    server.post("/api/v1/jobs", &body);
    until("the book", || {
        let jobs = server.get("/api/v1/jobs");
        let all = jobs.as_array()?;
        let job = all.iter().find(|job| job["name"] == name)?;
        (job["state"] == "done").then_some(())
    });
}

fn set_value(browser: &mut Browser, selector: &str, value: &str) {
    browser.evaluate(&format!(
        "(() => {{ const e = document.querySelector('{selector}'); e.value = {}; \
         e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }})()",
        json!(value)
    ));
}

#[test]
fn page_begins_where_the_book_begins() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let _worker = worker(&server.grpc);
    build(&server, "seen-x", "xiangqi", "h2e2", 12);
    build(&server, "seen-r", "renju-15", "h8 i9 i8", 5);
    browser.set_window(1440, 900, false);

    // The variant with most positions, at its root.
    browser.open(&format!("http://{}/", server.http));
    browser.wait_for("location.hash === '#/xiangqi/h2e2'");
    browser.wait_for(&format!("{}.includes('Central Cannon')", text(".headline")));
    // A position outside leads back to the book.
    browser.open(&format!("http://{}/#/xiangqi/a0a1", server.http));
    browser.wait_for(&format!("{}.includes('It begins at')", text(".empty")));
    browser.click(".empty .offers button");
    browser.wait_for("location.hash === '#/xiangqi/h2e2'");
    browser.open(&format!(
        "http://{}/#/xiangqi/h2e2,a9a8,a0a1,a8a9",
        server.http
    ));
    browser.wait_for(&format!("{}.includes('Back to move')", text(".empty")));
    browser.click(".empty .offers button");
    browser.wait_for("/#.xiangqi.h2e2,a9a8,a0a1,a8a9@[123]$/.test(location.hash)");
    // The choice of a variant leads to its root too.
    set_value(&mut browser, "#variant", "renju-15");
    browser.wait_for("location.hash === '#/renju-15/h8,i9,i8'");
    browser.wait_for(&format!("{}.includes('Ungetsu')", text(".headline")));

    // Moves in Chinese and WXF, shown and typed; values in percent.
    browser.click("#settings");
    set_value(&mut browser, "[name=notation]", "chinese");
    set_value(&mut browser, "[name=unit]", "percent");
    browser.click("dialog.settings .actions button");
    browser.open(&format!("http://{}/#/xiangqi/h2e2", server.http));
    browser.wait_for(&format!("{}.includes('炮二平五')", text(".moves")));
    browser.wait_for("/^[0-9]+%$/.test(document.querySelector('tr.best .value').innerText)");
    for (typed, line) in [("马8进7 馬二進三", "h9g7,h0g2"), ("R9=8", "i9h9")] {
        browser.click("#moves");
        browser.type_text(typed);
        browser.press("Enter");
        browser.wait_for(&format!("location.hash.endsWith('{line}')"));
        browser.evaluate("document.activeElement.blur()");
    }
    browser.wait_for(&format!("{}.includes('车9平8')", text(".moves")));
    browser.click("#moves");
    browser.type_text("炮五进九");
    browser.press("Enter");
    browser.wait_for(&format!("{}.includes('炮五进九')", text(".toasts")));

    // The contents: variants, roots, openings by name, statistics.
    browser.evaluate("document.activeElement.blur()");
    browser.click("#to-contents");
    browser.wait_for("document.querySelectorAll('.card').length === 2");
    let xiangqi = text(".card:nth-child(2) .roots");
    browser.wait_for(&format!("{xiangqi}.includes('炮二平五')"));
    browser.wait_for("document.querySelectorAll('.chart tbody tr').length > 3");
    browser.wait_for("document.querySelectorAll('.holes li').length > 0");
    browser.evaluate(
        "[...document.querySelectorAll('.card details')].forEach((e) => { e.open = true; })",
    );
    browser.wait_for("document.querySelectorAll('.openings li').length === 26");
    browser.wait_for("document.querySelectorAll('.openings li:not(.absent)').length >= 1");
    browser.click(".card:first-child .roots a");
    browser.wait_for("location.hash.startsWith('#/') && document.querySelector('#board')");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn panels_show_lines_reasons_notes_and_practice() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let _worker = worker(&server.grpc);
    build(&server, "seen", "freestyle-15", "h8 i9", 25);
    browser.set_window(1440, 900, false);
    browser.open(&format!("http://{}/", server.http));
    browser.wait_for("location.hash === '#/freestyle-15/h8,i9'");
    let best = server.get("/api/v1/book?variant=freestyle-15&moves=h8%20i9")["best"].clone();
    let best = best.as_str().expect("a best move").to_string();

    // The tree unfolds and jumps; by mouse and by keys.
    browser.click("#tab-tree");
    browser.wait_for("document.querySelectorAll('.tree [role=treeitem]').length > 3");
    let count = "document.querySelectorAll('.tree [role=treeitem]').length";
    let before = browser.evaluate(count).as_u64().expect("a number");
    browser.evaluate("document.querySelector('.tree [role=treeitem]').focus()");
    browser.press("ArrowLeft");
    browser.wait_for(&format!("{count} < {before}"));
    browser.press("ArrowRight");
    browser.wait_for(&format!("{count} === {before}"));
    browser.click(".tree ul .jump");
    browser.wait_for(&format!(
        "location.hash.startsWith('#/freestyle-15/h8,i9,{best},')"
    ));
    // The graph has the values along the line, and leads to its positions.
    browser.wait_for("document.querySelectorAll('.graph .point').length >= 2");
    browser.evaluate(
        "document.querySelectorAll('.graph .strip')[2].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
    );
    browser.wait_for("location.hash.endsWith('@2')");

    // The reasons: searched positions of the line, urgent moves first.
    browser.press("w");
    browser.wait_for(&format!("{}.includes('searched')", text("#panel")));
    browser.wait_for("document.querySelectorAll('.why').length === 2");
    browser.wait_for(&format!("{}.includes('seen')", text(".why")));
    let priorities = "[...document.querySelectorAll('.why:last-child tbody td:nth-child(3)')]\
                      .map((e) => Number(e.innerText)).filter((n) => !isNaN(n))";
    let sorted = format!(
        "(() => {{ const p = {priorities}; return p.length > 1 && p.every((n, at) => at === 0 || p[at - 1] <= n); }})()"
    );
    browser.wait_for(&sorted);

    // A note stays with the position, and is in the copied SGF.
    browser.click("#tab-notes");
    browser.click("#note");
    browser.type_text("Watch the left side");
    browser.click("#tab-book");
    browser.wait_for(&format!("{}.includes('note')", text(".headline")));
    browser.click("#copy");
    browser.evaluate("document.querySelector('[data-copy=sgf]').focus()");
    browser.wait_for(
        "document.querySelector('dialog.copy textarea').value.includes(';B[hh];W[ig]C[Watch the left side]')",
    );
    browser.evaluate("document.querySelector('[data-copy=picture]').focus()");
    browser.wait_for("document.querySelector('dialog.copy textarea').value.includes('<svg')");
    browser.click("dialog.copy .actions button");

    // A position is pasted as SGF and as a drawn board, and set up on the board.
    let paste = |browser: &mut Browser, written: &str| {
        browser.click("#edit");
        set_value(browser, "#paste", written);
        browser.click("[data-action=usePaste]");
    };
    paste(&mut browser, "(;GM[4]SZ[15];B[hh];W[hg](;B[ig])(;B[gg]))");
    browser.wait_for("location.hash === '#/freestyle-15/h8,h9,i9'");
    let mut rows = vec!["...............".to_string(); 15];
    rows[7] = ".......XO......".into();
    paste(&mut browser, &rows.join("\n"));
    browser.wait_for("location.hash === '#/freestyle-15/h8,i8'");
    paste(&mut browser, "(;GM[4]SZ[19];B[hh])");
    browser.wait_for(&format!(
        "{}.includes('19')",
        text("dialog.editor .complaint")
    ));
    browser.click("dialog.editor .palette button:nth-child(1)");
    browser.click("dialog.editor [data-point=c3]");
    browser.click("[data-action=useBoard]");
    browser.wait_for("location.hash.includes('c3') && !document.querySelector('dialog.editor')");
    browser.wait_for("document.querySelectorAll('.stone').length === 3");

    // Practice: the book answers, and says what a move costs.
    browser.open(&format!("http://{}/#/freestyle-15/h8,i9", server.http));
    browser.wait_for("document.querySelectorAll('.stone').length === 2");
    browser.click("#tab-practice");
    browser.click("#practise-first");
    browser.evaluate("document.activeElement.blur()");
    browser.press("b");
    browser.wait_for(&format!("{}.includes('as good as the best')", text(".log")));
    browser.wait_for(&format!(
        "document.querySelectorAll('.stone').length === 4 || {}.includes('no answer')",
        text("#panel")
    ));
    browser.click("#practice-end");

    // Every view in both languages: names, contrast, no sideways scrolling, no English in Chinese.
    for language in ["en", "zh"] {
        if language == "zh" {
            browser.click("#language");
        }
        for (width, height, is_dark) in WINDOWS {
            browser.set_window(width, height, is_dark);
            for view in [
                "book", "tree", "why", "notes", "practice", "contents", "cluster",
            ] {
                let link = match view {
                    "contents" | "cluster" => format!("#/{view}"),
                    _ => "#/freestyle-15/h8,i9".into(),
                };
                browser.open(&format!("http://{}/{link}", server.http));
                if link.starts_with("#/free") {
                    browser.click(&format!("#tab-{view}"));
                }
                browser.wait_for("document.body.innerText.length > 40 && !/Loading …|加载中/.test(document.body.innerText)");
                browser.wait_for("document.documentElement.scrollWidth <= innerWidth + 1");
                assert_eq!(browser.evaluate(NAMELESS), json!([]), "{view}");
                // Colours fade for a moment.
                browser.wait_for(&format!("({CONTRAST}).length === 0"));
                if language == "zh" {
                    browser.wait_for(&format!("({ENGLISH_WORDS}).length === 0"));
                }
                if let Some(folder) = std::env::var_os("KAGETSU_SCREENSHOTS") {
                    std::thread::sleep(Duration::from_millis(300));
                    let shade = if is_dark { "dark" } else { "light" };
                    let name = format!("{view}-{language}-{width}-{shade}.base64");
                    let path = std::path::Path::new(&folder).join(name);
                    std::fs::write(path, browser.screenshot()).expect("room for it");
                }
            }
        }
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// The page writes moves of xiangqi itself; the program writes them for the command line.
#[test]
fn page_names_moves_as_the_program_does() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let mut position = Position::start(Variant::XIANGQI);
    let (mut moves, mut wxf, mut chinese) = (Vec::new(), Vec::new(), Vec::new());
    for ply in 0..200 {
        let legal = position.legal_moves();
        let Some(&m) = legal.get(ply * 7_919 % legal.len().max(1)) else {
            break;
        };
        let game = position.game::<Xiangqi>();
        wxf.push(game.wxf(m));
        chinese.push(game.chinese(m));
        moves.push(position.write_move(m));
        position = position.play(m).expect("legal");
    }
    assert!(moves.len() > 50, "{moves:?}");
    browser.open(&format!("http://{}/", server.http));
    browser.wait_for("document.querySelector('.board')");
    for (style, expected) in [("wxf", wxf), ("chinese", chinese)] {
        let named = browser.evaluate(&format!(
            "Promise.all(['notation', 'games'].map((name) => import(`http://{}/page/board/${{name}}.js`)))\
             .then(([notation, games]) => notation.nameLine(games.game('xiangqi'), '', {}, '{style}'))",
            server.http,
            json!(moves),
        ));
        assert_eq!(named, json!(expected));
    }
}
