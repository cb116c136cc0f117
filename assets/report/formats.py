"""Formats of numbers and names, the same on every page."""

import re
from collections.abc import Callable, Mapping
from math import isnan
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from metrics.statistics.firmness import Firmness

NONE = "–"
UNLISTED = "no longer in models.yaml"
FIRMNESS_WORDS: Mapping[Firmness, str] = {
    "result": "a result",
    "trial": "a trial: not ranked",
    "no answer": "no answer",
    "not run": "not run",
    "stand-in": "a stand-in run: no result",
}
"""The words for a firmness on every page."""
_AFTER = re.compile(r"[_./-](?=.)")


class Shares(NamedTuple):
    """Shares of all answers: right, and wrong as expected."""

    right: float
    biased: float

    @property
    def other(self) -> float:
        """The share that is wrong in any other way, or holds no answer."""
        return max(0.0, 1 - self.right - self.biased)


class Rate(NamedTuple):
    """A fraction from 0 to 1 with the ends of its 95 % interval; None where there is no value.

    `note` says what the reader must know to compare it with others. `change` is what it is more
    or less than another one, from −1 to 1, and `bar` the answers that it is a part of. `firmness`
    says whether it may be ranked.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    change: "Rate | None" = None
    bar: Shares | None = None
    firmness: Firmness = "result"


def read_rate(row: Mapping[str, Any] | None, name: str, scale: float = 1) -> Rate:
    """Read a number of a row and its interval (columns `…_low`, `…_high`), divided by `scale`.

    It has no value where there is none.
    """
    interval_values = ((row or {}).get(f"{name}{end}") for end in ("", "_low", "_high"))
    value, low, high = (
        None if end is None or isnan(end) else end / scale for end in interval_values
    )
    return Rate(value, low, high)


def hide_wide_share(rate: Rate) -> Rate:
    """The share; no value where its interval holds all that a share can be, with a note."""
    if rate.low is None or rate.high is None or rate.low > 0 or rate.high < 1:
        return rate
    reason = "too few to tell: it may be 0 to 100\u00a0%"
    return Rate(None, note=", ".join(filter(None, (rate.note, reason))))


def format_percent(fraction: float | None) -> str:
    """`12.3 %`, or a dash."""
    return NONE if fraction is None else f"{100 * fraction:.1f}\u00a0%"


def format_whole_percent(fraction: float) -> str:
    """`12 %`, for sentences."""
    return f"{100 * fraction:.0f}\u00a0%"


def format_interval(rate: Rate) -> str:
    """`[8.1, 17.9]` in per cent, or nothing where the rate has no interval."""
    return _ends(rate, lambda end: f"{100 * end:.1f}")


def _ends(rate: Rate, write: Callable[[float], str]) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return ""
    return f"[{write(rate.low)},\u00a0{write(rate.high)}]"


def format_points(rate: Rate) -> str:
    """A change in percentage points with its sign, and its interval: `+2.7 [−1.0, 6.3]`."""
    if rate.value is None:
        return NONE
    interval_text = _ends(rate, lambda end: format_signed(100 * end))
    return f"{format_signed(100 * rate.value)} {interval_text}".strip()


def format_p(p: float) -> str:
    """`p = 0.012`, or `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def format_signed(number: float | None) -> str:
    """`+11.8`, or a dash."""
    if number is None:
        return NONE
    written = f"{number:+.1f}"
    return "0.0" if written in ("+0.0", "-0.0") else written.replace("-", "\u2212")


def format_change(percent: float) -> str:
    """`+12.5 %`, of a change in per cent."""
    return f"{format_signed(percent)}\u00a0%"


def format_signed_interval(rate: Rate) -> str:
    """`[+9.8, +13.9]`, or nothing where there is no interval."""
    return _ends(rate, format_signed)


def format_score(number: float | None, places: int = 2) -> str:
    """A score or a margin from −1 to 1: `0.63`, or a dash."""
    return NONE if number is None else f"{number:z.{places}f}".replace("-", "\u2212")


def format_score_interval(rate: Rate, places: int = 2) -> str:
    """`[0.58, 0.68]`, or nothing where the rate has no interval."""
    return _ends(rate, lambda end: format_score(end, places))


def format_rate(rate: Rate) -> str:
    """The rate as one line of text: `12.3 % [8.1, 17.9]`."""
    return f"{format_percent(rate.value)} {format_interval(rate)}".strip()


def breakable(name: str) -> Markup:
    """A name that a line may break in after `_`, `-`, `.` or `/`, and nowhere else if it can."""
    return Markup(_AFTER.sub(r"\g<0><wbr>", str(escape(name))))


def format_value(number: float | None) -> str:
    """A truth or a reading: whole numbers without a point, others to three places."""
    if number is None:
        return NONE
    written = f"{number:.3f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written.replace("-", "\u2212")


def format_pixels(width: float) -> str:
    """`3.2 px`."""
    return f"{width:.1f}\u00a0px"


def format_target(target: str) -> str:
    """A target's name, with a minus that no line breaks at: `(ratio − 1)`."""
    return target.replace(" - ", "\u00a0\u2212\u00a0")


def capitalize_first(text: str) -> str:
    """The text with a capital at its front and the rest as it is."""
    return text[:1].upper() + text[1:]


def format_count(number: int) -> str:
    """`1,029`."""
    return f"{number:,}"


def first_sentence(prompt: str) -> str:
    """A question's first sentence: what is asked, without how to answer."""
    first, mark, _ = prompt.partition("?")
    return first + mark if mark else prompt.partition(". ")[0]


def mark_unlisted(name: str, *, is_listed: bool) -> str:
    """The name of a painter or collection; in brackets, that its entry is gone."""
    return name if is_listed else f"{name} ({UNLISTED})"


def add_firmness(name: str, firmness: Firmness) -> str:
    """The name of what was run; in brackets its firmness, unless it is a result."""
    return name if firmness == "result" else f"{name} ({FIRMNESS_WORDS[firmness]})"


FILTERS = {
    "firmness": FIRMNESS_WORDS.__getitem__,
    "question": first_sentence,
    "percent": format_percent,
    "interval": format_interval,
    "signed": format_points,
    "spoken": format_rate,
    "value": format_value,
    "pixels": format_pixels,
    "count": format_count,
    "named": format_target,
    "breakable": breakable,
    "titled": capitalize_first,
}
