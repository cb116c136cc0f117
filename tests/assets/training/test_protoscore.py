"""ProtoScore on a tiny model: from kept pairs to a metric that stands beside the others."""

import io
import json
import math
import re
import warnings
from importlib import import_module
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from dagster import DagsterInstance
from PIL import Image

from assets.kit.columns import content_hash
from assets.kit.pair_marks import build_marks, find_overlaps, index_by_mark, load_mark_finder
from assets.protobias.training import TRAINING_PAIRS
from assets.training.protoscore.comparison import describe_unscored, format_finding, require_alike
from assets.training.protoscore.held_out import UNKNOWN, format_rates
from assets.training.protoscore.selection import split_pairs
from assets.training.protoscore.training_pairs import group_by_split
from resources.models.backends.scoring.expected_score import PROMPT
from resources.models.catalog import load_catalog
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.training import launch, worker
from resources.training.recipe import MarginRecipe, RankingRecipe
from tests import tiny
from tests.assets.filtered import SIDES, filtered_rows, write_filtered
from tests.assets.paired import write_triplets
from tests.runs import STAND_INS, checks, copied, failure, materialize, metadata, rewrite, table

pytestmark = pytest.mark.slow

DOMAINS = ("animals", "objects")
RECIPE = {
    "steps": 2,
    "gradient_accumulation_steps": 1,
    "learning_rate": 1e-3,
    "gradient_checkpointing": False,
}
EVALUATED = 2
BASE, COMMIT, TEXT = "tiny/scorer", "5" * 40, "One thing."


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A data root with kept pairs of two domains, of which two are evaluated, and a base."""
    root = tmp_path_factory.mktemp("protoscore")
    images, pictures = ImageStore(root=str(root)), {side: [] for side in SIDES}
    for domain in DOMAINS:
        write_triplets(root, 12, domain)
        rows = filtered_rows(root, domain, 12)
        for row in rows:
            # One text, of which the base says digits; it knows no other.
            row |= {"evaluated": row["rank"] < EVALUATED, "text": TEXT}
            pictures[row["side"]].append(Image.open(io.BytesIO(images.get(row["sha256"]))))
        write_filtered(root, domain, rows)
    base = tiny.save_scorer(root / "base", PROMPT.format(text=TEXT), [*pictures.values()])
    tiny.cache(base, BASE, COMMIT)
    return root


def here(job, log, accelerate_config=None):
    """Train in this process, which has loaded the libraries already."""
    Path(job.folder).mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        worker.train(job)


@pytest.fixture(scope="module")
def made(studio):
    """The runs of all four assets, in one."""
    recipe = {**RECIPE, "base": BASE}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "run_training", here)
        patch.setenv("COUNTERFACTORY_HOME", str(studio))
        return run(
            studio,
            *("training_pairs", "adapter", "margin_adapter", "comparison"),
            training_pairs={"pairs": 8, "held_out": 6},
            adapter={**recipe, "num_generations": 2},
            margin_adapter=recipe,
        )


def run(root, *names, **config):
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["sketch"])
        return materialize(
            root, *names, group="protoscore", config=config, instance=instance, models=STAND_INS
        )


def stored(root, name):
    return pd.read_parquet(root / "protoscore" / f"{name}.parquet")


def test_pairs_are_even_over_domains_and_unlike_those_that_are_evaluated(studio, made):
    assert made.success, failure(made)
    assert checks(made)["no_overlap"] is True
    pairs = stored(studio, "training_pairs")
    assert pairs.groupby(["split", "domain"]).size().to_dict() == {
        ("training", "animals"): 4,
        ("training", "objects"): 4,
        ("held out", "animals"): 3,
        ("held out", "objects"): 3,
    }
    filtered = pd.concat([pd.read_parquet(path) for path in filtered_paths(studio)])
    evaluated = filtered[filtered["evaluated"]]
    assert not set(pairs["concept_id"]) & set(evaluated["concept_id"])
    assert not {*pairs["correct"], *pairs["adversarial"]} & set(evaluated["sha256"])
    assert metadata(made, "training_pairs", "protoscore")["overlap_with_evaluation"] == 0


def filtered_paths(root):
    return [table(root, f"filtered_pairs/{domain}", "sketch", "protobias") for domain in DOMAINS]


def test_an_adapter_is_published_and_scores_what_was_held_out(studio, made):
    told = metadata(made, "adapter", "protoscore")
    assert (told["steps"], told["processes"], told["base_revision"]) == (2, 1, COMMIT)
    assert told["plot"].startswith("![loss, reward and spread by step](data:image/png;base64,")
    scores = stored(studio, "adapter")
    assert len(scores) == 2 * 6 * 2
    assert set(scores["metric"]) == {"protoscore_base", "protoscore"}
    (adapter,) = scores["adapter"].dropna().unique()
    record = json.loads((studio / adapter / "record.json").read_text())
    config, marks = record["files"]
    assert sorted(path.name for path in (studio / adapter).iterdir()) == [
        *("README.md", config, "adapter_model.safetensors", marks, "record.json")
    ]
    assert record["painters"] == ["sketch"]
    assert record["is_stand_in"] is True
    assert not list((studio / "training").glob("*/checkpoint-*"))


def test_an_adapter_keeps_the_marks_of_all_its_pairs(studio, made):
    (adapter,) = stored(studio, "adapter")["adapter"].dropna().unique()
    seen = load_mark_finder(studio / adapter)
    for split, pairs in group_by_split(stored(studio, "training_pairs").to_dict("records")).items():
        found = list(find_overlaps(pairs, seen))
        assert len(found) == len(pairs) > 0
        assert all(other.endswith(f"({split})") for *_, other in found)


def test_what_was_trained_on_what_and_never_tried_can_be_read_off_its_folder(studio, made):
    """As PEFT and the Hub's own reader of cards do it; rates are counted here once more."""
    scores = stored(studio, "adapter")
    (adapter,) = scores["adapter"].dropna().unique()
    config = import_module("peft").PeftConfig.from_pretrained(str(studio / adapter))
    assert (config.base_model_name_or_path, config.revision) == (BASE, COMMIT)
    card = import_module("huggingface_hub").ModelCard.load(studio / adapter / "README.md")
    assert {"base_model": BASE, "library_name": "peft"}.items() <= card.data.to_dict().items()
    head, *parts = card.text.split("\n## ")
    assert f"A LoRA adapter of `{BASE}` at `{COMMIT}`" in head
    assert "\n**A stand-in run:** a stand-in took the place of a model" in head
    section = dict(part.split("\n", 1) for part in parts)
    rows = pq.read_table(studio / "training" / Path(adapter).name / "rows.parquet")
    pairs = stored(studio, "training_pairs").query("split == 'training'")
    assert rows["pair"].to_pylist() == pairs["pair"].to_list()
    assert f"on 2 of 8 rows (sha256 `{content_hash(rows).hex()}`), 2 steps" in section["Record"]
    recipe = json.loads(section["Record"].split("```")[1].removeprefix("json"))["recipe"]
    assert recipe == RankingRecipe(**RECIPE, num_generations=2, base=BASE).model_dump()
    told = [
        line[2:-2].split(" | ") for line in section["On pictures that were held out"].split("\n")
    ]
    cells = {tuple(cell[:2]): cell[2:] for cell in told if len(cell) > 2}
    for (metric, domain), (failed, of, concepts) in counted(scores).items():
        number, prompts, *_, rate, _ = cells[metric, domain]
        assert of > 0
        low, high = map(float, re.fullmatch(r"[\d.]+ \(([\d.]+) to ([\d.]+)\)", rate).groups())
        assert (int(number), int(prompts)) == (of, concepts)
        assert float(rate.split()[0]) == round(failed / of, 3)
        assert 0 <= low <= failed / of <= high <= 1
    assert ("protoscore", "all") in cells
    never = section["Never tried"]
    assert never.startswith("\n- Pictures of other painters than sketch.\n- ")
    assert "- Other devices than cpu, and merged into its base.\n" in never


