"""ProtoBias: does a metric prefer the picture that fits the text, or the one that is typical?

The benchmark of "Prototypicality Bias Reveals Blindspots in Multimodal Evaluation Metrics" (arXiv
2601.04946): concepts of a taxonomy, prompt triplets, pairs of pictures by every painter there is,
filtered, scored by metrics and judges, and compared with people.
"""

from assets.protobias.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
