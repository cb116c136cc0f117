"""The photographs that come with the project: their licences, and what is said of them."""

import re
from collections import Counter
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest

from assets.judge_sets.pair_checks import check_pairs
from generators.prompts.negation import check_negation, negate
from resources.collections import load
from resources.collections.collecting import collect

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
