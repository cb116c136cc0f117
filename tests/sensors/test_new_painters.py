"""The sensor, and the schedule, that launch what painters lack once a user has turned them on."""

from hashlib import sha256

import pytest
from dagster import (
    AssetKey,
    DagsterRunStatus,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    build_sensor_context,
    materialize,
)

from assets.kit.benchmarks import build_job_specs, load_benchmarks
from assets.kit.jobs import build_jobs
from assets.kit.partitions import add_painters
from definitions import by_key, defs
from generators.prompts.concepts import DOMAINS
from sensors.monthly_schedules import missing_pictures_schedules, request_missing_pictures
from sensors.new_painters import new_painters_sensor
from sensors.painter_backlog import PainterBacklog
from sensors.painters import painters_sensor
from tests.runs import of_others
from tests.sensors.bench import (
    ASSETS,
    FILTERED,
    IMAGE_PAIRS,
    PRIOR,
    REPORT,
    SCORES,
    SEER,
    SKETCH,
    SUMMARY,
    painter,
)

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
# Those are Dagster's own, of a partition in two dimensions.

PROTOBIAS = load_benchmarks()["protobias"]
NEW = painter("new")
EARLIER = painter("earlier")
FAILED, STARTED = DagsterRunStatus.FAILURE, DagsterRunStatus.STARTED


@pytest.fixture
def tick(bench):
    """What a tick launches, and what it says."""
    jobs = build_jobs(build_job_specs(ASSETS), ASSETS).all
    sensor = new_painters_sensor(bench.files, ASSETS, jobs)

    def tick():
        with build_sensor_context(instance=bench.instance) as context:
            said = sensor(context)
        return said.run_requests or [], said.skip_reason.skip_message if said.skip_reason else ""

    prepared(bench)
    return tick


def prepared(bench):
    bench.models(PRIOR, SEER, SKETCH, EARLIER, NEW)
    bench.noticed("sketch", "earlier", "new")
    bench.quoted("earlier", "new")
    bench.written()
    bench.pairs_made("earlier", "animals")
    bench.made(SUMMARY, "earlier")


def test_a_new_painter_is_seen_through_domain_by_domain_to_the_report(tick, bench):
    runs, _ = tick()
    assert [run.partition_key for run in runs] == [f"{domain}|new" for domain in DOMAINS]
    whole = {IMAGE_PAIRS, FILTERED, *(tuple(key) for key in SCORES)}
    for run in runs:
        assert run.job_name == "painter_pairs"
        assert {tuple(key.path) for key in run.asset_selection} == {
            tuple(getattr(key, "path", key)) for key in whole
        }
        assert run.tags["dagster/partition/domain"] in DOMAINS
    bench.ran(runs[0])
    bench.pairs_made("new", "animals")
    for run in runs[1:]:
        bench.ran(run, STARTED)
    assert tick() == ([], "demography|new is under way.\nobjects|new is under way.")


def test_summary_and_report_follow_once_each(tick, bench):
    for run in tick()[0]:
        bench.ran(run)
    bench.pairs_made("new")
    [summary] = tick()[0]
    assert (summary.job_name, summary.partition_key) == ("painter_summary", "new")
    run_id = bench.ran(summary)
    bench.made(SUMMARY, "new")
    [report] = tick()[0]
    assert (report.job_name, report.partition_key) == ("protobias_report", None)
    assert run_id in report.run_key
    bench.ran(report)
    bench.made(REPORT)
    assert tick() == ([], "No painter is new.")
    # The schedule has what is missing made, which is summarized then.
    later = bench.coverage()
    bench.ran(
        later.build_run_request("2027-02 animals|new", later.painters[1], "animals|new", [FILTERED])
    )
    assert [run.job_name for run in tick()[0]] == ["painter_summary"]


def test_a_painter_that_was_begun_by_hand_gets_its_summary_once_that_is_there(tick, bench):
    bench.models(PRIOR, SEER, SKETCH, EARLIER, painter("first"), painter("second"))
    bench.noticed("first", "second")
    bench.quoted("first", "second")
    for name in ("first", "second"):
        bench.painted(name, "objects")
    assert tick() == ([], "No painter is new."), "they have no scores yet"
    for name in ("first", "second"):
        bench.pairs_made(name, "objects")
    summaries, _ = tick()
    assert {(run.job_name, run.partition_key) for run in summaries} == {
        ("painter_summary", "first"),
        ("painter_summary", "second"),
    }
    assert len({run.run_key for run in summaries}) == 2
    for run in summaries:
        bench.ran(run)
        bench.made(SUMMARY, run.partition_key)
    assert [run.job_name for run in tick()[0]] == ["protobias_report"], "no more is painted"


def test_runs_of_two_benchmarks_have_keys_of_their_own(tick):
    runs, _ = tick()
    assert [run.run_key for run in runs] == [f"protobias {domain}|new" for domain in DOMAINS]


