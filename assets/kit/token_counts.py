"""Tokens of the answer in a row, as its provider bills them: unknown where it does not say."""

from collections.abc import Iterable, Sequence
from typing import Any

from assets.kit.columns import WHOLE
from resources.models.outcomes import AnsweredOutcome, FailedOutcome, Outcome
from resources.models.replies import THOUGHT_TOKENS

OUTPUT_TOKENS, THINKING_TOKENS = "output_tokens", "thinking_tokens"
TOKEN_COLUMNS = {
    OUTPUT_TOKENS: (
        WHOLE,
        "Tokens of output that the provider bills for the row, thinking included; empty if it "
        "does not say",
    ),
    THINKING_TOKENS: (WHOLE, "Those of them that were thinking; empty if it does not say"),
}
"""The columns that the kit fills for each row of a step that declares them."""


def token_cells(outcomes: Sequence[Outcome]) -> dict[str, int | None]:
    """Build the `TOKEN_COLUMNS` of a row: sums over the replies of its conversation."""
    return {
        OUTPUT_TOKENS: _sum_known(map(_count_output, outcomes)),
        THINKING_TOKENS: _sum_known(map(_count_thinking, outcomes)),
    }


def _count_output(outcome: Outcome) -> int | None:
    return None if isinstance(outcome, FailedOutcome) else outcome.usage.output_tokens


def _count_thinking(outcome: Outcome) -> int | None:
    provenance = outcome.provenance if isinstance(outcome, AnsweredOutcome) else None
    # What a cassette brings is any JSON.
    tokens = (provenance or {}).get(THOUGHT_TOKENS)
    return tokens if type(tokens) is int and tokens >= 0 else None


def _sum_known(counts: Iterable[int | None]) -> int | None:
    """The sum of counts; None for none of them, and if any is unknown."""
    numbers: list[Any] = list(counts)
    return None if not numbers or None in numbers else sum(numbers)
