"""A whole benchmark is one folder: it touches no other file, and gets all that others have."""

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from dagster import AssetKey, DagsterInstance

import assets
from assets.kit.benchmarks import build_planners, build_steps, load_benchmarks
from assets.kit.step_planner import build_step_planners
from assets.kit.upstream_calls import find_upstream_calls
from assets.planning import Task, format_text, quote_tasks, select_quoted_tasks
from resources.models.catalog import Catalog, CatalogFiles, Model
from resources.settings.default_resources import build_default_resources
from sensors.new_painters import new_painters_sensor
from sensors.painter_backlog import QUOTED_TAG
from tests.assets.batched import Location
from tests.assets.plans import plan_context
from tests.providers import Provider, default_answer
from tests.runs import failure, materialize

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
# Those are Dagster's own, of a partition in two dimensions.

FOLDER = Path(__file__).parents[2] / "benchmarks"
PART = "plants|brush"
BY_PAINTER = ("pictures", "kept", "answers_eye", "answers_prior")


@pytest.fixture(autouse=True)
def colours():
    """The folder of the benchmark, as if it lay in `assets`."""
    assets.__path__.append(str(FOLDER))
    load_benchmarks.cache_clear()
    yield load_benchmarks()["colours"]
    assets.__path__.remove(str(FOLDER))
    load_benchmarks.cache_clear()
    del sys.modules["assets.colours"]


def answer(received):
    """A writer that writes, a painter that paints, a filter that keeps all, a judge that errs."""
    if received.task == "picture":
        return default_answer(received)
    words = received.texts[-1]
    if words.startswith("Write"):
        return f"A kiwi is near {words.rpartition('with ')[2]}"
    return "Yes" if words.startswith("Does") else "green"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    with Provider(answer=answer) as server:
        yield server


def models(server):
    def entry(name, *roles, **more):
        known = {"backend": "openai", "model": f"{name}-1", "family": name, "roles": roles}
        price = {"input_per_million": 1.0, "output_per_million": 1.0, "batch_share": 0.5}
        return Model(
            **{"name": name, "base_url": server.openai_url, "price": price, **known, **more}
        )

    paints = {"parameters": {"size": "64x64"}, "price": {"per_image": {"64x64": 0.01}}}
    prior = {"backend": "stand_in", "model": "prior", "family": "stand_in", "base_url": None}
    return (
        entry("pen", "writer", longest_output=50),
        entry("eye", "captioner", "judge", longest_output=50),
        entry("brush", "painter", **paints),
        entry("prior", "judge", price={}, **prior),
    )


def made(root, instance, server, *names, partition=None, **config):
    result = materialize(
        root,
        *names,
        topic=partition,
        models=models(server),
        group="colours",
        instance=instance,
        config=config,
    )
    assert result.success, failure(result)
    return result


@contextmanager
def instance_with(*painters):
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", list(painters))
        yield instance


def test_its_folder_is_small_and_the_only_one(colours):
    files = [path for path in (FOLDER / "colours").rglob("*") if path.is_file()]
    sources = [path for path in files if "__pycache__" not in path.parts]
    assert sum(len(path.read_text().splitlines()) for path in sources) <= 190
    assert colours.name in load_benchmarks()


def test_it_passes_lint_below_assets():
    """`make lint` checks its types where it is."""
    text = (FOLDER / "colours" / "__init__.py").read_text()
    for words in (("check",), ("format", "--check")):
        ruff = [sys.executable, "-m", "ruff", *words, "--stdin-filename"]
        done = subprocess.run(
            [*ruff, "assets/colours/__init__.py", "-"],
            cwd=FOLDER.parents[1],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"^from assets\.(\w+)", text, re.MULTILINE)) <= {"kit", "report"}


