"""Profiles: all that the sites and the roster tell of one judge or metric."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from assets.report.formats import UNLISTED
from assets.report.roster import Gap, Kind, Roster
from assets.report.standings import (
    MOST,
    Failure,
    JudgeResults,
    Measure,
    Standing,
    round_robin,
)
from metrics.statistics.firmness import FIRMNESS

_LONGEST = 60
"""Characters of a file's name."""


@dataclass
class Profile:
    """A judge or metric; what is known of it stands by the folder of the site that tells it."""

    name: str
    kind: Kind = "judge"
    told: str = ""
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    standings: dict[str, list[Standing]] = field(default_factory=dict)
    failures: dict[str, list[Failure]] = field(default_factory=dict)

    @property
    def page(self) -> str:
        """Where its page lies, from the folder of the front page."""
        return f"judges/{file_name(self.name)}.html"

    def by(self, folder: str, measure: Measure, *, stand_ins: bool = False) -> list[Standing]:
        """Its standings by a measure, the firmest first: of stand-ins, or of all others."""
        held = [
            each
            for each in self.standings.get(folder, ())
            if each.measure == measure.name and (each.firmness == "stand-in") == stand_ins
        ]
        return sorted(held, key=lambda each: FIRMNESS.index(each.firmness))

    def has(self, *, stand_ins: bool) -> bool:
        """Whether it has any standing that is a stand-in's, or any that is not."""
        held = (each for found in self.standings.values() for each in found)
        return any((each.firmness == "stand-in") == stand_ins for each in held)

    def telling(self, *, stand_ins: bool) -> list[tuple[str, Failure]]:
        """Its most telling failures with the folder of their site, the sites in turn."""
        chosen = [
            [(folder, each) for each in held if (each.firmness == "stand-in") == stand_ins]
            for folder, held in self.failures.items()
        ]
        return round_robin(chosen, MOST)


def profiles(judged: Mapping[str, JudgeResults], roster: Roster) -> list[Profile]:
    """Of all judges and metrics, in the order of the roster; then those that only sites know."""
    found = {
        each.name: Profile(each.name, each.kind, each.told, roster.gaps.get(each.name, {}))
        for each in roster.judges
    }
    unlisted = UNLISTED if roster.date else ""
    for folder, held in judged.items():
        for standing in (each for each in held.standings if each.firmness != "not run"):
            profile = found.setdefault(standing.model, Profile(standing.model, told=unlisted))
            profile.standings.setdefault(folder, []).append(standing)
        for failure in held.failures:
            profile = found.setdefault(failure.model, Profile(failure.model, told=unlisted))
            profile.failures.setdefault(folder, []).append(failure)
    return [*found.values()]


def file_name(name: str) -> str:
    """A name as that of a file on any system, another for every other name."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:_LONGEST]
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"
