"""Conversations with a model, any number at once."""

from collections.abc import Callable, Iterable
from functools import partial

from assets.kit.step import Conversation, Reply, Row
from resources.models.requests import Request


class Conversations:
    """What each conversation asks next, and what those that are over returned, by place."""

    def __init__(self, talks: Iterable[Conversation]) -> None:
        self.over: dict[int, Row] = {}
        self._waiting: dict[int, Request] = {}
        self._talks = list(talks)
        for place, talk in enumerate(self._talks):
            self._go_on(place, partial(next, talk))

    @property
    def waiting(self) -> dict[int, Request]:
        """The request that each waits for a reply to."""
        return dict(sorted(self._waiting.items()))

    def reply(self, place: int, reply: Reply) -> None:
        """Go on with the reply that one has waited for."""
        self._go_on(place, partial(self._talks[place].send, reply))

    def _go_on(self, place: int, go: Callable[[], Request]) -> None:
        self._waiting.pop(place, None)
        try:
            self._waiting[place] = go()
        except StopIteration as end:
            self.over[place] = end.value