def test_contributing_quotes_it_and_says_how_to_copy_it(colours, tmp_path, monkeypatch):
    text = (FOLDER.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = (FOLDER / "colours" / "__init__.py").read_text(encoding="utf-8")
    (step,) = (
        code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "Step[" in code
    )
    assert step in source
    assert f"in {len(source.splitlines())} lines" in text
    (command,) = re.findall(r"^mkdir assets/shapes && .*$", text, re.MULTILINE)
    for folder in ("assets", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tests" / "benchmarks").symlink_to(FOLDER)
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(assets, "__path__", [*assets.__path__, str(tmp_path / "assets")])
        load_benchmarks.cache_clear()
        copy = load_benchmarks()["shapes"]
        assert {step.key.path[0] for step in copy.steps(Catalog(()))} == {"shapes"}
        result = materialize(tmp_path, "prompts", topic="plants", models=(), group="shapes")
        assert result.success, failure(result)
        del sys.modules["assets.shapes"]


def test_it_is_quoted_run_reported_and_exported(tmp_path, server):
    catalog = Catalog(models(server))
    tasks = [
        Task(AssetKey(["colours", name]), partition, {})
        for name, partition in [("prompts", "plants"), *((n, PART) for n in BY_PAINTER[:3])]
    ]
    known = build_planners(catalog)
    with plan_context(tmp_path) as sources:
        before = quote_tasks(known, sources, tasks)
    counts = {
        line.asset: (line.requests, line.follow_ups, line.missing_asset) for line in before.lines
    }
    assert counts["colours/prompts"] == (3, 0, None)
    with instance_with("brush") as instance:
        made(tmp_path, instance, server, "prompts", partition="plants")
        with plan_context(tmp_path) as sources:
            again = quote_tasks(known, sources, tasks)
        counts = {line.asset: (line.to_send, line.follow_ups) for line in again.lines}
        assert counts == {
            "colours/prompts": (0, 0),
            "colours/pictures": (3, 0),
            "colours/kept": (0, 3),
            "colours/answers_eye": (0, 3),
        }
        assert "colours/pictures" in format_text(again, ())
        result = made(tmp_path, instance, server, *BY_PAINTER, partition=PART)
        names = {check.check_name for check in result.get_asset_check_evaluations()}
        assert names == {"every_row_ended", "nothing_failed"}
        assert server.count == 3 + 3 + 3 + 3
        with plan_context(tmp_path) as sources:
            assert {line.to_send for line in quote_tasks(known, sources, tasks).lines} == {0}
            held = set(sources.calls.iterate_keys())
        made(tmp_path, instance, server, "rates", "report")
    rates = pd.read_parquet(tmp_path / "colours" / "rates.parquet").set_index("model")
    assert dict(rates["usual"]) == {"eye": 2, "prior": 3}
    assert "prior names the usual colour" in (tmp_path / "report/colours/index.html").read_text()
    assert "Colours" in (tmp_path / "report/index.html").read_text()
    with instance_with("brush"):
        definitions = dg.Definitions(
            assets=load_benchmarks()["colours"].build_definitions(catalog),
            resources=build_default_resources(str(tmp_path)),
        )
        found = find_upstream_calls(definitions, catalog, "colours/rates", tmp_path)
    assert found.keys == held


def test_it_stays_within_a_budget(tmp_path, server, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_BUDGET_PER_RUN", "0.02")
    with instance_with("brush") as instance:
        made(tmp_path / "free", instance, server, "prompts", partition="things")
        result = materialize(
            tmp_path / "free",
            "pictures",
            topic="things|brush",
            models=(*models(server), Model(name="budgeted", backend="stand_in", model="random",
                                           family="stand_in", roles=("judge",))),
            group="colours",
            instance=instance,
        )  # fmt: skip
    assert "budget" in failure(result)
    assert sum(1 for each in server.received if each.task == "picture") <= 2


def test_its_answers_come_in_batches(tmp_path, server):
    catalog = Catalog(models(server))
    with instance_with("brush") as instance:
        made(tmp_path, instance, server, "prompts", partition="plants")
        made(tmp_path, instance, server, "pictures", "kept", partition=PART)
        defined = load_benchmarks()["colours"].build_definitions(catalog)
        steps = {step.key: step for step in load_benchmarks()["colours"].steps(catalog)}
        location = Location(tmp_path, instance, defined, build_step_planners(steps))
        before = server.count
        result = location.submit('key:"colours/answers_eye"', [PART])
        assert result.success, failure(result)
        jobs, _ = location.see_through()
        assert jobs == ["collect_batch", "colours_by_kind_and_painter"]
    table = pd.read_parquet(tmp_path / "colours/answers_eye/plants/brush.parquet")
    assert list(table["response"]) == ["green"] * 3
    assert not [each for each in server.received[before:] if each.task == "text" and not each.batch]


def test_a_new_painter_is_seen_through_it(tmp_path, server, colours):
    catalog = Catalog(models(server))
    by_key = {
        key: asset
        for asset in colours.build_definitions(catalog)
        if isinstance(asset, dg.AssetsDefinition)
        for key in asset.keys
    }
    entries = [model.model_dump(mode="json", exclude_defaults=True) for model in models(server)]
    (tmp_path / "models.yaml").write_text("".join(f"- {json.dumps(each)}\n" for each in entries))
    files = CatalogFiles(tmp_path / "models.yaml", tmp_path / "discovered.yaml")
    with instance_with("brush") as instance:
        made(tmp_path, instance, server, "prompts", partition="plants")
        quoted = {"status": dg.DagsterRunStatus.SUCCESS, "tags": {QUOTED_TAG: "brush"}}
        instance.add_run(dg.DagsterRun("quote", **quoted))
        sensor = new_painters_sensor(files, by_key, [])
        with dg.build_sensor_context(instance=instance) as context:
            (request,) = sensor(context).run_requests
    assert request.partition_key == PART
    assert request.job_name == "colours_by_kind_and_painter"
    assert {key.path[-1] for key in request.asset_selection} == set(BY_PAINTER)


def test_a_selection_of_it_is_read_as_of_any_other(server):
    catalog = Catalog(models(server))
    by_key = {
        key: each
        for each in load_benchmarks()["colours"].build_definitions(catalog)
        for key in each.keys
    }
    with instance_with("brush") as instance:
        chosen = select_quoted_tasks(
            by_key, build_planners(catalog), instance, "colours/kept+", ["things|brush"]
        )
    assert {task.asset.path[-1] for task in chosen.tasks} == {"kept", "answers_eye"}
    assert AssetKey(["colours", "prompts"]) in build_steps(catalog)


_LOADED = """
import json, sys, definitions
repository = definitions.defs.get_repository_def()
print(json.dumps({
    "assets": [key.to_user_string() for key in repository.assets_defs_by_key],
    "jobs": [job.name for job in repository.get_all_jobs()],
    "schedules": [each.name for each in repository.schedule_defs],
    "planned": [key.to_user_string() for key in definitions.planners],
    "slow": [name for name in ("jsonschema", "openai", "scipy", "torch") if name in sys.modules],
}))
"""


def test_a_code_location_loads_it_from_its_folder_alone(tmp_path):
    """A project in which nothing is other than here, but for one more folder in `assets`."""
    project, here = tmp_path / "project", FOLDER.parents[1]
    (project / "assets").mkdir(parents=True)
    for each in here.iterdir():
        is_code = each.suffix in (".py", ".yaml") or (each / "__init__.py").exists()
        if is_code and each.name != "assets":
            (project / each.name).symlink_to(each)
    for each in [*(here / "assets").iterdir(), FOLDER / "colours"]:
        if each.name != "__pycache__" and not (project / "assets" / each.name).exists():
            (project / "assets" / each.name).symlink_to(each)
    python = [sys.executable, "-W", "ignore", "-c", _LOADED]
    home = {**os.environ, "COUNTERFACTORY_HOME": str(tmp_path), "PYTHONPATH": str(project)}
    said = subprocess.run(
        python, cwd=project, env=home, check=True, capture_output=True, text=True
    ).stdout
    loaded = json.loads(said.splitlines()[-1])
    assert {"colours/prompts", "colours/answers_prior", "colours/report"} <= set(loaded["assets"])
    assert {"colours_by_partition", "colours_by_kind_and_painter"} <= set(loaded["jobs"])
    assert "missing_colours_by_kind_and_painter" in loaded["schedules"]
    assert "colours/pictures" in loaded["planned"]
    assert loaded["slow"] == [], "each process of Dagster would wait for it"
