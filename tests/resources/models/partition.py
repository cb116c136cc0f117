"""Partitions that are asked for in processes of their own, which may be killed.

They are forked from one that has imported what they need: for each of many, that takes seconds.
It is their own, for the one that is there may have been started by who draws, for which it has
imported other things.
"""

import multiprocessing
import os
from datetime import UTC, datetime
from functools import partial
from multiprocessing.forkserver import ForkServer
from unittest import mock

from resources.calls import CallStore
from resources.calls import write_thread as writer
from resources.calls.spending import Account
from resources.faults import OverBudget
from resources.models.client import ModelClient
from resources.storage.image_store import ImageStore
from tests.resources.models.conftest import CANARY, LOG, Model, client_at, closed, looks

REQUESTS, CONCURRENCY, LEASE_S = 400, 16, 0.5
FORKS = multiprocessing.get_context("forkserver")
_SERVER = ForkServer()
_FORK = _SERVER.connect_to_new_process
_SERVER.set_forkserver_preload([__name__, "openai"])


def started(target, *arguments):
    """A process that runs one of the functions below, and our end of its pipe."""
    ours, its = FORKS.Pipe()
    process = FORKS.Process(target=target, args=(its, *arguments))
    with mock.patch("multiprocessing.forkserver.connect_to_new_process", _FORK):
        process.start()
    its.close()
    return process, ours


def ended(process, pipe):
    """What a process has told at its end."""
    told = pipe.recv()
    process.join()
    return told


def ask(pipe, root, url):
    """Ask for all of it, and tell what was answered."""
    # One at a time: nobody is there who could take the claims of one that is held up.
    writer.LEASE_S = LEASE_S
    judge, client = _judge(url, concurrency=CONCURRENCY), client_at(root)
    asked = client.ask(judge, looks(REQUESTS), LOG)
    closed(client)
    pipe.send([outcome.text for outcome in asked.outcomes])


def ask_from(pipe, store, root, url, first, requests, concurrency):
    """Once told to go: the same, from one in the middle; tell how many were sent as well."""
    judge, client = _judge(url, concurrency=concurrency), _ready(pipe, store, root)
    wanted = looks(requests)
    asked = client.ask(judge, wanted[first:] + wanted[:first], LOG)
    closed(client)
    texts = [outcome.text for outcome in asked.outcomes]
    pipe.send((asked.sent, texts[-first:] + texts[:-first]))


def spend(pipe, store, root, url, number, budget):
    """Once told to go: ask within the budget of a month, and tell that it was used up."""
    price = {"input_per_million": 1000.0, "output_per_million": 1000.0}
    judge = _judge(url, concurrency=8, longest_output=50, price=price)
    client, told = _ready(pipe, store, root), ""
    # No month ends in the middle of it.
    client._clock = partial(datetime, 2026, 11, 21, tzinfo=UTC)
    try:
        account = Account(run=str(number), per_month=budget)
        client.ask(judge, looks(500, start=number), LOG, account)
    except OverBudget as error:
        told = str(error)
    closed(client)
    pipe.send(told)


def _judge(url, **more):
    os.environ["OPENAI_API_KEY"] = CANARY
    entry = {"name": "judge", "backend": "openai", "model": "test-1", "family": "test"}
    return Model.model_validate({**entry, "roles": ["judge"], "base_url": url, **more})


def _ready(pipe, store, root):
    client = ModelClient(calls=CallStore(url=store), images=ImageStore(root=str(root)))
    client.calls._start().writer._owner = str(os.getpid())
    client.calls.find_calls([])
    pipe.send("ready")
    assert pipe.recv() == "go"
    return client
