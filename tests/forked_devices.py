"""Processes of devices that are forked from one with the libraries: each would take 6 s for them.

Imported by the conftest.py of tests that start some.
"""

import multiprocessing
from multiprocessing.forkserver import ForkServer

import pytest

_LOADED = (
    "resources.models.backends.diffusers",
    "diffusers.pipelines.flux.pipeline_flux",
    "transformers.models.t5.modeling_t5",
    "resources.models.backends.transformers",
    "transformers.models.llava.modeling_llava",
)


@pytest.fixture(scope="session")
def device_server():
    server = ForkServer()
    server.set_forkserver_preload([*_LOADED])
    yield server
    server._stop()


@pytest.fixture
def forked_devices(monkeypatch, tmp_path, device_server):
    """With locks of its own, and arithmetic that does not depend on how many cores there are."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    # For who asks for fresh processes alone: in a fork of one that has used a GPU, none can.
    contexts = {"spawn": multiprocessing.get_context("forkserver")}
    monkeypatch.setattr("multiprocessing.get_context", contexts.__getitem__)
    forked = device_server.connect_to_new_process
    monkeypatch.setattr("multiprocessing.forkserver.connect_to_new_process", forked)
