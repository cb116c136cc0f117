"""Image pairs: for each triplet and sample one picture of `correct` and one of `adversarial`."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, get_args

import pandas as pd
from pydantic import Field

from assets.kit.checks import usable_share_check
from assets.kit.columns import TEXT, WHOLE, Columns
from assets.kit.forecast import PENDING, Forecast, NotCountable
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.painting import PaintStep
from assets.kit.pictures import PICTURE_COLUMNS, sample_contact_sheet
from assets.kit.plan import PaperSample
from assets.kit.previews import MAX_THUMBNAILS, markdown_table, sample_evenly
from assets.kit.step import Check, Extent, Problem, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.protobias.common import TRIPLETS_KEY, asset_key, pairs, split_pair_key
from assets.protobias.concepts import estimate_paper_sample, format_sample_size
from assets.protobias.prompt_triplets import select_accepted
from assets.protobias.selection import sampling_key
from generators.prompts.concepts import Concept, Side, Triplet
from generators.prompts.sampling import SIZES
from resources.models.catalog import Catalog, Model
from resources.models.requests import PaintRequest

IMAGE_PAIRS = Columns(
    domain=(TEXT, "animals, demography or objects"),
    painter=(TEXT, "Painter, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    concept_id=(TEXT, "Concept shown in the picture"),
    group=(TEXT, "Subcategory of the taxonomy"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Trait of the extra element that differs in the adversarial picture"),
    text=(TEXT, "Neutral sentence, by which both pictures are scored"),
    pair_id=(TEXT, "Concept and sample, the same for every painter"),
    side=(TEXT, "correct or adversarial"),
    image_id=(TEXT, "Painter, pair and side"),
    prompt=(TEXT, "Prompt of the painter: the sentence of that side"),
    sample=(WHOLE, "Number of the picture among those of its prompt, from 0"),
    seed=(WHOLE, "Random seed of its noise, equal on both sides; empty if the painter takes none"),
    outcome=(TEXT, "painted, flawed, refused, malformed or failed"),
    flaw=(TEXT, "blank, wrong size or repeated; else empty"),
    **PICTURE_COLUMNS,
    provenance=(
        TEXT,
        "Device, dtype, versions and batch of a local model, as JSON; else empty",
    ),
)
"""Table with one row per image; `reason` says what is wrong with a flawed one."""

SIDES: tuple[Side, ...] = get_args(Side)
MIN_USABLE_SHARE = 0.9
"""The least share of pictures that can be used."""
_LARGEST_SEED = 2**31 - 65
"""Largest seed of the first of 64 samples: the last one's is the largest that all painters take."""


class ImagePairsConfig(LimitConfig):
    """Settings for painting pairs; a limit counts pairs."""

    samples: int = Field(default=5, ge=1, le=64, description="Pairs per triplet; the paper has 5.")
    seed: int = Field(
        default=0,
        ge=0,
        le=_LARGEST_SEED,
        description=(
            "Random seed for the noise of the first sample, if the painter takes one; each "
            "further sample adds one to it. Another seed paints all pictures anew."
        ),
    )


def count_paper_pictures(domain: str) -> int:
    """Return the number of pictures that each painter of the paper makes for a domain."""
    return SIZES[domain] * ImagePairsConfig().samples * len(SIDES)


def list_pictures(
    painter: Model, triplets: Sequence[tuple[Concept, Triplet]], pairing: ImagePairsConfig
) -> list[dict[str, Any]]:
    """Build the rows of all pictures before painting, with the set number of pairs per triplet.

    The seed of a sample is that of both sides, and does not depend on the concept. A painter that
    takes none is asked for further samples of its prompt.
    """
    return [
        _picture(painter, concept, triplet, side, sample, pairing.seed)
        for concept, triplet, sample in _pairs(triplets, pairing)
        for side in SIDES
    ]


