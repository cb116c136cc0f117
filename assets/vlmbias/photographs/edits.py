"""The counterfactuals: each base image edited, several times independently (Appendix C.2)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetsDefinition, MaterializeResult
from pydantic import Field

from assets.kit.choice import NoSuchModel, chosen
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, partial_metadata
from assets.kit.pictures import PICTURED, Row, behind, pictured, sheet
from assets.kit.sizes import asked_sides, wrong_size
from assets.kit.table_asset import Mismatch
from assets.vlmbias.common import painter_and_topic, photographs, table_asset
from assets.vlmbias.photographs.paintings import PAINTINGS
from assets.vlmbias.photographs.parts import first_photographs, part_painted
from assets.vlmbias.photographs.subjects import photographs_of
from generators.photographs import Photograph
from resources.budget import Budget
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient
from resources.models.outcomes import Outcome
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


def editor_of(catalog: Catalog, painter: str, config: Editor) -> Model:
    """Who edits what a painter painted. Raises `NoSuchModel`."""
    try:
        return chosen(catalog, config.editor or painter, "editor")
    except NoSuchModel as why:
        if config.editor is not None:
            raise
        raise NoSuchModel(f"{why} Name one in the run config: editor.") from None


class Trial(NamedTuple):
    """One edit of one base image; without a request where what it starts from is not painted."""

    photograph: Photograph
    sources: list[Row]
    """The rows of its paintings, in their order."""
    request: Edit | None


def trials_of(
    photographs: Sequence[Photograph], paintings: Sequence[Row], trials: int
) -> list[Trial]:
    """What an editor is asked: so many edits of each base image that is painted.

    One that is not has a single trial. Raises `Mismatch` where the paintings are not those of these
    base images.
    """
    painted = {row["prompt"]: row for row in paintings}
    made = []
    for photograph in photographs:
        if missing := [each for each in photograph.paintings if each.prompt not in painted]:
            raise Mismatch(
                f"vlmbias/paintings holds no picture of {missing[0].shows} for "
                f"{photograph.base_id}: its subjects have changed since. Materialize the paintings "
                "of this painter and topic again: only what is new is painted."
            )
        sources = [painted[each.prompt] for each in photograph.paintings]
        digests = tuple(source["sha256"] for source in sources)
        if all(source["outcome"] == "painted" for source in sources):
            made += [
                Trial(photograph, sources, Edit(photograph.edit, digests, sample=trial))
                for trial in range(trials)
            ]
        else:
            made.append(Trial(photograph, sources, None))
    return made


def edits_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `edits`, with the editors of a catalog."""

    @table_asset(
        kinds=["image"],
        columns=EDITS,
        partitions=photographs,
        pool="edits",
        description="Independent edits of every base image that its painter has painted.",
    )
    def edits(
        context: AssetExecutionContext,
        config: Editor,
        subjects: pd.DataFrame,
        paintings: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Edit what is painted; what could not be painted has a row that says so."""
        painter, topic = painter_and_topic(context.partition_key)
        editor = editor_of(catalog, painter, config)
        every, painted = photographs_of(topic, subjects), PAINTINGS.rows(paintings)
        some = first_photographs(part_painted(every, painted), config.limit)
        trials = trials_of(some, painted, config.trials)
        requests = [trial.request for trial in trials if trial.request]
        asked = models.ask(editor, requests, context.log, budget.account(context))
        endings = iter(zip(asked.outcomes, asked.keys, strict=True))
        rows = [
            _row(trial, painter, editor) | _ending(trial, endings, editor, images)
            for trial in trials
        ]
        return materialized(
            EDITS.table(rows),
            trials=len(rows),
            **partial_metadata(len(some), len(every), "base images"),
            **Counter(row["outcome"] for row in rows),
            contact_sheet=sheet(rows, _caption, images),
            **cost_metadata(asked),
        )

    return edits


def _row(trial: Trial, painter: str, editor: Model) -> dict[str, Any]:
    photograph = trial.photograph
    return {
        "domain": photograph.domain,
        "painter": painter,
        "editor": editor.name,
        "base_id": photograph.base_id,
        "subject": photograph.subject,
        "subtopic": photograph.subtopic,
        "trial": trial.request.sample if trial.request else 0,
        "prompt": photograph.edit,
        "sources": [source["sha256"] for source in trial.sources if source["sha256"]],
        **dict.fromkeys(PICTURED),
        "rehearsal": editor.rehearses or any(source["rehearsal"] for source in trial.sources),
        "calls": behind(trial.sources),
    }


def _ending(
    trial: Trial,
    endings: Iterator[tuple[Outcome, tuple[str, ...]]],
    editor: Model,
    images: ImageStore,
) -> dict[str, Any]:
    """How a trial ended, which takes the next of `endings` if it was asked for."""
    if trial.request is None:
        source = next(each for each in trial.sources if each["outcome"] != "painted")
        why = f"Its {source['shows']} is {source['outcome']}: {source['reason']}"
        return {"outcome": "unpainted", "reason": why}
    outcome, keys = next(endings)
    ending = pictured(outcome, "edited", images)
    if ending["outcome"] == "edited":
        size = ending["width"], ending["height"]
        # Its label would be that of the edit, and a verdict on it would be one on the original.
        unchanged = any(source["sha256"] == ending["sha256"] for source in trial.sources)
        wrong = "It is what was to be edited, unchanged." if unchanged else None
        if wrong := wrong or _wrong_size(size, editor.parameters, trial.sources):
            ending |= {"outcome": "dropped", "reason": wrong}
    return ending | {"calls": [*behind(trial.sources), *keys]}


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


def _caption(row: Row) -> str:
    return f"{row['subject']}, trial {row['trial']}"
