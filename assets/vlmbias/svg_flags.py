"""Flags edited by language models as SVG, the paper's way (Appendix E.2), and counted by us."""

import struct
from collections.abc import Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import pandas as pd

from assets.kit.columns import BOOLEAN, REALS, TEXT, TEXTS, WHOLE, Columns
from assets.kit.conversations import format_reason, unanswered_columns
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.model_lookup import digest_entry
from assets.kit.pictures import sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, Extent, Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun
from assets.vlmbias.common import asset_key
from generators.domains import load_domain
from generators.domains.flags.designs import FLAGS
from generators.domains.flags.draw import build_original, draw, list_scenes
from generators.drawing_readings import read_drawing
from generators.prompts.svg_editing import write_svg_editing_prompt
from generators.scene import Scene
from generators.worker_jobs import DrawJob, ImageReadings
from resources.execution.work_loop import WorkKind, finish_work
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome, FailedOutcome
from resources.models.requests import Turn, WriteRequest
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key
from resources.untrusted_input.edited_flags import DrawnFlag, FlagReply, draw_flags

SIZE = 768
"""Longer side in px: of the drawing that a model is given, and of its own when rendered."""

EDITED_FLAG_COLUMNS = Columns(
    image_id=(TEXT, "Readable name: topic, scene, writer and size"),
    base_id=(TEXT, "Requested drawn scene"),
    original_id=(TEXT, "Flag whose SVG was sent to the model"),
    subject=(TEXT, "Country of the flag"),
    target=(TEXT, "Target of the change: stars or stripes"),
    modification=(TEXT, "add or remove"),
    targets=(TEXTS, "All targets counted on this flag"),
    truths=(REALS, "Requested count of each target"),
    readings=(REALS, "Count read for each target; empty if unreadable"),
    outcome=(TEXT, "kept, duplicate, miscounted, unreadable, unsafe, no svg, refused or failed"),
    problem=(TEXT, "Problem; empty if the picture is kept"),
    sha256=(TEXT, "Name of the PNG in the image store; empty where nothing was drawn"),
    width=(WHOLE, "px; empty where nothing was drawn"),
    height=(WHOLE, "px; empty where nothing was drawn"),
    painter=(TEXT, "The writer, as models.yaml names it"),
    is_stand_in=(BOOLEAN, "Always false: no stand-in edits SVG"),
    review=(TEXT, "pixels: the count was read by code"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    calls=(TEXTS, "Keys of the stored calls behind this row; none where it failed"),
)

OUTCOMES = (
    *("kept", "duplicate", "miscounted", "unreadable"),
    *("unsafe", "no svg", "refused", "failed"),
)
_OUTCOMES_WITH_PICTURE = frozenset(OUTCOMES[:4])


class EditedFlags(Step[LimitConfig]):
    """The flags that one writer edits; a limit is on the 40 edits."""

    config, example_request = LimitConfig, WriteRequest(())
    asset = StepAsset(
        key=asset_key("edited_flags"),
        description="Flags whose SVG {model} has edited, counted by code (Appendix E.2).",
    )
    table = StepTable(
        columns=EDITED_FLAG_COLUMNS,
        unstored_keys=("reply", "scene"),
        key_columns=("base_id",),
        filled_columns=MappingProxyType(
            {
                outcome: {
                    *(["sha256"] if outcome in _OUTCOMES_WITH_PICTURE else []),
                    *(["problem"] if outcome != "kept" else []),
                }
                for outcome in OUTCOMES
            }
        ),
    )

    def __init__(self, catalog: Catalog, writer: Model) -> None:
        super().__init__(catalog)
        self.writer = writer
        self.asset = self.asset.of_model(
            writer,
            kinds=("image", "svg", writer.backend),
            code_version=digest_entry(writer),
            pool=writer.name,
        )

    def model(self, partition: str, config: LimitConfig) -> Model:
        """The writer."""
        return self.writer

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """A row for each edit that is wanted."""
        return [_row(scene, self.writer) for scene in list_edits(work.config.limit)]

    def converse(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Query the writer once; its reply is drawn and counted when all are there."""
        outcome, calls = yield build_request(row["scene"])
        served = None if isinstance(outcome, FailedOutcome) else outcome.served_model
        return {"reply": outcome, "served_model": served, "calls": list(calls)}

    def finish(
        self, work: StepRun[LimitConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Draw and count all replies; keep those that show what was wanted."""
        answered_rows = [row for row in rows if isinstance(row["reply"], AnsweredOutcome)]
        replies = [
            FlagReply(row["reply"].text or "", tuple(row["scene"].truths), SIZE)
            for row in answered_rows
        ]
        pictures = dict(
            zip((row["base_id"] for row in answered_rows), draw_flags(replies), strict=True)
        )
        names_by_pixels = {
            image_readings.pixels_sha256: name
            for name, image_readings in _read_drawn_flags(work.work_cache).items()
        }
        finished_rows = []
        for row in rows:
            if picture := pictures.get(row["base_id"]):
                ending = _count_reply(picture, row["scene"], names_by_pixels, work.images)
            else:
                reply_columns = unanswered_columns(row["reply"], "no svg")
                ending = {
                    "outcome": reply_columns["outcome"],
                    "problem": format_reason(reply_columns),
                }
            finished_rows.append(row | ending)
        return finished_rows

    def extent(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> Extent:
        """Count the edits asked for, of all 40."""
        return Extent(count=len(rows), total=len(list_edits()), unit="edits")

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Retention, and the pictures that were kept."""
        kept_rows = [row for row in rows if row["outcome"] == "kept"]
        return {
            "retention": markdown_table(_retention(rows, work.work_cache)),
            "contact_sheet": sample_contact_sheet(
                kept_rows, lambda row: row["base_id"].partition("/")[2], work.images
            ),
        }


def list_edits(limit: int | None = None) -> list[Scene]:
    """The 40 scenes that are wanted, or the first of them."""
    return stratified_head(
        [scene for scene in list_scenes(seed=0) if scene.variant == "counterfactual"],
        limit,
        _build_sampling_key,
    )


def _build_sampling_key(scene: Scene) -> SamplingKey:
    """Spread over what changes and how, then over flags."""
    return SamplingKey(scene.base_id, (f"{scene.target} {scene.modification}", scene.subject))


def build_request(scene: Scene) -> WriteRequest:
    """Build the request that asks a writer for an edit."""
    slug, element = str(scene.settings["flag"]), scene.target
    words = write_svg_editing_prompt(
        FLAGS[slug].name,
        element,
        int(scene.standards[element]),
        int(scene.truths[element]),
        draw(build_original(slug), SIZE),
    )
    return WriteRequest((Turn("user", words),))


def _read_drawn_flags(work_cache: WorkCache) -> dict[str, ImageReadings]:
    """Read the pixels of the flags that our own code draws at this size, by base id."""
    topic = load_domain("flags")
    code = topic.draw_module.VERSION, topic.measure_module.VERSION, topic.fingerprint
    scenes = {scene.base_id: scene for scene in list_scenes(seed=0)}
    works = {
        base_id: build_work_key("read drawing", code, asdict(scene), SIZE)
        for base_id, scene in scenes.items()
    }
    kind: WorkKind[str, DrawJob, ImageReadings] = WorkKind(
        load=lambda base_id: DrawJob("flags", scenes[base_id], SIZE),
        work=read_drawing,
        store=asdict,
    )
    readings = finish_work(kind, works, work_cache).results
    return {base_id: ImageReadings(**fields) for base_id, fields in readings.items()}


def _row(scene: Scene, model: Model) -> dict[str, Any]:
    return {
        "scene": scene,
        "image_id": f"{scene.base_id}/{model.name}/{SIZE}",
        **{name: getattr(scene, name) for name in _SCENE_FIELDS},
        "targets": list(scene.truths),
        "truths": list(scene.truths.values()),
        "readings": [],
        **dict.fromkeys(("sha256", "width", "height")),
        "painter": model.name,
        "is_stand_in": model.is_stand_in,
        "review": "pixels",
    }


_SCENE_FIELDS = ("base_id", "original_id", "subject", "target", "modification")


def _count_reply(
    picture: DrawnFlag, scene: Scene, names_by_pixels: dict[str, str], images: ImageStore
) -> dict[str, Any]:
    """Build the result of a reply; add a kept picture's name to `names_by_pixels`."""
    name = f"{scene.base_id} as edited"
    if picture.reading is None:
        return {"outcome": picture.outcome, "problem": picture.reason}
    width, height = struct.unpack(">II", picture.png[16:24])
    drawn = {"sha256": images.put(picture.png), "width": width, "height": height}
    drawn["readings"] = list(picture.reading.readings)
    if picture.outcome == "unreadable":
        return drawn | {"outcome": "unreadable", "problem": picture.reason}
    if not _holds(picture.reading, scene):
        pairs = zip(scene.truths, picture.reading.readings, strict=True)
        shown_counts = " and ".join(f"{reading:g} {target}" for target, reading in pairs)
        return drawn | {"outcome": "miscounted", "problem": f"It shows {shown_counts}."}
    twin = names_by_pixels.setdefault(picture.reading.pixels_sha256, name)
    if twin != name:
        return drawn | {"outcome": "duplicate", "problem": f"Its pixels are those of {twin}."}
    return drawn | {"outcome": "kept"}


def _holds(readings: ImageReadings, scene: Scene) -> bool:
    """Return whether a picture shows the requested count, and every other count unchanged."""
    return list(readings.readings) == list(scene.truths.values())


def _retention(rows: Sequence[Row], work_cache: WorkCache) -> pd.DataFrame:
    """Count edits asked for and kept, and our own drawings that hold, by target and change."""
    own_readings = _read_drawn_flags(work_cache)
    edits = [
        (
            *(row["target"], row["modification"], row["outcome"] == "kept"),
            _holds(own_readings[row["base_id"]], row["scene"]),
        )
        for row in rows
    ]
    by = ["target", "modification"]
    groups = pd.DataFrame(edits, columns=[*by, "kept", "drawn"]).groupby(by)
    counts = groups.agg(asked=("kept", "size"), kept=("kept", "sum"), drawn=("drawn", "sum"))
    total = pd.DataFrame([["all", "all", *counts.sum()]], columns=[*by, *counts.columns])
    return pd.concat([counts.reset_index(), total], ignore_index=True).rename(
        columns={"drawn": "kept of those drawn by code"}
    )
