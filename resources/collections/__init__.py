"""Image collections of a user's own: collections.yaml, the tables that it names, their pictures."""

from resources.collections.entry import Collection, ColumnNames
from resources.collections.listing import Collections, collections_path, load
from resources.collections.row import CollectionError

__all__ = [
    "Collection",
    "CollectionError",
    "Collections",
    "ColumnNames",
    "collections_path",
    "load",
]
