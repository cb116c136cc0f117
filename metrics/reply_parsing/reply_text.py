"""Replies of judges: their text after the thinking, and refusals in words."""

import re

_THOUGHT = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_CUT_OFF = re.compile(r"<(?:think|thinking|reasoning)>.*", re.DOTALL | re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?:\b(?:I|we)\b[^.!?\n]{0,40}?\s|\bsorry,?\s+(?:but\s+)?|\A\W*)"
    r"(?:can't|cannot|can not|won't|will not|(?:\w+ )?unable to|not able to)\s+(?:\w+\s+)?"
    r"(?:help(?!\s+but)|assist|comply|fulfil|participate|engage|accommodate|discuss|do that"
    r"|provide (?:assistance|help|support)|(?:process|complete) (?:this|that|your) request"
    r"|identify (?:people|individuals|persons?|anyone))"
    r"|\bI (?:must |have to |will )?(?:respectfully )?(?:decline|refuse)\b"
    r"|\b(?:against|violates?) (?:my|our|the|\w+'s) (?:\w+ )?(?:guidelines|polic(?:y|ies)|terms)\b",
    re.IGNORECASE,
)


def strip_thinking(response: str) -> str:
    """The reply after its thinking (`<think>…</think>`); nothing where that was cut off."""
    return _THOUGHT_CUT_OFF.sub("", _THOUGHT.sub("", response))


def is_refusal(reply: str) -> bool:
    """True where the words decline to help. "I cannot tell from this picture" is no refusal."""
    return _REFUSAL.search(reply) is not None