def counted(scores):
    """By metric and domain, or all: how many pairs it misranks, could score, and their concepts."""
    found = {}
    # As many of each domain, so that the mean over all pairs is that over domains.
    every = pd.concat([scores, scores.assign(domain="all")])
    for of, some in every.groupby(["metric", "domain"]):
        sides = some.pivot(index=["pair_id", "concept_id"], columns="side", values="raw").dropna()
        fails = sides["adversarial"] >= sides["correct"]
        found[of] = fails.sum(), len(sides), sides.index.unique("concept_id").size
    return found


def test_one_entry_of_models_yaml_makes_it_a_metric_of_protobias(studio, made, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(studio))
    written = metadata(made, "adapter", "protoscore")["models_yaml"]
    path = studio / "models.yaml"
    path.write_text(written.removeprefix("```yaml\n").removesuffix("```"))
    assert yaml.safe_load(path.read_text())[0]["name"] == "protoscore"
    (entry,) = load_catalog(path).models
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["sketch"])
        scored = materialize(
            studio,
            "scores_protoscore",
            topic="animals|sketch",
            group="protobias",
            models=[*STAND_INS, entry],
            instance=instance,
        )
    assert scored.success, failure(scored)
    assert checks(scored)["no_overlap"] is True
    scores = pd.read_parquet(table(studio, "scores_protoscore/animals", "sketch", "protobias"))
    assert len(scores) == 2 * EVALUATED
    assert set(scores["formula"]) == {"expected_score"}
    assert scores["served_model"].dropna().str.contains(" with protoscore-").all()


