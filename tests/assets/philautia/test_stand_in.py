"""What the stand-in models are known to do is what the whole chain finds, in one Dagster run."""

from pathlib import Path

import pandas as pd
import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners
from assets.philautia.benchmark import COMPARISON_ASSETS, SHARED_ASSETS, STAND_IN_DATASET
from assets.philautia.references import REFERENCE_TRAITS, SELF_PREFERENCE
from assets.planning import Task, quote_tasks
from generators.domains import load_domain
from resources.models.catalog import Catalog, Model, load_catalog
from tests.assets.plans import plan_context
from tests.runs import TOPIC, copied, failure, materialize

LISTED = Path(__file__).parents[3] / "models.yaml"
SETTINGS = ("reference_free", "reference_based")


def catalog_of(*more):
    """The five stand-in models with the families of models.yaml, and others."""
    known = load_catalog(LISTED).models
    return (*(model for model in known if model.name in REFERENCE_TRAITS), *more)


@pytest.fixture(scope="module")
def root(made, tmp_path_factory, whole_topic):
    root = copied(made, tmp_path_factory.mktemp("philautia") / "root")
    models = catalog_of()
    # All scenes of the topic, as in the stand-in run.
    some, load_domain(TOPIC).draw_module.list_scenes = (
        load_domain(TOPIC).draw_module.list_scenes,
        whole_topic,
    )
    try:
        drawn = materialize(root, "drawn_images", "original_images", topic=TOPIC, models=models)
    finally:
        load_domain(TOPIC).draw_module.list_scenes = some
    assert drawn.success, failure(drawn)
    made_of = [f"{what}_{model.name}" for what in ("captions", "scores") for model in models]
    run(root, *SHARED_ASSETS, *made_of, *COMPARISON_ASSETS, topic=STAND_IN_DATASET)
    run(root, "report")
    return root


def run(root, *names, topic=None, models=None, **config):
    models = catalog_of() if models is None else models
    result = materialize(root, *names, topic=topic, models=models, group="philautia", config=config)
    assert result.success, failure(result)
    return result


@pytest.fixture(scope="module")
def matrix(root):
    return pd.read_parquet(root / f"philautia/preference_matrix/{STAND_IN_DATASET}.parquet")


def own(matrix, setting):
    rows = matrix[matrix["row_type"].eq("model") & matrix["setting"].eq(setting)]
    return rows.set_index("generator").drop("all")


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_vain_one_is_found_with_just_its_points_and_no_other(matrix, setting):
    rows = own(matrix, setting)
    low, high = rows["preference_low"], rows["preference_high"]
    assert low["vain"] <= SELF_PREFERENCE <= high["vain"]
    assert low["vain"] > 0
    others = [name for name in REFERENCE_TRAITS if name != "vain"]
    assert (low[others] <= 0).all()
    assert (high[others] >= 0).all()
    assert rows["standardized"].idxmax() == "vain"


@pytest.mark.parametrize("setting", SETTINGS)
def test_leniency_scale_and_quality_are_found(matrix, setting):
    held = matrix[matrix["setting"].eq(setting)]
    quality = held[held["row_type"].eq("generator")].set_index("generator")["quality"]
    known = pd.Series({name: each.quality for name, each in REFERENCE_TRAITS.items()})
    assert quality.to_dict() == pytest.approx((known - known.mean()).to_dict(), abs=2.5)
    scale = held[held["row_type"].eq("evaluator")].set_index("evaluator")["scale"]
    known = pd.Series({name: each.scale for name, each in REFERENCE_TRAITS.items()})
    # Of four in two families a judge's scale rests on the captions of three others.
    assert scale.to_dict() == pytest.approx((known / known.mean()).to_dict(), abs=0.2)


def test_nothing_is_missing_and_all_is_a_stand_in(matrix):
    cells = matrix[matrix["row_type"].eq("cell")]
    assert len(cells) == 2 * len(REFERENCE_TRAITS) ** 2
    assert cells["missing"].eq(0).all()
    assert cells["requests"].eq(cells["images"]).all()
    assert matrix["is_stand_in"].all()
    assert matrix["caveat"].isna().all()
    assert not matrix["row_type"].eq("problem").any()


