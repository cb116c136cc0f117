"""Agreement of judges with people about pairs of responses, shown in both orders."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from metrics.frame.pairwise_preference import win_rates
from metrics.protobias.ranking import ALL

ORDERS = ("first", "second")
"""Place at which a response is shown."""
_NAMES = {"preference": "agreement", "swayed": "flips", "tie": "ties", "first_shown": "first_shown"}


def build_agreement_table(answers: pd.DataFrame) -> pd.DataFrame:
    """Each judge's agreement and order flips: over all sets, by set, and by domain of a set.

    `answers` has a row for each judge, pair and order: `model`, `set`, `domain`, `pair_id`,
    `sha256`, `order` (the place of the response that people prefer), and `agrees`: 1 where the
    judge prefers it as well, 0.5 for a tie, 0 for the other, NaN without an answer.

    `agreement` is the mean over both orders, of pairs that
    have both answers; `flips` the share of these whose preference changes with the order, a tie
    into a preference as well; `ties` the share whose orders cancel out or that are called equal
    twice; `first_shown` how far what is shown first is preferred. `…_least` and `…_most` bound
    the first two over all pairs, whatever the missing answers are. Intervals resample pictures;
    over all sets, or a set, every set or pair weighs the same.
    """
    return pd.DataFrame(list(_iterate_rows(answers)))


def _iterate_rows(answers: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    for model, judged in answers.groupby("model", sort=False):
        for row in _measure(judged, "set"):
            yield {"model": model, "set": row.pop("domain"), "domain": ALL, **row}
        for name, rows in judged.groupby("set", sort=False):
            for row in _measure(rows, "domain"):
                if row["domain"] != ALL:
                    yield {"model": model, "set": name, **row}


def _measure(answers: pd.DataFrame, stratum: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of each stratum, and of all."""
    pairs = (
        answers.assign(domain=answers[stratum], picture=answers["sha256"])
        .pivot(index=["set", "pair_id", "picture", "domain"], columns="order", values="agrees")
        .reindex(columns=ORDERS)
        .astype(float)
        .reset_index()
    )
    rates = win_rates(pairs).to_dict("records")
    least, most = (win_rates(pairs.fillna(value)).to_dict("records") for value in (0.0, 1.0))
    same, changed = (win_rates(_fill_flips(pairs, flip)).to_dict("records") for flip in (0, 1))
    answered = pairs.dropna(subset=[*ORDERS])
    for row, low, high, steady, swayed in zip(rates, least, most, same, changed, strict=True):
        is_part = answered["domain"].eq(row["domain"]) | (row["domain"] == ALL)
        yield {
            "domain": row["domain"],
            "pictures": answered.loc[is_part, "picture"].nunique(),
            "pairs": row["pairs"] + row["unscored"],
            "answered_pairs": row["pairs"],
            **{
                f"{name}{end}": row[f"{source}{end}"]
                for source, name in _NAMES.items()
                for end in ("", "_low", "_high")
            },
            "agreement_least": low["preference"],
            "agreement_most": high["preference"],
            "flips_least": steady["swayed"],
            "flips_most": swayed["swayed"],
        }


def _fill_flips(pairs: pd.DataFrame, flip: int) -> pd.DataFrame:
    """Give pairs that lack an answer two that are the same, or that differ."""
    is_missing = pairs[list(ORDERS)].isna().any(axis=1)
    return pairs.assign(
        first=pairs["first"].mask(is_missing, 1.0),
        second=pairs["second"].mask(is_missing, 1.0 - flip),
    )
