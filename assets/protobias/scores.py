"""Scores: what each metric and judge makes of both pictures of a pair, under the same text."""

from assets.columns import BOOLEAN, REAL, TEXT, TEXTS, WHOLE, Columns

SCORES = Columns(
    domain=(TEXT, "animals, demography or objects"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    concept_id=(TEXT, "The concept that it shows"),
    group=(TEXT, "Subcategory of the taxonomy"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Which trait of the extra element differs in the adversarial picture"),
    text=(TEXT, "The sentence by which it is scored"),
    pair_id=(TEXT, "Concept and sample"),
    side=(TEXT, "correct or adversarial"),
    image_id=(TEXT, "Painter, pair and side"),
    sha256=(TEXT, "Name of the picture in the image store"),
    rank=(WHOLE, "Place of the pair in the order of the evaluation"),
    metric=(TEXT, "The metric or judge, as models.yaml names it"),
    formula=(
        TEXT,
        "What its raw score is: clip_score, pick_score, vqa_score, vision_score, "
        "judge, or reference",
    ),
    metric_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    kin=(BOOLEAN, "Whether it is of the family of the filter that kept these pairs"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety, no image or model, if refused; else empty"),
    raw=(REAL, "The score as it was given: a cosine, a probability, 1 to 4; empty where none"),
    response=(TEXT, "What a judge said; empty for a metric"),
    reason=(TEXT, "Why there is no score; else empty"),
    served_model=(TEXT, "Which model scored it, as the provider says; empty where it does not"),
    rehearsal=(BOOLEAN, "Whether the pictures are a rehearsal, so that it is no result"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a reference"),
)
"""One row an image of the evaluation set."""
