"""Half price, the whole way: submitted, collected, materialized, and nothing asked twice."""

from collections import Counter

import dagster as dg
import pytest

from assets.kit.benchmarks import build_planners
from assets.kit.jobs import Jobs
from assets.kit.plan import Plan
from resources.batches import submission
from resources.models.catalog import Catalog
from resources.models.requests import LookRequest, Turn
from tests.assets.asked import JUDGE, answers, ask, counting, judge_at, questions, requests
from tests.assets.batched import ASSET, Location
from tests.providers import Course, faults
from tests.runs import TOPIC, defined, failure, table

PRICE = {"input_per_million": 1.0, "output_per_million": 10.0, "batch_share": 0.5}


@pytest.fixture(autouse=True)
def _hasty(monkeypatch):
    monkeypatch.setattr(submission, "FIRST_WAIT_S", 0.005)


@pytest.fixture
def judge(server):
    return judge_at(server, price=PRICE, longest_output=100)


@pytest.fixture
def location(root, judge, instance):
    location = location_of(root, instance, judge)
    yield location
    location.calls.close()


def location_of(root, instance, *models):
    catalog = Catalog(models)
    asking = {
        key: each for key, each in build_planners(catalog).items() if key.path[0] == "vlmbias"
    }
    return Location(root, instance, defined(catalog, "vlmbias"), asking)


def output(result, op):
    """The metadata of a job's one output."""
    (event,) = [each for each in result.events_for_node(op) if each.is_successful_output]
    return {key: value.value for key, value in event.step_output_data.metadata.items()}


def asked(server):
    """How many requests came alone."""
    return sum(each.task == "text" and not each.batch for each in server.received)


def tags(location, *states):
    return [batch.tag for batch in location.calls.batches.list_by_state(*states)]


def test_the_whole_way_at_half_the_price(root, server, location, judge):
    result = location.submit(partitions=[TOPIC])
    assert result.success, failure(result)
    told = output(result, "submit")
    assert (told["requests"], told["answered_before"], told["later"]) == (requests(root), 0, 0)
    (tag,) = tags(location, "running")
    assert f"| {tag} | somebody | {ASSET} | {TOPIC} | running |" in told["batches"]
    launched, skipped = location.see_through()
    assert launched == ["collect_batch", "vlmbias_answers"]
    assert skipped == "No batch is under way."
    assert asked(server) == 0
    table_before = answers(root)
    assert set(table_before["outcome"]) == {"answered", "unparsed"}
    assert len(table_before["calls"].explode().unique()) == requests(root)
    result = ask(root, judge)
    assert result.success
    assert asked(server) == 0
    assert answers(root).equals(table_before)
    (spent,) = location.calls.list_spending()
    assert (spent.mode, spent.asset, spent.partition) == ("batch", ASSET, TOPIC)
    assert (spent.requests, spent.possibly_paid) == (requests(root), 0)
    assert location.tick().run_requests == []


def test_a_part_is_submitted_and_materialized_as_one(root, server, location):
    config = {"ops": {f"vlmbias__{JUDGE}": {"config": {"limit": 5}}}}
    result = location.submit(partitions=[TOPIC], config=config)
    assert result.success, failure(result)
    sent = output(result, "submit")["requests"]
    assert 0 < sent <= 5
    launched, _ = location.see_through()
    assert launched == ["collect_batch", "vlmbias_answers"]
    assert len(answers(root)) == 5
    assert asked(server) == 0
    rest = location.submit(partitions=[TOPIC])
    assert output(rest, "submit")["requests"] == requests(root) - sent
    location.see_through()
    assert len(answers(root)) == len(questions(root))
    assert asked(server) == 0


def test_what_was_asked_alone_is_not_submitted_and_the_other_way_round(
    root, server, judge, location
):
    assert ask(root, judge).success
    result = location.submit(partitions=[TOPIC])
    assert output(result, "submit")["answered_before"] == requests(root)
    assert server.batches.all == {}
    assert location.submit(partitions=[TOPIC], config=prompting("debiased")).success
    launched, _ = location.see_through()
    assert launched == ["collect_batch", "vlmbias_answers"]
    assert asked(server) == requests(root)
    assert Counter(answers(root)["prompting"])["debiased"] == counting(root)


