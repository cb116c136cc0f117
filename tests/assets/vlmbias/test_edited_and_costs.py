"""Sections that are there when there is something to tell: edited flags, and what it cost."""

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from assets.report.costs import RuleDecisions, costs, format_usd
from assets.vlmbias.svg_flags import EDITED_FLAG_COLUMNS
from metrics import exact_interval
from resources.calls.spending import NANO, SpendingRow
from tests.assets.vlmbias.site_data import Report, build, picture

OUTCOMES = {
    "subject-0-add": "kept",
    "subject-0-remove": "miscounted",
    "subject-1-add": "refused",
    "subject-1-remove": "failed",
}
WRONG = "It shows 3 stripes."
EDIT = picture(3, 768, "edited")
SHA256 = hashlib.sha256(EDIT).hexdigest()


def edits(tables: dict[str, Any], outcomes: dict[str, str], writer: str = "penman") -> pd.DataFrame:
    """A writer's table of edits that end so, all drawn ones with the same picture."""
    images = tables["images"].set_index("image_id")
    rows = []
    for slug, outcome in outcomes.items():
        image = images.loc[f"flags/{slug}/768"]
        drawn = outcome in ("kept", "miscounted")
        rows.append(
            {
                "image_id": f"flags/{slug}/{writer}/768",
                **image[["base_id", "original_id", "subject", "modification"]],
                "target": "stripes",
                "targets": image["targets"],
                "truths": image["truths"],
                "readings": [3.0] if drawn else [],
                "outcome": outcome,
                "problem": {"kept": None, "miscounted": WRONG}.get(outcome, "no answer"),
                "sha256": SHA256 if drawn else None,
                "width": 768 if drawn else None,
                "height": 512 if drawn else None,
                "painter": writer,
                "is_stand_in": False,
                "review": "pixels",
                "served_model": f"{writer}-2026",
                "calls": [],
            }
        )
    found: pd.DataFrame = EDITED_FLAG_COLUMNS.build_table(rows).to_pandas()
    return found


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    report = Report(2, ("flags",))
    report.pngs[SHA256] = EDIT
    return report.tables()


def test_edited_flags_stand_beside_those_drawn_by_code(
    tables: dict[str, Any], blank: Page, tmp_path: Path
) -> None:
    both = [edits(tables, OUTCOMES), edits(tables, dict.fromkeys(OUTCOMES, "no svg"), "scribe")]
    index = build(tmp_path / "report", **tables, edited_tables=both)
    page = blank
    page.goto(index.as_uri())
    kept = page.get_by_role("table", name="Edits kept")
    assert kept.locator("thead th").all_inner_texts() == [
        "Drawn by",
        "All",
        "Stripes, add",
        "Stripes, remove",
    ]
    low, high = exact_interval(1, 4)
    lines = {
        line.locator("th").inner_text(): " ".join(line.locator("td").first.inner_text().split())
        for line in kept.locator("tbody tr").all()
    }
    assert lines == {
        "drawn by code": "4 of 4 100.0 % [39.8, 100.0]",
        "penman": f"1 of 4 25.0 % [{100 * low:.1f}, {100 * high:.1f}]",
        "scribe": "0 of 4 0.0 % [0.0, 60.2]",
    }
    section = page.get_by_role("region", name="penman")
    for ending in OUTCOMES.values():
        expect(section.locator("dt", has_text=ending.capitalize())).to_have_count(1)
    strips = section.locator(".strip li")
    expect(strips).to_have_count(2)
    expect(strips.nth(0)).to_contain_text("One stripe more: 6 stripes")
    expect(strips.nth(1)).to_contain_text(WRONG)
    for image in section.locator("img").all():
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("naturalWidth", 768)
    expect(page.get_by_role("region", name="scribe").locator("img")).to_have_count(0)


