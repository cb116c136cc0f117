"""Sentences of Philautia-Eval's data card."""

from assets.kit.release_cards import ReleaseCard

CARD = ReleaseCard(
    summary=(
        "Captions of the same pictures by several models, with the scores that models as judges "
        "gave to all of them. What a judge gives its own captions beyond their quality is its "
        "self-preference."
    ),
    citation="""\
@misc{philautia,
  title = {MLLM-as-a-Judge Exhibits Model Preference Bias},
  author = {Anonymous},
  note = {Under review}
}""",
    task_categories=("image-to-text",),
    tags=("llm-as-a-judge", "self-preference", "captions"),
    omissions=("The paper's captions and scores, and its prompts, which are not published.",),
    limitations=(
        "A fresh seed changes the pictures of other benchmarks that models describe, never what a "
        "model says twice: captions are answers, and are paid for again.",
        "A missing score is a reply that could not be read, and no 0.",
    ),
    biases=("Models of one family share training data: their captions are no independent ones.",),
    use_cases=("To compare a new judge with those whose scores are here.",),
)
