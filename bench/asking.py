"""What a durable request costs above the provider's SDK, and what memory it takes.

A provider on this machine answers after 50 ms; 64 requests are on their way at once. It and the
client are processes of their own, each on a core if there are two.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from time import perf_counter, process_time
from typing import NamedTuple

from openai import AsyncOpenAI

from bench import machine
from resources.calls import CallStore
from resources.images import ImageStore
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.outcomes import Answered
from resources.models.requests import Look, Request, Turn, Write
from tests.providers import provider_process

LATENCY_S, CONCURRENCY, REQUESTS, ROUNDS = 0.05, 64, 1000, 5
IMAGE_BYTES = 1_000_000
_LOG = logging.getLogger("bench")


class Cost(NamedTuple):
    """Milliseconds of CPU for each of 1,000 text requests, and seconds for asking all again.

    CPU is that of this process, all threads, user and system: other work on the machine, which
    stretches the wall clock, does not change it. `waited` is what the wall clock says.
    """

    bare: float
    durable: float
    waited: float
    again: float

    @property
    def above(self) -> float:
        """Milliseconds that storing, claiming and adapting the concurrency cost for each."""
        return self.durable - self.bare


def text_requests() -> list[Cost]:
    """The cost in several rounds, each bare and durable after one another on an empty store."""
    with provider_process(latency_s=LATENCY_S) as server:
        return [_round(server.openai_url, number) for number in range(ROUNDS)]


def middle(costs: Sequence[Cost]) -> Cost:
    """The round in the middle by what it costs above the bare client."""
    return sorted(costs, key=lambda cost: cost.above)[len(costs) // 2]


def peak_megabytes(images: int) -> float:
    """The peak memory of a process that asks about so many different images of 1 MB, once each."""
    command = [sys.executable, "-m", "bench.asking", str(images)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(told))


def _round(url: str, number: int) -> Cost:
    questions = [f"Round {number}: how many legs has animal {n}?" for n in range(REQUESTS)]
    bare_waited, bare = asyncio.run(_bare(url, questions))
    with tempfile.TemporaryDirectory() as root:
        client = _client(root)
        requests = [Write((Turn("user", question),)) for question in questions]
        started, used = perf_counter(), process_time()
        _ask(client, url, requests)
        waited, durable = perf_counter() - started, process_time() - used
        started = perf_counter()
        _ask(client, url, requests)
        again = perf_counter() - started
        _close(client)
    each = 1000 / REQUESTS
    return Cost(bare * each, durable * each, (waited - bare_waited) * each, again)


async def _bare(url: str, questions: Sequence[str]) -> tuple[float, float]:
    """Seconds, and those of CPU, for the SDK alone, called by as many workers."""
    queue = iter(questions)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def work() -> None:
            for question in queue:
                reply = await client.chat.completions.create(
                    model="bench", messages=[{"role": "user", "content": question}]
                )
                assert reply.choices[0].message.content

        started, used = perf_counter(), process_time()
        async with asyncio.TaskGroup() as workers:
            for _ in range(CONCURRENCY):
                workers.create_task(work())
        return perf_counter() - started, process_time() - used


def _ask(client: ModelClient, url: str, requests: Sequence[Request]) -> None:
    model = Model(
        name="bench",
        backend="openai_compatible",
        model="bench",
        family="bench",
        roles=("writer", "judge"),
        base_url=url,
        concurrency=CONCURRENCY,
    )
    asked = client.ask(model, requests, _LOG)
    assert all(isinstance(outcome, Answered) for outcome in asked.outcomes)


def _client(root: str) -> ModelClient:
    calls = CallStore(url=f"sqlite:///{root}/calls.sqlite")
    return ModelClient(calls=calls, images=ImageStore(root=root))


def _close(client: ModelClient) -> None:
    client.close()
    client.calls.close()


def _about_images(number: int) -> float:
    """Ask about so many images, made as they are stored; the peak memory in MB."""
    with (
        tempfile.TemporaryDirectory() as root,
        provider_process(latency_s=LATENCY_S) as server,
    ):
        client = _client(root)
        digests = [client.images.put(os.urandom(IMAGE_BYTES)) for _ in range(number)]
        requests = [Look((Turn("user", "How many legs?", (digest,)),)) for digest in digests]
        _ask(client, server.openai_url, requests)
        _close(client)
    return machine.peak_megabytes()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_about_images(int(sys.argv[1]))))