def test_what_failed_is_told_of_and_not_repeated(tick, bench):
    first, *others = tick()[0]
    failed = bench.ran(first, FAILED)
    for run in others:
        bench.ran(run)
        bench.pairs_made("new", run.partition_key.partition("|")[2])
    for _ in range(2):
        runs, said = tick()
        assert runs == []
        assert f"animals|new: the run {failed} has failed" in said
        assert "raise the budget, then materialize protobias/image_pairs, protobias/f" in said
    bench.pairs_made("new", "animals")
    assert [run.job_name for run in tick()[0]] == ["painter_summary"]


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([SEER, painter("new", price={})], "new is not launched by itself: the price of new is "
         "unknown. Give its entry in models.yaml price.input_per_million"),
        ([NEW], "No model of "),
        ([SEER, {**SEER, "name": "other", "model": "other"}, NEW], "fit: seer, other. Name one"),
        ([{**SEER, "price": {}}, NEW], "not launched by itself: the price of seer is unknown"),
    ],
)  # fmt: skip
def test_without_prices_nothing_is_launched(tick, bench, entries, words):
    bench.models(*entries, EARLIER, SKETCH)
    runs, said = tick()
    assert runs == []
    assert words in said


def test_a_judge_without_a_price_is_left_out(tick, bench):
    bench.models(PRIOR, {**SEER, "roles": ["captioner"]}, painter("new"))
    runs, _ = tick()
    assert len(runs) == 3
    judge = {**SEER, "name": "seer", "model": "other", "price": {}, "roles": ["judge"]}
    bench.models(PRIOR, {**SEER, "name": "eye", "roles": ["captioner"]}, judge, NEW)
    runs, _ = tick()
    assert all("scores_seer" not in key.path for run in runs for key in run.asset_selection)
    assert all("scores_prior" in run.asset_selection[-1].path for run in runs)


def test_nothing_is_launched_without_a_quote_whoever_made_the_partitions(tick, bench):
    newest = painter("newest")
    bench.models(PRIOR, SEER, SKETCH, EARLIER, newest)
    add_painters(bench.instance, bench.files.load())
    runs, message = tick()
    assert runs == []
    assert "newest is not launched by itself: it has no quote yet." in message
    [quote] = painters_sensor(bench.files, ASSETS)(
        build_sensor_context(bench.instance)
    ).run_requests
    assert quote.run_key == "quote newest"
    bench.ran(quote, FAILED)
    assert tick()[0] == []
    assert "newest" not in str(
        request_missing_pictures(bench.instance, bench.files, ASSETS, PROTOBIAS, "2027-01")[0]
    )
    bench.ran(quote)
    assert {run.tags["counterfactory/painter"] for run in tick()[0]} == {"newest"}


def test_a_domain_without_triplets_waits(bench, tick):
    bench.instance.wipe_assets([next(iter(ASSETS))])
    bench.written("objects")
    [run] = tick()[0]
    assert run.partition_key == "objects|new"
    bench.ran(run)
    bench.pairs_made("new", "objects")
    [summary] = tick()[0]
    bench.ran(summary)
    bench.made(SUMMARY, "new")
    bench.written("animals")
    assert "animals|new" in [run.partition_key for run in tick()[0]]


def test_a_trial_sample_is_not_painted_as_if_it_were_the_full_one(tick, bench):
    """As the demo leaves it: sketch has painted six concepts, and nobody else."""
    bench.written("animals", number=6, version="demo")
    bench.painted("sketch", "animals", version="demo")
    bench.painted("earlier", "animals", version="full, before the demo")
    runs, _ = tick()
    assert [run.partition_key for run in runs] == ["demography|new", "objects|new"]
    for run in runs:
        bench.ran(run, STARTED)
    _, said = tick()
    assert "Nothing is painted of animals by itself" in said
    assert "a trial sample, 6 of 2,000 concepts" in said
    assert (
        "Materialize protobias/prompt_triplets, and what it is made from, of animals in full"
        in said
    )
    runs, told = request_missing_pictures(bench.instance, bench.files, ASSETS, PROTOBIAS, "2027-01")
    assert all("animals" not in run.partition_key for run in runs)
    assert "6 of 2,000 concepts" in "".join(told)


def test_a_trial_that_the_user_had_painted_is_launched_as_one(tick, bench):
    bench.written("animals", number=6, version="own")
    bench.painted("earlier", "animals", version="own")
    runs, _ = tick()
    tags = {run.partition_key: run.tags["counterfactory/sample"] for run in runs}
    assert tags == {
        "animals|new": "trial: 6 of 2,000 concepts",
        "demography|new": "2,400 concepts",
        "objects|new": "2,400 concepts",
    }


