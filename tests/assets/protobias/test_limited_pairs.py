"""ProtoBias tried on a part: planned as it is sent, counted later, and marked wherever it is."""

import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners as planners
from assets.kit.limits import stratified_head
from assets.kit.step_asset import build_step_asset
from assets.planning import Task, format_text, quote_tasks
from assets.protobias import BENCHMARK
from assets.protobias.prompt_triplets import concept_sampling_key
from assets.protobias.report import load_painter_results
from assets.protobias.scorers import list_scorers
from resources.models.catalog import Catalog, Model
from resources.models.requests import build_canonical_request, compute_call_key
from resources.storage.data_root import DataRoot
from sensors.painter_backlog import PainterBacklog
from tests.assets.asked import judge_at
from tests.assets.paired import DOMAIN, SKETCH, Gallery, Studio, filter_at, painter_at
from tests.assets.plans import plan_context, stored
from tests.runs import failure, materialize, metadata

STEPS = ("image_pairs", "filtered_pairs", "scores_somebody")
NUMBER, SAMPLES, LIMITS = 8, 2, (6, 4, 3)


@pytest.fixture
def studio(tmp_path, instance, server):
    server.answer = Gallery()
    judge = judge_at(server, model="some-judge")
    models = painter_at(server), filter_at(server), judge
    return Studio(tmp_path / "root", instance, *models, number=NUMBER)


def planned(studio, step, **config):
    """The keys of what is certain, and how many requests may come later."""
    asset = AssetKey(["protobias", step])
    planner = planners(Catalog(tuple(studio.models)))[asset]
    with plan_context(studio.root) as sources:
        plans = list(planner(sources, f"{DOMAIN}|{studio.painter}", config))
        keys = {
            compute_call_key(build_canonical_request(each.model, r))
            for each in plans
            for r in each.requests
        }
        return keys, sum(1 for each in plans for _ in each.possible_requests)


def complete(result):
    found = {each.check_name: each for each in result.get_asset_check_evaluations()}
    return found["every_row_ended"]


def test_each_step_is_tried_on_a_part_that_counts_later(studio, server):
    of = (NUMBER * SAMPLES, LIMITS[0], LIMITS[1])
    configs = ({"samples": SAMPLES}, {}, {})
    for step, limit, whole, config in zip(STEPS, LIMITS, of, configs, strict=True):
        limited = {**config, "limit": limit}
        certain, later = planned(studio, step, **limited)
        before = stored(studio.root)
        result = studio.must(step, **{step: limited})
        assert stored(studio.root) - before == certain
        assert (len(certain), later) == (2 * limit, 0)
        told = metadata(result, step, "protobias")
        assert told.get("concepts", "6 of 2,000 concepts") == "6 of 2,000 concepts"
        assert told["partial"] == f"{limit} of {whole} pairs"
        check = complete(result)
        assert not check.passed
        assert check.severity.value == "WARN"
        assert f"A part, {limit} of " in check.description
    pairs = studio.table("image_pairs")
    assert set(pairs["sample"]) == {0}, "distinct concepts first"
    first = stratified_head(studio.concepts, LIMITS[0], concept_sampling_key)
    assert set(pairs["concept_id"]) == {concept.concept_id for concept in first}

    told = summarise(studio)
    assert told["partial"] == {"somebody": "animals 3 of 4 pairs"}
    assert not [name for name in told if name.startswith("failure_rate_")]
    metrics = list_scorers(Catalog(tuple(studio.models)))
    painted = load_painter_results(DataRoot(root=str(studio.root)), studio.painter, metrics)
    assert painted.trial
    assert painted.partial == {"somebody": "animals 3 of 4 pairs"}
    assert painted.samples == [
        "Animals: 6 of 2,000 concepts, 4 pairs evaluated; painted 6 of 8 triplets; "
        "filtered 4 of 6 pairs"
    ]
    assert [metric.group for metric in painted.board.metrics] == ["Trials"]

    for step, config in zip(STEPS, configs, strict=True):
        certain, _ = planned(studio, step, **config)
        before, count = stored(studio.root), server.count
        result = studio.must(step, **{step: config})
        assert server.count - count == len(certain - before) < len(certain)
        assert "partial" not in metadata(result, step, "protobias")
        assert complete(result).passed


def test_a_quote_of_a_trial_tells_what_the_papers_sample_costs(studio):
    """20,000 pictures and as many looks at them; 334 pairs are scored, both sides."""
    painter = studio.models[-3]
    painter.price.per_image["64x64"] = 0.24
    catalog = Catalog(tuple(studio.models))
    where = f"{DOMAIN}|{studio.painter}"
    task = Task(AssetKey(["protobias", "image_pairs"]), where, {"limit": 5})
    with plan_context(studio.root) as sources:
        said = format_text(quote_tasks(planners(catalog), sources, [task]), [])
        assert "$2.40" in said
        assert (
            "A trial sample: animals|artist (5 of 2,000 concepts). The same of the paper's sample, "
            "up to 20,000 requests: expected $4,800.00, at most $4,800.00."
        ) in said
        tasks = [
            Task(
                AssetKey(["protobias", *step.split("/")]),
                where,
                {"samples": 1} if "im" in step else {},
            )
            for step in STEPS
        ]
        found = quote_tasks(planners(catalog), sources, tasks)
        assert [(each.description, each.request_count) for each in found.samples] == [
            ("8 of 2,000 concepts", 20_000),
            ("8 of 2,000 concepts", 20_000),
            ("8 of 2,000 concepts", 668),
        ]
        assert "up to 40,668 requests: expected unknown, at most unknown." in format_text(found, [])


def test_a_trial_is_known_by_the_runs_that_made_it(studio):
    """As Dagster records them: a stand-in's is painted by nobody, the user's own is."""
    known = {"backend": "stand_in", "model": "grammar", "family": "own"}
    studio.models += [Model(name="grammar", roles=("writer",), **known), SKETCH]
    studio.instance.add_dynamic_partitions("painters", ["sketch"])

    def make(where, *names, **config):
        result = materialize(
            studio.root,
            *names,
            topic=where,
            models=studio.models,
            config=config,
            instance=studio.instance,
            group="protobias",
        )
        assert result.success, failure(result)

    def coverage():
        catalog = Catalog(tuple(studio.models))
        there = {step.key: build_step_asset(step) for step in BENCHMARK.steps(catalog)}
        return PainterBacklog(studio.instance, catalog, there, BENCHMARK)

    make(DOMAIN, "concepts", "prompt_triplets", concepts={"instances": 3})
    make(f"{DOMAIN}|sketch", "image_pairs", image_pairs={"samples": 1})
    found = coverage()
    assert found.paintable_values == []
    assert "a trial sample, 3 of 2,000 concepts, of which no painter" in "".join(found.messages)
    make(f"{DOMAIN}|artist", "image_pairs", image_pairs={"samples": 1})
    assert coverage().paintable_values == [DOMAIN]
    make(DOMAIN, "concepts", "prompt_triplets", concepts={"instances": 2})
    assert coverage().paintable_values == []


def summarise(studio):
    result = materialize(
        studio.root,
        "summary",
        topic=studio.painter,
        models=studio.models,
        instance=studio.instance,
        group="protobias",
    )
    assert result.success, failure(result)
    return metadata(result, "summary", "protobias")
