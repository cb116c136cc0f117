"""Sentences of a reply in plain words, for readings without curly brackets.

- A reply begins after its thinking. Markdown, LaTeX and full-width signs are seen through.
- A question is not part of it, nor is a sentence about curly brackets: both repeat the prompt.
- A reply that goes on for 20,000 characters is no plain answer, and has none.
- Marks of a numbered list that begins with 1 count nothing.
- Rules for numbers and for yes and no are for English: a reply with words of another language, and
  none of its own, has no English sentences.
"""

import re
from collections.abc import Iterator

from metrics.reply_parsing.bracketed_answers import strip_typesetting

_LONGEST_REPLY = 20_000
"""Most characters of a reply, after its thinking, that is read."""
_MARKDOWN = re.compile(r"[*_`#>$]+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_BULLET = re.compile(r"^[ \t]*[-•][ \t]+", re.MULTILINE)
_LIST_NUMBER = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+(?=\S)", re.MULTILINE)
_FIRST_OF_LIST = re.compile(r"^[ \t]*1[.)][ \t]+\S", re.MULTILINE)
_SENTENCE = re.compile(r"[^\n]+?(?:(?<!\be\.g)(?<!\bi\.e)[.!?]+(?=[\"')\]]*\s|[\"')\]]*$)|\n|$)")
_ENGLISH = frozenset(
    (
        *("a", "all", "am", "an", "and", "answer", "are", "as", "at", "be", "both", "but", "by"),
        *("can", "do", "does", "for", "from", "has", "have", "here", "i", "image", "in", "is"),
        *("it", "its", "not", "of", "on", "one", "or", "picture", "so", "that", "the", "there"),
        *("therefore", "these", "they", "this", "to", "total", "was", "which", "with", "yes"),
        "you",
    )
)
_FOREIGN = frozenset(
    (
        *("auf", "ci", "das", "dem", "der", "des", "du", "ein", "eine", "el", "en", "es", "est"),
        *("et", "gibt", "hay", "het", "ist", "kein", "la", "las", "le", "les", "los", "nicht"),
        *("não", "oui", "para", "pas", "por", "que", "sind", "son", "sono", "sont", "são", "sí"),
        *("tem", "tiene", "un", "una", "und", "une"),
    )
)


def split_sentences(response: str) -> list[str]:
    """The reply's statements, each on its own, in plain words; lines end a sentence too.

    >>> split_sentences("How many? **5** stripes. One is red.")
    ['5 stripes.', 'One is red.']
    """
    text = _MARKDOWN.sub("", strip_typesetting(response).translate(_QUOTES))
    if len(text) > _LONGEST_REPLY:
        return []
    text = _BULLET.sub("", text)
    if _FIRST_OF_LIST.search(text):
        text = _LIST_NUMBER.sub("", text)
    return [*_iterate_statements(text)]


def split_english_sentences(response: str) -> list[str]:
    """The same; none of a reply in another language."""
    sentences = split_sentences(response)
    return [] if _is_foreign(" ".join(sentences)) else sentences


def _iterate_statements(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        if sentence and not sentence.endswith("?") and "curly brackets" not in sentence.lower():
            yield sentence


def _is_foreign(text: str) -> bool:
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    has_other_letters = any(letter.isalpha() and ord(letter) > 0x24F for letter in text)
    return (has_other_letters or not _FOREIGN.isdisjoint(words)) and _ENGLISH.isdisjoint(words)
