use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Scratch;

/// Bounds a test that has failed.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Flags of Chromium.
const FLAGS: &str = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
     --no-first-run --disable-background-networking --disable-component-update --remote-debugging-pipe";

/// Headless Chromium, controlled by its DevTools protocol through pipes. Dropping it ends Chromium.
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
    /// Starts Chromium with an empty page; without Chromium prints that and returns `None`.
    ///
    /// # Panics
    /// If Chromium does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::with(&[])
    }

    /// Starts Chromium as [`Browser::start`] does, with more flags.
    ///
    /// # Panics
    /// If Chromium does not start.
    #[must_use]
    pub fn with(flags: &[&str]) -> Option<Self> {
        let found = Command::new("sh")
            .args(["-c", "command -v chromium || command -v chromium-browser"])
            .output()
            .ok()?;
        let path = String::from_utf8(found.stdout).ok()?.trim().to_string();
        if path.is_empty() {
            kagetsu_builders::skip("chromium");
            return None;
        }
        let profile = Scratch::new();
        // The protocol uses the file descriptors 3 and 4.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null",
            &path,
        ]);
        command.args(FLAGS.split_whitespace());
        command
            .args(flags)
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
        let target = browser.command("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.command(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_string();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.command(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Runs a command of the protocol and returns its result.
    ///
    /// # Panics
    /// If the command fails, or no result arrives in time.
    pub fn command(&mut self, method: &str, params: Value) -> Value {
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
                .recv_timeout(TEST_TIMEOUT.saturating_sub(begun.elapsed()))
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

    /// Sets the size of the window and the colour scheme. A narrow window is a phone.
    pub fn set_window(&mut self, width: u32, height: u32, is_dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.command("Emulation.setDeviceMetricsOverride", size);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.command("Emulation.setEmulatedMedia", features);
    }

    /// Opens a page, and waits until the one before has gone.
    pub fn open(&mut self, url: &str) {
        self.evaluate("window.isLeft = true");
        let begun = self.command("Page.navigate", json!({"url": url}));
        // A link within the page keeps its document, and so does a page that does not come.
        if begun.get("loaderId").is_some() && begun.get("errorText").is_none() {
            self.wait_for("!window.isLeft");
        }
    }

    /// Evaluates a JavaScript expression; waits for a promise.
    ///
    /// # Panics
    /// If it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.command("Runtime.evaluate", params);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true. An expression that throws is not true.
    ///
    /// # Panics
    /// If it does not become true in time.
    pub fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        let guarded = format!(
            "(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"
        );
        while self.evaluate(&guarded) != true {
            if begun.elapsed() > TEST_TIMEOUT {
                let text = self.evaluate("document.body.innerText");
                panic!(
                    "never: {expression}, on a page of {text}; errors: {:?}",
                    self.errors()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks the middle of the element that a selector finds.
    ///
    /// # Panics
    /// If no such element can be clicked in time.
    pub fn click(&mut self, selector: &str) {
        let quoted = json!(selector).to_string();
        self.wait_for(&format!("document.querySelector({quoted})"));
        // An element that moves before the click is tried again.
        let begun = Instant::now();
        while begun.elapsed() < TEST_TIMEOUT {
            let place = self.evaluate(&format!(
                "(() => {{ const e = document.querySelector({quoted}); if (!e) return null; \
                 e.scrollIntoView({{block: 'nearest'}}); \
                 window.hit = false; const hear = (c) => {{ window.hit ||= Boolean(c.target.closest({quoted})); }}; \
                 addEventListener('click', hear, {{capture: true, once: true}}); \
                 const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
            ));
            if place.is_null() {
                continue;
            }
            // A click while the page still scrolls would hit a neighbour.
            std::thread::sleep(Duration::from_millis(50));
            let later = self.evaluate(&format!(
                "(() => {{ const e = document.querySelector({quoted}); if (!e) return null; \
                 const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
            ));
            if later != place {
                continue;
            }
            for kind in ["mousePressed", "mouseReleased"] {
                let params = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
                self.command("Input.dispatchMouseEvent", params);
            }
            if self.evaluate("window.hit === true") == json!(true) {
                return;
            }
        }
        panic!("{selector} cannot be clicked");
    }

    /// Turns the mouse wheel over the element that a selector finds; positive pixels scroll down.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn wheel(&mut self, selector: &str, pixels: i32) {
        let quoted = json!(selector).to_string();
        let middle = self.evaluate(&format!(
            "(() => {{ const r = document.querySelector({quoted}).getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        let event = json!({"type": "mouseWheel", "x": middle[0], "y": middle[1], "deltaX": 0, "deltaY": pixels});
        self.command("Input.dispatchMouseEvent", event);
    }

    /// Presses a key, as in `ArrowLeft` or `b`.
    pub fn press(&mut self, key: &str) {
        let text = (key.chars().count() == 1).then_some(key);
        let text = text.or((key == "Enter").then_some("\r"));
        let mut down = json!({"type": "keyDown", "key": key});
        if let Some(text) = text {
            down["text"] = text.into();
        }
        self.command("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key});
        self.command("Input.dispatchKeyEvent", up);
    }

    /// Types into the focused element.
    pub fn type_text(&mut self, text: &str) {
        self.command("Input.insertText", json!({"text": text}));
    }

    /// The screen as a PNG in base64.
    pub fn screenshot(&mut self) -> String {
        self.command("Page.captureScreenshot", json!({"format": "png"}))["data"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    }

    /// Returns the addresses that the pages have requested so far.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let sent = self
            .events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str().map(String::from))
            .collect()
    }

    /// The errors of the pages so far: exceptions, and what the browser rejected.
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
