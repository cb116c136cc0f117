"""One setting chooses the executor; what a run makes and refuses does not depend on it."""

import json

import pytest

from resources.execution import cluster_executors
from resources.execution.executors import build_executor
from tests.code_trees import run_python

EXECUTORS = {
    "alone": ("in_process", False),
    "processes": ("multiprocess", False),
    "processes_with_ray": ("multiprocess", True),
    "ray": ("ray", True),
}
"""Executors, and whether their steps spread work over Ray."""

RUN = """
import json, sys
from pathlib import Path
import dagster as dg
from resources.execution.dagster_internals import AssetRun
from resources.execution.executors import find_process
config = {"resources": {"design": {"config": {"seed": 0, "sizes": [384]}}}}
reports = []
for ops in ({}, {"vlmbias__drawn_image": {}}):
    with dg.DagsterInstance.get() as instance:
        run = AssetRun.create(
            instance,
            str(Path.cwd()),
            [
                dg.AssetKey(["vlmbias", "drawn_images"]),
                dg.AssetKey(["vlmbias", "original_images"]),
            ],
            config=config | {"ops": ops},
            tags={"dagster/partition": "game_boards"},
        )
        for _ in run.execute(instance):
            pass
        record = instance.get_run_by_id(run.run.run_id)
        messages = [
            entry.dagster_event.message or "" if entry.dagster_event else entry.user_message
            for entry in instance.all_logs(record.run_id)
        ]
        errors = [
            entry.dagster_event.job_failure_data.error.message
            for entry in instance.all_logs(record.run_id)
            if entry.dagster_event and entry.dagster_event.event_type_value == "PIPELINE_FAILURE"
        ]
        has_process = find_process(record) is not None
    reports.append([record.status.value, has_process, messages, errors])
Path(sys.argv[1]).write_text(json.dumps(reports))
"""


@pytest.mark.slow
def test_a_run_makes_the_same_tables_and_refuses_the_same_under_each_executor(
    ray_cluster, tmp_path
):
    tables, messages = {}, {}
    for name, (executor, is_ray_used) in EXECUTORS.items():
        folder = tmp_path / name
        (folder / "instance").mkdir(parents=True)
        (folder / "instance/dagster.yaml").write_text("telemetry: {enabled: false}\n")
        variables = {
            "COUNTERFACTORY_EXECUTOR": executor,
            "COUNTERFACTORY_HOME": str(folder / "data"),
            "DAGSTER_HOME": str(folder / "instance"),
        }
        run = ray_cluster.run if is_ray_used else run_python
        script = RUN.replace("sys.argv[1]", repr(str(folder / "report.json")))
        ended = run(script, are_warnings_errors=False, **variables)
        assert ended.returncode == 0, ended.stderr
        made, refused = json.loads((folder / "report.json").read_text())
        assert made[:2] == ["SUCCESS", True], made
        assert refused[:2] == ["FAILURE", True]
        assert "`ops` has 'vlmbias__drawn_image', which is not there" in refused[3][0]
        messages[name] = "\n".join(made[2])
        tables[name] = {
            path.relative_to(folder / "data"): path.read_bytes()
            for path in (folder / "data/vlmbias").rglob("*.parquet")
        }
    assert len(tables["alone"]) == 2
    for name in EXECUTORS:
        assert tables[name] == tables["alone"], name
    steps = messages["processes"].count("Launching subprocess for")
    assert steps > 1
    assert messages["ray"].count("in Ray job dagster-step-") == steps


def test_an_unknown_executor_is_refused_with_the_names_that_there_are(monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_EXECUTOR", "rey")
    with pytest.raises(ValueError, match="'rey', did you mean ray") as raised:
        build_executor(dict, [])
    assert "one of: multiprocess, in_process, ray, k8s." in str(raised.value)


@pytest.mark.parametrize("name", ["ray", "k8s"])
def test_an_executor_whose_package_is_missing_is_refused_with_its_extra(monkeypatch, name):
    monkeypatch.setenv("COUNTERFACTORY_EXECUTOR", name)
    monkeypatch.setattr(cluster_executors, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=rf"pip install 'counterfactory\[{name}\]'"):
        build_executor(dict, [])


def test_the_executor_ray_needs_the_address_of_a_cluster(monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_EXECUTOR", "ray")
    monkeypatch.delenv("COUNTERFACTORY_RAY_ADDRESS", raising=False)
    monkeypatch.setattr(cluster_executors, "find_spec", lambda _: True)
    with pytest.raises(ValueError, match="set COUNTERFACTORY_RAY_ADDRESS to"):
        build_executor(dict, [])
