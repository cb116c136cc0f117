"""Human scores: what several people make of the same pictures."""

from assets.columns import BOOLEAN, TEXT, WHOLE, Columns

HUMAN_SCORES = Columns(
    domain=(TEXT, "animals, demography or objects"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    concept_id=(TEXT, "The concept that it shows"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Which trait of the extra element differs in the adversarial picture"),
    text=(TEXT, "The sentence by which it is scored"),
    pair_id=(TEXT, "Concept and sample"),
    side=(TEXT, "correct or adversarial"),
    image_id=(TEXT, "Painter, pair and side"),
    sha256=(TEXT, "Name of the picture in the image store"),
    annotator=(TEXT, "Who scored it"),
    score=(WHOLE, "1 to 4"),
    rehearsal=(BOOLEAN, "Whether the pictures are a rehearsal, so that it is no result"),
)
"""One row an image and annotator; an image on which an annotator has not decided has none."""
