"""Prompt triplets: written, checked by rule, asked for again with what is wrong, or rejected."""

from assets.columns import TEXT, TEXTS, WHOLE, Columns
from assets.protobias.concepts import CONCEPTS

TRIPLETS = Columns(
    **CONCEPTS.columns,
    writer=(TEXT, "Who wrote it, as models.yaml names it"),
    text=(TEXT, "The neutral sentence; empty where there is none"),
    correct=(TEXT, "The sentence of the non-prototype"),
    adversarial=(TEXT, "The sentence of the prototype, with another value of the knob"),
    outcome=(TEXT, "accepted, rejected (by rule), malformed, refused or failed"),
    rules=(TEXTS, "The rules that it breaks, each once; none where it is accepted"),
    reason=(TEXT, "What is wrong with it in words, or the provider's reason; else empty"),
    attempts=(WHOLE, "How often it was asked for"),
    served_model=(TEXT, "Which model wrote it, as the provider says; empty where it does not"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)