def test_a_new_painter_gets_the_config_of_earlier_ones_and_not_of_stand_ins(tick, bench):
    for name, samples in (("earlier", 2), ("sketch", 1)):
        config = {"ops": {"protobias__image_pairs": {"config": {"samples": samples}}}}
        materialize(
            [ASSETS[IMAGE_PAIRS]],
            instance=bench.instance,
            partition_key=f"animals|{name}",
            run_config=config | {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
    for run in tick()[0]:
        assert run.run_config == {"ops": {"protobias__image_pairs": {"config": {"samples": 2}}}}


def test_a_trial_is_no_design_for_other_painters(tick, bench):
    config = {"ops": {"protobias__image_pairs": {"config": {"samples": 2, "limit": 20}}}}
    materialize(
        [ASSETS[IMAGE_PAIRS]],
        instance=bench.instance,
        partition_key="animals|earlier",
        run_config=config | {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    for run in tick()[0]:
        assert run.run_config == {"ops": {"protobias__image_pairs": {"config": {"samples": 2}}}}
    bench.written("animals", number=6, version="own")
    bench.painted("earlier", "animals", version="own", partial="20 of 60 pictures")
    runs, _ = tick()
    assert [run.partition_key for run in runs] == ["demography|new", "objects|new"]


def test_what_the_user_makes_just_now_is_waited_for(tick, bench):
    by_hand = RunRequest(
        job_name="__ASSET_JOB",
        partition_key="animals|new",
        asset_selection=[IMAGE_PAIRS],
    )
    bench.ran(by_hand, STARTED)
    runs, _ = tick()
    assert [run.partition_key for run in runs] == ["demography|new", "objects|new"]


def test_both_are_off_until_they_are_turned_on(bench):
    jobs = build_jobs(build_job_specs(ASSETS), ASSETS).all
    assert (
        new_painters_sensor(bench.files, ASSETS, jobs).default_status is DefaultSensorStatus.STOPPED
    )
    assert all(
        each.default_status is DefaultScheduleStatus.STOPPED
        for each in missing_pictures_schedules(bench.files, ASSETS)
    )


def test_a_benchmark_that_paints_has_one_schedule_of_the_job_that_paints():
    """A second one would launch its job for pictures that this job does not make."""
    further = tuple(f"missing_{name}" for name in of_others(load_benchmarks()))
    schedules = [(each.name, each.job_name) for each in defs.schedules or ()]
    made = [schedule for schedule in schedules if not schedule[0].startswith(further)]
    assert sorted(made) == [
        ("missing_frame_scores", "frame_scores"),
        ("missing_pairs", "painter_pairs"),
        ("missing_vlmbias_photographs", "vlmbias_photographs"),
    ]


def test_the_schedule_asks_for_all_that_is_missing_once_a_month(bench):
    def of(month):
        runs, told = request_missing_pictures(bench.instance, bench.files, ASSETS, PROTOBIAS, month)
        return {run.partition_key: run for run in runs}, "\n".join(told)

    prepared(bench)
    bench.models(PRIOR, SEER, SKETCH, EARLIER, NEW, painter("unpriced", price={}))
    runs, told = of("2027-01")
    new = [f"{domain}|new" for domain in DOMAINS]
    assert set(runs) == {*new, "demography|earlier", "objects|earlier"}
    assert runs["animals|new"].run_key == "2027-01 animals|new"
    assert "unpriced is not launched by itself: the price of unpriced is unknown" in told
    assert "unpriced" in bench.instance.get_dynamic_partitions("painters")
    bench.ran(runs["animals|new"], STARTED)
    bench.ran(runs["objects|new"], FAILED)
    bench.pairs_made("earlier")
    again, _ = of("2027-02")
    assert {run.run_key for run in again.values()} == {
        "2027-02 demography|new",
        "2027-02 objects|new",
    }


def test_a_benchmark_that_nobody_painted_yet_is_left_to_the_user(bench):
    """It would spend money on a benchmark that the user may not even want."""
    subjects, first = (AssetKey(["vlmbias", name]) for name in ("subjects", "paintings"))
    bench.models(SKETCH, EARLIER, NEW)
    bench.noticed("sketch", "earlier", "new")
    there = {key: asset for key, asset in by_key.items() if key.path[0] == "vlmbias"}

    def launched():
        covered = PainterBacklog(
            bench.instance, bench.files.load(), there, load_benchmarks()["vlmbias"]
        )
        return covered.paintable_values, "\n".join(covered.messages)

    assert launched()[0] == []
    for topic in ("animals", "logos"):
        bench.made(subjects, topic, tags={"dagster/data_version": "1"})
    values, told = launched()
    assert values == []
    assert "Materialize vlmbias/paintings of one painter yourself" in told
    read = {"dagster/input_data_version/vlmbias/subjects": sha256(b"1").hexdigest()}
    bench.made(first, "sketch|logos", tags=read)
    assert launched()[0] == []
    bench.made(first, "earlier|animals", tags=read)
    assert launched()[0] == ["animals"]
