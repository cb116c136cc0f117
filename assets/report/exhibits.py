"""Exhibits: pictures that judges were asked about, in a subject's gallery and on judges' pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from assets.report.charts import Chart
from assets.report.publish import Thumbnail
from assets.report.standings import Failure
from assets.report.subjects import ReportSubject
from metrics.statistics.firmness import Evidence


class Exhibit(NamedTuple):
    """A picture, and what it was made of; what a judge was asked and answered, and what is true.

    `lines` stand below the picture: words in bold, and those after them. An exhibit with a question
    is a failure of the judge, which the judge's own page shows as well.
    """

    picture: Thumbnail
    title: str
    lines: Sequence[tuple[str, str]]
    small: str = ""
    original: Thumbnail | None = None
    chart: Chart | None = None
    question: str = ""
    answer: str = ""
    truth: str = ""


Exhibits: TypeAlias = Mapping[str, Sequence[Exhibit]]


@dataclass(frozen=True)
class Gallery:
    """The exhibits of a subject: by judge, and before these under other headings."""

    judges: Exhibits
    others: Exhibits = field(default_factory=dict)


def list_thumbnails(gallery: Gallery) -> Iterator[Thumbnail]:
    """The pictures of all exhibits."""
    for exhibits in (*gallery.others.values(), *gallery.judges.values()):
        for exhibit in exhibits:
            yield from filter(None, (exhibit.original, exhibit.picture))


def list_failures(subject: ReportSubject, gallery: Gallery) -> Iterator[Failure]:
    """The failures of every judge, each with a link to the judge's part of the gallery."""
    none = Evidence(requests=0, answers=0, is_stand_in=subject.is_stand_in)
    for number, (judge, exhibits) in enumerate(gallery.judges.items(), 1):
        for exhibit in exhibits:
            if exhibit.question:
                yield Failure(
                    model=judge,
                    firmness=subject.judge_evidence.get(judge, none).firmness,
                    picture=exhibit.picture.file,
                    alt=f"Changed: {exhibit.title}" if exhibit.original else exhibit.title,
                    question=exhibit.question,
                    answer=exhibit.answer,
                    truth=exhibit.truth,
                    link=f"{subject.gallery}#judge-{number}",
                    comparison=exhibit.original.file if exhibit.original else "",
                    comparison_alt="As it was" if exhibit.original else "",
                )
