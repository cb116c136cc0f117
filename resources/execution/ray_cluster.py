"""The Ray cluster that a user names: its address, and this process's connection to it."""

import logging
import socket
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from importlib import import_module
from os import environ
from typing import Any
from urllib.parse import urlsplit

ADDRESS_VARIABLE = "COUNTERFACTORY_RAY_ADDRESS"
_REACHED_WITHIN_S = 10
_JOINED_WITHIN_S = 90
_CONNECTING = threading.Lock()
_FORM = (
    f"Set {ADDRESS_VARIABLE} to host:port of its head, as 10.0.0.1:6379, where this machine is a "
    "node of it (`ray start --address=host:port`), or to ray://host:10001 where it is none; "
    "without it, work is done by processes of this machine."
)


class RayUnavailable(Exception):
    """No connection to the Ray cluster, or Ray is not installed."""


def find_ray_address() -> str:
    """Return COUNTERFACTORY_RAY_ADDRESS; empty where work stays on this machine."""
    return environ.get(ADDRESS_VARIABLE, "")


def connect_to_ray(address: str) -> Any:
    """Join the cluster at an address, unless this process has; returns the module `ray`.

    Starts no cluster, and reports nothing to Ray's makers. Raises `RayUnavailable` within two
    minutes.
    """
    environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with _CONNECTING:
        require_listener(address)
        ray = _import_ray()
        if not ray.is_initialized():
            _join(ray, address)
    return ray


def require_listener(address: str) -> None:
    """Raise `RayUnavailable` where nothing listens at the address of a Ray cluster.

    Ray itself would wait for it for minutes.
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        if parts.scheme not in {"", "ray"} or not parts.hostname or not parts.port:
            raise ValueError("no host:port")
    except ValueError as problem:
        raise RayUnavailable(
            f"{ADDRESS_VARIABLE} is {address!r}, which is not the address of a Ray cluster. {_FORM}"
        ) from problem
    try:
        socket.create_connection((parts.hostname, parts.port), _REACHED_WITHIN_S).close()
    except OSError as error:
        raise RayUnavailable(
            f"The Ray cluster at {address} cannot be reached ({error}). {_FORM}"
        ) from error


def list_deaths(ray: Any) -> tuple[type[Exception], ...]:
    """List the errors of Ray that tell of a worker's death, and not of its work."""
    errors = ray.exceptions
    return (
        errors.WorkerCrashedError,
        errors.RayActorError,
        errors.NodeDiedError,
        errors.OutOfMemoryError,
        errors.ObjectLostError,
    )


def list_settings(*prefixes: str) -> dict[str, str]:
    """List the variables of this process's environment that Ray is to hand on to its workers."""
    return {name: value for name, value in environ.items() if name.startswith(prefixes)}


def _import_ray() -> Any:
    try:
        return import_module("ray")
    except ModuleNotFoundError as missing:
        raise RayUnavailable(
            f"{ADDRESS_VARIABLE} is set, and Ray is not installed. Install it: "
            "pip install 'counterfactory[ray]'"
        ) from missing


def _join(ray: Any, address: str) -> None:
    """Connect in another thread: in the main one, Ray would replace the handler of SIGTERM."""
    joined = Future[None]()

    def join() -> None:
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            joined.set_exception(error)
        else:
            joined.set_result(None)

    threading.Thread(target=join, daemon=True).start()
    try:
        joined.result(_JOINED_WITHIN_S)
    except FutureTimeoutError as error:
        raise RayUnavailable(
            f"{address} has not answered as a Ray cluster for {_JOINED_WITHIN_S} s. {_FORM}"
        ) from error
    except Exception as error:
        raise RayUnavailable(
            f"The Ray cluster at {address} refuses this process: {error} {_FORM}"
        ) from error
