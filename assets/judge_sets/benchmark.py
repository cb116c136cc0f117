"""The benchmark of pairs that people compared, as other packages see it."""

from assets.judge_sets.common import EVALUATION_VERSION, SETS
from assets.judge_sets.pairs import build_pairs_asset
from assets.judge_sets.report import AgreementReport
from assets.report.judge_benchmark import build_judge_benchmark

BENCHMARK = build_judge_benchmark(
    AgreementReport(),
    evaluation_version=EVALUATION_VERSION,
    assets=lambda: [build_pairs_asset()],
    stand_in_assets=("pairs",),
    sets=SETS,
)
