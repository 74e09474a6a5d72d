//! The errors of the page in Chinese, in a real browser.

use kagetsu_tests::Browser;
use serde_json::json;

use crate::servers::browsing::{PageWorld, set_value, text};
use crate::servers::http::HttpCoordinator;

#[test]
fn chinese_page_says_errors_in_chinese() {
    let mut world = kagetsu_builders::needed!(PageWorld::idle());
    let (browser, server) = (&mut world.browser, &world.server);
    browser.set_window(1440, 900, false);
    browser.open(&format!("http://{}/", server.http));
    browser.evaluate("localStorage.setItem('kagetsu.language', 'zh')");
    browser.open("about:blank");

    // Links, typed moves and builds that the server refuses.
    let links = "go-19 freestyle-99/h8 renju-15/h8,h8 freestyle-15/z99 xiangqi//x \
                 xiangqi//%E0%A4%A xiangqi/a0a9";
    for link in links.split(' ') {
        browser.open(&format!("http://{}/#/{link}", server.http));
        browser.wait_for("document.documentElement.lang === 'zh-CN'");
        browser.wait_for(&format!("{}.includes('无法打开链接')", text(".notice")));
        assert_eq!(browser.evaluate(SENTENCES), json!([]), "{link}");
        browser.open("about:blank");
    }
    browser.open(&format!("http://{}/#/freestyle-15/h8", server.http));
    browser.wait_for("document.querySelectorAll('.stone').length === 1");
    for typed in ["h8 h8", "q77", "nothing at all", "h8 i9 /"] {
        browser.evaluate("document.querySelector('.toasts').replaceChildren()");
        browser.evaluate("document.querySelector('#moves').value = ''");
        browser.click("#moves");
        browser.type_text(typed);
        browser.press("Enter");
        browser.wait_for("document.querySelector('.toasts').innerText.length > 3");
        assert_eq!(browser.evaluate(SENTENCES), json!([]), "{typed}");
    }
    browser.click("#to-cluster");
    browser.click(".start summary");
    browser.wait_for("document.querySelector('[name=name]').value !== ''");
    for (name, value) in [
        ("roots", "h8 h8"),
        ("roots", "h8"),
        ("fen", "x"),
        ("exclude", "z9"),
    ] {
        browser.evaluate("document.querySelector('.more').open = true");
        browser.evaluate("for (const name of ['roots', 'fen', 'exclude']) document.querySelector(`[name=${name}]`).value = ''");
        set_value(browser, &format!("[name={name}]"), value);
        set_value(
            browser,
            "[name=variant]",
            if value == "h8" {
                "xiangqi"
            } else {
                "freestyle-15"
            },
        );
        browser.evaluate("document.querySelector('.start .complaint').hidden = true");
        browser.click(".start button[type=submit]");
        browser.wait_for("!document.querySelector('.start .complaint').hidden");
        assert_eq!(browser.evaluate(SENTENCES), json!([]), "{name} {value}");
    }
    // The page has a Chinese text for every code, and for words that it does not know.
    let texts = browser.evaluate(&format!(
        "import('http://{}/page/base/messages.js').then(({{ errorText, serverText }}) => \
         [{}].map((code) => errorText({{ code, message: 'some words of the server' }})) \
         .concat(serverText('some words of the server', '未知')).filter((text) => /[a-z]{{3}}/i.test(text.replace('FEN', ''))))",
        server.http,
        ERROR_CODES.map(|code| format!("'{code}'")).join(",")
    ));
    assert_eq!(texts, json!([]));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Texts of a coordinator about workers and builds, and words of their translations.
const STATES: [(&str, &str); 17] = [
    ("no tasks", "暂无任务"),
    ("no tasks: no job is running", "没有进行中的任务"),
    ("no tasks: the job seen is paused", "任务 seen 已暂停"),
    ("no tasks of its variants", "棋种"),
    (
        "no tasks of its variants: the job seen is of xiangqi",
        "任务 seen 是 xiangqi",
    ),
    ("silent", "无响应"),
    ("draining", "正在退出"),
    ("on probation", "观察中"),
    ("tasks avoid it", "等待其他节点"),
    ("being examined", "校验中"),
    ("in quarantine", "已隔离"),
    ("no worker is connected", "没有连接的计算节点"),
    (
        "the only worker connected does not play renju-15",
        "没有计算节点支持 renju-15",
    ),
    (
        "none of the 3 workers connected plays renju-15",
        "没有计算节点支持 renju-15",
    ),
    (
        "none of the 3 workers that play renju-15 has passed its exam yet",
        "renju-15 的计算节点正在校验",
    ),
    (
        "the only worker that plays renju-15 gets no tasks",
        "renju-15 的计算节点没有任务",
    ),
    (
        "nothing is left to search after 3 of 9 positions",
        "已无局面可搜索（3 / 9）",
    ),
];

#[test]
fn page_has_chinese_for_states_of_workers() {
    let mut browser = kagetsu_builders::needed!(Browser::start());
    let server = HttpCoordinator::start(&[]);
    browser.open(&format!("http://{}/", server.http));
    browser.evaluate("localStorage.setItem('kagetsu.language', 'zh')");
    browser.open("about:blank");
    browser.open(&format!("http://{}/", server.http));
    browser.wait_for("document.documentElement.lang === 'zh-CN'");
    let english = STATES.map(|(english, _)| english);
    let translated = browser.evaluate(&format!(
        "import('http://{}/page/base/messages.js').then(({{ serverText }}) => \
         {}.map((text) => serverText(text, 'nothing')))",
        server.http,
        json!(english)
    ));
    for ((english, chinese), translated) in STATES.iter().zip(translated.as_array().expect("texts"))
    {
        let translated = translated.as_str().expect("a text");
        assert!(translated.contains(chinese), "{english}: {translated}");
    }
}

/// The codes of the API's errors but `damaged_book`, whose text names a command.
const ERROR_CODES: [&str; 19] = [
    "bad_request",
    "bad_body",
    "not_found",
    "not_in_book",
    "conflict",
    "forbidden",
    "no_token",
    "unknown_token",
    "unauthenticated",
    "role",
    "rate",
    "too_many_failures",
    "exhausted",
    "unavailable",
    "too_late",
    "too_long",
    "not_json",
    "internal",
    "http",
];
/// English sentences on the page: two words with a space between them.
const SENTENCES: &str = "(document.body.innerText.match(/[a-z]{2,} [a-z]{2,}/g) ?? [])";
