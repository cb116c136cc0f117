"""A file of captions by name, as Flickr8k.token.txt: `photo.jpg#0`, a tab, the caption."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resources.user_files.rows import BadRow, TableFormat, UserFileError
from resources.user_files.text_rows import read_lines


@dataclass(frozen=True)
class Captions:
    """The captions of a file, by name and by the picture that they are of."""

    path: Path
    by_name: Mapping[str, str] = field(default_factory=dict)
    by_picture: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def find(self, name: str) -> str:
        """The caption of a name, as in photo.jpg#0. Raises `BadRow`."""
        if name not in self.by_name:
            raise BadRow(f"its caption is {name!r}, which {self.path} does not have")
        return self.by_name[name]

    def find_captions(self, picture: str | None) -> Sequence[str]:
        """The captions of a picture, by the name of its file; none where the file has none."""
        return self.by_picture.get(picture or "", ())


def read_captions(path: Path, encoding: str = "utf-8") -> Captions:
    """The captions in a file. Raises `UserFileError` for a line that is none."""
    by_name: dict[str, str] = {}
    by_picture: dict[str, list[str]] = {}
    remedy = "Correct `captions` in collections.yaml."
    for number, line in read_lines(path, TableFormat(encoding=encoding, remedy=remedy)):
        name, tab, text = line.partition("\t")
        picture, mark, _ = name.strip().rpartition("#")
        if not (tab and mark and text.strip()):
            raise UserFileError(
                f"{path}, line {number:,}: it is no caption. Write a name as in photo.jpg#0, a "
                "tab, and the caption."
            )
        if name.strip() in by_name:
            raise UserFileError(
                f"{path}, line {number:,}: {name.strip()!r} is listed twice. Remove one."
            )
        by_name[name.strip()] = text.strip()
        by_picture.setdefault(picture, []).append(text.strip())
    return Captions(path, by_name, by_picture)
