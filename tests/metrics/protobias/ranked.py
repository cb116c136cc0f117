"""Long tables of scores for tests of rankings."""

import pandas as pd

KNOWN = {
    "painter": "flux",
    "sample": "evaluated",
    "metric": "clip",
    "formula": "vqa_score",
    "same_family": False,
    "is_stand_in": False,
    "domain": "animals",
    "knob": "count",
    "concept": "penguin / robin",
}


def scored(*pairs, **more):
    """One pair a tuple: (concept_id, score of the correct, of the adversarial picture).

    `more` are columns of them all; a score of None is missing.
    """
    known = KNOWN | more
    rows = [
        {
            **known,
            "concept_id": f"{known['domain']}/{concept}",
            "pair_id": f"{place}/{known['domain']}",
        }
        | {"side": side, "raw": score, "score": score}
        for place, (concept, *scores) in enumerate(pairs)
        for side, score in zip(("correct", "adversarial"), scores, strict=True)
    ]
    return pd.DataFrame(rows).astype({"raw": "float64", "score": "float64"})


def row_of(table, **wanted):
    """The one row that has these values."""
    for name, value in wanted.items():
        table = table[table[name] == value]
    (row,) = table.to_dict("records")
    return row
