"""Drift: what a month asks and costs, and what is said once a provider's model has changed."""

from datetime import UTC, datetime
from unittest.mock import Mock, patch

import pandas as pd
import pytest
from dagster import (
    AssetKey,
    AssetMaterialization,
    DefaultScheduleStatus,
    Definitions,
)

from assets.kit.benchmarks import build_job_specs, build_planners
from assets.kit.jobs import build_jobs
from assets.kit.partitions import months
from assets.planning import Task, quote_tasks
from assets.vlmbias.drift import monthly_answers
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from sensors.monthly_schedules import asking_again_schedules, request_month
from tests.assets.asked import judge_at
from tests.assets.plans import definitions_of, plan_context
from tests.runs import STAND_INS, checks, failure, materialize, materialized, metadata, table

MONTHLY = "monthly_answers_somebody"
PRICE = {"input_per_million": 1.0, "output_per_million": 1.0}
SCENES = 5
"""Changed scenes of `TOPIC`, each of which is asked about once."""


@pytest.fixture
def judge(server):
    """A judge that is asked again each month."""
    return judge_at(server, drift_budget=1.0, price=PRICE, longest_output=100)


def set_month(month):
    """Have it be a month."""
    day = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    return patch.object(monthly_answers, "datetime", Mock(now=lambda zone: day))


def ask_in(month, root, judge):
    """Ask a judge in a month."""
    with set_month(month):
        return materialize(root, MONTHLY, topic=month, models=[*STAND_INS, judge])


def read_months(root, *months):
    return {month: pd.read_parquet(table(root, MONTHLY, month)) for month in months}


def test_a_month_is_paid_once_and_a_planted_change_is_found_and_named(root, judge, server):
    with plan_context(root) as sources, set_month("2026-01"):
        tasks = [
            Task(AssetKey(["vlmbias", MONTHLY]), month, {}) for month in ("2026-01", "2026-02")
        ]
        (line,) = quote_tasks(build_planners(Catalog((judge,))), sources, tasks).lines
        with set_month("2026-02"):  # A month that is over is no first one, as nothing is stored.
            (second,) = quote_tasks(build_planners(Catalog((judge,))), sources, tasks).lines
    assert (second.partition, second.to_send) == ("2026-02", 5 * SCENES)
    first = ask_in("2026-01", root, judge)
    assert (line.partition, line.to_send) == ("2026-01", server.count) == ("2026-01", 5 * SCENES)
    assert metadata(first, MONTHLY)["finding"] == (
        "somebody has been asked in 2026-01 alone: nothing to compare yet."
    )
    assert ask_in("2026-02", root, judge).success
    assert ask_in("2026-02", root, judge).success
    assert server.count == 6 * SCENES, "a month that is stored is asked no more"
    server.answer = lambda received: "I see {20}."
    server.served["some-vlm-1"] = "some-vlm-1-v2"
    changed = ask_in("2026-03", root, judge)
    assert checks(changed) == {
        "answers_as_before": False,
        "every_row_ended": True,
        "unparsed_rate": True,
        "nothing_failed": True,
    }
    # Every answer is another: of seven to a question the odd one out, in 24 tests a year.
    assert round(24 * 7.0**-SCENES, 3) == 0.001
    finding = (
        "somebody no longer answers as in 2026-02: 0\u00a0% right then, 0\u00a0% in 2026-03; "
        "p = 0.001 for the answers, p = 1.000 for how many are right."
    )
    served = "The provider names another model since 2026-03: some-vlm-1-v2, before some-vlm-1."
    assert metadata(changed, MONTHLY)["finding"] == f"{finding} {served}"
    # The benchmark's own answers, and those of another month, are other samples.
    rows = pd.concat(read_months(root, "2026-01", "2026-02", "2026-03").values())
    assert rows["calls"].map(tuple).is_unique
    assert set(rows["sample"]) == {*range(20260100, 20260105), 20260200, 20260300}
    assert rows["base_id"].nunique() == SCENES


