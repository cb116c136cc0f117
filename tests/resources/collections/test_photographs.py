"""The photographs that come with the project: their licences, and what is said of them."""

import re
from collections import Counter
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from assets.cdh_bench.questions import check_contrasts
from assets.judge_sets.pair_checks import check_pairs
from assets.mm_judge_bias.items import check_items
from generators.prompts.negation import check_negation, negate
from resources.collections import load
from resources.collections.collecting import collect
from resources.collections.judge_biases import JUDGE_BIASES

PROJECT = Path(__file__).parents[3]
FOLDER = PROJECT / "photographs"
LICENCES = {"public domain", "CC0 1.0", "CC BY 2.0"}
"""Licences by which changed copies may be passed on."""


@pytest.fixture(scope="module")
def questions():
    return pd.read_csv(FOLDER / "questions.csv", keep_default_na=False).to_dict("records")


def test_each_picture_has_a_licence_that_names_it_by_its_bytes(questions):
    sources = pd.read_csv(FOLDER / "sources.csv")
    files = {path.name: path.read_bytes() for path in FOLDER.glob("*.jpg")}
    assert {row["image"] for row in questions} == files.keys() == set(sources["file"])
    assert sum(map(len, files.values())) < 500_000
    assert sources.notna().all(axis=None)
    text = (PROJECT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^\| `(\w+\.jpg)` \| (.+) \| \[?(.+?)\]?(?:\(.+\))? \| `(\w+)` \|$", text, re.M
    )
    assert len(listed) == len(sources)
    for source, (file, title, licence, digest) in zip(sources.itertuples(), listed, strict=True):
        assert source.file == file
        assert title == f"[{source.title}]({source.source}), {source.author}"
        assert source.licence == licence
        assert licence in LICENCES
        assert source.sha256 == sha256(files[file]).hexdigest()
        assert source.sha256.startswith(digest)


def test_each_picture_has_an_instruction_captions_and_as_many_questions_of_either_answer(questions):
    for _, group in groupby(questions, lambda row: row["image"]):
        rows = [*group]
        assert len({(row["domain"], row["keyword"], row["instruction"]) for row in rows}) == 1
        captions = [row["caption"] for row in rows if row["caption"]]
        assert 2 <= len(captions) == len({*captions})
        assert Counter(row["answer"] for row in rows) == {"yes": 2, "no": 2}
    for row in questions:
        assert check_negation(row["question"], negate(row["question"]).question) is None


def test_all_rows_are_taken_by_the_entry_that_the_documents_show(questions, stores):
    entry = (PROJECT / "collections.yaml").read_text(encoding="utf-8").split("- name: ")[1]
    entry = f"- name: {entry.partition('#')[0].strip()}"
    assert f"```yaml\n{entry}\n```" in (PROJECT / "docs" / "collections.md").read_text()
    rows = list(collect(load(PROJECT / "collections.yaml")["photographs"], *stores))
    assert {row["outcome"] for row in rows} == {"taken"}
    for row, question in zip(rows, questions, strict=True):
        assert row["image_id"] == f"photographs/{question['name']}"
        assert (row["question"], row["answer"]) == (question["question"], question["answer"])
        assert row["text"] == question["instruction"]
        assert row["references"] == [caption for caption in [question["caption"]] if caption]


def test_of_two_responses_to_each_question_people_prefer_the_right_one(questions, stores):
    pairs = pd.read_csv(FOLDER / "pairs.csv").to_dict("records")
    copied = ("name", "image", "domain", "question")
    assert [[row[name] for name in copied] for row in pairs] == [
        [row[name] for name in copied] for row in questions
    ]
    for pair, question in zip(pairs, questions, strict=True):
        right = pair[pair["preferred"]].lower()
        assert re.split(r"\W", right)[0] == question["answer"]
    collection = load(PROJECT / "collections.yaml")["photograph_pairs"]
    checked, _ = check_pairs(collect(collection, *stores), collection)
    assert Counter(row["outcome"] for row in checked) == {"taken": 36}
    is_longer_right = [
        (len(row["response_a"]) > len(row["response_b"])) == (row["preferred"] == "a")
        for row in checked
    ]
    assert sum(is_longer_right) == 18, "length tells nothing"


def read_pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=float)


@pytest.mark.parametrize(
    "usual", sorted(FOLDER.glob("changed/images/*/*/commonsense.png")), ids=str
)
def test_an_unusual_picture_is_the_usual_one_upside_down_or_in_the_opposite_hues(usual):
    pixels, changed = read_pixels(usual), read_pixels(usual.with_name("counterfactual.png"))
    with Image.open(FOLDER / f"{usual.parent.name}.jpg") as photograph:
        copy = photograph.convert("RGB").resize(pixels.shape[1::-1])
    assert abs(np.asarray(copy, dtype=float) - pixels).mean() < 8
    if usual.parents[1].name == "direction":
        assert (changed == pixels[::-1, ::-1]).all()
        return
    # Opposite hues: lightest and darkest channel of a pixel stay, and the one between is mirrored.
    lightest, darkest = pixels.max(axis=2), pixels.min(axis=2)
    opposite = (lightest + darkest)[..., None] - pixels
    assert abs(opposite - changed).max() <= 6, "the hue is a whole number of 256"


def test_pairs_about_changed_photographs_are_taken_with_labels_of_their_names(stores):
    collection = load(PROJECT / "collections.yaml")["photograph_contrasts"]
    rows = check_contrasts(collect(collection, *stores), collection.name)
    assert Counter(row["outcome"] for row in rows) == {"taken": 24}
    assert {row["pair_id"].rpartition("/")[2] for row in rows} == {
        path.parent.name for path in FOLDER.glob("changed/images/*/*/commonsense.png")
    }
    binary = Counter(row["expected_bias"] for row in rows if row["form"] == "binary")
    assert binary == {"Yes": 6, "No": 6}
    for row in rows:
        if row["form"] == "choice":
            option = row["options"]["ABCD".index(row["ground_truth"])].lower()
            is_unusual = row["side"] == "counterfactual"
            assert (option in {"blue", "purple", "down"}) == is_unusual


def test_items_about_photographs_are_two_of_each_bias_and_all_taken(stores):
    collection = load(PROJECT / "collections.yaml")["photograph_biases"]
    rows = check_items(collect(collection, *stores), collection.name)
    assert Counter(row["outcome"] for row in rows) == {"taken": 36}
    assert Counter(row["bias"] for row in rows) == dict.fromkeys(JUDGE_BIASES, 4)
    files = [path for path in FOLDER.glob("changed/**/*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 250_000
