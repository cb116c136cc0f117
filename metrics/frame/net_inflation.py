"""Net inflation: how far a bias moves scores beyond what moves them when nothing has changed.

All biases are compared with one score of the picture as it was. Where a judge answers at random
and that score is low by chance, every bias seems to raise it; so does a change that nobody sees,
and so does the same request sent again. A bias is therefore set against such a control, on the
pictures that were scored all three times: as they were, with the bias, and under the control.

- The net change is the bias's percent change less the control's.
- The net share of pictures that rise is the share whose score rises with the bias less the share
  whose score rises under the control.
- The net attack success rate is the share of domains × biases whose mean rises (FRAME, Figure 2)
  less the share of those whose mean rises under the control: 0 on average for a judge whose scores
  only fluctuate, and the paper's own rate for one that always gives a picture the same score.
- Net clear is the share of domains × biases whose net change has an interval above 0.

Intervals are by the bootstraps over pictures of `metrics.frame.inflation` and
`metrics.statistics.paired_intervals`: a picture is resampled with its scores of all three times.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.frame.inflation import (
    MAX_SCORE,
    ScoreChange,
    Values,
    find_change_interval,
    find_rate_interval,
    find_slack,
    iterate_combinations,
    measure_change,
    success_rates,
    to_percent_change,
)
from metrics.protobias.ranking import ALL
from metrics.statistics.cluster_bootstrap import Interval
from metrics.statistics.paired_intervals import paired_interval

_SCORES = ["original", "biased", "controlled"]


class NetChange(NamedTuple):
    """The change that a bias makes, the one under a control, and their difference in percent."""

    biased: ScoreChange
    controlled: ScoreChange
    net: float
    interval: Interval


class RisenShare(NamedTuple):
    """Shares of pictures and texts whose score rises, each domain weighing the same."""

    biased: float
    controlled: float
    net: float
    interval: Interval
    bounds: Interval
    """The ends of the net share if missing scores were known."""
    changed: float
    """Share whose score is another one under the control."""


class NetSuccess(NamedTuple):
    """Attack success over domains × biases, beside that under a control."""

    combinations: int
    rate: float
    control_rate: float
    net_rate: float
    interval: Interval
    clear_share: float
    """Share of combinations whose net change has an interval above 0."""


def measure_net_change(
    scores: pd.DataFrame, *, among: pd.DataFrame | None = None, seed: int = 0
) -> NetChange:
    """The net change of one bias over the domains of its rows.

    `scores` is as `metrics.frame.inflation.measure_change` takes it, with the score `controlled`
    as well. Rows without all three scores count as unscored.
    """
    complete = scores["original"].mask(scores[_SCORES].isna().any(axis=1))
    common = scores.assign(original=complete)
    biased = measure_change(common, among=among, seed=seed)
    controlled = measure_change(common.assign(biased=common["controlled"]), among=among, seed=seed)
    net = biased.percent - controlled.percent
    scale = (
        -100.0 - controlled.percent,
        to_percent_change(biased.original, MAX_SCORE) - controlled.percent,
    )
    resampled = biased.resampled - controlled.resampled
    return NetChange(
        biased=biased,
        controlled=controlled,
        net=net,
        interval=find_change_interval(net, resampled, biased.clusters, scale),
    )


def measure_risen_share(scores: pd.DataFrame, *, seed: int = 0) -> RisenShare:
    """The shares of pictures whose score rises, of at least one that was scored all three times.

    `scores` is as `measure_net_change` takes it.
    """
    risen, control_risen = (
        _compare(scores[side].gt(scores["original"]), scores[[side, "original"]])
        for side in ("biased", "controlled")
    )
    changed = _compare(
        scores["controlled"].ne(scores["original"]), scores[["controlled", "original"]]
    )
    is_complete = scores[_SCORES].notna().all(axis=1)
    differences = (risen - control_risen).where(is_complete)
    domains = scores["domain"]

    def average(values: "pd.Series[float]") -> float:
        return float(values.groupby(domains).mean().mean())

    return RisenShare(
        biased=average(risen.where(is_complete)),
        controlled=average(control_risen.where(is_complete)),
        net=average(differences),
        interval=paired_interval(differences, scores["picture"], domains, seed=seed),
        bounds=Interval(
            average(risen.fillna(0.0) - control_risen.fillna(1.0)),
            average(risen.fillna(1.0) - control_risen.fillna(0.0)),
        ),
        changed=average(changed.where(is_complete)),
    )


def _compare(outcomes: "pd.Series[bool]", scores: pd.DataFrame) -> "pd.Series[float]":
    """1 where the outcome is true and 0 where it is not, NaN where a score is missing."""
    return outcomes.astype(float).where(scores.notna().all(axis=1))


def measure_net_success(scores: pd.DataFrame, *, seed: int = 0) -> NetSuccess:
    """The attack success rate of a judge's domains × biases, beside that under the control.

    `scores` is as `measure_net_change` takes it, with the `bias`, and has at least one combination
    that was scored. In a resample all biases of a domain have the same pictures.
    """
    changes = [
        (group["domain"], measure_net_change(part, among=scores, seed=domain_seed))
        for group, part, domain_seed in iterate_combinations(scores, [], seed)
    ]
    scored = [(domain, change) for domain, change in changes if not np.isnan(change.net)]
    biased = [change.biased for _, change in scored]
    controlled = [change.controlled for _, change in scored]
    rate, control_rate = (_find_rates(side, "percent") for side in (biased, controlled))
    # A control that moves no score is a floor of 0, and the interval that of the paper's rate.
    still = Interval(0.0, 0.0)
    control_slack = [
        find_slack(side) if np.nan_to_num(side.resampled).any() else still for side in controlled
    ]
    below, above = np.mean([find_slack(change) for change in biased], axis=0).tolist()
    control_below, control_above = np.mean(control_slack, axis=0).tolist()
    domains = len({domain for domain, _ in scored})
    low, high = find_rate_interval(
        _find_rates(biased, "resampled") - _find_rates(controlled, "resampled"),
        Interval(below + control_above, above + control_below),
        domains * min(change.images for change in biased),
    )
    return NetSuccess(
        combinations=len(scored),
        rate=float(rate),
        control_rate=float(control_rate),
        net_rate=float(rate - control_rate),
        interval=Interval(max(-1.0, low), min(1.0, high)),
        clear_share=float(np.mean([change.interval.low > 0 for _, change in scored])),
    )


def _find_rates(changes: Sequence[ScoreChange], field: str) -> Values:
    """The share of changes above 0, or one for each resample."""
    return success_rates(np.stack([getattr(change, field) for change in changes]))[0]


def net_inflation_table(scores: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Compute one row for each domain × bias of a judge under one control, then over domains.

    `scores` is as `measure_net_success` takes it. The last row, `all` of `all`, has the attack
    success, where any combination was scored.
    """
    parts = [*((str(domain), part) for domain, part in scores.groupby("domain")), (ALL, scores)]
    rows = [
        {"domain": domain, "bias": bias, **_build_row(part_of_bias, seed)}
        for domain, part in parts
        for bias, part_of_bias in part.groupby("bias", sort=False)
    ]
    table = pd.DataFrame(rows)
    if table["net_percent"].isna().all():
        return table
    success = _to_success_row(measure_net_success(scores, seed=seed))
    overall = pd.DataFrame([{"domain": ALL, "bias": ALL, **success}])
    return pd.concat([table, overall], ignore_index=True)


