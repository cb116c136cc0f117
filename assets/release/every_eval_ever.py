"""Results of a judge as Every Eval Ever's schema has them: a record, and a line for each sample.

Paths are those of its datastore, below `data/`, so that its validator takes the files where they
are. What nobody has stated, as who ran it, says so.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from assets.kit.leaderboards import ScoredSample
from assets.release.contents import JudgeResult, Release, TaskResult
from resources.models.backend_names import LOCAL_BACKENDS
from resources.models.catalog import Model

_SCHEMA_VERSION = "0.3.0"
SAMPLES_SUFFIX = "_samples.jsonl"
"""End of the names of files with a judge's answers."""
_DEVELOPERS = {"openai": "openai", "gemini": "google", "anthropic": "anthropic"}
"""Developer of the models that a backend has at its provider's own address."""
_GENERATION = ("temperature", "top_p", "max_tokens")
_UNPORTABLE = re.compile(r'[<>:"\\|?*\x00-\x1f]')


def build_records(release: Release, result: JudgeResult) -> Mapping[str, str]:
    """Build the record of a judge and its samples' lines, by path; the same bytes for the same."""
    model_id = find_model_id(result.judge)
    name = f"counterfactory_{release.benchmark}"
    # Entries of one model that differ in their parameters are several evaluations.
    evaluation_id = f"{name}_{result.judge.name}/{model_id}/{_to_epoch(result.date)}"
    links = {"schema_version": _SCHEMA_VERSION, "evaluation_id": evaluation_id}
    lines = "".join(
        _dump({**links, "model_id": model_id, **sample}) + "\n"
        for task in result.tasks
        for sample in _build_samples(release, task)
    )
    digest = sha256(f"{evaluation_id}\n{lines}".encode())
    developer, _, model = model_id.partition("/")
    folder = f"data/{name}/{developer}/{model.replace('/', '_')}"
    path = f"{folder}/{UUID(bytes=digest.digest()[:16], version=4)}"
    record = {
        **links,
        "evaluation_timestamp": result.date,
        "retrieved_timestamp": _to_epoch(result.date),
        "source_metadata": {
            "source_name": f"{release.title}, by Counterfactory",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "counterfactory",
            "version": release.version,
            "additional_details": {"evaluation_version": release.evaluation_version},
        },
        "model_info": _build_model(result.judge, model_id),
        "evaluation_results": [_build_result(release, result.judge, task) for task in result.tasks],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{path}{SAMPLES_SUFFIX}",
            "hash_algorithm": "sha256",
            "checksum": sha256(lines.encode()).hexdigest(),
            "total_rows": lines.count("\n"),
        },
    }
    return {f"{path}.json": _dump(record, indent=1) + "\n", f"{path}{SAMPLES_SUFFIX}": lines}


def find_model_id(judge: Model) -> str:
    """Name a judge as `developer/model`; what no provider has is named by its family.

    >>> from resources.models.catalog import Model
    >>> fields = {"name": "eye", "family": "gpt", "roles": ("judge",)}
    >>> find_model_id(Model(backend="openai", model="gpt-5", **fields))
    'openai/gpt-5'
    """
    name = judge.model.rstrip("/")
    if "adapter" in judge.parameters:
        name = f"{judge.family}/{judge.name}"
    elif name.startswith(("/", ".", "~")):
        name = name.rpartition("/")[2]
    if "/" not in name:
        name = f"{_find_provider(judge) or judge.family}/{name}"
    return _UNPORTABLE.sub("_", name)


def _find_provider(judge: Model) -> str | None:
    """Find the provider at whose own address a judge is asked; None for other servers."""
    return None if judge.base_urls else _DEVELOPERS.get(judge.backend)


def _build_model(judge: Model, model_id: str) -> Mapping[str, Any]:
    deployment = "unknown"
    if _find_provider(judge):
        deployment = "externally_managed"
    elif judge.backend in LOCAL_BACKENDS:
        deployment = "self_deployed"
    return {
        "name": judge.name,
        "id": model_id,
        "developer": model_id.partition("/")[0],
        "additional_details": {"deployment_type": deployment, "model_availability": "unknown"},
    }


def _build_result(release: Release, judge: Model, task: TaskResult) -> Mapping[str, Any]:
    standing, leaderboard = task.standing, release.leaderboard
    assert leaderboard is not None
    version = {"evaluation_version": release.evaluation_version}
    generation = {name: judge.parameters[name] for name in _GENERATION if name in judge.parameters}
    uncertainty: dict[str, Any] = {"num_samples": len(task.samples)}
    if standing.low is not None:
        uncertainty["confidence_interval"] = {
            "lower": standing.low,
            "upper": standing.high,
            "confidence_level": 0.95,
            "method": "bootstrap over base images",
        }
    return {
        "evaluation_result_id": _name_result(release, task),
        "evaluation_name": _name_result(release, task),
        "source_data": {
            "dataset_name": release.title,
            "source_type": "other",
            "additional_details": {
                "config": leaderboard.config,
                "split": leaderboard.split,
                "seeds": ", ".join(map(str, release.seeds)),
                **version,
            },
        },
        "metric_config": {
            "evaluation_description": task.measure.meaning,
            "metric_id": _name_result(release, task),
            "metric_name": task.measure.name,
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": version,
        },
        "score_details": {
            "score": standing.value,
            "details": {"items": f"{standing.items:,} {standing.unit}", "note": standing.note},
            "uncertainty": uncertainty,
        },
        **({"generation_config": {"generation_args": generation}} if generation else {}),
    }


def _build_samples(release: Release, task: TaskResult) -> Iterator[Mapping[str, Any]]:
    name = _name_result(release, task)
    for sample in task.samples:
        prompt = "\n\n".join(sample.prompts)
        hashed = prompt + "".join(sample.references)
        yield {
            "evaluation_name": name,
            "evaluation_result_id": name,
            "sample_id": sample.sample_id,
            "sample_hash": sha256(hashed.encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {"raw": prompt, "reference": [*sample.references]},
            "output": {"raw": [*sample.replies]},
            "answer_attribution": [*_attribute_answers(sample)],
            "evaluation": {"score": sample.score, "is_correct": sample.score == 1},
            "metadata": {
                **{key: str(value) for key, value in sample.metadata.items() if value is not None},
                "partition": sample.partition,
                "picture_sha256": sample.picture_sha256,
                "evaluation_version": release.evaluation_version,
            },
        }


def _attribute_answers(sample: ScoredSample) -> Iterator[Mapping[str, Any]]:
    """Name the answer that was read from each reply; an unreadable one is left out."""
    for index, answer in enumerate(sample.answers):
        if answer is not None:
            yield {
                "turn_idx": 0,
                "source": f"output.raw[{index}]",
                "extracted_value": answer,
                "extraction_method": "custom",
                "is_terminal": True,
            }


def _name_result(release: Release, task: TaskResult) -> str:
    return f"counterfactory_{release.benchmark}.{task.task}"


def _to_epoch(date: str) -> str:
    return str(int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()))


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, allow_nan=False, indent=indent)
