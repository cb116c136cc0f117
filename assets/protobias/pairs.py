"""Image pairs: for each triplet and sample one picture of `correct` and one of `adversarial`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetExecutionContext,
    AssetsDefinition,
    MarkdownMetadataValue,
    MaterializeResult,
)
from pydantic import Field

from assets.kit.choice import chosen, entry_digest
from assets.kit.columns import TEXT, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, Placed, first_of, partial_metadata
from assets.kit.pictures import PICTURED, Row, ended
from assets.kit.previews import contact_sheet, markdown_table
from assets.protobias.common import table_asset
from assets.protobias.concepts import concepts_told
from assets.protobias.flaws import FLAWS, with_flaws
from assets.protobias.partitions import domain_and_painter, pairs
from assets.protobias.seeing import Seen, seen_in
from assets.protobias.selection import placed
from assets.protobias.triplets import accepted
from generators.prompts.concepts import Concept, Side, Triplet
from resources.budget import Budget
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.catalog import Catalog, Model
from resources.models.client import AskResult, ModelClient
from resources.models.outcomes import Answered, Outcome
from resources.models.requests import Paint

IMAGE_PAIRS = Columns(
    domain=(TEXT, "animals, demography or objects"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    painter_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    concept_id=(TEXT, "The concept that it shows"),
    group=(TEXT, "Subcategory of the taxonomy"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Which trait of the extra element differs in the adversarial picture"),
    text=(TEXT, "The neutral sentence, by which both pictures are scored"),
    pair_id=(TEXT, "Concept and sample, the same for every painter"),
    side=(TEXT, "correct or adversarial"),
    image_id=(TEXT, "Painter, pair and side"),
    prompt=(TEXT, "What the painter was asked for: that side's sentence"),
    sample=(WHOLE, "Which of the pictures of its prompt it is, from 0"),
    seed=(WHOLE, "Of its noise, the same on both sides; empty for a painter that takes none"),
    outcome=(TEXT, "painted, flawed, refused, malformed or failed"),
    flaw=(TEXT, "blank, wrong size or repeated; else empty"),
    **PICTURED,
    made=(TEXT, "How a local model made it, as JSON: device, dtype, versions, batch; else empty"),
)
"""One row an image; `reason` says what is wrong with a flawed one."""

SIDES: tuple[Side, ...] = get_args(Side)
_SHOWN = 12
_LARGEST_SEED = 2**31 - 65
"""Of the first of 64 samples: the last one's is the largest that every painter takes."""


class Pairing(Limited):
    """What is left to choose about painting; a limit is on pairs."""

    samples: int = Field(
        default=5, ge=1, le=64, description="Pairs of each triplet; the paper has 5."
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=_LARGEST_SEED,
        description="Of the first sample's noise, for a painter that takes one: the next sample's "
        "is one more. Another painter paints anew.",
    )


class Wanted(NamedTuple):
    """One picture of one pair."""

    concept: Concept
    triplet: Triplet
    side: Side
    request: Paint
    sample: int

    @property
    def pair_id(self) -> str:
        """The same for both sides and for every painter."""
        return f"{self.concept.concept_id}/{self.sample}"


def wanted_of(
    painter: Model, triplets: Sequence[tuple[Concept, Triplet]], pairing: Pairing
) -> list[Wanted]:
    """What a painter is asked: so many pairs of each triplet.

    The seed of a sample is that of both sides, and does not depend on the concept. A painter that
    takes none is asked for further samples of its prompt.
    """
    every = [
        (concept, triplet, sample)
        for concept, triplet in triplets
        for sample in range(pairing.samples)
    ]
    return [
        Wanted(concept, triplet, side, _paint(painter, triplet, side, sample, pairing), sample)
        for concept, triplet, sample in first_of(every, pairing.limit, _placed)
        for side in SIDES
    ]


def _placed(pair: tuple[Concept, Triplet, int]) -> Placed:
    concept, _, sample = pair
    return placed(f"{concept.concept_id}/{sample}", concept.group, concept.knob)


def _paint(painter: Model, triplet: Triplet, side: Side, sample: int, pairing: Pairing) -> Paint:
    prompt: str = getattr(triplet, side)
    if painter.takes_seed:
        return Paint(prompt, pairing.seed + sample)
    return Paint(prompt, sample=sample)


