"""Search: by bias the configuration that raises a judge's scores most, as the paper has it (App.
B.3) and held out.

Nobody is asked: a judge's scores are of every configuration that was tried.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import pandas as pd
from pydantic import Field

from assets.frame.biased_images import BIASED
from assets.frame.biases import NONE
from assets.frame.common import GROUP, by_source, domain_and_source, key
from assets.frame.scores import SCORES
from assets.kit.columns import BOOLEAN, REAL, TEXT, WHOLE, Columns, values
from assets.kit.previews import markdown_table
from assets.kit.step import PENDING, Extent, Input, Row, Step, Unfit, Work
from generators.prompts.judging_templates import STANDARD
from metrics import search
from resources.models.catalog import Catalog, Model
from resources.run_config import Config

IN_SAMPLE, HELD_OUT = CHOICES = ("in_sample", "held_out")

SEARCH = Columns(
    domain=(TEXT, "people, animals, illustration, indoor or outdoor"),
    source=(TEXT, "The painter, or the collection"),
    model=(TEXT, "The judge, as models.yaml names it"),
    bias=(TEXT, "What was searched"),
    choice=(
        TEXT,
        "in_sample: chosen and reported on all pictures, as the paper does; held_out: chosen on "
        "one half of them, reported on the other, unless one configuration alone was tried",
    ),
    parameters=(TEXT, "The configuration that was chosen, as in frame/biased_images"),
    tried=(WHOLE, "How many there were to choose from"),
    seed=(WHOLE, "Of the halves"),
    images=(WHOLE, "Pictures that the numbers are of"),
    original=(REAL, "Their mean score before, 0 to 5; empty where none was scored both times"),
    biased=(REAL, "And after"),
    percent=(REAL, "The change in percent"),
    percent_low=(REAL, "Low end of its 95 % interval, by a paired bootstrap over pictures"),
    percent_high=(REAL, "High end; of what was chosen in sample both are too high"),
    outcome=(TEXT, "found, or unscored where no configuration can be compared"),
    rehearsal=(BOOLEAN, "Whether something offline had a part in it, so that it is no result"),
)
"""Two rows a bias."""


_READ = Columns(
    **SCORES.some("image_id", "original", "domain", "bias", "parameters", "template", "score"),
    **SCORES.some("outcome", "readable", "rehearsal"),
)
TEXTS_OF_SCORES = (
    *("image_id", "original", "domain", "bias", "parameters", "template", "outcome"),
)
"""What is read of scores as categories: few texts, in very many rows."""


class Searching(Config):
    """What is left to choose about a search."""

    seed: int = Field(default=0, description="Of the halves of the pictures.")


class Search(Step[Searching]):
    """The best configurations of one judge, for a domain and source."""

    group, columns, config, partitions = GROUP, SEARCH, Searching, by_source
    asks_models, is_optional = False, True
    named_by = ("bias", "choice")

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog)
        self.judge = self.about = judge
        self.name = f"search_{judge.name}"
        self.inputs = MappingProxyType(
            {"scores": Input(key(f"scores_{judge.name}"), by_row=_READ, by_default=True)}
        )
        self.description = (
            f"By bias the configuration that raises what {judge.name} gives most: chosen on all "
            "pictures, as in Table 9, and chosen on one half and reported on the other."
        )

    def rows(self, work: Work[Searching]) -> list[dict[str, Any]]:
        """Search each bias. Raises `Unfit` where a choice among several has a single picture."""
        scores = work.stored["scores"].frame([*_READ.columns], TEXTS_OF_SCORES)
        domain, source = domain_and_source(work.partition)
        known = {
            "domain": domain,
            "source": source,
            "model": self.judge.name,
            "seed": work.config.seed,
            "rehearsal": bool(scores["rehearsal"].astype("boolean").fillna(value=False).any()),
        }
        if scores["outcome"].eq(PENDING).any():
            return [{**known, **row} for row in _pending(scores)]
        compared = beside_originals(scores)
        is_choice = compared.groupby("bias")["parameters"].nunique().gt(1).any()
        if is_choice and compared["picture"].nunique() == 1:
            raise Unfit(
                f"{self.key.to_user_string()}: one picture has no two halves. Have "
                f"{self.judge.name} score two or more."
            )
        return [{**known, **row} for row in searched(compared, work.config.seed)]

    def wanted(self, work: Work[Searching], rows: Sequence[Row]) -> Iterable[tuple[Any, ...]]:
        """Two rows of each bias that was scored."""
        return product({row["bias"] for row in work.each("scores", "bias")} - {NONE}, CHOICES)

    def metadata(self, work: Work[Searching], rows: Sequence[Row]) -> dict[str, Any]:
        """What was found."""
        shown = ["bias", "choice", "parameters", "images", "original", "biased", "percent"]
        return {"best": markdown_table(pd.DataFrame(rows, columns=shown).round(2))}


def beside_originals(scores: pd.DataFrame, template: str = STANDARD) -> pd.DataFrame:
    """Each picture under each configuration that was tried, with its score before and after.

    `scores` are one judge's. There is a row for every picture and text that was asked about as it
    was: `image_id`, `picture` (its name in the image store: one picture may have several texts),
    `domain`, `bias`, `parameters`, `readable`, `original` and `biased`, NaN without a score, and
    `asked`: whether it was asked about with the bias as well.
    """
    scores = scores[scores["template"].eq(template)]
    before = scores[scores["bias"].eq(NONE)][["image_id", "original", "domain", "score"]]
    before = before.rename(columns={"original": "picture", "score": "original"})
    after = scores[scores["bias"].ne(NONE)]
    tried = after[["bias", "parameters"]].drop_duplicates()
    every = tried.merge(before, how="cross")
    # A collection without domains may be asked about in several: one picture, other scores.
    found = after[["image_id", "domain", "parameters", "readable", "score"]]
    joined: pd.DataFrame = every.merge(
        found.rename(columns={"score": "biased"}).assign(asked=True),
        how="left",
        on=["image_id", "domain", "parameters"],
    )
    asked = joined["asked"].notna()
    return joined.assign(asked=asked).astype({"original": float, "biased": float})


def searched(scores: pd.DataFrame, seed: int) -> Iterator[dict[str, Any]]:
    """What a search of each bias finds; `scores` are as `beside_originals` gives them."""
    for bias, held in scores.groupby("bias", sort=False):
        found = search(held.rename(columns={"parameters": "configuration"}), seed=seed)
        for choice, best in zip(CHOICES, found, strict=True):
            change = best.change
            numbers = (change.original, change.biased, change.percent, *change.interval)
            names = ("original", "biased", "percent", "percent_low", "percent_high")
            yield {
                "bias": bias,
                "choice": choice,
                "parameters": best.configuration,
                "tried": held["parameters"].nunique(),
                "images": change.images,
                **dict(zip(names, map(real, numbers), strict=True)),
                "outcome": "unscored" if real(change.percent) is None else "found",
            }


def real(number: float) -> float | None:
    """A number as tables hold it: None for NaN."""
    return None if pd.isna(number) else float(number)


def best_of(rows: Sequence[Row], choice: str = IN_SAMPLE) -> Mapping[str, str]:
    """By bias: its best configuration; in sample it is what the paper's analyses take."""
    return {row["bias"]: row["parameters"] for row in rows if row["choice"] == choice}


def searched_inputs(judge: Model) -> MappingProxyType[str, Input]:
    """The inputs of what is made of a judge's best configurations."""
    return MappingProxyType(
        {
            "biased_images": Input(key("biased_images"), by_row=BIASED, by_default=True),
            "search": Input(key(f"search_{judge.name}"), read_by=SEARCH, by_default=True),
        }
    )


def hinges(row: Row, search: Sequence[Row]) -> bool:
    """Whether nobody can know yet that a row is wanted: its bias has no best configuration."""
    return row["bias"] != NONE and any(each["outcome"] == PENDING for each in search)


def of_originals(work: Work[Any], rows: Sequence[Row]) -> Extent:
    """How many pictures some rows are about, of all that there are as they were."""
    there = sum(row["bias"] == NONE for row in work.each("biased_images", "bias"))
    return Extent(len(set(values(rows, "image_id"))), there, "pictures")


def _pending(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """What is known before there are scores: which biases there will be, not which is best."""
    tried = scores[scores["bias"].ne(NONE)].groupby("bias", sort=False)["parameters"].first()
    for bias, parameters in tried.items():
        for choice in CHOICES:
            yield {"bias": bias, "choice": choice, "parameters": parameters, "outcome": PENDING}
