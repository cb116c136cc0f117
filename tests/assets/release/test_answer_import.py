"""Logs of harnesses, taken in as a judge's answers: by the harnesses themselves, and bad ones."""

import json
import warnings
from dataclasses import replace
from io import BytesIO
from math import isnan

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image
from upath import UPath

from assets.kit.benchmarks import load_benchmarks
from assets.kit.plan import PlanContext
from assets.kit.step_planner import build_step_planners
from assets.planning import Task, format_text, quote_tasks
from assets.planning.obstacles import Limits, find_obstacles
from assets.release import ReleaseOptions, ReleaseSources, write_release
from assets.release.answer_import import import_answers
from assets.vlmbias import BENCHMARK
from resources.harness_logs import HarnessLog, read_harness_log
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from resources.user_files.rows import UserFileError
from tests import harnesses
from tests.integrations import harness_runs
from tests.runs import STAND_INS, TOPIC, _definitions, failure, materialize

JUDGE = Model(
    name="elsewhere", backend="imported", model="elsewhere", family="gpt", roles=("judge",)
)
TABLES = ("drawn_images", "original_images", "measurements", "questions")
REPLIES = (
    (lambda truth: f"I count 17, not 4, so {{{truth}}}", 1.0),
    (lambda truth: f"{{{truth}}}", 1.0),
    (lambda truth: "{999}", 0.0),
    (lambda truth: f"**{truth}**", 0.0),
    (lambda truth: "I'm sorry, but I cannot assist with that.", None),
)
"""Replies by the right answer, and their score."""
RUNS = {
    "lmms-eval": (harness_runs.run_lmms_eval, "questions/test-*"),
    "inspect_ai": (harness_runs.run_inspect, "questions/test-*"),
    "VLMEvalKit": (harness_runs.run_vlmevalkit, "vlms_are_biased/main-*"),
}


@pytest.fixture(scope="module")
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="module")
def sources(whole_topic, instance, tmp_path_factory):
    """Stores with the questions of a topic."""
    root = tmp_path_factory.mktemp("root")
    result = materialize(root, *TABLES, topic=TOPIC, instance=instance)
    assert result.success, failure(result)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        with dg.build_resources(build_default_resources(str(root)), instance) as stores:
            catalog = Catalog(STAND_INS)
            yield ReleaseSources(
                home=stores.home,
                images=stores.images,
                work_cache=stores.work_cache,
                calls=stores.models.calls,
                catalog=catalog,
                instance=instance,
                graph=_definitions(str(root), catalog, "vlmbias").resolve_asset_graph(),
            )


