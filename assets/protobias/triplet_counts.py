"""Tables on triplets: retention by knob and by rule, and examples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from assets.kit.step_run import Row
from generators.prompts.concepts import Triplet
from generators.prompts.triplet_check import RULES

_MAX_SHOWN = 6


def count_by_knob(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Count triplets by knob and in total: requested, accepted at once, accepted in the end."""
    counted = []
    for knob in [*dict.fromkeys(row["knob"] for row in rows), "all"]:
        knob_rows = [row for row in rows if knob in (row["knob"], "all")]
        accepted_rows = [row for row in knob_rows if row["outcome"] == "accepted"]
        at_once = sum(row["attempts"] == 1 for row in accepted_rows)
        share = f"{len(accepted_rows) / len(knob_rows):.1%}" if knob_rows else ""
        counted.append((knob, len(knob_rows), at_once, len(accepted_rows), share))
    columns = ["knob", "concepts", "accepted at once", "accepted", "retention"]
    return pd.DataFrame(counted, columns=columns)


def count_by_rule(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Count, by rule, the triplets that ever broke it, those mended and those rejected."""
    broken, rejects, mended = Counter[str](), Counter[str](), Counter[str]()
    for row in rows:
        broken.update({*row["earlier_rules"], *row["rules"]})
        rejects.update(row["rules"] if row["outcome"] == "rejected" else ())
        mended.update(row["earlier_rules"] if row["outcome"] == "accepted" else ())
    counted = [
        (rule, broken[rule], mended[rule], rejects[rule], f"{1 - rejects[rule] / len(rows):.1%}")
        for rule in RULES
    ]
    columns = ["rule", "broken", "mended when told", "rejected", "retention"]
    return pd.DataFrame(counted, columns=columns)


def sample_examples(rows: Sequence[Row]) -> pd.DataFrame:
    """The first triplets that were accepted of some cells of the taxonomy, evenly chosen."""
    firsts: dict[str, Triplet] = {}
    for row in rows:
        if row["outcome"] == "accepted":
            firsts.setdefault(row["concept"], to_triplet(row))
    step = max(1, -(-len(firsts) // _MAX_SHOWN))
    shown = [(concept, *triplet) for concept, triplet in firsts.items()][::step]
    return pd.DataFrame(shown, columns=["concept", *Triplet._fields])


def to_triplet(row: Row) -> Triplet:
    """Return the triplet of a row; a missing sentence is empty."""
    return Triplet(*(row[name] or "" for name in Triplet._fields))
