"""Cases that judges are fine-tuned on: what a benchmark declares, and tables of what is trained.

A benchmark declares its cases in its `BENCHMARK`; who trains on them finds them there and knows
nothing else of that benchmark. The tables of what was trained are described here, for that
benchmark to read them in turn.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dagster import AssetKey, MultiPartitionsDefinition, StaticPartitionsDefinition

from assets.kit.columns import BOOLEAN, REAL, TEXT, WHOLE, Columns, content_hash
from resources.models.backends.adapters import read_record
from resources.storage.data_root import DataRoot
from resources.storage.files import resolve_path

TRAINED_ON = "trained_on"
"""Field of an adapter's record with the marks of its training data."""
ORIGINAL_ARM, EXPANDED_ARM = "original", "expanded"
ARMS = (ORIGINAL_ARM, EXPANDED_ARM)
HELD_OUT = "held out"
RATES = ("1.8e-7", "6e-7", "1.8e-6", "6e-6", "1.8e-5", "6e-5", "2e-4", "6e-4", "2e-3")
"""Learning rates of the sweep, about half a power of ten apart: the paper's is 1.8e-6, and that of
LLaVA-1.5 for LoRA 2e-4."""
BY_ARM = MultiPartitionsDefinition(
    {
        "arm": StaticPartitionsDefinition([*ARMS]),
        "learning_rate": StaticPartitionsDefinition([*RATES]),
    }
)
"""Partitions of adapters, such as `expanded|1.8e-6`."""


def format_rate(rate: float) -> str:
    """A learning rate of the sweep in the words of its partition."""
    return next(name for name in RATES if float(name) == rate)


class TuningWording(NamedTuple):
    """A wording of a question about a picture, as judges get it, with the right answer."""

    form: str
    """original or negated"""
    version: int
    """0 as it stands, from 1 on rephrased"""
    question: str
    answer: str


class TuningCase(NamedTuple):
    """A case that is trained on, with all of its wordings."""

    case_id: str
    dataset: str
    base: str
    """The base picture: all of its sizes and versions have one."""
    sha256: str
    perturbed: str | None
    """The same picture, perturbed; None where there is none."""
    wordings: Sequence[TuningWording]
    is_stand_in: bool


class EvaluationCase(NamedTuple):
    """A case that judges are evaluated on, unless its picture is trained on."""

    case_id: str
    dataset: str
    base: str
    sha256: str
    is_stand_in: bool


class TuningTable(NamedTuple):
    """A benchmark's cases to train on."""

    group: str
    """Group of the benchmark's assets, and of the assets made from these cases."""
    assets: Sequence[AssetKey]
    datasets: Callable[[], Sequence[str]]
    perturbations: Sequence[str]
    """Names of perturbations of pictures; those in `attacks` need an encoder."""
    attacks: Sequence[str]
    load_training_cases: Callable[[DataRoot, str, str, str | None], Sequence[TuningCase]]
    """Load the training cases of a dataset under a perturbation and for an encoder; none of a
    dataset without any."""
    load_evaluation_cases: Callable[[DataRoot, str], Sequence[EvaluationCase]]
    """Load all cases of a dataset; none if it was never made."""


TRAINING_CASES = Columns(
    arm=(TEXT, "original, expanded, or held out (judged and never trained on)"),
    kind=(TEXT, "case, or vqa (a general question)"),
    dataset=(TEXT, "The dataset, or the collection of general questions"),
    case_id=(TEXT, "Case or question that it was made from"),
    base=(TEXT, "Base picture; no picture with a held-out base is trained on"),
    original=(TEXT, "Name of the picture of the case in the image store"),
    sha256=(TEXT, "Name in the image store of the picture that is sent"),
    perturbation=(TEXT, "Perturbation of the picture, or none"),
    form=(TEXT, "original or negated; empty for general questions"),
    version=(WHOLE, "Wording: 0 for the case's own, from 1 for rephrased ones"),
    question=(TEXT, "Question with the instruction on how to answer; empty if held out"),
    answer=(TEXT, "Target answer; the loss counts it alone"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
)
"""Table with a row per training case and arm, then one per held-out case."""

ADAPTERS = Columns(
    arm=(TEXT, "original or expanded"),
    learning_rate=(REAL, "Highest learning rate of the training"),
    adapter=(TEXT, "Folder below the data root, as entries of models.yaml name it"),
    base=(TEXT, "Adapted model"),
    revision=(TEXT, "Commit of the base on the Hub; empty for a folder"),
    data=(TEXT, "Digest of the training cases; adapters of other data differ in it"),
    rows=(WHOLE, "Number of rows trained on"),
    steps=(WHOLE, "Number of optimizer steps"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
)
"""Table with one row: the adapter of an arm and learning rate."""


def digest_cases(rows: Sequence[Mapping[str, Any]]) -> str:
    """Digest the rows of `TRAINING_CASES`; adapters trained on other rows differ in it."""
    return content_hash(TRAINING_CASES.build_table(rows)).hex()


def picture_marks(rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The base pictures of rows of `TRAINING_CASES`, and the names of their original pictures."""
    return frozenset(row[name] for row in rows for name in ("base", "original"))


def load_adapter_marks(home: DataRoot, adapter: str) -> frozenset[str] | None:
    """Load the `picture_marks` of an adapter's training data from its record; None without them.

    `adapter` is a folder as entries of models.yaml name it. Raises `BadRecord`.
    """
    record = read_record(resolve_path(home.path(), str(Path(adapter).expanduser()))) or {}
    return frozenset(record[TRAINED_ON]) if TRAINED_ON in record else None


def training_cases_key(group: str) -> AssetKey:
    """The asset with what adapters are trained on."""
    return AssetKey([group, "training_cases"])


def adapter_key(group: str) -> AssetKey:
    """The asset with adapters, by arm and learning rate."""
    return AssetKey([group, "adapter"])
