#!/usr/bin/env python3
"""Makes the pictures of the documents with the programs in a folder.

    python3 docs/pictures/make.py target/release

Needs chromium, tmux and a CJK font (Debian: chromium, tmux, fonts-noto-cjk). It grows a small book on
a cluster of one worker, and takes pictures of the page in both languages, of the terminal explorer, and
of the book's growth.
"""

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
    "--virtual-time-budget=5000",
]
POSITIONS = 120
# The sixteen colours of a terminal, as the page shows them on a dark ground.
COLOURS = (
    "#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 "
    "#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff"
).split()


def take_page(profile, url, picture, language, size="1400,900"):
    """Takes a picture of a page."""
    subprocess.run(
        BROWSER
        + [
            f"--user-data-dir={profile}/{picture}",
            f"--lang={language}",
            f"--accept-lang={language}",
            f"--window-size={size}",
            f"--screenshot={PICTURES / picture}",
            url,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


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


def take_terminal(folder, command, picture):
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
    take_page(folder, page.as_uri(), picture, "en", "1040,660")


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


def main():
    programs = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        book = f"{folder}/h8.book"
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
            link = f"{page}/#/freestyle-15/h8"
            take_page(folder, link, "explorer.png", "en")
            take_page(folder, link, "explorer-zh.png", "zh-CN")
            take_page(folder, f"{page}/#/cluster", "cluster.png", "en")
            take_page(folder, f"{page}/#/contents", "contents.png", "en")
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
            coordinator.send_signal(signal.SIGTERM)
            coordinator.wait()
        explore = f"{programs}/kagetsu explore --book {book} --variant freestyle-15 --moves h8"
        take_terminal(folder, explore, "terminal.png")


if __name__ == "__main__":
    main()
