"""Files by which leaderboards of others read a release: the hub's, and Every Eval Ever's."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from assets.release.contents import JudgeResult, Release, TaskResult
from assets.release.every_eval_ever import build_records

EVAL_FILE = "eval.yaml"
RESULTS_FOLDER = "results"
_OWNER = "OWNER"
"""Stands for the account that a user uploads to, which a release does not know."""
_FRAMEWORK = "counterfactory"


def build_leaderboard_files(release: Release) -> dict[str, str]:
    """Build the texts of all files by path; empty without a number for leaderboards."""
    if release.leaderboard is None:
        return {}
    files = {EVAL_FILE: _dump(_build_eval(release))}
    for result in release.results.judges:
        folder = f"{RESULTS_FOLDER}/{result.judge.name}/.eval_results"
        files[f"{folder}/{release.benchmark}.yaml"] = _dump([*_build_entries(release, result)])
        records = build_records(release, result)
        files |= {f"{RESULTS_FOLDER}/every_eval_ever/{path}": records[path] for path in records}
    return files


def _build_eval(release: Release) -> Mapping[str, Any]:
    """Declare the benchmark as the hub's data set repositories do."""
    leaderboard = release.leaderboard
    assert leaderboard is not None
    return {
        "name": release.title,
        "description": (
            f"{release.question} {leaderboard.measure}, evaluation version "
            f"{release.evaluation_version}: results of different versions do not compare."
        ),
        "evaluation_framework": _FRAMEWORK,
        "tasks": [
            {"id": task, "config": leaderboard.config, "split": leaderboard.split}
            for task in leaderboard.list_tasks(release.partitions)
        ],
    }


def _build_entries(release: Release, result: JudgeResult) -> Iterator[Mapping[str, Any]]:
    """Build the entries of a model repository's file, one a task, in percent."""
    repository = f"{_OWNER}/{release.benchmark}"
    for task in result.tasks:
        yield {
            "dataset": {"id": repository, "task_id": task.task},
            "value": _to_percent(task.standing.value),
            "date": task.standing.date,
            "source": {
                "url": f"https://huggingface.co/datasets/{repository}",
                "name": f"{release.title}, by Counterfactory",
            },
            "notes": _format_notes(release, task),
        }


def _format_notes(release: Release, task: TaskResult) -> str:
    standing = task.standing
    low, high = _to_percent(standing.low), _to_percent(standing.high)
    interval = "" if low is None else f"95 % interval {low} to {high}"
    version = f"evaluation version {release.evaluation_version}"
    parts = (f"{standing.measure} in percent", interval, version, standing.note)
    return ", ".join(filter(None, parts))


def _to_percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)


def _dump(value: Any) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)
    return text
