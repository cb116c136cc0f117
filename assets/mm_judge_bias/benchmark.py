"""MM-JudgeBias, as other packages see it."""

from assets.mm_judge_bias.common import EVALUATION_VERSION, SETS
from assets.mm_judge_bias.items import build_items_asset
from assets.mm_judge_bias.report import BiasReport
from assets.report.judge_benchmark import build_judge_benchmark

BENCHMARK = build_judge_benchmark(
    BiasReport(),
    evaluation_version=EVALUATION_VERSION,
    assets=lambda: [build_items_asset()],
    stand_in_assets=("items",),
    sets=SETS,
)
