"""What can go wrong with the outside, said so that a reader knows what to do next."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError


class StoreError(Exception):
    """The data root could not do what was asked; the message names the place and the remedy."""


class Unwritable(StoreError):
    """The data root, or a file in it, cannot be written."""


class Full(StoreError):
    """The disk below the data root has no space left."""


class Busy(StoreError):
    """Another run holds what this one needs."""


class Missing(StoreError):
    """Something that a table names is not in the store."""


class Corrupt(StoreError):
    """Something in the store is not what was once written there."""


@contextmanager
def writing(place: object) -> Iterator[None]:
    """Turn the errors of writing to `place` into ones that name it and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(place) from error
        raise _unwritable(place, error.strerror or error) from error
    except OperationalError as error:
        if "full" in str(error.orig):
            raise _full(place) from error
        if "unable to open" in str(error.orig) or "readonly" in str(error.orig):
            raise _unwritable(place, error.orig) from error
        raise


def _full(place: object) -> Full:
    return Full(
        f"No space is left to write {place}. What was finished is kept: free some space, or set "
        "COUNTERFACTORY_HOME to a larger disk, and run again; only what is missing is made."
    )


def _unwritable(place: object, why: object) -> Unwritable:
    return Unwritable(
        f"{place} cannot be written ({why}). Choose a data root that you may write to: set "
        "COUNTERFACTORY_HOME, or change the folder's permissions."
    )
