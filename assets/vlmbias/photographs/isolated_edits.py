"""Photographs without their background: an editor removes it, and people accept the result.

Of each accepted counterfactual, one edit by default. What a person has accepted is not asked for
again, whichever editor made it: another editor, or another edit, is asked for the rest alone. It
stays in the table under any limit.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dagster import AssetDep, MetadataValue
from pydantic import Field
from upath import UPath

from assets.kit.columns import TEXT, Columns, to_records
from assets.kit.flaws import inspect_pictures, measure_white_borders
from assets.kit.review import review_file, write_review
from assets.kit.review_forms import ACCEPT, REJECT, ReviewForm, ReviewItem, write_part
from assets.kit.step import Extent, StepAsset
from assets.kit.step_run import Input, Row, Rows, StepRun
from assets.kit.table_asset import NotMaterialized
from assets.kit.verdicts import Verdicts, read_verdicts
from assets.vlmbias.common import asset_key, split_photograph_key
from assets.vlmbias.photographs.base_images import SUBJECTS_OF_TOPIC
from assets.vlmbias.photographs.edits import EDITS, Edits, EditsConfig
from assets.vlmbias.photographs.selection import (
    STAND_IN_NOTE,
    find_ambiguous_pictures,
    format_published_id,
)
from generators.isolated_photographs import write_isolation_prompt, write_isolation_task
from generators.photographs import Photograph
from generators.topics import format_caption, get_title
from resources.storage.data_root import DataRoot
from resources.storage.files import list_folder
from resources.storage.image_store import ImageStore

ISOLATED_EDITS = Columns(
    **EDITS.columns,
    sentence=(TEXT, "Sentence that people decide on"),
)
_MIN_WHITE = 0.95
"""Least share of an isolated picture's border that is white."""
_CELLS = ("painter", "editor", "subject", "edit_number", "sentence", "base_id")

FORM = ReviewForm(
    asset="vlmbias/isolated_edits",
    task="Accept a picture if its sentence is true of it.",
    choices={
        ACCEPT: "all of the sentence is true",
        REJECT: "some of it is not, or cannot be seen",
    },
    guidelines=(
        "Compare it with its photograph: an editor may have drawn anew what it was to keep. Of "
        "each photograph, the first accepted picture is shown to judges; without one, none is."
    ),
    reasons=(
        "wrong count",
        "background left",
        "part of it is gone",
        "drawn anew or moved",
        "something was added",
    ),
    next_step="Materialize vlmbias/isolated_photographs, which takes what was accepted.",
    is_shared=True,
)
"""How people review photographs without their background."""


class IsolatedEditsConfig(EditsConfig):
    """Editor and number of edits; a limit is on base images, beside those with an accepted edit."""

    edits_per_image: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Independent edits per photograph of which none is accepted yet.",
    )


