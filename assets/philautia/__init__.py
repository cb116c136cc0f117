"""Philautia-Eval and Pomms: does a judge prefer captions that it wrote itself?

The benchmark of "MLLM-as-a-Judge Exhibits Model Preference Bias": models describe pictures, judges
score the descriptions of all, and what a judge gives its own beyond their quality is its
philautia score. Pomms is a panel of judges that is less partial.
"""

from assets.philautia.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
