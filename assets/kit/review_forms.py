"""Forms by which people review: what they decide on, and the answers that they choose from.

An asset declares its form once. The sheets, the page in a file, the project for Label Studio and
the page of `counterfactory review` are made from it. What that page shows lies in a JSON file of
each part of an asset, below `reviews/.forms`, so that it opens without loading the assets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from upath import UPath

from resources.storage.atomic_writes import write_atomically
from resources.storage.files import list_files, read_file
from resources.user_files.rows import UserFileError

if TYPE_CHECKING:
    from resources.storage.data_root import DataRoot

IMAGE, VERDICT, REASON, ANNOTATOR = "image", "verdict", "reason", "annotator"
SCORE = "score"
ACCEPT, REJECT = WORDS = ("accept", "reject")
_FOLDER = ".forms"


@dataclass(frozen=True, kw_only=True)
class ReviewForm:
    """Task for people, and the answers that they choose from, each by its first letter or digit."""

    asset: str
    """The asset that reads the answers, as in "vlmbias/candidates"."""
    task: str
    """Task in one line."""
    choices: Mapping[str, str]
    """Meaning of each answer in words."""
    guidelines: str = ""
    next_step: str = "Materialize the asset again: it reads the answers."
    """Sentence on what to do once all is decided."""
    reasons: Sequence[str] = ()
    """Usual reasons for a rejection, at most 9: each is chosen by its number."""
    subject_column: str = IMAGE
    """Column that names what is reviewed."""
    answer_column: str = VERDICT
    is_shared: bool = False
    """True if one file holds one answer for each item, whoever gives it; else one a person."""

    def list_columns(self, cells: Sequence[str]) -> list[str]:
        """List the columns of a new file of answers whose items have these further cells."""
        if self.answer_column == SCORE:
            return [self.subject_column, *cells, SCORE, ANNOTATOR]
        names = [ANNOTATOR] if self.is_shared else []
        return [self.subject_column, VERDICT, REASON, *names, *cells]


@dataclass(frozen=True, kw_only=True)
class ReviewItem:
    """A picture, or a text, as people review it."""

    name: str
    """Its name in the file of answers: of a picture, the sha256."""
    cells: Mapping[str, Any] = field(default_factory=dict)
    """Its further cells in the file."""
    title: str = ""
    sentence: str = ""
    """Sentence that people decide on."""
    lines: Sequence[tuple[str, str]] = ()
    """Texts that people compare, each with its label."""
    pictures: Sequence[tuple[str, str]] = ()
    """Pictures by sha256, each with its caption, the reviewed one first."""
    notes: Sequence[str] = ()
    check: str = ""
    """Answer that a model's check amounts to; empty: none. People see it once they decided."""
    check_notes: Sequence[str] = ()
    """Sentences on the check, which people see once they decided."""
    is_last: bool = False
    """True if it comes after all others, such as a stand-in's picture."""


@dataclass(frozen=True, kw_only=True)
class ReviewPart:
    """The items of one part of an asset, such as a topic, and where their answers are."""

    form: ReviewForm
    name: str
    title: str
    answers: str
    """Below `reviews`: the CSV that all share, or the folder with a CSV of each annotator."""
    columns: Sequence[str]
    """Columns of a new file of answers."""
    items: Sequence[ReviewItem]


def write_part(
    home: "DataRoot",
    form: ReviewForm,
    name: str,
    *,
    title: str,
    answers: UPath,
    items: Sequence[ReviewItem],
) -> None:
    """Store what `counterfactory review` shows of a part of an asset.

    `answers` is the CSV that all share, or the folder with a CSV of each annotator.
    """
    reviews = home.path("reviews")
    cells = [*(items[0].cells if items else ())]
    part = ReviewPart(
        form=form,
        name=name,
        title=title,
        answers=answers.relative_to(reviews).as_posix(),
        columns=form.list_columns(cells),
        items=items,
    )
    path = find_forms_folder(reviews, form.asset).joinpath(*f"{name}.json".split("/"))
    write_atomically(path, _build_adapter().dump_json(part))


def find_forms_folder(reviews: UPath, asset: str) -> UPath:
    """Return the folder with the parts of an asset."""
    return reviews.joinpath(_FOLDER, *asset.split("/"))


def list_parts(reviews: UPath, asset: str) -> dict[str, UPath]:
    """Map the parts of an asset to their files; empty if it was not materialized."""
    folder = find_forms_folder(reviews, asset)
    return {
        path.with_suffix("").relative_to(folder).as_posix(): path for path in list_files(folder)
    }


def read_part(path: UPath) -> ReviewPart:
    """Read a part; raises `UserFileError` for a damaged file, FileNotFoundError without one."""
    try:
        return _build_adapter().validate_json(read_file(path))
    except ValidationError:
        asset = path.relative_to(next(p for p in path.parents if p.name == _FOLDER)).parts[:2]
        raise UserFileError(
            f"{path}: cannot be read. Materialize {'/'.join(asset)} again, which writes it anew."
        ) from None


@cache
def _build_adapter() -> TypeAdapter[ReviewPart]:
    return TypeAdapter(ReviewPart)
