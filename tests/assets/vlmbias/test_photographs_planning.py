"""What is planned for photographs is what a run sends; what depends on pictures comes later."""

import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners as planners
from assets.vlmbias.photographs.base_images import select_first_photographs, select_painted
from assets.vlmbias.photographs.paintings import list_paintings
from generators.photographs import load_photograph_topics
from resources.models.catalog import Catalog
from resources.models.pricing import compute_cost_bound
from resources.models.requests import build_canonical_request, compute_call_key
from tests.assets.painted import LIST, STEPS, TOPIC, Painting, Studio, painter_at
from tests.assets.plans import plan_context, stored
from tests.providers import faults
from tests.runs import metadata

CHECKED = {"checker": "artist"}


@pytest.fixture
def studio(tmp_path, instance, server):
    server.answer = Painting()
    studio = Studio(tmp_path / "root", instance, server)
    studio.add(painter_at(server))
    return studio


def partition(name):
    return TOPIC if name == "subjects" else f"artist|{TOPIC}"


def complete(result):
    found = {each.check_name: each for each in result.get_asset_check_evaluations()}
    return found["every_row_ended"]


def planned(studio, name, together=None, **config):
    """The keys of what is certain, how much comes later, and what is missing.

    `together` are the steps before it that are to be materialized as well, with their config.
    """
    key = partition(name)
    steps = {
        (AssetKey(["vlmbias", step]), partition(step)): given
        for step, given in (together or {}).items()
    }
    planner = planners(Catalog(tuple(studio.models)))[AssetKey(["vlmbias", name])]
    with plan_context(studio.root) as sources:
        plans = list(planner(sources.with_planned(steps), key, config))
        certain = {
            compute_call_key(build_canonical_request(plan.model, request))
            for plan in plans
            for request in plan.requests
        }
        later = [(plan.model, request) for plan in plans for request in plan.possible_requests]
        for model, request in later:
            compute_cost_bound(model, request)
        return certain, len(later), {plan.missing_asset for plan in plans} - {None}


def test_what_is_built_in_asks_nobody(studio):
    assert planned(studio, "subjects") == (set(), 0, set())
    assert planned(studio, "candidates") == (set(), 0, set())


@pytest.mark.parametrize("name", STEPS)
def test_without_subjects_nothing_can_be_counted(studio, name):
    config = CHECKED if name == "candidates" else {}
    assert planned(studio, name, **config) == (set(), 0, {"vlmbias/subjects"})


def test_each_step_plans_what_it_sends(studio):
    configs = {"subjects": {"writer": "artist"}, "candidates": CHECKED}
    sent = {"subjects": 1, "paintings": 4, "edits": 16, "candidates": 60}
    for name, number in sent.items():
        config = configs.get(name, {})
        certain, later, missing = planned(studio, name, **config)
        assert (len(certain), later, missing) == (number, 0, set())
        before = stored(studio.root)
        studio.must(name, painter=None if name == "subjects" else "artist", **{name: config})
        assert stored(studio.root) - before == certain
        assert studio.server.count == len(stored(studio.root))


def test_each_step_is_tried_on_a_part_that_counts_later(studio):
    """Of 4 base images: 3 painted, 2 of these edited, 1 of these looked at; then all."""
    studio.must("subjects", subjects={"writer": "artist"})
    limits = {"paintings": 3, "edits": 2, "candidates": 1}
    alone, groups = {"paintings": 3, "edits": 2 * 4, "candidates": 5 * 3}, {}
    for name, limit in limits.items():
        config = {"limit": limit} | (CHECKED if name == "candidates" else {})
        certain, later, _ = planned(studio, name, **config)
        before = stored(studio.root)
        result = studio.must(name, painter="artist", **{name: config})
        assert stored(studio.root) - before == certain
        assert (len(certain), later) == (alone[name], 0)
        assert metadata(result, name)["partial"] == f"{limit} of 4 base images"
        check = complete(result)
        assert not check.passed
        assert check.severity.value == "WARN"
        assert f"A part, {limit} of 4 base images: " in check.description
        table = studio.table(name, "artist")
        groups[name] = set(table["prompt" if name == "paintings" else "base_id"])
    assert set(studio.table("edits", "artist")["subtopic"]) == {"birds", "mammals"}
    assert groups["candidates"] < groups["edits"]

    published = metadata(studio.must("photographs"), "photographs")
    assert published["partial"] == "1 of 4 base images"

    # All of what the step before holds: still a part of the topic.
    certain, later, _ = planned(studio, "edits")
    assert (len(certain), later) == (3 * 4, 0)
    for name, whole in {"paintings": 4, "edits": 16, "candidates": 60}.items():
        config = CHECKED if name == "candidates" else {}
        certain, later, _ = planned(studio, name, **config)
        assert (len(certain), later) == (whole, 0)
        before, count = stored(studio.root), studio.server.count
        result = studio.must(name, painter="artist", **{name: config})
        assert stored(studio.root) >= before | certain
        assert studio.server.count - count == whole - alone[name]
        assert "partial" not in metadata(result, name)
        assert complete(result).passed
    assert "partial" not in metadata(studio.must("photographs"), "photographs")


