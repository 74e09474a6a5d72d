//! Helpers of the tests that walk through the page in a browser.

use std::path::Path;
use std::time::Duration;

use kagetsu_tests::{Browser, Running, Scratch};
use serde_json::json;

use crate::servers::http::HttpCoordinator;
use crate::world::{until, worker};

/// Widths, heights and colour schemes (true for dark) of the windows.
pub(crate) const WINDOWS: [(u32, u32, bool); 4] = [
    (1400, 900, false),
    (1400, 900, true),
    (820, 1180, false),
    (390, 844, true),
];

/// The text of an element, as an expression.
pub(crate) fn text(selector: &str) -> String {
    format!("document.querySelector('{selector}').innerText")
}

/// English words on the page but names that stay as they are: games, programs, engines, proofs.
pub(crate) const ENGLISH_WORDS: &str = "(document.body.innerText.match(/[A-Za-z][A-Za-z-]{3,}/g) ?? []).filter((word) => \
    !/^(kagetsu.*|english|freestyle.*|standard.*|renju.*|xiangqi|surakarta|swap|seen.*|deepen.*|dir|book)$/i.test(word))";

/// Lists texts with too little contrast.
pub(crate) const CONTRAST: &str = include_str!("scripts/contrast.js");
/// Visible controls without a name.
pub(crate) const NAMELESS: &str = "[...document.querySelectorAll('button, a, input, select, textarea, [role=img]')]\
    .filter((e) => e.getClientRects().length && !(e.ariaLabel || e.innerText || e.labels?.length || \
    e.textContent)).map((e) => e.outerHTML)";

/// Texts that a narrow window squeezes into a column, and a chosen tab that it hides.
pub(crate) const SQUEEZED: &str = include_str!("scripts/squeezed.js");

/// A browser, and a coordinator whose page it shows.
pub(crate) struct PageWorld {
    pub(crate) browser: Browser,
    _worker: Option<Running>,
    pub(crate) server: HttpCoordinator,
    _scratch: Scratch,
}

impl PageWorld {
    /// Starts them with an empty book and one worker; `None` without a browser.
    pub(crate) fn start() -> Option<Self> {
        let world = Self::idle()?;
        let worker = worker(&world.server.grpc);
        Some(Self {
            _worker: Some(worker),
            ..world
        })
    }

    /// Starts them with an empty book and no worker; `None` without a browser.
    pub(crate) fn idle() -> Option<Self> {
        let browser = Browser::start()?;
        let scratch = Scratch::new();
        let book = scratch.path("book");
        let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
        Some(Self {
            browser,
            server,
            _worker: None,
            _scratch: scratch,
        })
    }
}

/// Builds positions after a root, and waits for the end of the build.
pub(crate) fn build(
    server: &HttpCoordinator,
    name: &str,
    variant: &str,
    root: &str,
    positions: u32,
) {
    build_top(server, (name, variant), root, positions, 3);
}

/// The same with this many exact values in each position.
pub(crate) fn build_top(
    server: &HttpCoordinator,
    (name, variant): (&str, &str),
    root: &str,
    positions: u32,
    top: u32,
) {
    let body = json!({"name": name, "variant": variant, "roots": [root], "positions": positions, "depth": 2, "top": top});
    server.post("/api/v1/jobs", &body);
    until("the book", || {
        let jobs = server.get("/api/v1/jobs");
        let all = jobs.as_array()?;
        let job = all.iter().find(|job| job["name"] == name)?;
        (job["state"] == "done").then_some(())
    });
}

/// Sets the value of a field as a user does.
pub(crate) fn set_value(browser: &mut Browser, selector: &str, value: &str) {
    browser.evaluate(&format!(
        "(() => {{ const e = document.querySelector('{selector}'); e.value = {}; \
         e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }})()",
        json!(value)
    ));
}

/// Keeps a picture of the screen in the folder `KAGETSU_SCREENSHOTS`, if that is given.
pub(crate) fn keep_picture(browser: &mut Browser, view: &str, width: u32, is_dark: bool) {
    let folder = kagetsu_builders::needed!(std::env::var_os("KAGETSU_SCREENSHOTS"));
    // Colours and panels move for a moment.
    std::thread::sleep(Duration::from_millis(500));
    let shade = if is_dark { "dark" } else { "light" };
    let path = Path::new(&folder).join(format!("{view}-{width}-{shade}.base64"));
    std::fs::write(path, browser.screenshot()).expect("room for it");
}
