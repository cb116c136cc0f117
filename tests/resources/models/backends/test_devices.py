"""A model in several processes answers as it would in one, none twice, whichever is killed."""

import asyncio
import logging
import multiprocessing
import threading
import time

import pytest

from resources.attacks.device_attack import AttackService
from resources.models.backends import build_backend
from resources.models.backends.devices import open_pool
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import (
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    WriteRequest,
    compute_call_keys,
    get_request_kind,
)
from tests import tiny
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture
from tests.resources.models.conftest import LOG, client_at, closed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_devices")]

FLUX = {
    "num_inference_steps": 2,
    "height": tiny.SIDE,
    "width": tiny.SIDE,
    "guidance_scale": 0.0,
    "max_sequence_length": 32,
}
SEEDS = range(6)
RED, BLUE = picture("red"), picture("blue", (48, 32))


def painter(folder, *devices, **parameters):
    model = entry("diffusers", folder, **parameters)
    return model.model_copy(update={"devices": devices, "roles": ("painter",)})


def kill_one_once(root, pictures, others):
    """Kill a process that is none of the others once so many pictures are stored."""
    until = time.monotonic() + 600
    while len(list(root.glob("images/*/*.png"))) < pictures and time.monotonic() < until:
        time.sleep(0.01)
    children = [child for child in multiprocessing.active_children() if child not in others]
    assert len(children) == 2
    children[0].kill()


def test_two_processes_of_which_one_is_killed_paint_what_one_does(tmp_path):
    folder = tiny.save_flux(tmp_path / "flux")
    requests = [PaintRequest("a photo of a bird", seed) for seed in SEEDS]
    backend = build_backend(painter(folder, **FLUX), None, None)
    expected = [
        reply.pictures[0].data for reply in answers(backend, *(("paint", one) for one in requests))
    ]
    client = client_at(tmp_path)
    # Other tests of this process may have left workers that wait for drawings.
    others = multiprocessing.active_children()
    killing = threading.Thread(target=kill_one_once, args=(tmp_path, 2, others))
    killing.start()
    asked = client.ask(painter(folder, "cpu", "cpu", **FLUX), requests, LOG)
    killing.join()
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes)
    painted = [client.images.get(*outcome.images) for outcome in asked.outcomes]
    assert painted == expected
    # What it was painting, and what stood behind that, is sent to another.
    assert asked.sent == len(SEEDS)
    again = client.ask(painter(folder, "cpu", **FLUX), requests, LOG)
    assert (again.already_stored, again.sent) == (len(SEEDS), 0)
    closed(client)
    assert set(multiprocessing.active_children()) <= set(others)


def test_judge_metric_and_writer_in_two_processes_answer_as_in_one(tmp_path):
    folder, pictures = tiny.save_llava(tmp_path / "llava"), Pictures(RED, BLUE)
    words = [f"how many legs does {count} have?" for count in ("it", "a bird", "a horse")]
    looks = [LookRequest((Turn("user", text, (name,)),)) for text in words for name in pictures]
    scores = [ScoreRequest(text, name) for text in words for name in pictures]
    llama = tiny.save_llama(tmp_path / "llama")
    writes = [WriteRequest((Turn("user", text),)) for text in (*words, "a flag")]
    for model, requests, parameters in (
        (folder, looks, {"max_new_tokens": 6}),
        (folder, scores, {"formula": "expected_score"}),
        (llama, writes, {"max_new_tokens": 6}),
    ):
        alone = entry("transformers", model, **parameters)
        spread = alone.model_copy(update={"devices": ("cpu", "cpu")})
        assert compute_call_keys(alone, requests) == compute_call_keys(spread, requests)
        expected = asked(build_backend(alone, None, pictures), requests)
        assert asked(build_backend(spread, None, pictures), requests) == expected
        assert len({reply.text for reply in expected}) > 1


def asked(backend, requests):
    """The replies to requests; where there are devices, both have had some of them."""

    async def ask():
        if hasattr(backend, "ready"):
            await backend.ready(LOG)
        asking = [getattr(backend, get_request_kind(one))(one) for one in requests]
        replies = await asyncio.gather(*asking)
        if hasattr(backend, "ready"):
            members = backend._pool._members
            counts = [next(member.worker._numbers) for member in members]
            assert counts == [len(requests) / 2] * 2
        await backend.aclose()
        return replies

    return asyncio.run(ask())


def test_runs_share_devices_and_each_gets_one_before_any_gets_two(caplog):
    """No model is loaded: the processes wait for something to paint, or to attack."""
    model = painter("unused", "cpu:0", "cpu:1")
    caplog.set_level(logging.INFO)

    def devices(pool):
        return sorted(member.worker.device for member in pool._members)

    async def three_runs():
        first, second = (build_backend(model, None, None)._pool for _ in range(2))
        third = open_pool(model, None, AttackService, 1)
        await first.ready(LOG)
        assert devices(first) == ["cpu:0", "cpu:1"]
        await second.ready(LOG)
        assert (devices(first), devices(second)) == (["cpu:0"], ["cpu:1"])
        assert "Other runs use all devices" in caplog.text
        waiting = asyncio.create_task(third.ready(LOG))
        await asyncio.sleep(1.5)
        assert not waiting.done()
        await first.aclose()
        await waiting
        assert (devices(second), devices(third)) == (["cpu:1"], ["cpu:0"])
        await second.aclose()
        while devices(third) != ["cpu:0", "cpu:1"]:
            await asyncio.sleep(0.1)
        await third.aclose()

    asyncio.run(asyncio.wait_for(three_runs(), 600))
