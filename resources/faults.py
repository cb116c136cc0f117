"""Faults of stores and networks, each with its remedy."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError


class StoreError(Exception):
    """The data root could not do what was asked; the message names the place and the remedy."""


class UnwritableStore(StoreError):
    """The data root, or a file in it, cannot be written."""


class DiskFull(StoreError):
    """The disk below the data root has no space left."""


class StoreBusy(StoreError):
    """Raised when another run holds what this one needs."""


class UnusableStore(StoreError):
    """The address of a store cannot be used."""


class MissingItem(StoreError):
    """Something that a table names is not in the store."""


class CorruptItem(StoreError):
    """Something in the store is not what was once written there."""


class UnreachableStore(StoreError):
    """A store on another machine does not answer."""


class AccessDenied(StoreError):
    """Something in the store may not be read."""


class PathOutsideStore(StoreError):
    """A requested item lies outside the store."""


class OverBudget(StoreError):
    """A request would cross a budget; it was not sent."""


class MissingPrice(StoreError):
    """A budget is set, and the price of a request is unknown; it was not sent."""


class LostPictures(StoreError):
    """Pictures that answers name, and that were paid for, are not in the image store."""


class ModelError(Exception):
    """A model cannot be queried; the message says why and what to do. Answers are kept."""


class KeyNotSet(ModelError):
    """The environment variable that holds the API key is not set."""


class UnsupportedRequest(ModelError):
    """The model's backend does not support the request."""


class PendingInBatch(ModelError):
    """Requests wait in a batch, and would be paid for twice if sent alone."""


class RequestsStopped(ModelError):
    """The provider takes no more requests, or cannot be reached; `provider_words` say why."""

    def __init__(self, message: str, provider_words: str = "") -> None:
        super().__init__(message)
        self.provider_words = provider_words


class RunEnded(ModelError):
    """The run was interrupted, cancelled or killed: nothing more is sent, all answers are kept."""


@contextmanager
def write_errors(place: object) -> Iterator[None]:
    """Turn the errors of writing to `place` into ones that name it and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _build_disk_full(place) from error
        raise _build_unwritable(place, error.strerror or error) from error
    except OperationalError as error:
        if "full" in str(error.orig):
            raise _build_disk_full(place) from error
        if "unable to open" in str(error.orig) or "readonly" in str(error.orig):
            raise _build_unwritable(place, error.orig) from error
        raise


def _build_disk_full(place: object) -> DiskFull:
    return DiskFull(
        f"No space is left to write {place}. What was finished is kept: free some space, or set "
        "COUNTERFACTORY_HOME to a larger disk, and run again; only what is missing is made."
    )


def _build_unwritable(place: object, why: object) -> UnwritableStore:
    remedy = "Choose a data root that you may write to: set COUNTERFACTORY_HOME, or change the "
    remedy += "folder's permissions."
    if "://" in str(place):
        remedy = (
            "Check the address (COUNTERFACTORY_HOME or COUNTERFACTORY_IMAGES), and that its "
            "credentials are set, have not expired and allow writing; then run again: what was "
            "finished is kept."
        )
    return UnwritableStore(f"{place} cannot be written ({why}). {remedy}")
