"""The review file: what people decided about candidates, read with care.

A CSV with at least the columns image (the sha256), verdict (accept, reject, or empty where nobody
has decided) and reason. It is written by hand or saved from the page that `candidates` writes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from assets.kit.sheets import BadReview, Line, lines_of
from resources.home import Home

__all__ = ["COLUMNS", "BadReview", "Verdict", "Verdicts", "Word", "read_verdicts", "review_file"]

Word = Literal["accept", "reject"]
COLUMNS = ("image", "verdict", "reason")


class Verdict(NamedTuple):
    """What a person decided about a picture."""

    word: Word
    reason: str
    line: int
    """Where it stands in the file."""


Verdicts: TypeAlias = Mapping[str, Verdict]
"""By sha256; pictures on which nobody has decided are not in it."""


def review_file(home: Home, topic: str) -> Path:
    """Where the verdicts on a topic's pictures are read from."""
    return Path(home.root) / "reviews" / f"{topic}.csv"


def read_verdicts(path: Path) -> Verdicts:
    """The verdicts in a file, none where it is not there. Raises `BadReview`."""
    verdicts: dict[str, Verdict] = {}
    try:
        lines = lines_of(path, COLUMNS)
    except FileNotFoundError:
        return verdicts
    for line in lines:
        _take(line, path, verdicts)
    return verdicts


def _take(line: Line, path: Path, verdicts: dict[str, Verdict]) -> None:
    """Add what one line says, if anything, to `verdicts`."""
    image, word, reason = (line.cells[name] for name in COLUMNS)
    if not word:
        return
    if word not in get_args(Word):
        raise BadReview(
            f"{path}, line {line.number}: the verdict is {word!r}. Write accept or reject, or "
            "nothing where you have not decided."
        )
    if image in verdicts:
        raise BadReview(
            f"{path}, line {line.number}: the picture {image} has a verdict on line "
            f"{verdicts[image].line} already. Keep one of the two."
        )
    verdicts[image] = Verdict(cast(Word, word), reason, line.number)
