"""Stripes: the bands of colour that one meets going down the flag, clear of its canton."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generators.domains.flags._flag_reader import TRIM, FlagPixels, Labels, measure_coverage
from generators.reading import Unreadable

THINNEST = 3
"""Bands of fewer pixels are where two colours mix."""
EVERY = 4
"""Distance between two inspected columns."""
LEAST_SHARE = 0.25
"""The least share of the columns that must show the same stripes at the same heights."""


class Stripes(NamedTuple):
    """The stripes from the top: each one's colour in the palette, and the row where it starts.

    `columns` are those, of the columns looked at, that show just these.
    """

    colours: tuple[int, ...]
    starts: NDArray[np.intp]
    columns: NDArray[np.intp]


def read_stripes(flag: FlagPixels) -> Stripes:
    """The stripes that more columns agree on than on any others.

    Raises `Unreadable` if there are none: one band only, or bands that do not lie level.
    """
    sampled_columns = np.arange(0, flag.labels.shape[1], EVERY)
    bands = [_find_bands(flag.labels[:, column]) for column in sampled_columns]
    colours, _ = Counter(colours for colours, _ in bands).most_common(1)[0]
    is_usual = np.array([band_colours == colours for band_colours, _ in bands])
    starts = np.array([starts for band_colours, starts in bands if band_colours == colours])
    usual_starts = np.median(starts, axis=0)
    is_level = (np.abs(starts - usual_starts) <= 1).all(axis=1)
    if len(colours) < 2 or is_level.sum() < LEAST_SHARE * len(sampled_columns):
        raise Unreadable("There are no stripes that run along the whole height of the flag.")
    return Stripes(
        colours=colours,
        starts=usual_starts.astype(np.intp),
        columns=sampled_columns[is_usual][is_level],
    )


def measure_stripe_heights(flag: FlagPixels) -> NDArray[np.float64]:
    """The height of each stripe from the top in cells of the flag, to a fraction of one."""
    colours, starts, columns = read_stripes(flag)
    profile = flag.values[:, :, columns].mean(2).T
    middles = (starts + np.append(starts[1:], len(profile))) // 2
    edges = [-TRIM / flag.cell]
    for stripe, upper in enumerate(colours[:-1]):
        between = profile[middles[stripe] : middles[stripe + 1]]
        lower = flag.palette[[colours[stripe + 1]]]
        edges.append(middles[stripe] + measure_coverage(between, flag.palette[upper], lower).sum())
    edges.append(len(profile) + TRIM / flag.cell)
    return np.diff(edges)


def _find_bands(column: Labels) -> tuple[tuple[int, ...], NDArray[np.intp]]:
    """The colours met going down a column and where each starts, but for what is too thin."""
    starts = np.flatnonzero(np.diff(column, prepend=255))
    starts = starts[np.diff(starts, append=len(column)) >= THINNEST]
    starts = starts[np.diff(column[starts], prepend=255) != 0]
    return tuple(column[starts].tolist()), starts
