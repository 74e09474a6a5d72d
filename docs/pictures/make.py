#!/usr/bin/env python3
"""Makes the pictures of the documents with the programs in a folder.

    python3 docs/pictures/make.py target/release

Needs chromium, tmux and a CJK font (Debian: chromium, tmux, fonts-noto-cjk). It grows a small book
on a cluster of one worker, and takes pictures of the page in both languages, of the guide to its
numbers, of the terminal explorer, and of the book's growth.
"""

import base64
import html
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PICTURES = Path(__file__).resolve().parent
BROWSER = [
    "chromium",
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]
POSITIONS = 120
# Seconds until a page shows what it should.
PAGE_TIMEOUT = 60
# A line after which Black wins by fours.
WON = "h8,a1,i8,a3,j8,a5"
# Marks of the guide: a number, the element that it is about, and where it stands.
MARKS = [
    (1, "tr.best .value", "left"),
    (2, ".fold", "right"),
    (3, "tr.best td.num", "inside"),
]
# The greatest height of the picture of a panel, in pixels.
MAX_PANEL_HEIGHT = 480
# The sixteen colours of a terminal, as the page shows them on a dark ground.
COLOURS = (
    "#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 "
    "#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff"
).split()


class Browser:
    """A headless browser, controlled by its DevTools protocol through pipes."""

    def __init__(self, profile):
        # The protocol uses the file descriptors 3 and 4.
        script = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null'
        command = ["sh", "-c", script] + BROWSER + [f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.session, self.unread = 0, None, b""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]

    def command(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            while b"\0" not in self.unread:
                self.unread += self.process.stdout.read1(1 << 16)
            text, self.unread = self.unread.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                return answer["result"]

    def evaluate(self, expression):
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        return result["result"].get("value")

    def wait_for(self, expression):
        begun = time.monotonic()
        while self.evaluate(f"Boolean({expression})") is not True:
            if time.monotonic() - begun > PAGE_TIMEOUT:
                raise SystemExit(f"never: {expression}")
            time.sleep(0.1)

    def open(self, url, language="en", size=(1400, 900)):
        """Opens a page in a language, and waits for its content."""
        width, height = size
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.command("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")
        if url.startswith("http"):
            self.evaluate(f"localStorage.setItem('kagetsu.language', '{language}')")
            self.command("Page.navigate", url="about:blank")
            self.command("Page.navigate", url=url)
            self.wait_for("document.querySelector('main')")
            self.wait_for("!/Loading|加载中/.test(document.body.innerText)")
        time.sleep(0.7)

    def take(self, picture, clip=None):
        """Takes a picture of the page, or of the element that the selector `clip` finds."""
        area = {}
        if clip:
            box = f"document.querySelector({json.dumps(clip)}).getBoundingClientRect()"
            left, top, width, height = self.evaluate(f"(b => [b.x, b.y, b.width, b.height])({box})")
            height = min(height, MAX_PANEL_HEIGHT)
            area = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
            area = {"clip": area}
        data = self.command("Page.captureScreenshot", format="png", **area)["data"]
        (PICTURES / picture).write_bytes(base64.b64decode(data))

    def mark(self, number, selector, side):
        """Draws a number beside or inside an element."""
        lefts = {"left": "box.left - 24", "right": "box.right + 4", "inside": "box.left + 24"}
        self.evaluate(
            f"""(() => {{
                const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
                const mark = document.createElement("b");
                mark.textContent = "{number}";
                Object.assign(mark.style, {{
                    position: "fixed", top: `${{(box.top + box.bottom) / 2 - 10}}px`,
                    left: `${{{lefts[side]}}}px`,
                    width: "20px", height: "20px", borderRadius: "50%", background: "#c2185b",
                    color: "#fff", font: "bold 13px/20px sans-serif", textAlign: "center",
                    zIndex: 99,
                }});
                document.body.append(mark);
            }})()"""
        )

    def close(self):
        self.process.kill()
        self.process.wait()


def get_json(url):
    with urllib.request.urlopen(url) as reply:
        return json.load(reply)


def colour_of(numbers, style):
    """Applies the numbers of one SGR sequence to a style."""
    numbers = list(numbers) or [0]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style.clear()
        elif number == 1:
            style["font-weight"] = "bold"
        elif number == 2:
            style["opacity"] = "0.6"
        elif number in (22, 39, 49):
            for key in {22: ["font-weight", "opacity"], 39: ["color"], 49: ["background"]}[number]:
                style.pop(key, None)
        elif number == 7:
            style["background"], style["color"] = "#cccccc", "#1e1e1e"
        elif 30 <= number <= 37:
            style["color"] = COLOURS[number - 30]
        elif 90 <= number <= 97:
            style["color"] = COLOURS[number - 82]
        elif 40 <= number <= 47:
            style["background"] = COLOURS[number - 40]
        elif number in (38, 48) and len(numbers) >= 2:
            kind = numbers.pop(0)
            if kind == 5:
                index = numbers.pop(0)
                colour = COLOURS[index] if index < 16 else "#cccccc"
            else:
                colour = "#%02x%02x%02x" % tuple(numbers[:3])
                numbers = numbers[3:]
            style["color" if number == 38 else "background"] = colour


def terminal_page(text):
    """Returns a page that shows a terminal's screen with its colours."""
    parts = re.split(r"\x1b\[([0-9;]*)m", text)
    style, body = {}, []
    for index, part in enumerate(parts):
        if index % 2:
            colour_of([int(n) for n in part.split(";") if n], style)
        elif part:
            css = ";".join(f"{key}:{value}" for key, value in style.items())
            body.append(f'<span style="{css}">{html.escape(part)}</span>')
    return (
        '<meta charset="utf-8"><body style="margin:12px;background:#1e1e1e;color:#cccccc">'
        '<pre style="font:15px/1.2 DejaVu Sans Mono,monospace">' + "".join(body) + "</pre>"
    )


def take_terminal(browser, folder, command, picture):
    """Takes a picture of a program that fills a terminal."""
    session = ["tmux", "-L", f"kagetsu-{Path(folder).name}"]
    subprocess.run(session + ["new-session", "-d", "-x", "110", "-y", "34", command], check=True)
    try:
        for _ in range(100):
            time.sleep(0.1)
            screen = subprocess.run(
                session + ["capture-pane", "-e", "-p"], check=True, capture_output=True, text=True
            ).stdout
            if "15" in screen:
                break
        time.sleep(0.5)
        screen = subprocess.run(
            session + ["capture-pane", "-e", "-p"], check=True, capture_output=True, text=True
        ).stdout
    finally:
        subprocess.run(session + ["kill-server"], check=False)
    page = Path(folder) / "terminal.html"
    page.write_text(terminal_page(screen), encoding="utf-8")
    browser.open(page.as_uri(), size=(1040, 660))
    browser.take(picture)


def growth_plot(samples):
    """Returns an SVG of positions over seconds."""
    width, height, left, bottom = 640, 300, 60, 40
    end = max(second for second, _ in samples) or 1
    top = max(count for _, count in samples) or 1

    def point(second, count):
        x = left + (width - left - 20) * second / end
        y = height - bottom - (height - bottom - 20) * count / top
        return f"{x:.1f},{y:.1f}"

    line = " ".join(point(*sample) for sample in samples)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"
 font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<path d="M{left},20 V{height - bottom} H{width - 20}" fill="none" stroke="#444"/>
<polyline points="{line}" fill="none" stroke="#2472c8" stroke-width="2"/>
<text x="{left - 8}" y="24" text-anchor="end">{top}</text>
<text x="{left - 8}" y="{height - bottom}" text-anchor="end">0</text>
<text x="{width - 20}" y="{height - bottom + 18}" text-anchor="end">{end:.0f} s</text>
<text x="{left + 8}" y="32">positions in the book</text>
</svg>
"""


def take_pages(browser, page):
    """Takes the pictures of the page."""
    link = f"{page}/#/freestyle-15/h8"
    for view, language, picture in [
        (link, "en", "explorer.png"),
        (link, "zh", "explorer-zh.png"),
        (f"{page}/#/cluster", "en", "cluster.png"),
        (f"{page}/#/contents", "en", "contents.png"),
    ]:
        browser.open(view, language)
        browser.take(picture)
    best = get_json(f"{page}/api/v1/book?variant=freestyle-15&moves=h8")["best"]
    browser.open(f"{page}/#/freestyle-15/h8,{best}", size=(1400, 640))
    for number, selector, side in MARKS:
        browser.mark(number, selector, side)
    browser.take("guide.png")
    browser.open(f"{page}/#/freestyle-15/{WON}")
    browser.mark(4, "tr.best .seal", "right")
    browser.take("proof.png", clip="#panel table")
    browser.open(link)
    browser.evaluate("document.querySelector('#tab-why').click()")
    browser.wait_for("document.querySelectorAll('.why').length === 2")
    browser.mark(5, ".why:last-of-type tbody td:nth-child(3)", "inside")
    browser.take("why.png", clip="#panel")


def main():
    programs = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        book = f"{folder}/h8.book"
        browser = Browser(f"{folder}/profile")
        coordinator = subprocess.Popen(
            [programs / "kagetsu-coordinator", "--book", book, "--listen", "127.0.0.1:0"]
            + ["--http", "127.0.0.1:0",],
            stdout=subprocess.PIPE,
            text=True,
        )
        addresses = dict(coordinator.stdout.readline().strip().rsplit(" ", 1) for _ in range(2))
        grpc = "http://" + addresses["listening on"]
        page = "http://" + addresses["http on"]
        worker = subprocess.Popen(
            [programs / "kagetsu-worker", "--coordinator", grpc, "--name", "worker-1"],
            stderr=subprocess.DEVNULL,
        )
        try:
            build = subprocess.Popen(
                [programs / "kagetsu", "build", "--coordinator", grpc]
                + ["--variant", "freestyle-15", "--moves", "h8", "--name", "h8"]
                + ["--positions", str(POSITIONS), "--depth", "8"],
                stderr=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            start, samples = time.monotonic(), [(0, 0)]
            while build.poll() is None:
                time.sleep(0.2)
                jobs = get_json(f"{page}/api/v1/jobs")
                count = jobs[0]["positions"] if jobs else 0
                samples.append((time.monotonic() - start, count))
            if build.returncode:
                raise SystemExit(f"the build ended with code {build.returncode}")
            (PICTURES / "growth.svg").write_text(growth_plot(samples), encoding="utf-8")
            prove = [programs / "kagetsu", "build", "--coordinator", grpc, "--name", "won"]
            subprocess.run(
                prove
                + ["--variant", "freestyle-15", "--moves", WON.replace(",", " ")]
                + ["--positions", "1", "--depth", "4"],
                check=True,
                stderr=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            take_pages(browser, page)
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
            coordinator.send_signal(signal.SIGTERM)
            coordinator.wait()
        explore = f"{programs}/kagetsu explore --book {book} --variant freestyle-15 --moves h8"
        take_terminal(browser, folder, explore, "terminal.png")
        browser.close()


if __name__ == "__main__":
    main()
