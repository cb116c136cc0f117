"""VLMBias: does a vision-language model count what it sees, or what it remembers?

The topics of "Vision Language Models are Biased" (arXiv 2505.23941): drawn images, their labels
read back from the pixels; photographs, which the models there are paint by `photographed` and
people accept; the paper's questions about both; and `judged`, which makes of the models there are
judges' answers, accuracy and a report. `edited_flags` has language models edit flags as SVG, beside
the benchmark. `planners` tells what judges would be asked.
"""

from assets.vlmbias.judges import judged
from assets.vlmbias.photographs.making import photographed
from assets.vlmbias.planning import planners
from assets.vlmbias.svg_flags import edited_flags

__all__ = ["edited_flags", "judged", "photographed", "planners"]
