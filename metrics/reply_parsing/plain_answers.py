"""A judge's answer, read as a person reads it: with or without curly brackets.

Beside the paper's reading, never instead of it. Whatever stands in brackets decides first, by the
rules of `bracketed_answers`; brackets that leave the answer open are no answer in words either. The
rules for words:

- Count: the one number that the reply gives as its answer (`stated_numbers`).
- Yes or no: the reply opens with it (`Yes, this is …`), ends in it alone, or concludes so (`so,
  no`, `the answer is yes`). Both are no answer, nor is one that is taken back at once (`Yes, but`,
  `Yes and no`), stands in quotes or after a condition. "No dog is there" and "Not exactly" say
  neither.
- Name: the reply is the name, or says `this is …`, `the image shows …`, `the answer is …`, without
  doubt or denial.
- Rating: the one number that sentences about a score give, of the scale, or `4/5`, `4 out of 5`;
  a boxed one (LaTeX) before any other. A score on a condition is none (`if it were sharp, 5`).
- Preference: the picture that is called better, preferred or chosen, or a tie.

Several answers, doubt about a number, a refusal and other languages are no answer. `VERSION`
changes with every change of what is read.
"""

import re
from collections.abc import Sequence

from metrics.reply_parsing.bracketed_answers import (
    ParsedAnswer,
    has_brackets,
    read_count,
    read_name,
    read_yes_no,
)
from metrics.reply_parsing.plain_text import split_english_sentences, split_sentences
from metrics.reply_parsing.stated_numbers import find_stated_number
from metrics.reply_parsing.written_names import match_name, normalize_name

VERSION = "1"


def read_plain_count(response: str) -> ParsedAnswer:
    """The whole number that `response` gives in curly brackets or in words.

    >>> read_plain_count("There are five stripes, not 4.").answer
    '5'
    """
    parsed = read_count(response)
    if parsed.outcome != "unparsed" or has_brackets(response):
        return parsed
    number = find_stated_number(split_english_sentences(response))
    return parsed if number is None else ParsedAnswer(str(number), "answered")


_YES_NO = {"yes": "Yes", "no": "No"}
_OPENING = re.compile(
    r"^\W*(?:(?:hmm|well|ok|okay|sure|definitely|certainly|clearly|absolutely|i would say|i'd say"
    r"|(?:(?:the|my) )?(?:final )?answer(?: is| must be)?)\b[\s,:]*)*(?P<answer>yes|no)\b"
    r"(?=\s*(?:$|[^\w\s/'&]|\n|(?P=answer)\b|(?:it|this|that|these|those|they|there|he|she|i|we)\b))"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CONCLUDED = re.compile(
    r"(?:\b(?:so|therefore|thus|hence),? |\banswer (?:is|must be|would be):? )(yes|no)\b"
    r"(?=\W*$|[,.;:!])",
    re.IGNORECASE,
)
_AT_ITS_END = re.compile(r"^(?!.*\b(?:if|would|maybe|perhaps|some)\b).*,\s(yes|no)[.!]*$", re.I)
_TAKEN_BACK = re.compile(
    r"[\s,.;:–—-]*(?:but|almost|nearly|except|or|maybe|perhaps|wait|(?:sort|kind) of"
    r"|and (?:no|yes))\b",
    re.IGNORECASE,
)

_NOT_QUITE = re.compile(r"[\s,.;:–—-]*not (?:exactly|quite|entirely)\b", re.IGNORECASE)


def read_plain_yes_no(response: str) -> ParsedAnswer:
    """The Yes or No that `response` gives in curly brackets or in words.

    >>> read_plain_yes_no("No, there is none.").answer
    'No'
    """
    parsed = read_yes_no(response)
    if parsed.outcome != "unparsed" or has_brackets(response):
        return parsed
    sentences = split_english_sentences(response)
    answers = {answer for answer in map(_find_yes_no, sentences[:1]) if answer}
    answers |= {match[1].lower() for text in sentences for match in _CONCLUDED.finditer(text)}
    answers |= {text.lower().strip(" .!\"'") for text in sentences} & set(_YES_NO)
    answers |= {match[1].lower() for match in map(_AT_ITS_END.match, sentences[-1:]) if match}
    if len(answers) != 1:
        return parsed
    answer = answers.pop()
    if _is_opposed(sentences, answer):
        return parsed
    return ParsedAnswer(_YES_NO[answer], "answered")


def _find_yes_no(sentence: str) -> str | None:
    """The answer that the reply's first sentence opens with and does not take back."""
    match = _OPENING.match(sentence)
    if match is None or _TAKEN_BACK.match(match["rest"]):
        return None
    answer = match["answer"].lower()
    return None if answer == "yes" and _NOT_QUITE.match(match["rest"]) else answer


def _is_opposed(sentences: Sequence[str], answer: str) -> bool:
    """Whether another clause ends in the other answer, or the reply takes its own back."""
    other = "no" if answer == "yes" else "yes"
    clauses = (clause for text in sentences for clause in re.split(r"[^\w\s'\"]+", text.lower()))
    return any(re.search(rf"(?<![\"'])\b{other}\s*$", clause) for clause in clauses)


_NAMED = re.compile(
    r"^(?:yes, )?(?:(?:this|it|that|the (?:flag|(?:board )?game|animal|(?:optical )?illusion|board"
    r"|picture|image))(?: shown| depicted)?(?: (?:in|on) (?:the|this) (?:image|picture|photo))?"
    r"(?: image| picture)?(?:'s| is| appears to be| shows| depicts| belongs to)"
    r"|(?:the |my )?(?:final )?answer(?: is|:))\s+(?P<name>.+)$",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:not|similar|like|looks|but|maybe|perhaps|possibly|cannot|can't|unsure|unknown|i|you|will"
    r"|has|have|are|sorry|could|might)\b|n't",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    r"[;:]|\.\s|,? (?:which|that)\b|, (?=(?:an?|the|also|played|known|from|with)\b)"
)
_LONGEST_NAME = 6
"""Most words of a reply that is nothing but a name."""


def read_plain_name(response: str, accepted: Sequence[str]) -> ParsedAnswer:
    """The name that `response` gives in curly brackets or in words, as `read_name` gives it.

    >>> read_plain_name("Yes, this is the flag of Honduras.", ["Flag of Honduras"]).answer
    'Flag of Honduras'
    """
    parsed = read_name(response, accepted)
    if parsed.outcome != "unparsed" or has_brackets(response):
        return parsed
    sentences = split_sentences(response)
    phrases = [match["name"] for match in map(_NAMED.match, sentences) if match]
    if not phrases and len(sentences) == 1 and len(sentences[0].split()) <= _LONGEST_NAME:
        phrases = sentences
    if any(map(_DOUBTS.search, sentences)) or any(
        "?" in line for line in response.splitlines()[-1:]
    ):
        phrases = [phrase for phrase in phrases if not _DOUBTS.search(response)]
    names = {_read_phrase(phrase, accepted) for phrase in phrases} - {None}
    answer = names.pop() if len(names) == 1 else None
    return parsed if answer is None else ParsedAnswer(answer, "answered")


def _read_phrase(phrase: str, accepted: Sequence[str]) -> str | None:
    """The name that a phrase is; None where it holds an accepted one beside other words."""
    for text in (phrase, _EXPLAINED.split(phrase)[0]):
        name = match_name(text, accepted)
        if name == accepted[0]:
            return name
    words = set(normalize_name(phrase).split())
    if name is None or any(set(normalize_name(other).split()) <= words for other in accepted):
        return None
    return name if len(name.split()) < _LONGEST_NAME else None
