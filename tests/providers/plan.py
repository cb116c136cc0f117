"""Which request meets which fault."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from tests.providers.faults import NORMAL, Fault
from tests.providers.received import Received


@dataclass
class _Rule:
    matches: Callable[[Received], bool]
    fault: Fault
    left: float


class Plan:
    """Rules first, then the script, then shares, then what always happens."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.clear()

    def clear(self) -> None:
        """Let everything go well again."""
        with self._lock:
            self._rules: list[_Rule] = []
            self._script: deque[Fault] = deque()
            self._shares: dict[Fault, float] = {}
            self._seed = 0
            self._always = NORMAL
            self._sent: Counter[str] = Counter()
            self.drawn: set[Fault] = set()
            """Those of `shares` that a request has met."""

    def when(
        self, matches: Callable[[Received], bool], fault: Fault, times: float = float("inf")
    ) -> None:
        """Let requests that match meet a fault, as many times."""
        with self._lock:
            self._rules.append(_Rule(matches, fault, times))

    def script(self, faults: Iterable[Fault]) -> None:
        """Let the next requests meet these, one each; `faults.NORMAL` is one that goes well."""
        with self._lock:
            self._script.extend(faults)

    def shares(self, shares: Mapping[Fault, float], seed: int = 0) -> None:
        """Let these shares of requests meet faults, drawn by what is asked and how often it was.

        So each sending of a request has its fate whatever the order in which requests arrive. A
        fault that does not suit a request spares it.
        """
        if sum(shares.values()) > 1:
            raise ValueError(f"Shares of more than all requests: {dict(shares)}")
        with self._lock:
            self._shares, self._seed = dict(shares), seed

    def always(self, fault: Fault) -> None:
        """Let all other requests meet this fault."""
        with self._lock:
            self._always = fault

    def fault_for(self, received: Received) -> Fault:
        """What is to happen to a request; each is asked about once."""
        with self._lock:
            ruled = self._ruled(received)
            if ruled is not None:
                return ruled
            if self._script:
                return self._script.popleft()
            drawn = self._draw(received) if self._shares else None
            return drawn or self._always

    def fault_in_batch(self, received: Received) -> Fault:
        """What is to happen to a request of a batch, which rules alone are for."""
        with self._lock:
            return self._ruled(received) or NORMAL

    def _ruled(self, received: Received) -> Fault | None:
        for rule in self._rules:
            if rule.left > 0 and rule.matches(received):
                rule.left -= 1
                return rule.fault
        return None

    def _draw(self, received: Received) -> Fault | None:
        self._sent[received.digest] += 1
        lot = f"{self._seed} {received.digest} {self._sent[received.digest]}"
        point = int.from_bytes(sha256(lot.encode()).digest()[:8], "big") / 2**64
        for fault, share in self._shares.items():
            if point < share:
                if not fault.suits(received):
                    return None
                self.drawn.add(fault)
                return fault
            point -= share
        return None
