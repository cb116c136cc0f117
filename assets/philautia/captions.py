"""Captions: what one model says that each picture shows."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from assets.kit.columns import BOOLEAN, TEXT, TEXTS, Columns
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.forecast import PENDING, Forecast
from assets.kit.judging import JudgeStep, reply_columns
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.previews import markdown_table, sample_evenly
from assets.kit.step import Conversation, Extent, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.philautia.common import asset_key, dataset_partitions, find_twins
from assets.philautia.pictures import PICTURES
from assets.philautia.references import CAPTIONERS
from generators.prompts.captioning import CAPTION, write_caption_prompt
from metrics.reply_parsing.reply_text import is_refusal, strip_thinking
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest, Turn

CAPTIONS = Columns(
    image_id=(TEXT, "The picture, as philautia/pictures names it"),
    dataset=(TEXT, "The dataset"),
    sha256=(TEXT, "Name of the picture in the image store"),
    model=(TEXT, "Captioning model, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompt_version=(TEXT, "Digest of the prompt template"),
    caption=(TEXT, "The caption; empty where there is none"),
    outcome=(TEXT, "captioned, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "The model's whole reply, if it is no caption"),
    reason=(TEXT, "Reason for a missing caption; else empty"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a stand-in model"),
)
"""Table with one row per picture."""

CAPTIONED = "captioned"
_MAX_SHOWN = 8


class CaptionStep(JudgeStep[LimitConfig]):
    """A model's captions of a dataset's pictures; a limit counts pictures."""

    config, stand_in_answers, example_request = LimitConfig, CAPTIONERS, LookRequest(())
    asset = StepAsset(
        key=asset_key("captions"),
        partitions_def=dataset_partitions,
        description="Captions by {name} of every picture.",
    )
    table = StepTable(
        columns=CAPTIONS,
        unstored_keys=("references",),
        key_columns=("image_id",),
        filled_columns=MappingProxyType(
            {CAPTIONED: ("caption",), **dict.fromkeys(("unparsed", "refused", "failed"), ())}
        ),
    )
    inputs = MappingProxyType(
        {"pictures": Input(asset_key("pictures"), row_columns=PICTURES, uses_default_config=True)}
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.asset = replace(self.asset, kinds=("captioner", judge.backend))
        self.forecast = Forecast(warn=self._warn)

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The pictures, or the first of a limit."""
        return [
            {
                **{name: row[name] for name in ("image_id", "dataset", "sha256", "references")},
                "model": self.judge.name,
                "entry_version": self.asset.code_version,
                "prompt_version": CAPTION.version,
                "outcome": PENDING if row["outcome"] == PENDING else None,
                "is_stand_in": row["is_stand_in"] or self.judge.is_stand_in,
                "calls": [],
            }
            for row in select_first_pictures(work.read_rows("pictures"), work.config.limit)
        ]

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask what the picture shows."""
        return reply_columns(
            (yield LookRequest((Turn("user", write_caption_prompt(), (row["sha256"],)),)))
        )

    def finish(
        self, work: StepRun[LimitConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Read the captions."""
        return [row | parse_caption(row) if row["outcome"] == "answered" else row for row in rows]

    def extent(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all pictures."""
        return Extent(count=len(rows), total=len(work.tables["pictures"]), unit="pictures")

    def metadata(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Show some of the captions."""
        captioned = [row for row in rows if row["outcome"] == CAPTIONED]
        sample = sample_evenly(captioned, _MAX_SHOWN)
        shown = pd.DataFrame(sample, columns=["image_id", "caption"])
        return {"captions": markdown_table(shown)}

    def _warn(self, partition: str, config: LimitConfig) -> str | None:
        """Warn if the model is the same as another entry's."""
        return twin_warning(self.judge.name, find_twins(self.catalog.select_role("captioner")))


def twin_warning(name: str, twins: dict[str, str]) -> str | None:
    """Return a warning for runs and quotes if an earlier entry names the same model."""
    if name not in twins:
        return None
    return (
        f"{name} is the same model as {twins[name]}, with other parameters: it is left out of "
        "philautia/preference_matrix and philautia/pomms, which would compare it with itself."
    )


def select_first_pictures(
    pictures: Sequence[dict[str, Any]], limit: int | None
) -> list[dict[str, Any]]:
    """The first pictures of a limit, the same for every model."""
    return stratified_head(pictures, limit, lambda row: SamplingKey(row["image_id"], ()))


def parse_caption(row: Row) -> dict[str, Any]:
    """The columns of a reply: `caption`, `outcome`, `refusal`, `response`, `reason`."""
    caption = strip_thinking(row["response"] or "").strip()
    if caption and not is_refusal(caption):
        return {"caption": caption, "outcome": CAPTIONED, "response": None}
    if caption:
        return {"outcome": "refused", "refusal": "model", "reason": "It declines in words."}
    return {"outcome": "unparsed", "reason": "It holds no words after its thinking."}
