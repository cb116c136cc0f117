"""The stores that a release is made from, and that a log of one is matched with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commands.environment import open_stores

if TYPE_CHECKING:
    from assets.release import ReleaseSources


@contextmanager
def open_release_sources() -> Iterator["ReleaseSources"]:
    """Open the stores, with the instance and the asset graph of the definitions."""
    from dagster import DagsterInstance

    from assets.kit.partitions import add_painters
    from assets.release import ReleaseSources
    from definitions import catalog, defs

    with DagsterInstance.get() as instance, open_stores(instance) as stores:
        add_painters(instance, catalog)
        yield ReleaseSources(
            home=stores.home,
            images=stores.images,
            work_cache=stores.work_cache,
            calls=stores.models.calls,
            catalog=catalog,
            instance=instance,
            graph=defs.resolve_asset_graph(),
        )
