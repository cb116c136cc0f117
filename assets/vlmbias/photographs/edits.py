"""The counterfactuals: each base image edited, several times independently (Appendix C.2)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.flaws import describe_wrong_size, find_requested_sides
from assets.kit.forecast import PENDING, PLACEHOLDER_SHA256, Forecast
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import NoSuchModel, find_model
from assets.kit.pictures import PICTURE_COLUMNS, picture_columns, sample_contact_sheet, unique_calls
from assets.kit.step import Conversation, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.vlmbias.common import asset_key, split_photograph_key
from assets.vlmbias.photographs.base_images import SUBJECTS_OF_TOPIC, PhotographStep, select_painted
from assets.vlmbias.photographs.paintings import PAINTINGS, Paintings
from generators.photographs import Photograph
from resources.models.catalog import Catalog, Model
from resources.models.requests import EditRequest

EDITS = Columns(
    domain=(TEXT, "Topic"),
    painter=(TEXT, "Painter of the edited picture, as models.yaml names it"),
    editor=(TEXT, "Editor, as models.yaml names it"),
    base_id=(TEXT, "The base image, without its painter"),
    subject=(TEXT, "Subject of the picture"),
    subtopic=(TEXT, "Column of the paper's Tables 3 and 9"),
    edit_number=(WHOLE, "Number of the independent edit, from 0"),
    prompt=(TEXT, "Prompt of the editor (Appendix M)"),
    sources=(TEXTS, "sha256 of the edited pictures, in order"),
    outcome=(
        TEXT,
        "edited, dropped (unchanged, of another size), refused, malformed, failed or unpainted",
    ),
    **PICTURE_COLUMNS,
)

_TOLERANCE = 0.02


class EditsConfig(LimitConfig):
    """Editor and number of edits; a limit is on base images."""

    editor: str | None = Field(
        default=None,
        description="A model of models.yaml with the role editor. Default: the painter itself.",
    )
    edits_per_image: int = Field(
        default=4, ge=1, le=64, description="Independent edits per base image; the paper has 4."
    )


class Edits(PhotographStep[EditsConfig]):
    """Independent edits of each base image that is painted; one that is not has a single row."""

    config, success_outcome, example_request = EditsConfig, "edited", EditRequest("", ())
    asset = StepAsset(
        key=asset_key("edits"),
        description="Independent edits of every base image that its painter has painted.",
    )
    table = StepTable(
        columns=EDITS,
        key_columns=("base_id", "edit_number"),
        unstored_keys=("paintings", "photograph"),
    )
    inputs: Mapping[str, Input] = {
        **SUBJECTS_OF_TOPIC,
        "paintings": Input(asset_key("paintings"), row_columns=PAINTINGS, uses_default_config=True),
    }

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.forecast = Forecast(
            describe_outdated=self._describe_outdated, max_requests=self._max_requests
        )

    def model(self, partition: str, config: EditsConfig) -> Model:
        """Return the model that edits a painter's pictures."""
        painter, _ = split_photograph_key(partition)
        try:
            return find_model(self.catalog, config.editor or painter, "editor")
        except NoSuchModel as error:
            if config.editor is not None:
                raise
            raise NoSuchModel(f"{error} Name one in the run config: editor.") from None

    def load_base_images(self, work: StepRun[EditsConfig]) -> list[Photograph]:
        """The base images that paintings are about."""
        return select_painted(self.list_all(work), work.read_rows("paintings"))

    def list_keys(
        self, work: StepRun[EditsConfig], rows: Sequence[Row]
    ) -> Iterator[tuple[str, int]]:
        """Yield a key for each edit to make, and one key for each base image not painted yet."""
        painted = {
            row["prompt"]
            for row in work.read_rows("paintings")
            if row["outcome"] == Paintings.success_outcome
        }
        for photograph in self.list_limited(work):
            ready = all(painting.prompt in painted for painting in photograph.paintings)
            for edit_number in range(work.config.edits_per_image if ready else 1):
                yield photograph.base_id, edit_number

    def rows(self, work: StepRun[EditsConfig]) -> list[dict[str, Any]]:
        """A row for each edit; pending where no painting of today's base image is there."""
        painted = {row["prompt"]: row for row in work.read_rows("paintings")}
        return [
            row
            for photograph in self.list_limited(work)
            for row in self._list_edits(work, photograph, painted)
        ]

    def _list_edits(
        self, work: StepRun[EditsConfig], photograph: Photograph, painted: Mapping[str, Row]
    ) -> Iterator[dict[str, Any]]:
        sources = [painted.get(painting.prompt, _NOT_THERE) for painting in photograph.paintings]
        row = self.build_row(work, photograph, photograph.edit, sources)
        for source in sources:
            if source["outcome"] not in (Paintings.success_outcome, PENDING):
                reason = f"Its {source['content']} is {source['outcome']}: {source['reason']}"
                yield row | {"outcome": "unpainted", "reason": reason}
                return
        if any(painting_row["outcome"] == PENDING for painting_row in sources):
            row |= {"outcome": PENDING, "sources": [PLACEHOLDER_SHA256] * len(sources)}
        for edit_number in range(work.config.edits_per_image):
            yield row | {"edit_number": edit_number}

    def build_row(
        self,
        work: StepRun[EditsConfig],
        photograph: Photograph,
        prompt: str,
        sources: Sequence[Row],
    ) -> dict[str, Any]:
        """A row of what is known of a base image's first edit before it is made of `sources`."""
        painter, topic = split_photograph_key(work.partition)
        editor = self.model(work.partition, work.config)
        return {
            "domain": topic,
            "painter": painter,
            "editor": editor.name,
            "base_id": photograph.base_id,
            "subject": photograph.subject,
            "subtopic": photograph.subtopic,
            "edit_number": 0,
            "prompt": prompt,
            "sources": [source["sha256"] for source in sources if source["sha256"]],
            **dict.fromkeys(PICTURE_COLUMNS),
            "is_stand_in": editor.is_stand_in or any(source["is_stand_in"] for source in sources),
            "calls": unique_calls(sources),
            "photograph": photograph,
            "paintings": sources,
        }

    def _describe_outdated(self, row: Row) -> str:
        """The missing painting."""
        paintings = zip(row["photograph"].paintings, row["paintings"], strict=True)
        missing_painting, *_ = (
            painting.content for painting, source in paintings if source["outcome"] == PENDING
        )
        return (
            f"vlmbias/paintings holds no picture of {missing_painting} for {row['base_id']}: its "
            "subjects have changed since. Materialize the paintings of this painter and topic "
            "again: only what is new is painted."
        )

    def converse(self, work: StepRun[EditsConfig], row: Row) -> Conversation:
        """Have what is painted edited."""
        if row.get("outcome") in ("unpainted", self.success_outcome):
            return {}
        outcome, calls = yield EditRequest(
            row["prompt"], tuple(row["sources"]), sample=row["edit_number"]
        )
        columns = picture_columns(outcome, self.success_outcome, work.images)
        if columns["outcome"] == self.success_outcome:
            size = columns["width"], columns["height"]
            parameters = self.model(work.partition, work.config).parameters
            problem = _describe_wrong_size(size, parameters, row["paintings"])
            # Its label would be that of the edit, and a verdict on it would be one on the original.
            if columns["sha256"] in row["sources"]:
                problem = "It is what was to be edited, unchanged."
            if problem is not None:
                columns |= {"outcome": "dropped", "reason": problem}
        return {**columns, "calls": [*row["calls"], *calls]}

    def _max_requests(
        self, work: StepRun[EditsConfig], rows: Sequence[Row]
    ) -> Iterator[EditRequest]:
        """The edits of what failed to be painted, and may be when it is tried again."""
        for row in rows:
            if any(source["outcome"] == "failed" for source in row["paintings"]):
                for edit_number in range(work.config.edits_per_image):
                    pictures = (PLACEHOLDER_SHA256,) * len(row["paintings"])
                    yield EditRequest(row["prompt"], pictures, sample=edit_number)

    def metadata(self, work: StepRun[EditsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count the edits and show some pictures."""
        caption = "{subject}, edit {edit_number}".format_map
        return {
            "edits": len(rows),
            "contact_sheet": sample_contact_sheet(rows, caption, work.images),
        }


_NOT_THERE: Row = {"outcome": PENDING, "sha256": None, "is_stand_in": False, "calls": []}


def _describe_wrong_size(
    size: tuple[int, int], parameters: Mapping[str, Any], sources: Sequence[Row]
) -> str | None:
    """Describe a wrong size of an edited picture; None if it is right."""
    width, height = size
    if problem := describe_wrong_size(width, height, parameters):
        return problem
    if len(sources) == 1 and not find_requested_sides(parameters):
        source_size = sources[0]["width"], sources[0]["height"]
        ratio = (width / height) / (source_size[0] / source_size[1])
        if abs(ratio - 1) > _TOLERANCE:
            return (
                f"It is {width} × {height} px, which is another shape than the "
                f"{source_size[0]} × {source_size[1]} px of what was edited."
            )
    return None
