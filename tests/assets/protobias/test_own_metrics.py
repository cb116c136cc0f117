"""Metrics of the user's own, as docs/protobias.md shows them: a file and a Python function."""

import asyncio
import importlib
import io
import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from assets.kit.table_asset import TablesMismatch
from assets.protobias.own_scores import read_outcomes, read_scores
from assets.protobias.score_table import load_all_scores
from resources.models.backends.python import Python
from resources.models.catalog import CatalogError, load_catalog
from resources.models.replies import UnacceptableRequest
from resources.models.requests import ScoreRequest
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.user_files.rows import UserFileError
from tests.assets.filtered import filtered_rows, write_filtered
from tests.assets.paired import SKETCH
from tests.runs import STAND_INS, checks, failure, materialize, metadata, table

DOCS = (Path(__file__).parents[3] / "docs" / "protobias.md").read_text()
NUMBER = 3


def block(kind, having):
    """The one block of code in the document that has some words."""
    (found,) = (
        text for text in re.findall(rf"```{kind}\n(.*?)```", DOCS, re.DOTALL) if having in text
    )
    return found


@pytest.fixture
def entries(tmp_path, monkeypatch):
    """The document's entries; its function can be imported."""
    (tmp_path / "my_metrics.py").write_text(block("python", "def brightness"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "models.yaml").write_text(block("yaml", "backend: python"))
    return load_catalog(tmp_path / "models.yaml").models


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "data"
    write_filtered(root, "animals", filtered_rows(root, "animals", NUMBER))
    return root


@pytest.fixture
def pictures(root):
    rows = pd.read_parquet(table(root, "filtered_pairs/animals", "sketch", "protobias"))
    return rows[rows["evaluated"]]


def write(root, pictures, rows=()):
    """The document's header, a score for every picture, and further rows."""
    header, *_ = block("csv", "pair,side,score").splitlines()
    lines = [
        f"{row.pair_id},{row.side},{90 if row.side == 'correct' else place}"
        for place, row in enumerate(pictures.itertuples())
    ]
    path = root / "scores" / "sketch.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([header, *lines, *rows, ""]))
    return path


def test_both_stand_in_the_tables_like_any_metric(root, pictures, entries, instance):
    instance.add_dynamic_partitions("painters", ["sketch"])
    path = write(root, pictures, ["animals/who/0,correct,1", "objects/who/0,correct,1"])

    def run(*names, topic="animals|sketch"):
        result = materialize(
            root,
            *names,
            topic=topic,
            models=[*STAND_INS, SKETCH, *entries],
            instance=instance,
            group="protobias",
        )
        assert result.success, failure(result)
        return result

    result = run("scores_from_a_file", "scores_brightness")
    assert set(checks(result).values()) == {True}
    told = metadata(result, "scores_from_a_file", "protobias")
    assert told["bad_rows"] == 1
    wrong = f"| line {len(pictures) + 2} | there is no pair 'animals/who/0' of this painter |"
    assert wrong in told["unusable_rows"]
    assert told["failure_rate"] == 0.0
    by_hand = pd.read_parquet(table(root, "scores_brightness/animals", "sketch", "protobias"))
    for row in by_hand.itertuples():
        png = ImageStore(root=str(root)).get(row.sha256)
        light = Image.open(io.BytesIO(png)).convert("L").resize((1, 1)).getpixel((0, 0))
        assert row.raw == light / 255
        assert len(row.calls) == 1
    home = DataRoot(root=str(root))
    scores = load_all_scores(home, "sketch", entries)
    given = scores[(scores["metric"] == "from_a_file") & (scores["side"] == "correct")]
    assert set(given["score"]) == {0.9}
    run("summary", topic="sketch")
    summary = pd.read_parquet(root / "protobias" / "summary" / "sketch.parquet")
    assert {"from_a_file", "brightness"} <= set(summary["metric"])

    assert (
        metadata(run("scores_brightness"), "scores_brightness", "protobias")["requests_sent"] == 0
    )
    path.write_text(path.read_text().replace(",90", ",91"))
    with pytest.raises(
        TablesMismatch, match=r"The file of protobias/scores_from_a_file.*has changed"
    ):
        load_all_scores(home, "sketch", entries)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{first},correct,", "`score` is empty"),
        ("{first},correct,many", "`score` is 'many': write a valid number"),
        ("{first},correct,nan", "write a finite number"),
        ("{first},correct,101", "not from 0 to 100"),
        ("{first},left,1", "`side` is 'left'. Choose from correct, adversarial"),
        ("{second},correct,3", "scores {second} (correct) again, as line 3 does"),
    ],
)
def test_a_row_of_no_use_is_named_and_its_picture_has_failed(
    root, pictures, entries, line, problem
):
    """The first pair has no row of its own for the correct side; the second has."""
    first, second = pictures["pair_id"].unique()[:2]
    path = write(root, pictures)
    lines = path.read_text().splitlines()
    lines.remove(next(each for each in lines if each.startswith(f"{first},correct")))
    named = {"first": first, "second": second}
    path.write_text("\n".join([*lines, line.format(**named)]))
    model, wanted = entries[0], pictures.to_dict("records")
    given = read_scores(model, DataRoot(root=str(root)), "sketch")
    ended, wrong = read_outcomes(given, model, "animals", list(pictures["pair_id"]), wanted)
    assert list(wrong["row"]) == [f"line {len(lines) + 1}"]
    assert problem.format(**named) in wrong["problem"].iloc[0]
    outcomes = {
        (row["pair_id"], row["side"]): ending for row, ending in zip(wanted, ended, strict=True)
    }
    failed = [key for key, ending in outcomes.items() if ending["outcome"] == "failed"]
    assert failed[0] == (first, "correct")
    assert failed[1:] == ([(second, "correct")] if line.startswith("{second}") else [])
    assert all(outcomes[key].get("raw") is None for key in failed)