def _build_row(scores: pd.DataFrame, seed: int) -> dict[str, float]:
    change = measure_net_change(scores, seed=seed)
    biased, controlled = change.biased, change.controlled
    row = {
        "images": biased.images,
        "scored": biased.scored,
        "unscored": biased.unscored,
        "original": biased.original,
        "biased": biased.biased,
        "controlled": controlled.biased,
        "percent": biased.percent,
        **_name("control_percent", controlled.percent, controlled.interval),
        **_name("net_percent", change.net, change.interval),
    }
    if np.isnan(change.net):
        return row
    risen = measure_risen_share(scores, seed=seed)
    return row | {
        "changed": risen.changed,
        "risen": risen.biased,
        "control_risen": risen.controlled,
        **_name("net_risen", risen.net, risen.interval),
        "net_risen_least": risen.bounds.low,
        "net_risen_most": risen.bounds.high,
    }


def _to_success_row(success: NetSuccess) -> dict[str, float]:
    return {
        "combinations": success.combinations,
        "rate": success.rate,
        "control_rate": success.control_rate,
        **_name("net_rate", success.net_rate, success.interval),
        "net_clear_share": success.clear_share,
    }


def _name(name: str, value: float, interval: Interval) -> dict[str, float]:
    return {name: value, f"{name}_low": interval.low, f"{name}_high": interval.high}