def prompting(*names):
    return {"ops": {"vlmbias__answers_somebody": {"config": {"prompting": list(names)}}}}


def test_submitted_twice_it_is_sent_once(server, location, root):
    for _ in range(2):
        assert location.submit(partitions=[TOPIC]).success
    assert len(server.batches.all) == 1
    assert len(tags(location, "running")) == 1


def test_what_waits_in_a_batch_is_not_asked_alone(root, server, location, judge):
    location.submit(partitions=[TOPIC])
    (tag,) = tags(location, "running")
    result = ask(root, judge)
    assert not result.success
    said = failure(result)
    assert f"{requests(root)} of {requests(root)} requests to somebody wait in a batch" in said
    assert tag in said
    assert "sensor `batches`" in said
    assert asked(server) == 0
    location.see_through()
    assert ask(root, judge).success
    assert asked(server) == 0


def running(location, topic):
    """A run that is materializing a topic of the judge's."""
    return location.instance.add_run(
        dg.DagsterRun(
            "__ASSET_JOB",
            asset_selection=frozenset({dg.AssetKey(ASSET.split("/"))}),
            tags={"dagster/partition": topic},
            status=dg.DagsterRunStatus.STARTED,
        )
    )


def test_what_a_run_is_asking_is_not_submitted(server, location):
    running(location, "flags")
    assert location.submit(partitions=[TOPIC]).success
    run = running(location, TOPIC)
    result = location.submit(partitions=[TOPIC], config=prompting("debiased"))
    assert f"The run {run.run_id} materializes {ASSET}, {TOPIC}. Wait" in failure(result)
    assert len(server.batches.all) == 1


def test_a_run_of_a_whole_job_counts_as_well(server, location):
    named = {"tags": {"dagster/partition": TOPIC}, "status": dg.DagsterRunStatus.STARTED}
    for other in ("collect_batch", "quote", "vlmbias_report"):
        location.instance.add_run(dg.DagsterRun(other, **named))
    run = location.instance.add_run(dg.DagsterRun("vlmbias_answers", **named))
    assert f"The run {run.run_id} materializes {ASSET}" in failure(
        location.submit(partitions=[TOPIC])
    )
    assert not server.batches.all
    location.instance.report_run_canceled(run)
    assert location.submit(partitions=[TOPIC]).success


def test_a_run_that_starts_meanwhile_keeps_all_from_being_created(server, location, monkeypatch):
    def record_order(self, order):
        whole(self, order)
        run = running(location, TOPIC)
        monkeypatch.setattr(submission._Submission, "record_order", whole)
        started.append(run.run_id)

    started, whole = [], submission._Submission.record_order
    monkeypatch.setattr(submission._Submission, "record_order", record_order)
    said = failure(location.submit(partitions=[TOPIC]))
    assert f"The run {started[0]} materializes {ASSET}, {TOPIC}. Wait" in said
    assert not server.batches.all
    assert tags(location, "submitting", "running") == []
    assert location.calls.list_spending() == []


def test_second_turns_are_submitted_once_their_first_are_answered(root, server, location):
    result = location.submit(partitions=[TOPIC], config=prompting("double-check"))
    assert output(result, "submit")["later"] == counting(root)
    launched, told = location.see_through()
    assert launched == ["collect_batch"]
    assert f"{ASSET}, {TOPIC}: {counting(root):,} requests have no answer" in told
    assert "submit_batch" in told
    assert "full price" in told
    assert not table(root, "answers_somebody").exists()
    assert location.tick().skip_message == told
    again = location.submit(partitions=[TOPIC], config=prompting("double-check"))
    assert output(again, "submit")["requests"] == counting(root)
    launched, told = location.see_through()
    assert launched == ["collect_batch", "vlmbias_answers"]
    assert told == "No batch is under way."
    assert asked(server) == 0
    assert len(answers(root)) == counting(root)
    assert set(answers(root)["prompting"]) == {"double-check"}


