"""The front page of all reports over many judges, with a page of each and what gaps would cost."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow.parquet as pq
from dagster import AssetsDefinition, DagsterInstance, load_assets_from_package_module
from playwright.sync_api import sync_playwright

import assets
from assets.front.page import build_roster
from assets.kit.benchmarks import build_definitions
from assets.kit.judge_tasks import JudgeTaskFinder
from assets.kit.plan import PlanContext
from assets.report.openings import Entry
from assets.report.published import Published, PublishedNumber
from assets.report.roster import Roster
from assets.report.standings import MOST, Failure, JudgeResults, Measure, Standing
from assets.report.start_page import write_start_page
from assets.vlmbias.questions import QUESTIONS
from bench.client import model_named
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from generators.topics import DRAWN
from resources.calls import CallStore
from resources.models.catalog import Catalog, Price
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

_BENCHMARKS, _QUESTIONS = 5, 500
_MEASURES = (
    Measure("Accuracy", "higher", "share", "The share of questions that is answered right."),
    Measure("Inflation", "near 0", "change", "How much more for what has nothing to do with it."),
)
_PUBLISHED = Published(
    sentence="Models look in 17 % of pictures.",
    measure=_MEASURES[0].name,
    better="higher is better",
    source="Table 1",
    differences="Other pictures.",
    numbers=[PublishedNumber(f"model {n}", n / 10, f"{10 * n}.00 %") for n in range(9)],
)
_PARTS = ("pictures of one painter", "pictures of another")
_STATIC = ("site.css", "site.js")
_PAINT = """new Promise((done, fail) => {
    new PerformanceObserver((list) => {
        const [paint] = list.getEntriesByName("first-contentful-paint");
        if (paint) done(paint.startTime);
    }).observe({ type: "paint", buffered: true });
    setTimeout(() => fail(new Error("the page paints nothing within 30 s")), 30_000);
})"""
_PRICE = Price(input_per_million=2.0, output_per_million=8.0)


def figures(judges: int = 50) -> Iterator[Figure]:
    """The page and the judges' pages, first and again; then their quotes, for one benchmark."""
    with TemporaryDirectory() as root:
        pages, again, quotes, peak = in_a_process("bench.front_page", root, judges)
        index = Path(root) / "report" / "index.html"
        page_bytes = sum(path.stat().st_size for path in (index, *map(index.with_name, _STATIC)))
        paint, table = _open(index)
    what = f"the front page and the pages of {judges} judges, {_BENCHMARKS} benchmarks"
    yield Figure(what, pages, "s", 5, f"{peak:.0f} MB; again, nothing changed: {again:.2f} s")
    yield Figure(
        "that page with its style and script, without pictures", page_bytes / 1e3, "KB", 300
    )
    yield Figure("its first paint, opened from disk", paint, "s", 1, f"table at {table:.0f} px")
    asked = judges * len(DRAWN) * _QUESTIONS
    yield Figure(f"what would fill their empty cells, {asked:,} requests", quotes, "s", 5)


def _open(index: Path) -> tuple[float, float]:
    """Seconds until the browser has painted the page, and where its table begins, in px."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            paints = []
            for _ in range(3):
                page.goto(index.as_uri())
                paints.append(float(page.evaluate(_PAINT)))
            top = "document.getElementById('leaderboard').getBoundingClientRect().top"
            return min(paints) / 1000, float(page.evaluate(top))
        finally:
            browser.close()


def _measured(folder: str, number: str) -> tuple[float, float, float, float]:
    """Seconds to write the pages, to write them again and to quote; and the peak."""
    root = Path(folder)
    catalog = Catalog(
        tuple(
            model_named(f"judge_{n}", "openai", "judge", longest_output=4000, price=_PRICE)
            for n in range(int(number))
        )
    )
    roster, quotes = _quoted(root, catalog)
    report = root / "report"
    for benchmark in range(_BENCHMARKS):
        _site(report / f"benchmark_{benchmark}", [each.name for each in catalog.models])
    roster.write(report)
    seconds = []
    for _ in range(2):
        started = perf_counter()
        write_start_page(report)
        seconds.append(perf_counter() - started)
    return seconds[0], seconds[1], quotes, peak_megabytes()


def _site(folder: Path, judges: list[str]) -> None:
    """What the front page reads of a site: each judge by two measures on two parts, 10 failures."""
    standings = [
        Standing(name, m.name, "result", 0.3, 0.2, 0.4, 900, "answers", "2026-11-20", "#top", of)
        for name, m, of in product(judges, _MEASURES, _PARTS)
    ]
    failures = [
        Failure(name, "result", f"thumbs/{n}.webp", "A flag", "How many stars?", "50", "51", "#top")
        for name, n in product(judges, range(MOST))
    ]
    entry = Entry(folder.name, "Does it look?", "It does.", "result", _PUBLISHED)
    folder.mkdir(parents=True)
    results = JudgeResults(_MEASURES, standings, failures)
    for path, text in (entry.file, results.file, ("index.html", "<!doctype html>")):
        (folder / path).write_text(text, encoding="utf-8")


def _quoted(root: Path, catalog: Catalog) -> tuple[Roster, float]:
    """The roster where one benchmark's questions are there and nothing is answered; seconds."""
    folder = root / "vlmbias" / "questions"
    folder.mkdir(parents=True)
    for topic in DRAWN:
        rows = [
            {"sha256": f"{n:064x}", "domain": topic, "question_id": "Q1"}
            | {"question": f"How many rows has board {n}?"}
            for n in range(_QUESTIONS)
        ]
        pq.write_table(QUESTIONS.build_table(rows), folder / f"{topic}.parquet")
    every = [*load_assets_from_package_module(assets), *build_definitions(catalog)]
    found = [each for each in every if isinstance(each, AssetsDefinition)]
    by_key = {key: each for each in found for key in each.keys}
    store = CallStore(url=f"sqlite:///{root}/calls.sqlite")
    with closing(store), DagsterInstance.ephemeral() as instance:
        home, images = DataRoot(root=str(root)), ImageStore(root=str(root))
        sources = PlanContext(home, images, WorkCache(root=str(root)), store)
        started = perf_counter()
        roster = build_roster(JudgeTaskFinder(catalog, home, instance, by_key), sources)
        return roster, perf_counter() - started


if __name__ == "__main__":
    answer(_measured)
