"""The review file: what people decided about candidates, read with care.

A CSV with at least the columns image (the sha256), verdict (accept, reject, or empty where nobody
has decided) and reason. It is written by hand or saved from the page that `candidates` writes.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from resources.home import Home

Word = Literal["accept", "reject"]
COLUMNS = ("image", "verdict", "reason")


class BadReview(ValueError):
    """A review file that cannot be followed; the message names file, line and remedy."""


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
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise BadReview(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as CSV with UTF-8, not as a "
            "spreadsheet."
        ) from None
    except OSError as error:
        raise BadReview(
            f"{path} cannot be read ({error.strerror}). Make it a file that you may read."
        ) from None
    verdicts: dict[str, Verdict] = {}
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise BadReview(
                f"{path}, line 1: no column {', '.join(missing)}. The first line has to name "
                f"{', '.join(COLUMNS)}, separated by commas; others may stand beside them."
            )
        for row in reader:
            _take(row, path, reader.line_num, verdicts)
    except csv.Error as error:
        raise BadReview(
            f"{path}, line {reader.line_num}: this is no CSV ({error}). Separate cells by commas, "
            'and put those that hold commas or quotes in "quotes".'
        ) from None
    return verdicts


def _take(
    row: Mapping[str | None, str | None], path: Path, line: int, verdicts: dict[str, Verdict]
) -> None:
    """Add what one line says, if anything, to `verdicts`."""
    if None in row or None in row.values():
        raise BadReview(
            f"{path}, line {line}: it has {'more' if None in row else 'fewer'} cells than line 1 "
            'has names. Put cells that hold commas in "quotes".'
        )
    image, word, reason = ((row[name] or "").strip() for name in COLUMNS)
    if not word:
        return
    if word not in get_args(Word):
        raise BadReview(
            f"{path}, line {line}: the verdict is {word!r}. Write accept or reject, or nothing "
            "where you have not decided."
        )
    if image in verdicts:
        raise BadReview(
            f"{path}, line {line}: the picture {image} has a verdict on line "
            f"{verdicts[image].line} already. Keep one of the two."
        )
    verdicts[image] = Verdict(cast(Word, word), reason, line)