def test_of_a_batch_half_of_which_has_expired_the_rest_is_not_asked_alone(root, server, location):
    server.batches.course = lambda _: Course(ends="expired", answered=0.5)
    location.submit(partitions=[TOPIC])
    launched, told = location.see_through()
    assert launched == ["collect_batch"]
    missing = requests(root) - round(requests(root) * 0.5)
    assert f"{missing} requests have no answer" in told
    assert "expired" in told
    assert asked(server) == 0
    server.batches.course = lambda _: Course()
    assert output(location.submit(partitions=[TOPIC]), "submit")["requests"] == missing
    launched, _ = location.see_through()
    assert launched == ["collect_batch", "vlmbias_answers"]
    assert asked(server) == 0
    assert set(answers(root)["outcome"]) == {"answered", "unparsed"}


def test_what_the_sensor_starts_spends_nothing_even_if_the_models_have_changed(
    root, server, instance, judge, location
):
    location.submit(partitions=[TOPIC])
    for request in location.tick().run_requests:
        assert location.launch(request).success
    (request,) = location.tick().run_requests
    # Its process reads models.yaml anew.
    changed = judge.model_copy(update={"parameters": {"temperature": 0.5}})
    later = location_of(root, instance, changed)
    said = failure(later.launch(request))
    later.calls.close()
    assert "budget" in said
    assert asked(server) == 0


def test_what_has_failed_in_a_batch_may_be_asked_at_the_full_price(root, server, location, judge):
    server.answer = lambda received: (
        faults.SERVER_ERROR if received.batch and "row" in received.texts[0] else "{8}"
    )
    location.submit(partitions=[TOPIC])
    launched, told = location.see_through()
    assert launched == ["collect_batch"]
    assert "failed: HTTP 500" in told
    assert ask(root, judge, instance=location.instance).success
    assert 0 < asked(server) < requests(root)
    assert location.tick().skip_message == "No batch is under way."
    assert tags(location, "collected") == []


def test_a_cancelled_batch_is_collected_and_not_materialized(root, server, location):
    server.batches.course = lambda _: Course(polls=float("inf"), answered=0.5)
    location.submit(partitions=[TOPIC])
    assert location.tick().skip_message == "Batches under way: 1."
    (tag,) = tags(location, "running")
    result = location.cancel(tag)
    assert result.success, failure(result)
    assert "cancelled" in output(result, "cancel")["batch"]
    launched, told = location.see_through()
    assert launched == ["collect_batch"]
    assert "requests have no answer" in told
    assert "cancelled" in told


def test_a_batch_can_be_forgotten(server, location):
    location.submit(partitions=[TOPIC])
    (tag,) = tags(location, "running")
    server.batches.all.clear()
    told = location.tick().skip_message
    assert f"The batch {tag}: HTTP 404" in told
    assert location.cancel(tag, forget=True).success
    assert location.tick().skip_message == "No batch is under way."


def test_beyond_the_budget_nothing_is_created(root, server, location):
    result = location.submit(partitions=[TOPIC], budget={"config": {"per_run_usd": 0.01}})
    assert not result.success
    assert "The budget of this run is $0.01" in failure(result)
    assert server.received == []
    assert tags(location, "submitting", "running") == []
    assert location.submit(partitions=[TOPIC], budget={"config": {"per_run_usd": 50}}).success


def test_a_model_that_takes_no_batches_is_named(root, server, instance):
    location = location_of(root, instance, judge_at(server, backend="openai_compatible"))
    result = location.submit(partitions=[TOPIC])
    assert not result.success
    assert "somebody takes no batches: the backend openai_compatible" in failure(result)
    location.calls.close()


@pytest.mark.parametrize(
    ("select", "partitions", "said"),
    [
        ('key:"vlmbias/questions"', [TOPIC], "No asset of"),
        ('key:"vlmbias/answers_nobody"', [TOPIC], "selects no asset"),
        (f'key:"{ASSET}"', ["game_board"], "has a partition 'game_board'"),
        (
            f'key:"{ASSET}"',
            ["flags"],
            f"{ASSET}, flags cannot be submitted yet: materialize vlmbias/",
        ),
    ],
)
def test_what_cannot_be_submitted_is_named(server, location, select, partitions, said):
    result = location.submit(select, partitions)
    assert not result.success
    assert said in failure(result)
    assert server.received == []


