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
    remake_lost_pictures: bool = False
    """Whether pictures that were paid for, and are gone, are to be made and paid for again."""
    replace_damaged_answers: bool = False
    """Whether answers that were paid for, and are damaged, are to be asked and paid for again."""
    replace_malformed_answers: bool = False
    """Whether replies that were paid for, and hold no answer, are to be paid for again."""

    @property
    def limited(self) -> bool:
        """Whether there is any budget."""
        return self.per_run is not None or self.per_month is not None