def test_code_is_not_said_to_have_kept_what_it_has_not_drawn(
    tables: dict[str, Any], tmp_path: Path
) -> None:
    found = edits(tables, OUTCOMES)
    found.loc[0, "base_id"] = "flags/another-add"
    page = build(tmp_path / "report", **tables, edited_tables=[found]).read_text()
    assert "drawn by code" not in page.split("Flags edited by models")[1]


def test_without_edits_or_costs_nothing_is_made_up(tables: dict[str, Any], tmp_path: Path) -> None:
    free = SpendingRow(
        "2026-11", "vlmbias/paintings", "sketch|animals", "sketch", "online", 9, 0, 0, 0
    )
    page = build(tmp_path / "report", **tables, spent=[free]).read_text()
    assert "Flags edited by models" not in page
    assert "Nothing was paid" in page
    assert "sketch" not in page


def spent(model: str, requests: int, paid: int, possibly: int = 0, unknown: int = 0) -> SpendingRow:
    month = "2026-10" if model == "judge" else "2026-11"
    return SpendingRow(
        month, f"vlmbias/{model}", "flags", model, "online", requests, paid, possibly, unknown
    )


def test_costs_are_summed_and_what_is_unknown_is_never_0() -> None:
    found = costs(
        [
            spent("judge", 300, NANO + NANO // 4, NANO // 50),
            spent("judge", 100, NANO),
            spent("painter", 8, 0, unknown=8),
            spent("editor", 10, 4 * NANO, unknown=2),
        ]
    )
    assert found is not None
    by_model = {line.labels[1]: line[1:] for line in found.by_model}
    assert by_model == {
        "judge": (400, "$2.25", "$0.0200", 0),
        "painter": (8, "unknown", "unknown", 8),
        "editor": (10, "$4.00 + unknown", "$0", 2),
    }
    assert [line.labels for line in found.by_month] == [("2026-10",), ("2026-11",)]
    assert found.total[1:] == (418, "$6.25 + unknown", "$0.0200", 10)


def test_costs_are_on_the_page(tables: dict[str, Any], tmp_path: Path) -> None:
    page = build(
        tmp_path / "report", **tables, spent=[spent("judge", 3, NANO), spent("painter", 8, 0, 0, 8)]
    ).read_text()
    told = page.split('<h2 id="costs">')[1]
    assert "<dd>$1.00 + unknown</dd>" in told
    sheet = (tmp_path / "report/tables/costs-by-asset-and-model.csv").read_text()
    assert "vlmbias/painter,painter,online,8,unknown,unknown,8" in sheet
    assert "Nothing was paid" not in told


def test_what_rules_saved_is_on_the_page(tables: dict[str, Any], tmp_path: Path) -> None:
    decisions = [
        RuleDecisions("vlmbias/judge", "flags", by_rule=3, by_model=4),
        RuleDecisions("vlmbias/painter", "flags", by_rule=1, by_model=8),
        RuleDecisions("vlmbias/judge", "dice", by_rule=2, by_model=0),
    ]
    page = build(
        tmp_path / "report",
        **tables,
        spent=[spent("judge", 12, NANO), spent("judge", 4, NANO), spent("painter", 8, 0, 0, 8)],
        decisions=decisions,
    ).read_text()
    told = page.split("Not asked, since a rule was certain:")[1]
    # 16 requests about 4 pictures cost $2: three more would have cost $1.50.
    assert "vlmbias/judge (flags): 3 pictures decided by rule, about $1.50 not spent." in told
    unknown = "decided by rule, not sent; what they would have cost is unknown."
    assert f"vlmbias/painter (flags): 1 picture {unknown}" in told
    assert f"vlmbias/judge (dice): 2 pictures {unknown}" in told


@pytest.mark.parametrize(
    ("nano", "written"),
    [(0, "$0"), (1, "under $0.0001"), (4_200_000, "$0.0042"), (1234 * NANO, "$1,234.00")],
)
def test_small_sums_are_not_rounded_away(nano: int, written: str) -> None:
    assert format_usd(nano) == written
