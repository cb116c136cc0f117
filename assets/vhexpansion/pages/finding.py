"""The finding: which judge's accuracy says most that its symmetric accuracy does not."""

from collections.abc import Sequence

from assets.report.formats import count, whole_percent
from assets.report.start_page import Finding, trial_sentence, unranked_sentence
from assets.vhexpansion.pages.dataset_page import Answered, Numbers, firmest_first


def finding(datasets: Sequence[Answered]) -> Finding[Answered]:
    """The finding on the dataset of results with most cases, else on a trial or a stand-in run."""
    firmest = firmest_first(datasets)[0]
    if firmest.firmness == "stand-in":
        text = "A stand-in run: judges or pictures are stand-ins, and no figure is a result."
    elif firmest.ranked:
        text = sentence(firmest, max(firmest.ranked, key=_distance))
    else:
        text = _trials(firmest)
    return Finding(text, firmest.firmness, firmest)


def _distance(row: Numbers) -> float:
    """How far apart accuracy and symmetric accuracy are; 0 without an answered pair."""
    return float(row["accuracy"] - row["symmetric"]) if row["symmetric"] is not None else 0.0


def _trials(dataset: Answered) -> str:
    """The numbers of the only judge, or the first judge's reasons; several are not ranked."""
    rows = {judge: row for judge in dataset.judges if (row := dataset.clean(judge))}
    reasons = {judge: "; ".join(dataset.evidence(row).reasons) for judge, row in rows.items()}
    answered = [judge for judge, row in rows.items() if row["symmetric"] is not None]
    if len(rows) == 1 and answered:
        (row,) = rows.values()
        return trial_sentence(reasons[answered[0]], sentence(dataset, row))
    return unranked_sentence(dataset.name, reasons)


def sentence(dataset: Answered, row: Numbers) -> str:
    """How often a judge is right on cases, and how often on their negations as well."""
    one, both = (whole_percent(row[name]) for name in ("accuracy", "symmetric"))
    lacking = ""
    if row["unanswered"]:
        lacking = f"; {count(row['unanswered'])} of {count(row['asked'])} requests have no answer"
    return (
        f"{row['model']} answers {one} of the questions of {dataset.name} right, and {both} of "
        f"them together with their negations{lacking}."
    )
