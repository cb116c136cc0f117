"""`counterfactory run`: on its own with a real provider's wire, and how it plans."""

import shlex
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetKey,
    DagsterInstance,
    Definitions,
    DynamicPartitionsDefinition,
    MaterializeResult,
    MetadataValue,
    MultiPartitionsDefinition,
    RunsFilter,
    StaticPartitionsDefinition,
    asset,
)
from dagster import materialize as materialize_defs

from assets.planning import CannotQuote, select_all_tasks, select_quoted_tasks
from commands.run import describe_unstarted
from commands.runs import print_results
from resources.calls import CallStore
from resources.calls.database_url import build_sqlite_url
from resources.calls.spending import NANO
from resources.execution.dagster_internals import AssetRun
from sensors.run_launcher import BegunRun, RunLauncher, SharedBudget
from sensors.run_plan import PlannedRun, plan_runs
from tests.providers import Provider, faults
from tests.runs import TOPIC, materialize

PROJECT = Path(__file__).parents[2]
MODELS = """
- name: gpt
  backend: openai
  model: gpt-test
  family: gpt
  roles: [judge]
  base_url: URL
  longest_output: 100
  tokens_per_image: 1000
  price: {input_per_million: 1.0, output_per_million: 1.0}
"""


@pytest.fixture
def provider():
    with Provider(lambda received: "{8}") as provider:
        yield provider


@pytest.fixture
def run(tmp_path, provider, forks):
    """Runs the command in a process of its own, which starts others, after questions are made."""
    made = materialize(
        tmp_path / "data",
        *("drawn_images", "original_images", "measurements", "questions"),
        topic=TOPIC,
    )
    assert made.success
    (tmp_path / "models.yaml").write_text(MODELS.replace("URL", provider.openai_url))
    (tmp_path / "dagster.yaml").touch()
    environment = {
        "COUNTERFACTORY_MODELS": tmp_path / "models.yaml",
        "OPENAI_API_KEY": "sk-test",
        "PYTHONPATH": PROJECT,
    }

    def run(*arguments):
        return forks.run("-m", "commands.app", "run", *arguments, cwd=tmp_path, **environment)

    return run


@pytest.mark.slow
def test_it_asks_within_a_budget_and_says_what_came_of_it(run, provider, tmp_path):
    asked = ("vlmbias/answers_gpt", "--partitions", TOPIC, "--config", "config.yaml")
    (tmp_path / "config.yaml").write_text("ops: {vlmbias__answers_gpt: {config: {limit: 3}}}")
    poor = run(*asked, "--budget", "0.0001")
    assert poor.returncode == 1
    assert "budget" in poor.stderr
    assert "Traceback" not in poor.stderr
    assert provider.count == 0

    done = run(*asked, "--budget", "1")
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if "answers_gpt" in line]
    name, partition, *counts, spent = row.split()
    assert (name, partition) == ("vlmbias/answers_gpt", TOPIC)
    assert counts == ["3", "3", "3", "0"], "rows, usable, sent, known"
    assert provider.count == 3
    assert float(spent.removeprefix("$")) > 0
    table = pd.read_parquet(tmp_path / "data" / "vlmbias" / "answers_gpt" / f"{TOPIC}.parquet")
    assert len(table) == 3
    [completing] = [line for line in done.stderr.splitlines() if "a trial, 3 of " in line]
    number = completing.partition(" of ")[2].split()[0]
    command = completing.partition("All of it: counterfactory run ")[2]
    whole = run(*shlex.split(command))
    assert whole.returncode == 0, whole.stderr
    rows = pd.read_parquet(tmp_path / "data" / "vlmbias" / "answers_gpt" / f"{TOPIC}.parquet")
    assert len(rows) == int(number)
    assert "a trial" not in whole.stderr
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        (_, latest, failed) = instance.get_runs(RunsFilter(job_name="__ASSET_JOB"))
    assert latest.is_success
    assert not failed.is_success
    assert latest.tags["dagster/partition"] == TOPIC
    assert "counterfactory/process" in latest.tags


@pytest.mark.slow
def test_requests_that_failed_are_told_of(run, provider, tmp_path):
    answers = iter([faults.INVALID_REQUEST])
    provider.answer = lambda received: next(answers, "{8}")
    (tmp_path / "config.yaml").write_text("ops: {vlmbias__answers_gpt: {config: {limit: 3}}}")
    done = run("vlmbias/answers_gpt", "-p", TOPIC, "--config", "config.yaml")
    assert done.returncode == 1, done.stderr
    assert f"vlmbias/answers_gpt, {TOPIC}: nothing_failed: 1 of 3 requests failed" in done.stderr


