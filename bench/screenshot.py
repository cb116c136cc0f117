"""The picture in the README: the front page of all reports, as `make demo` has made it.

.venv/bin/python -m bench.screenshot data/report/index.html docs/images/front_page.png
"""

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

_WIDTH, _HEIGHT = 1280, 820
"""In CSS pixels: what stands on a laptop's screen."""


def main() -> None:
    """Write what a browser shows of a page at first."""
    parser = argparse.ArgumentParser(prog="python -m bench.screenshot", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        page.goto(arguments.page.resolve().as_uri())
        page.screenshot(path=arguments.picture)
        browser.close()


if __name__ == "__main__":
    main()
