"""Pairwise: picture A, as it was and biased, against another one of its instruction (Figure 3).

Picture B is the painter's next sample by the same settings. Both are shown in both orders.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from assets.frame.biased_images import BIAS_COLUMNS, BiasSelectionConfig
from assets.frame.biases import NONE
from assets.frame.common import asset_key, by_source
from assets.frame.images import IMAGES
from assets.frame.plain_readings import READING_VERSION, count_readings, read_plainly
from assets.frame.references import STAND_IN_ANSWERS
from assets.frame.scores import SCORED_IMAGE_COLUMNS
from assets.frame.search import is_undecided, search_inputs, select_best
from assets.kit.columns import REAL, TEXT, TEXTS, Columns
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.forecast import PENDING
from assets.kit.judging import JudgeStep, StandInAnswers, scored_columns
from assets.kit.limits import SamplingKey, stratified_head
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, Extent, StepAsset, StepTable, UnfitAnswers
from assets.kit.step_run import Input, Row, StepRun
from generators.prompts.pairwise import VERSION, write_pairwise_prompt
from metrics import read_pick, read_plain_pick
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest, Turn
from resources.storage.image_store import ImageStore

ORDERS = ("first", "second")

PREFERENCES = Columns(
    **BIAS_COLUMNS,
    other=(TEXT, "Name of picture B in the image store"),
    order=(TEXT, "Position of picture A: first or second"),
    template_version=(TEXT, "Digest of the prompt template"),
    model=(TEXT, "The judge, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    preference=(REAL, "1 where A is preferred, 0.5 for a tie, 0 where B is; empty for none"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "The judge's reply; empty for a stand-in judge"),
    reason=(TEXT, "Reason for a missing preference; else empty"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    calls=(TEXTS, "Keys of the stored calls behind it; none for a stand-in judge"),
    plain_preference=(REAL, "Preference read from JSON or plain words, beside the one that counts"),
    reading_version=READING_VERSION,
)
"""Table with one row per picture A, bias and order."""


def _build_preference_judge(judge: str) -> Any:
    """A stand-in judge that prefers what it gives the higher score."""

    def prefer(row: Row, images: ImageStore) -> Mapping[str, Any]:
        other = {**row, "bias": NONE, "sha256": row["other"]}
        score, other_score = (
            STAND_IN_ANSWERS[judge](picture, images)["score"] for picture in (row, other)
        )
        preference = 0.5 if score == other_score else float(score > other_score)
        return {"preference": preference, "outcome": "scored"}

    return prefer


_PREFERENCE_ANSWERS: StandInAnswers = {
    judge: _build_preference_judge(judge) for judge in STAND_IN_ANSWERS
}


class Pairwise(JudgeStep[BiasSelectionConfig]):
    """A judge's preference between two pictures, before and after biases."""

    config, stand_in_answers, example_request = (
        BiasSelectionConfig,
        _PREFERENCE_ANSWERS,
        LookRequest(()),
    )
    unparsed_check = ("bias", "Read some of the table's responses.")
    asset = StepAsset(
        key=asset_key("pairwise"),
        description=(
            "Preferences of {name} between two pictures of an instruction, in both orders, before "
            "and after its best configuration of each bias (§6, Figure 3)."
        ),
        partitions_def=by_source,
        is_automatic=False,
    )
    table = StepTable(
        columns=PREFERENCES,
        key_columns=("image_id", "parameters", "order"),
        unstored_keys=("score",),
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = MappingProxyType(
            {
                **search_inputs(judge),
                "pictures": Input(
                    asset_key("images"), streamed_columns=IMAGES, uses_default_config=True
                ),
            }
        )

    def rows(self, work: StepRun[BiasSelectionConfig]) -> list[dict[str, Any]]:
        """Build the rows: each original pair twice, and twice more for each bias of picture A."""
        search = work.read_rows("search")
        configurations = {
            parameters
            for bias, parameters in select_best(search).items()
            if not work.config.biases or bias in work.config.biases
        }
        others = {row["item_id"]: row for row in _iterate_second_pictures(work)}
        paired = [
            row["image_id"]
            for row in work.iterate_rows("biased_images", "image_id", "item_id", "bias")
            if row["bias"] == NONE and row["item_id"] in others
        ]
        names = set(stratified_head(paired, work.config.limit, lambda name: SamplingKey(name, ())))
        return [
            row
            | {
                "other": others[row["item_id"]]["sha256"],
                "order": order,
                "template_version": VERSION,
                "model": self.judge.name,
                "entry_version": self.asset.code_version,
                "outcome": PENDING
                if is_undecided(row, search)
                or PENDING in (row["outcome"], others[row["item_id"]]["outcome"])
                else None,
                "calls": [],
            }
            for row in work.iterate_rows("biased_images", *SCORED_IMAGE_COLUMNS.columns)
            if row["image_id"] in names
            and row["outcome"] != "inapplicable"
            and (row["bias"] == NONE or row["parameters"] in configurations)
            for order in ORDERS
        ]

    def prepare(
        self, work: StepRun[BiasSelectionConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make nothing. Raises `UnfitAnswers` where there is no picture B."""
        if not rows:
            raise UnfitAnswers(
                f"{self.key.to_user_string()}: no instruction of {work.partition} has a second "
                "picture by the same settings. Materialize frame/images and biased_images with "
                "samples: 2; a collection has no second ones."
            )
        return rows

    def query(self, work: StepRun[BiasSelectionConfig], row: Row) -> Conversation:
        """Have both pictures compared by the original instruction."""
        pair = (row["sha256"], row["other"])
        shown = pair if row["order"] == "first" else pair[::-1]
        words = write_pairwise_prompt(row["instruction"] or "")
        columns = scored_columns((yield LookRequest((Turn("user", words, shown),))), read_pick)
        columns |= read_plainly(columns["response"], read_plain_pick, "plain_preference")
        names = {"preference": "score", "plain_preference": "plain_preference"}
        is_first = row["order"] == "first"
        return columns | {
            name: first if is_first or first is None else 1 - first
            for name, source in names.items()
            for first in (columns[source],)
        }

    def extent(self, work: StepRun[BiasSelectionConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all pictures with a second one."""
        pair_count = len([*_iterate_second_pictures(work)])
        return Extent(count=len({row["image_id"] for row in rows}), total=pair_count, unit="pairs")

    def metadata(self, work: StepRun[BiasSelectionConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """The mean preference by bias, and how many replies are read."""
        table = pd.DataFrame(rows, columns=["bias", "preference"])
        means = table.groupby("bias", sort=False)["preference"].agg(["count", "mean"])
        return {
            "preferences": markdown_table(means.round(3).reset_index()),
            **count_readings(rows, "preference", "plain_preference"),
        }


def pair_preferences(preferences: pd.DataFrame) -> pd.DataFrame:
    """Build one row per pair and bias for `metrics.win_rates`, with `bias` and `model`."""
    preferences = preferences.rename(columns={"original": "picture"})
    names = ["model", "domain", "image_id", "picture"]
    wide = preferences.pivot(
        index=[*names, "bias", "parameters"], columns="order", values="preference"
    ).reset_index()
    before = wide[wide["bias"].eq(NONE)].drop(columns=["bias", "parameters"])
    after = wide[wide["bias"].ne(NONE)]
    joined: pd.DataFrame = after.merge(before, on=names, suffixes=("", "_before"))
    return joined


def _iterate_second_pictures(work: StepRun[Any]) -> Iterator[dict[str, Any]]:
    """The second picture of each item."""
    return (
        row
        for row in work.iterate_rows("pictures", "item_id", "sha256", "outcome", "sample")
        if row["outcome"] in ("painted", PENDING) and row["sample"] == 1
    )
