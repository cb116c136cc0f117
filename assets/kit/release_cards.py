"""Sentences of a release that only its benchmark knows, for its data card and Croissant file."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ReleaseCard:
    """What a benchmark says of its release, beside what follows from tables and asset graph.

    The lists are complete sentences. They go to the data card, and to the properties of the same
    names in Croissant's vocabulary of responsible AI.
    """

    summary: str = ""
    """Two sentences on what the data are."""
    citation: str = ""
    """BibTeX of the paper."""
    task_categories: Sequence[str] = ("visual-question-answering",)
    """Tasks, as Hugging Face names them."""
    tags: Sequence[str] = ()
    seed_effect: str = ""
    """What another seed changes, and what it leaves as it is, in complete sentences."""
    omissions: Sequence[str] = ()
    """What the paper's data, or the benchmark here, have and the release has not."""
    limitations: Sequence[str] = ()
    biases: Sequence[str] = ()
    personal_information: Sequence[str] = ()
    use_cases: Sequence[str] = ()
    social_impact: Sequence[str] = ()
    parts: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Partitions that a sentence is about, by sentence; others are about every release."""

    def select_sentences(self, partitions: Collection[str]) -> "ReleaseCard":
        """The card without sentences on what a release of these partitions has not."""
        released = {part for partition in partitions for part in partition.split("|")}
        selected: dict[str, Any] = {
            name: [
                sentence
                for sentence in getattr(self, name)
                if sentence not in self.parts or not released.isdisjoint(self.parts[sentence])
            ]
            for name in _LISTS
        }
        return replace(self, **selected)


_LISTS = ("limitations", "biases", "personal_information", "social_impact")
"""Lists of sentences that may be about some partitions."""
