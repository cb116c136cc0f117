"""What is sent in batches: each request once, no more than there is money for."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event

import pytest

from resources.batches import lease, submission
from resources.batches.chunking import KeyedRequest, split_requests
from resources.calls.batch_store import BatchStore
from resources.faults import (
    KeyNotSet,
    MissingPrice,
    OverBudget,
    RequestsStopped,
    UnsupportedRequest,
)
from resources.models.image_limits import ImageLimits
from resources.models.requests import EditRequest, PaintRequest, Turn, WriteRequest
from tests.providers import Course, faults
from tests.resources.batches.office import ACCOUNT, Office, model_at
from tests.resources.models.conftest import looks, png


def on(task):
    return lambda received: received.task == task


def test_requests_that_are_known_or_wait_are_not_submitted(office):
    office.ask(looks(2))
    first = office.submit(looks(5))
    assert (first.answered, first.waiting) == (2, 0)
    assert [batch.requests for batch in first.batches] == [3]
    again = office.submit([*looks(7), *looks(7)])
    assert (again.answered, again.waiting) == (2, 3)
    assert [batch.requests for batch in again.batches] == [2]
    nothing = office.submit(looks(7))
    assert (nothing.answered, nothing.waiting, nothing.batches) == (2, 5, [])
    assert office.created() == 2
    names = [name for batch in office.provider.batches.all.values() for name, _ in batch.requests]
    assert sorted(names) == sorted(office.keys(looks(7)[2:]))


def test_a_request_that_is_repeated_counts_once(office, monkeypatch):
    monkeypatch.setattr("resources.storage.chunks.CHUNK_SIZE", 2)
    office.ask(looks(1))
    submitted = office.submit([*looks(3), *looks(3)])
    assert (submitted.answered, submitted.waiting) == (1, 0)
    assert [batch.requests for batch in submitted.batches] == [2]
    assert office.money()[2] == 3


def test_a_batch_is_put_down_as_it_was_submitted(each_office):
    office = each_office
    tag = office.submit_one(looks(3), config={"prompting": ["debiased"]})
    batch = office.calls.batches.find(tag)
    (there,) = office.provider.batches.all.values()
    assert (batch.state, batch.provider_id, there.tag) == ("running", there.id, tag)
    assert (batch.asset, batch.partition, batch.run) == ("vlmbias/answers_judge", "flags", "run-1")
    assert (batch.model, batch.config) == ("judge", {"prompting": ["debiased"]})
    assert batch.requests == 3
    assert office.waiting(looks(4)) == 3
    assert office.money()[2] == 3


def test_each_kind_has_a_batch_of_its_own(office):
    digest = office.images.put(png())
    requests = [
        *looks(2, digest),
        WriteRequest((Turn("user", "Write."),)),
        PaintRequest("A hen"),
        EditRequest("Add a leg", (digest,)),
        *looks(1, start=9),
    ]
    submitted = office.submit(requests)
    assert sorted(batch.requests for batch in submitted.batches) == [1, 1, 1, 3]
    assert office.waiting(requests) == 6


def test_pictures_beyond_a_limit_are_in_no_batch(office):
    picture = office.images.put(png())
    limited = office.model.model_copy(update={"image_limits": ImageLimits(longest_side=7)})
    submitted = office.submit([*looks(2), *looks(3, picture, start=2)], model=limited)
    assert [batch.requests for batch in submitted.batches] == [2]
    assert office.waiting(looks(3, picture, start=2)) == 0


class Small:
    """A provider of small batches."""

    largest_batch = (4, 100)

    def line_size(self, request):
        return len(request.prompt)


def pieces(*sizes):
    requests = [
        KeyedRequest(str(place), PaintRequest("x" * size)) for place, size in enumerate(sizes)
    ]
    model = model_at(type("Nobody", (), {"url": "", "openai_url": "http://nobody"}))
    return [
        [len(each.request.prompt) for each in piece]
        for piece in split_requests(model, Small(), requests)
    ]


def test_no_batch_is_larger_than_its_provider_takes():
    assert pieces(*[1] * 9) == [[1] * 4, [1] * 4, [1]]
    assert pieces(60, 40, 1, 99, 100, 2) == [[60, 40], [1, 99], [100], [2]]
    assert pieces() == []
    with pytest.raises(UnsupportedRequest, match="takes 101 bytes, and a batch there takes 100"):
        pieces(1, 101)


def test_a_large_submission_is_split(office, monkeypatch):
    backend = office.providers.get_batch_backend(office.model)
    monkeypatch.setattr(type(backend), "largest_batch", (40, 190_000_000))
    submitted = office.submit(looks(100))
    assert [batch.requests for batch in submitted.batches] == [40, 40, 20]
    assert len({batch.tag for batch in submitted.batches}) == 3
    assert office.waiting(looks(100)) == 100


def test_of_two_that_submit_the_same_at_once_one_sends_each_request(each_office, url, opened):
    many, start = 200, Barrier(2)

    def submitted(turn):
        with Office(opened(url), each_office.images, each_office.provider) as office:
            start.wait()
            return office.submit(looks(many)[::turn])

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(submitted, [1, -1])
    sizes = [batch.requests for each in (first, second) for batch in each.batches]
    assert sum(sizes) == many
    assert first.waiting + second.waiting == many
    names = [
        name for batch in each_office.provider.batches.all.values() for name, _ in batch.requests
    ]
    assert sorted(names) == sorted(each_office.keys(looks(many)))
    assert each_office.money()[2] == many


# Money


def test_what_it_may_cost_is_reserved_at_the_price_of_a_batch(each_office):
    each_office.submit(looks(3))
    paid, possibly, _ = each_office.money()
    assert paid == 0
    online = each_office.model.model_copy(
        update={"price": each_office.model.price.model_copy(update={"batch_share": 1.0})}
    )
    bound = sum(submission.compute_cost_bound(online, request) for request in looks(3))
    assert possibly == bound / 2 > 3 * 100 * 10_000 / 2


def test_beyond_the_budget_no_batch_is_created(each_office, monkeypatch):
    office = each_office
    backend = office.providers.get_batch_backend(office.model)
    monkeypatch.setattr(type(backend), "largest_batch", (10, 190_000_000))
    each = submission.compute_cost_bound(office.model, looks(1)[0], "batch") / 1e9
    with pytest.raises(OverBudget, match="this run"):
        office.submit(looks(25), replace(ACCOUNT, per_run=20 * each))
    assert office.provider.received == []
    assert office.waiting(looks(25)) == 0
    assert office.calls.batches.list_by_state("submitting") == []
    assert office.money() == (0, 0, 0)
    assert len(office.submit(looks(25), replace(ACCOUNT, per_run=30 * each)).batches) == 3


def test_with_a_budget_a_price_has_to_be_known(office):
    model = model_at(office.provider, price={"input_per_million": 1.0, "output_per_million": 1.0})
    with pytest.raises(MissingPrice, match=r"lacks price.batch_share"):
        office.submit(looks(2), replace(ACCOUNT, per_month=5.0), model=model)
    assert office.created() == 0
    assert office.waiting(looks(2)) == 0
    assert len(office.submit(looks(2), model=model).batches) == 1


# What cannot be asked


def test_a_model_that_takes_no_batches_is_named(office):
    model = model_at(office.provider, "openai_compatible", roles=["judge"])
    with pytest.raises(
        UnsupportedRequest, match="judge takes no batches: the backend openai_compatible"
    ):
        office.submit(looks(1), model=model)


def test_a_role_is_needed_as_online(office):
    model = model_at(office.provider, roles=["judge"])
    with pytest.raises(UnsupportedRequest, match="has to be painter to paint"):
        office.submit([*looks(1), PaintRequest("A hen")], model=model)
    assert office.created() == 0
    assert office.waiting(looks(1)) == 0


def test_a_key_that_is_not_set_stops_it_at_once(office, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(KeyNotSet, match="OPENAI_API_KEY"):
        office.submit(looks(1))


def test_a_provider_that_takes_no_batch_leaves_nothing_waiting(office):
    office.provider.when(on("upload"), faults.INVALID_KEY)
    with pytest.raises(RequestsStopped, match=r"could not be created: HTTP 401.*submit again"):
        office.submit(looks(3))
    assert office.waiting(looks(3)) == 0
    assert office.money() == (0, 0, 0)


def test_batches_before_one_that_is_not_taken_stay(office, monkeypatch):
    backend = office.providers.get_batch_backend(office.model)
    monkeypatch.setattr(type(backend), "largest_batch", (10, 190_000_000))
    seen = []

    def the_second(received):
        seen.extend([received] if received.task == "create batch" else [])
        return received.task == "create batch" and len(seen) == 2

    office.provider.when(the_second, faults.INVALID_REQUEST)
    with pytest.raises(RequestsStopped, match="could not be created"):
        office.submit(looks(25))
    assert office.created() == 1
    assert office.waiting(looks(25)) == 10
    assert office.money()[2] == 10
    submitted = office.submit(looks(25))
    assert [batch.requests for batch in submitted.batches] == [10, 5]


# Interruptions


@pytest.mark.parametrize("fault", [faults.RATE_LIMITED, faults.SERVER_ERROR, faults.DROPPED])
def test_what_was_surely_not_taken_is_sent_again(office, fault):
    office.provider.when(on("upload"), fault, times=submission.ATTEMPTS - 1)
    office.submit_one(looks(3))
    assert office.created() == 1


def test_it_is_not_sent_again_for_ever(office):
    office.provider.when(on("upload"), faults.SERVER_ERROR)
    with pytest.raises(RequestsStopped, match="could not be created"):
        office.submit(looks(3))
    assert len(office.provider.received) == submission.ATTEMPTS
    assert office.waiting(looks(3)) == 0


def test_a_batch_that_was_created_unheard_is_found_at_once(backend, provider, office):
    with Office(office.calls, office.images, provider, backend) as each:
        provider.batches.course = lambda _: Course(heard=False)
        tag = each.submit_one(looks(3))
        assert each.created() == 1
        assert each.calls.batches.find(tag).provider_id in provider.batches.all
        assert each.calls.batches.find(tag).state == "running"


def test_where_nobody_can_tell_whether_it_was_created_it_is_not_created_again(office):
    office.provider.batches.course = lambda _: Course(heard=False)
    office.provider.when(on("list batches"), faults.SERVER_ERROR)
    with pytest.raises(RequestsStopped, match="was created is not known"):
        office.submit(looks(3))
    assert office.waiting(looks(3)) == 3
    assert office.submit(looks(3)).batches == []
    assert office.created() == 1


def after(office, monkeypatch, moment):
    """Let a batch be sent after a moment, and after others have looked for lost ones then."""
    backend = office.providers.get_batch_backend(office.model)
    whole = type(backend).submit

    async def late(self, requests, tag):
        await moment
        with Office(office.calls, office.images, office.provider) as other:
            assert other.recover_lost() == {}
        return await whole(self, requests, tag)

    monkeypatch.setattr(type(backend), "submit", late)


def test_one_that_others_have_given_up_is_cancelled(office, monkeypatch):
    """As where a machine sleeps while it sends."""
    monkeypatch.setattr(submission, "LEASE_S", -1.0)
    after(office, monkeypatch, asyncio.sleep(0))
    with pytest.raises(RequestsStopped, match="created after others had given it up"):
        office.submit(looks(3))
    (there,) = office.provider.batches.all.values()
    assert there.cancelled
    assert office.waiting(looks(3)) == 0
    assert office.money() == (0, 0, 0)


def test_one_that_cannot_be_cancelled_then_is_named(office, monkeypatch):
    monkeypatch.setattr(submission, "LEASE_S", -1.0)
    after(office, monkeypatch, asyncio.sleep(0))
    office.provider.batches.course = lambda batch: Course(polls=float("inf"))
    office.provider.when(on("cancel batch"), faults.SERVER_ERROR)
    with pytest.raises(RequestsStopped, match="cannot be cancelled") as stopped:
        office.submit(looks(3))
    (there,) = office.provider.batches.all.values()
    assert f"Cancel {there.id} at its provider" in str(stopped.value)


def test_while_it_is_sent_nobody_gives_it_up(office, monkeypatch):
    class Hasty(Event):
        def wait(self, timeout=None):
            return super().wait(timeout / 10_000)

    held, hold = Event(), BatchStore.acquire_leases

    def and_tell(*arguments):
        if found := hold(*arguments):
            held.set()
        return found

    # It is over at once, and renewed a moment later.
    monkeypatch.setattr(submission, "LEASE_S", -1.0)
    monkeypatch.setattr(lease, "Event", Hasty)
    monkeypatch.setattr(BatchStore, "acquire_leases", and_tell)
    after(office, monkeypatch, asyncio.to_thread(held.wait, 120))
    office.submit_one(looks(3))
    assert office.created() == 1
    assert office.waiting(looks(3)) == 3
