"""Filtered pairs: those of which both pictures fit the sentence that they were painted from."""

from assets.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns
from assets.protobias.pairs import IMAGE_PAIRS

FILTERED = Columns(
    **IMAGE_PAIRS.columns,
    filter=(TEXT, "Who scored the picture, as models.yaml names it"),
    filter_family=(TEXT, "Whose kin that is"),
    filter_score=(WHOLE, "1 to 10, how well it fits its own prompt; empty where there is none"),
    filter_outcome=(TEXT, "scored, unparsed, refused, failed, or unpainted where it was not asked"),
    filter_response=(TEXT, "What the filter said; empty where it said nothing"),
    filter_reason=(TEXT, "Why there is no score; else empty"),
    kept=(BOOLEAN, "Whether the picture scored high enough"),
    pair_kept=(BOOLEAN, "Whether both pictures of its pair did"),
    rank=(WHOLE, "Place of the kept pair in the order of the evaluation; empty where dropped"),
    evaluated=(BOOLEAN, "Whether its pair is of the evaluation set"),
    filter_calls=(TEXTS, "Keys of the stored calls behind its score"),
)
"""One row an image, in the order of `image_pairs`, dropped ones as well."""
