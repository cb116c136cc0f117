"""Pairs of Multimodal RewardBench 1 and 2, from download to the report, with judges over HTTP."""

import io
import json
import re
from itertools import chain
from pathlib import Path
from random import Random

import dagster as dg
import pandas as pd
import pytest
from PIL import Image

from assets.judge_sets.benchmark import BENCHMARK
from assets.kit.benchmarks import load_benchmarks
from assets.kit.collections import collection_asset, load_listed_collections
from metrics.statistics.graded_intervals import graded_interval
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from tests.providers import Provider
from tests.runs import STAND_INS

ENTRY = """
- name: rewarded
  path: data/all_data.json
  columns:
    image: Image
    name: ID
    question: Text
    domain: Category
    responses: [Output1, Output2]
    preferred: Better
- {name: mixed, path: data/mixed.json, layout: mmrb2}
"""
PROJECT = Path(__file__).parents[3]
THINGS = (
    *("kettle", "harp", "ladder", "violet", "canoe", "anvil", "pigeon", "lantern", "wagon"),
    *("cactus", "mirror", "walrus"),
)
JUDGES = ("leader", "seer")
pytestmark = pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run")
"""Dagster's own, while it makes a resource that is part of another one."""


def write_rows(folder):
    """Three sources of twelve rows; the responses of `visitbench` are those of the next row."""
    rows = []
    for source in ("RealworldQA", "nocaps", "visitbench"):
        (folder / "images" / source).mkdir(parents=True)
        for number, thing in enumerate(THINGS):
            file = f"images/{source}/{number}.jpg"
            colour = tuple(Random(f"{source}/{number}").randbytes(3))
            Image.new("RGB", (9, 7), colour).save(folder / file)
            named = THINGS[(number + 1) % 12] if source == "visitbench" else thing
            asked = "Describe it." if source == "nocaps" else f"How old does the {thing} look?"
            right, wrong = f"The {named} looks old, GOOD.", f"The {named} may be anything at all."
            is_first = number % 3 == 0
            rows.append(
                {
                    "ID": f"{source}_{number}",
                    "Category": f"open/{source}",
                    "Text": asked,
                    "Image": file,
                    "Output1": right if is_first else wrong,
                    "Output2": wrong if is_first else right,
                    "Better": "Output1" if is_first else "Output2",
                }
            )
    return rows


