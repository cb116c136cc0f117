"""The counterfactuals: each base image edited, several times independently (Appendix C.2)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dagster import AssetKey
from pydantic import Field

from assets.kit.choice import NoSuchModel, chosen
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.flaws import asked_sides, wrong_size
from assets.kit.limits import Limited
from assets.kit.pictures import PICTURED, calls_of, pictured, sheet
from assets.kit.step import PENDING, SOME_PICTURE, Conversation, Input, Row, Work
from assets.vlmbias.common import GROUP, painter_and_topic
from assets.vlmbias.photographs.base_images import SUBJECTS_OF_TOPIC, PhotographStep, part_painted
from assets.vlmbias.photographs.paintings import PAINTINGS, Paintings
from generators.photographs import Photograph
from resources.models.catalog import Model
from resources.models.requests import Edit

EDITS = Columns(
    domain=(TEXT, "Topic"),
    painter=(TEXT, "Who painted what was edited, as models.yaml names it"),
    editor=(TEXT, "Who edited it, as models.yaml names it"),
    base_id=(TEXT, "The base image, without its painter"),
    subject=(TEXT, "What is shown"),
    subtopic=(TEXT, "Column of the paper's Tables 3 and 9"),
    trial=(WHOLE, "Which of the independent edits it is, from 0"),
    prompt=(TEXT, "What the editor was asked for (Appendix M)"),
    sources=(TEXTS, "sha256 of the pictures that were edited, in their order"),
    outcome=(
        TEXT,
        "edited, dropped (unchanged, of another size), refused, malformed, failed or unpainted",
    ),
    **PICTURED,
)

_TOLERANCE = 0.02


class Editor(Limited):
    """Who edits, and how often; a limit is on base images."""

    editor: str | None = Field(
        default=None,
        description="A model of models.yaml with the role editor; by default the painter itself.",
    )
    trials: int = Field(
        default=4, ge=1, le=64, description="Independent edits of each base image; the paper has 4."
    )


class Edits(PhotographStep[Editor]):
    """Independent edits of each base image that is painted; one that is not has a single row."""

    name, columns, config = "edits", EDITS, Editor
    description = "Independent edits of every base image that its painter has painted."
    inputs: Mapping[str, Input] = {
        **SUBJECTS_OF_TOPIC,
        "paintings": Input(AssetKey([GROUP, "paintings"]), read_by=PAINTINGS, by_default=True),
    }
    asks = Edit("", ())
    done, named_by = "edited", ("base_id", "trial")

    def model(self, partition: str, config: Editor) -> Model:
        """Who edits what a painter painted."""
        painter, _ = painter_and_topic(partition)
        try:
            return chosen(self.catalog, config.editor or painter, "editor")
        except NoSuchModel as why:
            if config.editor is not None:
                raise
            raise NoSuchModel(f"{why} Name one in the run config: editor.") from None

    def there(self, work: Work[Editor]) -> list[Photograph]:
        """The base images that paintings are about."""
        return part_painted(self.every(work), work.rows("paintings"))

    def wanted(self, work: Work[Editor], rows: Sequence[Row]) -> Iterator[tuple[str, int]]:
        """As many trials as there are to be, and one row of what is not painted."""
        painted = {
            row["prompt"] for row in work.rows("paintings") if row["outcome"] == Paintings.done
        }
        for photograph in self.part(work):
            ready = all(painting.prompt in painted for painting in photograph.paintings)
            for trial in range(work.config.trials if ready else 1):
                yield photograph.base_id, trial

    def rows(self, work: Work[Editor]) -> list[dict[str, Any]]:
        """A row for each trial; pending where no painting of today's base image is there."""
        painted = {row["prompt"]: row for row in work.rows("paintings")}
        return [row for each in self.part(work) for row in self._trials(work, each, painted)]

    def _trials(
        self, work: Work[Editor], photograph: Photograph, painted: Mapping[str, Row]
    ) -> Iterator[dict[str, Any]]:
        painter, topic = painter_and_topic(work.partition)
        editor = self.model(work.partition, work.config)
        sources = [painted.get(each.prompt, _NOT_THERE) for each in photograph.paintings]
        row = {
            "domain": topic,
            "painter": painter,
            "editor": editor.name,
            "base_id": photograph.base_id,
            "subject": photograph.subject,
            "subtopic": photograph.subtopic,
            "trial": 0,
            "prompt": photograph.edit,
            "sources": [source["sha256"] for source in sources if source["sha256"]],
            **dict.fromkeys(PICTURED),
            "rehearsal": editor.rehearses or any(source["rehearsal"] for source in sources),
            "calls": calls_of(sources),
            "photograph": photograph,
            "paintings": sources,
        }
        for source in sources:
            if source["outcome"] not in (Paintings.done, PENDING):
                why = f"Its {source['shows']} is {source['outcome']}: {source['reason']}"
                yield row | {"outcome": "unpainted", "reason": why}
                return
        if any(each["outcome"] == PENDING for each in sources):
            row |= {"outcome": PENDING, "sources": [SOME_PICTURE] * len(sources)}
        for trial in range(work.config.trials):
            yield row | {"trial": trial}

    def outdated(self, row: Row) -> str:
        """The painting that lacks."""
        paintings = zip(row["photograph"].paintings, row["paintings"], strict=True)
        lacks, *_ = (each.shows for each, source in paintings if source["outcome"] == PENDING)
        return (
            f"vlmbias/paintings holds no picture of {lacks} for {row['base_id']}: its "
            "subjects have changed since. Materialize the paintings of this painter and topic "
            "again: only what is new is painted."
        )

    def converse(self, work: Work[Editor], row: Row) -> Conversation:
        """Have what is painted edited."""
        if row.get("outcome") == "unpainted":
            return {}
        outcome, calls = yield Edit(row["prompt"], tuple(row["sources"]), sample=row["trial"])
        ended = pictured(outcome, self.done, work.images)
        if ended["outcome"] == self.done:
            size = ended["width"], ended["height"]
            parameters = self.model(work.partition, work.config).parameters
            why = _wrong_size(size, parameters, row["paintings"])
            # Its label would be that of the edit, and a verdict on it would be one on the original.
            if ended["sha256"] in row["sources"]:
                why = "It is what was to be edited, unchanged."
            if why is not None:
                ended |= {"outcome": "dropped", "reason": why}
        return {**ended, "calls": [*row["calls"], *calls]}

    def at_most(self, work: Work[Editor], rows: Sequence[Row]) -> Iterator[Edit]:
        """The edits of what failed to be painted, and may be when it is tried again."""
        for row in rows:
            if any(source["outcome"] == "failed" for source in row["paintings"]):
                for trial in range(work.config.trials):
                    pictures = (SOME_PICTURE,) * len(row["paintings"])
                    yield Edit(row["prompt"], pictures, sample=trial)

    def metadata(self, work: Work[Editor], rows: Sequence[Row]) -> dict[str, Any]:
        """Some of the pictures."""
        caption = "{subject}, trial {trial}".format_map
        return {"trials": len(rows), "contact_sheet": sheet(rows, caption, work.images)}


_NOT_THERE: Row = {"outcome": PENDING, "sha256": None, "rehearsal": False, "calls": []}


def _wrong_size(
    size: tuple[int, int], parameters: Mapping[str, Any], sources: Sequence[Row]
) -> str | None:
    """What is wrong with the size of an edited picture, if anything."""
    width, height = size
    if wrong := wrong_size(width, height, parameters):
        return wrong
    if len(sources) == 1 and not asked_sides(parameters):
        before = sources[0]["width"], sources[0]["height"]
        ratio = (width / height) / (before[0] / before[1])
        if abs(ratio - 1) > _TOLERANCE:
            return (
                f"It is {width} × {height} px, which is another shape than the "
                f"{before[0]} × {before[1]} px of what was edited."
            )
    return None
