"""Fitting an adapter: what is checked first, the training in its process, and what is published."""

from collections.abc import Sequence
from dataclasses import dataclass
from logging import Logger
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assets.kit.columns import content_hash
from assets.training.plot import plot
from resources.atomic_writes import whole_file
from resources.faults import Missing, writing
from resources.home import Home
from resources.images import ImageStore
from resources.models.backends.adapters import BadRecord, checked_record, record_in
from resources.models.catalog import Model, Role
from resources.models.weights import Weights
from resources.training import launch
from resources.training.base import estimate, machine, require_room, require_targets, weights_of
from resources.training.job import Base, Job, Kind, Terms, terms, terms_in
from resources.training.processes import configured
from resources.training.progress import lines
from resources.training.publish import FOLDER, place_of, publish
from resources.training.recipe import Recipe

POOL = "training"
"""The pool of all trainings: two at once, unless Dagster is told otherwise."""
_RUNS = "training"
_NAMED = 3


@dataclass(frozen=True)
class Fitted:
    """A published adapter, its record, and what Dagster shows of its training."""

    place: Path
    record: dict[str, Any]
    shown: dict[str, Any]

    @property
    def adapter(self) -> str:
        """What an entry of models.yaml says: its folder below the data root."""
        return f"{FOLDER}/{self.place.name}"


def fitted(
    name: str,
    kind: Kind,
    recipe: Recipe,
    rows: pa.Table,
    pictures: Sequence[str],
    samples: int,
    home: Home,
    images: ImageStore,
    log: Logger,
    **told: Any,
) -> Fitted:
    """The adapter that these rows give by this recipe; one that is there is not trained again.

    `pictures` are those of the rows, `samples` how many are looked at in all, and `told` goes into
    the record. Raises `TrainingError` before anything is loaded where the base or a GPU is missing,
    and `Missing` where pictures are.
    """
    commit, weights = weights_of(recipe)
    root = Path(home.root)
    # To hash the weights takes long: what cannot be trained here is refused before, unless it may
    # be here already, as one that was trained where there is a GPU.
    may_be_here = any((root / FOLDER).glob(f"{name}-*"))
    if not may_be_here:
        _require_possible(recipe, weights, samples, log)
    base = Base(recipe.base, commit, weights.digest)
    data = content_hash(rows).hex()
    wanted = terms(
        kind, base.sha256, recipe.model_dump(), data, configured(recipe.accelerate_config)
    )
    place, folder = place_of(root, name, wanted.digest), root / _RUNS / f"{name}-{wanted.digest}"
    record = checked_record(place)
    if record is None:
        if may_be_here:
            _require_possible(recipe, weights, samples, log)
        _require_pictures(images, pictures)
        _tell_of_others(place, wanted, log)
        with writing(folder), whole_file(folder / "rows.parquet") as file:
            pq.write_table(rows, file)
        job = Job(
            name=name,
            kind=kind,
            base=base,
            recipe=recipe.model_dump(),
            rows=str(folder / "rows.parquet"),
            data=data,
            images=images.root,
            folder=str(folder),
            told=told,
        )
        launch.run(job, log, recipe.accelerate_config)
        record = publish(job, place)
    else:
        log.info("%s was trained before: it is taken as it is.", place)
    return Fitted(place, record, _shown(place, record, folder))


def _tell_of_others(place: Path, wanted: Terms, log: Logger) -> None:
    """Say what an adapter of that name was trained with that is not wanted now."""
    for other in sorted(place.parent.glob(f"{place.name.rpartition('-')[0]}-*")):
        try:
            record = record_in(other)
        except BadRecord as error:
            log.warning("%s", error)
            continue
        if record is not None:
            named = ", ".join(wanted.differing(terms_in(record)))
            log.warning("Trains anew: %s was trained with other %s.", other.name, named)


def entry_of(
    name: str, role: Role, recipe: Recipe, adapter: str | None = None, **parameters: Any
) -> Model:
    """The entry of models.yaml by which a base, or an adapter of it, has a role like any model.

    What is asked by it here is not asked again there.
    """
    terms = {"revision": recipe.revision, "dtype": recipe.dtype, "adapter": adapter}
    parameters |= {key: value for key, value in terms.items() if value is not None}
    known: dict[str, Any] = {"name": name, "family": name, "model": recipe.base}
    return Model(backend="transformers", roles=(role,), parameters=parameters, **known)


def entry_lines(model: Model) -> str:
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
    expected = estimate(weights, recipe, samples)
    has_gpu, memory = machine()
    log.info("%s: %s.", recipe.base, expected)
    if not has_gpu:
        log.info("This machine has %.0f GB and no GPU; %s.", memory, expected.on_processors)
    require_room(recipe, expected, has_gpu=has_gpu, memory=memory)


def _shown(place: Path, record: dict[str, Any], folder: Path) -> dict[str, Any]:
    trained, steps = record["trained"], lines(folder)
    return {
        "adapter": str(place),
        "base": record["base"]["model"],
        "base_revision": record["base"]["revision"] or record["base"]["sha256"],
        "data": record["data"],
        "rows": trained["rows"],
        "rows_trained": trained["rows_trained"],
        "steps": trained["steps"],
        "processes": trained["processes"],
        **({"plot": plot(steps)} if steps else {}),
    }


def _require_pictures(images: ImageStore, pictures: Sequence[str]) -> None:
    lost = sorted(images.lost(set(pictures)))
    if lost:
        some = ", ".join(name[:12] for name in lost[:_NAMED])
        raise Missing(
            f"{len(lost):,} of the pictures to train on are gone ({some}, …). Materialize what "
            "made them again, or restore them. Nothing was begun."
        )
