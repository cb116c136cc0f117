"""What is planned for pairs is what a run sends; what depends on pictures comes later."""

import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners as planners
from resources.models.catalog import Catalog
from resources.models.pricing import compute_cost_bound
from resources.models.requests import build_canonical_request, compute_call_key
from tests.assets.paired import (
    DOMAIN,
    SKETCH,
    Gallery,
    Studio,
    filter_at,
    painter_at,
    write_concepts,
)
from tests.assets.plans import plan_context, stored
from tests.assets.written import right, writer_at
from tests.providers import faults, pictures

PAIRS, FILTERED, WRITTEN = (
    AssetKey(["protobias", name]) for name in ("image_pairs", "filtered_pairs", "prompt_triplets")
)


def planned(studio, asset, together=None, painter=None, **config):
    """The keys of what is certain, how much comes later, and what is missing."""
    where = f"{DOMAIN}|{painter or studio.painter}"
    steps = {
        (step, DOMAIN if step == WRITTEN else where): given
        for step, given in (together or {}).items()
    }
    planner = planners(Catalog(tuple(studio.models)))[asset]
    with plan_context(studio.root) as sources:
        plans = list(planner(sources.with_planned(steps), where, config))
        certain = {
            compute_call_key(build_canonical_request(plan.model, request))
            for plan in plans
            for request in plan.requests
        }
        later = [(plan.model, request) for plan in plans for request in plan.possible_requests]
        for model, request in later:
            compute_cost_bound(model, request)
        return certain, len(later), {plan.missing_asset for plan in plans} - {None}


@pytest.fixture
def studio(tmp_path, instance, server):
    server.answer = Gallery()
    models = painter_at(server), filter_at(server), SKETCH, writer_at(server)
    return Studio(tmp_path / "root", instance, *models, number=3)


def test_a_new_painter_is_certain_and_its_filter_at_most_two_looks_a_pair(studio):
    certain, later, missing = planned(studio, PAIRS, samples=2)
    assert (len(certain), later, missing) == (3 * 2 * 2, 0, set())
    assert planned(studio, FILTERED) == (set(), 3 * 5 * 2, set())
    assert planned(studio, FILTERED, {PAIRS: {"samples": 2}}) == (set(), 3 * 2 * 2, set())
    assert planned(studio, FILTERED, painter="sketch") == (set(), 0, set()), "pixels is not asked"


def test_without_triplets_or_with_others_to_come_nothing_can_be_counted(studio):
    to_write = {WRITTEN: {"writer": "author"}}
    nothing, unknown = (
        (set(), 0, {f"protobias/{name}"}) for name in ("concepts", WRITTEN.path[-1])
    )
    together = {PAIRS: to_write, FILTERED: {**to_write, PAIRS: {}}}
    assert [planned(studio, asset, of) for asset, of in together.items()] == [nothing] * 2
    write_concepts(studio.root, 3)
    assert [planned(studio, asset, of) for asset, of in together.items()] == [unknown] * 2
    (studio.root / "protobias" / "prompt_triplets" / f"{DOMAIN}.parquet").unlink()
    for asset in (PAIRS, FILTERED):
        assert planned(studio, asset) == unknown


def test_each_step_plans_what_it_sends_and_what_stays_of_it(studio, server):
    failing, refused = right(studio.concepts[0]).correct, right(studio.concepts[1]).correct
    server.answer.painting = {failing: faults.TOO_LARGE, refused: faults.CONTENT_POLICY}
    for asset, config, number in ((PAIRS, {"samples": 2}, 12), (FILTERED, {}, 8)):
        certain, later, _ = planned(studio, asset, **config)
        assert (len(certain), later) == (number, 2 * (asset == FILTERED))
        before = stored(studio.root)
        studio.must(asset.path[-1], **{asset.path[-1]: config})
        sent = stored(studio.root) - before
        assert sent <= certain
        assert len(certain - sent) == 2 * (asset == PAIRS), "a failed one is not stored"
    looked, *_ = planned(studio, FILTERED)
    # The same samples again, more, fewer, and others.
    assert planned(studio, FILTERED, {PAIRS: {"samples": 2}}) == (looked, 2, set())
    assert planned(studio, FILTERED, {PAIRS: {"samples": 3}}) == (looked, 2 + 6, set())
    fewer, later, _ = planned(studio, FILTERED, {PAIRS: {"samples": 1}})
    assert (len(fewer), later) == (4, 1)
    assert fewer < looked
    artist, *others = studio.models[3:]
    changed = artist.model_copy(update={"parameters": {"size": "64x64", "quality": "low"}})
    studio.models[3:] = [changed, *others]
    assert planned(studio, FILTERED, {PAIRS: {"samples": 2}}) == (set(), 12, set())


def test_a_picture_that_others_spoil_may_be_of_use_beside_others(studio, server):
    first, second, _ = (right(concept) for concept in studio.concepts)
    server.answer.painting = dict.fromkeys((first.correct, second.correct), pictures.png("shared"))
    studio.must(image_pairs={"samples": 1})
    assert planned(studio, FILTERED, {PAIRS: {"samples": 1}})[1] == 0
    assert planned(studio, FILTERED, {PAIRS: {"samples": 2}})[1] == 2 * 3 + 2
