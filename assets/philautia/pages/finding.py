"""The finding: which judge gives its own captions most beyond what others would."""

from collections.abc import Sequence

from assets.philautia.pages.dataset_page import SAID, Compared, Numbers, firmest_first
from assets.report.start_page import Finding, unranked_sentence

_LEVEL = 0.05
"""A permutation test's p above which intervals, which take the models as they are, do not tell a
preference for what is one's own from one for what happens to be another's."""


def finding(datasets: Sequence[Compared]) -> Finding[Compared]:
    """The finding on the firmest dataset with most pictures."""
    dataset = firmest_first(datasets)[0]
    if dataset.firmness == "stand-in":
        text = "A stand-in run: judges and captions are stand-ins, and no figure is a result."
    elif ranked := dataset.ranked(dataset.setting):
        text = sentence(dataset, dataset.setting, ranked)
    else:
        text = _trials(dataset)
    return Finding(text, dataset.firmness, dataset)


def _trials(dataset: Compared) -> str:
    """The reasons, by judge, why none is ranked."""
    _, judges = dataset.names(dataset.setting)
    evidence = {judge: dataset.evidence(dataset.setting, judge) for judge in judges}
    reasons = {judge: "; ".join(each.reasons) for judge, each in evidence.items()}
    return unranked_sentence(dataset.name, reasons)


def sentence(dataset: Compared, setting: str, models: Sequence[Numbers]) -> str:
    """What the most partial judge gives its own captions, and how many judges are partial."""
    partial = [row for row in models if (row["preference_low"] or 0) > 0]
    where = f"on {dataset.name}, {SAID[setting]}"
    if not partial:
        several = f"None of {len(models)} judges is" if len(models) > 1 else "The judge is not"
        return f"{several} seen to prefer captions of its own {where}."
    worst = max(partial, key=lambda row: float(row["preference"]))
    said = (
        f"{worst['generator']} gives its own captions {worst['preference']:.1f} points more than "
        f"others would, of 100, {where}"
    )
    if len(models) == 1:
        return f"{said}."
    said = f"{said}; {len(partial)} of {len(models)} judges prefer their own."
    test = dataset.test_of_self(setting)
    # Of a single partial judge a matching in so many leaves it its own: no test could show it.
    if len(partial) < 2 or test is None or test["p"] is None or test["p"] <= _LEVEL:
        return said
    return (
        f"{said} On the whole that may be chance: matching writers and judges anew gives as much "
        f"in {test['p']:.0%} of ways.".replace("%", "\u00a0%")
    )
