"""Attacks: steps a second and memory on a tiny model, and, on a GPU, batches against one by one.

A step is that of one picture. The tiny model is a LLaVA-1.5 of random weights that sees 16 px; on a
GPU it has the shape of llava-hf/llava-1.5-7b-hf as far as it is attacked. Few of an attack's 500
steps are taken there, since all take as long, and the pictures per second at 500 are reckoned.
"""

import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from assets.vhexpansion.attack_runs import AttackRun, find_finished_attacks, make_attacks
from bench.client import model_named, picture
from bench.figure import Figure, Unmeasured, answer, in_a_process
from bench.machine import peak_megabytes
from bench.shapes import ATTACKED_LLAVA as LLAVA
from bench.shapes import save_llava
from resources.attacks.attack_parameters import AttackParameters
from resources.models.backends.local_models import import_library
from resources.models.catalog import Model
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

FEW, MANY, BATCH, STEPS, SIDE = 64, 512, 16, 20, 96
_PAPERS_STEPS = 500


class Taken(NamedTuple):
    """What attacks on so many pictures took; `megabytes` is this process's peak, or the GPU's."""

    pictures: int
    seconds: float
    megabytes: float

    def steps_a_second(self, steps: int) -> float:
        """Steps of all pictures."""
        return self.pictures * steps / self.seconds


def figures() -> Iterator[Figure | Unmeasured]:
    """On the tiny model by numbers of cases, and what a GPU makes of batches."""
    few, many = (Taken(*in_a_process("bench.attacks", "tiny", number)) for number in (FEW, MANY))
    yield Figure("steps a second, tiny model, CPU", many.steps_a_second(STEPS), "steps")
    yield Figure(
        "the same of fewer cases", few.steps_a_second(STEPS), "steps", note=f"{FEW}, not {MANY}"
    )
    grown = many.megabytes - few.megabytes
    note = f"{few.megabytes:.0f} MB for {FEW} cases, {many.megabytes:.0f} MB for {MANY}"
    yield Figure("memory for further cases", 1000 * grown / (MANY - FEW), "KB per case", 40, note)
    found = in_a_process("bench.attacks", "gpu", 4 * BATCH)
    if found is None:
        why = "torch finds no CUDA device here"
        yield Unmeasured("pictures per second on a GPU, LLaVA-1.5's shape, in batches", why)
        yield Unmeasured("one by one, as a share of that", why)
        yield Unmeasured("memory of the GPU", why)
        return
    batched, single = (Taken(*each) for each in found)
    rates = [each.steps_a_second(STEPS) / _PAPERS_STEPS for each in (batched, single)]
    told = f"{BATCH} at once, bfloat16, 336 px"
    yield Figure(
        "pictures per second on a GPU, LLaVA-1.5's shape, in batches", rates[0], "", note=told
    )
    yield Figure("one by one, as a share of that", 100 * rates[1] / rates[0], "%", 50)
    yield Figure("memory of the GPU", batched.megabytes, "MB")


def measure(what: str, number: str) -> Any:
    """One measurement, in this process: `tiny` on the CPU, or `gpu` batched and one by one."""
    with TemporaryDirectory() as root:
        if what == "tiny":
            return tiny(Path(root), int(number))
        return gpu(Path(root), int(number)) if import_library("torch").cuda.is_available() else None


def tiny(root: Path, number: int) -> Taken:
    """Attacks on so many pictures by the tiny model, with stores and work_cache, on one thread."""
    folder = import_module("tests.tiny").save_llava(root / "llava")
    seconds = attack(root, entry(folder, batch=BATCH), number, SIDE)
    return Taken(number, seconds, peak_megabytes())


def gpu(root: Path, number: int) -> list[Taken]:
    """Attacks on so many pictures of 336 px by LLaVA-1.5's shape: in batches, then one by one."""
    folder, cuda = root / "llava", import_library("torch").cuda
    save_llava(folder, LLAVA)
    found = []
    for batch, pictures in ((BATCH, number), (1, number // 4)):
        encoder = entry(folder, batch=batch, dtype="bfloat16")
        # Loads, and warms up.
        attack(root / f"warm{batch}", encoder, batch, 336)
        cuda.reset_peak_memory_stats()
        seconds = attack(root / f"by{batch}", encoder, pictures, 336)
        found.append(Taken(pictures, seconds, cuda.max_memory_allocated() / 1e6))
    return found


def attack(root: Path, encoder: Model, number: int, side: int, steps: int | None = None) -> float:
    """Seconds to attack so many pictures by I-FGSM; loading and storing the originals apart."""
    images, work_cache = ImageStore(root=str(root)), WorkCache(root=str(root))
    setting = AttackParameters(iterations=steps or STEPS).model_dump_json()
    case = {"method": "i_fgsm", "objective": "lower", "parameters": setting, "seed": 0}
    case |= {"question": "Is there a dog?", "outcome": None}
    rows = [{**case, "original": images.put(picture(side, each))} for each in range(number)]
    attacking = AttackRun(encoder, None, None, logging.getLogger(__name__))
    started = perf_counter()
    pending = find_finished_attacks(rows, encoder, images, work_cache)
    made = make_attacks(pending, attacking, images, work_cache)
    seconds = perf_counter() - started
    assert all(row["outcome"] != "pending" for row in made)
    return seconds


def entry(folder: Path, **parameters: Any) -> Model:
    """The entry of an encoder in a folder."""
    terms = {"model": str(folder), "parameters": parameters}
    return model_named("llava", "transformers", "encoder", **terms)


if __name__ == "__main__":
    answer(measure)