def test_steps_planned_together_follow_the_limit_of_the_first(studio):
    studio.must("subjects", subjects={"writer": "artist"})
    first = {"paintings": {"limit": 2}}
    assert planned(studio, "edits", first) == (set(), 8, set())
    assert planned(studio, "edits", first, limit=1) == (set(), 4, set())
    both = first | {"edits": {"edits_per_image": 3}}
    assert planned(studio, "candidates", both, **CHECKED) == (set(), 2 * 4 * 3, set())


def test_of_logos_that_share_a_picture_a_part_is_known_by_its_pictures():
    every = load_photograph_topics()["logos"].list_photographs(
        load_photograph_topics()["logos"].BUILT_IN
    )
    for limit in range(1, len(every) + 1):
        some = select_first_photographs(every, limit)
        assert len(some) == limit
        painted = select_painted(every, [{"prompt": prompt} for prompt in list_paintings(some)])
        assert list_paintings(painted) == list_paintings(some)
        assert {each.base_id for each in some} <= {each.base_id for each in painted}
    lost = [{"prompt": prompt} for prompt in list(list_paintings(every))[1:]]
    assert select_painted(every, lost) == every
    shares = {each.subtopic for each in select_first_photographs(every, 2)}
    assert shares == {"cars", "shoes"}


def test_what_depends_on_pictures_is_later_and_at_most_so_much(studio):
    studio.must("subjects", subjects={"writer": "artist"})
    assert planned(studio, "edits") == (set(), 16, set())
    assert planned(studio, "edits", edits_per_image=2) == (set(), 8, set())
    assert planned(studio, "candidates", **CHECKED) == (set(), 4 * 5 * 3, set())


def test_of_a_failed_painting_edits_are_later_and_of_a_refused_one_none(studio):
    studio.must("subjects", subjects={"writer": "artist"})
    studio.server.when(lambda received: " dog " in received.texts[0], faults.CONTENT_POLICY)
    studio.server.when(lambda received: " horse " in received.texts[0], faults.TOO_LARGE)
    studio.must("paintings", painter="artist")
    certain, later, _ = planned(studio, "edits")
    assert (len(certain), later) == (8, 4)


def test_the_papers_numbers_are_the_upper_bound(studio):
    studio.must("subjects")
    certain, *_ = planned(studio, "paintings")
    assert len(certain) == 91
    assert planned(studio, "edits") == (set(), 91 * 4, set())


class TestTogether:
    """What is planned for several steps at once, of which the first may change the others'."""

    @pytest.fixture
    def done(self, studio):
        """A studio in which all steps are materialized."""
        for name in ("subjects", "paintings", "edits"):
            config = {"subjects": {"writer": "artist"}} if name == "subjects" else {}
            studio.must(name, painter=None if name == "subjects" else "artist", **config)
        return studio

    def test_a_step_that_asks_for_nothing_new_changes_nothing(self, done):
        same = {"subjects": {"writer": "artist"}, "paintings": {}, "edits": {}}
        for name, config in (("paintings", {}), ("edits", {}), ("candidates", CHECKED)):
            alone = planned(done, name, **config)
            assert alone[0]
            assert planned(done, name, same, **config) == alone

    def test_other_paintings_put_off_all_edits_and_checks(self, done):
        (artist,) = done.models
        done.models[:] = [artist.model_copy(update={"parameters": {"quality": "low"}})]
        assert planned(done, "edits", {"paintings": {}}) == (set(), 16, set())
        both = {"paintings": {}, "edits": {}}
        assert planned(done, "candidates", both, **CHECKED)[:2] == (set(), 4 * 5 * 3)

    def test_more_edits_are_more_to_check(self, done):
        more = {"edits": {"edits_per_image": 10}}
        certain, later, _ = planned(done, "candidates", more, **CHECKED)
        assert (len(certain), later) == (4 * 5 * 3, 4 * 6 * 3)

    def test_other_subjects_cannot_be_counted(self, done):
        other = {"subjects": {"writer": "artist", "sample": 1}}
        for name, config in (("paintings", {}), ("edits", {}), ("candidates", CHECKED)):
            assert planned(done, name, other, **config) == (set(), 0, {"vlmbias/subjects"})

    def test_after_a_list_that_cannot_serve_nothing_can_be_counted(self, done):
        """Its run would fail, whatever is stored of it."""
        done.server.answer.list = [("spider", 8)]
        config = {"writer": "artist", "sample": 1}
        assert not done.run("subjects", subjects=config).success
        for name in ("paintings", "edits"):
            found = planned(done, name, {"subjects": config})
            assert found == (set(), 0, {"vlmbias/subjects"})

    def test_what_a_stale_table_lacks_is_later(self, done):
        """A run of the edits alone would fail; a quote says what it takes with the paintings."""
        done.server.answer.list = [*LIST[:-1], ("cow", 4)]
        done.must("subjects", subjects={"writer": "artist", "sample": 1})
        certain, later, _ = planned(done, "edits")
        assert (len(certain), later) == (3 * 4, 4)
        certain, later, _ = planned(done, "candidates", **CHECKED)
        assert (len(certain), later) == (3 * 5 * 3, 5 * 3)

    def test_what_is_built_in_is_known_before(self, studio):
        certain, later, missing = planned(studio, "paintings", {"subjects": {}})
        assert (len(certain), later, missing) == (91 if TOPIC == "animals" else 54, 0, set())
