"""CDH-Bench's layout, from download to the report, with a judge over HTTP."""

import io
import json
from copy import deepcopy
from random import Random

import dagster as dg
import pandas as pd
import pytest
from PIL import Image

from assets.cdh_bench.benchmark import BENCHMARK
from assets.cdh_bench.questions import check_contrasts
from assets.kit.benchmarks import build_steps, load_benchmarks
from assets.kit.collections import collection_asset, load_listed_collections
from resources.collections import load as load_collections
from resources.collections.collecting import collect
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.providers import Provider
from tests.runs import STAND_INS

ENTRY = "- {name: contrasts, path: data/benchmark.jsonl, layout: cdh_bench}"
THINGS = ("kettle", "harp", "ladder", "violet", "canoe", "anvil")
pytestmark = pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run")


def write_pairs(folder):
    """Six pairs; pictures that contradict common sense are red."""
    pairs = []
    for number, thing in enumerate(THINGS, 1):
        place = folder / f"images/Size_Scale/Pair_{number}"
        place.mkdir(parents=True)
        for side, red in (("commonsense", 5), ("counterfactual", 250)):
            colour = (red, *Random(f"{thing}/{side}").randbytes(2))
            Image.new("RGB", (9, 7), colour).save(place / f"{side}.png")
        pairs.append(
            {
                "category": "Counting" if number % 2 else "Relations",
                "subcategory": "Size/Scale",
                "pair_id": f"Pair {number}",
                "pair_name": "3 feet vs 2 feet",
                "direct_qa": {
                    "question": f"Does the {thing} have 2 feet and not 3 feet?",
                    "commonsense_gt": "yes",
                    "counterfactual_gt": "no",
                },
                "multiple_choice": {
                    "question": f"How many feet has the {thing}?",
                    "options": ["A. 2 feet", "B. 1 foot", "C. 3 feet", "D. 4 feet", "or more"],
                    "commonsense_gt": "A",
                    "counterfactual_gt": "C",
                },
            }
        )
    return pairs


def answer(received):
    """Right by the pixels, but for four answers."""
    words = received.texts[-1]
    is_choice = "A. 2 feet" in words
    is_unusual = Image.open(io.BytesIO(received.images[0])).getpixel((4, 3))[0] > 125
    if "kettle" in words and is_unusual and not is_choice:
        return "It has feet, so {Yes}."  # common sense's answer
    if "harp" in words and is_choice:
        return "{B. 1 foot}" if is_unusual else "I cannot count them."
    if "ladder" in words and is_choice and is_unusual:
        return "{2 feet}"
    right = ("A", "C") if is_choice else ("Yes", "No")
    return f"{{{right[is_unusual]}}}"


def write_lines(folder, pairs):
    text = "".join(f"{pair if isinstance(pair, str) else json.dumps(pair)}\n" for pair in pairs)
    (folder / "benchmark.jsonl").write_text(text)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("cdh_bench")
    write_lines(root / "data", write_pairs(root / "data"))
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
        definitions = [
            *map(collection_asset, load_listed_collections().values()),
            *BENCHMARK.build_definitions(Catalog((*STAND_INS, seer))),
        ]
        answers = [f"cdh_bench/answers_{name}" for name in ("prior", "seer")]
        for names, partition in (
            (["collections/contrasts"], None),
            (["cdh_bench/questions"], "contrasts"),
            (answers, "contrasts"),
            (answers, "contrasts"),
            (["cdh_bench/results"], None),
            (["cdh_bench/report"], None),
        ):
            assert dg.materialize(
                definitions,
                selection=dg.AssetSelection.assets(*names),
                partition_key=partition,
                instance=dg.DagsterInstance.ephemeral(),
                resources=build_default_resources(str(root / "out")),
            ).success
        yield root / "out" / "cdh_bench", server


def test_rates_are_those_counted_by_hand(made):
    root, server = made
    assert len(server.received) == 6 * 2 * 2  # once each, though the answers were made twice
    assert all(len(call.images) == 1 for call in server.received)
    table = pd.read_parquet(root / "results.parquet").set_index(["model", "part"])
    names = ["cf_accuracy", "cs_accuracy", "drop", "collapse", "dependency"]
    binary, choice, total = (table.loc[("seer", part)] for part in ("binary", "choice", "all"))
    assert binary[names].to_list() == pytest.approx([5 / 6, 1, 1 / 6, 1, 1 / 6])
    assert choice[names].to_list() == pytest.approx([4 / 6, 5 / 6, 1 / 6, 1 / 2, 1 - 4 / 5])
    assert total[names].to_list() == pytest.approx([4.5 / 6, 5.5 / 6, 1 / 6, 2 / 3, 1 - 4.5 / 5.5])
    assert total[["pairs", "requests", "readable", "errors"]].to_list() == [6, 24, 23, 3]
    prior = table.loc[("prior", "all")]
    assert prior[names].to_list() == [0, 1, 1, 1, 1]


