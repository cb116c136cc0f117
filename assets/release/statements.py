"""Statements of a release, for its data card and Croissant's vocabulary of responsible AI."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assets.kit.collections import load_listed_collections
from assets.kit.release_tables import Proof
from assets.release.contents import Release
from assets.release.provenance import AssetOrigin

PROOFS: Mapping[Proof, str] = {
    "pixels": "read back from the pixels by code that does not know what was drawn",
    "people": "accepted by a person who saw the picture",
    "source": "taken over from the published data that the rows come from",
    "construction": "a fact of what code or a model made, as which words a model wrote",
    "model": "confirmed by a model alone, as in the paper; no person has looked",
}
"""How labels are proved, in words."""


class Statements(NamedTuple):
    """Complete sentences by subject; no subject is without one."""

    limitations: Sequence[str]
    biases: Sequence[str]
    personal_information: Sequence[str]
    use_cases: Sequence[str]
    social_impact: Sequence[str]


def build_statements(release: Release, origins: Sequence[AssetOrigin]) -> Statements:
    """Build the statements that hold for every benchmark, and add the benchmark's own."""
    card = release.card
    models = sorted({use.name for origin in origins for use in origin.models})
    parts = {licence.part for licence in release.licences}
    return Statements(
        limitations=[
            "A label says what a picture shows, not how hard that is to see.",
            "Scores depend on how replies are read: compare only numbers of one reader.",
            *(
                f"A model alone confirmed the labels of {table.proofs['model']:,} rows of "
                f"`{table.declaration.config}`: some are wrong."
                for table in release.tables
                if "model" in table.proofs
            ),
            *card.limitations,
        ],
        biases=[
            "Subjects were chosen because people expect one thing of them: accuracy here is not "
            "accuracy on pictures in general.",
            *(
                f"What {name} wrote or painted has the habits of that model's training data."
                for name in models
            ),
            *card.biases,
        ],
        personal_information=[
            _describe_people(sorted(parts & load_listed_collections().keys())),
            *card.personal_information,
        ],
        use_cases=[
            f"To measure models: {release.question}",
            "Not to train models that are measured with it afterwards.",
            *card.use_cases,
        ],
        social_impact=[
            "It shows where models answer from memory, to people who rely on what models see; a "
            "high score does not show that a model is safe to rely on.",
            *card.social_impact,
        ],
    )


def _describe_people(collections: Sequence[str]) -> str:
    if collections:
        return f"Photographs of {', '.join(collections)} may show people; no text names them."
    return "None: code draws or models paint every picture, and no text is about a real person."
