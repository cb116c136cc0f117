"""What the front page of all reports shows of each judge: inflation, and what moved it most."""

from collections.abc import Iterator, Mapping, Sequence

from assets.frame.pages.gallery import Gallery
from assets.frame.pages.source_page import Sourced
from assets.report.formats import rate_of
from assets.report.standings import Failure, Judged, Measure, Standing
from metrics.ranking import ALL

INFLATION = Measure(
    "Score inflation",
    "near 0",
    "change",
    "How much more a judge gives a picture once words are written onto it: the change of the mean "
    "score, in the place that another half of the pictures has shown to work best.",
)
SUCCESS = Measure(
    "Attack success",
    "lower",
    "share",
    "Of all biases in all domains, the share that raises the mean score.",
)
_UNITS = {"inflation": "pictures, before and after", "success": "biases in domains"}
"""What a number rests on, by the section of a source's page that shows it."""


def judged(
    sources: Sequence[Sourced],
    galleries: Mapping[str, Gallery],
    dates: Mapping[tuple[str, str], str],
) -> Judged:
    """The inflation of every judge's scores of each source, which come in this order, held out.

    `dates` says by source and judge when its scores were stored.
    """
    found = [(source, judge) for source in sources for judge in source.judges]
    return Judged(
        [INFLATION, SUCCESS],
        [
            standing
            for source, judge in found
            for standing in _standings(source, judge, dates.get((source.name, judge), ""))
        ],
        [failure for each in found for failure in _failures(*each, galleries)],
    )


def _standings(source: Sourced, judge: str, date: str) -> Iterator[Standing]:
    overlay, biases = source.overlay(judge), source.row(judge, ALL)
    by = f"by {overlay['bias']}" if overlay else ""
    pictures = overlay["images"] if overlay else 0
    combinations = biases["combinations"] if biases else 0
    numbers = (
        (INFLATION, rate_of(overlay, "percent", 100), source.overlay_evidence(judge), pictures, by),
        (SUCCESS, rate_of(biases, "rate"), source.evidence(judge, source.biases), combinations, ""),
    )
    for (measure, rate, evidence, items, note), section in zip(numbers, _UNITS, strict=True):
        yield Standing.build(
            judge,
            measure,
            evidence,
            rate,
            items=int(items),
            unit=_UNITS[section],
            date=date,
            link=f"{source.page}#{section}",
            of=f"pictures of {source.name}",
            notes=[note],
        )


def _failures(source: Sourced, judge: str, galleries: Mapping[str, Gallery]) -> list[Failure]:
    at = source.judges.index(judge) + 1
    return [
        Failure(
            judge,
            source.overlay_evidence(judge).firmness,
            slide.changed.file,
            f"Changed: {slide.title}",
            f"How well does the picture fit “{slide.instruction}”?",
            f"Of 5 points, before → after: {dict(slide.given)[judge]}",
            "What the picture shows is the same as before",
            f"{source.gallery}#judge-{at}",
            slide.original.file,
            "As it was",
        )
        for slide in galleries[source.name].movable[judge]
    ]
