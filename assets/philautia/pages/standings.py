"""What the front page of all reports shows of each judge: what it gives captions of its own."""

from collections.abc import Iterator, Mapping, Sequence

from assets.philautia.pages.charts import points as written
from assets.philautia.pages.dataset_page import SAID, Compared, firmest_first
from assets.philautia.pages.gallery import Shown
from assets.report.formats import rate_of
from assets.report.standings import Failure, Judged, Measure, Standing

OF_SCALE = 100
"""Points of the scale, as parts of which standings are told."""
SELF_PREFERENCE = Measure(
    "Self-preference",
    "near 0",
    "points",
    "Points of 100 that a judge gives captions of its own more than others would.",
)


def judged(
    datasets: Sequence[Compared], galleries: Mapping[str, Mapping[str, Sequence[Shown]]]
) -> Judged:
    """The self-preference of every judge, on the firmest dataset first.

    Its failures are captions that it prefers, of judges that are seen to prefer their own.
    """
    return Judged(
        [SELF_PREFERENCE],
        [
            _standing(dataset, setting, judge)
            for dataset in firmest_first(datasets)
            for setting in dataset.settings
            for judge in dataset.names(setting)[1]
        ],
        [
            failure
            for dataset in firmest_first(datasets)
            for failure in _failures(dataset, galleries[dataset.name])
        ],
    )


def _standing(dataset: Compared, setting: str, judge: str) -> Standing:
    row = dataset.own(setting, judge)
    rate, evidence = rate_of(row, "preference", OF_SCALE), dataset.evidence(setting, judge)
    return Standing.build(
        judge,
        SELF_PREFERENCE,
        evidence,
        rate,
        items=evidence.units,
        unit="pictures",
        date=dataset.dates.get(judge, ""),
        link=f"{dataset.page}#own",
        of=f"captions of {dataset.name}, {SAID[setting]}",
    )


def _failures(dataset: Compared, shown: Mapping[str, Sequence[Shown]]) -> Iterator[Failure]:
    partial = {
        row["generator"]
        for setting in dataset.settings
        for row in dataset.models(setting)
        if (row["preference_low"] or 0) > 0
    }
    for number, (judge, held) in enumerate(shown.items(), 1):
        for each in held if judge in partial else ():
            example = each.example
            others = [
                f"{name} gives it {written(score)}"
                for name, score in example.scores.items()
                if name != judge
            ]
            yield Failure(
                judge,
                dataset.evidence(dataset.setting, judge).firmness,
                each.picture.file,
                example.image_id,
                f"How good, of 100, is its own caption “{example.caption}”, {each.said}?",
                f"{written(example.scores[judge])}; on average it gives "
                f"{written(example.means[judge])}",
                f"not known; {', '.join(others)}",
                f"{dataset.page}#judge-{number}",
            )