def test_all_three_kinds_of_file_say_the_same(root, pictures, entries):
    path = write(root, pictures)
    rows = pd.read_csv(path)
    rows.to_parquet(path.with_suffix(".parquet"))
    path.with_suffix(".jsonl").write_text(
        "\n".join(json.dumps(row) for row in rows.to_dict("records"))
    )
    wanted, said = pictures.to_dict("records"), []
    for suffix in (".csv", ".parquet", ".jsonl"):
        model = entries[0].model_copy(update={"model": f"scores/{{painter}}{suffix}"})
        given = read_scores(model, DataRoot(root=str(root)), "sketch")
        said.append(read_outcomes(given, model, "animals", list(pictures["pair_id"]), wanted)[0])
    assert said[0] == said[1] == said[2]
    assert {ending["outcome"] for ending in said[0]} == {"scored"}


def test_a_file_that_is_of_no_use_is_named_with_the_remedy(root, pictures, entries):
    home, path = DataRoot(root=str(root)), write(root, pictures)
    whose = entries[0].model_copy(update={"model": "scores/sketch.csv"})
    with pytest.raises(UserFileError, match="does not name the painter of its pictures"):
        read_scores(whose, home, "sketch")
    path.write_text("pair,side\na,b\n")
    with pytest.raises(UserFileError, match="no column 'score'"):
        read_scores(entries[0], home, "sketch")
    path.unlink()
    with pytest.raises(UserFileError, match=r"sketch\.csv is not there"):
        read_scores(entries[0], home, "sketch")
    path.with_suffix(".jsonl").write_text("[" * 100_000)
    deep = entries[0].model_copy(update={"model": "scores/{painter}.jsonl"})
    score_file = read_scores(deep, home, "sketch")
    _, wrong = read_outcomes(score_file, deep, "animals", list(pictures["pair_id"]), [])
    assert wrong.to_dict("records") == [
        {"row": "line 1", "problem": "it is no JSON object on one line"}
    ]


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("parameters: {}", "has no `version`"),
        ('parameters: {version: "1", scale: [1, 0]}', "has the `scale` [1, 0]"),
        ('parameters: {version: "1", batch: 3}', "has `batch`: remove it"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(tmp_path, field, said):
    path = tmp_path / "models.yaml"
    entry = block("yaml", "backend: python").partition("- name: brightness")[2]
    entry = re.sub(r"parameters:.*", field, f"- name: brightness{entry}")
    path.write_text(entry)
    with pytest.raises(CatalogError) as error:
        load_catalog(path)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('too dark')", "raised ValueError: too dark"),
        ("return 'bright'", "which is no number"),
        ("return float('nan')", "gave nan, not 0 to 1"),
        ("return 2", "gave 2.0, not 0 to 1"),
    ],
)
def test_what_a_function_cannot_score_has_failed(tmp_path, monkeypatch, entries, body, said):
    (tmp_path / "their_metrics.py").write_text(f"def brightness(image, text):\n    {body}\n")
    # Written so soon after the other that the folder's time of change may be the same.
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "their_metrics", raising=False)
    model = entries[1].model_copy(update={"model": "their_metrics:brightness"})
    png = io.BytesIO()
    Image.new("RGB", (2, 2)).save(png, "PNG")
    backend = Python(model, None, lambda digest: png.getvalue())
    with pytest.raises(UnacceptableRequest, match=said):
        asyncio.run(backend.score(ScoreRequest("A text.", "0")))
