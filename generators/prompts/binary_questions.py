"""Yes/no questions made of others: of counting questions, and of questions with options.

A question that cannot be turned raises `NotBinary`, which says why.
"""

import re
from collections.abc import Mapping, Sequence

from generators.prompts.negation.open_words import is_adjective
from generators.prompts.vocabulary import to_singular

YES_NO: Mapping[str, str] = {
    **dict.fromkeys(("yes", "y", "true", "correct"), "yes"),
    **dict.fromkeys(("no", "n", "false", "incorrect"), "no"),
}
"""Yes or no, by answer in small letters."""


class NotBinary(ValueError):
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
_SEEN_BY_YOU = re.compile(r"^ you (?:see|count|find|spot)\b", re.IGNORECASE)
_TAILS = re.compile(
    r"(?:|(?:in|on|at|of|from|to|with|for|side|sides|than|color|colour|direction)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLES = ("the ", "a ", "an ", "")


def parse_yes_no(answer: str) -> str:
    """An answer as yes or no. Raises `NotBinary` where it is neither."""
    word = answer.strip().strip(".").lower()
    if word not in YES_NO:
        raise NotBinary(f"Its answer is {answer!r}, neither yes nor no.")
    return YES_NO[word]


def state_count(question: str, number: str) -> str:
    """A counting question as the question whether it is that number. Raises `NotBinary`.

    >>> state_count("How many stars are there on this flag?", "50")
    'Are there 50 stars on this flag?'
    >>> state_count("How many legs does this animal have?", "5")
    'Does this animal have 5 legs?'
    """
    match = _COUNT.fullmatch(question.strip())
    if match is None:
        raise NotBinary("It does not ask how many there are.")
    intro, noun, verb, rest = (match[name] for name in ("intro", "noun", "verb", "rest"))
    is_one = number in ("1", "one")
    counted = f"{number} {to_singular(noun) if is_one else noun}"
    if (seen_match := _SEEN_BY_YOU.match(rest)) is not None:
        verb, rest = "are", rest[seen_match.end() :]
    if verb.lower() in ("is", "are", "was", "were"):
        is_past = verb.lower() in ("was", "were")
        verb = ("was" if is_past else "is") if is_one else ("were" if is_past else "are")
        return _format_question(intro, f"{verb} there {counted}{rest.removeprefix(' there')}")
    holder = _HOLDS.search(rest)
    if holder is None:
        raise NotBinary("It is unclear where its number belongs.")
    return _format_question(
        intro, f"{verb.lower()}{rest[: holder.end()]} {counted}{rest[holder.end() :]}"
    )


def parse_options(text: str) -> Mapping[str, str]:
    """The options of a text such as "(a) Open (b) Closed", by letter. Raises `NotBinary`."""
    parts = _OPTION.split(text.strip())
    letters, texts = parts[1::2], [part.strip().strip(",;") for part in parts[2::2]]
    options = dict(zip((letter.lower() for letter in letters), texts, strict=True))
    if parts[0].strip() or len(options) < 2 or len(options) < len(letters) or not all(texts):
        raise NotBinary(f"Its options are {text!r}. Write them as in (a) Open (b) Closed.")
    return options


def find_option_letter(answer: str, options: Mapping[str, str]) -> str:
    """The letter of the right option, given as (a), as a, or in its own words.

    Raises `NotBinary`.
    """
    plain_answer = answer.strip().strip(".").lower()
    letter = plain_answer.strip("()")
    if letter in options:
        return letter
    matching_letters = [
        letter for letter, option in options.items() if option.lower() == plain_answer
    ]
    if len(matching_letters) != 1:
        raise NotBinary(f"Its answer is {answer!r}, which is none of its options.")
    return matching_letters[0]


def state_option(question: str, options: Sequence[str], stated: str) -> str:
    """A question with options as the question whether it is one of them. Raises `NotBinary`.

    >>> state_option("Is the door open or closed?", ["Open", "Closed"], "Closed")
    'Is the door closed?'
    >>> state_option("What color is the cat?", ["Black", "Red"], "Red")
    'Is the cat red?'
    """
    text = " ".join(question.split())
    if _COUNT.fullmatch(text) and all(
        re.fullmatch(r"\d+|[a-z]+", option.lower()) for option in options
    ):
        return state_count(text, stated.lower())
    colour = _COLOUR.fullmatch(text)
    if colour is not None:
        statement = f"{colour['verb'].lower()} {colour['thing']} {_lower_first(stated)}"
        return _format_question(colour["intro"], statement)
    if len(options) == 2:
        return _replace_options(text, options, stated)
    raise NotBinary("It does not name its options, and is not about a number or a colour.")


def _replace_options(text: str, options: Sequence[str], stated: str) -> str:
    """A question that names two options, "A or B", with one of them."""
    for joint in re.finditer(r",? or ", text):
        before, after = text[: joint.start()], text[joint.end() :]
        for first, second in (tuple(options), tuple(reversed(options))):
            parts = _match_options(before, after, first, second)
            if parts is not None:
                start, named_options, end = parts
                stated_name = named_options[0] if stated == first else named_options[1]
                return f"{text[:start]}{stated_name}{after[end:]}"
    raise NotBinary("It does not name its two options as in open or closed.")


def _match_options(
    before: str, after: str, first: str, second: str
) -> tuple[int, tuple[str, str], int] | None:
    """Find the first option's start, both options as they are named, and the second's end."""
    start = _match_first_option(before, first, after, second)
    if start is None:
        return None
    position, first_name = start
    for skipped in (*_ARTICLES, _find_repeated_words(before[:position], after)):
        length = len(skipped) + len(second)
        if (skipped + second).lower() != after[:length].lower():
            continue
        if skipped in _ARTICLES and skipped and not before[:position].lower().endswith(skipped):
            continue
        if re.match(r"[\w'’]", after[length : length + 1]):
            continue
        is_both = is_adjective(first.lower()) and is_adjective(second.lower())
        if is_both or _TAILS.fullmatch(after[length:].strip(" ?")):
            return position, (first_name, after[len(skipped) : length]), length
    return None


def _match_first_option(before: str, first: str, after: str, second: str) -> tuple[int, str] | None:
    """Find the first option's start and its words: a tail may stand after the second alone."""
    words = first.split()
    for head_length in range(len(words), 0, -1):
        head, tail = " ".join(words[:head_length]), " ".join(words[head_length:])
        position = len(before) - len(head)
        if (
            position < 0
            or before[position:].lower() != head.lower()
            or before[position - 1 : position].strip()
        ):
            continue
        if not tail:
            return position, before[position:]
        if second.lower().endswith(f" {tail.lower()}"):
            shared = after[len(second) - len(tail) : len(second)]
            return position, f"{before[position:]} {shared}"
    return None


def _find_repeated_words(before: str, after: str) -> str:
    """Words that stand before the first option and again before the second, as closer to."""
    words = before.split()
    for number in range(min(4, len(words)), 0, -1):
        words_before = " ".join(words[-number:]) + " "
        if after.lower().startswith(words_before.lower()):
            return words_before
    return ""


def _lower_first(option: str) -> str:
    """An option inside a sentence, but for one in capitals throughout."""
    return option if option.isupper() else option[:1].lower() + option[1:]


def _format_question(intro: str, statement: str) -> str:
    return f"{intro}{statement if intro.strip() else statement[:1].upper() + statement[1:]}?"
