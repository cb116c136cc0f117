"""Group, keys, datasets and models shared by every asset of this benchmark.

A dataset, a partition, is a collection or the pictures of another benchmark's part, as in
"vlmbias_flags". There is one dimension alone. Pictures that painters make would be a second one,
which has no end and would divide a matrix that is about captions and not about who painted: a
dataset has those of all painters, and the run config of `pictures` can name some.
"""

from collections.abc import Sequence
from functools import partial

from dagster import AssetKey, StaticPartitionsDefinition

from assets.kit import table_asset as common
from assets.kit.benchmarks import load_benchmarks
from assets.kit.collections import build_dataset_partitions, load_listed_collections
from assets.kit.judging import StandInAnswers, select_judges
from assets.kit.picture_tables import PictureTable
from resources.models.catalog import Catalog, Model, ModelIdentity, to_identity

GROUP = "philautia"
TITLE = "Philautia-Eval"
QUESTION = "Does a judge prefer captions that it wrote itself?"
EVALUATION_VERSION = "1"
"""Raised with every change of a prompt to judges, of how replies are read or of their scores."""
LESS, MORE = "less to its own captions", "more to its own"
"""What the ends of a scale of self-preference mean."""

table_asset = partial(common.table_asset, GROUP)
"""An asset of this benchmark that makes a table."""


def asset_key(name: str) -> AssetKey:
    """The key of an asset of this benchmark."""
    return AssetKey([GROUP, name])


def load_declared_tables() -> dict[str, list[PictureTable]]:
    """Return the tables of other benchmarks that supply a dataset's pictures, by dataset."""
    tables: dict[str, list[PictureTable]] = {}
    for benchmark in load_benchmarks().values():
        for table in benchmark.picture_tables:
            for part in table.partitions:
                tables.setdefault(f"{benchmark.name}_{part}", []).append(table)
    return tables


def dataset_partition(dataset: str) -> str:
    """Partition of the source benchmark: "flags" for the dataset "vlmbias_flags"."""
    return dataset.partition("_")[2]


def dataset_partitions() -> StaticPartitionsDefinition:
    """The partitions: parts of other benchmarks, and then a user's collections.

    They are known once all benchmarks are: a step asks for them when it is made. Raises
    `CollectionError` for a collection with the same name as the pictures of another benchmark.
    """
    others = {name: tables[0].asset for name, tables in load_declared_tables().items()}
    return build_dataset_partitions(others, load_listed_collections(), "pictures", TITLE)


def select_captioners(catalog: Catalog, stand_in_answers: StandInAnswers) -> tuple[Model, ...]:
    """The models that describe pictures, without stand-in models that `stand_in_answers` lacks."""
    return tuple(
        model
        for model in catalog.select_role("captioner")
        if not model.is_stand_in or model.model in stand_in_answers
    )


def select_evaluators(catalog: Catalog, stand_in_answers: StandInAnswers) -> tuple[Model, ...]:
    """The models that score captions: judges, and metrics that are asked."""
    metrics = (model for model in catalog.select_role("metric") if model.backend != "file")
    return (*select_judges(catalog, stand_in_answers), *metrics)


def find_twins(models: Sequence[Model]) -> dict[str, str]:
    """Map each later entry to the first entry of the same model, by name.

    As two, a model would be a stranger to itself: what it gives the other would count as what
    others give. The later one is in no matrix and no panel. Metrics are in none of these anyway.
    """
    first: dict[ModelIdentity, str] = {}
    twins = {}
    for model in models:
        if not model.is_stand_in and "metric" not in model.roles:
            name = first.setdefault(to_identity(model), model.name)
            if name != model.name:
                twins[model.name] = name
    return twins
