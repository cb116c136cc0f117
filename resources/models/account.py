"""On whose account models are asked, and what may be spent there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The asset, partition and run that requests are sent for, as costs are told apart by them.

    `per_run` and `per_month` are the budgets that hold, in US dollars; None is no limit. Months are
    those of UTC, over everything that the call store knows of.
    """

    asset: str = ""
    partition: str = ""
    run: str = ""
    per_run: float | None = None
    per_month: float | None = None
