"""GPUs of a Ray cluster: an actor on each, in a placement group of its own.

Placement groups are the leases: the cluster gives each to one run, ends them with the run's
process, and shows to all runs which ones are waited for.
"""

from concurrent.futures import Future
from functools import partial
from importlib import import_module
from textwrap import shorten
from typing import Any
from uuid import uuid4

from resources.execution.ray_cluster import connect_to_ray, list_deaths, list_settings
from resources.execution.worker_tasks import Reply, WorkerTask
from resources.models.device_workers.device_worker import (
    BuildTask,
    DeviceWorker,
    DeviceWorkerDied,
)
from resources.models.device_workers.service_host import ServiceHost
from resources.models.replies import ModelUnavailable

_GPU = {"GPU": 1}
_FIRST = "counterfactory first GPU "
"""Name of the placement group that a run without a GPU waits for, before its own id."""


class RayDevices:
    """GPUs of a Ray cluster, `count` at most, for one run; raises `ModelUnavailable` without one.

    Runs of all models share them: GPUs are leased by what is free, not by name.
    """

    def __init__(self, address: str, count: int) -> None:
        self._ray = connect_to_ray(address)
        self._groups = import_module("ray.util.placement_group")
        self._count = count
        self._name = f"{_FIRST}{uuid4().hex}"
        self._waiting: dict[str, Any] = {}
        self._first = ""
        """The id of the group that is waited for in sight of the others."""
        self._taken = 0
        gpus = int(self._ray.cluster_resources().get("GPU", 0))
        if not gpus:
            raise ModelUnavailable(
                f"No machine of the Ray cluster at {address} has a GPU, which `devices` in "
                "models.yaml asks for. Start one that has (`ray start` finds its GPUs), or name "
                "devices of this machine, as in [cuda:0] or [cpu]."
            )
        self.shortage = f"Other runs use all {gpus} GPUs of the Ray cluster"

    def take(self, build_task: BuildTask, *, has_device: bool) -> list[DeviceWorker]:
        """Start an actor on each GPU that the cluster gives, unless another run has none yet."""
        if has_device and self.do_others_wait():
            self.close()
            return []
        while self._taken + len(self._waiting) < self._count:
            self._request(is_first=not has_device and self._first not in self._waiting)
        table = self._groups.placement_group_table()
        ready = [key for key in self._waiting if table[key]["state"] == "CREATED"]
        workers: list[DeviceWorker] = [
            self._start(build_task(None), self._waiting.pop(key)) for key in ready
        ]
        if workers and self._first in self._waiting:
            # Others would take it for a run without any.
            self._groups.remove_placement_group(self._waiting.pop(self._first))
        return workers

    def do_others_wait(self) -> bool:
        """Return whether another run waits for its first GPU."""
        return any(
            group["name"].startswith(_FIRST)
            and group["name"] != self._name
            and group["state"] == "PENDING"
            for group in self._groups.placement_group_table().values()
        )

    def close(self) -> None:
        """Wait for nothing any more."""
        while self._waiting:
            self._groups.remove_placement_group(self._waiting.popitem()[1])

    def _request(self, *, is_first: bool) -> None:
        group = self._groups.placement_group([_GPU], name=self._name if is_first else "")
        self._waiting[group.id.hex()] = group
        if is_first:
            self._first = group.id.hex()

    def _start(self, task: WorkerTask, group: Any) -> "DeviceActor":
        strategies = import_module("ray.util.scheduling_strategies")
        actor = self._ray.remote(
            num_cpus=0,
            num_gpus=1,
            max_restarts=0,
            runtime_env={"env_vars": list_settings("COUNTERFACTORY_")},
            scheduling_strategy=strategies.PlacementGroupSchedulingStrategy(group),
        )(ServiceHost).remote(task)
        self._taken += 1
        return DeviceActor(self._ray, actor, partial(self._free, group))

    def _free(self, group: Any) -> None:
        self._taken -= 1
        self._groups.remove_placement_group(group)


class DeviceActor:
    """An actor with a `ServiceHost` on one GPU of the cluster, whose lease ends with it."""

    def __init__(self, ray: Any, actor: Any, free: Any) -> None:
        self._ray, self._actor, self._free = ray, actor, free
        self._deaths = list_deaths(ray)

    def ask(self, arguments: tuple[Any, ...]) -> Future[Reply]:
        """Send a request; the future raises `DeviceWorkerDied` where the actor has ended."""
        future = Future[Reply]()

        def hand_on(ended: Future[Reply]) -> None:
            error = ended.exception()
            if not future.set_running_or_notify_cancel():
                return
            if error is None:
                future.set_result(ended.result())
            elif isinstance(error, self._deaths):
                future.set_exception(_describe_death(error))
            else:
                future.set_exception(error)

        try:
            self._actor.answer.remote(arguments).future().add_done_callback(hand_on)
        except self._deaths as death:
            future.set_exception(_describe_death(death))
        return future

    def close(self) -> None:
        """End the actor, and free its GPU."""
        self._ray.kill(self._actor)
        self._free()


def _describe_death(error: BaseException) -> DeviceWorkerDied:
    return DeviceWorkerDied(f"on the Ray cluster: {shorten(str(error), 300)}")
