"""Sentences of ProtoBias's data card."""

from assets.kit.release_cards import ReleaseCard

CARD = ReleaseCard(
    summary=(
        "Two pictures under one sentence: one fits it and shows an unusual thing, the other shows "
        "the typical thing and does not fit. A metric fails a pair if it scores the second at "
        "least as high as the first."
    ),
    citation="""\
@misc{roy2026prototypicality,
  title = {Prototypicality Bias Reveals Blindspots in Multimodal Evaluation Metrics},
  author = {Subhadeep Roy and Gagan Bhatia and Steffen Eger},
  year = {2026},
  eprint = {2601.04946},
  archivePrefix = {arXiv}
}""",
    task_categories=("image-to-text", "text-to-image"),
    tags=("metrics", "prototypicality", "bias"),
    omissions=(
        "The paper's pictures and sentences: all here were made anew.",
        "Pairs of which the filter did not keep both pictures.",
    ),
    limitations=(
        "A painter may not have painted what its sentence says, where the filter missed it.",
        "Pairs of one concept are not independent: take intervals over concepts.",
    ),
    biases=(
        "Prototypes are those that the taxonomy names, as a robin for a bird; other people have "
        "others.",
        "Pairs about people show what a painter takes for a trade, an age or an origin.",
    ),
    personal_information=("People in pairs about demography are painted, and exist nowhere.",),
    social_impact=(
        "Pairs about demography repeat stereotypes in order to measure them: do not show them "
        "without saying so.",
    ),
)