@pytest.mark.slow
def test_a_budget_is_for_all_runs_together_those_that_fail_as_well(run, tmp_path):
    models = tmp_path / "models.yaml"
    models.write_text(models.read_text().replace("tokens_per_image: 1000", "tokens_per_image: 100"))
    questions = tmp_path / "data" / "vlmbias" / "questions"
    asked = pd.read_parquet(questions / f"{TOPIC}.parquet")
    asked["question"] += " Look closely."
    asked.to_parquet(questions / "flags.parquet")
    most = 0.002
    poor = run("vlmbias/answers_gpt", "-p", f"{TOPIC},flags", "--budget", str(most))
    assert poor.returncode == 1
    assert poor.stderr.count("The budget of this run is") == 2
    with closing(CallStore(url=build_sqlite_url(tmp_path / "data" / "calls.sqlite"))) as calls:
        spent = sum(each.paid + each.possibly_paid for each in calls.list_spending())
    assert 0.5 * most < spent / NANO <= most


@pytest.mark.parametrize(
    ("arguments", "config", "message"),
    [
        (["vlmbias/answer_prior"], "{}", "did you mean vlmbias/answers_prior"),
        (["money/costs", "-p", "flags"], "{}", "No selected asset has a partition 'flags'"),
        (["money/costs"], "{resources: {desing: {}}}", "'desing', which is not there, did you"),
        (["money/costs"], "{opps: {}}", "has to be that of ops"),
        (
            ["vlmbias/answers_prior"],
            "{ops: {vlmbias__answers_prior: {config: {limit: -1}}}}",
            "The config of vlmbias__answers_prior: limit: -1 should be greater than or equal to 1.",
        ),
        (
            ["vlmbias/answers_prior"],
            "{ops: {vlmbias__answers_prior: {config: {prompting: [x]}}}}",
            "vlmbias__answers_prior: prompting: There is no prompting 'x'. Choose one or more of",
        ),
        (
            ["money/costs"],
            "{resources: {budget: {config: {per_run_usd: .nan}}}}",
            "The config of budget: per_run_usd: nan should be a finite number.",
        ),
        (["money/costs"], "{resources: {budget: 3}}", "The config of budget has to be as in"),
        (["../etc"], "{}", "it names an asset that is not there"),
    ],
)
def test_a_mistake_is_one_message_and_runs_nothing(command, tmp_path, arguments, config, message):
    (tmp_path / "config.yaml").write_text(config)
    judge = "- {name: prior, backend: stand_in, model: prior, family: stand_in, roles: [judge]}"
    done = command("run", *arguments, "--config", "config.yaml", models=judge)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "pydantic" not in done.stderr
    with DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.get_runs_count() == 0


def graph():
    """Two benchmarks: one by topic and painter, one of a single asset that has a topic's name."""
    topics = StaticPartitionsDefinition(["animals", "logos"])
    painters = DynamicPartitionsDefinition(name="painters")
    both = MultiPartitionsDefinition({"topic": topics, "painter": painters})

    def made(name, partitions=None, *parents):
        return asset(
            key=["one", name], partitions_def=partitions, deps=[["one", each] for each in parents]
        )(lambda: None)

    return [
        made("subjects", topics),
        made("paintings", both, "subjects"),
        made("candidates", both, "paintings"),
        made("photographs", topics, "candidates"),
        made("questions", topics, "photographs"),
        made("report", None, "questions"),
        asset(key=["two", "concepts"], partitions_def=topics)(lambda: None),
    ]


def test_runs_hold_one_partition_of_one_benchmark_each_and_parents_come_first():
    assets = {each.key: each for each in graph()}
    defs = Definitions(assets=list(assets.values()))
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["flux", "sketch"])
        tasks = select_all_tasks(assets, instance, "*", ["animals", "sketch|animals"])
        stages = plan_runs(defs.resolve_asset_graph(), instance, tasks)
    named = [
        {(run.partition, *(key.path[1] for key in run.assets)) for run in stage} for stage in stages
    ]
    assert named == [
        {("animals", "subjects"), ("animals", "concepts")},
        {("sketch|animals", "paintings", "candidates")},
        {("animals", "photographs", "questions")},
        {("", "report")},
    ]


