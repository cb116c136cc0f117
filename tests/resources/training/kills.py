"""Killed trainings: `python -m tests.resources.training.kills BASE ROOT` tells of them as JSON.

Each is forked from one process that has loaded the libraries, and killed at another place; then
the same training goes on there.
"""

import dataclasses
import json
import os
import signal
import sys
from pathlib import Path

import transformers

from resources.training import training_progress as progress
from resources.training import worker
from resources.training.recipe import RankingRecipe, TuningRecipe
from tests.resources.training.small import QUICK, job, pairs, questions

FEW = QUICK | {
    "steps": 5,
    "save_steps": 2,
    "per_device_batch_size": 1,
    "gradient_accumulation_steps": 2,
}
PLACES = [
    *((progress._Progress, "on_log", step) for step in (1, 2, 3, 4, 5)),
    (transformers.Trainer, "_save_optimizer_and_scheduler", 2),
    (transformers.Trainer, "_save_rng_state", 2),
    (progress, "mark_whole", 1),
    (progress, "mark_whole", 2),
]
"""What is called when it is killed, and the how manieth time: checkpoints follow steps 2 and 4."""


def job_in(root, base, kind="ranking"):
    """A training of five steps, which draws samples or, in fine-tuning, what dropout leaves out."""
    root = Path(root, kind)
    if kind == "tuning":
        recipe = TuningRecipe(base=str(base), rank=8, alpha=16, **FEW)
        return job(root, base, questions(root, 7), kind=kind, recipe=recipe)
    recipe = RankingRecipe(base=str(base), num_generations=2, **FEW)
    return job(root, base, pairs(root, 4), recipe=recipe)


def whole(small):
    """The adapter's bytes of an undisturbed training."""
    worker.train(done := elsewhere(small, "whole"))
    return adapter_of(done)


def killed(small, wanted, places):
    """By place: whether it was killed there and then ended with the wanted bytes, and its steps."""
    found = []
    for number in places:
        again = elsewhere(small, f"killed {number}")
        was = is_killed(again, *PLACES[number])
        worker.train(again)
        steps = [line["step"] for line in progress.read_progress(Path(again.folder))]
        found.append({"killed": was, "same": adapter_of(again) == wanted, "steps": steps})
    return found


def main(base, root):
    jobs = [job_in(root, base, kind) for kind in ("ranking", "tuning")]
    found = [each for small in jobs for each in killed(small, whole(small), range(len(PLACES)))]
    sys.stdout.write(f"{json.dumps(found)}\n")


def elsewhere(small, name):
    """The same job in a folder of its own."""
    folder = Path(small.folder).with_name(name)
    folder.mkdir(parents=True)
    return dataclasses.replace(small, folder=str(folder))


def adapter_of(done):
    return (Path(done.folder) / "adapter" / "adapter_model.safetensors").read_bytes()


def is_killed(done, module, name, call):
    """Train in a process that is killed at that call of a function; whether it was."""
    child = os.fork()
    if child == 0:
        try:
            kill_at(module, name, call)
            worker.train(done)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def kill_at(module, name, call):
    real, calls = getattr(module, name), []

    def counted(*arguments, **named):
        calls.append(None)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)

    setattr(module, name, counted)


if __name__ == "__main__":
    main(*sys.argv[1:])
