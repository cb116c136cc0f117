"""Errors of a collection: of all of it, or of one row."""


class CollectionError(Exception):
    """collections.yaml, or a table that it names, cannot be used; the message says why."""


class BadRow(ValueError):
    """A row of a collection cannot be taken; the message says why."""
