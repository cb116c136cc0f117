"""collections.yaml: what it holds, and what is said of one that is wrong."""

import re
from pathlib import Path

import pytest

from resources.collections import CollectionError, collections_path, load

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def loaded(tmp_path):
    def load_text(text):
        (tmp_path / "collections.yaml").write_text(text)
        return load(tmp_path / "collections.yaml", painters=["flux"])

    return load_text


def test_the_file_that_comes_with_the_project_has_photographs_and_its_examples_load(loaded):
    samples = ["photographs", "photograph_pairs", "photograph_contrasts", "photograph_biases"]
    assert [*load(PROJECT / "collections.yaml")] == samples
    text = (PROJECT / "collections.yaml").read_text(encoding="utf-8")
    examples = re.sub(r"(?m)^# (?=- |  )", "", text)
    assert len(loaded(examples)) == len(re.findall(r"(?m)^- name: ", examples)) > 9


def test_paths_start_at_the_files_folder(loaded, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    found = loaded(
        "- {name: a, path: one/a.csv, images: ~/pictures}\n- {name: b, path: /two/b.csv}\n"
    )
    assert (found["a"].path, found["a"].images) == (f"{tmp_path}/one/a.csv", "/home/ada/pictures")
    assert (found["b"].path, found["b"].folder) == ("/two/b.csv", Path("/two"))


def test_another_file_can_be_named(monkeypatch, tmp_path):
    assert collections_path() == PROJECT / "collections.yaml"
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "mine.yaml"))
    assert collections_path() == tmp_path / "mine.yaml"
    with pytest.raises(CollectionError, match="an empty file will do"):
        load(collections_path())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("a: b", "line 1: not a list of collections"),
        ("- 5", "line 1, entry 1: the entry is no mapping"),
        ("- {path: x}", "line 1, entry 1: `name` is missing: letters, digits and _"),
        ("- {name: a-b, path: x}", "line 1, a-b: `name` is 'a-b', which cannot name an asset"),
        ("- {name: a}", "`path` is missing: the table, or the folder"),
        ("- {name: a, path: s3://x}", "`path` is an address: download what is there"),
        ("- {name: a, path: x, column: {}}", "`column` is no field, did you mean columns?"),
        (
            "- name: a\n  path: x\n  columns: {txt: b}",
            "line 3, a: `columns.txt` is no field, did you mean text?",
        ),
        (
            "- {name: a, path: x, columns: {human_score: b}}",
            "`scale` is missing: the least and the greatest human score, as in [1, 5]",
        ),
        ("- {name: a, path: x, scale: [1, 5]}", "`scale` has no effect without `human_score`"),
        (
            "- {name: a, path: x, columns: {human_score: b}, scale: [5, 1]}",
            "`scale` has to be the least and then the greatest score",
        ),
        ("- {name: a, path: x, encoding: utf-9}", "`encoding` is 'utf-9', which is no encoding"),
        ("- {name: a, path: x, encoding: base64}", "`encoding` is 'base64', which is no encoding"),
        (
            "- {name: a, path: x, licence: Foo-9}",
            "line 1, a: `licence` is 'Foo-9', which is not on SPDX's list",
        ),
        ("- {name: a, path: x}\n- {name: Flux, path: x}", "line 2, Flux: `name` 'Flux' is that of"),
        (
            "- {name: a, path: x}\n- {name: A, path: x}",
            "line 2, A: `name` 'A' is taken on line 1 (capitals do not tell names apart)",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(loaded, entry, message):
    with pytest.raises(CollectionError) as error:
        loaded(entry)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("cc-by-4.0", "CC-BY-4.0"),
        ("MIT OR CC0-1.0", "MIT OR CC0-1.0"),
        ("LicenseRef-mine", "LicenseRef-mine"),
        ("public domain", "public domain"),
    ],
)
def test_a_licence_gets_its_spdx_name_or_stays_in_words(loaded, text, licence):
    collections = loaded(f"- {{name: a, path: x, licence: {text}}}")
    assert collections["a"].licence == licence
