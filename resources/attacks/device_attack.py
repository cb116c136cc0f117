"""Attacks on several devices: an encoder in a worker on each."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import cached_property
from logging import Logger
from typing import Any

from resources.attacks.attack import EncoderAttack
from resources.attacks.attack_parameters import AttackJob, AttackResult
from resources.attacks.gradient_search import Watch
from resources.models.backend_pool import EventLoopThread
from resources.models.backends.devices import open_pool
from resources.models.catalog import Model


class DeviceAttacks:
    """The encoder of an entry on its devices, each of which attacks one batch at a time.

    It does what `EncoderAttack` does; a device is leased as judges lease theirs.
    """

    def __init__(self, model: Model, key: str | None, log: Logger) -> None:
        self._pool = open_pool(model, key, AttackService, 1)
        self._loop = EventLoopThread()
        self._loop.run(self._pool.ready(log))

    @cached_property
    def sees_question(self) -> bool:
        """True where the embedding depends on the question as well as on the picture."""
        return bool(self._loop.run(self._pool.ask(None)))

    def submit(self, works: Sequence[AttackJob]) -> Future[list[AttackResult]]:
        """Attack pictures together once a device is free; raises as `DevicePool.ask`."""
        return self._loop.submit(self._pool.ask(works))

    def attack(self, works: Sequence[AttackJob], watch: Watch) -> list[AttackResult]:
        """Attack pictures together; nothing is watched, since it is in another process."""
        return self.submit(works).result()

    def close(self) -> None:
        """End the workers, whatever they are doing, and free their devices."""
        with closing(self._loop):
            self._loop.run(self._pool.aclose())


class AttackService:
    """An encoder on one device, in its worker."""

    def __init__(self, model: Model, key: str | None) -> None:
        self._model, self._key = model, key

    async def answer(self, works: Sequence[AttackJob] | None) -> Any:
        """The results of attacking pictures together; without any, `sees_question`."""
        return await asyncio.to_thread(self._answer, works)

    @cached_property
    def _attacker(self) -> EncoderAttack:
        return EncoderAttack(self._model, self._key)

    def _answer(self, works: Sequence[AttackJob] | None) -> Any:
        attacker = self._attacker
        return attacker.sees_question if works is None else attacker.attack(works, _watch_nothing)


def _watch_nothing(step: int, similarities: Sequence[float]) -> None:
    """Progress of a batch, which is logged once it is done."""
