"""Search: by bias the configuration that raises a judge's scores most, as the paper has it (App.
B.3) and held out.

No model is asked: a judge has scored every configuration.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

import pandas as pd
from pydantic import Field

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.frame.biases import NONE
from assets.frame.common import asset_key, by_source, split_source_key
from assets.frame.scores import SCORES
from assets.kit.columns import BOOLEAN, REAL, TEXT, WHOLE, Columns, select_values
from assets.kit.forecast import PENDING
from assets.kit.previews import markdown_table
from assets.kit.step import Extent, Step, StepAsset, StepTable, UnfitAnswers
from assets.kit.step_run import Input, Row, StepRun
from generators.prompts.judging_templates import STANDARD
from metrics import search_held_out
from resources.models.catalog import Catalog, Model
from resources.settings.run_config import Config

IN_SAMPLE, HELD_OUT = CHOICES = ("in_sample", "held_out")

SEARCH = Columns(
    domain=(TEXT, "people, animals, illustration, indoor or outdoor"),
    source=(TEXT, "The painter, or the collection"),
    model=(TEXT, "The judge, as models.yaml names it"),
    bias=(TEXT, "Bias that was searched"),
    choice=(
        TEXT,
        "in_sample: chosen and reported on all pictures, as in the paper; held_out: "
        "chosen on one half and reported on the other, or reported on all pictures where there "
        "was only one configuration",
    ),
    parameters=(TEXT, "Chosen configuration, as in frame/biased_images"),
    candidate_count=(WHOLE, "Number of configurations to choose from"),
    seed=(WHOLE, "Random seed for the halves"),
    images=(WHOLE, "Number of pictures behind the figures"),
    original=(REAL, "Mean score before, 0 to 5; empty if none was scored both times"),
    biased=(REAL, "Mean score after, 0 to 5"),
    percent=(REAL, "Change in percent"),
    percent_low=(REAL, "Low end of its 95 % interval, by a paired bootstrap over pictures"),
    percent_high=(REAL, "High end; both ends are too high if chosen in sample"),
    outcome=(TEXT, "found, or unscored where no configuration can be compared"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
)
"""Two rows a bias."""


_SCORE_COLUMNS = Columns(
    **SCORES.subset("image_id", "original", "domain", "bias", "parameters", "template", "score"),
    **SCORES.subset("outcome", "readable", "is_stand_in"),
)
SCORE_TEXT_COLUMNS = (
    *("image_id", "original", "domain", "bias", "parameters", "template", "outcome"),
)
"""Text columns of scores, read as categories: few distinct texts in very many rows."""


class SearchConfig(Config):
    """Settings of a search."""

    seed: int = Field(default=0, description="Random seed for splitting the pictures into halves.")


class ConfigurationSearch(Step[SearchConfig]):
    """The best configurations of one judge, for a domain and source."""

    config = SearchConfig
    asset = StepAsset(
        key=asset_key("search"),
        description=(
            "Configuration of each bias that raises the scores of {name} most: chosen on all "
            "pictures, as in Table 9, and chosen on one half and reported on the other."
        ),
        partitions_def=by_source,
        is_optional=True,
    )
    table = StepTable(columns=SEARCH, key_columns=("bias", "choice"))

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog)
        self.judge = judge
        self.asset = self.asset.of_model(judge, subject_model=judge)
        self.table = replace(self.table, list_expected_keys=self._list_keys)
        self.inputs = MappingProxyType(
            {
                "scores": Input(
                    asset_key(f"scores_{judge.name}"),
                    streamed_columns=_SCORE_COLUMNS,
                    uses_default_config=True,
                )
            }
        )

    def rows(self, work: StepRun[SearchConfig]) -> list[dict[str, Any]]:
        """Search each bias. Raises `UnfitAnswers` if one picture decides among several."""
        scores = work.stored_tables["scores"].to_frame(
            [*_SCORE_COLUMNS.columns], SCORE_TEXT_COLUMNS
        )
        domain, source = split_source_key(work.partition)
        common_columns = {
            "domain": domain,
            "source": source,
            "model": self.judge.name,
            "seed": work.config.seed,
            "is_stand_in": bool(scores["is_stand_in"].astype("boolean").fillna(value=False).any()),
        }
        if scores["outcome"].eq(PENDING).any():
            return [{**common_columns, **row} for row in _build_pending_rows(scores)]
        compared = join_originals(scores)
        is_choice = compared.groupby("bias")["parameters"].nunique().gt(1).any()
        if is_choice and compared["picture"].nunique() == 1:
            raise UnfitAnswers(
                f"{self.key.to_user_string()}: one picture cannot be split into halves. "
                f"Have {self.judge.name} score two or more."
            )
        return [{**common_columns, **row} for row in search_biases(compared, work.config.seed)]

    def _list_keys(
        self, work: StepRun[SearchConfig], rows: Sequence[Row]
    ) -> Iterable[tuple[Any, ...]]:
        """Two rows of each bias that was scored."""
        return product(
            {row["bias"] for row in work.iterate_rows("scores", "bias")} - {NONE}, CHOICES
        )

    def metadata(self, work: StepRun[SearchConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Report the best configurations."""
        shown = ["bias", "choice", "parameters", "images", "original", "biased", "percent"]
        return {"best": markdown_table(pd.DataFrame(rows, columns=shown).round(2))}


