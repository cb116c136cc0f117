"""The start page of all reports: one row per judge or metric, and what each benchmark found.

It is made of what lies in the sites, so that no benchmark is named here, and of the roster. Each
judge and metric has a page of its own, which gathers what the sites tell of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from assets.report import charts, front_tables, standings
from assets.report.conditions import (
    conditions_table,
    describe_differences_of_judges,
    describe_own_differences,
)
from assets.report.front_tables import MeasureColumn
from assets.report.openings import ENTRY_FILE, Entry, Opening, sort_openings
from assets.report.profiles import Profile, profiles
from assets.report.rendering import STATIC, Renderer, Shell
from assets.report.revision import Publication
from assets.report.roster import Roster
from assets.report.standings import JudgeResults
from assets.report.strips import strips
from metrics.statistics.firmness import Firmness
from resources.sites import MARK, FrontFolder, open_front
from resources.storage.atomic_writes import FilePath

T = TypeVar("T")

_NAMED = 3
"""Models that a sentence names."""
_MARK = '<svg xmlns="http://www.w3.org/2000/svg"><title>Reports</title></svg>\n'
JUDGE_FOLDERS = ("judges", "tables/judges")
"""The folders of the judges' pages and of their tables as CSV."""


class Finding(NamedTuple, Generic[T]):
    """The finding in a sentence, its firmness, and the subject that it is about."""

    sentence: str
    firmness: Firmness
    subject: T


def trial_sentence(reasons: str, sentence: str) -> str:
    """The sentence on the only model that was asked, where its number is no result."""
    return f"A trial ({reasons}): {sentence}"


def no_ranking_sentence(subject: str, reasons: Mapping[str, str]) -> str:
    """The reasons, by model, why no number on a dataset, source or painter is a result."""
    if not reasons:
        return f"No model has been asked about {subject} yet."
    sentences = "; ".join(f"{model}: {reason}" for model, reason in [*reasons.items()][:_NAMED])
    more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    return f"No model is ranked on {subject} yet. {sentences}{more}."


@dataclass
class _Reports:
    """The sites' entries and results by folder, and the roster beside them."""

    roster: Roster
    entries: dict[str, Entry] = field(default_factory=dict)
    judged: dict[str, JudgeResults] = field(default_factory=dict)

    @property
    def columns(self) -> list[MeasureColumn]:
        """A column for each measure, and one for each benchmark without a report."""
        titles = {planned.folder: planned.title for planned in self.roster.benchmarks}
        titles |= {folder: entry.title for folder, entry in self.entries.items()}
        return [
            MeasureColumn(folder, titles[folder], measure)
            for folder in sorted(titles)
            for measure in self.measures(folder)
        ]

    def measures(self, folder: str) -> list[standings.Measure | None]:
        """The measures of a site: None of a benchmark without a report."""
        return [*self.judged[folder].measures] if folder in self.judged else [None]


def write_start_page(folder: FilePath) -> Publication:
    """Write the start page of the sites that lie in `folder`, and return it with its version.

    A site is listed once it lies there with its entry. Of two reports that end at once, the page
    of the last one might lack the other: it looks again.
    """
    front = open_front(folder)
    before, reports = None, _read_reports(folder, front)
    while before != reports:
        files = {MARK: _MARK.encode(), **{file.name: file.read_bytes() for file in STATIC}}
        files |= {path: text.encode() for path, text in _pages(reports)}
        front.write(files, JUDGE_FOLDERS)
        before, reports = reports, _read_reports(folder, front)
    return Publication(folder / "index.html", sha256(files["index.html"]).hexdigest())


def read_judge_results(folder: FilePath) -> Mapping[str, JudgeResults]:
    """Read what each site in `folder` tells of judges, by the site's own folder."""
    return _read_reports(folder, open_front(folder)).judged


def _read_reports(folder: FilePath, front: FrontFolder) -> _Reports:
    reports = _Reports(Roster.read(folder))
    for site in front.list_sites():
        # Whoever replaces that site at this moment writes the start page once more.
        with suppress(FileNotFoundError):
            entry = Entry.parse(site.read(ENTRY_FILE))
            reports.judged[site.name] = JudgeResults.read(site.read(standings.FILE).decode())
            reports.entries[site.name] = entry
    return reports


def _pages(reports: _Reports) -> Iterator[tuple[str, str]]:
    everyone, columns = profiles(reports.judged, reports.roster), reports.columns
    openings = sort_openings(
        Opening.of_site(folder, entry, reports.judged[folder])
        for folder, entry in reports.entries.items()
    )
    shared = {"columns": columns, "entries": reports.entries, "roster": reports.roster}
    templates = Path(__file__).parent / "templates"
    page = Renderer(templates, Shell("Counterfactory", {}), **shared).page
    titles = {column.folder: column.title for column in columns}
    conditions = {profile.name: profile.conditions for profile in everyone if profile.conditions}
    yield from page(
        "index.html",
        "start.html",
        known=bool(everyone),
        openings=openings,
        overview=front_tables.overview(columns, everyone),
        stand_ins=front_tables.stand_ins(columns, everyone),
        conditions=conditions_table(conditions, titles),
        differences=describe_differences_of_judges(conditions),
    )
    for profile in everyone:
        yield from page(
            profile.page,
            "judge.html",
            profile=profile,
            strips=strips(columns, profile, everyone),
            tables={
                is_stand_in: front_tables.judge_numbers(columns, profile, is_stand_in=is_stand_in)
                for is_stand_in in (False, True)
            },
            failures={
                is_stand_in: profile.telling(stand_ins=is_stand_in) for is_stand_in in (False, True)
            },
            conditions=conditions_table({"": profile.conditions}, titles),
            differences=describe_own_differences(profile.conditions),
            courses=[
                (course, charts.monthly(f"course-{index}", course))
                for index, course in enumerate(profile.courses)
            ],
            lacking=[] if profile.kind == "stand_in" else _lacking(columns, profile),
        )


def _lacking(columns: list[MeasureColumn], profile: Profile) -> list[tuple[str, str]]:
    """The folder and title of each benchmark of which there is no number that is no stand-in's."""
    titles = dict.fromkeys((column.folder, column.title) for column in columns)
    measured_folders = {
        column.folder
        for column in columns
        if column.measure and profile.select_standings(column.folder, column.measure)
    }
    return [(folder, title) for folder, title in titles if folder not in measured_folders]
