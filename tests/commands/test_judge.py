"""`counterfactory judge`: one judge over all benchmarks, against a real provider's wire.

One story, for each chapter takes seconds to start: it is quoted, a budget is too small, one
benchmark's table is corrupt, a go is killed, the next one does the rest, and the last one nothing.
"""

import os
import re
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from commands.judge import format_command
from resources.execution import executors
from resources.models.catalog import Model
from tests.providers import Provider
from tests.runs import TOPIC, failure, few_scenes, materialize, table

PROJECT = Path(__file__).parents[2]
CONCURRENCY = 2
SHORT = "0.001"
"""US dollars for a few requests, and not for all."""
BEFORE_THE_KILL = 6
"""So many requests are answered; the others wait until the command is killed."""
MODELS = f"""
- name: gpt
  backend: openai
  model: gpt-test
  family: gpt
  roles: [judge]
  base_url: URL
  concurrency: {CONCURRENCY}
  longest_output: 100
  tokens_per_image: 100
  price: {{input_per_million: 1.0, output_per_million: 1.0}}
- name: keyless
  backend: openai
  model: gpt-other
  family: gpt
  roles: [judge]
  key: A_KEY_THAT_IS_NOT_SET
- {{name: mine, backend: file, model: scores.csv, family: mine, roles: [metric]}}
- {{name: sketch, backend: stand_in, model: sketch, family: stand_in, roles: [painter]}}
- {{name: paints, backend: openai, model: gpt-image, family: gpt, roles: [painter]}}
"""
GRAMMAR = Model(
    name="grammar", backend="stand_in", model="grammar", family="stand_in", roles=("writer",)
)
FEW = {"seed_cases": {"limit": 2}, "common_perturbations": {"perturbations": ["jpeg"]}}
VLMBIAS = ("drawn_images", "original_images", "measurements", "questions")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with the questions of a topic, and a few cases made of them."""
    folder = tmp_path_factory.mktemp("judged")
    with few_scenes():
        made = materialize(folder / "data", *VLMBIAS, topic=TOPIC)
    assert made.success, failure(made)
    cases = materialize(
        folder / "data",
        *("seed_cases", "negated_cases", "common_perturbations"),
        topic=TOPIC,
        group="vhexpansion",
        config=FEW,
        models=(GRAMMAR,),
    )
    assert cases.success, failure(cases)
    # One place in a pool: a killed run that kept it would stop all others.
    (folder / "dagster.yaml").write_text("concurrency: {pools: {default_limit: 1}}\n")
    return folder


def started(forks, folder, *arguments):
    """The command in a process of its own, which starts others."""
    environment = {
        "COUNTERFACTORY_MODELS": folder / "models.yaml",
        "COUNTERFACTORY_HOME": folder / "data",
        "DAGSTER_HOME": folder,
        "OPENAI_API_KEY": "sk-test",
        "PYTHONPATH": PROJECT,
    }
    return forks.start("-m", "commands.app", "judge", *arguments, cwd=folder, **environment)


@pytest.fixture(scope="module")
def story(prepared, forks):
    """How each go ended, what it said, and how many requests the provider had got by then."""
    found = SimpleNamespace(code={}, out={}, err={}, count={}, folder=prepared)
    with Provider(lambda received: "{Yes}") as provider:
        (prepared / "models.yaml").write_text(MODELS.replace("URL", provider.openai_url))

        def go(name, *arguments):
            process = started(forks, prepared, "gpt", *arguments)
            found.out[name], found.err[name] = process.communicate()
            found.code[name], found.count[name] = process.returncode, provider.count

        go("quoted")
        go("poor", "--budget", "0.0001")
        go("short", "--budget", SHORT)
        negated = table(prepared / "data", "negated_cases", group="vhexpansion")
        whole = negated.read_bytes()
        negated.write_bytes(b"PAR1 no more")
        go("one is corrupt", "--budget", "1")
        negated.write_bytes(whole)
        answered = provider.count + BEFORE_THE_KILL
        provider.held = lambda each: each not in provider.received[:answered]
        killed = started(forks, prepared, "gpt", "--budget", "1")
        while provider.count <= answered:
            assert killed.poll() is None, killed.communicate()
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        provider.held = lambda _: False
        found.count["killed"] = provider.count
        go("whole", "--no-budget")
        go("again", "--budget", "1")
    return found


def test_without_a_budget_it_only_says_what_it_would_send(story):
    assert story.code["quoted"] == 0, story.err["quoted"]
    assert story.count["quoted"] == 0
    lines = {line.split("  ")[0]: line.split() for line in story.out["quoted"].splitlines()}
    requests = {name: int(lines[name][6]) for name in ("VHExpansion", "VLMBias")}
    assert lines["VLMBias"][1:4] == ["1", "of", "7"], "of its topics, one has questions"
    assert sum(requests.values()) == int(lines["all of these"][4])
    assert requests["VLMBias"] == story.count["one is corrupt"] - story.count["short"]
    assert "ProtoBias: not there yet: protobias/concepts" in story.out["quoted"]
    # What no command makes unasked stands before the command that reads it.
    (advice,) = re.findall("VLMBias: not there yet: vlmbias/subjects.*\n(.*)", story.out["quoted"])
    assert "First choose a painter and make vlmbias/candidates with it" in advice
    assert "frame/combined_gpt" in story.out["quoted"]
    assert "Nothing was sent. Give --budget USD" in story.out["quoted"]


def test_a_budget_below_the_cheapest_request_is_refused_before_the_first_run(story):
    assert story.code["poor"] == 2
    assert story.count["poor"] == 0
    assert (
        "gpt: the budget is $0.0001, and its cheapest request can cost up to $0.000"
        in (story.err["poor"])
    )
    assert "Nothing was begun or sent." in story.err["poor"]
    assert "Traceback" not in story.err["poor"]


def test_the_command_that_completes_a_trial_includes_stand_ins_where_the_trial_did():
    assert format_command("gpt", [], stand_ins=False) == "counterfactory judge gpt"
    command = "counterfactory judge gpt --benchmark frame,vlmbias --benchmark philautia --stand-ins"
    assert format_command("gpt", ["frame,vlmbias", "philautia"], stand_ins=True) == command


def test_a_budget_that_is_spent_stops_what_asks_and_says_so(story):
    assert story.code["short"] == 1
    assert 0 < story.count["short"] < 10
    assert "The budget of this run is" in story.err["short"]
    assert f"vlmbias/answers_gpt, {TOPIC}: not asked, since vhexpansion__" in story.err["short"]
    assert "Traceback" not in story.err["short"]


def test_where_one_benchmark_fails_the_others_are_finished(story):
    assert story.code["one is corrupt"] == 1
    assert "VHExpansion: The table" in story.err["one is corrupt"]
    assert f"Materialize vhexpansion/negated_cases ({TOPIC}) again" in story.err["one is corrupt"]
    assert "vlmbias/accuracy" in story.out["one is corrupt"]
    assert "vlmbias/report" in story.out["one is corrupt"]
    assert story.count["one is corrupt"] > story.count["short"]


def test_after_a_kill_only_the_rest_is_asked(story):
    assert story.code["whole"] == 0, story.err["whole"]
    assert "vhexpansion/report" in story.out["whole"]
    assert "reports/front_page" in story.out["whole"]
    assert "vlmbias" not in story.out["whole"].partition("rows")[2], "that is up to date"
    told = re.search(r"^all of these +gpt +(\d+) ", story.out["quoted"], re.MULTILINE)
    twice = story.count["again"] - int(told[1])
    assert 0 <= twice <= 2 * CONCURRENCY, "what was in flight when it was killed"


def test_once_all_is_answered_nothing_is_asked_or_run(story):
    assert story.code["again"] == 0
    assert story.count["again"] == story.count["whole"]
    assert "All that is there is answered and up to date." in story.out["again"]


def test_each_partition_is_a_run_that_names_the_judge(story):
    with DagsterInstance.from_config(str(story.folder)) as instance:
        runs = instance.get_runs()
    assert {run.tags["counterfactory/judge"] for run in runs} == {"gpt"}
    assert len({run.tags.get("dagster/partition") for run in runs}) == 2, "the topic, and none"
    ended = {DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE}
    assert {run.status for run in runs} == ended, "that which was killed has ended as well"


@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_the_job_only_quotes_without_a_budget_and_where_it_needs_none_names_a_missing_key(
    prepared, monkeypatch, tmp_path, capsys
):
    (tmp_path / "models.yaml").write_text(MODELS.replace("URL", "http://localhost:1"))
    (tmp_path / "dagster.yaml").touch()
    monkeypatch.setenv("COUNTERFACTORY_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(prepared / "data"))
    monkeypatch.setitem(sys.modules, "definitions", None)
    del sys.modules["definitions"]
    # A run of one step is done in this process, as in that which a code server starts for it.
    monkeypatch.setattr(executors, "_has_own_process", lambda run: True)
    job = import_module("definitions").defs.resolve_job_def("judge_everything")
    with DagsterInstance.get() as instance:

        def judge(**more):
            config = {"judge": "keyless", "benchmarks": ["vlmbias"]} | more
            ops = {"judge_everything": {"config": config}}
            return job.execute_in_process({"ops": ops}, instance, raise_on_error=False)

        assert judge().success
        said = capsys.readouterr().err
        assert "The quote:" in said
        assert "Nothing was sent. Set budget_usd" in said
        assert instance.get_runs_count() == 1, "that of the job"

        refused = judge(no_budget=True)
        assert "Nothing was sent. Set" not in capsys.readouterr().err
        assert "    A_KEY_THAT_IS_NOT_SET=…\nNothing was begun or sent." in failure(refused)
        # The key and every field at once, so that nobody mends one after the other.
        unpriced = failure(judge(budget_usd=5.0))
        assert "A_KEY_THAT_IS_NOT_SET" in unpriced
        assert "price: {input_per_million: USD, output_per_million: USD}" in unpriced
        assert "longest_output: TOKENS" in unpriced
        own = instance.get_runs(RunsFilter(tags={"counterfactory/judged_by": refused.run_id}))
    assert own == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["gtp"], 2, "'gtp' is not in"),
        (["gtp"], 2, "did you mean gpt"),
        (["sketch"], 2, "'sketch' is no judge or metric in"),
        (["gpt", "-b", "vlmbais"], 2, "no benchmark 'vlmbais', did you mean vlmbias"),
        (["mine", "-b", "frame,vlmbias"], 2, "mine: frame, vlmbias has nothing to ask of such a"),
        (["gpt", "--budget", "nan"], 2, "nan is no amount of US dollars"),
        (["gpt", "--budget", "-1"], 2, "-1 is no amount of US dollars"),
        (["gpt", "--budget", "1", "--no-budget"], 2, "--budget or --no-budget, not both"),
        (["gpt", "-b", "protobias"], 1, ""),
    ],
)
def test_what_cannot_be_done_is_one_message(command, tmp_path, arguments, code, message):
    done = command("judge", *arguments, models=MODELS.replace("URL", "http://localhost:1"))
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_metric_is_asked_by_the_benchmark_that_has_it_alone(command):
    done = command("judge", "mine", models=MODELS.replace("URL", "http://localhost:1"))
    assert "ProtoBias: not there yet" in done.stdout
    for title in ("FRAME", "VHExpansion", "VLMBias"):
        assert f"{title} has nothing to ask of mine." in done.stdout
