"""Profiles: all that the sites and the roster tell of one judge or metric."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from assets.report.conditions import Conditions
from assets.report.formats import UNLISTED
from assets.report.roster import Gap, Kind, Roster
from assets.report.standings import (
    MOST,
    Course,
    Failure,
    JudgeResults,
    Measure,
    Standing,
    round_robin,
)
from metrics.statistics.firmness import FIRMNESS

_MAX_LENGTH = 60
"""Characters of a file's name."""


@dataclass
class Profile:
    """A judge or metric; what is known of it stands by the folder of the site that tells it."""

    name: str
    kind: Kind = "judge"
    description: str = ""
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    conditions: Sequence[Conditions] = ()
    standings: dict[str, list[Standing]] = field(default_factory=dict)
    failures: dict[str, list[Failure]] = field(default_factory=dict)
    courses: list[Course] = field(default_factory=list)

    @property
    def page(self) -> str:
        """Path of its page from the folder of the front page."""
        return f"judges/{file_name(self.name)}.html"

    def select_standings(
        self, folder: str, measure: Measure, *, stand_ins: bool = False
    ) -> list[Standing]:
        """Its standings by a measure, the firmest first: of stand-ins, or of all others."""
        standings = [
            standing
            for standing in self.standings.get(folder, ())
            if standing.measure == measure.name and (standing.firmness == "stand-in") == stand_ins
        ]
        return sorted(standings, key=lambda standing: FIRMNESS.index(standing.firmness))

    def has(self, *, stand_ins: bool) -> bool:
        """True with any standing that is a stand-in's, or any that is not."""
        all_standings = (
            standing for standings in self.standings.values() for standing in standings
        )
        return any((standing.firmness == "stand-in") == stand_ins for standing in all_standings)

    def telling(self, *, stand_ins: bool) -> list[tuple[str, Failure]]:
        """Its most telling failures with the folder of their site, the sites in turn."""
        chosen = [
            [
                (folder, failure)
                for failure in failures
                if (failure.firmness == "stand-in") == stand_ins
            ]
            for folder, failures in self.failures.items()
        ]
        return round_robin(chosen, MOST)


def profiles(judged: Mapping[str, JudgeResults], roster: Roster) -> list[Profile]:
    """Build the profiles in the order of the roster; then those that only sites know."""
    profiles_by_name = {
        listed.name: Profile(
            listed.name,
            listed.kind,
            listed.description,
            roster.gaps.get(listed.name, {}),
            roster.conditions.get(listed.name, ()),
        )
        for listed in roster.judges
    }
    unlisted = UNLISTED if roster.date else ""

    def find(model: str) -> Profile:
        return profiles_by_name.setdefault(model, Profile(model, description=unlisted))

    for folder, results in judged.items():
        for standing in results.standings:
            if standing.firmness != "not run":
                find(standing.model).standings.setdefault(folder, []).append(standing)
        for failure in results.failures:
            find(failure.model).failures.setdefault(folder, []).append(failure)
        for course in results.courses:
            find(course.model).courses.append(course)
    return [*profiles_by_name.values()]


def file_name(name: str) -> str:
    """A name as that of a file on any system, another for every other name."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:_MAX_LENGTH]
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"