def _pairs(
    triplets: Sequence[tuple[Concept, Triplet]], pairing: ImagePairsConfig
) -> list[tuple[Concept, Triplet, int]]:
    """List pairs with their samples: all those of the triplets, or the first ones up to a limit."""

    def place(pair: tuple[Concept, Triplet, int]) -> SamplingKey:
        concept, _, sample = pair
        return sampling_key(f"{concept.concept_id}/{sample}", concept.group, concept.knob)

    samples = range(pairing.samples)
    samples_of_triplets = [
        (concept, triplet, sample) for concept, triplet in triplets for sample in samples
    ]
    return stratified_head(samples_of_triplets, pairing.limit, place)


def _picture(
    painter: Model, concept: Concept, triplet: Triplet, side: Side, sample: int, seed: int
) -> dict[str, Any]:
    prompt, pair = getattr(triplet, side), f"{concept.concept_id}/{sample}"
    with_seed = PaintRequest(prompt, seed + sample)
    return {
        **{name: getattr(concept, name) for name in _CONCEPT_COLUMNS},
        "text": triplet.text,
        "pair_id": pair,
        "side": side,
        "image_id": f"{painter.name}/{pair}/{side}",
        "sample": sample,
        "request": with_seed if painter.takes_seed else PaintRequest(prompt, sample=sample),
    }


_CONCEPT_COLUMNS = ("domain", "concept_id", "group", "concept", "knob")


_PICTURE_COLUMNS = ("sha256", "width", "height")
_FILLED_COLUMNS = {
    "painted": _PICTURE_COLUMNS,
    "flawed": (*_PICTURE_COLUMNS, "flaw", "reason"),
    "refused": ("refusal", "reason"),
    "malformed": ("reason",),
    "failed": ("reason",),
}
"""The columns that are filled, by outcome."""


