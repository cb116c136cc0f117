"""The named jobs of the main flows: what people launch from the Jobs page, and sensors by name."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from dagster import (
    AssetKey,
    AssetsDefinition,
    AssetSelection,
    PartitionsDefinition,
    define_asset_job,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets.kit.partitions import (
    painters,
    pairs,
    photographed_topics,
    photographs,
    protobias_domains,
    topics,
)
from resources.executors import in_process

PAIRS_JOB = "painter_pairs"
SUMMARY_JOB = "painter_summary"
REPORT_JOB = "protobias_report"


class _Flow(NamedTuple):
    """A job of assets that are all divided in one way, as Dagster wants it.

    `assets` are their names; one that ends with an underscore stands for all that begin so.
    """

    job: str
    division: PartitionsDefinition[Any] | None
    assets: tuple[str, ...]
    description: str
    one_step: bool = False


_FLOWS = (
    _Flow(
        "vlmbias_answers",
        topics,
        ("vlmbias/answers_",),
        "VLMBias by topic: has judges answer a topic's questions. For one judge, select its node "
        "in the graph before you press Materialize: without a selection, every judge is asked.",
    ),
    _Flow(
        "vlmbias_subjects",
        photographed_topics,
        ("vlmbias/subjects",),
        "VLMBias, photographs by topic: what is to be painted, before vlmbias_photographs.",
    ),
    _Flow(
        "vlmbias_photographs",
        photographs,
        ("vlmbias/paintings", "vlmbias/edits", "vlmbias/candidates"),
        "VLMBias, photographs by topic and painter: paints, edits and checks them, for people to "
        "review.",
    ),
    _Flow(
        "vlmbias_edited_flags",
        None,
        ("vlmbias/edited_flags_",),
        "VLMBias: has writers edit flags as SVG. For one writer, select its node in the graph.",
    ),
    _Flow(
        "vlmbias_report",
        None,
        ("vlmbias/accuracy", "vlmbias/report"),
        "VLMBias: accuracy of all judges, and the report.",
    ),
    _Flow(
        "protobias_prompts",
        protobias_domains,
        ("protobias/concepts", "protobias/prompt_triplets"),
        "ProtoBias by domain, first: concepts and prompt triplets, once for all painters.",
    ),
    _Flow(
        PAIRS_JOB,
        pairs,
        ("protobias/image_pairs", "protobias/filtered_pairs", "protobias/scores_"),
        "ProtoBias by domain, second; for a new painter, all that there is to do: paints, filters "
        f"and scores its pairs of a domain. {SUMMARY_JOB} and {REPORT_JOB} come next.",
    ),
    _Flow(
        SUMMARY_JOB,
        painters,
        ("protobias/summary",),
        "ProtoBias by painter: failure rates, scores and margins of every metric.",
        one_step=True,
    ),
    _Flow(
        REPORT_JOB,
        None,
        ("protobias/report",),
        "ProtoBias: the report on all painters that are summarized.",
        one_step=True,
    ),
)


class Jobs(NamedTuple):
    """The named jobs; `by_asset` for each asset the one that makes it, if there is one."""

    all: list[UnresolvedAssetJobDefinition]
    by_asset: Mapping[AssetKey, UnresolvedAssetJobDefinition]


def flows(assets: Mapping[AssetKey, AssetsDefinition]) -> Jobs:
    """The jobs of those `assets` that there are; a job without any is left out."""
    jobs: list[UnresolvedAssetJobDefinition] = []
    by_asset: dict[AssetKey, UnresolvedAssetJobDefinition] = {}
    for flow in _FLOWS:
        if keys := [key for key, asset in assets.items() if _is_of(flow, key, asset)]:
            job = define_asset_job(
                flow.job,
                AssetSelection.assets(*keys),
                description=flow.description,
                executor_def=in_process if flow.one_step else None,
            )
            jobs.append(job)
            by_asset |= dict.fromkeys(keys, job)
    return Jobs(jobs, by_asset)


def _is_of(flow: _Flow, key: AssetKey, asset: AssetsDefinition) -> bool:
    name = key.to_user_string()
    return asset.partitions_def == flow.division and any(
        name.startswith(wanted) if wanted.endswith("_") else name == wanted
        for wanted in flow.assets
    )
