"""VHExpansion: does an answer survive a negation, a blur, and an attacker who knows the encoder?

The benchmark of "Automatically Generating Visual Hallucination Test Cases for Multimodal Large
Language Models" (arXiv 2410.11242): yes/no cases, their negations, the same pictures perturbed in
common and in adversarial ways, and what judges answer to all of these.
"""

from assets.vhexpansion.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
