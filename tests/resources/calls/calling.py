"""What tests of the store ask for: calls that say who answered them, and how often that was."""

import asyncio
from contextlib import closing
from datetime import UTC, datetime

from sqlalchemy import text

from resources.calls import Call, CallStore
from resources.models.requests import compute_call_key

ODD = 'quoted "text", a null \x00, half a pair \ud83d, and flags 🇳🇵'


def request_of(number):
    return {"backend": "openai", "parameters": {"t": 0.5}, "turns": [{"text": f"{number}? ü"}]}


def keys(many):
    return [compute_call_key(request_of(number)) for number in range(many)]


def call(number=0, text="yes"):
    return Call(
        key=compute_call_key(request_of(number)),
        backend="openai",
        model="gpt-5",
        kind="write",
        request=request_of(number),
        answer={"outcome": "answered", "text": text, "score": 0.1, "images": ["ab", "cd"]},
        served_model="gpt-5-2026",
        input_tokens=12,
        output_tokens=None,
        seconds=0.25,
        mode="online",
        finished_at=datetime(2026, 11, 21, 4, 5, 6, 789, tzinfo=UTC),
    )


async def once(store, key, ask, purchase=None):
    """The stored call of a key, waited for while another process asks."""
    while (found := await store.get_or_request(key, ask, purchase)) is None:
        await asyncio.sleep(0.05)
    return found


def end_lease(url, process):
    """Let the claims be over of a process that was killed, and whose number is its owner's name.

    So others need no lease so short that one of them loses its own when the machine is busy.
    """
    gone = text("DELETE FROM claims WHERE owner = :owner")
    with closing(CallStore(url=url)) as store:
        store._start().database.run(
            lambda connection, _: connection.execute(gone, {"owner": str(process)})
        )


class Model:
    """Answers after a while, and remembers what it was asked."""

    def __init__(self, seconds=0.0, name="model"):
        self.asked = []
        self.cancelled = 0
        self._seconds = seconds
        self._name = name

    def asking(self, number):
        async def ask():
            self.asked.append(number)
            try:
                await asyncio.sleep(self._seconds)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return call(number, text=self._name)

        return ask

    async def all_of(self, store, numbers):
        """The calls of some numbers, all asked for at once."""
        return await asyncio.gather(
            *(once(store, call(number).key, self.asking(number)) for number in numbers)
        )
