"""A job: the instructions of a training process, as a JSON file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from resources.models.backends.scoring.expected_score import PROMPT
from resources.models.backends.scoring.vqa_score import ANSWER, QUESTION
from resources.storage.atomic_writes import write_atomically

TrainingKind = Literal["ranking", "margin", "tuning"]
OTHER_ANSWER = "No"
"""Label of the answer that does not fit, for the margin loss; it is not learned."""
_ROWS = "a row's question; its answer, and the token that ends it"
"""The wording of fine-tuning."""
NEUTRAL_FIELDS = ("base", "revision", "save_steps", "accelerate_config", "skip_estimate_check")
"""Fields of a recipe by which the adapter does not change, but for its base's weights and the
number of processes."""


@dataclass(frozen=True)
class TrainingBase:
    """The model that is adapted: its id or folder, its commit on the Hub, and its weights."""

    model: str
    revision: str | None
    sha256: str


@dataclass(frozen=True)
class TrainingJob:
    """A training; `rows_file` is a Parquet file of training rows, `images` the store's root.

    `data` is the digest of the rows. `record_fields` are those that the record has besides.
    """

    name: str
    kind: TrainingKind
    base: TrainingBase
    recipe: dict[str, Any]
    rows_file: str
    data: str
    images: str
    folder: str
    record_fields: dict[str, Any] = field(default_factory=dict)

    def write(self) -> Path:
        """Write it into its folder, for `read`."""
        path = Path(self.folder) / "job.json"
        write_atomically(path, json.dumps(asdict(self), indent=2).encode())
        return path


def read_job(path: Path) -> TrainingJob:
    """The job in a file."""
    fields = json.loads(path.read_text())
    return TrainingJob(**{**fields, "base": TrainingBase(**fields["base"])})


class TrainingTerms(NamedTuple):
    """The terms that decide an adapter: trainings that differ in one are two."""

    kind: TrainingKind
    base: str
    """The sha256 of its weights."""
    recipe: dict[str, Any]
    data: str
    processes: int
    wording: str
    """Digest of what is asked about each text."""

    @property
    def digest(self) -> str:
        """12 hexadecimal digits."""
        return _short(json.dumps(self, sort_keys=True))

    def find_differences(self, other: "TrainingTerms") -> list[str]:
        """The names of what another has otherwise."""
        ours, theirs = ({**terms.recipe, **terms._asdict()} for terms in (self, other))
        return [name for name in ours if name != "recipe" and ours[name] != theirs.get(name)]


def build_terms(
    kind: TrainingKind, base: str, recipe: Mapping[str, Any], data: str, processes: int
) -> TrainingTerms:
    """The terms of a training by these words; `base` is the sha256 of its weights."""
    deciding = {name: value for name, value in recipe.items() if name not in NEUTRAL_FIELDS}
    return TrainingTerms(
        kind=kind,
        base=base,
        recipe=deciding,
        data=data,
        processes=processes,
        wording=_short(build_wording(kind)),
    )


def read_terms(record: Mapping[str, Any]) -> TrainingTerms:
    """The terms of a published adapter, by its record."""
    base, processes = record["base"]["sha256"], record["trained"]["processes"]
    terms = build_terms(record["kind"], base, record["recipe"], record["data"], processes)
    return terms._replace(wording=_short(record["wording"]))


def build_wording(kind: TrainingKind) -> str:
    """Build the question about each text; in fine-tuning it stands in the rows."""
    control = "\n".join((QUESTION, ANSWER, OTHER_ANSWER))
    return {"ranking": PROMPT, "margin": control, "tuning": _ROWS}[kind]


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]
