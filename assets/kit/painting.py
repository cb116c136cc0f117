"""Steps that have one painter paint every picture, and look for flaws once all are there."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assets.kit.columns import TEXT, WHOLE
from assets.kit.flaws import inspect_pictures, mark_flaws
from assets.kit.model_lookup import digest_entry, find_model
from assets.kit.partitions import parse_painter_key
from assets.kit.pictures import PICTURE_COLUMNS, outcome_columns, sample_contact_sheet
from assets.kit.step import Conversation, Step
from assets.kit.step_run import ConfigT, Row, Rows, StepRun
from generators.picture_inspection import Inspection
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome, Outcome
from resources.models.requests import PaintRequest

PAINTED_COLUMNS = {
    "painter": (TEXT, "Painter, as models.yaml names it"),
    "entry_version": (TEXT, "Digest of its backend, the provider's model id and the parameters"),
    "prompt": (TEXT, "Prompt of the painter"),
    "sample": (WHOLE, "Number of the picture among those of its prompt, from 0"),
    "seed": (WHOLE, "Random seed of its noise; empty if the painter takes none"),
    "outcome": (TEXT, "painted, flawed, refused, malformed or failed"),
    "flaw": (TEXT, "blank, wrong size or repeated; else empty"),
    **PICTURE_COLUMNS,
    "provenance": (TEXT, "Device, versions and batch of a local model, as JSON; else empty"),
}
"""The columns of a table of painted pictures."""


class PaintStep(Step[ConfigT]):
    """A step partitioned by painter; its `rows` come from `build_row`."""

    example_request = PaintRequest("")

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.asset = replace(self.asset, kinds=("image",), pool="paintings")
        self.table = replace(
            self.table, unstored_keys=(*self.table.unstored_keys, "reply", "request")
        )
        self._painter_columns: dict[str, Mapping[str, Any]] = {}

    def model(self, partition: str, config: ConfigT) -> Model:
        """The painter."""
        name = parse_painter_key(partition, self.asset.partitions)
        return find_model(self.catalog, name, "painter")

    def build_row(
        self,
        work: StepRun[ConfigT],
        row: Row,
        request: PaintRequest,
        *,
        calls: Sequence[str] | None = (),
        sample: int | None = None,
    ) -> dict[str, Any]:
        """A row of what is known of a picture before it is painted; `calls` are upstream ones.

        `sample` is the picture's number among those of its prompt; by default `request.sample`.
        """
        return {
            **row,
            "request": request,
            "prompt": request.prompt,
            "sample": request.sample if sample is None else sample,
            "seed": request.seed,
            "flaw": None,
            **dict.fromkeys(PICTURE_COLUMNS),
            **self._build_painter_columns(work),
            "outcome": None,
            "calls": [] if calls is None else list(calls),
        }

    def _build_painter_columns(self, work: StepRun[ConfigT]) -> Mapping[str, Any]:
        """The columns that the painter, and so the partition alone, decides: worked out once."""
        if work.partition not in self._painter_columns:
            painter = self.model(work.partition, work.config)
            self._painter_columns[work.partition] = {
                "painter": painter.name,
                "entry_version": digest_entry(painter),
                "is_stand_in": painter.is_stand_in,
            }
        return self._painter_columns[work.partition]

    def converse(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Have a picture painted; it is inspected when all are there."""
        outcome, calls = yield row["request"]
        return {"reply": outcome, "calls": [*row["calls"], *calls]}

    def finish(self, work: StepRun[ConfigT], rows: Rows) -> Rows:
        """Inspect all pictures, and look for flaws."""
        replies = [row["reply"] for row in rows if "reply" in row]
        digests = (
            image
            for reply in replies
            if isinstance(reply, AnsweredOutcome)
            for image in reply.images
        )
        inspections = inspect_pictures(work.images, work.work_cache, digests)
        painted = [
            row | _build_ending(row["reply"], inspections) if "reply" in row else row
            for row in rows
        ]
        parameters = self.model(work.partition, work.config).parameters
        return mark_flaws(painted, inspections, parameters, self.describe_picture)

    def describe_picture(self, row: Row) -> str:
        """Name a picture for the reason of another picture's flaw."""
        return f"sample {row['sample']} of {row['prompt']!r}"

    def metadata(self, work: StepRun[ConfigT], rows: Sequence[Row]) -> Mapping[str, Any]:
        """Build a contact sheet of sample pictures."""
        return {
            "contact_sheet": sample_contact_sheet(
                rows, lambda row: str(row["prompt"])[:60], work.images
            )
        }


def _build_ending(outcome: Outcome, inspections: Mapping[str, Inspection]) -> dict[str, Any]:
    provenance = outcome.provenance if isinstance(outcome, AnsweredOutcome) else None
    return {
        "provenance": None if provenance is None else json.dumps(provenance, sort_keys=True),
        **outcome_columns(outcome, "painted", lambda digest: inspections[digest][:2]),
    }
