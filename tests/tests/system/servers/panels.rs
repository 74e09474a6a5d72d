//! The panels of the explorer page, its dialogs, and the contents of the book, in a real browser.

use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Position, Variant};
use kagetsu_tests::{Browser, Program, Scratch};
use serde_json::json;

use crate::servers::browsing::{
    CONTRAST, ENGLISH_WORDS, NAMELESS, PageWorld, SQUEEZED, WINDOWS, build, keep_picture,
    set_value, text,
};
use crate::servers::http::HttpCoordinator;
use crate::world::until;

#[test]
fn page_begins_where_the_book_begins() {
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    build(server, "seen-x", "xiangqi", "h2e2", 12);
    build(server, "seen-r", "renju-15", "h8 i9 i8", 5);
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
    set_value(browser, "#variant", "renju-15");
    browser.wait_for("location.hash === '#/renju-15/h8,i9,i8'");
    browser.wait_for(&format!("{}.includes('Ungetsu')", text(".headline")));

    // Moves in Chinese and WXF, shown and typed; values in percent.
    browser.click("#settings");
    set_value(browser, "[name=notation]", "chinese");
    set_value(browser, "[name=unit]", "percent");
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
    browser.wait_for("document.querySelector('.growth .curve')");
    // The ways to the holes begin at a root.
    browser.wait_for(
        "[...document.querySelectorAll('.holes a')].every((a) => /#.(xiangqi.h2e2|renju-15.h8,i9,i8)/.test(a.hash))",
    );
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
    let mut world = kagetsu_builders::needed!(PageWorld::start());
    let (browser, server) = (&mut world.browser, &world.server);
    build(server, "seen", "freestyle-15", "h8 i9", 25);
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

    // The picture is a PNG too; headless browsers save it in place of copying.
    let drawn = browser.evaluate(&format!(
        "import('http://{}/page/formats/write.js').then((write) => \
         write.drawPicture(document.querySelector('#board svg'))).then((blob) => \
         createImageBitmap(blob).then((image) => [blob.type, image.width, image.height]))",
        server.http
    ));
    assert_eq!(drawn, json!(["image/png", 1200, 1200]));
    browser.click("#copy");
    browser.click("[data-copy=png]");
    browser.wait_for(&format!("{}.includes('picture')", text(".toasts")));
    browser.evaluate("document.querySelector('dialog.copy')?.close()");

    // Doubtful positions are listed, and one click has one searched again.
    browser.click("#tab-suspects");
    browser.wait_for("document.querySelectorAll('.suspect').length > 0");
    browser.wait_for(&format!("{}.includes('Doubt')", text(".suspect .reasons")));
    browser.click(".suspect [data-action=deepen]");
    until("the deepening", || {
        let jobs = server.get("/api/v1/jobs");
        let mut all = jobs.as_array()?.iter();
        let job = all.find(|job| {
            job["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("deepen"))
        })?;
        (job["state"] == "done").then_some(())
    });
    browser.click(".suspect .line");
    browser.wait_for("location.hash.startsWith('#/freestyle-15/h8,i9')");

    // A position is pasted as SGF and as a drawn board, and set up on the board.
    let paste = |browser: &mut Browser, written: &str| {
        browser.click("#edit");
        set_value(browser, "#paste", written);
        browser.click("[data-action=usePaste]");
    };
    paste(browser, "(;GM[4]SZ[15];B[hh];W[hg](;B[ig])(;B[gg]))");
    browser.wait_for("location.hash === '#/freestyle-15/h8,h9,i9'");
    let mut rows = vec!["...............".to_string(); 15];
    rows[7] = ".......XO......".into();
    paste(browser, &rows.join("\n"));
    browser.wait_for("location.hash === '#/freestyle-15/h8,i8'");
    browser.wait_for("document.querySelectorAll('.stone').length === 2");
    paste(browser, "(;GM[4]SZ[19];B[hh])");
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
    // The position comes again after a day: the browser's clock says when.
    browser.evaluate("Date.now = (now => () => now() + 2 * 86400e3)(Date.now)");
    browser.click("#tab-book");
    browser.click("#tab-practice");
    browser.click("#practise-due");
    browser.wait_for("document.querySelectorAll('.stone').length === 2");
    browser.click("#practice-end");
    // The file of `kagetsu practice` is read, too.
    let answers = json!({"seen": {"variant": "freestyle-15", "fen": "", "moves": "h8 i9 g7", "side": "second", "row": 0, "due": 1}});
    browser.evaluate(&format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{}], 'practice.json')); \
         const input = document.querySelector('#practice-file'); input.files = data.files; \
         input.dispatchEvent(new Event('change')); }})()",
        json!(answers.to_string())
    ));
    browser.wait_for(&format!("{}.includes('2')", text("#practise-due")));

    // Every view in both languages: names, contrast, no sideways scrolling, no English in Chinese.
    for language in ["en", "zh"] {
        if language == "zh" {
            browser.click("#menu");
            browser.click("#language");
        }
        for (width, height, is_dark) in WINDOWS {
            browser.set_window(width, height, is_dark);
            for view in [
                "book", "tree", "why", "suspects", "games", "notes", "practice", "contents",
                "cluster",
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
                // A phone lays a wider page out wider, so `innerWidth` does not tell.
                browser.wait_for(&format!(
                    "document.documentElement.scrollWidth <= {width} + 1"
                ));
                assert_eq!(browser.evaluate(NAMELESS), json!([]), "{view}");
                assert_eq!(browser.evaluate(SQUEEZED), json!([]), "{view} {width}");
                // Colours fade for a moment.
                browser.wait_for(&format!("({CONTRAST}).length === 0"));
                if language == "zh" {
                    browser.wait_for(&format!("({ENGLISH_WORDS}).length === 0"));
                }
                keep_picture(browser, &format!("{view}-{language}"), width, is_dark);
            }
        }
    }
    // The dialogs of the Chinese page, but for names of keys.
    for dialog in ["edit", "copy", "settings", "help"] {
        browser.open("about:blank");
        browser.open(&format!("http://{}/#/freestyle-15/h8,i9", server.http));
        browser.wait_for("document.querySelectorAll('.stone').length === 2");
        if ["settings", "help"].contains(&dialog) {
            browser.click("#menu");
        }
        browser.click(&format!("#{dialog}"));
        browser.wait_for("document.querySelector('dialog[open]').innerText.length > 20");
        let words = format!("({ENGLISH_WORDS}).filter((word) => !/^(home|enter)$/i.test(word))");
        assert_eq!(browser.evaluate(&words), json!([]), "{dialog}");
        assert_eq!(browser.evaluate(NAMELESS), json!([]), "{dialog}");
        browser.wait_for(&format!("({CONTRAST}).length === 0"));
        keep_picture(browser, &format!("{dialog}-zh"), 390, true);
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// The page writes moves of xiangqi itself; the program writes them for the command line.
#[test]
fn page_lists_imported_games() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let scratch = Scratch::new();
    let [file, book] = ["games.sgf", "book"].map(|name| {
        let path = scratch.path(name);
        path.to_str().expect("a plain name").to_string()
    });
    let games = "(;GM[4]SZ[15]PB[Ann]PW[Bo]EV[Cup]DT[2001-02-03]RE[B+];B[hh];W[ig];B[hg])\
                 (;GM[4]SZ[15]PB[Cy]PW[Ann]EV[Open]DT[2003]RE[W+];B[hh];W[ig];B[gg])";
    std::fs::write(&file, games).expect("room");
    let variant = ["--variant", "freestyle-15"];
    let import = ["import", "--format", "sgf", "--book", &book, &file];
    Program::Kagetsu.run(&[&import[..], &variant].concat()).ok();
    let server = HttpCoordinator::start(&["--book", &book]);
    browser.set_window(1440, 900, false);
    browser.open(&format!("http://{}/#/freestyle-15/h8,i9", server.http));
    browser.click("#tab-games");
    let shown = text(".found-games");
    browser.wait_for(&format!(
        "{shown}.includes('2 games') && {shown}.includes('Cup')"
    ));
    browser.wait_for("document.querySelectorAll('.scores tbody tr').length === 2");
    browser.wait_for(&format!("{}.startsWith('Cy – Ann')", text(".played li")));
    // The filter names a player, an event and a result.
    let count = "document.querySelectorAll('.played li').length";
    for (field, typed, games) in [("player", "bo", 1), ("event", "open", 0), ("player", "", 1)] {
        set_value(&mut browser, &format!(".filter [name={field}]"), typed);
        browser.wait_for(&format!("{count} === {games}"));
    }
    set_value(&mut browser, ".filter [name=event]", "");
    set_value(&mut browser, ".filter [name=result]", "1-0");
    browser.wait_for(&format!(
        "{count} === 1 && {shown}.includes('Ann – Bo 1-0')"
    ));
    browser.click(".played button");
    browser.wait_for("location.hash === '#/freestyle-15/h8,i9,h9@2'");
    // The same in Chinese, without English.
    browser.click("#language");
    browser.wait_for(&format!("{}.includes('1 局')", text(".found-games")));
    let names = "/^(ann|cup|games|sgf)$/i";
    browser.wait_for(&format!(
        "({ENGLISH_WORDS}).every((word) => {names}.test(word))"
    ));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn page_names_moves_as_the_program_does() {
    let mut world = kagetsu_builders::needed!(PageWorld::idle());
    let (browser, server) = (&mut world.browser, &world.server);
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

#[test]
fn opening_rules_keep_offered_fifth_moves() {
    let mut world = kagetsu_builders::needed!(PageWorld::idle());
    let (browser, server) = (&mut world.browser, &world.server);
    browser.set_window(1440, 900, false);
    let open = |browser: &mut Browser, line: &str| {
        browser.open(&format!("http://{}/#/{line}", server.http));
    };
    let says = |browser: &mut Browser, words: &str| {
        browser.wait_for(&format!("{}.includes('{words}')", text(".rule")));
    };
    let choose = |browser: &mut Browser, rule: &str| {
        let option = format!("document.querySelector('#opening-rule option[value={rule}]')");
        browser.wait_for(&option);
        set_value(browser, "#opening-rule", rule);
    };
    open(browser, "freestyle-15/a1,b2,c3");
    choose(browser, "swap2");
    says(browser, "puts two more stones");
    open(browser, "renju-15/h8,h9,i9");
    choose(browser, "taraguchi10");
    says(browser, "central 7×7");
    open(browser, "renju-15/h8,h9,i9,a1");
    says(browser, "Stone 4 is too far");
    choose(browser, "soosyrv8");
    says(browser, "0 of 8");
    // Offers of a symmetrical position: h7 is the image of none, i8 that of g8.
    open(browser, "renju-15/h8,h9,h10,h12");
    says(browser, "0 of 8");
    browser.click("#offer");
    for (point, words) in [("h7", "1 of 8"), ("g8", "2 of 8")] {
        browser.click(&format!("[data-point={point}]"));
        says(browser, words);
    }
    browser.click("[data-point=i8]");
    browser.wait_for(&format!("{}.includes('mirror image')", text(".notice")));
    browser.click("[data-point=h7]");
    says(browser, "1 of 8");
    // The book keeps them, and every symmetry of the board shows them.
    let kept = server.get("/api/v1/annotations?variant=renju-15&moves=h8,h7,h6,h4");
    let notes = kept["annotations"].as_array().expect("a list");
    assert_eq!((notes.len(), &notes[0]["text"]), (1, &json!("5")), "{kept}");
    open(browser, "renju-15/h8,h7,h6,h4");
    browser.wait_for(&format!("{}.includes('h4')", text(".moves")));
    says(browser, "1 of 8");
    browser.click(".offered .opening");
    browser.wait_for("/h8,h7,h6,h4,[gi]8$/.test(location.hash)");
    assert_eq!(browser.errors(), Vec::<String>::new());
}
