"""A quote for many judges against a store of many calls: how long it takes, in how much memory.

A judge has five topics of 500 questions, about as many as there are; every second question has
been answered, and the store holds other answers of the same judges as well.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import pyarrow.parquet as pq

from assets.kit.benchmarks import planners_of as planners
from assets.kit.plan import PlanContext
from assets.planning import Task, quote
from assets.vlmbias.common import answers_of
from assets.vlmbias.questions import QUESTIONS
from bench.machine import peak_megabytes
from generators.topics import DRAWN
from resources.calls import Call, CallStore
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.catalog import Catalog, Model, Price
from resources.models.requests import Look, Turn, call_key, canonical_of, kind_of

FEW, MANY = 10_000, 100_000
_TOPICS, _QUESTIONS = DRAWN[:5], 500
_PER_JUDGE = len(_TOPICS) * _QUESTIONS
_CHUNK = 5_000
_PRICE = Price(input_per_million=2.0, output_per_million=8.0, batch_share=0.5)


class Quoted(NamedTuple):
    """Seconds for a quote, without loading Python, and the peak memory of its process in MB."""

    requests: int
    seconds: float
    megabytes: float


def quotes(stored: int, few: int = FEW, many: int = MANY) -> list[Quoted]:
    """Quotes for few and many requests against a store that holds `stored` calls.

    Raises `subprocess.CalledProcessError` where one fails.
    """
    with TemporaryDirectory() as root:
        prepare(Path(root), stored, many)
        return [_in_a_process(root, requests) for requests in (few, many)]


def prepare(root: Path, stored: int, requests: int) -> None:
    """Write the questions, and a store in which every second of `requests` has its answer."""
    folder = root / "vlmbias" / "questions"
    folder.mkdir(parents=True)
    for topic in _TOPICS:
        pq.write_table(QUESTIONS.table(_questions(topic)), folder / f"{topic}.parquet")
    calls = _calls(requests)
    with closing(_store(root)) as store:
        for start in range(0, stored, _CHUNK):
            store.keep(list(islice(calls, min(_CHUNK, stored - start))))


def main() -> None:
    """Quote for so many requests from what is prepared in a folder; print what it took."""
    root, requests = Path(sys.argv[1]), int(sys.argv[2])
    judges = Catalog(_judges(requests))
    tasks = [
        Task(answers_of(judge.name), topic, {}) for judge in judges.models for topic in _TOPICS
    ]
    with closing(_store(root)) as store:
        sources = PlanContext(
            Home(root=str(root)), ImageStore(root=str(root)), WorkLedger(root=str(root)), store
        )
        started = perf_counter()
        made = quote(planners(judges), sources, tasks)
        seconds = perf_counter() - started
    assert sum(line.requests for line in made.lines) == requests
    sys.stdout.write(json.dumps([requests, seconds, peak_megabytes()]))


def _in_a_process(root: str, requests: int) -> Quoted:
    command = [sys.executable, "-m", "bench.quote", root, str(requests)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Quoted(*json.loads(told))


def _store(root: Path) -> CallStore:
    return CallStore(url=f"sqlite:///{root}/calls.sqlite")


def _judges(requests: int) -> tuple[Model, ...]:
    return tuple(
        Model(
            name=f"judge_{number}",
            backend="openai",
            model=f"judge-{number}",
            family="bench",
            roles=("judge",),
            parameters={"temperature": 1.0},
            longest_output=4000,
            price=_PRICE,
        )
        for number in range(requests // _PER_JUDGE)
    )


def _questions(topic: str) -> list[dict[str, str]]:
    return [
        {
            "sha256": _picture(topic, number),
            "domain": topic,
            "question_id": "Q1",
            "question": _question(number),
        }
        for number in range(_QUESTIONS)
    ]


def _question(number: int) -> str:
    return (
        f"How many rows are there on board {number}? Answer with a number in curly brackets, "
        "e.g., {9}."
    )


def _picture(topic: str, number: int) -> str:
    return sha256(f"{topic} {number}".encode()).hexdigest()


def _calls(requests: int) -> Iterator[Call]:
    """Answers to every second request, then to others without end."""
    judges = _judges(requests)
    for number in range(0, _QUESTIONS, 2):
        for topic in _TOPICS:
            for judge in judges:
                yield _call(judge, _question(number), _picture(topic, number))
    number = 0
    while True:
        for judge in judges:
            yield _call(judge, f"{_question(0)} ({number})", _picture("other", number))
        number += 1


def _call(judge: Model, question: str, picture: str) -> Call:
    request = Look((Turn("user", question, (picture,)),))
    canonical = canonical_of(judge, request)
    return Call(
        key=call_key(canonical),
        backend=judge.backend,
        model=judge.model,
        kind=kind_of(request),
        request=canonical,
        answer={"outcome": "answered", "text": "Counted one by one: {5}. " * 8},
        served_model=judge.model,
        input_tokens=900,
        output_tokens=60,
        seconds=1.5,
        mode="online",
        finished_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


if __name__ == "__main__":
    main()