def write_mixed(folder, count=12):
    """Prompts with two pairs each, answered by a picture, or by words and two pictures."""
    for name in ("images", "input_images"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    pairs = []
    for number in range(count):
        thing, is_long = THINGS[number // 2], number // 2 % 2 == 1
        pair_id = f"{'isgbench' if is_long else 'evalmuse'}_{number}_x"
        chosen, files = "AB"[number % 3 == 0], iter(range(9))

        def save(red, pair_id=pair_id, files=files):
            file = f"images/{pair_id}_{next(files)}.jpg"
            colour = (red, *Random(file).randbytes(2))
            Image.new("RGB", (9, 7), colour).save(folder / file, quality=95)
            return ["image", file]

        def respond(letter, thing=thing, is_long=is_long, chosen=chosen, save=save):
            red = 250 if letter == chosen else 5
            words = [["text", f"First the {thing}."], save(red), ["text", f"Then {thing}s."]]
            return [*words, save(red)] if is_long else words[1:2]

        Image.new("RGB", (9, 7), (0, 200, number // 2)).save(folder / f"input_images/{thing}.png")
        prompt = [["text", f"Draw the {thing}."], ["image", f"input_images/{thing}.png"]]
        pairs.append(
            {
                "id": pair_id,
                "prompt_source": pair_id.partition("_")[0],
                "prompt_content": prompt if is_long else prompt[:1],
                "response_a": {"model_name": "x", "response_content": respond("A")},
                "response_b": {"model_name": "y", "response_content": respond("B")},
                "chosen": chosen,
                "human_annotations": [6, 5, 4] if chosen == "A" else [1, 3, 3],
            }
        )
    return pairs


def find_first(received):
    """Whether the first response is the good one: the pictures that it numbers are red."""
    words = received.texts[-1]
    if "[picture" not in words:
        return words.index("GOOD") < words.index("anything")
    parts = re.split("First response:|Second response:|Compare", words)
    numbers = [[int(number) for number in re.findall(r"\[picture (\d+)\]", part)] for part in parts]
    assert [*chain(*numbers)] == [*range(1, len(received.images) + 1)]
    pixels = [Image.open(io.BytesIO(png)).getpixel((4, 3)) for png in received.images]
    reds = [{pixels[number - 1][0] > 125 for number in part} for part in numbers[:3]]
    assert reds[0] <= {False}
    assert reds[1:] in ([{True}, {False}], [{False}, {True}])
    return reds[1] == {True}


def answer(received):
    """`leader` takes the first; `seer` finds the right one, and now and then does not."""
    if received.model == "leader-1":
        return '{"better": "first"}'
    words, is_first = received.texts[-1], find_first(received)
    if "harp" in words:  # a tie in one order alone
        return '{"better": "tie"}' if is_first else '{"better": "second"}'
    if "ladder" in words:  # no answer in one order
        return "I cannot choose." if is_first else '{"better": "second"}'
    if "violet" in words:  # wrong in both
        is_first = not is_first
    return json.dumps({"better": "first" if is_first else "second"})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Materializes assets of the benchmark; its folder, the server, and the rows."""
    root = tmp_path_factory.mktemp("judge_sets")
    rows = write_rows(root / "data")
    (root / "collections.yaml").write_text(ENTRY)
    with pytest.MonkeyPatch.context() as patch, Provider(answer=answer) as server:
        patch.setenv("COUNTERFACTORY_COLLECTIONS", str(root / "collections.yaml"))
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        models = [
            Model(
                name=name,
                backend="openai",
                model=f"{name}-1",
                family=name,
                roles=("judge",),
                base_url=server.openai_url,
                price={"input_per_million": 1.0, "output_per_million": 1.0},
                longest_output=50,
            )
            for name in JUDGES
        ]
        (root / "data/all_data.json").write_text(json.dumps(rows))
        (root / "data/mixed.json").write_text(json.dumps({"pairs": write_mixed(root / "data")}))
        definitions = [
            *map(collection_asset, load_listed_collections().values()),
            *BENCHMARK.build_definitions(Catalog((*STAND_INS, *models))),
        ]

        def materialize(*names, partition=None, changed=None):
            (root / "data/all_data.json").write_text(json.dumps(changed or rows))
            return dg.materialize(
                definitions,
                selection=dg.AssetSelection.assets(*names),
                partition_key=partition,
                instance=dg.DagsterInstance.ephemeral(),
                resources=build_default_resources(str(root / "out")),
                raise_on_error=False,
            )

        yield root / "out", server, rows, materialize


@pytest.fixture(scope="module")
def made(run):
    root, server, _, materialize = run
    answers = [f"judge_sets/answers_{name}" for name in ("prior", *JUDGES)]
    for name in ("rewarded", "mixed"):
        assert materialize(f"collections/{name}").success
        assert materialize("judge_sets/pairs", partition=name).success
        for names in (answers, answers[-2:]):
            assert materialize(*names, partition=name).success
    assert materialize("judge_sets/results").success
    assert materialize("judge_sets/report").success
    return root, server


def load(root, name):
    return pd.read_parquet(root / "judge_sets" / f"{name}.parquet")


def test_permuted_responses_are_rejected_before_anything_is_paid(made):
    root, server = made
    pairs = load(root, "pairs/rewarded")
    outcomes = pairs.groupby("source")["outcome"].agg(["size", "first", "nunique"])
    assert outcomes.loc["images/visitbench"].to_list() == [12, "rejected", 1]
    assert outcomes.loc["images/RealworldQA"].to_list() == [12, "taken", 1]
    assert outcomes.loc["images/nocaps"].to_list() == [12, "taken", 1]
    reason = pairs.set_index("source").loc["images/visitbench", "reason"].iloc[0]
    assert reason.startswith("The responses of images/visitbench share no more words with their")
    # 24 pairs in two orders, each sent once to either judge, whatever is materialized again.
    received = [call for call in server.received if "[picture" not in call.texts[-1]]
    assert len(received) == 24 * 2 * len(JUDGES)
    assert not any("visitbench" in call.texts[-1] for call in received)
    assert all(len(call.images) == 1 for call in received)


def test_agreement_and_flips_are_those_counted_by_hand(made):
    root, _ = made
    results = load(root, "results").set_index(["model", "set", "domain"])
    leader = results.loc[("leader", "all", "all")]
    assert leader[["agreement", "flips", "first_shown", "ties"]].to_list() == [0.5, 1, 1, 1]
    # Of twelve things seer is right about nine, misses one answer, errs about one, and ties once.
    seer = results.loc[("seer", "rewarded", "open/RealworldQA")]
    assert seer[["total_pairs", "pairs", "answered_pairs"]].to_list() == [12, 12, 11]
    assert seer[["requests", "answers"]].to_list() == [24, 23]
    assert seer["agreement"] == pytest.approx((9 + 0.75 + 0) / 11)
    assert seer["flips"] == pytest.approx(1 / 11)
    assert seer["agreement_least"] == pytest.approx((9 + 0.75 + 0 + 0.5) / 12)
    assert seer["agreement_most"] == pytest.approx((9 + 0.75 + 0 + 1) / 12)
    assert (seer["flips_least"], seer["flips_most"]) == pytest.approx((1 / 12, 2 / 12))
    assert seer["agreement_low"] < seer["agreement"] < seer["agreement_high"]
    agreement, flips = [], []
    for name in ("rewarded", "mixed"):  # every set weighs the same
        answers = load(root, f"answers_seer/{name}")
        wide = answers.pivot(index="image_id", columns="order", values="agrees").dropna()
        agreement.append(wide.mean(axis=1).mean())
        flips.append((wide["first"] != wide["second"]).mean())
    total = results.loc[("seer", "all", "all")]
    assert total["agreement"] == pytest.approx(sum(agreement) / 2)
    assert total["flips"] == pytest.approx(sum(flips) / 2)
    prior = results.loc[("prior", "rewarded", "all")]
    assert prior[["agreement", "flips"]].to_list() == [0, 0]  # the longer response is the wrong one


def test_pairs_with_several_pictures_are_sent_in_both_orders_and_resampled_by_prompt(made):
    root, server = made
    received = [call for call in server.received if "[picture" in call.texts[-1]]
    assert len(received) == 12 * 2 * len(JUDGES)
    assert sorted({len(call.images) for call in received}) == [2, 5]
    results = load(root, "results").set_index(["model", "set", "domain"])
    seer = results.loc[("seer", "mixed", "all")]
    # Of six prompts with two pairs each, seer ties in one order of harp's, misses an answer about
    # ladder's, and is wrong about violet's.
    assert seer[["pairs", "answered_pairs"]].to_list() == [12, 10]
    assert seer["agreement"] == pytest.approx((6 + 2 * 0.75 + 2 * 0) / 10)
    assert seer["flips"] == pytest.approx(2 / 10)
    answers = load(root, "answers_seer/mixed")
    wide = answers.pivot(
        index=["image_id", "prompt_id", "set"], columns="order", values="agrees"
    ).reset_index()
    assert wide["prompt_id"].nunique() == 6
    means = wide[["first", "second"]].mean(axis=1, skipna=False)
    by_prompt, by_pair = (
        graded_interval(means.to_numpy(), wide[name].to_numpy(), wide["set"].to_numpy(), seed=0)
        for name in ("prompt_id", "image_id")
    )
    assert [*by_prompt] != pytest.approx([*by_pair])
    assert seer[["agreement_low", "agreement_high"]].to_list() == pytest.approx([*by_prompt])
    prior = results.loc[("prior", "mixed", "all")]
    assert prior[["agreement", "flips"]].to_list() == [0.5, 0]  # as long as each other


def test_the_page_and_the_front_row_name_both_measures(made):
    root, _ = made
    page = (root / "report/judge_sets/index.html").read_text()
    assert "prefers the preferred response in" in page
    site = json.loads((root / "report/judge_sets/standings.json").read_text())
    leader = {s["measure"]: s for s in site["standings"] if s["model"] == "leader"}
    assert (leader["Agreement with people"]["value"], leader["Order flips"]["value"]) == (0.5, 1)
    assert leader["Order flips"]["items"] == 24 + 12
    failures = [failure for failure in site["failures"] if failure["model"] == "seer"]
    assert failures
    for failure in failures:
        assert "violet" in failure["truth"]
        assert "anything" in failure["answer"]
        assert "GOOD" in failure["truth"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"Better": "C"}, "Its preferred response is 'C': write Output1 or Output2, or A or B."),
        ({"Output2": ""}, "Its `Output2` is empty or missing."),
        ({"Output1": "Same.", "Output2": "Same."}, "Both responses are the same."),
        (
            {"Image": "images/RealworldQA/7.jpg"},
            "It has the picture images/RealworldQA/7.jpg, which is not named after it and in "
            "order, as the pictures of 11 of 12 rows of images/RealworldQA are: one of the two is "
            "another row's.",
        ),
        ({"Image": "images/gone.jpg"}, "images/gone.jpg is not there."),
    ],
)
def test_a_row_that_does_not_belong_together_is_named(made, run, change, reason):
    root, _, rows, materialize = run
    stored = {
        path: path.read_bytes()
        for path in (
            root / "judge_sets/pairs/rewarded.parquet",
            root / "collections/rewarded.parquet",
        )
    }
    try:
        assert materialize("collections/rewarded", changed=[rows[0] | change, *rows[1:]]).success
        assert materialize("judge_sets/pairs", partition="rewarded").success
        first, second = load(root, "pairs/rewarded").iloc[:2].to_dict("records")
    finally:
        for path, content in stored.items():
            path.write_bytes(content)
    assert (first["location"], first["outcome"]) == ("item 1", "rejected")
    assert first["reason"].endswith(reason)
    assert second["outcome"] == "taken"


def test_no_row_at_all_is_an_error_that_names_the_first(made, run):
    root, _, rows, materialize = run
    stored = (root / "collections/rewarded.parquet").read_bytes()
    bad_rows = [row | {"Better": "neither"} for row in rows]
    try:
        assert materialize("collections/rewarded", changed=bad_rows).success
        result = materialize("judge_sets/pairs", partition="rewarded")
    finally:
        (root / "collections/rewarded.parquet").write_bytes(stored)
    (event,) = [e for e in result.all_events if e.event_type_value == "STEP_FAILURE"]
    message = event.event_specific_data.error.cause.message
    assert "rewarded: none of 36 rows can be used. item 1: Its preferred response is" in message
    assert message.strip().endswith("Correct the download, or the entry in collections.yaml.")


def test_without_such_a_collection_there_are_no_assets(monkeypatch, tmp_path):
    (tmp_path / "collections.yaml").write_text("[]")
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    assert load_benchmarks()["judge_sets"].build_definitions(Catalog(STAND_INS)) == []
