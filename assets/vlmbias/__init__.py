"""VLMBias: does a vision-language model count what it sees, or what it remembers?

The topics of "Vision Language Models are Biased" (arXiv 2505.23941): drawn images, their labels
read back from the pixels; photographs that the models there are paint and people accept; the
paper's questions about both; judges' answers, accuracy and a report. Beside the benchmark, writers
edit flags as SVG.
"""

from assets.vlmbias.benchmark import BENCHMARK

__all__ = ["BENCHMARK"]
