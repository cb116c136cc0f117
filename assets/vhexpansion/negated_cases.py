"""Negated cases: each question with its negation, by rule or by a model, and checked by rule."""

from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.vhexpansion.common import CASE, TRUTH

NEGATED = Columns(
    **CASE,
    **TRUTH,
    negated_question=(TEXT, "The negated question; empty where there is none"),
    negated_answer=(TEXT, "Its right answer: the other one"),
    rule=(TEXT, "How it was negated: prefix, no or not; empty where it was not"),
    writer=(TEXT, "Who wrote it, as models.yaml names it"),
    outcome=(TEXT, "negated, rejected (by rule), left out (by people), unparsed, refused, failed"),
    refusal=(TEXT, "content filter or model, if refused; else empty"),
    reason=(TEXT, "The rule that it breaks, or why there is none; else empty"),
    attempts=(WHOLE, "How often it was asked for; empty where nobody had to be"),
    accepted_by=(TEXTS, "The annotators who found it right"),
    rejected_by=(TEXTS, "The annotators who did not"),
    served_model=(TEXT, "Which model wrote it, as the provider says; empty where it does not"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)