@pytest.fixture(scope="module")
def folder(sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "vlmbias-release"
    write_release(folder, BENCHMARK, sources, ReleaseOptions())
    return folder


@pytest.fixture(scope="module")
def released(folder):
    """The released rows by table and split."""
    return lambda glob: [
        row
        for path in sorted((folder / "data").glob(f"{glob}.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


@pytest.fixture
def write_log(tmp_path, released):
    """Writes lmms-eval's samples of the test split, with right replies, as `change` makes them."""

    def write(change=lambda lines: lines):
        lines = [
            {
                "doc_id": number,
                "input": row["prompt"],
                "target": row["ground_truth"],
                "filtered_resps": f"{{{row['ground_truth']}}}",
                "row": {"id": row["id"], "sha256": row["sha256"]},
            }
            for number, row in enumerate(released("questions/test-*"))
        ]
        path = tmp_path / "20260101_samples_counterfactory_vlmbias_test.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))
        return UPath(path)

    return write


def run_import(path, sources, judge=JUDGE):
    return import_answers(read_harness_log(path), BENCHMARK, judge, sources)


def named(name):
    return JUDGE.model_copy(update={"name": name, "model": name})


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_finished_run_of_a_harness_gets_our_accuracy(
    sources, folder, released, tmp_path, name, instance
):
    run, glob = RUNS[name]
    replies, truths, scores, main_scores = {}, {}, {}, []
    for number, row in enumerate(released(glob)):
        picture = Image.open(BytesIO(row["image"]["bytes"]))
        write, score = REPLIES[number % len(REPLIES)]
        reply = write(row["ground_truth"])
        key = harness_runs.to_key(picture, row["prompt"])
        # Two rows may ask the same about the same pixels: they get one reply.
        replies.setdefault(key, (reply, score))
        assert truths.setdefault(key, row["ground_truth"]) == row["ground_truth"]
        row_id = row.get("id") or row["ID"]
        scores[row_id] = replies[key][1]
        # The published split `main` has these rows alone.
        if "ID" in row or (row["question_id"] in ("Q1", "Q2") and row["image_set"] == "benchmark"):
            main_scores.append(replies[key][1])
    (tmp_path / "replies.json").write_text(
        json.dumps({key: reply for key, (reply, _) in replies.items()})
    )
    (tmp_path / "vlmbias-release").symlink_to(folder)
    with harnesses.open_process(tmp_path / "home") as process:
        arguments = tmp_path / "vlmbias-release", tmp_path / "replies.json"
        log, printed = process.submit(run, *arguments).result()
    counted = [score for score in main_scores if score is not None]
    assert printed == pytest.approx(sum(counted) / len(counted))
    answered = [score for score in scores.values() if score is not None]

    judge = named(f"by_{name.replace('-', '_').lower()}")
    done = run_import(UPath(log), sources, judge)
    assert (done.answers, done.new, done.questions) == (len(scores), len(replies), len(scores))
    assert run_import(UPath(log), sources, judge).new == 0
    root = sources.home.root
    result = materialize(root, f"answers_{judge.name}", topic=TOPIC, models=[*STAND_INS, judge])
    assert result.success, failure(result)
    table = pd.read_parquet(f"{root}/vlmbias/answers_{judge.name}/{TOPIC}.parquet")
    imported = table[table["outcome"] != "failed"]
    assert len(imported) == len(scores)
    assert imported["score"].mean() == pytest.approx(sum(answered) / len(answered))
    assert imported["score"].isna().sum() == len(scores) - len(answered)
    assert set(imported["conditions"].dropna().map(json.loads).map(lambda f: f["harness"])) == {
        name
    }


def test_rows_that_a_log_lacks_are_missing_answers(sources, write_log):
    judge = named("in_part")
    done = run_import(write_log(lambda lines: lines[::2]), sources, judge)
    root = sources.home.root
    result = materialize(root, f"answers_{judge.name}", topic=TOPIC, models=[*STAND_INS, judge])
    assert result.success, failure(result)
    table = pd.read_parquet(f"{root}/vlmbias/answers_{judge.name}/{TOPIC}.parquet")
    assert table["outcome"].value_counts()["answered"] == done.answers < done.questions
    failed = table[table["outcome"] == "failed"]
    assert failed["reason"].str.contains("no imported log has an answer").all()
    assert all(map(isnan, failed["score"]))
    (check,) = [
        check
        for check in result.get_asset_check_evaluations()
        if check.check_name == "nothing_failed"
    ]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert f"has an answer to {len(failed):,} of {len(table):,} questions" in check.description


def change_first(**cells):
    return lambda lines: [lines[0] | cells, *lines[1:]]


UNFIT = {
    "another benchmark": (change_first(row={"id": "shapes/1"}), "no such row is in vlmbias"),
    "another seed's picture": (
        lambda lines: [{**lines[0], "row": {**lines[0]["row"], "sha256": "0" * 64}}, *lines[1:]],
        "of another picture",
    ),
    "another question": (change_first(input="How many moons?"), "another question"),
    "another truth": (change_first(target="17"), "the right answer is"),
    "a suffix": (
        lambda lines: [lines[0] | {"input": lines[0]["input"] + " Be brief."}, *lines[1:]],
        "added to the prompt .*Be brief",
    ),
    "twice": (lambda lines: [*lines, lines[0]], "answered twice, first in line 1"),
    "by position": (change_first(row=None), "by position alone"),
    "no reply": (change_first(filtered_resps=[]), "it has no reply"),
    "nothing": (lambda lines: [], "has no answers"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_an_unfit_log_is_refused_and_changes_nothing(sources, write_log, name):
    change, message = UNFIT[name]
    stored = [*sources.calls.iterate_keys()]
    with pytest.raises(UserFileError, match=message):
        run_import(write_log(change), sources, named("unfit"))
    assert [*sources.calls.iterate_keys()] == stored


def test_a_benchmark_without_tables_to_release_is_refused_by_name():
    log = HarnessLog(path="log.jsonl", harness="lmms-eval", answers=())
    with pytest.raises(ValueError, match=r"^cdh_bench: it declares no tables to release"):
        import_answers(log, load_benchmarks()["cdh_bench"], JUDGE, None)


def test_other_answers_of_a_judge_are_not_replaced(sources, write_log):
    judge = named("twice")
    run_import(write_log(), sources, judge)
    with pytest.raises(UserFileError, match="another answer of twice already"):
        run_import(write_log(change_first(filtered_resps="{888}")), sources, judge)


def test_an_import_that_another_one_overtakes_is_refused(sources, write_log):
    """The other one stores its answers between the check and the write."""
    judge, calls = named("overtaken"), sources.calls

    class Overtaken:
        def keep(self, kept):
            run_import(write_log(), sources, judge)
            return calls.keep(kept)

        def __getattr__(self, name):
            return getattr(calls, name)

    log = read_harness_log(write_log(change_first(filtered_resps="{888}")))
    with pytest.raises(UserFileError, match="another answer of overtaken already"):
        import_answers(log, BENCHMARK, judge, replace(sources, calls=Overtaken()))


def test_answers_cut_off_at_the_default_limit_are_named(sources, write_log):
    def cut(lines):
        counts = [{"output_tokens": 32}], [{"output_tokens": 9}]
        return [
            line
            | {"token_counts": counts[number > 2]}
            | ({"filtered_resps": "Let me count"} if number < 3 else {})
            for number, line in enumerate(lines)
        ]

    path = write_log(cut)
    log = read_harness_log(path)
    done = import_answers(log, BENCHMARK, named("cut"), sources)
    assert log.max_tokens == 32
    assert len(done.cut) == 3


def test_a_quote_counts_what_no_log_has_answered(sources, write_log, instance):
    judge = named("quoted")
    done = run_import(write_log(), sources, judge)
    catalog = Catalog((*STAND_INS, judge))
    steps = [step for step in BENCHMARK.steps(catalog) if step.asset.subject_model == judge]
    (step,) = [step for step in steps if step.key.path[-1] == "answers_quoted"]
    context = PlanContext(
        home=sources.home,
        images=sources.images,
        work_cache=sources.work_cache,
        calls=sources.calls,
    )
    planners = build_step_planners({step.key: step})
    quote = quote_tasks(planners, context, [Task(step.key, TOPIC, {})])
    (line,) = quote.lines
    assert line.unanswerable == line.requests - line.stored
    assert (line.stored, line.to_send) == (done.new, 0)
    unanswered = f"{line.unanswerable:,} of {line.requests:,} questions have no imported answer"
    text = format_text(quote, [])
    assert unanswered in text
    assert "nothing is left to send" in text
    assert "unknown" not in text
    assert quote.is_free
    assert [*find_obstacles(quote.totals, Limits(total=0.0))] == []
