"""Which pictures can be attacked, by their size."""

SMALLEST_SIDE = 8
LARGEST_SIDE = 4096
LONGEST_SHAPE = 16
"""Longer side by shorter: processors scale the shorter one, and cut what is beyond of the other."""


def unfit(width: int, height: int) -> str | None:
    """Why a picture of that size, in px, is not attacked; None where it is."""
    size = f"{width:,} × {height:,} px"
    short, long = sorted((width, height))
    if short < SMALLEST_SIDE:
        return f"{size}: too small, a side has at least {SMALLEST_SIDE} px"
    if long > LARGEST_SIDE:
        return f"{size}: too large, a side has at most {LARGEST_SIDE:,} px. Scale it down"
    if long > LONGEST_SHAPE * short:
        return f"{size}: too narrow, a side is at most {LONGEST_SHAPE} times the other. Crop it"
    return None
