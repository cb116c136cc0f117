"""What can be wrong with a collection: with all of it, or with one row."""


class CollectionError(Exception):
    """collections.yaml, or a table that it names, is of no use as it is; the message says why."""


class BadRow(ValueError):
    """A row of a collection cannot be taken; the message says why."""