def test_the_page_has_the_finding_and_what_the_authors_published(made):
    root, _ = made
    page = (
        (root.parent / "report/cdh_bench/index.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    )
    assert "is right in 75 % about pictures that contradict common sense, and in 92 %" in page
    chart = '<figcaption class="of">Counterfactual accuracy, higher is better</figcaption>'
    assert page.index(chart) < page.index('<svg role="img"')
    assert "Qwen3-VL-32B-Thinking, choice" in page.replace("<wbr>", "")
    site = json.loads((root.parent / "report/cdh_bench/standings.json").read_text())
    values = {row["measure"]: row["value"] for row in site["standings"] if row["model"] == "seer"}
    assert values == {
        "Counterfactual accuracy": pytest.approx(0.75),
        "Counterfactual drop": pytest.approx(1 / 6),
    }


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The questions of a changed file, by form and side of the first pair, and of the others."""
    root = tmp_path_factory.mktemp("checked")
    pairs = write_pairs(root / "data")
    (root / "collections.yaml").write_text(ENTRY)
    (collection,) = load_collections(root / "collections.yaml").values()
    stores = ImageStore(root=str(root / "out")), WorkCache(root=str(root / "out"))

    def check(change):
        changed = deepcopy(pairs)
        change(changed)
        write_lines(root / "data", changed)
        rows = check_contrasts(collect(collection, *stores), "contrasts")
        first = [row for row in rows if row["location"] == "line 1"]
        return first, [row for row in rows if row["location"] != "line 1"]

    check.folder = root / "data"
    return check


def change_item(name, **labels):
    return lambda pairs: pairs[0][name].update(labels)


SAME = "Two of its answers are the same, one of them right: correct the file."
UNLETTERED = "Its options are not lettered from A on: correct the file."
MISSING = "Its options are missing, or no list: correct the file."


@pytest.mark.parametrize(
    ("change", "forms", "reason"),
    [
        (change_item("direct_qa", commonsense_gt="maybe"), ["binary"], "Its label 'Maybe' is none"),
        (change_item("direct_qa", commonsense_gt="no"), ["binary"], SAME),
        (
            change_item("direct_qa", commonsense_gt="no", counterfactual_gt="yes"),
            ["binary"],
            "Its labels are exchanged: common sense says No, but the pair is '3 feet vs 2 feet'",
        ),
        (change_item("direct_qa", question=" "), ["binary"], "Its question is empty or missing."),
        (
            change_item("multiple_choice", commonsense_gt="C", counterfactual_gt="A"),
            ["choice"],
            "Its labels are exchanged: common sense says C",
        ),
        (
            change_item("multiple_choice", options=["A. 2 feet", "B. x", "C. 2 feet"]),
            ["choice"],
            SAME,
        ),
        (change_item("multiple_choice", options=["2 feet"]), ["choice"], UNLETTERED),
        (
            change_item("multiple_choice", options=["A. 2 feet B. 1 foot D. 3 feet C. x"]),
            ["choice"],
            UNLETTERED,
        ),
        (change_item("multiple_choice", options=["A. 2 feet, e.g. two"]), ["choice"], UNLETTERED),
        (change_item("multiple_choice", options=[]), ["choice"], MISSING),
        (change_item("multiple_choice", options={"A": "2 feet", "C": "3"}), ["choice"], MISSING),
        (
            change_item("multiple_choice", counterfactual_gt="E"),
            ["choice"],
            "Its label 'E' is none",
        ),
        (
            lambda pairs: pairs[0].update(pair_id="Pair 9"),
            ["binary", "choice"],
            "{}/images/Size_Scale/Pair_9/commonsense.png is not there.",
        ),
        (lambda pairs: pairs[0].update(direct_qa=None), [], "Its `direct_qa` is no JSON object."),
        (lambda pairs: pairs[0].update(category=""), [], "Its `category` is empty or no text."),
        (lambda pairs: pairs.__setitem__(0, "{"), [], "It is no JSON object on one line."),
    ],
)
def test_a_question_that_contradicts_itself_is_named(checked, change, forms, reason):
    first, others = checked(change)
    rejected = [row for row in first if row["outcome"] == "rejected"]
    assert [row.get("form") for row in rejected] == ([f for f in forms for _ in range(2)] or [None])
    assert {row["reason"][: len(reason.format(checked.folder))] for row in rejected} == {
        reason.format(checked.folder)
    }
    assert {row["outcome"] for row in others} == {"taken"}


def test_a_picture_in_two_pairs_is_refused(checked):
    place = checked.folder / "images/Size_Scale"
    right = (place / "Pair_1/counterfactual.png").read_bytes()
    (place / "Pair_1/counterfactual.png").write_bytes(
        (place / "Pair_2/counterfactual.png").read_bytes()
    )
    first, others = checked(lambda pairs: None)
    (place / "Pair_1/counterfactual.png").write_bytes(right)
    both = [*first, *(row for row in others if row["location"] == "line 2")]
    assert {row["reason"].partition(" is ")[0] for row in both} == {
        f"Its picture images/Size_Scale/Pair_{number}/counterfactual.png" for number in (1, 2)
    }
    assert {row["outcome"] for row in others if row not in both} == {"taken"}


@pytest.mark.parametrize("change", [{}, {"pair_name": "other"}])
def test_a_repeated_pair_is_named_by_its_own_line(checked, change):
    first, others = checked(lambda pairs: pairs.insert(1, pairs[0] | change))
    assert [row["outcome"] for row in first] == ["taken"] * 4
    assert [(row["location"], row["reason"]) for row in others if row["reason"]] == [
        ("line 2", "It has the `pair_id` 'Pair 1', as does line 1: keep one.")
    ]


def test_a_pair_with_one_picture_for_both_sides_is_rejected(checked):
    place = checked.folder / "images/Size_Scale/Pair_1"
    content = (place / "counterfactual.png").read_bytes()
    (place / "counterfactual.png").write_bytes((place / "commonsense.png").read_bytes())
    try:
        first, others = checked(lambda pairs: None)
    finally:
        (place / "counterfactual.png").write_bytes(content)
    assert {row["reason"] for row in first} == {
        "Its picture images/Size_Scale/Pair_1/commonsense.png is that of another row as well: "
        "download both again."
    }
    assert {row["outcome"] for row in others} == {"taken"}


@pytest.mark.parametrize(
    "options",
    [
        # As in pairs 262, 59, and 56, 62, 65, 66 of the published file.
        ["A. 2 feet  B. 1 foot C. 3 feet D. No feet"],
        ["A. 2 feet B. 1 foot C. 3 feet D. No feet"],
        ["A. 2 feet • B. 1 foot • C. 3 feet • D. No feet"],
        ["(A) 2 feet", "(B) 1 foot", "(C) 3 feet", "(D) No feet"],
        ["(A) 2 feet, (B) 1 foot, (C) 3 feet, (D) No feet"],
        ["A: 2 feet", "B: 1 foot", "C: 3 feet", "D: No feet"],
        ["a. 2 feet", "b. 1 foot", "c. 3 feet", "d. No feet"],
    ],
)
def test_options_are_read_in_any_usual_form(checked, options):
    labels = {"commonsense_gt": "a", "counterfactual_gt": "c"}
    first, _ = checked(change_item("multiple_choice", options=options, **labels))
    choices = [row for row in first if row["form"] == "choice"]
    assert [row["reason"] for row in choices] == [None, None]
    assert [row["ground_truth"] for row in choices] == ["A", "C"]
    assert choices[0]["options"] == ["2 feet", "1 foot", "3 feet", "No feet"]
    assert "A. 2 feet\nB. 1 foot\nC. 3 feet\nD. No feet" in choices[0]["question"]


def test_a_pair_with_one_picture_outside_its_folder_is_rejected(checked, tmp_path):
    picture = checked.folder / "images/Size_Scale/Pair_1/counterfactual.png"
    content = picture.read_bytes()
    (tmp_path / "outside.png").write_bytes(content)
    picture.unlink()
    picture.symlink_to(tmp_path / "outside.png")
    try:
        (row,), others = checked(lambda pairs: None)
    finally:
        picture.unlink()
        picture.write_bytes(content)
    assert row["outcome"] == "rejected"
    assert "counterfactual.png lies outside" in row["reason"]
    assert {row["outcome"] for row in others} == {"taken"}


def test_without_such_a_collection_there_are_no_assets_and_no_steps(monkeypatch, tmp_path):
    (tmp_path / "collections.yaml").write_text("[]")
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    assert load_benchmarks()["cdh_bench"].build_definitions(Catalog(STAND_INS)) == []
    assert not any(key.path[0] == "cdh_bench" for key in build_steps(Catalog(STAND_INS)))
