"""Pairs of responses that people compared, downloaded by the user: does a judge agree?"""

from assets.judge_sets.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
