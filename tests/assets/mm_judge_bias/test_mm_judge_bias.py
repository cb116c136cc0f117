"""MM-JudgeBias's layout, from download to the report, with a judge over HTTP."""

import io
import json
import re
from copy import deepcopy
from random import Random

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assets.kit.benchmarks import build_planners, build_steps, load_benchmarks
from assets.kit.collections import collection_asset, load_listed_collections
from assets.mm_judge_bias.benchmark import BENCHMARK
from assets.mm_judge_bias.items import check_items
from assets.mm_judge_bias.report import BiasReport
from assets.planning import Task, quote_tasks
from assets.report.judge_report import JudgeNumbers
from generators.prompts.response_scores import write_response_score_prompt
from metrics.mm_judge_bias.score_changes import SIDES
from resources.collections import load as load_collections
from resources.collections.collecting import collect
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.assets.plans import plan_context
from tests.providers import Provider
from tests.runs import STAND_INS

ENTRY = "- {name: biased, path: data, images: images, layout: mm_judge_bias}"
SCORES = {
    "text_dominance": [(9, 5), (5, 5)],
    "image_dominance": [(10, 1), (1, 1)],
    "response_dominance": [(4, 7), (7, 4)],
    "instruction_misalignment": [(8, None), (9, 1)],
    "image_misalignment": [(6, 1), (6, 6)],
    "detail_description": [(8, 8), (8, 1)],
    "unnecessary_image": [(10, 1), (5, 10)],
    "visual_transformation": [(6, 4), (3, 3)],
    "texture_insertion": [(None, 5), (1, 4)],
}
"""The judge's scores of two items of each bias, before and after; None for one without a number."""
SAME_PICTURE = ("image_dominance", "instruction_misalignment", "detail_description")
TURNS = [turn for turns in SCORES.values() for turn in turns]
pytestmark = pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run")


def encode(name, red, form="PNG"):
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (red, *Random(name).randbytes(2))).save(file, form)
    return file.getvalue()


def build_items(folder):
    """The published columns; changed pictures are red. Items 1 and 3 have theirs in files."""
    items = []
    (folder / "images").mkdir(parents=True)
    for number, bias in enumerate((bias for bias in SCORES for _ in range(2)), 1):
        before = encode(f"{number}", 5)
        after = before if bias in SAME_PICTURE else encode(f"{number}x", 250)
        if bias in ("text_dominance", "response_dominance"):
            after = None
        pictures = {"unbiased": None if bias == "unnecessary_image" else before, "biased": after}
        instruction = f"Describe thing {number}."
        changed = f"Changed: {instruction}" if bias in SAME_PICTURE else instruction
        items.append(
            {
                "id": number,
                "bias_type": bias,
                "task_type": "captioning",
                "response": f"It is thing {number}, surely.",
                "unbiased_instruction": instruction,
                "biased_instruction": "" if bias == "image_dominance" else changed,
            }
            | {
                f"{side}_image": picture and {"bytes": picture, "path": None}
                for side, picture in pictures.items()
            }
        )
    items[0]["unbiased_image"] = items[2]["unbiased_image"] = items[2]["biased_image"] = None
    (folder / "images/0001_unbiased.jpg").write_bytes(encode("1", 5, "JPEG"))
    (folder / "images/0003.jpg").write_bytes(encode("3", 5, "JPEG"))
    return items


def write_items(folder, items):
    picture = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    table = pa.Table.from_pylist(items)
    for side in ("unbiased", "biased"):
        cells = pa.array([item[f"{side}_image"] for item in items], picture)
        name = f"{side}_image"
        table = table.set_column(table.schema.get_field_index(name), name, cells)
    (folder / "data").mkdir(exist_ok=True)
    pq.write_table(table, folder / "data/test-00000-of-00001.parquet")


