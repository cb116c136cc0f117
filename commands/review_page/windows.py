"""Windows of the page: which item is on whose screen, which are left for later, and the speed."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic

from commands.review_page.answer_files import fold_name

_CLAIM_S = 600
"""Seconds for which an item on somebody's screen is shown to nobody else."""
_PAUSE_S = 60
"""A longer time between two decisions is a pause, and no work."""
_RECENT = 20
"""Decisions that the speed is computed from."""


@dataclass
class Window:
    """A window of the page, in which one annotator decides on one item after the other."""

    annotator: str
    item: str | None = None
    """Key of the item on the screen."""
    looked_at: float = 0.0
    postponed_keys: list[str] = field(default_factory=list)
    """Keys of items that come after all others, in this order."""
    times: list[float] = field(default_factory=list)

    def show(self, key: str | None) -> None:
        """Put an item on the screen."""
        self.item, self.looked_at = key, monotonic()

    def postpone(self, key: str) -> None:
        """Leave an item for later, after all others."""
        self.postponed_keys = [*(name for name in self.postponed_keys if name != key), key]
        self.item = None

    def count_decision(self, key: str) -> None:
        """Note a decision on an item, and its time."""
        self.times = [*self.times[-_RECENT:], monotonic()]
        if key in self.postponed_keys:
            self.postponed_keys.remove(key)


class ReviewWindows:
    """All windows of one server, by name."""

    def __init__(self) -> None:
        self._windows: dict[str, Window] = {}

    def find(self, annotator: str, name: str) -> Window:
        """Find a window; a new one where it is of another annotator, or there is none."""
        window = self._windows.get(name)
        if window is None or fold_name(window.annotator) != fold_name(annotator):
            window = self._windows[name] = Window(annotator)
        return window

    def close(self, name: str) -> None:
        """Let others see at once what was on the screen of a window."""
        self._windows.pop(name, None)

    def iterate_keys(
        self, keys: Collection[str], window: Window, *, is_shared: bool
    ) -> Iterator[str]:
        """Iterate over the keys of items in a window's order.

        Its item comes first, postponed ones late, and last those on the screens of others: of
        all windows where people share one answer (`is_shared`), else of the annotator's.
        """
        current_time = monotonic()
        claimed_keys = {
            other.item
            for other in self._windows.values()
            if other is not window
            and current_time - other.looked_at < _CLAIM_S
            and (is_shared or fold_name(other.annotator) == fold_name(window.annotator))
        }
        postponed_keys = [key for key in window.postponed_keys if key in keys]
        first_keys = [key for key in (window.item,) if key is not None and key in keys]
        late_keys = {*postponed_keys, *first_keys}
        rest = (key for key in keys if key not in late_keys)
        claimed_in_order = []
        for key in dict.fromkeys((*first_keys, *rest, *postponed_keys)):
            if key in claimed_keys:
                claimed_in_order.append(key)
            else:
                yield key
        yield from claimed_in_order


def measure_speed(times: Sequence[float], remaining: int) -> dict[str, float | None]:
    """Decisions a minute without pauses, and the minutes that the remaining ones take."""
    steps = [after - before for before, after in pairwise(times) if after - before < _PAUSE_S]
    if len(steps) < 3 or not sum(steps):
        return {"per_minute": None, "minutes_left": None}
    per_minute = 60 * len(steps) / sum(steps)
    return {"per_minute": per_minute, "minutes_left": remaining / per_minute}
