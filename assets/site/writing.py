"""How numbers and names are written, once for every page."""

from typing import NamedTuple

NONE = "–"


class Rate(NamedTuple):
    """A fraction from 0 to 1 with the ends of its 95 % interval; None where there is no value.

    `note` says what the reader must know to compare it with others.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def percent(fraction: float | None) -> str:
    """`12.3 %`, or a dash."""
    return NONE if fraction is None else f"{100 * fraction:.1f}\u00a0%"


def interval(rate: Rate) -> str:
    """`[8.1, 17.9]` in per cent, or nothing where the rate has no interval."""
    if rate.value is None or rate.low is None or rate.high is None:
        return ""
    return f"[{100 * rate.low:.1f},\u00a0{100 * rate.high:.1f}]"


def spoken(rate: Rate) -> str:
    """The rate as one line of text: `12.3 % [8.1, 17.9]`."""
    return f"{percent(rate.value)} {interval(rate)}".strip()


def value(number: float | None) -> str:
    """A truth or a reading: whole numbers without a point, others to three places."""
    if number is None:
        return NONE
    written = f"{number:.3f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written.replace("-", "\u2212")


def pixels(width: float) -> str:
    """`3.2 px`."""
    return f"{width:.1f}\u00a0px"


def named(target: str) -> str:
    """A target's name, with a minus that no line breaks at: `(ratio − 1)`."""
    return target.replace(" - ", "\u00a0\u2212\u00a0")


def titled(text: str) -> str:
    """The text with a capital at its front and the rest as it is."""
    return text[:1].upper() + text[1:]


def count(number: int) -> str:
    """`1,029`."""
    return f"{number:,}"


FILTERS = {
    "percent": percent,
    "interval": interval,
    "spoken": spoken,
    "value": value,
    "pixels": pixels,
    "count": count,
    "named": named,
    "titled": titled,
}
