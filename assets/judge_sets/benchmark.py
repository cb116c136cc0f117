"""The benchmark of pairs that people compared, as other packages see it."""

from typing import Any

from assets.judge_sets.common import EVALUATION_VERSION, asset_key, load_pair_collections
from assets.judge_sets.pairs import build_pairs_asset
from assets.judge_sets.report import AgreementReport
from assets.kit.collections import SAMPLE_PAIRS, find_sample_collection
from assets.report.judge_benchmark import build_judge_benchmark
from resources.storage.data_root import DataRoot


def list_stand_in_sets() -> list[str]:
    """The sets of the stand-in run: the pairs that come along."""
    sample = find_sample_collection(SAMPLE_PAIRS)
    return [sample.name] if sample and sample.name in load_pair_collections() else []


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count the pairs of the stand-in run."""
    key = asset_key("pairs")
    return [
        {"set": name, "pairs": int(home.table(key, name)["outcome"].eq("taken").sum())}
        for name in list_stand_in_sets()
    ]


BENCHMARK = build_judge_benchmark(
    AgreementReport(),
    evaluation_version=EVALUATION_VERSION,
    has_items=lambda: bool(load_pair_collections()),
    assets=lambda: [build_pairs_asset()],
    stand_in_assets=("pairs",),
    list_stand_in_partitions=list_stand_in_sets,
    summarize_demo=demo_summary,
)
