"""Submitting and collecting as the jobs do it, and looking at what came of it."""

import logging
from collections import Counter

from sqlalchemy import text

from resources.batches import BatchOrder, BatchProviders, collect, recover_lost, submit, track
from resources.calls.spending import Account
from resources.models.catalog import Model
from resources.models.client import ModelClient
from resources.models.requests import build_canonical_request, compute_call_key

CANARY = "sk-canary-3f9c1e77ab"
LOG = logging.getLogger("batches")
ACCOUNT = Account("vlmbias/answers_judge", "flags", "run-1")
PRICE = {"input_per_million": 1.0, "output_per_million": 10.0, "batch_share": 0.5}


def model_at(provider, backend="openai", **entry):
    """An entry of models.yaml for a model of the test's provider."""
    known = {
        "name": "judge",
        "backend": backend,
        "model": "test-1",
        "family": "test",
        "roles": ["judge", "writer", "painter", "editor"],
        "base_url": provider.url if backend == "gemini" else provider.openai_url,
        "longest_output": 100,
        "price": PRICE,
    }
    return Model.model_validate(known | entry)


class Office:
    """One call store, one provider, and a model to ask there."""

    def __init__(self, calls, images, provider, backend="openai", **entry):
        self.calls, self.images, self.provider = calls, images, provider
        self.model = model_at(provider, backend, **entry)
        self.providers = BatchProviders(images)
        self.require_idle = lambda: None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.providers.close()

    def submit(self, requests, account=ACCOUNT, model=None, config=None):
        order = BatchOrder(model or self.model, account, config or {}, requests)
        return submit(self.calls, self.providers, [order], LOG, self.require_idle)

    def submit_one(self, requests, **more):
        """The tag of the one batch that they make."""
        (batch,) = self.submit(requests, **more).batches
        return batch.tag

    def track(self):
        return track(self.calls, self.providers)

    def recover_lost(self):
        return recover_lost(self.calls, self.providers, LOG)

    def collect(self, tag):
        self.track()
        return collect(self.calls, self.images, self.providers, tag, LOG)

    def ask(self, requests, account=ACCOUNT):
        """Ask online."""
        client = ModelClient(calls=self.calls, images=self.images)
        try:
            return client.ask(self.model, requests, LOG, account)
        finally:
            client.close()

    def keys(self, requests):
        return [
            compute_call_key(build_canonical_request(self.model, request)) for request in requests
        ]

    def lined_up(self, requests):
        """Requests in the order in which they stand in a batch."""
        keyed = dict(zip(self.keys(requests), requests, strict=True))
        return [keyed[key] for key in sorted(keyed)]

    def stored(self, requests):
        """The stored calls, in order, None where there is none."""
        known = self.calls.find_calls(self.keys(requests))
        return [known.get(key) for key in self.keys(requests)]

    def waiting(self, requests):
        """How many of them wait in a batch."""
        return len(self.calls.batches.find_waiting_tags(self.keys(requests)))

    def money(self):
        """Billionths of dollars paid and possibly paid, and how many requests these are."""
        spent = self.calls.list_spending()
        return tuple(
            sum(getattr(each, name) for each in spent)
            for name in ("paid", "possibly_paid", "requests")
        )

    def booked(self):
        """How many bookings there are of each state."""
        states = text("SELECT state FROM spending")
        database = self.calls._start().database
        return Counter(database.run(lambda connection, _: list(connection.scalars(states))))

    def created(self):
        """How many batches there are at the provider."""
        return len(self.provider.batches.all)

    def asked(self):
        """How many requests the model has met, alone or in batches."""
        return sum(received.task in ("text", "picture") for received in self.provider.received)
