"""Isolated pictures: what judges are shown, what is refused, what is released and reported."""

import re
from pathlib import Path

import pandas as pd
import pytest

from assets.kit.release_tables import ReleaseInputs
from assets.vlmbias.release import RELEASE_TABLES
from generators.topics import DRAWN
from metrics import isolation_table
from resources.models.catalog import Catalog
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from tests.assets.asked import answers, ask, questions
from tests.assets.vlmbias.site_data import Made, Report, build
from tests.assets.vlmbias.test_front import read
from tests.runs import TOPIC, failure, rewrite, table

PAIR = ("baseline", "isolated")


def of_benchmark(root):
    rows = questions(root)
    return rows[rows["image_set"].eq("benchmark") & rows["question_id"].isin(["Q1", "Q2", "Q3"])]


def test_a_judge_is_shown_the_isolated_picture_with_the_same_words(root, judge, server):
    assert ask(root, judge, "isolated").success
    isolated = pd.read_parquet(table(root, "isolated_images"))
    assert set(isolated["image_set"]) == {"isolated"}
    assert set(isolated["domain"]) == {TOPIC}
    digests = dict(zip(isolated["image_id"], isolated["sha256"], strict=True))
    images, asked = ImageStore(root=str(root)), of_benchmark(root)
    expected = {
        ((row.question,), (images.get(digests[row.image_id]),)) for row in asked.itertuples()
    }
    assert {(each.texts, each.images) for each in server.received} == expected
    rows = answers(root)
    assert list(rows["shown_sha256"]) == [digests[name] for name in rows["image_id"]]
    assert (rows["shown_sha256"] != rows["sha256"]).all()
    count = server.count
    assert ask(root, judge, "isolated").success
    assert server.count == count


FAULTS = {
    "isolated_images": (
        lambda rows: [row | {"seed": 1} for row in rows],
        r"isolated_images \(game_boards\): lacks game_boards/.* of seed 0",
    ),
    "isolated_measurements": (
        lambda rows: [row | {"measured": row["measured"] + 1} for row in rows],
        r"has a label that its pixels do not show .* vlmbias/isolated_measurements",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_is_asked_about_pictures_that_are_not_proved(root, judge, server, name):
    spoil, message = FAULTS[name]
    rewrite(table(root, name), spoil)
    assert re.search(message, failure(ask(root, judge, "isolated")))
    table(root, name).unlink()
    assert "not proved yet. Materialize vlmbias/isolated_images" in failure(
        ask(root, judge, "isolated")
    )
    assert server.count == 0


def test_the_published_splits_without_background_are_released_of_what_is_drawn(root):
    inputs = ReleaseInputs(
        DataRoot(root=str(root)), ImageStore(root=str(root)), None, Catalog(()), (TOPIC,)
    )
    isolated = pd.read_parquet(table(root, "isolated_images"))
    released = {
        split: list(RELEASE_TABLES[0].read_rows(inputs, f"remove_background_{split}"))
        for split in ("q1q2", "q3")
    }
    for rows in released.values():
        assert {row.cells["image"] for row in rows} == set(isolated["sha256"])
        assert {row.proof for row in rows} == {"pixels"}
        assert all("_remove_background_Q" in row.row_id for row in rows)
    asked = of_benchmark(root)
    assert len(released["q1q2"]) == asked["question_id"].isin(["Q1", "Q2"]).sum() > 0
    assert len(released["q3"]) == asked["question_id"].eq("Q3").sum() > 0
    table(root, "isolated_images").unlink()
    assert not list(RELEASE_TABLES[0].read_rows(inputs, "remove_background_q3"))


def answer(model: str, prompting: str, question: dict) -> dict | None:
    """vlm-1 counts right once nothing surrounds what it counts; vlm-2 is never asked so."""
    if prompting == "isolated" and (model == "some/vlm-2" or question["variant"] == "original"):
        return None
    is_right = prompting == "isolated" or question["question_id"] == "Q2"
    return {"answer": question["ground_truth" if is_right else "expected_bias"]}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> tuple[Path, pd.DataFrame]:
    report = Report(
        2,
        DRAWN,
        models=("some/vlm-1", "some/vlm-2"),
        promptings=PAIR,
        answering=answer,
        painted=[("animals", Made("artist", "accepted"))],
    )
    tables = report.tables()
    return build(tmp_path_factory.mktemp("isolated") / "report", **tables), tables["answers"]


def test_the_page_says_what_a_judge_gains_without_surroundings(site):
    index, rows = site
    section = index.read_text().partition('id="surroundings"')[2].partition("</section>")[0]
    (row,) = isolation_table(rows).query("questions == 'Q1 & Q2'").itertuples()
    assert (row.isolated_accuracy, row.whole_accuracy, row.topics) == (1.0, 0.5, len(DRAWN) + 1)
    low, high = (f"{100 * end:+.1f}" for end in (row.difference_low, row.difference_high))
    text = " ".join(re.sub(r"<[^>]+>", " ", section).replace("\u00a0", " ").split())
    assert (
        f"some/vlm-1 is right in 100 % without the surroundings and in 50 % with them: "
        f"+50.0 [{low}, {high}] points."
    ) in text
    assert "some/vlm-2 is right" not in text
    pictures = re.findall(r'<img src="([^"]+)"', section)
    assert len(pictures) == 2
    assert all((index.parent / path).exists() for path in pictures)
    assert re.search(r"says <b class=\"wrong\">\d+</b> with the surroundings", section)


def test_the_front_page_has_a_column_of_it(site):
    index, _ = site
    assert "Gain without surroundings" in (index.parent / "standings.json").read_text()
    assert "50.0" in read(index.parent / "index.html")
