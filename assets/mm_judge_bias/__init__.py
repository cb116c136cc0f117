"""MM-JudgeBias (Lee et al. 2026), downloaded by the user: does a score move where it should?"""

from assets.mm_judge_bias.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
