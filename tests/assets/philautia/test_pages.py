"""The report's pages, of tables that are written by hand."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assets.philautia.examples import find_examples
from assets.philautia.pages import REPORT, ComparedDataset, charts, paper, tables
from assets.philautia.pomms import POMMS, PommsConfig, pomms_rows
from assets.philautia.preference_matrix import MATRIX, UNSTORED_KEYS, matrix_rows
from assets.philautia.score_arrays import gather_ratings, gather_scores
from assets.report.exhibits import Gallery
from assets.report.publish import publish
from generators.prompts.captioning import SETTINGS
from tests.assets.philautia.test_numbers import IMAGES, MODELS, QUALITY, everybody, table
from tests.providers.pictures import png


def dataset(scores, models=MODELS, name="zoo", **more):
    """A dataset as the report reads it."""
    settings = {setting: gather_scores(scores, setting, models, models) for setting in SETTINGS}
    known = {"dataset": name}
    matrix = [row | known for found in settings.values() for row in matrix_rows(found)]
    pomms = [
        row | known | {"setting": setting}
        for setting, found in settings.items()
        for row in pomms_rows(found, gather_ratings(scores, setting, models), PommsConfig())
    ]
    captions = {
        model.name: pd.DataFrame(
            [
                {
                    "image_id": f"zoo/{n}",
                    "sha256": f"{n:064}",
                    "caption": f"{model.name} <b>{n}</b>",
                }
                for n in range(IMAGES)
            ]
        ).set_index("image_id", drop=False)
        for model in models
    }
    examples = [each for found in settings.values() for each in find_examples(found, captions)]
    both = (
        MATRIX.build_table(matrix, UNSTORED_KEYS).to_pandas(),
        POMMS.build_table(pomms, ["panel"]).to_pandas(),
    )
    return ComparedDataset(name, *both, examples, {"ann": "2026-11-20"}, **more)


@pytest.fixture(scope="module")
def partial():
    lacking = table("dot")
    lacking.loc[lacking.index[:3], "score"] = float("nan")
    return dataset(everybody(cid=table("cid", own=9), dot=lacking))


def published(folder, *datasets):
    site = REPORT.build(datasets, facts={})
    publish(folder, site, png)
    return site, {path.name: path.read_text("utf-8") for path in folder.glob("*.html")}


def test_the_finding_says_who_gives_its_own_how_many_points_more(partial):
    (row,) = (row for row in partial.models("reference_free") if row["generator"] == "cid")
    assert REPORT.finding([partial]).sentence.startswith(
        f"cid gives its own captions {row['preference']:.1f} points more than others would, of "
        "100, on zoo, without references; 1 of 5 judges prefer their own."
    )
    assert REPORT.finding([partial]).firmness == "result"


def test_nobody_who_is_partial_few_pictures_and_stand_ins_are_said():
    assert (
        "None of 5 judges is seen to prefer captions of its own"
        in REPORT.finding([dataset(everybody())]).sentence
    )
    few = dataset({name: of[of["image_id"].lt("zoo/2")] for name, of in everybody().items()})
    assert REPORT.finding([few]).firmness == "trial"
    assert REPORT.finding([few]).sentence.startswith(
        "No model is ranked on zoo yet. ann: 12 of at least 20 pictures; "
    )
    offline = dataset({name: of.assign(is_stand_in=True) for name, of in everybody().items()})
    assert REPORT.finding([offline]).firmness == "stand-in"
    assert REPORT.finding([offline, few]).subject is few


def test_a_heat_map_says_what_colours_say_and_frames_a_judges_own(partial):
    found = tables.heat_map(partial, "reference_free")
    lines = {line.label: dict(zip(["ann", "bob", "cid", "dot", "eve"], line.cells, strict=True))
             for line in found.lines}  # fmt: skip
    assert [head.label for head in found.groups[0].heads] == ["ann", "bob", "cid", "dot", "eve"]
    assert all(cell.framed == (label == name) for label, of in lines.items()
               for name, cell in of.items())  # fmt: skip
    own = lines["cid"]["cid"]
    assert own.heat > 0.9
    assert own.text == f"{own.numbers['']:+.1f}"
    assert own.detail == f"{own.numbers['standardized']:.2f}"
    for cell in (cell for of in lines.values() for cell in of.values()):
        assert cell.heat == pytest.approx(cell.numbers[""] / own.numbers[""])
    assert min(cell.heat for of in lines.values() for cell in of.values()) < 0
    assert lines["ann"]["dot"].note == "1 missing"
    assert lines["ann"]["ann"].note == ""


@pytest.fixture(scope="module")
def related():
    """`ann` and `bob` are of one family and give each other 6 points more, and themselves 8."""
    family = {"ann": "one", "bob": "one"}
    models = [model.model_copy(update={"family": family.get(model.name)}) for model in MODELS]
    scores = everybody()
    for judge in family:
        kin = scores[judge]["generator"].isin(family)
        scores[judge]["score"] += 6.0 * kin + 2.0 * scores[judge]["generator"].eq(judge)
    return dataset(scores, models)


def test_every_page_shows_one_number_and_families_are_not_part_of_what_is_usual(related):
    matrix = tables.heat_map(related, "reference_free")
    own = {line.label: cell for line in matrix.lines for cell in line.cells if cell.framed}
    in_table = {line.label: line.cells[0] for line in tables.self_preference([related]).lines}
    drawn = {
        bar.label: bar.marks[0] for bar in charts.self_preference(related, "reference_free").bars
    }
    front = {each.model: each for each in REPORT.judged([related], {"zoo": Gallery({})}).standings}
    for name, cell in own.items():
        assert cell.text == in_table[name].text == drawn[name].text
        assert cell.numbers[""] == in_table[name].numbers[""]
        assert cell.numbers[""] == pytest.approx(100 * front[name].value)
    assert own["ann"].numbers[""] == pytest.approx(8, abs=2)
    assert own["bob"].numbers[""] == pytest.approx(8, abs=2)
    mean = [row for row in related.part("reference_free", "model") if row["generator"] == "all"]
    test = related.test_of_self("reference_free")
    rows = related.part("reference_free", "test")
    assert test["p"] is not None
    assert mean[0]["preference"] == pytest.approx(np.mean([c.numbers[""] for c in own.values()]))
    (family,) = related.families("reference_free")
    assert family["preference"] == pytest.approx(6, abs=2)
    assert [row["tested"] for row in rows if row["p"] is not None] == ["self-preference", "one"]


def test_what_is_missing_is_beside_the_points_and_where_it_matters_nothing_is_ranked(tmp_path):
    """`cid` gives none of its poorest captions a score, of which all have the same opinion."""
    poor = np.arange(IMAGES) % 4 == 0
    scores = everybody()
    for judge in scores:
        mine = scores[judge]["generator"].eq("cid").to_numpy()
        scores[judge].loc[mine, "score"] -= np.where(poor, 40.0, 0.0)
        if judge == "cid":
            scores[judge].loc[mine & np.repeat(poor, len(QUALITY)), "score"] = float("nan")
    found = dataset(scores)
    (row,) = (row for row in found.models("reference_free") if row["generator"] == "cid")
    assert row["preference"] > 5
    assert row["complete_preference"] == pytest.approx(0, abs=2.5)
    assert (row["complete_images"], row["missing_matters"]) == (IMAGES - poor.sum(), True)
    table = tables.self_preference([found])
    assert [head.label for head in table.groups[0].heads] == ["Points", "Φ̃", "Complete pictures"]
    cells = {line.label: line.cells[2] for line in table.lines}
    assert (cells["cid"].note, cells["ann"].note) == ("22 pictures, differs", "22 pictures")
    assert found.evidence("reference_free", "cid").firmness == "trial"
    assert "cid" not in REPORT.finding([found]).sentence
    (told,) = (each for each in found.problems("reference_free") if each.startswith("cid:"))
    assert told.endswith("Which scores are missing makes the difference: go by the second.")
    _, pages = published(tmp_path / "site", found)
    assert told in pages["index.html"]
    assert told in pages["dataset-zoo.html"]


def test_missing_cells_are_marked_and_never_zero():
    bare = table("bob", ["ann", "bob", "cid", "dot"])
    empty = table("cid")
    empty.loc[empty["generator"].eq("ann"), "score"] = float("nan")
    found = tables.heat_map(dataset(everybody(bob=bare, cid=empty)), "reference_free")
    cells = {line.label: line.cells for line in found.lines}
    assert (cells["eve"][1].text, cells["eve"][1].note) == ("", "not asked")
    assert (cells["ann"][2].text, cells["ann"][2].note) == ("", "no score, 30 missing")
    assert "" not in cells["ann"][2].numbers


def test_every_number_of_the_paper_stands_on_its_page():
    """Printed there as here, in the order of rows and columns."""
    path = Path(paper.__file__).with_name("paper.csv")
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 9 * 5 + 2 * 12
    agreement, scores = paper.agreement(), paper.philautia()
    shown = [cell.numbers[""] for line in agreement.lines for cell in line.cells]
    assert shown == [float(row["value"]) for row in rows[:45]]
    assert [cell.numbers[""] for line in scores.lines for cell in line.cells] == [
        float(row["value"]) for row in rows[45:]
    ]
    by_name = {line.label: [cell.text for cell in line.cells] for line in agreement.lines}
    assert by_name["GPT-4o"] == ["56.1", "53.2", "61.5", "59.7", "1.08"]
    assert by_name["(iii) + LLaVA-OneVision-7B"][-1] == "−0.19"


def test_the_site_shows_examples_with_what_each_judge_gave(tmp_path, partial):
    site, pages = published(tmp_path / "site", partial)
    page = pages["dataset-zoo.html"]
    assert "cid &lt;b&gt;" in page
    assert "cid <b>" not in page
    pictures = {part.partition('"')[0] for part in page.split('<img src="')[1:]}
    assert len(pictures) >= 3
    assert all((tmp_path / "site" / each).exists() for each in pictures)
    assert "cid, its own" in page
    assert re.search(r"mean \d", page)
    assert site.entry.finding in pages["index.html"].replace("&#39;", "'")


def test_an_example_stands_beside_the_writer_that_disagrees_most_on_both_captions():
    tables = everybody(cid=table("cid", own=9))
    captions = {
        model.name: pd.DataFrame(
            {"sha256": "0", "caption": model.name}, [f"zoo/{number}" for number in range(IMAGES)]
        )
        for model in MODELS
    }
    standard = {
        judge: rows.assign(z=(rows["score"] - rows["score"].mean()) / rows["score"].std(ddof=0))
        for judge, rows in tables.items()
    }

    def compare(judge, image, caption, other):
        z = standard[judge].set_index(["image_id", "generator"])["z"]
        return z[image, caption] - z[image, other]

    examples = find_examples(gather_scores(tables, SETTINGS[0], MODELS, MODELS), captions)
    assert {example.model for example in examples} == set(QUALITY)
    assert sum(example.rival is not None for example in examples) > 1
    for example in examples:
        own, image = example.model, example.image_id
        disagreements = {
            other: compare(own, image, own, other) - compare(other, image, own, other)
            for other in QUALITY
            if other != own and compare(own, image, own, other) > 0
        }
        rival = max(disagreements, key=disagreements.__getitem__, default=None)
        if rival is None or disagreements[rival] <= 0:
            assert example.rival is None
            continue
        assert (example.rival.model, example.rival.caption) == (rival, rival)
        given = tables[own].set_index(["image_id", "generator"])["score"]
        assert example.rival.scores[own] == given[image, rival]


def test_without_scores_of_both_captions_an_example_has_no_rival():
    bob = table("bob")
    bob.loc[bob["generator"].eq("bob"), "score"] = np.nan
    pair = {
        "ann": table("ann", ["ann", "bob"], own=9),
        "bob": bob[bob["generator"].isin(["ann", "bob"])],
    }
    captions = {
        model.name: pd.DataFrame(
            {"sha256": "0", "caption": model.name}, [f"zoo/{number}" for number in range(IMAGES)]
        )
        for model in MODELS[:2]
    }
    examples = find_examples(gather_scores(pair, SETTINGS[0], MODELS[:2], MODELS[:2]), captions)
    assert {example.model for example in examples} == {"ann"}
    assert {example.rival for example in examples} == {None}


def test_the_front_page_is_told_the_very_numbers_of_the_dataset(tmp_path, partial):
    site, _ = published(tmp_path / "site", partial)
    standings = {(each.model, each.scope): each for each in site.judged.standings}
    assert len(standings) == len(MODELS)
    own = standings["cid", "captions of zoo, without references"]
    (row,) = (row for row in partial.models("reference_free") if row["generator"] == "cid")
    assert (own.value, own.low, own.high) == tuple(
        pytest.approx(row[f"preference{end}"] / 100) for end in ("", "_low", "_high")
    )
    assert (own.items, own.unit, own.firmness) == (IMAGES, "pictures", "result")
    assert {each.model for each in site.judged.failures} == {"cid"}
    (first, *_) = site.judged.failures
    assert (tmp_path / "site" / first.picture).exists()
    page, _, anchor = first.link.partition("#")
    assert f'id="{anchor}"' in (tmp_path / "site" / page).read_text("utf-8")
    captions = [f"cid <b>{number}</b>" for number in range(IMAGES)]
    assert any(f"Its own: “{caption}”" in first.question for caption in captions)
    assert re.search(r"By (ann|bob|dot|eve): “\1 <b>\d+</b>”", first.question)
    assert re.fullmatch(r"[\d.]+ for its own, [\d.]+ for that by \w+", first.answer)
    assert re.fullmatch(r"not known; \w+ gives [\d.]+ and [\d.]+", first.truth)
    assert first.alt == "The picture that is described"
    assert standings["ann", own.scope].date == "2026-11-20"


def test_a_dataset_of_one_model_has_pages_as_well(tmp_path):
    alone = dataset({"ann": table("ann", ["ann"])}, MODELS[:1])
    _, pages = published(tmp_path / "site", alone)
    assert "ann alone is no panel" in pages["dataset-zoo.html"]
    assert "ann: no preference can be told, which takes a second model." in pages["index.html"]
