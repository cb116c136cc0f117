"""Image pairs: for each triplet and sample one picture of `correct` and one of `adversarial`."""

from assets.columns import TEXT, WHOLE, Columns
from assets.pictured import PICTURED

IMAGE_PAIRS = Columns(
    domain=(TEXT, "animals, demography or objects"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    concept_id=(TEXT, "The concept that it shows"),
    group=(TEXT, "Subcategory of the taxonomy"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Which trait of the extra element differs in the adversarial picture"),
    text=(TEXT, "The neutral sentence, by which both pictures are scored"),
    pair_id=(TEXT, "Concept and sample, the same for every painter"),
    side=(TEXT, "correct or adversarial"),
    image_id=(TEXT, "Painter, pair and side"),
    prompt=(TEXT, "What the painter was asked for: that side's sentence"),
    sample=(WHOLE, "Which of the pictures of its prompt it is, from 0"),
    seed=(WHOLE, "Of its noise, the same on both sides; empty for a painter that takes none"),
    outcome=(TEXT, "painted, flawed, refused or failed"),
    flaw=(TEXT, "blank, wrong size or repeated; else empty"),
    **PICTURED,
    made=(TEXT, "How a local model made it, as JSON: device, dtype, versions, batch; else empty"),
)
"""One row an image; `reason` says what is wrong with a flawed one."""
