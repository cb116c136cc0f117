"""Refusals: rows that must not leave, named, each with its reason and a remedy."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from assets.kit.release_tables import Proof, ReleaseRow, ReleaseTable
from assets.release.secrets import SecretFinder, iterate_texts

_NAMED = 10
"""Rows that a refusal names."""


class ReleaseRefused(ValueError):
    """A release would hold what must not leave; the message names the rows and the remedy."""


class Problem(NamedTuple):
    """Reason why rows must not leave, as it follows on their number, and a remedy."""

    reason: str
    remedy: str


STAND_IN = Problem(
    "made by stand-ins",
    "Add the models that are to paint and write to models.yaml, and materialize with them.",
)
UNPROVED = Problem(
    "with an unproved label", "Have it read back from the pixels, or accepted by a person."
)
DUPLICATE = Problem(
    "with the id of another row of their split", "Materialize the tables that they come from again."
)
SHARED = Problem(
    "with a base image that is in another split as well",
    "Put all rows of a base image into one split in the table's declaration.",
)


class RowCheck:
    """Collects the rows of a release that must not leave; `licensed` are the parts that may."""

    def __init__(self, secrets: SecretFinder, licensed: Collection[str]) -> None:
        self._secrets, self._licensed = secrets, licensed
        self._problems = Counter[Problem]()
        self._names = defaultdict[Problem, list[str]](list)
        self._row_ids = set[tuple[str, str, str]]()
        self._splits = dict[tuple[str, str], str]()
        self.parts = set[str]()
        """Parts that the rows have."""
        self.counts = dict[str, Counter[str]]()
        """Number of rows by table and split, of those that have any."""
        self.proofs = dict[str, Counter[Proof]]()
        """Number of rows by table and by how their labels are proved."""

    def check(self, table: ReleaseTable, split: str, row: ReleaseRow) -> None:
        """Check a row, and note its problems."""
        self.parts.update(row.parts)
        self.counts.setdefault(table.config, Counter())[split] += 1
        if row.proof is not None:
            self.proofs.setdefault(table.config, Counter())[row.proof] += 1
        for problem in self._find_problems(table, split, row):
            self._problems[problem] += 1
            if len(self._names[problem]) < _NAMED:
                self._names[problem].append(f"{table.config}/{split}/{row.row_id}")

    def describe(self) -> list[str]:
        """Describe what is wrong, a line for each reason; nothing where all rows may leave."""
        return [
            describe_items("row", self._problems[problem], problem, names)
            for problem, names in self._names.items()
        ]

    def _find_problems(self, table: ReleaseTable, split: str, row: ReleaseRow) -> Iterator[Problem]:
        if row.is_stand_in:
            yield STAND_IN
        if row.unfit_reason:
            yield Problem(
                f"unfit to be published ({row.unfit_reason})",
                "Review or mend them, or name other partitions by --partitions.",
            )
        if row.proof is None:
            yield UNPROVED
        for part in row.parts:
            if part not in self._licensed:
                yield Problem(
                    f"from {part}, whose licence is unknown",
                    f"Set `licence` in the entry {part} of models.yaml or collections.yaml.",
                )
        if secret := self._secrets.find(iterate_texts(row.cells)):
            yield Problem(
                f"whose text holds {secret}",
                "Take it out of what they were made from, hold it for leaked, and make them again.",
            )
        key = (table.config, split, row.row_id)
        if key in self._row_ids:
            yield DUPLICATE
        self._row_ids.add(key)
        place = (table.config, row.base_image)
        if not table.splits_are_views and self._splits.setdefault(place, split) != split:
            yield SHARED


def describe_items(kind: str, count: int, problem: Problem, names: Sequence[str]) -> str:
    """Describe items that must not leave: how many, why, the first of them, and the remedy."""
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    plural = "" if count == 1 else "s"
    listed = f"{', '.join(names)}{more}"
    return f"{count:,} {kind}{plural} {problem.reason}: {listed}. {problem.remedy}"
