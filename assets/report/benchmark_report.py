"""The report that a benchmark declares: its measures, sentences, pictures and templates."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from assets.report.costs import RuleDecisions, costs, describe_decisions, summarize_decisions
from assets.report.openings import Entry, Opening
from assets.report.publish import Site, Thumbnail
from assets.report.published import Published
from assets.report.rendering import Renderer, Shell
from assets.report.standings import Course, Failure, JudgeResults, Measure, Standing
from assets.report.start_page import Finding
from assets.report.subjects import ReportSubject
from resources.calls.spending import SpendingRow

SubjectT = TypeVar("SubjectT", bound=ReportSubject)
GalleryT = TypeVar("GalleryT")
PartT = TypeVar("PartT")


class Page(NamedTuple):
    """A page by its path in the site and its template, with more values for it."""

    path: str
    template: str
    values: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class BenchmarkReport(Generic[SubjectT, GalleryT]):
    """A report with a front page, and pages about each of its subjects.

    The templates are `front.html`, `subject.html` for a page about each subject, `gallery.html` for
    one of its pictures, and those of further pages.

    The front page of all reports shows the standings of each judge and its failures.
    """

    title: str
    question: str
    templates: Path
    sections: Sequence[str]
    """Sections of the front page that the head of every page links to."""
    links: Sequence[tuple[str, str]] = ()
    """Further links there, by label and address."""
    styles: Sequence[Path] = ()
    """Style sheets of these pages alone."""
    values: Mapping[str, object] = field(default_factory=dict)
    """Functions and words for the templates."""
    order: Callable[[Sequence[SubjectT]], Sequence[SubjectT]]
    """The subjects, the firmest first: the finding is about the first."""
    stand_in_sentence: str
    sentence: Callable[[SubjectT], str]
    """The finding about a subject that is no stand-in run."""
    gallery: Callable[[SubjectT], GalleryT]
    thumbnails: Callable[[GalleryT], Iterable[Thumbnail]]
    pictures: Callable[[GalleryT], Iterable[str]] = lambda gallery: ()
    """The sha256 of pictures that lie in the site as large as they are."""
    pages: Callable[[SubjectT], Iterable[Page]] = lambda subject: ()
    """Further pages about a subject."""
    published: Published | None = None
    """The paper's own numbers."""
    match_published: Callable[[SubjectT, Published], Published] = lambda subject, published: (
        published
    )
    """The paper's numbers over what the subject's own are over, where that is a part."""
    place: int = 0
    """The place among the benchmarks on the front page of all reports."""
    measures: Sequence[Measure]
    standings: Callable[[SubjectT], Iterable[Standing]]
    failures: Callable[[SubjectT, GalleryT], Iterable[Failure]]
    courses: Callable[[SubjectT], Iterable[Course]] = lambda subject: ()
    """Judges month by month."""

    def finding(self, subjects: Sequence[SubjectT]) -> Finding[SubjectT]:
        """The finding about the firmest subject."""
        subject = self.order(subjects)[0]
        is_stand_in = subject.firmness == "stand-in"
        sentence = self.stand_in_sentence if is_stand_in else self.sentence(subject)
        return Finding(sentence, subject.firmness, subject)

    def judged(
        self, subjects: Sequence[SubjectT], galleries: Mapping[str, GalleryT]
    ) -> JudgeResults:
        """The standings and failures of every judge, those about the firmest subject first."""
        ordered = self.order(subjects)
        return JudgeResults(
            self.measures,
            [standing for subject in ordered for standing in self.standings(subject)],
            [
                failure
                for subject in ordered
                for failure in self.failures(subject, galleries[subject.name])
            ],
            [course for subject in ordered for course in self.courses(subject)],
        )

    def build(
        self,
        subjects: Sequence[SubjectT],
        *,
        facts: Mapping[str, str],
        spent: Sequence[SpendingRow] = (),
        decisions: Sequence[RuleDecisions] = (),
        further_pages: Mapping[str, str] = MappingProxyType({}),
        **values: object,
    ) -> Site:
        """The site; `facts` are the lines of the footer, `values` more for the templates.

        `further_pages` are paths with the names of their templates.
        """
        finding = self.finding(subjects)
        galleries = {subject.name: self.gallery(subject) for subject in subjects}
        stand_ins = [subject.name for subject in subjects if subject.is_stand_in]
        published = self.published and self.match_published(finding.subject, self.published)
        entry = Entry(
            self.title,
            self.question,
            finding.sentence,
            finding.firmness,
            published,
            self.place,
            summarize_decisions(decisions, spent),
        )
        results = self.judged(subjects, galleries)
        links = [(title, f"index.html#{title.lower()}") for title in self.sections]
        shared = {
            "question": self.question,
            "subjects": subjects,
            "finding": finding,
            "gallery": galleries[finding.subject.name],
            "opening": Opening(entry=entry, results=results),
            "stand_ins": stand_ins,
            "costs": costs(spent),
            "decisions": describe_decisions(decisions, spent),
            **self.values,
            **values,
        }
        page = Renderer(
            self.templates,
            Shell(self.title, facts, [*links, *self.links], [file.name for file in self.styles]),
            **shared,
        ).page

        def pages() -> Iterator[tuple[str, str]]:
            yield from page("index.html", "front.html")
            for subject in subjects:
                shown = {"subject": subject, "gallery": galleries[subject.name]}
                if (self.templates / "subject.html").exists():
                    yield from page(subject.page, "subject.html", **shown)
                if subject.gallery_kind:
                    yield from page(subject.gallery, "gallery.html", **shown)
                for path, template, more in self.pages(subject):
                    yield from page(path, template, **shown, **more)
            for path, template in further_pages.items():
                yield from page(path, template)

        return Site(
            entry=entry,
            pages=pages(),
            pictures=_gather(galleries, self.pictures),
            thumbnails=_gather(galleries, self.thumbnails),
            metadata={f"{subjects[0].kind}s": len(subjects), "stand_ins": len(stand_ins)},
            judged=results,
            static=self.styles,
        )


def _gather(
    galleries: Mapping[str, GalleryT], parts: Callable[[GalleryT], Iterable[PartT]]
) -> list[PartT]:
    """The parts of all galleries, each once."""
    return list(dict.fromkeys(chain.from_iterable(map(parts, galleries.values()))))
