"""VLMBias: does a vision-language model count what it sees, or what it remembers?

The drawn topics of "Vision Language Models are Biased" (arXiv 2505.23941): images, their labels
read back from the pixels, the paper's questions, and `judged`, which makes of the models there are
judges' answers, accuracy and a report, with `planners` that tell what judges would be asked.
"""

from assets.vlmbias.judges import judged
from assets.vlmbias.planning import planners

__all__ = ["judged", "planners"]