def test_runs_after_one_that_failed_are_told_of():
    key = AssetKey(["one", "report"])
    stages = [[PlannedRun(f"topic {n}", [key, key]) for n in range(6)], [PlannedRun("", [key])]]
    first, *_, more, remedy = list(describe_unstarted(stages))
    assert first == "one/report, one/report, topic 0: not begun, since what goes before it failed."
    assert more == "Nor were 2 more runs."
    assert "run it again" in remedy
    assert list(describe_unstarted([])) == []


@pytest.mark.parametrize(
    "chosen", [select_quoted_tasks, lambda assets, _, *more: select_all_tasks(assets, *more)]
)
def test_a_selection_of_which_no_partition_is_there_is_a_mistake(chosen):
    assets = {each.key: each for each in graph()}
    with DagsterInstance.ephemeral() as instance:
        with pytest.raises(CannotQuote, match=r"one/paintings: no partition is there yet, .* Add"):
            chosen(assets, {}, instance, "one/paintings")
        instance.add_dynamic_partitions("painters", ["sketch"])
        chosen(assets, {}, instance, "one/paintings")


def test_what_a_check_found_is_told_also_where_it_ends_the_run():
    @asset(check_specs=[AssetCheckSpec("whole", asset="table", blocking=True)])
    def table():
        found = AssetCheckResult(passed=False, description="3 rows lack a picture.")
        return MaterializeResult(check_results=[found])

    with DagsterInstance.ephemeral() as instance:
        spending = SharedBudget(None, None, lambda runs: 0)
        done = RunLauncher(instance, {}, [], {}, spending)
        for event in materialize_defs([table], instance=instance, raise_on_error=False).all_events:
            done._note(event, "flags")
    assert done.failed_checks == ["table, flags: whole: 3 rows lack a picture."]
    assert done.failures


def test_what_is_rejected_warned_of_or_spent_in_vain_is_printed_with_the_report(capsys):
    checks = [AssetCheckSpec("taken", asset="pictures")]

    @asset(check_specs=checks)
    def pictures(context):
        context.log.warning("2 pictures have no text.")
        found = AssetCheckResult(
            passed=False, severity=AssetCheckSeverity.WARN, description="18 of 20 rows were taken."
        )
        endings = {"answered": 15, "refused": 2, "unparsed": 1, "rejected": 2}
        metadata = {"dagster/row_count": 20, **endings, "spent_usd": 0.25}
        return MaterializeResult(metadata=metadata, check_results=[found])

    @asset
    def report():
        where = MetadataValue.path("/data/report/zoo/index.html")
        link = MetadataValue.url("/reports/zoo/index.html")
        return MaterializeResult(metadata={"path": where, "report": link})

    with DagsterInstance.ephemeral() as instance:
        spending = SharedBudget(None, None, lambda runs: 750_000_000)
        done = RunLauncher(instance, {}, [], {}, spending)
        result = materialize_defs([pictures, report], instance=instance)
        done.run_ids.append(result.run_id)
        for event in result.all_events:
            done._note(event, "")
        run = instance.get_run_by_id(result.run_id)
        done.warnings += done._find_logged_warnings(
            BegunRun(AssetRun(run, 1, None), PlannedRun("mine", []))
        )
    capsys.readouterr()
    print_results(done, ["one/report: not begun."])
    printed = capsys.readouterr()
    [row] = [line.split() for line in printed.out.splitlines() if line.startswith(" pictures")]
    assert row == ["pictures", "20", "15", "2", "1", "2", "$0.2500"]
    heads = ["asset", "partition", "rows", "usable", "refused", "unparsed", "unusable", "spent"]
    assert heads in [line.split() for line in printed.out.splitlines()]
    assert "what failed, at most" in printed.out
    assert "$0.5000" in printed.out
    assert "$0.7500" in printed.out
    assert printed.out.endswith("Report: /data/report/zoo/index.html\n")
    assert printed.err.splitlines() == [
        "Warning: pictures: taken: 18 of 20 rows were taken.",
        "Warning: mine: 2 pictures have no text.",
        "one/report: not begun.",
    ]


def test_all_partitions_are_chosen_where_none_is_named():
    assets = {each.key: each for each in graph()}
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["flux", "sketch"])
        tasks = select_all_tasks(assets, instance, "one/paintings")
    assert {task.partition for task in tasks} == {
        f"{painter}|{topic}" for painter in ("flux", "sketch") for topic in ("animals", "logos")
    }
    assert {task.asset for task in tasks} == {AssetKey(["one", "paintings"])}
