"""Subjects: the datasets, sources or painters about each of which a report has pages."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import ClassVar, TypeVar

import pandas as pd

from assets.kit.collections import load_listed_collections
from assets.report.formats import Rate, add_firmness
from assets.report.standings import Measure, Standing
from metrics.statistics.firmness import FIRMNESS, Evidence, Firmness

SubjectT = TypeVar("SubjectT", bound="ReportSubject")


class ReportSubject(ABC):
    """A dataset, source or painter, with what its benchmark knows of it.

    A subclass is a data class with the fields `name` and `dates`: by judge the day on which its
    answers were stored.
    """

    kind: ClassVar[str]
    """Word for such a subject, as in "dataset"."""
    gallery_kind: ClassVar[str] = ""
    """Word for its pictures, where they have a page of their own."""
    name: str
    dates: Mapping[str, str]

    @property
    @abstractmethod
    def is_stand_in(self) -> bool:
        """True if a stand-in had a part in any number."""

    @property
    @abstractmethod
    def judge_evidence(self) -> Mapping[str, Evidence]:
        """The evidence behind each judge's first number."""

    @property
    def size_words(self) -> str:
        """Size of the subject, as in "40 pictures", for a list of subjects; or empty."""
        return ""

    @cached_property
    def firmness(self) -> Firmness:
        """The firmness of the firmest judge."""
        return firmest(self.judge_evidence.values())

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reasons, by judge, why its number is no result."""
        return {
            judge: "; ".join(evidence.reasons) for judge, evidence in self.judge_evidence.items()
        }

    @property
    def title(self) -> str:
        """Its name, and its firmness unless that is a result."""
        return add_firmness(self.name, self.firmness)

    @property
    def page(self) -> str:
        """Path of its tables in the site."""
        return f"{self.kind}-{self.name}.html"

    @property
    def gallery(self) -> str:
        """Path of its pictures in the site."""
        return f"{self.gallery_kind}-{self.name}.html" if self.gallery_kind else self.page

    def standing(
        self,
        judge: str,
        measure: Measure,
        evidence: Evidence,
        rate: Rate,
        *,
        items: int,
        unit: str,
        section: str,
        scope: str,
        notes: Iterable[str] = (),
    ) -> Standing:
        """A number of a judge, which a section of the subject's page shows."""
        return Standing.build(
            judge,
            measure,
            evidence,
            rate,
            items=items,
            unit=unit,
            date=self.dates.get(judge, ""),
            link=f"{self.page}#{section}",
            scope=scope,
            notes=notes,
        )


def has_stand_in(table: pd.DataFrame) -> bool:
    """True if a stand-in had a part in any row."""
    return bool(table["is_stand_in"].astype("boolean").fillna(value=False).any())


def firmest(evidence: Iterable[Evidence]) -> Firmness:
    """The firmness of the firmest number; `not run` without any."""
    return min((number.firmness for number in evidence), key=FIRMNESS.index, default="not run")


def firmest_first(
    subjects: Iterable[SubjectT], key: Callable[[SubjectT], float] = lambda subject: 0
) -> list[SubjectT]:
    """Results, then trials and stand-in runs; among these collections, then by `key`.

    Subjects that are equal in all of this stay in the given order.
    """
    collections = load_listed_collections()
    return sorted(
        subjects,
        key=lambda subject: (
            FIRMNESS.index(subject.firmness),
            subject.name not in collections,
            key(subject),
        ),
    )
