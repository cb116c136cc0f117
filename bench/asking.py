"""What a durable request costs above the provider's SDK, and what memory it takes.

A provider on this machine answers after 50 ms; 64 requests are on their way at once. It and the
client are processes of their own, each on a core if there are two.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

from openai import AsyncOpenAI

from bench import machine
from bench.client import ask_timed, client_in, model_named
from bench.figure import Figure, answer, in_a_process
from resources.models.catalog import Model
from resources.models.requests import LookRequest, Turn, WriteRequest
from tests.providers import provider_process

LATENCY_S, CONCURRENCY, REQUESTS, ROUNDS = 0.05, 64, 1000, 5
IMAGE_BYTES = 1_000_000


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
    return float(in_a_process("bench.asking", images))


def figures() -> Iterator[Figure]:
    """The round in the middle, and the memory for further pictures."""
    cost = middle(text_requests())
    yield Figure("CPU of a text request by the SDK alone, 64 at once, 50 ms", cost.bare, "ms")
    yield Figure("CPU of the same stored durably", cost.durable, "ms")
    yield Figure("CPU of a durable request above the SDK alone", cost.above, "ms", 0.5)
    yield Figure("what it takes longer by the clock", cost.waited, "ms")
    yield Figure("asking 1,000 answered requests again", cost.again, "s", 0.3)
    few, many = (peak_megabytes(images) for images in (500, 5000))
    note = f"{few:.0f} MB for 500, {many:.0f} MB for 5,000"
    grown = 1000 * (many - few) / 4500
    yield Figure("memory for each further picture of 1 MB", grown, "KB", 20, note)


def _round(url: str, number: int) -> Cost:
    questions = [f"Round {number}: how many legs has animal {n}?" for n in range(REQUESTS)]
    bare_waited, bare = asyncio.run(_bare(url, questions))
    requests = [WriteRequest((Turn("user", question),)) for question in questions]
    with TemporaryDirectory() as root, client_in(root) as client:
        used = process_time()
        waited = ask_timed(client, _model(url), requests)
        durable = process_time() - used
        again = ask_timed(client, _model(url), requests)
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


def _model(url: str) -> Model:
    terms = {"base_url": url, "concurrency": CONCURRENCY}
    return model_named("bench", "openai_compatible", "writer", "judge", **terms)


def _about_images(number: str) -> float:
    """Ask about so many images, made as they are stored; the peak memory in MB."""
    with (
        provider_process(latency_s=LATENCY_S) as server,
        TemporaryDirectory() as root,
        client_in(root) as client,
    ):
        digests = [client.images.put(os.urandom(IMAGE_BYTES)) for _ in range(int(number))]
        requests = [LookRequest((Turn("user", "How many legs?", (digest,)),)) for digest in digests]
        ask_timed(client, _model(server.openai_url), requests)
    return machine.peak_megabytes()


if __name__ == "__main__":
    answer(_about_images)