def test_a_month_that_is_over_is_asked_nothing_but_made_again(root, judge, server):
    assert ask_in("2026-02", root, judge).success
    sent = server.count
    assert materialize(root, MONTHLY, topic="2026-02", models=[*STAND_INS, judge]).success
    late = materialize(root, MONTHLY, topic="2026-03", models=[*STAND_INS, judge])
    assert (
        failure(late)
        .strip()
        .endswith(
            f"vlmbias/{MONTHLY}: 2026-03 is over, and 5 of its answers are not stored: asked now, "
            "they would be today's model's. Materialize the current month, or import the cassette "
            "that has them."
        )
    )
    assert server.count == sent


def test_no_more_than_the_budget_of_the_month_is_spent_by_all_its_runs(root, judge, server):
    # A question may cost 0.0041 at most, and costs 0.00012.
    small = judge.model_copy(update={"drift_budget": 0.0043})
    for _ in range(2):
        stopped = ask_in("2026-01", root, small)
        assert "Raise drift_budget of somebody in models.yaml and run again" in failure(stopped)
    with plan_context(root) as sources:
        spent = sum(row.paid for row in sources.calls.list_spending())
    assert 0 < spent <= 4_300_000
    assert server.count < 5 * SCENES
    assert ask_in("2026-01", root, judge).success
    assert server.count == 5 * SCENES


@pytest.mark.slow
def test_stand_ins_are_asked_in_any_month_for_nothing(root):
    judges = [judge.model_copy(update={"drift_budget": 0.0}) for judge in STAND_INS]
    names = [f"monthly_answers_{judge.name}" for judge in judges]
    for month in ("2026-01", "2026-02"):
        result = materialize(root, *names, topic=month, models=judges)
        assert result.success, failure(result)
    findings = {name: metadata(result, name)["finding"].partition(";")[0] for name in names}
    assert findings["monthly_answers_prior"].startswith(
        "prior shows no change since 2026-01: 0\u00a0% ["
    )
    assert findings["monthly_answers_pixels"].startswith(
        "pixels shows no change since 2026-01: 100\u00a0% ["
    )
    guesses = pd.read_parquet(table(root, "monthly_answers_random", "2026-01"))
    assert guesses.groupby("base_id")["answer"].nunique().max() > 1
    assert set(guesses["is_stand_in"]) == {True}


@pytest.mark.slow
# Dagster's own, while it makes a resource that is part of another one.
@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_the_schedule_asks_each_judge_and_renews_a_report_that_is_there(root, judge, instance):
    assets = definitions_of(Catalog((*STAND_INS, judge)))
    (schedule,) = asking_again_schedules(assets)
    assert schedule.default_status is DefaultScheduleStatus.STOPPED
    jobs = build_jobs(build_job_specs(assets), assets)
    defs = Definitions(
        assets=[*assets.values()],
        jobs=jobs.all,
        schedules=[schedule],
        resources=build_default_resources(str(root)),
    )

    report = AssetKey(["vlmbias", "report"])
    keys = [AssetKey(["vlmbias", MONTHLY]), report]
    (request,) = request_month(instance, assets, keys, "2026-03")
    assert (request.run_key, request.partition_key, request.asset_selection) == (
        f"2026-03 vlmbias/{MONTHLY}",
        "2026-03",
        keys[:1],
    )
    instance.report_runless_asset_event(AssetMaterialization(report))
    (request,) = request_month(instance, assets, keys, "2026-03")
    assert request.asset_selection == keys
    job = defs.resolve_job_def("vlmbias_monthly_answers")
    assert job.partitions_def == months
    assert materialize(root, "accuracy", models=[*STAND_INS, judge]).success
    with set_month("2026-03"):
        result = job.execute_in_process(
            partition_key="2026-03", asset_selection=keys, instance=instance
        )
    assert materialized(result) == {MONTHLY, "report"}
    page = (root / "report/judges/somebody.html").read_text()
    assert "somebody has been asked in 2026-03 alone: nothing to compare yet." in page
    assert "2026-03 (25 answers): 0.0\u00a0% [" in page
