"""Attacks on one of several devices: an encoder in a process of its own."""

import multiprocessing
import signal
from collections.abc import Sequence
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any

from resources.attacks.attack import EncoderAttack
from resources.attacks.attack_parameters import AttackJob, AttackResult
from resources.attacks.gradient_search import Watch
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable, RequestFault


class DeviceAttack:
    """The encoder of an entry for one device; it is loaded by its process when it is first asked.

    It does what `EncoderAttack` does, and may be asked from any thread, by one at a time.
    """

    def __init__(self, model: Model, key: str | None) -> None:
        self._model = model
        context = multiprocessing.get_context("spawn")
        self._pipe, their_pipe = context.Pipe()
        self._process = context.Process(target=_serve, args=(model, key, their_pipe), daemon=True)
        self._process.start()
        their_pipe.close()

    @cached_property
    def sees_question(self) -> bool:
        """True where the embedding depends on the question as well as on the picture."""
        return bool(self._ask(None))

    def attack(self, works: Sequence[AttackJob], watch: Watch) -> list[AttackResult]:
        """Attack pictures together; nothing is watched, since it is in another process."""
        results: list[AttackResult] = self._ask(works)
        return results

    def close(self) -> None:
        """End the process, and free its device."""
        self._process.kill()
        self._process.join()

    def _ask(self, works: Sequence[AttackJob] | None) -> Any:
        try:
            self._pipe.send(works)
            reply = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            raise ModelUnavailable(
                f"The process of {self._model.name} on {self._model.parameters['device']} was "
                f"ended (exit code {self._process.exitcode}): often memory ran out, or somebody "
                "killed it. Materialize again: finished attacks are kept."
            ) from None
        if isinstance(reply, Exception):
            raise reply
        return reply


def _serve(model: Model, key: str | None, pipe: Connection) -> None:
    """Answer, in a process of its own, until the pipe's other end is closed.

    Ctrl-C on a terminal reaches it as well; whoever asked ends it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    attacker: EncoderAttack | None = None
    while True:
        try:
            works = pipe.recv()
        except EOFError:
            return
        try:
            attacker = attacker or EncoderAttack(model, key)
            pipe.send(
                attacker.sees_question if works is None else attacker.attack(works, _watch_nothing)
            )
        except RequestFault as fault:
            pipe.send(fault)
        except Exception as error:  # noqa: BLE001 - who asked is told, in whichever class
            pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))


def _watch_nothing(step: int, similarities: Sequence[float]) -> None:
    """Progress of a batch, which is logged once it is done."""
