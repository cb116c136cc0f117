"""Firmness of a model's number: a result, a trial, or none, by the answers behind it.

One rule holds for every benchmark.

- `not run`: no request was sent.
- `no answer`: requests were sent, and none has a readable answer. There is no number.
- `trial`: the answers are too few, or a part of what the benchmark asks, or more than a tenth of
  them are missing. The number is printed with the reason, and never ranked.
- `result`: every other number. Results alone are ranked.
- `stand-in`: a stand-in judge answered, or the pictures are schematics. The number is no result.

A missing answer is a request that was refused or failed, or whose response cannot be read.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Firmness: TypeAlias = Literal["result", "trial", "no answer", "not run", "stand-in"]

FIRMNESS: tuple[Firmness, ...] = ("result", "trial", "no answer", "not run", "stand-in")
"""The firmest first."""

MAX_MISSING_SHARE = 0.1
"""The largest share of answers that a result may lack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The requests and answers behind one number.

    >>> Evidence(requests=40, answers=3, units=3, min_units=25, unit="pictures").reasons
    ('37 of 40 answers missing', '3 of at least 25 pictures')
    """

    requests: int
    answers: int
    """Requests with a readable answer."""
    units: int = 1
    """Independent units with an answer, such as pictures; of several domains, in the smallest."""
    min_units: int = 1
    """Units that a result needs."""
    unit: str = "pictures"
    """The name of a unit, in the plural."""
    part: str = ""
    """Share of the benchmark that was asked, such as "20 of 300 cases"; empty for all of it."""
    caveat: str = ""
    """A further reason not to rank the number; empty for none."""
    is_stand_in: bool = False

    @property
    def firmness(self) -> Firmness:
        """The firmness of the number."""
        if self.is_stand_in:
            return "stand-in"
        if not self.requests:
            return "not run"
        if not self.answers:
            return "no answer"
        return "trial" if self.reasons else "result"

    @property
    def has_number(self) -> bool:
        """True where there is an answer to compute a number from."""
        return self.answers > 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the number is no result, in words; none for a result."""
        if not self.requests:
            return ("not run",)
        if not self.answers:
            return (f"no answer to {self.requests:,} requests",)
        missing = self.requests - self.answers
        few = self.units < self.min_units
        reasons = (
            f"{missing:,} of {self.requests:,} answers missing" if self.lacks_answers else "",
            f"{self.units:,} of at least {self.min_units:,} {self.unit}" if few else "",
            self.part,
            self.caveat,
        )
        return tuple(reason for reason in reasons if reason)

    @property
    def lacks_answers(self) -> bool:
        """True where more than a tenth of the answers are missing."""
        return self.requests - self.answers > MAX_MISSING_SHARE * self.requests
