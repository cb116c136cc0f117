"""An entry of collections.yaml, with the checks of its fields."""

import codecs
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from resources.models.entry import AssetName
from resources.spdx_licences import LicenceName

Name = Annotated[str, Field(min_length=1)]
Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(strict=False),
]
"""A column, or a list of several that each hold a part."""
_FIELD = re.compile(r"\{([^{}]+)\}")


class ColumnNames(BaseModel):
    """Names of a table's columns. Each but the image may be left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    image: Name = "image"
    """A file, or the picture itself; also a pattern of other columns, as in `{Index}.jpg`."""
    name: Name | None = None
    """Name of the row; by default its key in JSON, or its number."""
    text: Name | None = None
    """Text that describes the picture: an instruction or a caption."""
    references: Names = ()
    """Captions that are known to be right."""
    human_score: Names = ()
    """Human scores: a number, a list of numbers, or a column for each person."""
    question: Name | None = None
    answer: Name | None = None
    options: Name | None = None
    """Options of an answer such as (a), as in `(a) Open (b) Closed`."""
    domain: Name | None = None
    responses: tuple[Name, Name] | None = Field(default=None, strict=False)
    """Two responses to the question, of which people prefer one."""
    preferred: Name | None = None
    """The response that people prefer: its column's name, or A or B by its place."""

    @field_validator("preferred")
    @classmethod
    def _require_pair(cls, preferred: str | None, columns: ValidationInfo) -> str | None:
        if preferred and not columns.data.get("responses"):
            raise ValueError("has no effect without `responses`, two columns: add them")
        return preferred

    @property
    def image_columns(self) -> tuple[str, ...]:
        """The columns that say where a picture is."""
        return tuple(_FIELD.findall(self.image)) or (self.image,)

    def build_image(self, cells: Mapping[str, Any], text_of: Callable[[str], str]) -> Any:
        """Return a row's picture; `text_of` gives the text of a column that a pattern names."""
        if not _FIELD.search(self.image):
            return cells[self.image]
        return _FIELD.sub(lambda field: text_of(field[1]), self.image)

    @property
    def used(self) -> tuple[str, ...]:
        """Names of all columns read, each once."""
        single = (self.name, self.text, self.question, self.answer, self.options, self.domain)
        named = (*self.image_columns, *filter(None, single), *self.references, *self.human_score)
        return tuple(dict.fromkeys(named))


LAYOUT_COLUMNS: Mapping[str, ColumnNames] = {
    "mmrb2": ColumnNames(
        image="picture",
        question="prompt",
        domain="prompt_source",
        responses=("response_a", "response_b"),
        preferred="chosen",
    ),
    "cdh_bench": ColumnNames(image="picture", question="question", domain="category"),
    "mm_judge_bias": ColumnNames(image="picture", question="picture_id", domain="bias_type"),
}
"""Columns of the rows that `layouts` makes of a published file, one a picture."""


class Collection(BaseModel):
    """An entry of collections.yaml. A field's description says what to write if it is missing."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: AssetName = Field(description="letters, digits and _, as assets show the collection")
    path: str = Field(min_length=1, description="the table, or the folder with it or the pictures")
    images: str | None = Field(default=None, min_length=1)
    """The folder that files are named from; by default the table's."""
    may_leave_folder: bool = False
    """Whether files and links may lead out of the folder that they are named from."""
    layout: Literal["cdh_bench", "mm_judge_bias", "mmrb2"] | None = None
    """A published layout whose records have several pictures; it names its columns itself."""
    columns: ColumnNames = Field(default=ColumnNames(), validate_default=True)
    heads: tuple[Name, ...] = Field(default=(), strict=False)
    """The columns of a .csv, .tsv or .txt (tabs) whose first line does not name them."""
    captions: str | None = Field(default=None, min_length=1)
    """A file of captions by name: `text` is then such a name, and references are the picture's."""
    scale: tuple[float, float] | None = Field(default=None, validate_default=True, strict=False)
    """The least and the greatest score that people could give."""
    encoding: str = "utf-8"
    """Encoding of a text table."""
    licence: LicenceName | None = None
    """Licence of the pictures, by its SPDX name where it has one; a release states it."""

    @property
    def folder(self) -> Path:
        """The folder that files are named from."""
        path = Path(self.path)
        return Path(self.images) if self.images else path if path.is_dir() else path.parent

    @field_validator("path", "images", "captions")
    @classmethod
    def _require_local_path(cls, path: str | None) -> str | None:
        if path is not None and "://" in path:
            raise ValueError("is an address: download what is there, and name the folder")
        return path

    @field_validator("columns")
    @classmethod
    def _name_layout_columns(cls, columns: ColumnNames, entry: ValidationInfo) -> ColumnNames:
        layout = entry.data.get("layout")
        if layout and columns != ColumnNames():
            raise ValueError(f"have no effect with `layout: {layout}`: remove one of the two")
        return LAYOUT_COLUMNS[layout] if layout else columns

    @field_validator("heads")
    @classmethod
    def _require_text_table(cls, heads: tuple[str, ...], entry: ValidationInfo) -> tuple[str, ...]:
        if heads and not str(entry.data.get("path")).lower().endswith((".csv", ".tsv", ".txt")):
            raise ValueError("are for a .csv, .tsv or .txt: remove them")
        return heads

    @field_validator("captions")
    @classmethod
    def _require_caption_columns(cls, captions: str | None, entry: ValidationInfo) -> str | None:
        columns = entry.data.get("columns")
        if captions and isinstance(columns, ColumnNames):
            if not columns.text:
                raise ValueError("has no effect without `text` among `columns`: add it")
            if columns.references:
                raise ValueError("has the references: remove those among `columns`")
        return captions

    @field_validator("scale")
    @classmethod
    def _require_score_scale(
        cls, scale: tuple[float, float] | None, entry: ValidationInfo
    ) -> tuple[float, float] | None:
        columns = entry.data.get("columns")
        scored = isinstance(columns, ColumnNames) and bool(columns.human_score)
        if scale is None and scored:
            raise ValueError("is missing: the least and the greatest human score, as in [1, 5]")
        if scale is not None and columns is not None and not scored:
            raise ValueError("has no effect without `human_score` among `columns`: remove it")
        if scale is not None and not (math.isfinite(sum(scale)) and scale[0] < scale[1]):
            raise ValueError("has to be the least and then the greatest score, as in [1, 5]")
        return scale

    @field_validator("encoding")
    @classmethod
    def _require_known_encoding(cls, encoding: str) -> str:
        try:
            "".encode(encoding)
            return codecs.lookup(encoding).name
        except (LookupError, UnicodeError):
            raise ValueError(
                f"is {encoding!r}, which is no encoding: write one as latin-1"
            ) from None
