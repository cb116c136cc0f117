"""What can go wrong between a client and a provider, each thing by its name."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import get_args

from tests.providers.exchange import Exchange
from tests.providers.http import Response
from tests.providers.received import ProviderName, Received, Task

Make = Callable[[Exchange], Response]
_ALL: tuple[Task, ...] = get_args(Task)
BY_NAME: dict[str, "Fault"] = {}
"""All of them."""


@dataclass(frozen=True)
class Fault:
    """A reply other than the one hoped for; equal to another of its name and duration."""

    name: str
    makes: dict[ProviderName, Make] = field(compare=False, repr=False)
    tasks: tuple[Task, ...] = field(default=_ALL, compare=False)
    seconds: float = 1.0

    def for_seconds(self, seconds: float) -> "Fault":
        """The same fault, lasting or asking to wait this long."""
        return replace(self, seconds=seconds)

    def suits(self, received: Received) -> bool:
        """Whether this can happen to such a request."""
        return received.provider in self.makes and received.task in self.tasks

    def reply(self, exchange: Exchange) -> Response:
        """What is sent."""
        if not self.suits(exchange.received):
            received = exchange.received
            raise TypeError(f"{self.name}: no such {received.task} reply of {received.provider}")
        make = self.makes[exchange.received.provider]
        return make(replace(exchange, seconds=self.seconds))


def fault_called(
    name: str,
    both: Make | None = None,
    *,
    openai: Make | None = None,
    gemini: Make | None = None,
    anthropic: Make | None = None,
    tasks: tuple[Task, ...] = _ALL,
) -> Fault:
    makes: dict[ProviderName, Make] = {}
    if openai := openai or both:
        makes["openai"] = openai
    if gemini := gemini or both:
        makes["gemini"] = gemini
    if anthropic := anthropic or both:
        makes["anthropic"] = anthropic
    BY_NAME[name] = fault = Fault(name, makes, tasks)
    return fault