def join_originals(scores: pd.DataFrame, template: str = STANDARD) -> pd.DataFrame:
    """Join each picture and each configuration tried, with its scores before and after.

    `scores` are one judge's. There is a row for every picture and text that was asked about as it
    was: `image_id`, `picture` (its name in the image store: one picture may have several texts),
    `domain`, `bias`, `parameters`, `readable`, `original` and `biased`, NaN without a score, and
    `asked`: whether it was asked about with the bias as well.
    """
    scores = scores[scores["template"].eq(template)]
    before = scores[scores["bias"].eq(NONE)][["image_id", "original", "domain", "score"]]
    before = before.rename(columns={"original": "picture", "score": "original"})
    after = scores[scores["bias"].ne(NONE)]
    configurations = after[["bias", "parameters"]].drop_duplicates()
    expected_rows = configurations.merge(before, how="cross")
    # A collection without domains may be asked about in several: one picture, other scores.
    biased_scores = after[["image_id", "domain", "parameters", "readable", "score"]]
    joined: pd.DataFrame = expected_rows.merge(
        biased_scores.rename(columns={"score": "biased"}).assign(asked=True),
        how="left",
        on=["image_id", "domain", "parameters"],
    )
    is_asked = joined["asked"].notna()
    return joined.assign(asked=is_asked).astype({"original": float, "biased": float})


def search_biases(scores: pd.DataFrame, seed: int) -> Iterator[dict[str, Any]]:
    """Search each bias for its best configuration; `scores` are as `join_originals` gives them."""
    for bias, group in scores.groupby("bias", sort=False):
        winners = search_held_out(group.rename(columns={"parameters": "configuration"}), seed=seed)
        for choice, best in zip(CHOICES, winners, strict=True):
            change = best.change
            numbers = (change.original, change.biased, change.percent, *change.interval)
            names = ("original", "biased", "percent", "percent_low", "percent_high")
            yield {
                "bias": bias,
                "choice": choice,
                "parameters": best.configuration,
                "candidate_count": group["parameters"].nunique(),
                "images": change.images,
                **dict(zip(names, map(to_float_or_none, numbers), strict=True)),
                "outcome": "unscored" if to_float_or_none(change.percent) is None else "found",
            }


def to_float_or_none(number: float) -> float | None:
    """A number as tables hold it: None for NaN."""
    return None if pd.isna(number) else float(number)


def select_best(rows: Sequence[Row], choice: str = IN_SAMPLE) -> Mapping[str, str]:
    """Return the best configuration by bias; the paper's analyses take the in-sample choice."""
    return {row["bias"]: row["parameters"] for row in rows if row["choice"] == choice}


def search_inputs(judge: Model) -> MappingProxyType[str, Input]:
    """The inputs of what is made of a judge's best configurations."""
    return MappingProxyType(
        {
            "biased_images": Input(
                asset_key("biased_images"),
                streamed_columns=BIASED_IMAGE_COLUMNS,
                uses_default_config=True,
            ),
            "search": Input(
                asset_key(f"search_{judge.name}"), row_columns=SEARCH, uses_default_config=True
            ),
        }
    )


def is_undecided(row: Row, search: Sequence[Row]) -> bool:
    """Return whether the row's bias still waits for its best configuration."""
    return row["bias"] != NONE and any(search_row["outcome"] == PENDING for search_row in search)


def count_originals(work: StepRun[Any], rows: Sequence[Row]) -> Extent:
    """Count the pictures that some rows cover, among all originals."""
    originals = sum(row["bias"] == NONE for row in work.iterate_rows("biased_images", "bias"))
    return Extent(count=len(set(select_values(rows, "image_id"))), total=originals, unit="pictures")


def _build_pending_rows(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a pending row for each bias and choice, before scores exist."""
    configurations = (
        scores[scores["bias"].ne(NONE)].groupby("bias", sort=False)["parameters"].first()
    )
    for bias, parameters in configurations.items():
        for choice in CHOICES:
            yield {"bias": bias, "choice": choice, "parameters": parameters, "outcome": PENDING}
