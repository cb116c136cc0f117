"""Illusion controls: does a judge see the parts that an illusion compares, or know the illusion?

Figures are those that other benchmarks have drawn, each beside its control without the inducer. The
measures are VI-Probe's (Sun et al., CVPR 2026).
"""

from assets.illusions.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
