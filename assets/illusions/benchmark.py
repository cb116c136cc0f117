"""The benchmark of illusion controls, as other packages see it."""

from typing import Any

from assets.illusions.common import EVALUATION_VERSION, TOPIC, asset_key
from assets.illusions.pictures import build_pictures_asset
from assets.illusions.release import CARD, RELEASE_TABLES
from assets.illusions.report import PolarityReport
from assets.report.judge_benchmark import build_judge_benchmark
from metrics.illusions.polarity import WITH, WITHOUT
from resources.storage.data_root import DataRoot


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count the figures and their controls."""
    pictures = home.find(asset_key("pictures"))
    if pictures is None:
        return []
    inducers = pictures["inducer"]
    counts = {"figures": int(inducers.eq(WITH).sum()), "controls": int(inducers.eq(WITHOUT).sum())}
    return [{"topic": TOPIC, **counts}]


BENCHMARK = build_judge_benchmark(
    PolarityReport(),
    evaluation_version=EVALUATION_VERSION,
    assets=lambda: [build_pictures_asset()],
    stand_in_assets=("pictures",),
    summarize_demo=demo_summary,
    release_tables=RELEASE_TABLES,
    release_card=CARD,
)
