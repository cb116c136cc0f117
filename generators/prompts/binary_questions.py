"""Yes/no questions made of others: of counting questions, and of questions with options.

What cannot be turned raises `NotTurned`, which says why.
"""

import re
from collections.abc import Mapping, Sequence

from generators.prompts.negation.open_words import is_adjective
from generators.prompts.words import singular

YES_NO: Mapping[str, str] = {
    **dict.fromkeys(("yes", "y", "true", "correct"), "yes"),
    **dict.fromkeys(("no", "n", "false", "incorrect"), "no"),
}
"""By answer in small letters: yes or no."""


class NotTurned(ValueError):
    """A question or an answer that is not, and cannot be turned into, a yes/no one."""


_COUNT = re.compile(
    r"(?P<intro>.*?)\bhow many (?P<noun>.+?) "
    r"(?P<verb>is|are|was|were|does|do|did|can|could|has|have)\b(?P<rest>.*?)\??\s*$",
    re.IGNORECASE | re.DOTALL,
)
_HOLDS = re.compile(r"\b(have|see|count|show|contain|hold|wear|find|spot|include|carry)\b")
_COLOUR = re.compile(
    r"(?P<intro>.*?)\bwhat colou?r (?P<verb>is|are|was|were) (?P<thing>.+?)\??\s*$",
    re.IGNORECASE | re.DOTALL,
)
_OPTION = re.compile(r"\(([a-z])\)\s*", re.IGNORECASE)
_SEEN = re.compile(r"^ you (?:see|count|find|spot)\b", re.IGNORECASE)
_TAILS = re.compile(
    r"(?:|(?:in|on|at|of|from|to|with|for|side|sides|than|color|colour|direction)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLES = ("the ", "a ", "an ", "")


def yes_or_no(answer: str) -> str:
    """An answer as yes or no. Raises `NotTurned` where it is neither."""
    said = answer.strip().strip(".").lower()
    if said not in YES_NO:
        raise NotTurned(f"Its answer is {answer!r}, neither yes nor no.")
    return YES_NO[said]


def stating_count(question: str, number: str) -> str:
    """A counting question as the question whether it is that number. Raises `NotTurned`.

    >>> stating_count("How many stars are there on this flag?", "50")
    'Are there 50 stars on this flag?'
    >>> stating_count("How many legs does this animal have?", "5")
    'Does this animal have 5 legs?'
    """
    found = _COUNT.fullmatch(question.strip())
    if found is None:
        raise NotTurned("It does not ask how many there are.")
    intro, noun, verb, rest = (found[name] for name in ("intro", "noun", "verb", "rest"))
    is_one = number in ("1", "one")
    counted = f"{number} {singular(noun) if is_one else noun}"
    if (seen := _SEEN.match(rest)) is not None:
        verb, rest = "are", rest[seen.end() :]
    if verb.lower() in ("is", "are", "was", "were"):
        past = verb.lower() in ("was", "were")
        verb = ("was" if past else "is") if is_one else ("were" if past else "are")
        return _sentence(intro, f"{verb} there {counted}{rest.removeprefix(' there')}")
    place = _HOLDS.search(rest)
    if place is None:
        raise NotTurned("Where its number belongs cannot be told.")
    return _sentence(intro, f"{verb.lower()}{rest[: place.end()]} {counted}{rest[place.end() :]}")


def options_in(text: str) -> Mapping[str, str]:
    """By letter: the options of a text such as "(a) Open (b) Closed". Raises `NotTurned`."""
    parts = _OPTION.split(text.strip())
    letters, said = parts[1::2], [each.strip().strip(",;") for each in parts[2::2]]
    options = dict(zip((letter.lower() for letter in letters), said, strict=True))
    if parts[0].strip() or len(options) < 2 or len(options) < len(letters) or not all(said):
        raise NotTurned(f"Its options are {text!r}. Write them as in (a) Open (b) Closed.")
    return options


def option_of(answer: str, options: Mapping[str, str]) -> str:
    """The letter of the right option, given as (a), as a, or in its own words.

    Raises `NotTurned`.
    """
    said = answer.strip().strip(".").lower()
    letter = said.strip("()")
    if letter in options:
        return letter
    named = [letter for letter, option in options.items() if option.lower() == said]
    if len(named) != 1:
        raise NotTurned(f"Its answer is {answer!r}, which is none of its options.")
    return named[0]


def stating_option(question: str, options: Sequence[str], stated: str) -> str:
    """A question with options as the question whether it is one of them. Raises `NotTurned`.

    >>> stating_option("Is the door open or closed?", ["Open", "Closed"], "Closed")
    'Is the door closed?'
    >>> stating_option("What color is the cat?", ["Black", "Red"], "Red")
    'Is the cat red?'
    """
    text = " ".join(question.split())
    if _COUNT.fullmatch(text) and all(
        re.fullmatch(r"\d+|[a-z]+", each.lower()) for each in options
    ):
        return stating_count(text, stated.lower())
    colour = _COLOUR.fullmatch(text)
    if colour is not None:
        said = f"{colour['verb'].lower()} {colour['thing']} {_lowered(stated)}"
        return _sentence(colour["intro"], said)
    if len(options) == 2:
        return _with_one(text, options, stated)
    raise NotTurned("It does not name its options, and is not about a number or a colour.")


def _with_one(text: str, options: Sequence[str], stated: str) -> str:
    """A question that names two options, "A or B", with one of them."""
    for joined in re.finditer(r",? or ", text):
        before, after = text[: joined.start()], text[joined.end() :]
        for first, second in (tuple(options), tuple(reversed(options))):
            found = _parts(before, after, first, second)
            if found is not None:
                start, said, end = found
                named = said[0] if stated == first else said[1]
                return f"{text[:start]}{named}{after[end:]}"
    raise NotTurned("It does not name its two options as in open or closed.")


def _parts(
    before: str, after: str, first: str, second: str
) -> tuple[int, tuple[str, str], int] | None:
    """Where the first option begins, both as they are named, and where the second ends."""
    start = _end_of(before, first, after, second)
    if start is None:
        return None
    at, whole = start
    for skipped in (*_ARTICLES, _repeated(before[:at], after)):
        length = len(skipped) + len(second)
        if (skipped + second).lower() != after[:length].lower():
            continue
        if skipped in _ARTICLES and skipped and not before[:at].lower().endswith(skipped):
            continue
        if re.match(r"[\w'’]", after[length : length + 1]):
            continue
        is_both = is_adjective(first.lower()) and is_adjective(second.lower())
        if is_both or _TAILS.fullmatch(after[length:].strip(" ?")):
            return at, (whole, after[len(skipped) : length]), length
    return None


def _end_of(before: str, first: str, after: str, second: str) -> tuple[int, str] | None:
    """Where the first option begins, and all of it: a tail may stand after the second alone."""
    words = first.split()
    for kept in range(len(words), 0, -1):
        head, tail = " ".join(words[:kept]), " ".join(words[kept:])
        at = len(before) - len(head)
        if at < 0 or before[at:].lower() != head.lower() or before[at - 1 : at].strip():
            continue
        if not tail:
            return at, before[at:]
        if second.lower().endswith(f" {tail.lower()}"):
            shared = after[len(second) - len(tail) : len(second)]
            return at, f"{before[at:]} {shared}"
    return None


def _repeated(before: str, after: str) -> str:
    """Words that stand before the first option and again before the second, as closer to."""
    words = before.split()
    for number in range(min(4, len(words)), 0, -1):
        said = " ".join(words[-number:]) + " "
        if after.lower().startswith(said.lower()):
            return said
    return ""


def _lowered(option: str) -> str:
    """An option inside a sentence, but for one in capitals throughout."""
    return option if option.isupper() else option[:1].lower() + option[1:]


def _sentence(intro: str, said: str) -> str:
    return f"{intro}{said if intro.strip() else said[:1].upper() + said[1:]}?"
