"""What must hold of prompt triplets: one row a concept, and what is accepted passes by rule."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetIn,
    multi_asset_check,
)

from assets.kit.checks import result_of
from assets.kit.limits import part_of
from assets.protobias.common import key
from assets.protobias.concepts import CONCEPTS, concept_of
from assets.protobias.partitions import protobias_domains
from assets.protobias.triplets import TRIPLETS, placed_concept
from assets.protobias.writing import problems_of
from assets.vlmbias.checks import as_partial, previewed
from generators.prompts.concepts import Triplet
from generators.prompts.triplet_check import find_faults
from resources.own_triplets import is_own

_KEY, _CONCEPTS = key("prompt_triplets"), key("concepts")

with previewed():
    _HOLD = AssetCheckSpec(
        "accepted_triplets_hold",
        asset=_KEY,
        description="Every concept has one row, and every accepted triplet passes by rule.",
        additional_deps=[_CONCEPTS],
        partitions_def=protobias_domains,
        blocking=True,
    )
    _YIELD = AssetCheckSpec(
        "every_concept_has_a_triplet",
        asset=_KEY,
        description="Every concept has a triplet that was accepted.",
        partitions_def=protobias_domains,
    )


@multi_asset_check(
    name="protobias__prompt_triplets__checks",
    specs=[_HOLD, _YIELD],
    ins={"triplets": AssetIn(_KEY), "concepts": AssetIn(_CONCEPTS)},
)
def checks(triplets: pd.DataFrame, concepts: pd.DataFrame) -> Iterator[AssetCheckResult]:
    """Check the stored table once more, and say how many concepts have a triplet."""
    wrong = broken(triplets, concepts)
    own = int(triplets["concept_id"].map(is_own).sum())
    parts = len(triplets) - own, len(concepts)
    said = f"{parts[0]} rows for {parts[1]} concepts"
    if own:
        said += f", and {own} of your own"
    yield as_partial(result_of(said, wrong), parts, "concepts")._replace(check_name=_HOLD.name)
    yield _yield(triplets)


def broken(triplets: pd.DataFrame, concepts: pd.DataFrame) -> pd.DataFrame:
    """Concepts without exactly one row, and accepted rows that break a rule."""
    counts = Counter(triplets["concept_id"])
    every = [concept_of(row) for row in CONCEPTS.rows(concepts)]
    own = [name for name in counts if is_own(name)]
    wanted = part_of(every, {f"{name}/0" for name in counts.keys() - own}, placed_concept)
    known = dict.fromkeys([*(concept.concept_id for concept in wanted), *own])
    problems = [
        (name, f"{counts[name]} rows")
        for name in known | counts
        if counts[name] != 1 or name not in known
    ]
    for row in TRIPLETS.rows(triplets[triplets["outcome"] == "accepted"]):
        triplet = Triplet(*(row[name] or "" for name in Triplet._fields))
        if found := find_faults(concept_of(row), triplet):
            problems.append((row["concept_id"], problems_of(found)))
    return pd.DataFrame(problems, columns=["concept_id", "problem"])


def _yield(triplets: pd.DataFrame) -> AssetCheckResult:
    """How many concepts have a triplet, and what the others lack."""
    others = triplets[triplets["outcome"] != "accepted"]
    said = f"{len(triplets) - len(others)} of {len(triplets)} concepts have a triplet"
    ends = Counter(others["outcome"])
    if ends:
        said += f": {', '.join(f'{number} {outcome}' for outcome, number in ends.items())}"
    if ends["failed"]:
        said += ". Materialize protobias/prompt_triplets again: only what failed is asked"
    found = result_of(said, others[["concept_id", "outcome", "reason"]])
    return found._replace(check_name=_YIELD.name, severity=AssetCheckSeverity.WARN)