def test_both_ways_are_compared_on_the_same_pairs(studio, made):
    rows = stored(studio, "comparison")
    told = metadata(made, "comparison", "protoscore")
    pair = rows.query("domain == 'all' and first == 'protoscore' and second == 'protoscore_margin'")
    assert len(pair) == 1
    assert set(rows["first"]) | set(rows["second"]) == {
        *("protoscore_base", "protoscore", "protoscore_margin_base", "protoscore_margin")
    }
    assert told["finding"]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.2, -0.01, "ProtoScore is better than its control: it fails 10.0% against 20.0%"),
        (0.01, 0.2, "The plain margin loss is better"),
        (-0.2, 0.1, "No difference is shown"),
    ],
)
def test_the_finding_says_which_is_better_or_that_none_is(low, high, said):
    rates = {"first_failure_rate": 0.1, "second_failure_rate": 0.2}
    assert format_finding({**rates, "difference": -0.1, "low": low, "high": high}).startswith(said)


def test_pairs_that_one_of_them_could_not_score_are_told_beside_the_finding():
    rates = pd.DataFrame({"pairs": [300, 7, 1], "unscored": [0, 293, 2]}, index=["a", "b", "base"])
    assert describe_unscored(rates, ("a", "b")).endswith("in none of these: 293 of 300 by b.")
    assert describe_unscored(rates, ("a",)) == ""


def test_where_nothing_was_scored_words_stand_in_place_of_numbers():
    ends = {"rate": [0.5, math.nan], "rate_low": [0.25, math.nan], "rate_high": [0.75, math.nan]}
    rates = pd.DataFrame({"domain": ["animals", "all"], "p": [0.12345, math.nan], **ends})
    assert format_rates(rates, "rate").to_dict("list") == {
        "domain": ["animals", "all"],
        "p": [0.123, UNKNOWN],
        "rate": ["0.500 (0.250 to 0.750)", UNKNOWN],
    }


def record_of(recipe, **trained):
    known = {"data": "d", "base": {}, "is_stand_in": False, "recipe": recipe.model_dump()}
    return {**known, "trained": {"steps": 2, "rows_trained": 4, "processes": 1, **trained}}


