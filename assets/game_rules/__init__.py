"""Games by another rule: does a judge apply the rule that it reads, or the one that it knows?"""

from assets.game_rules.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
