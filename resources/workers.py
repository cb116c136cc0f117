"""All cores for work that is pure."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_A_POOL = 4


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("forkserver"))


def spread(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """`work` of each item, in order, on all cores; `work` must be a module's own function."""
    if len(items) < _WORTH_A_POOL:
        return map(work, items)
    return _pool().map(work, items, chunksize=2)
