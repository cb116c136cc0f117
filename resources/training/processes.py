"""The processes of one training, as accelerate knows them."""

from typing import Any

from resources.training.faults import library


def processes() -> Any:
    """Their number, which of them this is, and where they wait for each other.

    Without a GPU accelerate has to be told so before all else: it takes each for the only one.
    """
    has_gpu = library("torch").cuda.is_available()
    return library("accelerate").PartialState(cpu=not has_gpu)