def image_pairs_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `image_pairs`, with the painters of a catalog."""

    @table_asset(
        kinds=["image"],
        columns=IMAGE_PAIRS,
        partitions=pairs,
        pool="paintings",
        description="What a text-to-image model paints of every triplet: the picture that fits "
        "its text, and the prototypical one beside it, from the same noise.",
    )
    def image_pairs(
        context: AssetExecutionContext,
        config: Pairing,
        prompt_triplets: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
        images: ImageStore,
        ledger: WorkLedger,
    ) -> MaterializeResult[pa.Table]:
        """Check every triplet once more, paint what is missing, and look for flaws."""
        domain, name = domain_and_painter(context.partition_key)
        painter = chosen(catalog, name, "painter")
        triplets = accepted(prompt_triplets)
        wanted = wanted_of(painter, triplets, config)
        requests = [each.request for each in wanted]
        asked = models.ask(painter, requests, context.log, budget.account(context))
        seen = seen_in(images, ledger, _pictures(asked.outcomes))
        written = dict(zip(prompt_triplets["concept_id"], prompt_triplets["calls"], strict=True))
        rows = with_flaws([*_rows(painter, wanted, asked, seen, written)], seen, painter.parameters)
        flawed = Counter(row["flaw"] for row in rows if row["flaw"])
        return materialized(
            IMAGE_PAIRS.table(rows),
            pairs=len(rows) // len(SIDES),
            concepts=concepts_told(
                len(prompt_triplets)
                if config.limit is None
                else len({each.concept.concept_id for each in wanted}),
                domain,
            ),
            **partial_metadata(len(rows) // len(SIDES), len(triplets) * config.samples, "pairs"),
            pictures=len(rows),
            **Counter(row["outcome"] for row in rows),
            **{flaw.replace(" ", "_"): flawed[flaw] for flaw in FLAWS if flawed[flaw]},
            endings=markdown_table(endings(rows)),
            contact_sheet=_sheet(rows, images),
            **cost_metadata(asked),
        )

    return image_pairs


def endings(rows: Sequence[Row]) -> pd.DataFrame:
    """By knob: how many pictures were asked for, and how they ended."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        counts.setdefault(row["knob"], Counter())[row["outcome"]] += 1
    return pd.DataFrame(
        [
            {"knob": knob, "pictures": ends.total(), **{name: ends[name] for name in _OUTCOMES}}
            for knob, ends in counts.items()
        ],
        columns=["knob", "pictures", *_OUTCOMES],
    )


_OUTCOMES = ("painted", "flawed", "refused", "malformed", "failed")


def _pictures(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if isinstance(outcome, Answered):
            yield from outcome.images


def _rows(
    painter: Model,
    wanted: Sequence[Wanted],
    asked: AskResult,
    seen: Mapping[str, Seen],
    written: Mapping[str, Sequence[str]],
) -> Iterator[dict[str, Any]]:
    """A row for each picture; `written` are the calls behind the triplet of each concept."""
    for each, outcome, keys in zip(wanted, asked.outcomes, asked.keys, strict=True):
        made = outcome.made if isinstance(outcome, Answered) else None
        yield {
            "domain": each.concept.domain,
            "painter": painter.name,
            "painter_version": entry_digest(painter),
            "concept_id": each.concept.concept_id,
            "group": each.concept.group,
            "concept": each.concept.concept,
            "knob": each.concept.knob,
            "text": each.triplet.text,
            "pair_id": each.pair_id,
            "side": each.side,
            "image_id": f"{painter.name}/{each.pair_id}/{each.side}",
            "prompt": each.request.prompt,
            "sample": each.sample,
            "seed": each.request.seed,
            "flaw": None,
            **dict.fromkeys(PICTURED),
            "rehearsal": painter.rehearses,
            "calls": [*written[each.concept.concept_id], *keys],
            "made": None if made is None else json.dumps(made, sort_keys=True),
            **ended(outcome, "painted", lambda digest: seen[digest][:2]),
        }


def _sheet(rows: Sequence[Row], images: ImageStore) -> MarkdownMetadataValue:
    """A contact sheet of some of the pairs, evenly chosen, both pictures side by side."""
    both = [
        pair
        for pair in zip(rows[:: len(SIDES)], rows[1 :: len(SIDES)], strict=True)
        if all(row["sha256"] is not None for row in pair)
    ]
    shown = both[:: max(1, -(-len(both) // _SHOWN))]
    return contact_sheet(
        [(_caption(row), images.get(row["sha256"])) for pair in shown for row in pair]
    )


def _caption(row: Row) -> str:
    flaw = f" ({row['flaw']})" if row["flaw"] else ""
    return f"{row['concept']}, {row['knob']}, sample {row['sample']}: {row['side']}{flaw}"
