"""Image collections of a user's own: collections.yaml, the tables that it names, their pictures."""

from resources.collections.entry import Collection, ColumnNames
from resources.collections.listing import CollectionError, Collections, collections_path, load

__all__ = [
    "Collection",
    "CollectionError",
    "Collections",
    "ColumnNames",
    "collections_path",
    "load",
]