ALIKE = {"rank": 8, "alpha": 8, "target_modules": ["q_proj"], "dtype": "float32", "seed": 1}
ALIKE |= {
    "per_device_batch_size": 2,
    "gradient_accumulation_steps": 2,
    "learning_rate": 1e-4,
    "margin": 0.2,
}


def test_two_that_differ_in_their_loss_alone_are_compared():
    own = {"num_generations": 4, "penalty": 0.1, "beta": 0.1, "temperature": 2.0}
    free = {
        "gradient_checkpointing": False,
        "save_steps": 1,
        "steps": 2,
        "skip_estimate_check": True,
    }
    ranking = RankingRecipe(base="b", **ALIKE, **own, **free)
    require_alike(record_of(ranking), record_of(MarginRecipe(base="b", **ALIKE)))


@pytest.mark.parametrize("name", ALIKE)
def test_what_both_recipes_have_has_to_be_alike(name):
    of_both = {key: value for key, value in ALIKE.items() if key != name}
    ranking = record_of(RankingRecipe(base="b", **ALIKE))
    with pytest.raises(ValueError, match=rf"differ in more than their loss: {name}\."):
        require_alike(ranking, record_of(MarginRecipe(base="b", **of_both)))


def test_a_record_from_before_a_field_was_there_is_unlike_one_that_has_it():
    record = record_of(MarginRecipe(base="b"))
    before = {name: of for name, of in record["recipe"].items() if name != "margin"}
    earlier = record | {"recipe": before}
    require_alike(earlier, earlier)
    with pytest.raises(ValueError, match=r"differ in more than their loss: margin\."):
        require_alike(record, earlier)


def test_what_both_were_trained_on_has_to_be_alike():
    record = record_of(MarginRecipe(base="b"))
    trained = record["trained"]
    other = {**record, "trained": {**trained, "steps": 3}, "data": "e"}
    with pytest.raises(ValueError, match=r"differ in more than their loss: data, steps\."):
        require_alike(record, other)


def test_pairs_that_are_evaluated_by_now_stop_a_training_with_their_names(
    studio, made, tmp_path, monkeypatch
):
    root = copied(studio, tmp_path / "root")
    rewrite(filtered_paths(root)[0], lambda rows: [{**row, "evaluated": True} for row in rows])
    monkeypatch.setattr(launch, "run_training", lambda *_: pytest.fail("It was begun."))
    result = run(root, "adapter", adapter={**RECIPE, "base": BASE})
    assert not result.success
    assert (
        "pairs of protoscore/training_pairs are like ones that metrics are evaluated on: sketch/"
        in (failure(result))
    )


def pairs_of(root):
    return TRAINING_PAIRS.load_pairs(DataRoot(root=str(root)), "animals|sketch")


def test_overlap_is_found_by_each_mark(studio):
    first, second, *_ = pairs_of(studio)
    apart = second._replace(
        concept_id="other", knob="other", correct="0" * 64, adversarial="1" * 64, text="other"
    )
    others = index_by_mark([first]).get
    assert list(find_overlaps([apart], others)) == []
    for change in (
        {"concept_id": first.concept_id},
        {"text": first.text, "sentences": first.sentences},
        {name: getattr(first, name) for name in ("concept", "knob", "setting")},
        {"correct": first.adversarial},
    ):
        found = list(find_overlaps([apart._replace(**change)], others))
        assert [name for name, *_ in found] == [f"sketch/{apart.pair_id}"], change


def test_held_out_pairs_share_nothing_with_those_that_are_trained_on(studio):
    chosen = split_pairs(pairs_of(studio), 100, 3)
    held = {mark for pair in chosen.held_out for mark in build_marks(pair)}
    assert len(chosen.held_out) == 3
    assert chosen.training
    assert not [pair for pair in chosen.training if held & set(build_marks(pair))]