def answer(received):
    """The score of the side that was sent, in words or as JSON."""
    number = int(re.search(r"thing (\d+), surely", received.texts[-1])[1])
    bias = [*SCORES][(number - 1) // 2]
    instruction = re.search(r"Instruction:\n(.*)\n", received.texts[-1])[1]
    if bias in SAME_PICTURE:
        is_changed = instruction == "" or instruction.startswith("Changed")
    elif received.images:
        is_changed = Image.open(io.BytesIO(received.images[0])).getpixel((3, 3))[0] > 125
    else:
        is_changed = bias != "unnecessary_image"
    score = TURNS[number - 1][is_changed]
    return "I cannot tell how good it is." if score is None else f'Well. {{"score": {score}}}'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("mm_judge_bias")
    write_items(root, build_items(root))
    (root / "collections.yaml").write_text(ENTRY)
    with pytest.MonkeyPatch.context() as patch, Provider(answer=answer) as server:
        patch.setenv("COUNTERFACTORY_COLLECTIONS", str(root / "collections.yaml"))
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        seer = Model(
            name="seer",
            backend="openai",
            model="seer-1",
            family="seer",
            roles=("judge",),
            base_url=server.openai_url,
            price={"input_per_million": 1.0, "output_per_million": 1.0},
            longest_output=50,
        )
        catalog = Catalog((*STAND_INS, seer))
        definitions = [
            *map(collection_asset, load_listed_collections().values()),
            *BENCHMARK.build_definitions(catalog),
        ]
        task = Task(dg.AssetKey(["mm_judge_bias", "answers_seer"]), "biased", {})
        quotes = []
        answers = [f"mm_judge_bias/answers_{name}" for name in ("prior", "random", "seer")]
        for names, partition in (
            (["collections/biased"], None),
            (["mm_judge_bias/items"], "biased"),
            (answers, "biased"),
            (answers, "biased"),
            (["mm_judge_bias/results"], None),
            (["mm_judge_bias/report"], None),
        ):
            assert dg.materialize(
                definitions,
                selection=dg.AssetSelection.assets(*names),
                partition_key=partition,
                instance=dg.DagsterInstance.ephemeral(),
                resources=build_default_resources(str(root / "out")),
            ).success
            if partition:
                with plan_context(root / "out") as sources:
                    (line,) = quote_tasks(build_planners(catalog), sources, [task]).totals
                quotes.append((line.requests, line.to_send))
        yield root / "out" / "mm_judge_bias", server, quotes


def test_measures_are_those_counted_by_hand(made):
    root, server, quotes = made
    assert len(server.received) == 9 * 2 * 2  # once each, though the answers were made twice
    assert quotes == [(36, 36), (36, 0), (36, 0)]
    bare = [call for call in server.received if not call.images]
    assert len(bare) == 3 * 2  # two biases remove the picture, and one adds it
    table = pd.read_parquet(root / "results.parquet").set_index(["model", "part"])
    deviations = {
        "text_dominance": (4 / 8 + 0) / 2,
        "image_dominance": 1,
        "response_dominance": (0 + 3 / 6) / 2,
        "instruction_misalignment": 1,
        "image_misalignment": (1 + 0) / 2,
    }
    conformities = {
        "detail_description": (1 + 0) / 2,
        "unnecessary_image": 0,
        "visual_transformation": (1 - 2 / 5 + 1) / 2,
        "texture_insertion": 1 - 3 / 9,
    }
    seer = table.loc["seer"]
    assert [*seer.index] == ["all", *SCORES]
    assert seer["deviation"].dropna().drop("all").to_dict() == pytest.approx(deviations)
    assert seer["conformity"].dropna().drop("all").to_dict() == pytest.approx(conformities)
    total = seer.loc["all"]
    assert total["deviation"] == pytest.approx((0.25 + 1 + 0.25 + 1 + 0.5) / 5)
    assert total["conformity"] == pytest.approx((0.5 + 0 + 0.8 + 2 / 3) / 4)
    counts = ["total_items", "items", "answered_items", "requests", "readable"]
    assert total[counts].to_list() == [18, 18, 16, 36, 34]
    assert total[["deviation_items", "conformity_items"]].to_list() == [8, 7]
    prior = table.loc[("prior", "all")]
    assert prior[["deviation", "conformity"]].to_list() == [0, 1]


def test_the_page_has_the_finding_and_the_changed_pictures(made):
    root, *_ = made
    page = root.parent / "report/mm_judge_bias/index.html"
    text = re.sub("<wbr>", "", page.read_text()).replace("\N{NO-BREAK SPACE}", " ")
    assert "takes off 60 % of what it could where evidence is gone or exchanged" in text
    assert "its scores agree by 49 %" in text
    assert "image_misalignment: seer gives 6 before and 1 after the change" in text
    site = json.loads((page.parent / "standings.json").read_text())
    values = {row["measure"]: row["value"] for row in site["standings"] if row["model"] == "seer"}
    assert values == {
        "Bias-Deviation": pytest.approx(0.6),
        "Bias-Conformity": None,  # seven items on few pictures: it may be 0 to 100 %
    }
    # Of the scores that should fall after another picture, one stays.
    (failure,) = (row for row in site["failures"] if row["model"] == "seer")
    assert failure["question"] == "To “Describe thing 10.”, how good is “It is thing 10, surely.”?"
    assert failure["answer"] == "Of 10, before → after: 6 → 6"
    assert failure["picture"] != failure["comparison"] != ""


def test_a_score_that_cannot_fall_is_not_shown_as_wrong():
    columns = ["item_id", "bias", "measure", "side", "sha256", "picture_id", "score"]
    answers = pd.DataFrame(
        [
            (item, "image_misalignment", "deviation", side, digest, "old", score)
            for item, scores in {"lowest": (1, 1), "low": (2, 2), "falls": (2, 1)}.items()
            for side, digest, score in zip(SIDES, ("old", "new"), scores, strict=True)
        ],
        columns=columns,
    ).assign(model="m", instruction=None, judged_response="Fine.")
    numbers = JudgeNumbers(rows=[], totals={"m": {}}, evidence={}, answers=answers)
    (wrong,) = BiasReport().list_wrong_answers(numbers)
    assert wrong.row["item_id"] == "low"


def test_words_of_an_item_are_no_field_of_the_prompt():
    prompt = write_response_score_prompt("Say {response}.", "{instruction}")
    assert "Instruction:\nSay {response}.\n\nResponse:\n{instruction}\n" in prompt


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Reasons of rejected items of a changed file, by the place of the item."""
    root = tmp_path_factory.mktemp("checked")
    items = build_items(root)
    (root / "collections.yaml").write_text(ENTRY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        (collection,) = load_collections(root / "collections.yaml").values()
    stores = ImageStore(root=str(root / "out")), WorkCache(root=str(root / "out"))

    def list_rows(change):
        changed = deepcopy(items)
        change(changed)
        write_items(root, changed)
        return check_items(collect(collection, *stores), "biased")

    def check(change):
        rows = list_rows(change)
        assert len({row["item_id"] for row in rows}) >= 17
        rejected = [row for row in rows if row["outcome"] == "rejected"]
        folder = str(root / "images")
        return {row["location"]: row["reason"].replace(folder, "{}") for row in rejected}

    check.list_rows = list_rows
    return check


def change_item(number, **cells):
    return lambda items: items[number - 1].update(cells)


def copy_picture(number, source, target):
    def change(items):
        items[number - 1][f"{target}_image"] = items[number - 1][f"{source}_image"]

    return change


def test_the_published_layout_is_taken(checked):
    assert checked(lambda items: None) == {}


@pytest.mark.parametrize(
    ("change", "rows", "reason"),
    [
        (change_item(4, bias_type="length"), [4], "Its `bias_type` is 'length', none of text_"),
        (change_item(4, response=" "), [4], "Its `response` is empty."),
        (change_item(4, unbiased_instruction=None), [4], "Its `unbiased_instruction` is empty."),
        (change_item(7, biased_instruction=""), [7], "Its `biased_instruction` is empty."),
        (
            change_item(7, biased_instruction="Describe thing 7."),
            [7],
            "Its instruction is the same on both sides, which instruction_misalignment changes.",
        ),
        (
            copy_picture(9, "unbiased", "biased"),
            [9],
            "Its picture is the same on both sides, which image_misalignment changes.",
        ),
        (change_item(9, biased_image=None), [9], "{}/0009_biased.jpg is not there."),
        (change_item(2, unbiased_image=None), [2], "{}/0002_unbiased.jpg is not there."),
        (change_item(4, unbiased_image=None), [4], "{}/0004.jpg is not there."),
        (change_item(9, biased_image={"bytes": b"GIF", "path": None}), [9], "3 bytes that are no"),
        (
            change_item(9, biased_image={"bytes": None, "path": "../x.png"}),
            [9],
            "{}/../x.png lies outside {}",
        ),
        (change_item(5, id=6), [6], "It has the `id` '6', as does row 5: keep one."),
        (change_item(5, id=None), [5], "Its `id` is 'None', no whole number."),
        (
            lambda items: items.append(items[9] | {"id": 99}),
            [10, 19],
            "Another item has the same pictures and words: keep one.",
        ),
    ],
)
def test_an_item_that_cannot_be_compared_is_named(checked, change, rows, reason):
    reasons = checked(change)
    assert [*reasons] == [f"row {row}" for row in rows]
    assert {text[: len(reason)] for text in reasons.values()} == {reason}


def test_an_unreadable_row_leaves_the_item_with_its_number_as_id_alone(checked):
    def change(items):
        items[4]["id"], items[5]["id"] = None, 5

    rows = checked.list_rows(change)
    outcomes = {(row["item_id"], row["location"], row["outcome"]) for row in rows}
    assert ("biased/5", "row 6", "taken") in outcomes
    assert ("biased/row-5", "row 5", "rejected") in outcomes


def test_without_such_a_collection_there_are_no_assets_and_no_steps(monkeypatch, tmp_path):
    (tmp_path / "collections.yaml").write_text("[]")
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    assert load_benchmarks()["mm_judge_bias"].build_definitions(Catalog(STAND_INS)) == []
    assert not any(key.path[0] == "mm_judge_bias" for key in build_steps(Catalog(STAND_INS)))
