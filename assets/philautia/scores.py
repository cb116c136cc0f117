"""Scores: what one judge gives every caption, 0 to 100, without and with right ones beside it.

A caption is of a model, or of a collection in which people have scored it. A metric scores the
latter alone: in a matrix it would have a column without a diagonal, and none of its points are
those of the others.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity
from pydantic import Field

from assets.kit.columns import BOOLEAN, REAL, REALS, TEXT, TEXTS, Columns
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.conversations import unanswered_columns
from assets.kit.forecast import PENDING, Forecast, NotCountable
from assets.kit.judging import JudgeStep, scored_columns
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import validate_names
from assets.kit.previews import markdown_table
from assets.kit.step import Check, Conversation, Extent, StepAsset, StepReply, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.philautia.captions import CAPTIONED, CAPTIONS, select_first_pictures, twin_warning
from assets.philautia.common import (
    asset_key,
    dataset_partitions,
    find_twins,
    select_captioners,
)
from assets.philautia.pictures import PICTURES
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS
from assets.philautia.references import CAPTIONERS, EVALUATORS
from generators.prompts.captioning import (
    REFERENCE_BASED,
    SCALE,
    SETTINGS,
    TEMPLATES,
    write_score_prompt,
)
from metrics import read_rating
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import LookRequest, Request, ScoreRequest, Turn
from resources.storage.data_root import DataRoot

SCORES = Columns(
    image_id=(TEXT, "The picture, as philautia/pictures names it"),
    dataset=(TEXT, "The dataset"),
    sha256=(TEXT, "Name of the picture in the image store"),
    generator=(TEXT, "Model that wrote the caption; empty for one that people have scored"),
    candidate=(TEXT, "Name of the scored caption in the collection; empty for a model's"),
    caption=(TEXT, "Caption; empty if the model wrote none"),
    setting=(TEXT, "reference_free, or reference_based (correct captions precede it)"),
    evaluator=(TEXT, "The judge or metric, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompt_version=(TEXT, "Digest of the prompt template; empty for a metric"),
    score=(REAL, "Score, 0 to 100, or on a metric's own scale; empty if there is none"),
    human_score=(REAL, "Mean human score, on the collection's scale; empty for a model's caption"),
    human_scores=(REALS, "Scores by each annotator"),
    outcome=(TEXT, "scored, unparsed, refused, failed, or uncaptioned (the model wrote none)"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "The judge's reply; empty for a stand-in judge"),
    reason=(TEXT, "Reason for a missing score; else empty"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    calls=(TEXTS, "Keys of the stored calls behind the score; none for a stand-in judge"),
)
"""Table with one row per caption and setting."""

UNCAPTIONED = "uncaptioned"
_LONGEST = 600
"""Letters of a caption that is not written yet, in a plan."""
_READ_RESPONSES_REMEDY = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "judge may answer in words, or on another scale than 0 to 100. What has no score is in no mean."
)


class CaptionScoresConfig(LimitConfig):
    """Captions and settings for a judge; a limit counts pictures."""

    settings: Annotated[list[str], validate_names(SETTINGS)] = Field(
        default=[*SETTINGS],
        min_length=1,
        description=f"Settings to score in: {' and '.join(SETTINGS)}, or one of them.",
    )


class CaptionScoreStep(JudgeStep[CaptionScoresConfig]):
    """A judge's or metric's scores of a dataset's captions."""

    config, stand_in_answers, unparsed_check = (
        CaptionScoresConfig,
        EVALUATORS,
        ("setting", _READ_RESPONSES_REMEDY),
    )
    asset = StepAsset(
        key=asset_key("scores"),
        partitions_def=dataset_partitions,
        description="Scores by {name} of every model's captions, 0 to 100.",
    )
    table = StepTable(
        columns=SCORES,
        unstored_keys=("generator_model", "references", "scale_high", "scale_low"),
        key_columns=("image_id", "generator", "candidate", "setting"),
        filled_columns=MappingProxyType(
            {
                "scored": ("score",),
                **dict.fromkeys(("unparsed", "refused", "failed", UNCAPTIONED), ()),
            }
        ),
        has_portions=True,
    )
    example_request: Request | None = LookRequest(())

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.is_metric = "metric" in judge.roles
        if self.is_metric:
            self.asset = replace(self.asset, kinds=("metric", judge.backend))
            self.example_request = self.example_request and ScoreRequest("", "")
        writers = () if self.is_metric else select_captioners(catalog, CAPTIONERS)
        # Stand-in models score each other's captions, and nobody else does.
        self.generators = tuple(
            model for model in writers if model.is_stand_in == judge.is_stand_in
        )
        self.inputs = {
            "pictures": Input(
                asset_key("pictures"), row_columns=PICTURES, uses_default_config=True
            ),
            "rated": Input(
                asset_key("rated_captions"),
                row_columns=RATED_CAPTION_COLUMNS,
                uses_default_config=True,
            ),
            **{
                f"captions_{model.name}": Input(
                    asset_key(f"captions_{model.name}"), row_columns=CAPTIONS, is_optional=True
                )
                for model in self.generators
            },
        }
        is_twin = judge.name in find_twins(catalog.select_role("judge")) | find_twins(
            self.generators
        )
        self.forecast = Forecast(
            warn=self._warn,
            dependent_judges=() if is_twin else self._list_other_models(),
            rebuild_config=self._rebuild_config,
        )

    def rows(self, work: StepRun[CaptionScoresConfig]) -> Iterator[dict[str, Any]]:
        """The rows, one after the other; a metric has none where people have scored no captions.

        Raises `NotCountable` where there is no caption yet.
        """
        pictures = select_first_pictures(work.read_rows("pictures"), work.config.limit)
        pictures_by_id = {row["image_id"]: row for row in pictures}
        captions = [(model, work.read_rows(f"captions_{model.name}")) for model in self.generators]
        rated = [row for row in work.read_rows("rated") if row["image_id"] in pictures_by_id]
        if not self.is_metric and not rated and not any(rows for _, rows in captions):
            raise NotCountable(asset_key(self._name_missing_asset()).to_user_string())
        for model, rows in captions:
            for row in rows:
                if row["image_id"] in pictures_by_id and not _is_outdated(
                    row, pictures_by_id[row["image_id"]]
                ):
                    yield from self._build_model_rows(
                        work, model, row, pictures_by_id[row["image_id"]]
                    )
        for row in rated:
            columns = {name: row[name] for name in ("candidate", "caption", "references")}
            columns |= {name: row[name] for name in _HUMAN_COLUMNS}
            yield from self._build_setting_rows(
                work, pictures_by_id[row["image_id"]], columns, None
            )

    def _rebuild_config(self, home: DataRoot, partition: str) -> Mapping[str, Any]:
        """Rebuild the config from the table: as many pictures, and the same settings."""
        table = home.table(self.key, partition, ["image_id", "setting"])
        pictures = home.find(asset_key("pictures"), partition, ["image_id"])
        picture_count, settings = table["image_id"].nunique(), {*table["setting"]}
        is_partial = pictures is not None and 0 < picture_count < len(pictures)
        return {
            **({"limit": picture_count} if is_partial else {}),
            **({"settings": sorted(settings)} if 0 < len(settings) < len(SETTINGS) else {}),
        }

    def _name_missing_asset(self) -> str:
        """Return the asset that would supply captions: a model's, or else the rated ones."""
        return next((f"captions_{model.name}" for model in self.generators), "rated_captions")

    def _build_model_rows(
        self, work: StepRun[CaptionScoresConfig], model: Model, row: Row, picture: Row
    ) -> Iterator[dict[str, Any]]:
        """The rows of a model's caption; pending where it or its picture is."""
        ended: str | None = None
        if PENDING in (row["outcome"], picture["outcome"]):
            ended = PENDING
        elif row["outcome"] != CAPTIONED:
            ended = UNCAPTIONED
        columns = {
            "generator": model.name,
            "generator_model": model.model,
            "caption": "?" * _LONGEST if ended == PENDING else row["caption"],
            "references": picture["references"] or [],
            "reason": f"{model.name} wrote no caption: {row['outcome']}." if ended else None,
        }
        yield from self._build_setting_rows(work, picture, columns, ended)

    def _build_setting_rows(
        self, work: StepRun[CaptionScoresConfig], picture: Row, columns: Row, ended: str | None
    ) -> Iterator[dict[str, Any]]:
        for setting in work.config.settings:
            if setting == REFERENCE_BASED and (self.is_metric or not columns["references"]):
                continue
            yield {
                **_NOTHING,
                **{name: picture[name] for name in ("image_id", "dataset", "sha256")},
                **columns,
                "setting": setting,
                "evaluator": self.judge.name,
                "entry_version": self.asset.code_version,
                "prompt_version": None if self.is_metric else TEMPLATES[setting].version,
                "outcome": ended,
                "is_stand_in": picture["is_stand_in"] or self.judge.is_stand_in,
                "calls": [],
            }

    def converse(self, work: StepRun[CaptionScoresConfig], row: Row) -> Conversation:
        """Have a caption scored that is there."""
        if row["outcome"] == UNCAPTIONED:
            return {}
        return (yield from super().converse(work, row))

    def query(self, work: StepRun[CaptionScoresConfig], row: Row) -> Conversation:
        """Have the caption scored; who wrote it is not said."""
        if self.is_metric:
            return metric_columns((yield ScoreRequest(row["caption"], row["sha256"])))
        references = row["references"] if row["setting"] == REFERENCE_BASED else ()
        words = write_score_prompt(row["caption"], references)
        return parse_score((yield LookRequest((Turn("user", words, (row["sha256"],)),))))

    def checks(self) -> Sequence[Check]:
        """Check that few replies are unreadable, and that captions fit the current pictures."""
        description = "Captions belong to the current pictures; no others are scored."
        return [*super().checks(), Check("captions_are_current", description, self._check_current)]

    def _check_current(
        self, work: StepRun[CaptionScoresConfig], rows: Sequence[Row]
    ) -> AssetCheckResult:
        pictures = {row["image_id"]: row for row in work.read_rows("pictures")}
        outdated = Counter(
            model.name
            for model in self.generators
            for row in work.read_rows(f"captions_{model.name}")
            if row["image_id"] in pictures and _is_outdated(row, pictures[row["image_id"]])
        )
        description = "; ".join(
            f"{number:,} of the captions of {name} are of other pictures than are there now, and "
            f"were not scored. Materialize philautia/captions_{name} again"
            for name, number in outdated.items()
        )
        return AssetCheckResult(
            passed=not outdated,
            severity=AssetCheckSeverity.WARN,
            description=f"{description or 'All captions are of the pictures that are there'}.",
        )

    def extent(self, work: StepRun[CaptionScoresConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all pictures."""
        picture_count = len({row["image_id"] for row in rows})
        return Extent(count=picture_count, total=len(work.tables["pictures"]), unit="pictures")

    def metadata(self, work: StepRun[CaptionScoresConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """The mean score of each model's captions."""
        names = ["setting", "generator", "score"]
        table = pd.DataFrame(([row[name] for name in names] for row in rows), columns=names)
        table = table.fillna({"generator": "captions that people have scored"})
        means = table.astype({"score": float}).groupby(names[:2], sort=False)["score"]
        return {"scores": markdown_table(means.agg(["count", "mean"]).round(2).reset_index())}

    def _warn(self, partition: str, config: CaptionScoresConfig) -> str | None:
        """Warn if the model repeats another entry, or has no other model for comparison."""
        if not self.is_metric and "captioner" not in self.judge.roles:
            return (
                f"{self.judge.name} writes no captions, so it has no self-preference: add "
                "captioner to its roles in models.yaml."
            )
        if not self.is_metric and not self._list_other_models():
            return (
                f"{self.judge.name} is the only model that writes and scores captions: its "
                "self-preference cannot be measured. List a second one, with the roles captioner "
                "and judge, in models.yaml; four give the full estimate."
            )
        return twin_warning(self.judge.name, find_twins(self.catalog.select_role("judge")))

    def _list_other_models(self) -> Sequence[Model]:
        """The other models that write and score captions, each once."""
        judges = self.catalog.select_role("judge")
        left_out = {**find_twins(judges), **find_twins(self.generators), self.judge.name: ""}
        names = {judge.name for judge in judges} - {*left_out}
        return tuple(model for model in self.generators if model.name in names)


_HUMAN_COLUMNS = ("human_score", "human_scores", "scale_low", "scale_high")
_NOTHING = dict.fromkeys(("generator", "generator_model", "candidate", "reason", *_HUMAN_COLUMNS))


def _is_outdated(caption: Row, picture: Row) -> bool:
    """Return whether a caption belongs to an older picture than the current one."""
    is_pending = PENDING in (caption["outcome"], picture["outcome"])
    return not is_pending and bool(caption["sha256"] != picture["sha256"])


def parse_score(reply: StepReply) -> dict[str, Any]:
    """The columns of a judge's reply; what is no whole number from 0 to 100 is no score."""
    return scored_columns(reply, partial(read_rating, low=SCALE[0], high=SCALE[1]))


def metric_columns(reply: StepReply) -> dict[str, Any]:
    """The columns of a metric's reply."""
    outcome, calls = reply.outcome, {"calls": list(reply.calls)}
    if isinstance(outcome, AnsweredOutcome):
        columns = {"outcome": "scored", "served_model": outcome.served_model}
        return {"score": outcome.score, "response": outcome.text, **columns, **calls}
    return {"score": None, **unanswered_columns(outcome, "unparsed"), **calls}
