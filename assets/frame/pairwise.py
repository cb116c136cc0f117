"""Pairwise: picture A, as it was and biased, against another one of its instruction (Figure 3).

Picture B is the painter's next sample by the same settings. Both are shown in both orders.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from assets.frame.biased_images import OF_BIASED, SomeBiases
from assets.frame.biases import NONE
from assets.frame.common import GROUP, by_source, key
from assets.frame.images import IMAGES
from assets.frame.references import REFERENCES
from assets.frame.scores import ASKED
from assets.frame.search import best_of, hinges, searched_inputs
from assets.kit.columns import REAL, TEXT, TEXTS, Columns
from assets.kit.judging import JudgeStep, References, scored_columns
from assets.kit.limits import Placed, first_of
from assets.kit.previews import markdown_table
from assets.kit.step import PENDING, Conversation, Extent, Input, Row, Unfit, Work
from generators.prompts.pairwise import VERSION, pairwise_prompt
from metrics import read_pick
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.requests import Look, Turn

ORDERS = ("first", "second")

PREFERENCES = Columns(
    **OF_BIASED,
    other=(TEXT, "Name of picture B in the image store"),
    order=(TEXT, "Whether picture A was shown first or second"),
    template_version=(TEXT, "Of the words of what was asked"),
    model=(TEXT, "The judge, as models.yaml names it"),
    model_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    preference=(REAL, "1 where A is preferred, 0.5 for a tie, 0 where B is; empty for none"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "What the judge said; empty for a reference judge"),
    reason=(TEXT, "Why there is no preference; else empty"),
    served_model=(TEXT, "Which model said it, as the provider says; empty where it does not"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a reference judge"),
)
"""One row a picture A, bias and order."""


def _preferring(judge: str) -> Any:
    """A reference judge that prefers what it gives the higher score."""

    def prefer(row: Row, images: ImageStore) -> Mapping[str, Any]:
        other = {**row, "bias": NONE, "sha256": row["other"]}
        one, against = (REFERENCES[judge](each, images)["score"] for each in (row, other))
        preference = 0.5 if one == against else float(one > against)
        return {"preference": preference, "outcome": "scored"}

    return prefer


_REFERENCES: References = {judge: _preferring(judge) for judge in REFERENCES}


class Pairwise(JudgeStep[SomeBiases]):
    """Which of two pictures one judge prefers, before and after biases."""

    group, columns, config, partitions = GROUP, PREFERENCES, SomeBiases, by_source
    named, references, asks = "pairwise", _REFERENCES, Look(())
    is_automatic, unread = False, ("bias", "Read some of the table's responses.")
    named_by = ("image_id", "parameters", "order")

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = MappingProxyType(
            {
                **searched_inputs(judge),
                "pictures": Input(key("images"), by_row=IMAGES, by_default=True),
            }
        )
        self.description = (
            f"Which of two pictures of an instruction {judge.name} prefers, in both orders, before "
            "and after its best configuration of each bias (§6, Figure 3)."
        )

    def rows(self, work: Work[SomeBiases]) -> list[dict[str, Any]]:
        """Each pair twice as it was, and twice with each bias of picture A."""
        search = work.rows("search")
        wanted = {
            parameters
            for bias, parameters in best_of(search).items()
            if not work.config.biases or bias in work.config.biases
        }
        others = {row["item_id"]: row for row in _seconds(work)}
        paired = [
            row["image_id"]
            for row in work.each("biased_images", "image_id", "item_id", "bias")
            if row["bias"] == NONE and row["item_id"] in others
        ]
        names = set(first_of(paired, work.config.limit, lambda name: Placed(name, ())))
        return [
            row
            | {
                "other": others[row["item_id"]]["sha256"],
                "order": order,
                "template_version": VERSION,
                "model": self.judge.name,
                "model_version": self.code_version,
                "outcome": PENDING
                if hinges(row, search)
                or PENDING in (row["outcome"], others[row["item_id"]]["outcome"])
                else None,
                "calls": [],
            }
            for row in work.each("biased_images", *ASKED.columns)
            if row["image_id"] in names
            and row["outcome"] != "inapplicable"
            and (row["bias"] == NONE or row["parameters"] in wanted)
            for order in ORDERS
        ]

    def made(
        self, work: Work[SomeBiases], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make nothing. Raises `Unfit` where there is no picture B."""
        if not rows:
            raise Unfit(
                f"{self.key.to_user_string()}: no instruction of {work.partition} has a second "
                "picture by the same settings. Materialize frame/images and biased_images with "
                "samples: 2; a collection has no second ones."
            )
        return rows

    def query(self, work: Work[SomeBiases], row: Row) -> Conversation:
        """Have both pictures compared by the original instruction."""
        pair = (row["sha256"], row["other"])
        shown = pair if row["order"] == "first" else pair[::-1]
        words = pairwise_prompt(row["instruction"] or "")
        said = scored_columns((yield Look((Turn("user", words, shown),))), read_pick)
        first = said["score"]
        is_first = first is None or row["order"] == "first"
        return {**said, "preference": first if is_first else 1 - first}

    def extent(self, work: Work[SomeBiases], rows: Sequence[Row]) -> Extent:
        """Of all pictures that have a second one."""
        there = len([*_seconds(work)])
        return Extent(len({row["image_id"] for row in rows}), there, "pairs")

    def metadata(self, work: Work[SomeBiases], rows: Sequence[Row]) -> dict[str, Any]:
        """The mean preference by bias."""
        found = pd.DataFrame(rows, columns=["bias", "preference"])
        means = found.groupby("bias", sort=False)["preference"].agg(["count", "mean"])
        return {"preferences": markdown_table(means.round(3).reset_index())}


def compared(preferences: pd.DataFrame) -> pd.DataFrame:
    """One row a pair and bias, as `metrics.win_rates` takes it, with `bias` and `model`."""
    preferences = preferences.rename(columns={"original": "picture"})
    names = ["model", "domain", "image_id", "picture"]
    wide = preferences.pivot(
        index=[*names, "bias", "parameters"], columns="order", values="preference"
    ).reset_index()
    before = wide[wide["bias"].eq(NONE)].drop(columns=["bias", "parameters"])
    after = wide[wide["bias"].ne(NONE)]
    joined: pd.DataFrame = after.merge(before, on=names, suffixes=("", "_before"))
    return joined


def _seconds(work: Work[Any]) -> Iterator[dict[str, Any]]:
    """The second picture of each item."""
    return (
        row
        for row in work.each("pictures", "item_id", "sha256", "outcome", "sample")
        if row["outcome"] in ("painted", PENDING) and row["sample"] == 1
    )
