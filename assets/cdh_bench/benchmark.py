"""CDH-Bench, as other packages see it."""

from assets.cdh_bench.common import EVALUATION_VERSION, SETS
from assets.cdh_bench.questions import build_questions_asset
from assets.cdh_bench.report import ContrastReport
from assets.report.judge_benchmark import build_judge_benchmark

BENCHMARK = build_judge_benchmark(
    ContrastReport(),
    evaluation_version=EVALUATION_VERSION,
    assets=lambda: [build_questions_asset()],
    stand_in_assets=("questions",),
    sets=SETS,
)