def test_families_without_preference_show_none(matrix):
    rows = matrix[matrix["row_type"].eq("family") & matrix["preference"].notna()]
    assert set(rows["family"]) == {"stand_in_two", "stand_in_three"}
    assert (rows["preference_low"] <= 0).all()
    assert (rows["preference_high"] >= 0).all()
    tests = matrix[matrix["row_type"].eq("test") & matrix["p"].notna()]
    assert (tests["p_holm"] >= tests["p"]).all()


def test_panels_dilute_what_the_vain_one_prefers(root, matrix):
    pomms = pd.read_parquet(root / f"philautia/pomms/{STAND_IN_DATASET}.parquet")
    given = pomms[pomms["row_type"].eq("panel") & pomms["selection"].eq("given")]
    of_vain = pomms[pomms["row_type"].eq("generator") & pomms["generator"].eq("vain")]
    of_vain = of_vain[of_vain["selection"].eq("given") & of_vain["setting"].eq("reference_free")]
    points = of_vain.sort_values("size")["preference"].tolist()
    assert points == sorted(points, reverse=True)
    assert 0 < points[-1] < own(matrix, "reference_free")["preference"]["vain"] / 3
    assert sorted(given["size"].unique()) == [2, 3, 4, 5]
    searched = pomms[pomms["selection"].eq("greedy") & pomms["row_type"].eq("panel")]
    halves = searched["selection_images"] + searched["images"]
    assert halves.eq(matrix["images"].max()).all()
    assert pomms["tau_b"].isna().all()


def test_the_report_says_that_it_is_a_stand_in_run_and_shows_it(root):
    folder = root / "report" / "philautia"
    front = (folder / "index.html").read_text(encoding="utf-8")
    assert "A stand-in run: judges and captions are stand-ins" in front
    assert 'class="heat is-hot is-framed"' in front
    assert "61.5" in front  # the paper's, of G-VEval on Flickr8k-Expert
    page = (folder / f"dataset-{STAND_IN_DATASET}.html").read_text(encoding="utf-8")
    shown = {part.partition('"')[0] for part in page.split('<img src="')[1:]}
    assert shown
    assert all((folder / each).exists() for each in shown)
    assert "As vain sees it:" in page


def test_models_that_cost_money_are_asked_about_no_reference_model(root, tmp_path):
    """And the other way round: a quote for a real model is of real models' captions alone."""
    known = {"backend": "openai", "roles": ("judge", "captioner"), "longest_output": 100}
    eyes = [
        Model(name=name, model=f"{name}-1", family=name, price={"input_per_million": 1.0}, **known)
        for name in ("eye", "ear")
    ]
    catalog = Catalog(catalog_of(*eyes))
    names = ["captions_eye", "captions_ear", "scores_eye", "scores_ear"]
    tasks = [Task(AssetKey(["philautia", name]), STAND_IN_DATASET, {"limit": 3}) for name in names]
    with plan_context(root) as sources:
        lines = {
            line.asset: line for line in quote_tasks(build_planners(catalog), sources, tasks).lines
        }
    assert {name: (line.to_send, line.follow_ups) for name, line in lines.items()} == {
        "philautia/captions_eye": (3, 0),
        "philautia/captions_ear": (3, 0),
        "philautia/scores_eye": (0, 2 * 3 * 2),
        "philautia/scores_ear": (0, 2 * 3 * 2),
    }
    with plan_context(root) as sources:
        (line,) = quote_tasks(build_planners(catalog), sources, tasks[2:3]).lines
    assert line.missing_asset == "philautia/captions_eye"


def test_a_picture_of_each_scene_is_taken_once_with_what_is_right_of_it(root):
    pictures = pd.read_parquet(root / f"philautia/pictures/{STAND_IN_DATASET}.parquet")
    drawn = pd.read_parquet(root / f"vlmbias/drawn_images/{TOPIC}.parquet")
    originals = pd.read_parquet(root / f"vlmbias/original_images/{TOPIC}.parquet")
    scenes = pd.concat([drawn, originals])["base_id"].nunique()
    assert len(pictures) == pictures["sha256"].nunique() == scenes
    chess = pictures[pictures["image_id"].str.contains("chess-remove-row-first")]
    assert chess["references"].iloc[0].tolist() == ["Chessboard with 7 rows."]
