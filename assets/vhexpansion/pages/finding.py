"""The finding: which judge's accuracy says most that its symmetric accuracy does not."""

from collections.abc import Sequence

from assets.report.formats import count, whole_percent
from assets.report.start_page import Finding, State
from assets.vhexpansion.pages.dataset_page import Answered, Numbers, firmest_first


def finding(datasets: Sequence[Answered]) -> Finding[Answered]:
    """Of the dataset of results with most cases, else of a trial, else of a stand-in run."""
    of = firmest_first(datasets)[0]
    if of.stand_in:
        told = "A stand-in run: judges or pictures are stand-ins, and no figure is a result."
        return Finding(told, "stand-in run", of)
    state: State = "trial" if of.trial else "results"
    row = _widest(of)
    if of.unsure:
        told = f"Every judge that has answered {of.name} may have been trained on it."
        return Finding(told, "no results yet", of)
    if row is None:
        return Finding(f"No judge has answered a pair of {of.name}.", "no results yet", of)
    told = sentence(of, row)
    return Finding(told if state == "results" else f"A trial on few pictures: {told}", state, of)


def _widest(dataset: Answered) -> Numbers | None:
    """The judge whose two shares are farthest apart, of those that were not trained on these."""
    rows = (dataset.clean(judge) for judge in dataset.judges)
    known = (row for row in rows if row and row["left_out"] is not None)
    there = [row for row in known if row["symmetric"] is not None]
    return max(there, key=lambda row: float(row["accuracy"] - row["symmetric"]), default=None)


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
