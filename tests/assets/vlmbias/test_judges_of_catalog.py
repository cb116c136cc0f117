"""Judges come and go with models.yaml: which assets there are, and what each says of itself."""

import importlib

import dagster as dg
import pytest

import assets
import definitions
from assets.vlmbias.benchmark import BENCHMARK
from resources.models.catalog import Catalog, CatalogError, Model
from resources.settings.default_resources import build_default_resources
from tests.runs import STAND_INS

ENTRIES = """
- {name: pixels, backend: stand_in, model: pixels, family: stand_in, roles: [judge]}
- name: gpt_4_1
  backend: openai
  model: gpt-4.1
  family: gpt
  roles: [writer, judge]
  parameters: {temperature: 1.0}
- {name: painter, backend: openai, model: gpt-image-2, family: gpt, roles: [painter]}
"""


def model(name="somebody", **entry):
    known = {"backend": "openai", "model": "some-vlm-1", "family": "some", "roles": ("judge",)}
    return Model(name=name, **{**known, **entry})


def graph(*models):
    """The graph with these judges."""
    return dg.Definitions(
        assets=[
            *dg.load_assets_from_package_module(assets),
            *BENCHMARK.build_definitions(Catalog(models)),
        ],
        resources=build_default_resources("/nowhere"),
    ).resolve_asset_graph()


def answered(*models):
    keys = graph(*models).materializable_asset_keys
    return judges_in(keys)


def judges_in(keys):
    names = [key.path[1] for key in keys if key.path[0] == "vlmbias"]
    return {name.removeprefix("answers_") for name in names if name.startswith("answers_")}


def answers_of(judge):
    return graph(judge).get(dg.AssetKey(["vlmbias", f"answers_{judge.name}"]))


def test_every_judge_and_no_other_model_has_answers():
    painter = model("artist", roles=("painter",))
    assert answered(*STAND_INS) == {"prior", "pixels", "random"}
    assert answered(*STAND_INS, model(), painter) == {"prior", "pixels", "random", "somebody"}
    assert answered(model("one"), model("two")) == {"one", "two"}


def test_accuracy_takes_every_judge_and_the_report_takes_accuracy():
    nodes = graph(*STAND_INS, model())
    parents = nodes.get(dg.AssetKey(["vlmbias", "accuracy"])).parent_keys
    assert judges_in(parents) == {"prior", "pixels", "random", "somebody"}
    assert dg.AssetKey(["vlmbias", "questions"]) in parents
    over = nodes.get(dg.AssetKey(["vlmbias", "report"])).parent_keys
    pictures = ["drawn_images", "measurements", "original_images", "photographs"]
    shown = ["accuracy", *pictures, "rerolled_accuracy"]
    assert sorted(key.path[-1] for key in over) == shown


@pytest.mark.parametrize("name", ["questions", "accuracy", "images", "answers"])
def test_no_name_of_a_judge_is_taken(name):
    assert answered(*STAND_INS, model(name)) == {"prior", "pixels", "random", name}


def test_every_judge_has_its_checks_and_pixels_proves_the_truths():
    checks = graph(*STAND_INS, model()).asset_check_keys
    of = {}
    for key in checks:
        for judge in judges_in([key.asset_key]):
            of.setdefault(judge, set()).add(key.name)
    everyones = {"every_row_ended", "unparsed_rate", "nothing_failed"}
    assert of == {
        "prior": everyones,
        "random": everyones,
        "pixels": everyones | {"truths_hold"},
        "somebody": everyones,
    }


def test_what_an_asset_says_of_its_judge():
    somebody = answers_of(model())
    assert somebody.pools == {"somebody"}
    assert {"judge", "openai"} <= somebody.kinds
    assert "some-vlm-1" in somebody.description
    assert answers_of(STAND_INS[0]).kinds >= {"judge", "stand_in"}


@pytest.mark.parametrize(
    ("entry", "other"),
    [
        ({"model": "some-vlm-2"}, True),
        ({"parameters": {"temperature": 0.5}}, True),
        ({"backend": "gemini"}, True),
        ({"family": "another"}, False),
        ({"concurrency": 2}, False),
        ({"key": "OTHER_KEY"}, False),
        ({"price": {"input_per_million": 1.0}}, False),
    ],
)
def test_a_code_version_changes_with_what_answers_depend_on(entry, other):
    versions = {answers_of(each).code_version for each in (model(), model(**entry))}
    assert (len(versions) == 2) is other


@pytest.fixture
def location(tmp_path, monkeypatch):
    """Load the code location with other entries in models.yaml."""

    def load(entries):
        (tmp_path / "models.yaml").write_text(entries)
        monkeypatch.setenv("COUNTERFACTORY_MODELS", str(tmp_path / "models.yaml"))
        return importlib.reload(definitions).defs.resolve_asset_graph()

    yield load
    monkeypatch.undo()
    importlib.reload(definitions)


def test_the_code_location_takes_its_judges_from_the_file(location):
    keys = location(ENTRIES).materializable_asset_keys
    assert judges_in(keys) == {"pixels", "gpt_4_1"}
    keys = location("").materializable_asset_keys
    assert not judges_in(keys)


def test_a_wrong_entry_names_file_and_line(location, tmp_path):
    with pytest.raises(CatalogError, match=r"models\.yaml, line 2"):
        location(ENTRIES.replace("pixels, family", "pixel, family"))


def test_keys_and_addresses_of_databases_are_named_and_not_read(monkeypatch):
    """So that neither stands in what Dagster shows of a resource."""
    monkeypatch.setenv("COUNTERFACTORY_CALLS", "postgresql://me:canary-9f2@host/calls")
    calls = build_default_resources("/nowhere")["models"].calls
    assert "canary-9f2" not in str(calls._convert_to_config_dictionary())
    monkeypatch.delenv("COUNTERFACTORY_CALLS")
    calls = build_default_resources("/nowhere")["models"].calls
    assert calls.url == "sqlite:////nowhere/calls.sqlite"


def test_images_may_lie_elsewhere(monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_IMAGES", "s3://bucket/images")
    resources = build_default_resources("/nowhere")
    assert resources["images"].root == resources["models"].images.root == "s3://bucket/images"
    assert resources["home"].root == "/nowhere"