class IsolatedEdits(Edits):
    """Edits of accepted photographs that leave what questions name on white, for people to review.

    Nothing is asked for unless a person materializes it: no sensor does.
    """

    config = IsolatedEditsConfig
    asset = StepAsset(
        key=asset_key("isolated_edits"),
        description="Accepted photographs with their background removed by an editor.",
        deps=[AssetDep(asset_key("photographs"))],
        is_optional=True,
        is_automatic=False,
    )
    table = replace(Edits.table, columns=ISOLATED_EDITS)
    inputs: Mapping[str, Input] = SUBJECTS_OF_TOPIC

    def load_base_images(self, work: StepRun[EditsConfig]) -> list[Photograph]:
        """The base images of which a person has accepted a counterfactual."""
        painter, topic = split_photograph_key(work.partition)
        sources = self._find_sources(work)
        photographs = [
            photograph
            for photograph in self.list_all(work)
            if format_published_id(photograph.base_id, painter) in sources
        ]
        if not photographs:
            if any(model.name == painter and model.is_stand_in for model in self.catalog.models):
                raise NotMaterialized(
                    f"vlmbias/isolated_edits: {painter} is a stand-in, whose pictures are no part "
                    "of the benchmark. Add a painter to models.yaml, and name a partition of it."
                )
            raise NotMaterialized(
                f"vlmbias/photographs ({topic}): holds no changed picture of {painter} that a "
                "person has accepted, so that there is no background to remove. Review some with "
                "`counterfactory review vlmbias/candidates`, and materialize vlmbias/photographs "
                f"({topic}) again."
            )
        return photographs

    def _find_sources(self, work: StepRun[EditsConfig]) -> dict[str, dict[str, Any]]:
        """The accepted photographs of the painter, as large as they were made, by base id."""
        painter, topic = split_photograph_key(work.partition)
        table = work.find_table(asset_key("photographs"), topic)
        if table is None:
            return {}
        accepted = table[table["image_set"].eq("benchmark") & table["painter"].eq(painter)]
        return {
            row["base_id"]: {
                "sha256": row["source_sha256"],
                "width": row["source_width"],
                "height": row["source_height"],
                "is_stand_in": False,
                "calls": row["calls"],
                "outcome": Edits.success_outcome,
            }
            for row in to_records(accepted)
        }

    def rows(self, work: StepRun[EditsConfig]) -> list[dict[str, Any]]:
        """The accepted edits of each photograph, or within the limit a row for each edit to make.

        Raises `UserFileError` for a review file that cannot be followed, before anything is sent.
        """
        painter, topic = split_photograph_key(work.partition)
        sources = self._find_sources(work)
        verdicts = read_verdicts(review_file(work.home, name_review(topic)))
        accepted = defaultdict[tuple[str, ...], list[Row]](list)
        for row in select_accepted(load_isolated_edits(work.home, painter, topic), verdicts):
            accepted[row["prompt"], *row["sources"]].append(row)
        limited_ids = {photograph.base_id for photograph in self.list_limited(work)}
        rows = []
        for photograph in self.load_base_images(work):
            prompt = write_isolation_prompt(photograph)
            source = sources[format_published_id(photograph.base_id, painter)]
            row = {
                **self.build_row(work, photograph, prompt, [source]),
                "sentence": write_isolation_task(photograph),
            }
            if stored := accepted.get((prompt, source["sha256"])):
                rows += [{**row, **edit} for edit in stored]
            elif photograph.base_id in limited_ids:
                rows += [row | {"edit_number": n} for n in range(work.config.edits_per_image)]
        return rows

    def list_keys(
        self, work: StepRun[EditsConfig], rows: Sequence[Row]
    ) -> Iterator[tuple[str, int]]:
        """Yield a key for each accepted edit, and for each edit to make."""
        for row in self.rows(work):
            yield row["base_id"], row["edit_number"]

    def finish(self, work: StepRun[EditsConfig], rows: Rows) -> Rows:
        """Drop edits that show nothing, or whose border is not white."""
        edited = [row["sha256"] for row in rows if row["outcome"] == self.success_outcome]
        inspections = inspect_pictures(work.images, work.work_cache, edited)
        white = measure_white_borders(work.images, work.work_cache, edited)
        finished = []
        for row in rows:
            problem = None
            if row["outcome"] == self.success_outcome:
                problem = _describe_flaw(inspections[row["sha256"]].blank, white[row["sha256"]])
            dropped = {"outcome": "dropped", "reason": problem} if problem else {}
            finished.append({**row, **dropped})
        return finished

    def extent(self, work: StepRun[EditsConfig], rows: Sequence[Row]) -> Extent:
        """Count the photographs in the table, of all that people have accepted."""
        count = len({row["base_id"] for row in rows})
        return Extent(count=count, total=len(self.load_base_images(work)), unit="photographs")

    def metadata(self, work: StepRun[EditsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Count the edits, show some, and give the page for reviewing those of all painters."""
        painter, topic = split_photograph_key(work.partition)
        other_rows = [
            row
            for name in list_painters(work.home)
            if name != painter
            for row in load_isolated_edits(work.home, name, topic)
        ]
        page = write_isolated_review(work.home, work.images, topic, [*other_rows, *rows])
        return {**super().metadata(work, rows), "review": MetadataValue.path(str(page))}


def _describe_flaw(blank: str | None, white_share: float) -> str | None:
    if blank is not None:
        return f"It shows nothing: it is {'all black' if blank == 'black' else blank}."
    if white_share < _MIN_WHITE:
        return (
            f"{white_share:.0%} of its border is white, less than {_MIN_WHITE:.0%}: the background "
            "is not removed."
        )
    return None


def name_review(topic: str) -> str:
    """The name of the review of a topic's photographs without their background."""
    return f"{topic}-isolated"


def list_painters(home: DataRoot) -> list[str]:
    """The painters of which there are photographs without their background."""
    return [folder.name for folder in list_folder(home.path(*IsolatedEdits.asset.key.path))]


def load_isolated_edits(home: DataRoot, painter: str, topic: str) -> Sequence[Row]:
    """A painter's edits as they were last materialized, none if they never were."""
    key = IsolatedEdits.asset.key
    table = home.find(key, f"{painter}|{topic}")
    return [] if table is None else ISOLATED_EDITS.read_rows(table, key)


def select_accepted(rows: Sequence[Row], verdicts: Verdicts) -> list[Row]:
    """The accepted edits.

    A stand-in's is none, nor is a picture that several photographs have given.
    """
    unclear, accepted = find_ambiguous_pictures(rows), list[Row]()
    for row in rows:
        verdict = verdicts.get(row["sha256"]) if row["outcome"] == "edited" else None
        is_accepted = verdict is not None and verdict.decision == ACCEPT
        if is_accepted and row["sha256"] not in unclear and not row["is_stand_in"]:
            accepted.append(row)
    return accepted


def write_isolated_review(
    home: DataRoot, images: ImageStore, topic: str, rows: Sequence[Row]
) -> UPath:
    """Write the review of a topic's edits by all painters, and give its page."""
    file, title = review_file(home, name_review(topic)), f"{get_title(topic)} without background"
    unclear = find_ambiguous_pictures(rows)
    shown = {
        row["sha256"]: row
        for row in sorted(rows, key=lambda row: (row["is_stand_in"], row["base_id"]))
        if row["outcome"] == "edited" and row["sha256"] not in unclear
    }
    items = [
        ReviewItem(
            name=sha256,
            cells={cell: row[cell] for cell in _CELLS},
            title=f"{format_caption(topic, row['subject'])} ({row['painter']})",
            sentence=row["sentence"],
            pictures=[(sha256, "without background"), (row["sources"][0], "the photograph")],
            notes=[STAND_IN_NOTE] if row["is_stand_in"] else [],
            is_last=row["is_stand_in"],
        )
        for sha256, row in shown.items()
    ]
    write_part(home, FORM, topic, title=title, answers=file, items=items)
    return write_review(file, title, FORM, items, read_verdicts(file), images)
