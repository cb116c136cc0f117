"""Every table of a report: sorted by its headings, and a CSV beside the page."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from assets.report.cells import Body, Cell, Group, Head, Line, Table
from assets.report.csv_files import CsvFiles, csv_text
from tests.assets.protobias.pairs_data import Pictures, painted
from tests.assets.protobias.pairs_data import written as written_pairs
from tests.assets.vlmbias.site_data import Report, build, lifelike

FORMULA = '=HYPERLINK("http://evil")'
MODELS = ("prior", "pixels", "random", "some/vlm-1", "some/vlm-2", "some/vlm-3", FORMULA + "-4")


@pytest.fixture(scope="module")
def report() -> Report:
    return Report(2, models=MODELS, promptings=("baseline", "debiased"), answering=lifelike)


@pytest.fixture(scope="module")
def site(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tables") / "report", **report.tables()).parent


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = Pictures()
    painters = [painted(name, pictures) for name in ("flux", "brush", "sketch")]
    return written_pairs(tmp_path_factory.mktemp("pairs") / "report", *painters, pictures=pictures)


def sheet_of(site: Path, name: str) -> list[dict[str, str]]:
    with (site / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("benchmark", ["site", "pairs"])
def test_every_table_of_a_front_page_has_a_csv_of_its_own(
    benchmark: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(benchmark)
    linked: list[str] = []
    for page in folder.glob("*.html"):
        text = page.read_text()
        links = re.findall(r'href="(tables/[^"]+\.csv)"', text)
        assert len(links) == text.count("<table"), page.name
        linked += links
    assert len(set(linked)) == len(linked)
    assert set(linked) == {f"tables/{path.name}" for path in (folder / "tables").iterdir()}


def test_a_csv_holds_the_numbers_of_the_accuracy_table(site: Path, report: Report) -> None:
    found = report.tables()["accuracy"].query(
        "prompting == 'baseline' and topic == 'flags' and subtopic == 'all' and size == 'all'"
        " and image_set == 'benchmark' and questions == 'Q1 & Q2'"
    )
    rows = {row["Judge"]: row for row in sheet_of(site, "accuracy-on-q1-and-q2")}
    assert len(found) == len(MODELS)
    for each in found.itertuples():
        row = rows[each.model if each.model != MODELS[-1] else f"'{each.model}"]
        column = "Benchmark images: Flags"
        names = [column, f"{column}, low", f"{column}, high"]
        if each.unanswered > 0.1 * each.requests:
            assert row[column] == "", "a trial is not ranked"
            names = [f"{column}, trial{end}" for end in ("", " low", " high")]
        told = [float(row[name]) for name in names]
        assert told == pytest.approx(
            [each.accuracy, each.accuracy_low, each.accuracy_high], abs=1e-6
        )
    assert rows["pixels"]["Group"] == "Stand-in judges"
    assert "Mean" in rows


def test_no_cell_of_a_csv_is_a_formula(site: Path) -> None:
    cells = [
        cell
        for path in (site / "tables").iterdir()
        for row in csv.reader(path.read_text().splitlines())
        for cell in row
    ]
    assert any(cell.startswith(f"'{FORMULA}") for cell in cells)
    numbers = re.compile(r"-?\d+(\.\d+)?(e-\d+)?")
    assert not [c for c in cells if c[:1] in set("=+-@\t\r") and not numbers.fullmatch(c)]


def test_what_has_no_number_says_why_in_the_csv() -> None:
    noted = Cell("71.6 %", note="1 unscored", numbers={"": 0.716, "low": 0.5})
    table = Table(
        "A table",
        "Metric",
        [Group("Failure rate", [Head("All"), Head("Animals")])],
        [Body("", [Line("clip_l", [noted, Cell("–", note="not scored")])])],
    )
    assert list(csv.DictReader(csv_text(table).splitlines())) == [
        {
            "Metric": "clip_l",
            "Failure rate: All": "0.716",
            "Failure rate: All, low": "0.5",
            "Failure rate: All, note": "1 unscored",
            "Failure rate: Animals": "not scored",
        }
    ]


def test_two_tables_of_one_caption_are_refused() -> None:
    table = Table("Costs", "Asset", [], [])
    files = CsvFiles("index.html")
    assert files.add(table) == "tables/costs.csv"
    with pytest.raises(ValueError, match="two tables are called 'Costs'"):
        files.add(table)


def test_a_table_is_sorted_by_the_heading_that_is_pressed(blank: Page, site: Path) -> None:
    page = blank
    page.goto((site / "index.html").as_uri())
    board = page.get_by_role("table", name="Accuracy on Q1 and Q2", exact=True)
    heads = board.locator("thead tr:last-child th")

    def column(at: int) -> list[float]:
        """Its numbers; the trial, which has none to sort by, stands below them."""
        cells = board.locator("tbody").first.locator("tr:not(.mean) :is(th, td)")
        values = cells.evaluate_all(
            "(l, at) => l.filter(c => c.cellIndex === at).map(c => c.dataset.value)", at
        )
        assert values[-1] is None
        return [float(value) for value in values[:-1]]

    head = heads.nth(2)
    expect(head).not_to_have_attribute("aria-sort", re.compile("."))
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert column(2) == sorted(column(2), reverse=True)
    head.get_by_role("button").press("Space")
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert column(2) == sorted(column(2))
    names = board.locator("tbody").first.locator("tr:not(.split) th")
    expect(names.last).to_have_text("Mean")
    heads.first.get_by_role("button").click()
    expect(head).not_to_have_attribute("aria-sort", re.compile("."))
    found = names.all_inner_texts()[:-1]
    assert found == sorted(found, key=str.lower)
    expect(board.locator("tbody").nth(1).locator("tr").first).to_have_text("Stand-in judges")
