"""How fast the interactive page answers, in Chromium: `python -m benchmarks.explore_page [ecg camera ...]`.

A slider step is measured from the key press to the frame that shows the number and every chart that follows from it;
choosing a signal, from the click on its name to the frame that shows it. Beside them, the processor time of a step, of
the server and of all of Chromium's processes: that hardly depends on what else the machine does. Needs Chromium and
`pip install playwright`. Markdown goes to standard output.
"""

from __future__ import annotations

import math
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil

STEPS = 30
LIMITS = {"ecg": 150, "camera": 400}  # milliseconds for a step, on a machine that has nothing else to do
QUIET = 400  # milliseconds without a drawing, after which a step is over
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PATIENCE = 120_000  # milliseconds

# Notes when anything was drawn last. A drawing is on the screen with the next frame.
WATCH = """() => {
    window.drawn = 0;
    const note = () => requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now(); }));
    for (const name of ["clearRect", "putImageData", "drawImage"]) {
        const original = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...values) {
            note();
            return original.apply(this, values);
        };
    }
    window.addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
    window.addEventListener("click", () => { window.pressed = performance.now(); }, true);
    const find = (root) => root.querySelector(".number") ||
        [...root.querySelectorAll("*")].reduce((a, e) => a || (e.shadowRoot && find(e.shadowRoot)), null);
    let text = "", host = null;
    const look = () => {
        if (!host || !host.isConnected) host = find(document)?.getRootNode()?.host ?? null;
        const now = host?.shadowRoot.querySelector(".number")?.parentNode.textContent ?? text;
        if (now !== text) { text = now; window.read = performance.now(); note(); }
        requestAnimationFrame(look);
    };
    look();
}"""
SETTLED = """([quiet]) => window.read > window.pressed && window.drawn >= window.read &&
    performance.now() - window.drawn > quiet"""


@contextmanager
def serving() -> Iterator[tuple[str, psutil.Process]]:
    """Start the page in a process of its own, and yield its URL and the process."""
    command = [sys.executable, "-m", "sparsegauge", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            found = re.match(r"http://\S+", process.stdout.readline())
            if found is None:
                raise SystemExit("the page did not start: sparsegauge explore --no-browser says why")
            yield found.group(), psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGINT)


def wait(page: Any) -> float:
    """Wait until nothing is drawn any more; return the milliseconds from the key press or click to the last frame."""
    page.wait_for_function(SETTLED, arg=[QUIET])
    return float(page.evaluate("window.drawn - window.pressed"))


def processor_times(server: psutil.Process) -> tuple[float, float]:
    """Return the milliseconds that the server and Chromium have computed so far."""
    browsers = [process for process in psutil.Process().children(recursive=True) if "chrom" in process.name()]
    return _computed([server]), _computed(browsers)


def _computed(processes: list[psutil.Process]) -> float:
    spent = [process.cpu_times() for process in processes]
    return 1000.0 * sum(times.user + times.system for times in spent)


def choose(page: Any, name: str) -> float:
    """Choose a signal, and return the milliseconds until it is there."""
    page.get_by_role("combobox", name="Signal", exact=True).click()
    option = page.get_by_role("menuitem", name=name, exact=True)
    option.wait_for()
    option.click()
    return wait(page)


def step(page: Any) -> list[float]:
    """Move the order by single steps, and return the milliseconds that each takes."""
    slider = page.get_by_role("slider", name="Order p")
    slider.focus()
    found = []
    for _ in range(STEPS):
        slider.press("ArrowRight")
        found.append(wait(page))
    return found


def main(names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    print("| signal | chosen in | step: median | 95th percentile | wanted | computed by the server | by Chromium |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with serving() as (url, server), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS, timeout=PATIENCE)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(url)
        page.locator(".number").wait_for()
        page.evaluate(WATCH)
        choose(page, "bumps")
        for name in names:
            chosen = choose(page, name)
            before = processor_times(server)
            times = step(page)
            spent = [(after - start) / STEPS for start, after in zip(before, processor_times(server), strict=True)]
            middle, most = np.percentile(times, [50, 95])
            cells = [chosen, middle, most, LIMITS.get(name, math.nan), *spent]
            print(f"| {name} | " + " | ".join(f"{cell:.0f} ms" for cell in cells) + " |", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:] or list(LIMITS))
