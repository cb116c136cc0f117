"""Names as people write them: Flag of the United States, American flag, U.S.A.

Two names are the same if their letters are, whatever their case, accents and marks, without the
words that only say what kind of thing is named ("flag of the", "19x19", "illusion").
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_KIND = frozenset(
    (
        *("a", "an", "the", "this", "is", "answer", "name"),
        *("country", "national", "flag"),
        *("board", "game", "puzzle", "set", "standard", "initial", "starting", "position"),
        *("optical", "illusion"),
    )
)
BETWEEN_NAMES = re.compile(
    r"[()\[\],;:=/|\n]|\s[-–—]\s|\b(?:or|and|aka|a\.k\.a\.|also|known as|called)(?!\w)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"\d+(?:x\d+)?")
# What stands within a word, not between two: U.S.A., Greece's.
_WITHIN_A_WORD = re.compile(r"['’ʼ]s\b|['’ʼ.]")
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=4096)
def normalize_name(name: str) -> str:
    """The letters by which `name` is compared, in lower case; empty if it has none.

    >>> normalize_name("The Flag of the Cocos (Keeling) Islands")
    'cocos keeling islands'
    >>> normalize_name("Müller–Lyer illusion")
    'muller lyer'
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    words = [
        word
        for word in _WORD.findall(_WITHIN_A_WORD.sub("", bare))
        if word not in _KIND and not _SIZE.fullmatch(word)
    ]
    start = next((index for index, word in enumerate(words) if word != "of"), len(words))
    while len(words) > start and words[-1] == "of":
        words.pop()
    return " ".join(words[start:])


def match_name(phrase: str, accepted: Sequence[str]) -> str | None:
    """The first of `accepted` if `phrase` means one of them, else the name that it is, normalized.

    None where it is no name, or leaves open which is meant: an accepted name beside anything
    else (`Chess or Shogi`, `Samoa (American)`). An accepted name beside another one is the
    same thing said twice (`Xiangqi (Chinese chess)`).

    >>> match_name("Weiqi, also known as Go", ["Go", "Weiqi"])
    'Go'
    >>> match_name("Checkers", ["Go", "Weiqi"])
    'checkers'
    """
    accepted_names = {normalize_name(name) for name in accepted}
    normalized = normalize_name(phrase)
    if normalized in accepted_names:
        return accepted[0]
    parts = {normalize_name(part) for part in BETWEEN_NAMES.split(phrase)} - {""}
    if parts and parts <= accepted_names:
        return accepted[0]
    return None if parts & accepted_names else normalized or None
