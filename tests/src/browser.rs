use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Scratch;

/// How long a page may take for anything; only bounds a test that has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// Chromium without a window, spoken with by its DevTools protocol through pipes. It ends when this value is dropped.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    next: u64,
    session: String,
    events: Vec<Value>,
    _profile: Scratch,
}

impl Browser {
    /// Starts it with one empty page; `None`, with a line that says so, where there is no Chromium.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let found = Command::new("sh")
            .args(["-c", "command -v chromium || command -v chromium-browser"])
            .output()
            .ok()?;
        let path = String::from_utf8(found.stdout).ok()?.trim().to_string();
        if path.is_empty() {
            eprintln!("skipped: no chromium on this machine (Debian's package `chromium`)");
            return None;
        }
        let profile = Scratch::new();
        // The protocol's pipes are the file descriptors 3 and 4.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null",
            &path,
        ]);
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--remote-debugging-pipe",
        ]);
        command
            .arg(format!("--user-data-dir={}", profile.folder().display()))
            .arg("about:blank");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("chromium starts");
        let input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while output
                .read_until(0, &mut bytes)
                .is_ok_and(|length| length > 0)
            {
                bytes.pop();
                let message = serde_json::from_slice(&bytes);
                bytes.clear();
                if message
                    .map(|message| sender.send(message))
                    .is_ok_and(|sent| sent.is_err())
                {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            input,
            messages,
            next: 0,
            session: String::new(),
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.ask(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_string();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Asks by the protocol.
    ///
    /// # Panics
    /// If it refuses, or says nothing.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let bytes = format!("{message}\0");
        self.input
            .write_all(bytes.as_bytes())
            .and_then(|()| self.input.flush())
            .expect("chromium listens");
        let begun = Instant::now();
        loop {
            match self
                .messages
                .recv_timeout(PATIENCE.saturating_sub(begun.elapsed()))
            {
                Ok(message) if message["id"] == self.next => {
                    assert!(message.get("error").is_none(), "{method}: {message}");
                    return message["result"].clone();
                }
                Ok(event) => self.events.push(event),
                Err(error @ (RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)) => {
                    panic!("{method}: {error}")
                }
            }
        }
    }

    /// A window of this size, of a phone or not, light or dark.
    pub fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.ask("Emulation.setEmulatedMedia", features);
    }

    /// Opens a page.
    pub fn open(&mut self, url: &str) {
        self.ask("Page.navigate", json!({"url": url}));
    }

    /// What a JavaScript expression is worth; a promise is waited for.
    ///
    /// # Panics
    /// If it throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.ask("Runtime.evaluate", params);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true; while it throws it is not.
    ///
    /// # Panics
    /// If it never is.
    pub fn until(&mut self, expression: &str) {
        let begun = Instant::now();
        let guarded = format!(
            "(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"
        );
        while self.value(&guarded) != true {
            if begun.elapsed() > PATIENCE {
                let text = self.value("document.body.innerText");
                panic!(
                    "never: {expression}, on a page of {text}; errors: {:?}",
                    self.errors()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks in the middle of what a selector finds, as a mouse does.
    ///
    /// # Panics
    /// If it finds nothing.
    pub fn click(&mut self, selector: &str) {
        let quoted = json!(selector).to_string();
        self.until(&format!("document.querySelector({quoted})"));
        // What moved away from under the mouse is looked for again.
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let place = self.value(&format!(
                "(() => {{ const e = document.querySelector({quoted}); if (!e) return null; \
                 e.scrollIntoView({{block: 'nearest'}}); \
                 window.hit = false; const hear = (c) => {{ window.hit ||= Boolean(c.target.closest({quoted})); }}; \
                 addEventListener('click', hear, {{capture: true, once: true}}); \
                 const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
            ));
            if place.is_null() {
                continue;
            }
            for kind in ["mousePressed", "mouseReleased"] {
                let params = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
                self.ask("Input.dispatchMouseEvent", params);
            }
            if self.value("window.hit === true") == json!(true) {
                return;
            }
        }
        panic!("{selector} cannot be clicked");
    }

    /// Presses a key, as in `ArrowLeft` or `b`.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 {
            Some(key)
        } else {
            None
        };
        let text = text.or((key == "Enter").then_some("\r"));
        let mut down = json!({"type": "keyDown", "key": key});
        if let Some(text) = text {
            down["text"] = text.into();
        }
        self.ask("Input.dispatchKeyEvent", down);
        self.ask(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key}),
        );
    }

    /// Types into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.ask("Input.insertText", json!({"text": text}));
    }

    /// The screen as base64 of a PNG.
    pub fn screenshot(&mut self) -> String {
        self.ask("Page.captureScreenshot", json!({"format": "png"}))["data"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    }

    /// The addresses that pages have asked for so far.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let asked = self
            .events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent");
        asked
            .filter_map(|event| event["params"]["request"]["url"].as_str().map(String::from))
            .collect()
    }

    /// What went wrong in pages so far: exceptions, and what the browser refused to do.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        let is_error = |event: &&Value| {
            let entry = &event["params"]["entry"];
            event["method"] == "Runtime.exceptionThrown"
                || event["method"] == "Log.entryAdded"
                    && entry["level"] == "error"
                    && entry["source"] != "network"
        };
        self.events
            .iter()
            .filter(is_error)
            .map(ToString::to_string)
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