class ImagePairs(PaintStep[ImagePairsConfig]):
    """The pairs of a domain that one painter paints; every triplet is checked once more before."""

    config = ImagePairsConfig
    asset = StepAsset(
        key=asset_key("image_pairs"),
        partitions_def=pairs,
        description=(
            "Pictures that a text-to-image model paints of every triplet: one that fits the text "
            "and a prototypical one, from the same noise."
        ),
    )
    table = StepTable(
        columns=IMAGE_PAIRS, key_columns=("pair_id", "side"), filled_columns=_FILLED_COLUMNS
    )
    inputs = MappingProxyType({"prompt_triplets": Input(TRIPLETS_KEY, dimension="domain")})

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.table = replace(
            self.table, list_expected_keys=self._list_keys, find_problems=self._find_problems
        )
        self.forecast = Forecast(estimate_paper_sample=self._estimate_paper_sample)

    def rows(self, work: StepRun[ImagePairsConfig]) -> list[dict[str, Any]]:
        """A row for each picture. Raises `TablesMismatch` as `select_accepted` does."""
        table, painter = work.tables["prompt_triplets"], self.model(work.partition, work.config)
        if table["outcome"].eq(PENDING).any():
            raise NotCountable(TRIPLETS_KEY.to_user_string())
        written = dict(zip(table["concept_id"], table["calls"], strict=True))
        return [
            self.build_row(
                work,
                row,
                row["request"],
                sample=row["sample"],
                calls=written[row["concept_id"]],
            )
            for row in list_pictures(painter, select_accepted(table), work.config)
        ]

    def describe_picture(self, row: Row) -> str:
        """Its pair and side."""
        return f"{row['pair_id']} ({row['side']})"

    def extent(self, work: StepRun[ImagePairsConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all pairs of the accepted triplets."""
        triplets = int(work.tables["prompt_triplets"]["outcome"].eq("accepted").sum())
        return Extent(
            count=len(rows) // len(SIDES), total=triplets * work.config.samples, unit="pairs"
        )

    def _estimate_paper_sample(
        self, work: StepRun[ImagePairsConfig], rows: Sequence[Row]
    ) -> PaperSample | None:
        """The paper's five pairs of as many concepts as it has."""
        if not rows:
            return None
        domain, _ = split_pair_key(work.partition)
        drawn = len(work.tables["prompt_triplets"])
        largest = max(
            (row["request"] for row in rows), key=lambda paint_request: len(paint_request.prompt)
        )
        return estimate_paper_sample(
            domain, drawn, work.config.limit, count_paper_pictures(domain), largest
        )

    def metadata(self, work: StepRun[ImagePairsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Retention by knob, flaws, and some of the pairs side by side."""
        domain, _ = split_pair_key(work.partition)
        painted = {row["concept_id"] for row in rows}
        drawn = len(painted if work.config.limit else work.tables["prompt_triplets"])
        flawed = Counter(row["flaw"].replace(" ", "_") for row in rows if row["flaw"])
        both = [
            pair
            for pair in zip(rows[:: len(SIDES)], rows[1 :: len(SIDES)], strict=True)
            if all(row["sha256"] is not None for row in pair)
        ]
        shown = [row for pair in sample_evenly(both, MAX_THUMBNAILS // len(SIDES)) for row in pair]
        return {
            "pairs": len(rows) // len(SIDES),
            "concepts": format_sample_size(drawn, domain),
            "pictures": len(rows),
            **flawed,
            "outcomes_by_knob": markdown_table(count_outcomes_by_knob(rows)),
            "contact_sheet": sample_contact_sheet(shown, _caption, work.images),
        }

    def _list_keys(
        self, work: StepRun[ImagePairsConfig], rows: Sequence[Row]
    ) -> list[tuple[str, str]]:
        """Return the keys of both pictures of the pairs of accepted triplets, within the limit."""
        return list(_prompts(work))

    def _find_problems(
        self, work: StepRun[ImagePairsConfig], rows: Sequence[Row]
    ) -> Iterator[Problem]:
        """Pictures of another prompt than their triplet's, or of another seed than their sample."""
        prompts = _prompts(work)
        for row in rows:
            if row["prompt"] != prompts.get((row["pair_id"], row["side"]), row["prompt"]):
                yield row["image_id"], "has another prompt than its triplet"
        for sample in sorted({row["sample"] for row in rows}):
            if len({row["seed"] for row in rows if row["sample"] == sample}) > 1:
                yield f"sample {sample}", "has several seeds"

    def checks(self) -> list[Check]:
        """Check that enough pictures are usable."""
        return [usable_share_check(self, MIN_USABLE_SHARE, _count_usable)]


def _prompts(work: StepRun[ImagePairsConfig]) -> dict[tuple[str, str], str]:
    """Return the prompts of the accepted triplets by pair and side."""
    return {
        (f"{concept.concept_id}/{sample}", side): getattr(triplet, side)
        for concept, triplet, sample in _pairs(
            select_accepted(work.tables["prompt_triplets"]), work.config
        )
        for side in SIDES
    }


def _count_usable(rows: Sequence[Row]) -> tuple[int, int, str, Counter[str]]:
    outcomes = Counter(str(row["flaw"] or row["outcome"]) for row in rows)
    return outcomes.pop("painted", 0), len(rows), "pictures", outcomes


def count_outcomes_by_knob(rows: Sequence[Row]) -> pd.DataFrame:
    """Count, by knob, the requested pictures and their outcomes."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row["knob"]][row["outcome"]] += 1
    numbers = [
        (knob, outcomes.total(), *(outcomes[name] for name in _FILLED_COLUMNS))
        for knob, outcomes in counts.items()
    ]
    return pd.DataFrame(numbers, columns=["knob", "pictures", *_FILLED_COLUMNS])


def _caption(row: Row) -> str:
    flaw = f" ({row['flaw']})" if row["flaw"] else ""
    return f"{row['concept']}, {row['knob']}, sample {row['sample']}: {row['side']}{flaw}"
