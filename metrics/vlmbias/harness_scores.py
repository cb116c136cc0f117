r"""VLMBias's replies as other harnesses score them, restated, and why their numbers differ.

lmms-eval 0.7.3, VLMEvalKit (ms-vlmeval 0.0.20) and evalscope 1.14.1 share one rule: the reply in
lower case, without braces at its ends, is compared with the right and with the familiar answer; if
it is neither, all digits of the reply, joined, are. inspect_ai 0.3.285 has no VLMBias: its scorer
`pattern` is taken with `PATTERN`, which reads the first curly brackets, and `match` as it is by
default, which compares the end of the reply. All count a refusal as wrong. Our rule is that of
`metrics.reply_parsing.bracketed_answers`.
"""

import re
import string
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from metrics.reply_parsing.bracketed_answers import Outcome

SCORED_QUESTIONS = ("Q1", "Q2")
"""The questions of the published data that harnesses score."""
PATTERN = r"\{\s*([^{}]*?)\s*\}"
"""The pattern that inspect_ai's scorer is given: what stands in the first curly brackets."""


class Verdict(NamedTuple):
    """Whether a harness takes a reply for the right answer, and for the familiar one."""

    is_right: bool
    is_biased: bool


def score_by_joined_digits(reply: str, ground_truth: str, expected_bias: str) -> Verdict:
    """Score a reply as lmms-eval, VLMEvalKit and evalscope do.

    >>> score_by_joined_digits("I count 5 stripes, not 4: {5}", "5", "4")
    Verdict(is_right=False, is_biased=False)
    """
    text, truth, bias = map(_strip_braces, (reply, ground_truth, expected_bias))
    verdict = Verdict(text == truth, text == bias)
    digits = _join_digits(text)
    if any(verdict) or not digits:
        return verdict
    return Verdict(digits == _join_digits(truth), digits == _join_digits(bias))


def score_by_first_brackets(reply: str, ground_truth: str, expected_bias: str) -> Verdict:
    """Score a reply as inspect_ai's `pattern` does with `PATTERN`.

    >>> score_by_first_brackets("{5} or {6}", "5", "4")
    Verdict(is_right=True, is_biased=False)
    """
    match = re.search(PATTERN, reply)
    content = match[1].lower() if match else None
    return Verdict(content == ground_truth.lower(), content == expected_bias.lower())


def score_by_ending(reply: str, ground_truth: str, expected_bias: str) -> Verdict:
    """Score a reply as inspect_ai's `match()` does.

    >>> score_by_ending("There are {15}.", "5", "4")
    Verdict(is_right=True, is_biased=False)
    """
    text, truth, bias = map(_strip_marks, (reply, ground_truth, expected_bias))
    return Verdict(text.endswith(truth), text.endswith(bias))


def _strip_marks(text: str) -> str:
    return text.strip().casefold().strip(string.whitespace + string.punctuation)


def _strip_braces(text: str) -> str:
    return text.strip().lower().strip("{}").strip()


def _join_digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


Scorer: TypeAlias = Callable[[str, str, str], Verdict]
"""A rule: reply, right answer and familiar answer to a verdict."""

HARNESSES: Mapping[str, Scorer] = MappingProxyType(
    {
        "lmms-eval": score_by_joined_digits,
        "VLMEvalKit": score_by_joined_digits,
        # It strips braces when it extracts an answer, and again when it scores.
        "evalscope": lambda reply, *answers: score_by_joined_digits(_strip_braces(reply), *answers),
        "inspect_ai": score_by_first_brackets,
        "inspect_ai match": score_by_ending,
    }
)
"""The rule of each harness."""


def score_by_outcome(
    answer: str | None, outcome: Outcome, ground_truth: str, expected_bias: str
) -> Verdict | None:
    """Score a reply as we read it; None where it gives no score, as a refusal."""
    if outcome in ("refused", "failed"):
        return None
    return Verdict(answer == ground_truth, answer == expected_bias)


def explain_difference(
    harness: str, reply: str, answer: str | None, outcome: Outcome, verdict: Verdict
) -> str:
    """Explain why a harness's `verdict` differs from ours, in words that follow its name.

    `answer` and `outcome` are our reading of the reply.
    """
    if outcome == "refused":
        return "counts a refusal as a wrong answer"
    if outcome == "failed":
        return "counts a missing answer as a wrong one"
    return _EXPLANATIONS.get(harness, _explain_digits)(reply, answer, verdict)


def _explain_brackets(reply: str, answer: str | None, verdict: Verdict) -> str:
    if answer is None:
        return "takes the first brackets of a reply that has not decided"
    if any(verdict):
        return "takes the first of several brackets, or those of a thought"
    return "compares the first brackets letter by letter, and finds none in some notations"


def _explain_digits(reply: str, answer: str | None, verdict: Verdict) -> str:
    if answer is None:
        return "reads an answer without brackets, or in brackets that do not decide"
    if any(verdict):
        return "takes all digits of the reply, joined, for another number"
    if answer in ("Yes", "No"):
        return "compares the whole reply, so that any word beside Yes or No is wrong"
    if not _join_digits(reply):
        return "reads no number in words"
    return "joins all digits of the reply, as written, into one number"


def _explain_ending(_: str, answer: str | None, verdict: Verdict) -> str:
    if answer is None:
        return "takes what a reply that has not decided, or has no brackets, ends with"
    if any(verdict):
        return "takes the last number of the reply, or one that only ends with the answer's digits"
    return "compares the end, and misses an answer with words behind it or in another notation"


_EXPLANATIONS = {"inspect_ai": _explain_brackets, "inspect_ai match": _explain_ending}
