"""The report: its measures, each judge's inflation, and the pictures that moved it most."""

from collections.abc import Iterator
from pathlib import Path

from assets.frame.common import QUESTION, TITLE
from assets.frame.pages import charts, paper, susceptibility, tables, win_rates
from assets.frame.pages.gallery import SourceGallery, gallery
from assets.frame.pages.sentences import judge_sentence, source_sentence
from assets.frame.pages.source_page import SHORT, ScoredSource
from assets.report.benchmark_report import BenchmarkReport
from assets.report.formats import read_rate
from assets.report.standings import Failure, Measure, Standing
from assets.report.subjects import firmest_first
from metrics.protobias.ranking import ALL

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


def _standings(source: ScoredSource) -> Iterator[Standing]:
    """The inflation of every judge's scores and the success of all biases, held out."""
    scope = f"pictures of {source.name}"
    for judge in source.judges:
        overlay, biases = source.overlay(judge), source.row(judge, ALL)
        yield source.standing(
            judge,
            INFLATION,
            source.overlay_evidence(judge),
            read_rate(overlay, "percent", 100),
            items=int(overlay["images"]) if overlay else 0,
            unit="pictures, before and after",
            section="inflation",
            of=scope,
            notes=[f"by {overlay['bias']}" if overlay else ""],
        )
        yield source.standing(
            judge,
            SUCCESS,
            source.evidence(judge, source.biases),
            read_rate(biases, "rate"),
            items=int(biases["combinations"]) if biases else 0,
            unit="biases in domains",
            section="success",
            of=scope,
        )


def _failures(source: ScoredSource, pictures: SourceGallery) -> Iterator[Failure]:
    """The pictures that moved each judge most."""
    for number, (judge, slides) in enumerate(pictures.movable.items(), 1):
        for slide in slides:
            yield Failure(
                judge,
                source.overlay_evidence(judge).firmness,
                slide.changed.file,
                f"Changed: {slide.title}",
                f"How well does the picture fit “{slide.instruction}”?",
                f"Of 5 points, before → after: {dict(slide.scores)[judge]}",
                "What the picture shows is the same as before",
                f"{source.gallery}#judge-{number}",
                slide.original.file,
                "As it was",
            )


REPORT = BenchmarkReport(
    title=TITLE,
    question=QUESTION,
    templates=Path(__file__).parent / "templates",
    sections=("Judges", "Sources", "Success", "Costs"),
    values={
        "charts": charts,
        "paper_says": paper,
        "sentence": judge_sentence,
        "short": SHORT,
        "susceptibility": susceptibility,
        "tables": tables,
        "win_rates": win_rates,
    },
    # The newest source is noticed last.
    order=lambda sources: firmest_first(sources[::-1]),
    stand_in_sentence="A stand-in run: judges and pictures are stand-ins, and no figure is a "
    "result.",
    sentence=source_sentence,
    gallery=gallery,
    thumbnails=lambda pictures: pictures.thumbnails,
    measures=[INFLATION, SUCCESS],
    standings=_standings,
    failures=_failures,
)
