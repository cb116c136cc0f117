"""Flags edited by language models as SVG, the paper's way (Appendix E.2), and counted by us."""

import struct
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetExecutionContext,
    AssetsDefinition,
    MaterializeResult,
    asset_check,
)

from assets.kit.columns import BOOLEAN, REALS, TEXT, TEXTS, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, Placed, first_of, part_of, partial_metadata
from assets.kit.previews import contact_sheet, markdown_table
from assets.vlmbias.answers import is_reference, version_of
from assets.vlmbias.checks import as_partial
from assets.vlmbias.common import edited_by, table_asset
from generators.domains.flags.designs import FLAGS
from generators.domains.flags.draw import draw, original, scenes
from generators.prompts.svg_editing import svg_editing
from generators.scene import Scene
from generators.work import Drawing, Found, Reading, draw_png, read_png
from resources.budget import Budget
from resources.edited_flags import Answer, Seen, seen
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient
from resources.models.outcomes import Answered, Failed, Malformed, Outcome, Refused
from resources.models.requests import Turn, Write
from resources.workers import spread

SIZE = 768
"""px of the longer side: of the drawing that a model is given, and of what is drawn of its own."""

EDITED = Columns(
    image_id=(TEXT, "Readable name: topic, scene, writer and size"),
    base_id=(TEXT, "The drawn scene that was asked for"),
    original_id=(TEXT, "The flag whose SVG the model was given"),
    subject=(TEXT, "Whose flag it is"),
    target=(TEXT, "What was to change: stars or stripes"),
    modification=(TEXT, "add or remove"),
    targets=(TEXTS, "Everything that is counted on this flag"),
    truths=(REALS, "By target: the count that was asked for"),
    readings=(REALS, "By target: the count that was read; none where nothing could be"),
    outcome=(TEXT, "kept, duplicate, miscounted, unreadable, unsafe, no svg, refused or failed"),
    problem=(TEXT, "What is wrong; empty where the picture is kept"),
    sha256=(TEXT, "Name of the PNG in the image store; empty where nothing was drawn"),
    width=(WHOLE, "px; empty where nothing was drawn"),
    height=(WHOLE, "px; empty where nothing was drawn"),
    painter=(TEXT, "The writer, as models.yaml names it"),
    rehearsal=(BOOLEAN, "Whether the writer is one of our own; never so here"),
    review=(TEXT, "pixels: the count was read by code"),
    served_model=(TEXT, "Which model answered, as the provider says; empty where it does not"),
    calls=(TEXTS, "Keys of the stored calls behind this row; none where it failed"),
)

OUTCOMES = (
    *("kept", "duplicate", "miscounted", "unreadable"),
    *("unsafe", "no svg", "refused", "failed"),
)
_DRAWN = frozenset(OUTCOMES[:4])


def edited_flags(catalog: Catalog) -> tuple[AssetsDefinition | AssetChecksDefinition, ...]:
    """The flags that each writer of the catalog edits, with their check; ours cannot edit."""
    writers = [model for model in catalog.with_role("writer") if not is_reference(model)]
    return tuple(each for model in writers for each in (_edited(model), _every_row_ended(model)))


def edits(limit: int | None = None) -> dict[str, tuple[Scene, Write]]:
    """By base id: the 40 scenes that are asked for, or the first of them, and the requests."""
    return {
        scene.base_id: (scene, _request(scene)) for scene in first_of(_wanted(), limit, _placed)
    }


def _wanted() -> list[Scene]:
    return [scene for scene in scenes(seed=0) if scene.variant == "counterfactual"]


def _placed(scene: Scene) -> Placed:
    """Spread over what changes and how, then over flags."""
    return Placed(scene.base_id, (f"{scene.target} {scene.modification}", scene.subject))


def _request(scene: Scene) -> Write:
    slug, element = str(scene.settings["flag"]), scene.target
    words = svg_editing(
        FLAGS[slug].name,
        element,
        int(scene.standards[element]),
        int(scene.truths[element]),
        draw(original(slug), SIZE),
    )
    return Write((Turn("user", words),))


