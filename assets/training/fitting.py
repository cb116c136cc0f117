"""Fitting an adapter: what is checked first, the training in its process, and what is published."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from logging import Logger
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from assets.kit.columns import content_hash
from assets.training.plot import plot_training
from resources.faults import MissingItem, StoreBusy, write_errors
from resources.models.backends.adapters import BadRecord, read_checked_record, read_record
from resources.models.catalog import Model, Role
from resources.models.weights import Weights
from resources.storage.atomic_writes import is_remote, open_atomically
from resources.storage.data_root import DataRoot
from resources.storage.files import find_local_folder, list_folder
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key
from resources.training import launch
from resources.training.adapter_publication import (
    ADAPTERS_FOLDER,
    build_adapter_path,
    publish_adapter,
)
from resources.training.base_model import (
    estimate_training,
    find_recipe_weights,
    inspect_machine,
    require_room,
    require_targets,
)
from resources.training.job import (
    TrainingBase,
    TrainingJob,
    TrainingKind,
    TrainingTerms,
    build_terms,
    read_terms,
)
from resources.training.processes import read_process_count
from resources.training.recipe import Recipe
from resources.training.training_progress import read_progress

POOL = "training"
"""Pool of all trainings: two at once, unless dagster.yaml sets another limit."""
_RUNS = "training"
_MAX_LISTED = 3


@dataclass(frozen=True)
class FittedAdapter:
    """A published adapter, its record, and what Dagster shows of its training."""

    place: UPath
    record: dict[str, Any]
    metadata: dict[str, Any]

    @property
    def adapter(self) -> str:
        """Value for an entry of models.yaml: the adapter's folder below the data root."""
        return f"{ADAPTERS_FOLDER}/{self.place.name}"


def fit_adapter(
    name: str,
    kind: TrainingKind,
    recipe: Recipe,
    rows: pa.Table,
    pictures: Sequence[str],
    samples: int,
    home: DataRoot,
    images: ImageStore,
    work_cache: WorkCache,
    log: Logger,
    **record_fields: Any,
) -> FittedAdapter:
    """The adapter that these rows give by this recipe; one that is there is not trained again.

    `pictures` are those of the rows, `samples` how many are looked at in all, and `record_fields`
    go into the record. Raises `TrainingError` before anything is loaded where the base or a GPU is
    missing, `MissingItem` where pictures are, and `StoreBusy` where the same is being trained.

    The training goes on in a folder of this machine: in a local data root, or below the temporary
    folder. Killed, it goes on there; another machine begins anew.
    """
    commit, weights = find_recipe_weights(recipe)
    root = home.path()
    # To hash the weights takes long: what cannot be trained here is refused before, unless it may
    # be here already, as one that was trained where there is a GPU.
    adapters = list_folder(root / ADAPTERS_FOLDER)
    may_be_here = any(path.name.startswith(f"{name}-") for path in adapters)
    if not may_be_here:
        _require_possible(recipe, weights, samples, log)
    base = TrainingBase(recipe.base, commit, weights.digest)
    data = content_hash(rows).hex()
    terms = build_terms(
        kind, base.sha256, recipe.model_dump(), data, read_process_count(recipe.accelerate_config)
    )
    place, folder = (
        build_adapter_path(root, name, terms.digest),
        find_local_folder(root) / _RUNS / f"{name}-{terms.digest}",
    )
    record = read_checked_record(place)
    if record is None:
        if may_be_here:
            _require_possible(recipe, weights, samples, log)
        _require_pictures(images, pictures)
        _tell_of_others(place, terms, log)
        with write_errors(folder), open_atomically(folder / "rows.parquet") as file:
            pq.write_table(rows, file)
        job = TrainingJob(
            name=name,
            kind=kind,
            base=base,
            recipe=recipe.model_dump(),
            rows_file=str(folder / "rows.parquet"),
            data=data,
            images=images.root,
            folder=str(folder),
            record_fields=record_fields,
        )
        with _claim_training(place, work_cache):
            # Another machine may have published it since.
            record = read_checked_record(place)
            if record is None:
                launch.run_training(job, log, recipe.accelerate_config)
                record = publish_adapter(job, place)
    else:
        log.info("%s was trained before: it is taken as it is.", place)
    return FittedAdapter(place, record, _build_metadata(place, record, folder))


