"""What a judge's numbers depend on beside the judge: the conditions of its answers, in a table."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from assets.kit.conditions import find_differences, format_fact
from assets.report.cells import Body, Cell, Group, Head, Line, Table, number_cell
from assets.report.formats import format_count

_CAVEAT = "a part of a difference between these numbers may be due to that."


@dataclass(frozen=True)
class Conditions:
    """Conditions that some of a judge's answers in a benchmark share.

    `folder` is the benchmark's; `facts` are those of the column `conditions`, and the tables with
    these answers were stored from `first_day` to `last_day`. Thoughts were cut off `thoughtful`
    replies, by `rules`; `characters` are those that were cut.
    """

    folder: str
    facts: Mapping[str, Any]
    replies: int
    first_day: str
    last_day: str
    rules: Sequence[str] = ()
    thoughtful: int = 0
    characters: int = 0

    @property
    def facts_text(self) -> str:
        """The facts in words."""
        named = (f"{_to_words(name)} {format_fact(fact)}" for name, fact in self.facts.items())
        return "; ".join(named) or "not known: the provider does not say"

    @property
    def days_text(self) -> str:
        """The days on which the answers were stored."""
        return " to ".join(dict.fromkeys((self.first_day, self.last_day)))

    @property
    def thoughts_text(self) -> str:
        """How thoughts were cut off the replies, and how many characters."""
        if not self.thoughtful:
            return "none"
        characters = f", {format_count(self.characters)} characters" if self.characters else ""
        return (
            f"{' and '.join(self.rules)}, of {format_count(self.thoughtful)} "
            f"{'reply' if self.thoughtful == 1 else 'replies'}{characters}"
        )


def conditions_table(
    conditions: Mapping[str, Sequence[Conditions]], titles: Mapping[str, str]
) -> Table:
    """Tabulate the conditions of answers: a body per judge, a line per benchmark and condition."""
    heads = [Head(label) for label in ("Replies", "Stored on", "Depends on", "Thoughts cut")]
    bodies = [
        Body(
            judge,
            [
                Line(
                    titles.get(shared.folder, shared.folder),
                    [
                        number_cell(shared.replies),
                        Cell(shared.days_text),
                        Cell(shared.facts_text),
                        Cell(shared.thoughts_text),
                    ],
                )
                for shared in parts
            ],
        )
        for judge, parts in conditions.items()
    ]
    return Table("What the answers depend on", "Benchmark", [Group("", heads)], bodies)


def describe_own_differences(conditions: Sequence[Conditions]) -> str:
    """Say in what the conditions of one judge's answers differ; "" where they do not."""
    differences = find_differences([shared.facts for shared in conditions])
    if not differences:
        return ""
    named = ", ".join(
        f"{_to_words(name)} ({'; '.join(values)})" for name, values in differences.items()
    )
    return f"Its answers were given under conditions that differ in {named}: {_CAVEAT}"


def describe_differences_of_judges(conditions: Mapping[str, Sequence[Conditions]]) -> str:
    """Say in what the conditions of several judges differ; "" where they do not.

    What is not known of some, or only some have, as a metric its formula, is no difference.
    """
    values = defaultdict(set)
    for shared in chain.from_iterable(conditions.values()):
        for name, fact in shared.facts.items():
            if fact is not None:
                values[name].add(format_fact(fact))
    differences = sorted(name for name, facts in values.items() if len(facts) > 1)
    if not differences:
        return ""
    named = ", ".join(map(_to_words, differences))
    return f"Judges and metrics were asked under conditions that differ in {named}: {_CAVEAT}"


def _to_words(name: str) -> str:
    return name.replace("_", " ")
