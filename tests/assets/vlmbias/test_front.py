"""The first screen of VLMBias: a finding, and counts that agree."""

import html
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from assets.vlmbias.pages.figures import LEADING, PARTIAL, Accuracy, AccuracyColumn
from metrics import BASELINE
from tests.assets.vlmbias.site_data import Made, Report, build, lifelike

MODELS = ("prior", "pixels", "some/vlm-1", "some/vlm-2")
PAINTED = (
    ("animals", Made("artist", "accepted")),
    ("animals", Made("idler", "unreviewed")),
    ("logos", Made("sketch", "unreviewed", is_stand_in=True)),
)


def read(page: Path) -> str:
    """The text of a page, in one line."""
    text = re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def heading(index: Path) -> str:
    (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", index.read_text(), re.DOTALL)
    return html.unescape(found).replace("\u00a0", " ")


def rates(tables: dict[str, Any], measure: str) -> dict[str, float]:
    found = tables["accuracy"].query(
        "prompting == 'baseline' and topic == 'task mean' and size == 'all'"
        " and image_set == 'benchmark' and questions == 'Q1 & Q2'"
    )
    return dict(zip(found["model"], found[measure], strict=True))


@pytest.mark.parametrize("models", [1, 2])
def test_the_front_page_opens_with_what_was_found(models: int, tmp_path: Path) -> None:
    tables = Report(3, models=MODELS[: 2 + models], answering=lifelike).tables()
    index = build(tmp_path / "report", **tables)
    named = MODELS[2 : 2 + models]
    biased = [rates(tables, "bias_rate")[model] for model in named]
    right = {model: rates(tables, "accuracy")[model] for model in named}
    best = max(right, key=right.__getitem__)
    expected = {
        1: f"{best} gives the familiar answer in {100 * biased[0]:.0f} % of the benchmark's "
        f"pictures and the right one in {100 * right[best]:.0f} %, as means over 2 of 7 topics.",
        2: f"2 models give the familiar answer in {100 * min(biased):.0f} to "
        f"{100 * max(biased):.0f} % of the benchmark's pictures; the best, {best}, is right in "
        f"{100 * right[best]:.0f} %, as means over 2 of 7 topics.",
    }
    assert heading(index) == expected[models]
    first = index.read_text().partition("<h2")[0]
    assert first.count("<img ") == 2
    assert first.count('<svg role="img"') == 2
    assert first.index("the familiar answer") < first.index("As published")
    assert re.search(rf"<b>{best}</b> says <b class=\"wrong\">\d+</b>", first)


def test_judges_asked_in_part_are_ordered_by_their_own_numbers() -> None:
    """A judge without a readable answer stands last, and says so over all topics as well."""

    def answering(model: str, _: str, question: dict[str, Any]) -> dict[str, Any]:
        if model in ("babble", "shy"):
            return {"outcome": "unparsed" if model == "babble" else "refused", "response": "I see."}
        is_right = model == "sharp" and question["question_id"] == "Q1"
        return {"answer": question["ground_truth" if is_right else "expected_bias"]}

    models = ("babble", "dull", "sharp", "shy")
    tables = Report(3, models=models, answering=answering).tables()
    rows = tables["accuracy"].query("image_set == 'benchmark'").assign(image_set=PARTIAL)
    accuracy = Accuracy.build(rows, ["flags", "game_boards"], stand_ins=())
    line_up = accuracy.line_up(BASELINE)
    assert [judge.model for judge in line_up] == ["sharp", "dull", "babble", "shy"]
    column = LEADING._replace(image_set=PARTIAL)
    rates = [accuracy.rate(judge, column) for judge in line_up[2:]]
    assert [(rate.value, rate.note) for rate in rates] == [(None, "no answer")] * 2


def test_a_column_counts_the_scenes_that_its_own_way_of_asking_has() -> None:
    tables = Report(3, models=("prior", "seer")).tables()
    rows = tables["accuracy"]
    isolated = rows[rows["topic"].eq("flags")].assign(prompting="isolated", base_images=2)
    isolated = isolated[isolated["model"].eq("seer")]
    accuracy = Accuracy.build(pd.concat([rows, isolated]), ["flags", "game_boards"], ["prior"])
    columns = [
        AccuracyColumn(prompting or "plain", topic, prompting=prompting)
        for topic in ("flags", "game_boards")
        for prompting in (None, "isolated")
    ]
    for way, flags in ((BASELINE, "6 scenes"), ("isolated", "2 scenes")):
        (group,) = accuracy.table("Flags", columns, way).groups
        assert [head.detail for head in group.heads] == [flags, "2 scenes", "6 scenes", ""]


def test_without_a_model_the_paper_speaks_and_no_finding_is_made_up(tmp_path: Path) -> None:
    index = build(tmp_path / "report", **Report(1, models=("prior", "pixels")).tables())
    assert heading(index).startswith("The paper: 5 models count right in 17.05")
    assert "As published: The paper’s Table 2" in read(index)
    assert "The stand-ins' means are over 2 of 7 topics" in read(index)
    assert "No model has answered yet." in read(index)


def test_counts_that_stand_beside_each_other_agree(tmp_path: Path) -> None:
    """4 flags, 2 animals by two painters, 2 logos; the originals stand beside them."""
    tables = Report(2, ("flags",), painted=PAINTED).tables() | {"complete": 30}
    index = build(tmp_path / "report", **tables)
    told = read(index)
    here, whole, beside = map(
        int,
        re.findall(r"(\d+) of the benchmark’s (\d+) images are here, and (\d+) pictures", told)[0],
    )
    assert (here, whole) == (24, 30)
    assert here + beside == len(tables["images"])
    proofs = index.read_text().partition('<dl class="proofs">')[2].partition("</dl>")[0]
    counted = [int(number) for number in re.findall(r"<dd>(\d+)</dd>", proofs)]
    *of_proofs, lacking, last = counted
    assert sum(of_proofs) == here
    assert lacking == whole - here
    assert last == whole
    assert f"{here + beside} pictures" in read(index.with_name("gallery.html"))
    assert f"6 of the benchmark’s {whole} images are schematics" in told
    every = [int(n) for n in re.findall(r"(\d+) of the benchmark’s \d+ images", told)]
    assert every == [6, here]
