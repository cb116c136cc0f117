"""The benchmark of pairs that people compared, as other packages see it."""

from assets.judge_sets.common import EVALUATION_VERSION, load_pair_collections
from assets.judge_sets.pairs import build_pairs_asset
from assets.judge_sets.report import AgreementReport
from assets.report.judge_benchmark import build_judge_benchmark

BENCHMARK = build_judge_benchmark(
    AgreementReport(),
    evaluation_version=EVALUATION_VERSION,
    has_items=lambda: bool(load_pair_collections()),
    assets=lambda: [build_pairs_asset()],
)