def _edited(model: Model) -> AssetsDefinition:
    @table_asset(
        key=edited_by(model.name),
        kinds=["image", "svg", model.backend],
        partitions=None,
        pool=model.name,
        columns=EDITED,
        description=f"Flags whose SVG {model.model} has edited, counted by code (Appendix E.2).",
        code_version=version_of(model),
    )
    def flags(
        context: AssetExecutionContext,
        config: Limited,
        models: ModelClient,
        budget: Budget,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Ask for each of the 40 edits once, and keep those that show what was asked for."""
        wanted = edits(config.limit)
        drawn = _drawn()
        requests = [request for _, request in wanted.values()]
        asked = models.ask(model, requests, context.log, budget.account(context))
        said = {
            base_id: outcome.text or ""
            for base_id, outcome in zip(wanted, asked.outcomes, strict=True)
            if isinstance(outcome, Answered)
        }
        answers = [
            Answer(reply, tuple(wanted[base_id][0].truths), SIZE) for base_id, reply in said.items()
        ]
        pictures = dict(zip(said, seen(answers), strict=True))
        known = {found.pixels_sha256: name for name, found in drawn.items()}
        rows = []
        for (base_id, (scene, _)), outcome, keys in zip(
            wanted.items(), asked.outcomes, asked.keys, strict=True
        ):
            if base_id in pictures:
                ending = _counted(pictures[base_id], scene, known, images)
            else:
                ending = _unanswered(outcome)
            served = None if isinstance(outcome, Failed) else outcome.served_model
            more = {"served_model": served, "calls": list(keys)}
            rows.append(_about(scene, model) | ending | more)
        table = pd.DataFrame(rows)
        kept = table[table["outcome"] == "kept"]
        holding = {
            base_id for base_id, (scene, _) in wanted.items() if _holds(drawn[base_id], scene)
        }
        return materialized(
            EDITED.table(rows),
            **partial_metadata(len(rows), len(_wanted()), "edits"),
            **Counter(table["outcome"].str.replace(" ", "_")),
            retention=markdown_table(_retention(table, holding)),
            contact_sheet=contact_sheet(
                [
                    (base_id.partition("/")[2], images.get(digest))
                    for base_id, digest in zip(kept["base_id"], kept["sha256"], strict=True)
                ]
            ),
            **cost_metadata(asked),
        )

    return flags


@cache
def _drawn() -> dict[str, Found]:
    """By base id: what the pixels of the flags say that our own code draws at this size."""
    ours = scenes(seed=0)
    pngs = spread(draw_png, [Drawing("flags", scene, SIZE) for scene in ours])
    readings = [
        Reading("flags", png, tuple(scene.truths), legibility=False)
        for scene, png in zip(ours, pngs, strict=True)
    ]
    found = spread(read_png, readings)
    return {scene.base_id: each for scene, each in zip(ours, found, strict=True)}


def _about(scene: Scene, model: Model) -> dict[str, Any]:
    return {
        "image_id": f"{scene.base_id}/{model.name}/{SIZE}",
        "base_id": scene.base_id,
        "original_id": scene.original_id,
        "subject": scene.subject,
        "target": scene.target,
        "modification": scene.modification,
        "targets": list(scene.truths),
        "truths": list(scene.truths.values()),
        "readings": [],
        "sha256": None,
        "width": None,
        "height": None,
        "painter": model.name,
        "rehearsal": model.rehearses,
        "review": "pixels",
    }


def _counted(
    picture: Seen, scene: Scene, known: dict[str, str], images: ImageStore
) -> dict[str, Any]:
    """How a reply ended; one whose picture is kept is among the `known` from then on."""
    name = f"{scene.base_id} as edited"
    if picture.found is None:
        return {"outcome": picture.ending, "problem": picture.problem}
    width, height = struct.unpack(">II", picture.png[16:24])
    drawn = {"sha256": images.put(picture.png), "width": width, "height": height}
    drawn["readings"] = list(picture.found.readings)
    if picture.ending == "unreadable":
        return drawn | {"outcome": "unreadable", "problem": picture.problem}
    if not _holds(picture.found, scene):
        pairs = zip(scene.truths, picture.found.readings, strict=True)
        read = " and ".join(f"{reading:g} {target}" for target, reading in pairs)
        return drawn | {"outcome": "miscounted", "problem": f"It shows {read}."}
    twin = known.setdefault(picture.found.pixels_sha256, name)
    if twin != name:
        return drawn | {"outcome": "duplicate", "problem": f"Its pixels are those of {twin}."}
    return drawn | {"outcome": "kept"}


def _holds(found: Found, scene: Scene) -> bool:
    """Whether a picture shows the count that was asked for, and every other as it was."""
    return list(found.readings) == list(scene.truths.values())


def _unanswered(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Refused(kind=kind, reason=reason):
            return {"outcome": "refused", "problem": f"{kind}: {reason}"}
        case Malformed(problem=problem):
            return {"outcome": "no svg", "problem": problem}
        case Failed(error=error):
            return {"outcome": "failed", "problem": error}
    raise TypeError(f"An edit cannot end as {outcome!r}.")


def _retention(table: pd.DataFrame, holding: set[str]) -> pd.DataFrame:
    """By target and change: edits asked for, and kept; and of our own drawings, how many hold."""
    rows = table.assign(
        kept=table["outcome"] == "kept", drawn_by_code=table["base_id"].isin(holding)
    )
    groups = rows.groupby(["target", "modification"])
    by = groups.agg(asked=("kept", "size"), kept=("kept", "sum"), drawn=("drawn_by_code", "sum"))
    whole = pd.DataFrame([["all", "all", *by.sum()]], columns=[*by.reset_index().columns])
    return pd.concat([by.reset_index(), whole], ignore_index=True).rename(
        columns={"drawn": "kept of those drawn by code"}
    )


def _every_row_ended(model: Model) -> AssetChecksDefinition:
    @asset_check(
        asset=edited_by(model.name),
        name="every_row_ended",
        description="Each of the 40 edits has one row, which is kept or says why it is not.",
        blocking=True,
    )
    def check(flags: pd.DataFrame) -> AssetCheckResult:
        wrong = not_ended(flags)
        counts = Counter(flags["outcome"]).items()
        said = (
            f"{len(flags)} rows: {', '.join(f'{number} {outcome}' for outcome, number in counts)}"
        )
        found = AssetCheckResult(passed=not wrong, description=". ".join([said, *wrong]))
        return as_partial(found, (flags["base_id"].nunique(), len(_wanted())), "edits")

    return check


def not_ended(flags: pd.DataFrame) -> Sequence[str]:
    """What is wrong with a table of edits: rows that are missing, twice there, or half ended.

    One that a limit has cut short holds the first so many.
    """
    rows = Counter(flags["base_id"])
    wanted = Counter(scene.base_id for scene in part_of(_wanted(), set(rows), _placed))
    wrong = [
        f"{name} has {rows[name]} rows" for name in rows | wanted if rows[name] != wanted[name]
    ]
    fits = (
        flags["outcome"].isin(OUTCOMES)
        & (flags["sha256"].notna() == flags["outcome"].isin(_DRAWN))
        & (flags["problem"].isna() == (flags["outcome"] == "kept"))
    )
    return wrong + [f"{name} is half ended" for name in flags.loc[~fits, "base_id"]]
