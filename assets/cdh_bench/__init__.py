"""CDH-Bench (Chen et al. 2026), downloaded by the user: does a judge see what is not usual?"""

from assets.cdh_bench.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
