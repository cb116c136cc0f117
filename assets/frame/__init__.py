"""FRAME: how far can a judge's score be moved by what has nothing to do with the picture?

The benchmark of "Fooling the LVLM Judges: Visual Biases in LVLM-Based Evaluation" (arXiv
2505.15249): visual concepts, instructions, instructions of which some concepts are changed,
pictures of these, the same pictures with visual biases, and what judges make of both.
"""

from assets.frame.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
