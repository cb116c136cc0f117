"""Slow work of each kind, as the steps of runs spread it."""

import json
import sys
from hashlib import sha256

from assets.frame.survival import to_outcome
from generators.domains import load_domain
from generators.perturbations.grids import COMMON_PERTURBATIONS
from generators.perturbations.pipeline import PerturbJob, perturb_png
from generators.perturbations.subject import EMPTY_SUBJECT
from generators.sketch import paint_sketch
from generators.sketch_reader import read_traits
from generators.survival import RereadJob
from generators.worker_jobs import DrawJob, ReadJob, draw_png, read_png
from resources.execution.workers import map_in_workers

_PROMPTS = (
    "A robin is on sand to the left of exactly two small red rocks.",
    "A penguin is in a field to the right of exactly four large white rocks.",
)


def paint(request):
    """A sketch of a prompt with a seed."""
    return paint_sketch(*request)


def do_all(map_items):
    """Do work of each kind, and yield its name and the results."""
    scenes = load_domain("flags").draw_module.list_scenes(seed=0)[:6]
    pngs = map_items(draw_png, [DrawJob("flags", scene, 256) for scene in scenes])
    yield "drawing", pngs
    yield (
        "measuring",
        map_items(
            read_png,
            [
                ReadJob("flags", png, tuple(scene.truths), is_legibility_read=True)
                for scene, png in zip(scenes, pngs, strict=True)
            ],
        ),
    )
    sketches = map_items(paint, [(prompt, str(seed)) for prompt in _PROMPTS for seed in range(3)])
    yield "sketching", sketches
    yield "reading back", map_items(read_traits, sketches)
    perturbations = COMMON_PERTURBATIONS[:2]
    yield (
        "perturbing",
        map_items(
            perturb_png,
            [
                PerturbJob(image=png, perturbations=perturbations, subject=EMPTY_SUBJECT, seed=seed)
                for seed, png in enumerate(pngs)
            ],
        ),
    )
    yield (
        "survival",
        map_items(
            to_outcome,
            [
                RereadJob(scene=scene, size=256, perturbations=perturbations, subject=EMPTY_SUBJECT)
                for scene in scenes
            ],
        ),
    )


def print_digests(are_workers_used):
    """Print digests of all results as JSON, by the kind of work."""
    digests = {
        name: [sha256(_to_bytes(result)).hexdigest() for result in results]
        for name, results in do_all(_map_in_workers if are_workers_used else _map_here)
    }
    sys.stdout.write(json.dumps(digests))


def _map_here(work, items):
    return [work(item) for item in items]


def _map_in_workers(work, items):
    return [result for _, result in map_in_workers(work, enumerate(items))]


def _to_bytes(result):
    return result if isinstance(result, bytes) else repr(result).encode()
