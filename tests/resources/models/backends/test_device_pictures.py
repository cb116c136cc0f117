"""The process of a device keeps a picture for as long as a request that shows it is under way."""

import multiprocessing
from hashlib import sha256

import psutil
import pytest

from resources.execution.worker_tasks import pack_task
from resources.models import backends
from resources.models.backends.devices import BackendService
from resources.models.device_workers import local_devices
from resources.models.replies import ModelReply
from resources.models.requests import EditRequest

MB = 2**20
SIZE = 3 * MB // 2


class Echo:
    """Answers with the digests of the pictures that it was shown."""

    def __init__(self, picture):
        self._picture = picture

    async def edit(self, request):
        return ModelReply(text=" ".join(digest(self._picture(name)) for name in request.images))


def digest(picture):
    return sha256(picture).hexdigest()


def serve_echo(pipe):
    backends.build_backend = lambda _model, _key, picture: Echo(picture)
    local_devices.serve(pack_task(BackendService, [(None, None)]), pipe)


@pytest.fixture
def device():
    """The pipe to a fresh process of a device, and its id."""
    pipe, its_pipe = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve_echo, args=(its_pipe,))
    process.start()
    yield pipe, process.pid
    process.kill()
    process.join()


@pytest.mark.slow
def test_300_edits_do_not_grow_it(device):
    pipe, pid = device
    memory = []
    for number in range(300):
        pictures = {"same": b"\0" * SIZE, f"{number}": number.to_bytes(2) * (SIZE // 2)}
        pipe.send((number, (EditRequest("bluer", images=tuple(pictures)), pictures)))
        answered, [(error, reply)] = pipe.recv()
        assert error is None
        assert (answered, reply.text.split()) == (number, [*map(digest, pictures.values())])
        memory.append(psutil.Process(pid).memory_info().rss)
    assert memory[-1] - memory[10] < 50 * MB


def test_of_two_requests_that_show_a_picture_each_has_it(device):
    pipe, _ = device
    for number in range(20):
        pipe.send((number, (EditRequest("bluer", images=("same",)), {"same": b"one"})))
    replies = dict(pipe.recv() for _ in range(20))
    texts = {number: reply.text for number, [(_, reply)] in replies.items()}
    assert texts == dict.fromkeys(range(20), digest(b"one"))
