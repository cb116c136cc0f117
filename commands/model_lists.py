"""Lists of providers' and servers' models, as commands show them."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from resources.models.catalog import Catalog, Model
    from resources.models.fault_explanations import Explanation
    from resources.models.model_lists import ListedModel


class ModelList(NamedTuple):
    """The models that the provider or server of an entry lists, or why there is no list."""

    asker: "Model"
    models: "Sequence[ListedModel]"
    problem: "Explanation | None" = None


def load_models() -> "Catalog":
    """Load models.yaml, and what its patterns have found, without the code location."""
    from resources.models.catalog import CatalogFiles
    from resources.settings.locations import find_data_root, find_models_path

    return CatalogFiles(find_models_path(), find_data_root() / "discovered.yaml").load()


def fetch_lists(askers: "Sequence[Model]") -> list[ModelList]:
    """Fetch the lists of these entries' providers and servers, all at once; costs nothing."""

    async def fetch_all() -> "list[ModelList]":
        return [*await asyncio.gather(*map(_fetch, askers))]

    return asyncio.run(fetch_all())


async def _fetch(asker: "Model") -> ModelList:
    from resources.models.discovery import fetch_list, is_model_id
    from resources.models.fault_explanations import explain_fault, explain_missing_key

    if asker.key_variable and not os.environ.get(asker.key_variable, "").strip():
        return ModelList(asker, (), explain_missing_key(asker))
    listed = await fetch_list(asker)
    if isinstance(listed, str):
        return ModelList(asker, (), explain_fault(asker, listed))
    return ModelList(asker, [model for model in listed if is_model_id(model.id)])


def split_servers(model: "Model") -> "Iterator[Model]":
    """The entry with each of its servers alone; itself where it has one address, or its default."""
    for url in model.base_urls or (None,):
        yield model.model_copy(update={"base_url": url})
