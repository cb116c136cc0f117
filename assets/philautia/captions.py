"""Captions: what one model says that each picture shows."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from assets.kit.columns import BOOLEAN, TEXT, TEXTS, Columns
from assets.kit.judging import JudgeStep, reply_columns
from assets.kit.limits import Limited, Placed, first_of
from assets.kit.previews import evenly, markdown_table
from assets.kit.step import PENDING, Conversation, Extent, Input, Row, Work
from assets.philautia.common import GROUP, datasets, key, twins
from assets.philautia.pictures import PICTURES
from assets.philautia.references import CAPTIONERS
from generators.prompts.captioning import CAPTION, caption_prompt
from metrics.replies import declines, without_thinking
from resources.models.catalog import Catalog, Model
from resources.models.requests import Look, Turn

CAPTIONS = Columns(
    image_id=(TEXT, "The picture, as philautia/pictures names it"),
    dataset=(TEXT, "The dataset"),
    sha256=(TEXT, "Name of the picture in the image store"),
    model=(TEXT, "Who described it, as models.yaml names it"),
    model_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompt_version=(TEXT, "Of what was asked"),
    caption=(TEXT, "The caption; empty where there is none"),
    outcome=(TEXT, "captioned, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "What the model said in all, where that is no caption"),
    reason=(TEXT, "Why there is no caption; else empty"),
    served_model=(TEXT, "Which model said it, as the provider says; empty where it does not"),
    rehearsal=(BOOLEAN, "Whether something offline had a part in it, so that it is no result"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a reference model"),
)
"""One row a picture."""

CAPTIONED = "captioned"
_SHOWN = 8


class Captions(JudgeStep[Limited]):
    """What one model says that the pictures of a dataset show; a limit is on pictures."""

    group, columns, config, named = GROUP, CAPTIONS, Limited, "captions"
    told, divided_by = "What {judge} says that each picture shows.", staticmethod(datasets)
    references, asks, named_by = CAPTIONERS, Look(()), ("image_id",)
    present = MappingProxyType(
        {CAPTIONED: ("caption",), **dict.fromkeys(("unparsed", "refused", "failed"), ())}
    )
    inputs = MappingProxyType(
        {"pictures": Input(key("pictures"), read_by=PICTURES, by_default=True)}
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.kinds = ("captioner", judge.backend)

    def rows(self, work: Work[Limited]) -> list[dict[str, Any]]:
        """The pictures, or the first of a limit."""
        return [
            {
                **{name: row[name] for name in ("image_id", "dataset", "sha256", "references")},
                "model": self.judge.name,
                "model_version": self.code_version,
                "prompt_version": CAPTION.version,
                "outcome": PENDING if row["outcome"] == PENDING else None,
                "rehearsal": row["rehearsal"] or self.judge.rehearses,
                "calls": [],
            }
            for row in first_pictures(work.rows("pictures"), work.config.limit)
        ]

    def query(self, work: Work[Limited], row: Row) -> Conversation:
        """Ask what the picture shows."""
        return reply_columns((yield Look((Turn("user", caption_prompt(), (row["sha256"],)),))))

    def finish(self, work: Work[Limited], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Read the captions."""
        return [row | read(row) if row["outcome"] == "answered" else row for row in rows]

    def extent(self, work: Work[Limited], rows: Sequence[Row]) -> Extent:
        """Of all pictures."""
        return Extent(len(rows), len(work.tables["pictures"]), "pictures")

    def metadata(self, work: Work[Limited], rows: Sequence[Row]) -> dict[str, Any]:
        """Some of the captions."""
        there = [row for row in rows if row["outcome"] == CAPTIONED]
        shown = CAPTIONS.table(evenly(there, _SHOWN)).to_pandas()[["image_id", "caption"]]
        return {"captions": markdown_table(shown)}

    def warning(self, partition: str, config: Limited) -> str | None:
        """That it is the same model as another entry."""
        return twin_warning(self.judge.name, twins(self.catalog.with_role("captioner")))


def twin_warning(name: str, found: dict[str, str]) -> str | None:
    """What runs and quotes say of a model that an earlier entry names as well."""
    if name not in found:
        return None
    return (
        f"{name} is the same model as {found[name]}, asked otherwise: it is left out of "
        "philautia/preference_matrix and philautia/pomms, where it would be a stranger to itself."
    )


def first_pictures(pictures: Sequence[dict[str, Any]], limit: int | None) -> list[dict[str, Any]]:
    """The first pictures of a limit, the same for every model."""
    return first_of(pictures, limit, lambda row: Placed(row["image_id"], ()))


def read(row: Row) -> dict[str, Any]:
    """The columns of a reply: `caption`, `outcome`, `refusal`, `response`, `reason`."""
    said = without_thinking(row["response"] or "").strip()
    if said and not declines(said):
        return {"caption": said, "outcome": CAPTIONED, "response": None}
    if said:
        return {"outcome": "refused", "refusal": "model", "reason": "It declines in words."}
    return {"outcome": "unparsed", "reason": "It holds no words after its thinking."}