def test_a_batch_that_cannot_be_collected_is_not_tried_for_ever(root, server, location):
    location.submit(partitions=[TOPIC])
    (tag,) = tags(location, "running")
    server.when(lambda received: received.task == "download", faults.INVALID_KEY)
    keys = []
    for _ in range(3):
        (request,) = location.tick().run_requests
        keys.append(request.run_key)
        assert not location.launch(request).success
    assert len(set(keys)) == 3
    told = location.tick().skip_message
    assert "could not be collected (3 runs failed" in told
    assert f"collect_batch with tag: {tag}" in told
    server.clear()
    assert location.collect(tag).success
    launched, _ = location.see_through()
    assert launched == ["vlmbias_answers"]


def test_a_tick_while_a_batch_is_being_collected_wants_no_second_run(server, location):
    location.submit(partitions=[TOPIC])
    (request,) = location.tick().run_requests
    location.instance.add_run(
        dg.DagsterRun(request.job_name, tags=request.tags, status=dg.DagsterRunStatus.STARTED)
    )
    assert location.tick().skip_message == "Batches under way: 1."


# Assets without partitions, and with two dimensions of them

PAINTERS = dg.DynamicPartitionsDefinition(name="painters")
DIVISIONS = {
    "whole": None,
    "both": dg.MultiPartitionsDefinition(
        {"topic": dg.StaticPartitionsDefinition(["animals", "logos"]), "painter": PAINTERS}
    ),
}


class Words(dg.Config):
    words: str = "How many?"


@pytest.fixture
def others(root, judge, instance):
    """Assets that ask one question a partition; both have it made of what `Words` says."""
    instance.add_dynamic_partitions("painters", ["sketch", "gpt"])
    made = []

    def asset_of(name, partitions_def):
        @dg.asset(key=["test", name], partitions_def=partitions_def)
        def of(context: dg.AssetExecutionContext, config: Words) -> None:
            place = context.partition_key if partitions_def else ""
            made.append((name, str(place), config.words))

        return of

    def planner(sources, partition, config):
        if partition == location.broken:
            raise ValueError("the table is torn")
        own = LookRequest((Turn("user", f"{Words(**config).words} {partition}"),))
        yield Plan(judge, [own, *location.shared])

    planners = {dg.AssetKey(["test", name]): planner for name in DIVISIONS}
    by_asset = {
        key: dg.define_asset_job("_".join(key.path), dg.AssetSelection.assets(key))
        for key in planners
    }
    made_of = [asset_of(name, each) for name, each in DIVISIONS.items()]
    jobs = Jobs(list(by_asset.values()), by_asset)
    location = Location(root, instance, made_of, planners, jobs)
    location.made, location.broken, location.shared = made, None, []
    yield location
    location.calls.close()


def test_partitions_of_two_dimensions_and_none_are_seen_through(server, others):
    config = {"ops": {"test__both": {"config": {"words": "How few?"}}}}
    assert others.submit("*", config=config).success
    assert len(server.batches.all) == 5
    launched, _ = others.see_through()
    assert Counter(launched) == {
        "collect_batch": 5,
        "test_whole": 1,
        "test_both": 4,
    }
    assert sorted(others.made) == [
        *(
            ("both", f"{p}|{t}", "How few?")
            for p in ("gpt", "sketch")
            for t in ("animals", "logos")
        ),
        ("whole", "", "How many?"),
    ]
    assert asked(server) == 0


def test_a_planner_that_fails_keeps_no_other_waiting(others):
    assert others.submit("*", ["sketch|logos", "gpt|logos"]).success
    for request in others.tick().run_requests:
        assert others.launch(request).success
    others.broken = "gpt|logos"
    launched, told = others.see_through()
    assert launched == ["test_both", "test_whole"]
    assert "test/both, gpt|logos: its missing answers are unknown: the table is torn" in told
    others.broken = None
    assert others.see_through()[0] == ["test_both"]


def test_a_partition_waits_for_what_it_shares_with_another(server, others):
    server.batches.course = lambda batch: Course(
        polls=float("inf") if len(batch.requests) == 2 else 0
    )
    others.shared = [LookRequest((Turn("user", "Of all"),))]
    for partition in ("gpt|logos", "sketch|logos"):
        assert others.submit('key:"test/both"', [partition]).success
    launched, told = others.see_through()
    assert launched == ["collect_batch"]
    assert "test/both, sketch|logos: 1 requests wait in batches of others." in told
    (there, _) = server.batches.all.values()
    there.course = Course()
    launched, _ = others.see_through()
    assert Counter(launched) == {"collect_batch": 1, "test_both": 2}
