"""Local models on GPUs of a Ray cluster, which counts two where there are none."""

import asyncio
import json
import re

import pytest

from resources.execution.worker_tasks import CodeContents, OtherCode, pack_task, read_outcomes
from resources.models.backends.devices import BackendService
from resources.models.device_workers.service_host import ServiceHost
from tests import tiny

ANSWERED = """
import asyncio, json, os, signal, sys
from pathlib import Path
import ray
from ray._private import state
from resources.attacks.attack import EncoderAttack
from resources.attacks.attack_parameters import AttackParameters
from resources.attacks.device_attack import DeviceAttacks
from resources.models.backends import build_backend
from resources.models.replies import ModelUnavailable
from resources.models.requests import (
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    get_request_kind,
)
from tests import tiny
from tests.resources.attacks.encoders import picture as soft_picture
from tests.resources.attacks.encoders import work
from tests.resources.models.backends.local_models import Pictures, entry, picture
from tests.resources.models.conftest import LOG

async def reach(number, *backends):
    while [len(backend._pool._members) for backend in backends] != [number] * len(backends):
        for backend in backends:
            if backend._pool._failure is not None:
                raise backend._pool._failure
        await asyncio.sleep(0.1)

PICTURES = Pictures(picture("red"), picture("blue", (48, 32)))
SETTINGS = {
    "height": tiny.SIDE, "width": tiny.SIDE, "guidance_scale": 0.0,
    "num_inference_steps": 2, "max_sequence_length": 32,
}
JUDGE = entry("transformers", FOLDER, max_new_tokens=6)
PAINTER = entry("diffusers", FLUX, **SETTINGS)
METRIC = entry("transformers", FOLDER, formula="expected_score")
QUESTIONS = [
    LookRequest((Turn("user", f"how many legs does bird {number} have?", (name,)),))
    for number in range(4) for name in PICTURES
]
PAINTS = [PaintRequest("a photo of a bird", seed) for seed in range(4)]
SCORES = [ScoreRequest(text, name) for text in ("it has four legs", "a flag") for name in PICTURES]

POOLS = []

def build(model, *devices):
    backend = build_backend(model.model_copy(update={"devices": devices}), None, PICTURES)
    if devices:
        POOLS.append(backend._pool._members)
    return backend

async def ask(backend, requests):
    function = getattr(backend, get_request_kind(requests[0]))
    return [reply.text or reply.pictures[0].data
            for reply in await asyncio.gather(*map(function, requests))]

async def ask_once(backend, requests):
    replies = await ask(backend, requests)
    await backend.aclose()
    return replies

async def answer():
    ray_backend = build(JUDGE, "gpu", "gpu")
    await ray_backend.ready(LOG)
    await reach(2, ray_backend)
    actors = [member.worker._actor for member in ray_backend._pool._members]
    seen = await asyncio.gather(*(actor.__ray_call__.remote(look_around) for actor in actors))
    # Stopped, they answer nothing before one of them is killed.
    for pid, *_ in seen:
        os.kill(pid, signal.SIGSTOP)
    asking = [asyncio.create_task(ray_backend.look(request)) for request in QUESTIONS]
    members = ray_backend._pool._members
    while not all(member.pending for member in members):
        await asyncio.sleep(0.1)
    interrupted = len(members[0].pending)
    os.kill(seen[0][0], signal.SIGKILL)
    os.kill(seen[1][0], signal.SIGCONT)
    answers = [reply.text for reply in await asyncio.gather(*asking)]
    while any(member.worker._actor is actors[0] for member in members):
        await asyncio.sleep(0.1)
    await reach(2, ray_backend)

    other = build(PAINTER, "gpu", "gpu")
    await other.ready(LOG)
    await reach(1, ray_backend, other)
    painted = await ask_once(other, PAINTS)
    await reach(2, ray_backend)
    await ray_backend.aclose()
    metric = build(METRIC, "gpu")
    await metric.ready(LOG)
    scored = await ask_once(metric, SCORES)

    cluster_resources, ray.cluster_resources = ray.cluster_resources, dict
    try:
        build(JUDGE, "gpu")
    except ModelUnavailable as fault:
        error = str(fault)
    ray.cluster_resources = cluster_resources
    pairs = [
        (replies, await ask_once(build(model), requests))
        for model, requests, replies in (
            (JUDGE, QUESTIONS, answers), (PAINTER, PAINTS, painted), (METRIC, SCORES, scored)
        )
    ]
    return {
        "same": [replies == expected for replies, expected in pairs],
        "distinct": [len(set(replies)) for replies, _ in pairs],
        "interrupted": interrupted,
        "seen": seen,
        "error": error,
    }

def look_around(host):
    return os.getpid(), os.environ["CUDA_VISIBLE_DEVICES"], os.environ["COUNTERFACTORY_MARK"]

def attack():
    alone = entry("transformers", FOLDER)
    jobs = [work(soft_picture(40, 64), parameters=AttackParameters(iterations=5))]
    attacks = DeviceAttacks(alone.model_copy(update={"devices": ("gpu",)}), None, LOG)
    results = attacks.attack(jobs, lambda *_: None)
    attacks.close()
    return results == EncoderAttack(alone, None).attack(jobs, lambda *_: None) != []

async def answer_within(seconds):
    try:
        return await asyncio.wait_for(answer(), seconds)
    except TimeoutError as error:
        groups = ray.util.placement_group_table().values()
        leases = [(group["name"], group["state"]) for group in groups]
        actors = [(actor["State"], actor["Pid"]) for actor in state.actors().values()]
        error.add_note(f"{POOLS} {leases} {actors} {ray.available_resources()}")
        raise

report = asyncio.run(answer_within(600))
Path(REPORT).write_text(json.dumps(report | {"attacked": attack()}))
"""


@pytest.mark.slow
def test_models_on_two_gpus_of_which_one_is_killed_and_attacks_are_as_in_one_process(
    ray_cluster, tmp_path
):
    folder, report = tiny.save_llava(tmp_path / "llava"), tmp_path / "report.json"
    flux = tiny.save_flux(tmp_path / "flux")
    places = {"FOLDER": folder, "FLUX": flux, "REPORT": report}
    script = re.sub("|".join(places), lambda name: repr(str(places[name[0]])), ANSWERED)
    ended = ray_cluster.run(script, OMP_NUM_THREADS="1", COUNTERFACTORY_MARK="here")
    assert ended.returncode == 0, ended.stderr
    answered = json.loads(report.read_text())
    assert answered["same"] == [True] * 3
    assert min(answered["distinct"]) > 1
    assert answered["attacked"]
    assert answered["interrupted"] > 0
    assert sorted(gpu for _, gpu, _ in answered["seen"]) == ["0", "1"]
    assert {mark for _, _, mark in answered["seen"]} == {"here"}
    assert "has a GPU, which `devices` in models.yaml asks for. Start one" in answered["error"]


def test_a_worker_of_a_device_refuses_a_task_for_other_code():
    task = pack_task(BackendService, [(None, None)])
    with_backend = pack_task(
        BackendService, [(None, None)], ["resources.models.backends.transformers"]
    )
    assert with_backend.fingerprint != task.fingerprint
    reply = asyncio.run(ServiceHost(task._replace(fingerprint="other")).answer(()))
    assert isinstance(reply, CodeContents)
    with pytest.raises(OtherCode, match="It computed nothing"):
        read_outcomes(task, reply)
