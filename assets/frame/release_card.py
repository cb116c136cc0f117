"""Sentences of FRAME's data card."""

from assets.kit.release_cards import ReleaseCard

CARD = ReleaseCard(
    summary=(
        "Pictures, and the same pictures with a bias that changes nothing of what they show: "
        "brightness, a word on them, a frame, boxes. A judge that scores how well a picture "
        "follows its instruction should give both the same score."
    ),
    citation="""\
@misc{hwang2025fooling,
  title = {Fooling the LVLM Judges: Visual Biases in LVLM-Based Evaluation},
  author = {Yerin Hwang and Dongryeol Lee and Kyungmin Min and Taegwan Kang and Yongil Kim and
            Kyomin Jung},
  year = {2025},
  eprint = {2505.15249},
  archivePrefix = {arXiv}
}""",
    task_categories=("image-to-text",),
    tags=("llm-as-a-judge", "robustness", "bias"),
    omissions=("The paper's pictures, by DALL-E 3, and its scores.",),
    limitations=(
        "No row says which score is right: the difference between two scores is what counts.",
        "The worst configuration of a bias, chosen on the pictures that it is reported on, looks "
        "worse than it is: choose on one split and report on the other.",
        "The beauty filter smooths skin on faces that a detector finds, where the paper used a "
        "generative model.",
    ),
    biases=("A painter's people, rooms and landscapes are those of its training data.",),
)