@contextmanager
def _claim_training(place: UPath, work_cache: WorkCache) -> Iterator[None]:
    """Keep other machines from the same training; processes of this one are by the job's folder."""
    if not is_remote(place):
        yield
        return
    with closing(work_cache.open_claims()) as claims:
        if not claims.take({build_work_key("training", str(place))}).keys:
            raise StoreBusy(
                f"Another run trains {place}. Wait until it has ended, and materialize again: what "
                "it has trained is then taken."
            )
        yield


def _tell_of_others(place: UPath, terms: TrainingTerms, log: Logger) -> None:
    """Say what an adapter of that name was trained with that is not wanted now."""
    start = f"{place.name.rpartition('-')[0]}-"
    for other in list_folder(place.parent):
        if not other.name.startswith(start):
            continue
        try:
            record = read_record(other)
        except BadRecord as error:
            log.warning("%s", error)
            continue
        if record is not None:
            differences = ", ".join(terms.find_differences(read_terms(record)))
            log.warning("Trains anew: %s was trained with other %s.", other.name, differences)


def build_entry(
    name: str, role: Role, recipe: Recipe, adapter: str | None = None, **parameters: Any
) -> Model:
    """The entry of models.yaml by which a base, or an adapter of it, has a role like any model.

    What is asked by it here is not asked again there.
    """
    terms = {"revision": recipe.revision, "dtype": recipe.dtype, "adapter": adapter}
    parameters |= {key: value for key, value in terms.items() if value is not None}
    identity: dict[str, Any] = {"name": name, "family": name, "model": recipe.base}
    return Model(backend="transformers", roles=(role,), parameters=parameters, **identity)


def format_entry(model: Model) -> str:
    """An entry as it is written into models.yaml."""
    parameters = ", ".join(f"{name}: {value}" for name, value in model.parameters.items())
    return (
        f"- name: {model.name}\n  backend: {model.backend}\n  model: {model.model}\n"
        f"  family: {model.family}\n  roles: [{', '.join(model.roles)}]\n"
        f"  parameters: {{{parameters}}}\n"
    )


def _require_possible(recipe: Recipe, weights: Weights, samples: int, log: Logger) -> None:
    """Raise `TrainingError` where the recipe does not fit the base, or the base this machine."""
    require_targets(weights, recipe)
    expected = estimate_training(weights, recipe, samples)
    has_gpu, memory = inspect_machine()
    log.info("%s: %s.", recipe.base, expected)
    if not has_gpu:
        log.info("This machine has %.0f GB and no GPU; %s.", memory, expected.cpu_time)
    require_room(recipe, expected, has_gpu=has_gpu, memory=memory)


def _build_metadata(place: UPath, record: dict[str, Any], folder: Path) -> dict[str, Any]:
    trained, steps = record["trained"], read_progress(folder)
    return {
        "adapter": str(place),
        "base": record["base"]["model"],
        "base_revision": record["base"]["revision"] or record["base"]["sha256"],
        "data": record["data"],
        "rows": trained["rows"],
        "rows_trained": trained["rows_trained"],
        "steps": trained["steps"],
        "processes": trained["processes"],
        **({"plot": plot_training(steps)} if steps else {}),
    }


def _require_pictures(images: ImageStore, pictures: Sequence[str]) -> None:
    missing = sorted(images.find_missing(set(pictures)))
    if missing:
        examples = ", ".join(name[:12] for name in missing[:_MAX_LISTED])
        raise MissingItem(
            f"{len(missing):,} of the pictures to train on are gone ({examples}, …). Materialize "
            "what made them again, or restore them. Nothing was begun."
        )
