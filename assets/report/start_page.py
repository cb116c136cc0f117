"""The start page of all reports: one row per judge or metric, and what each benchmark found.

It is made of what lies in the sites, so that no benchmark is named here, and of the roster. Each
judge and metric has a page of its own, which gathers what the sites tell of it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from assets.report import front_tables, standings
from assets.report.front_tables import MeasureColumn
from assets.report.profiles import Profile, profiles
from assets.report.rendering import STATIC, Renderer, Shell
from assets.report.revision import Publication
from assets.report.roster import Roster
from assets.report.standings import JudgeResults
from assets.report.strips import strips
from metrics.statistics.firmness import FIRMNESS, Firmness
from resources.sites import MARK, FrontFolder, open_front
from resources.storage.atomic_writes import FilePath

T = TypeVar("T")

_ENTRY = "finding.json"
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


class Entry(NamedTuple):
    """A benchmark on the start page: its question, its finding, and how firm that is."""

    title: str
    question: str
    finding: str
    firmness: Firmness

    @property
    def file(self) -> tuple[str, str]:
        """The file of a site from which the start page is made, as (path, text)."""
        return _ENTRY, json.dumps(self._asdict(), ensure_ascii=False, indent=2) + "\n"


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
            entry = Entry(**json.loads(site.read(_ENTRY)))
            reports.judged[site.name] = JudgeResults.read(site.read(standings.FILE).decode())
            reports.entries[site.name] = entry
    return reports


def _pages(reports: _Reports) -> Iterator[tuple[str, str]]:
    everyone, columns = profiles(reports.judged, reports.roster), reports.columns
    shared = {"columns": columns, "entries": reports.entries, "roster": reports.roster}
    templates = Path(__file__).parent / "templates"
    page = Renderer(templates, Shell("Counterfactory", {}), **shared).page
    yield from page(
        "index.html",
        "start.html",
        known=bool(everyone),
        overview=front_tables.overview(columns, everyone),
        stand_ins=front_tables.stand_ins(columns, everyone),
        counts=_counts(reports.judged),
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


def _counts(judged: Mapping[str, JudgeResults]) -> dict[str, int]:
    """Count the judges and metrics that have a result, and those with a trial at most."""
    firm: dict[str, set[str]] = {firmness: set() for firmness in FIRMNESS}
    for results in judged.values():
        for standing in results.standings:
            if standing.value is not None:
                firm[standing.firmness].add(standing.model)
    return {"result": len(firm["result"]), "trial": len(firm["trial"] - firm["result"])}
