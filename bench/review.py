"""The review page: from the command to the first picture, and from a key to the next one."""

import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from assets.vlmbias.photographs.selection import write_candidates
from bench.figure import Figure
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from tests.ports import free_port

_SIDE, _DISTINCT, _LOOK_S = 1024, 40, 0.25
_CHROMIUM = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
)
_WATCH = """
window.times = [];
let start;
addEventListener("keydown", event => { start = event.timeStamp; }, true);
new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(
  () => window.times.push(performance.now() - start)
))).observe(document.body, {attributeFilter: ["data-item"]});
"""


def figures(pictures: int = 5_000, decisions: int = 200) -> Iterator[Figure]:
    """Time of the first picture, and of those after it; the rest is how they are decided."""
    with TemporaryDirectory() as root:
        size = _make(Path(root), pictures)
        first, times = _review(root, decisions)
    what = f"the first of {pictures:,} pictures of {size / 1e6:.1f} MB after the command"
    yield Figure(what, first, "s", 2)
    slowest = f"median {np.median(times):.0f} ms, slowest {max(times):.0f} ms of {len(times)}"
    yield Figure(
        "the next after a key, 95th percentile", np.percentile(times, 95), "ms", 100, slowest
    )


def _make(root: Path, pictures: int) -> int:
    """Write the review of that many pictures; return the size of one in bytes."""
    images = ImageStore(root=str(root))
    templates = [_draw(number) for number in range(min(pictures, _DISTINCT))]
    rows = [
        {
            "sha256": images.put(_mark(templates[number % len(templates)], number)),
            "painter": "artist",
            "base_id": f"animals/{number}",
            "subject": f"animal {number}",
            "variant": "counterfactual",
            "edit_number": 0,
            "check": "passed",
            "failed_checks": [],
            "sentence": "An animal is seen from the side and has exactly 5 legs.",
            "outcome": "candidate",
            "is_stand_in": False,
        }
        for number in range(pictures)
    ]
    write_candidates(DataRoot(root=str(root)), images, "animals", rows, {})
    return len(templates[0])


def _draw(number: int) -> bytes:
    """A PNG of smooth colours with grain, as large as a painter's."""
    random, ramp = np.random.default_rng(number), np.linspace(0, 200, _SIDE)
    smooth = np.stack([ramp[None, :] + ramp[:, None] * 0.2 + shift for shift in (0, 5, 9)], axis=2)
    pixels = (smooth + random.integers(0, 5, smooth.shape)).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=6)
    return file.getvalue()


def _mark(png: bytes, number: int) -> bytes:
    """The same picture as a file of its own: with a comment."""
    chunk = b"tEXtComment\0" + str(number).encode()
    length = (len(chunk) - 4).to_bytes(4, "big")
    return png[:-12] + length + chunk + zlib.crc32(chunk).to_bytes(4, "big") + png[-12:]


def _review(root: str, decisions: int) -> tuple[float, list[float]]:
    """Seconds until the first picture, and milliseconds until each of the next."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=_CHROMIUM)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            started = monotonic()
            with _serving(root) as address:
                page.goto(address)
                page.wait_for_selector("#pictures img")
                first = monotonic() - started
                return first, _decide(page, decisions)
        finally:
            browser.close()


def _decide(page: Page, decisions: int) -> list[float]:
    page.evaluate(_WATCH)
    for number in range(decisions):
        sleep(_LOOK_S)
        shown = page.get_attribute("body", "data-item")
        page.keyboard.press("ar"[number % 2])
        page.wait_for_selector(f'body:not([data-item="{shown}"])', state="attached")
    sleep(_LOOK_S)
    times: list[float] = page.evaluate("window.times")
    return times


@contextmanager
def _serving(root: str) -> Iterator[Any]:
    """The address of a review, as soon as its command prints it."""
    command = [sys.executable, "-m", "commands.app", "review", "vlmbias/candidates"]
    command += ["--annotator", "anna", "--port", str(free_port())]
    environment = {**os.environ, "COUNTERFACTORY_HOME": root, "DAGSTER_HOME": root}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.kill()
