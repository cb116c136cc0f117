"""From a collection that people have scored to the report, by models that are asked."""

import dagster as dg
import pandas as pd
import pytest
from PIL import Image

from assets.kit.collections import collection_asset, load_listed_collections
from assets.kit.upstream_calls import find_upstream_calls
from assets.philautia import BENCHMARK
from assets.philautia.benchmark import COMPARISON_ASSETS, SHARED_ASSETS
from generators.prompts.captioning import write_caption_prompt
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from tests.assets.philautia.test_asked import at
from tests.assets.plans import plan_context
from tests.providers import Provider
from tests.resources.collections.test_captions import ENTRY

pytestmark = pytest.mark.filterwarnings("ignore:.*InitResourceContext:DeprecationWarning")
# That is Dagster's own, of a resource that is part of another one.

NAMES = ("ann", "bob", "cid", "dot")
COLOURS = ("red", "blue", "green", "brown", "grey", "pink")
RIGHT = "A {} square ."


def answer(received):
    """Captions; scores by the colour that a caption says; and cid is fond of its own."""
    words = received.texts[-1]
    if words == write_caption_prompt():
        return f"Some square, {received.model} thinks."
    if "cid-1 thinks" in words and received.model == "cid-1":
        return '{"score": 90}'
    for colour in COLOURS:
        if (
            f"Caption:\n{RIGHT.format(colour)}" in words
            or f"judge:\n{RIGHT.format(colour)}" in words
        ):
            return f'{{"score": {20 + 10 * COLOURS.index(colour)}}}'
    lot = sum(map(ord, received.model + words)) % 7
    return f'{{"score": {50 + lot}}}'


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A data root with everything of a collection of six pictures, and what was asked."""
    for folder in ("Flicker8k_Dataset", "Flickr8k_text"):
        (tmp_path / folder).mkdir()
    experts, tokens = [], []
    for rank, colour in enumerate(COLOURS):
        Image.new("RGB", (9, 7), colour).save(tmp_path / f"Flicker8k_Dataset/{colour}.png")
        tokens += [f"{colour}.png#{n}\t{RIGHT.format(colour)}{'!' * n}" for n in range(2)]
        rating = 1 + rank // 2
        experts.append(f"red.png\t{colour}.png#0\t{rating}\t{rating}\t{min(4, rating + 1)}")
        experts.append(f"{colour}.png\tred.png#1\t1\t2\t1")
    text = tmp_path / "Flickr8k_text"
    (text / "ExpertAnnotations.txt").write_text("\n".join(experts) + "\n")
    (text / "Flickr8k.token.txt").write_text("\n".join(tokens) + "\n")
    (tmp_path / "collections.yaml").write_text(ENTRY)
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(tmp_path / "collections.yaml"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    name = "flickr8k_expert"
    with Provider(answer=answer) as server:
        models = [at(server, each) for each in NAMES]
        known = [
            collection_asset(load_listed_collections()[name]),
            *BENCHMARK.build_definitions(Catalog(tuple(models))),
        ]
        by_model = [f"{what}_{each}" for what in ("captions", "scores") for each in NAMES]
        runs = (
            ([f"collections/{name}"], None),
            (
                [f"philautia/{each}" for each in (*SHARED_ASSETS, *by_model, *COMPARISON_ASSETS)],
                name,
            ),
            (["philautia/report"], None),
        )
        for assets, partition in runs:
            result = dg.materialize(
                known,
                selection=dg.AssetSelection.assets(*assets),
                partition_key=partition,
                instance=dg.DagsterInstance.ephemeral(),
                resources=build_default_resources(str(tmp_path / "data")),
            )
            assert result.success
    definitions = dg.Definitions(
        assets=known, resources=build_default_resources(str(tmp_path / "data"))
    )
    return tmp_path / "data", server.count, definitions, Catalog(tuple(models))


def test_a_collection_is_described_scored_compared_with_people_and_reported(made):
    root, sent, definitions, catalog = made
    scores = pd.read_parquet(root / "philautia/scores_ann/flickr8k_expert.parquet")
    captions, rated = 6 * len(NAMES), scores["candidate"].notna() & scores["score"].notna()
    # Every picture has references: each caption is asked about twice.
    assert sent == captions + len(NAMES) * (2 * captions + int(rated.sum()))
    assert scores["score"].notna().all()
    matrix = pd.read_parquet(root / "philautia/preference_matrix/flickr8k_expert.parquet")
    own = matrix[matrix["row_type"].eq("model") & matrix["setting"].eq("reference_free")]
    own = own.set_index("generator")["preference"]
    assert own.drop("all").idxmax() == "cid"
    assert own["cid"] > 30
    pomms = pd.read_parquet(root / "philautia/pomms/flickr8k_expert.parquet")
    alone = pomms[pomms["selection"].eq("alone")]
    assert len(alone) == 2 * len(NAMES)
    assert alone["tau_b"].gt(0.3).all()
    people = pd.read_parquet(root / "philautia/rated_captions/flickr8k_expert.parquet")
    assert alone["ratings"].eq(3 * len(people)).all()
    front = (root / "report/philautia/index.html").read_text("utf-8")
    assert "No model is ranked on flickr8k_expert yet. ann: 6 of at least 20 pictures" in front
    assert "flickr8k_expert" in front
    assert "τ_<wbr>b" in front
    with plan_context(root) as sources:
        every = set(sources.calls.iterate_keys())
    # What a cassette of the matrix holds.
    found = find_upstream_calls(definitions, catalog, "philautia/preference_matrix", root)
    assert found.keys == every
