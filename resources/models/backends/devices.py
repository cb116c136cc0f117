"""A local model on several devices: a worker holds it on each, shared by runs."""

import asyncio
from collections.abc import Callable, Mapping

from resources.execution.ray_cluster import find_ray_address
from resources.execution.worker_tasks import WorkerTask, pack_task
from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.device_workers.device_pool import DevicePool
from resources.models.device_workers.device_worker import DeviceSource
from resources.models.device_workers.local_devices import LocalDevices
from resources.models.device_workers.ray_devices import RayDevices
from resources.models.device_workers.service_host import Service
from resources.models.entry import ANY_GPU
from resources.models.pricing import list_images
from resources.models.replies import ModelReply
from resources.models.requests import Request, get_request_kind


class Devices:
    """A backend of which a worker of its own answers on each device."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._picture = picture
        self._pool = open_pool(model, key, BackendService, model.requests_per_device)
        self.ready, self.aclose = self._pool.ready, self._pool.aclose

    async def ask(self, request: Request) -> ModelReply:
        """The reply to a request, from the device with the fewest on their way to it."""
        pictures = {
            name: await asyncio.to_thread(self._picture, name) for name in list_images(request)
        }
        reply: ModelReply = await self._pool.ask(request, pictures)
        return reply

    paint = edit = look = write = score = ask


class BackendService:
    """The backend of a model on one device, in its worker."""

    def __init__(self, model: Model, key: str | None) -> None:
        from resources.models.backends import build_backend  # noqa: PLC0415 - it knows this module

        self._pictures = list[Mapping[str, bytes]]()
        """Pictures of each request under way."""
        self._backend = build_backend(model, key, self._find_picture)

    async def answer(self, request: Request, pictures: Mapping[str, bytes]) -> ModelReply:
        """The reply to a request that shows some pictures."""
        self._pictures.append(pictures)
        try:
            reply: ModelReply = await getattr(self._backend, get_request_kind(request))(request)
        finally:
            # By identity: requests may show equal pictures.
            self._pictures = [shown for shown in self._pictures if shown is not pictures]
        return reply

    def _find_picture(self, name: str) -> bytes:
        return next(pictures[name] for pictures in [*self._pictures] if name in pictures)


def open_pool(
    model: Model, key: str | None, build: Callable[[Model, str | None], Service], most: int
) -> DevicePool:
    """Open the pool of an entry's devices, with `most` requests at once on each.

    `build`, a module's class or function, builds what a worker holds.
    """
    from resources.models.backends import list_modules  # noqa: PLC0415 - it knows this module

    modules = [f"{__package__}.{name}" for name in list_modules(model.on_device(None))]

    def build_task(device: str | None) -> WorkerTask:
        return pack_task(build, [(model.on_device(device), key)], modules)

    return DevicePool(model.name, _find_source(model), build_task, most)


def _find_source(model: Model) -> DeviceSource:
    """Devices that an entry names on this machine, or so many GPUs, of the cluster if it is set."""
    devices, address = model.devices, find_ray_address()
    if ANY_GPU not in devices:
        return LocalDevices(model.name, devices)
    if address:
        return RayDevices(address, len(devices))
    return LocalDevices(model.name, [f"cuda:{number}" for number in range(len(devices))])
