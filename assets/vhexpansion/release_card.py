"""Sentences of VHExpansion's data card."""

from assets.kit.release_cards import ReleaseCard

CARD = ReleaseCard(
    summary=(
        "Yes/no questions about pictures, each with its negation, about the pictures as they are "
        "and perturbed. A judge that looks answers question and negation differently; one that "
        "likes to say yes is right about half of each pair and of no pair."
    ),
    citation="""\
@misc{liu2024automatically,
  title = {Automatically Generating Visual Hallucination Test Cases for Multimodal Large
           Language Models},
  author = {Zhongye Liu and Hongbin Liu and Yuepeng Hu and Zedian Shao and Neil Zhenqiang Gong},
  year = {2024},
  eprint = {2410.11242},
  archivePrefix = {arXiv}
}""",
    tags=("hallucination", "negation", "robustness"),
    omissions=(
        "The pictures and questions of POPE, MMVP and VHTest, unless whoever releases this has "
        "them as a collection with a licence.",
        "Questions that no rule turns into a yes/no question, or negates.",
    ),
    limitations=(
        "Negations by rule or by a model were not all read by a person.",
        "Count pairs, not single answers: a case without its negation shows little.",
        "A perturbed picture may be too blurred to be answered at all.",
    ),
    biases=("Questions are in English, and are right as often as the data they come from.",),
)
