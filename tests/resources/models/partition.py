"""A partition that is asked for in a process of its own, which may be killed.

It is forked from one that has imported what it needs: for each of many, that would take seconds.
"""

import multiprocessing
import os

from resources.calls import writer
from tests.resources.models.conftest import CANARY, LOG, Model, client_at, closed, looks

REQUESTS, CONCURRENCY, LEASE_S = 2000, 32, 0.5
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__, "openai"])


def ask(root, url, told):
    """Ask for all of it, and tell what was answered."""
    os.environ["OPENAI_API_KEY"] = CANARY
    writer._LEASE_S = LEASE_S
    judge = Model.model_validate(
        {
            "name": "judge",
            "backend": "openai",
            "model": "test-1",
            "family": "test",
            "roles": ["judge"],
            "base_url": url,
            "concurrency": CONCURRENCY,
        }
    )
    client = client_at(root)
    asked = client.ask(judge, looks(REQUESTS), LOG)
    closed(client)
    told.send([outcome.text for outcome in asked.outcomes])
