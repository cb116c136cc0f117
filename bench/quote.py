"""A quote for many judges against a store of many calls: how long it takes, in how much memory.

A judge has five topics of 500 questions, about as many as there are; every second question has
been answered, and the store holds other answers of the same judges as well.
"""

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow.parquet as pq

from assets.kit.benchmarks import build_planners as planners
from assets.kit.plan import PlanContext
from assets.planning import Task, quote_tasks
from assets.vlmbias.common import answers_key
from assets.vlmbias.questions import QUESTIONS
from bench.client import model_named, stored_call
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from generators.topics import DRAWN
from resources.calls import Call, CallStore
from resources.models.catalog import Catalog, Model, Price
from resources.models.requests import LookRequest, Turn
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

_TOPICS, _QUESTIONS = DRAWN[:5], 500
_PER_JUDGE = len(_TOPICS) * _QUESTIONS
_CHUNK = 5_000
_PRICE = Price(input_per_million=2.0, output_per_million=8.0, batch_share=0.5)


def figures(stored: int = 100_000, few: int = 10_000, many: int = 100_000) -> Iterator[Figure]:
    """Quotes for few and for many requests against a store that holds `stored` calls."""
    with TemporaryDirectory() as root:
        _prepare(Path(root), stored, many)
        _, least = in_a_process("bench.quote", root, few)
        seconds, peak = in_a_process("bench.quote", root, many)
    what = f"a quote for {many:,} requests, half answered, of {stored:,} stored calls"
    yield Figure(what, seconds, "s", 5, f"{peak:.0f} MB")
    yield Figure(f"its memory above that of one for {few:,}", peak - least, "MB", 30)


def _prepare(root: Path, stored: int, requests: int) -> None:
    """Write the questions, and a store in which every second of `requests` has its answer."""
    folder = root / "vlmbias" / "questions"
    folder.mkdir(parents=True)
    for topic in _TOPICS:
        rows = [
            {"sha256": _picture(topic, n), "domain": topic, "question_id": "Q1"}
            | {"question": _question(n)}
            for n in range(_QUESTIONS)
        ]
        pq.write_table(QUESTIONS.build_table(rows), folder / f"{topic}.parquet")
    calls = _calls(requests)
    with closing(_store(root)) as store:
        for start in range(0, stored, _CHUNK):
            store.keep(list(islice(calls, min(_CHUNK, stored - start))))


def _quote(folder: str, number: str) -> tuple[float, float]:
    """Seconds to quote for so many requests from what is prepared in a folder, and the peak."""
    root, requests = Path(folder), int(number)
    judges = Catalog(_judges(requests))
    tasks = [
        Task(answers_key(judge.name), topic, {}) for judge in judges.models for topic in _TOPICS
    ]
    with closing(_store(root)) as store:
        sources = PlanContext(
            DataRoot(root=str(root)), ImageStore(root=str(root)), WorkCache(root=str(root)), store
        )
        started = perf_counter()
        made = quote_tasks(planners(judges), sources, tasks)
        seconds = perf_counter() - started
    assert sum(line.requests for line in made.lines) == requests
    return seconds, peak_megabytes()


def _store(root: Path) -> CallStore:
    return CallStore(url=f"sqlite:///{root}/calls.sqlite")


def _judges(requests: int) -> tuple[Model, ...]:
    terms = {"parameters": {"temperature": 1.0}, "longest_output": 4000, "price": _PRICE}
    numbers = range(requests // _PER_JUDGE)
    return tuple(model_named(f"judge_{n}", "openai", "judge", **terms) for n in numbers)


def _question(number: int) -> str:
    return f"How many rows are there on board {number}? Answer with a number, e.g., {{9}}."


def _picture(topic: str, number: int) -> str:
    return sha256(f"{topic} {number}".encode()).hexdigest()


def _calls(requests: int) -> Iterator[Call]:
    """Answers to every second request, then to others without end."""
    judges = _judges(requests)
    for number in range(0, _QUESTIONS, 2):
        for topic in _TOPICS:
            for judge in judges:
                yield _call(judge, _question(number), _picture(topic, number))
    for number in count():
        for judge in judges:
            yield _call(judge, f"{_question(0)} ({number})", _picture("other", number))


def _call(judge: Model, question: str, picture: str) -> Call:
    request = LookRequest((Turn("user", question, (picture,)),))
    return stored_call(judge, request, "Counted one by one: {5}. " * 8)


if __name__ == "__main__":
    answer(_quote)
