"""The sections of `bench.gpu`, each in a process of its own that prints its rows as they come."""

import contextlib
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Any, NamedTuple

from PIL import Image

from bench.client import ask_timed, client_in, model_named, picture
from bench.gpu import Row
from bench.machine import peak_megabytes
from bench.shapes import ATTACKED_LLAVA, FLUX, LLAVA, TINY_LLAVA, save_flux, save_llava
from resources.models.backends.default_batch import read_choices
from resources.models.backends.local_models import import_library
from resources.models.requests import LookRequest, PaintRequest, Request, Turn

QUESTION = "How many of the small squares in this picture are red? Answer with a number."
SAMPLE_S = 0.5
_LEAST = 4
"""Requests that a rate rests on, at least."""
_LOOP_S = {"full": 30.0, "tiny": 0.5}
"""Seconds for which a plain loop is measured, by the size of the models; ours gets as many
requests as the loop would answer in twice the time."""


class LocalCase(NamedTuple):
    """A model in a folder that paints or looks; the loop's requests have to end within `most_s`."""

    output: str
    backend: str
    model: str
    parameters: Mapping[str, Any]
    side: int
    most_s: float
    note: str


class Rate(NamedTuple):
    """Requests a second, peak memory in GB, and the GPU's utilisation in percent, if known."""

    per_second: float
    gigabytes: float
    utilisation: float | None


def painting(folder: Path, size: str) -> Iterator[Row]:
    """Images a second by FLUX.1's blocks and autoencoder."""
    side = {"full": 1024, "tiny": 16}[size]
    weights = save_flux(folder / "painter", FLUX if size == "full" else None)
    parameters = {"num_inference_steps": 4, "guidance_scale": 0.0, "height": side, "width": side}
    yield from compare(
        LocalCase(
            *("images", "diffusers", str(folder / "painter")),
            {**parameters, "max_sequence_length": 32},
            *(side, _LOOP_S[size]),
            f"FLUX.1's blocks, {weights / 1e9:.2g} billion weights, {side} px, 4 steps",
        )
    )


def answering(folder: Path, size: str) -> Iterator[Row]:
    """Answers a second by LLaVA-1.5's shape."""
    weights = _save_judge(folder, size)
    tokens = {"full": 64, "tiny": 4}[size]
    parameters: dict[str, Any] = {"max_new_tokens": tokens, "min_new_tokens": tokens}
    side = {"full": 1024, "tiny": 64}[size]
    if size == "full":
        parameters["dtype"] = "bfloat16"
    yield from compare(
        LocalCase(
            *("answers", "transformers", str(folder / "judge"), parameters, side, _LOOP_S[size]),
            f"LLaVA-1.5's shape, {weights / 1e9:.2g} billion weights, {tokens} tokens, {side} px",
        )
    )


def training_steps(folder: Path, size: str) -> Iterator[Row]:
    """Steps a second and memory of LoRA by GRPO at 7B shape, ours and by TRL alone."""
    training = import_module("bench.training")
    steps = {"full": (1, 1 + training.LARGE_STEPS), "tiny": (1,)}[size]
    terms = training.LARGE if size == "full" else {"dtype": "float32"}
    _save_judge(folder, size)
    for how, train in (("ours", training.ours), ("TRL's bare trainer", training.bare)):
        seconds = []
        with watch_utilisation() as utilisation:
            for number in steps:
                root = folder / f"training {how} {number}"
                job = training.job_of(root, number, base=folder / "judge", **terms)
                _free_memory()
                rate, megabytes = train(job)
                seconds.append(number / rate)
        # Loading and saving are in both, and not in the difference.
        step = (seconds[-1] - seconds[0]) / (steps[-1] - steps[0]) if seconds[1:] else seconds[0]
        note = f"LoRA by GRPO, LLaVA-1.5's shape, {how}"
        yield Row("a step", step, "s", note=note)
        yield Row("peak memory", megabytes / 1000, "GB", note=note)
        if busy := _mean(utilisation):
            yield Row("GPU's utilisation", busy, "%", note=f"{note}, with loading")


def attacking(folder: Path, size: str) -> Iterator[Row]:
    """Attack steps a second, in batches and one by one."""
    attacks = import_module("bench.attacks")
    shape = ATTACKED_LLAVA if size == "full" else TINY_LLAVA
    side, dtype = shape["vision_config"]["image_size"], {"full": "bfloat16", "tiny": "float32"}
    save_llava(folder / "attacked", shape)
    rates, peaks = [], []
    batch, steps = {"full": (attacks.BATCH, attacks.STEPS), "tiny": (2, 2)}[size]
    utilisations = []
    for at_once, pictures in ((batch, 4 * batch), (1, batch)):
        entry = attacks.entry(folder / "attacked", batch=at_once, dtype=dtype[size])
        attacks.attack(folder / f"warm {at_once}", entry, at_once, side, steps)
        _free_memory()
        with watch_utilisation() as utilisation:
            seconds = attacks.attack(folder / f"by {at_once}", entry, pictures, side, steps)
        utilisations.append(_mean(utilisation))
        rates.append(pictures * steps / seconds)
        peaks.append(_peak_gigabytes())
    note = f"I-FGSM, LLaVA-1.5's shape as far as it is attacked, {batch} at once, {side} px"
    yield Row("steps of a picture a second", rates[0], "", rates[1], "one by one", note)
    yield Row("peak memory", peaks[0], "GB", peaks[1], "one by one", note)
    if utilisations[0] is not None:
        yield Row("GPU's utilisation", utilisations[0], "%", utilisations[1], "one by one", note)


def compare(case: LocalCase) -> Iterator[Row]:
    """The rate of a case by a plain loop and by a run of ours, in this order, and its memory."""
    _free_memory()
    plain = loop(case)
    _free_memory()
    ours, batch = run(case, max(_LEAST, int(2 * plain.per_second * case.most_s)))
    peer, note = "plain loop", f"{case.note}; batch {batch} chosen"
    yield Row(f"{case.output} a second", ours.per_second, "", plain.per_second, peer, note)
    yield Row("peak memory", ours.gigabytes, "GB", plain.gigabytes, peer, note)
    if ours.utilisation is not None:
        yield Row("GPU's utilisation", ours.utilisation, "%", plain.utilisation, peer, note)


def run(case: LocalCase, number: int) -> tuple[Rate, int]:
    """The rate of a run of ours, once the model is loaded and warm, and the batch it chose."""
    role = "painter" if case.backend == "diffusers" else "judge"
    terms = {"model": case.model, "parameters": dict(case.parameters), "concurrency": 64}
    model = model_named("local", case.backend, role, **terms)
    with TemporaryDirectory() as root, client_in(root) as client:
        # The first request shows how large a batch may be, and the next ones are such a batch.
        ask_timed(client, model, [_build_request(case, 0, client.images.put)])
        batch = next(iter(read_choices().values()), 1)
        requests = [
            _build_request(case, place, client.images.put) for place in range(1, 1 + batch + number)
        ]
        ask_timed(client, model, requests[:batch])
        with watch_utilisation() as utilisation:
            seconds = ask_timed(client, model, requests[batch:])
    return Rate(number / seconds, _peak_gigabytes(), _mean(utilisation)), batch


def loop(case: LocalCase) -> Rate:
    """The rate of calling the library for one request after the other, until the time is over."""
    answer_one = _load_painter(case) if case.backend == "diffusers" else _load_judge(case)
    answer_one(0)
    with watch_utilisation() as utilisation:
        started = perf_counter()
        for number in count(1):
            answer_one(number)
            seconds = perf_counter() - started
            if number >= _LEAST and seconds >= case.most_s:
                break
    return Rate(number / seconds, _peak_gigabytes(), _mean(utilisation))


@contextmanager
def watch_utilisation() -> Iterator[list[float]]:
    """Sample the utilisation of the first GPU by nvidia-smi; nothing where there is none."""
    samples: list[float] = []
    ended = Event()
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]

    def watch() -> None:
        while shutil.which(command[0]) and not ended.wait(SAMPLE_S):
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            # A part of a GPU has none.
            with contextlib.suppress(ValueError, IndexError):
                samples.append(float(printed.splitlines()[0]))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield samples
    finally:
        ended.set()
        watcher.join()


def _mean(samples: list[float]) -> float | None:
    return fmean(samples) if samples else None


def _free_memory() -> None:
    """Give free memory back, and measure the peak of what follows."""
    import_module("gc").collect()
    cuda = import_library("torch").cuda
    if cuda.is_available():
        cuda.empty_cache()
        cuda.reset_peak_memory_stats()


def _peak_gigabytes() -> float:
    """The GPU's peak memory, or without one this process's."""
    cuda = import_library("torch").cuda
    return float(
        cuda.max_memory_allocated() / 1e9 if cuda.is_available() else peak_megabytes() / 1e3
    )


def _save_judge(folder: Path, size: str) -> int:
    """Save the judge that answering and training share, once; returns its number of weights."""
    counted = folder / "judge weights"
    if not counted.exists():
        shape = LLAVA if size == "full" else TINY_LLAVA
        counted.write_text(str(save_llava(folder / "judge", shape)))
    return int(counted.read_text())


def _build_request(case: LocalCase, number: int, store: Callable[[bytes], str]) -> Request:
    if case.backend == "diffusers":
        return PaintRequest(_prompt(number), seed=number)
    return LookRequest((Turn("user", QUESTION, (store(picture(case.side, number)),)),))


def _prompt(number: int) -> str:
    return f"a photo of bird {number} on a branch"


def _load_painter(case: LocalCase) -> Callable[[int], None]:
    torch, diffusers = import_library("torch"), import_library("diffusers")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    pipeline = diffusers.DiffusionPipeline.from_pretrained(case.model, dtype=dtype).to(device)
    pipeline.set_progress_bar_config(disable=True)

    def paint(number: int) -> None:
        noise = torch.Generator("cpu").manual_seed(number)
        image = pipeline(_prompt(number), generator=noise, **case.parameters).images[0]
        image.save(io.BytesIO(), "PNG")

    return paint


def _load_judge(case: LocalCase) -> Callable[[int], None]:
    torch, transformers = import_library("torch"), import_library("transformers")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parameters = {**case.parameters}
    dtype = parameters.pop("dtype", "auto")
    processor = transformers.AutoProcessor.from_pretrained(case.model)
    network = transformers.AutoModelForImageTextToText.from_pretrained(case.model, dtype=dtype)
    network.to(device)
    pictures = [picture(case.side, number) for number in range(_LEAST)]

    def look(number: int) -> None:
        image = Image.open(io.BytesIO(pictures[number % _LEAST])).convert("RGB")
        content = [{"type": "image", "image": image}, {"type": "text", "text": QUESTION}]
        inputs = processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(device, dtype=network.dtype)
        sequences = network.generate(**inputs, **parameters)
        processor.decode(sequences[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)

    return look


SECTIONS: Mapping[str, Callable[[Path, str], Iterator[Row]]] = {
    "painting": painting,
    "answering": answering,
    "training": training_steps,
    "attacks": attacking,
}


def main(what: str, *terms: str) -> None:
    """Print the rows of a section as JSON lines; or, of `find_cuda`, whether there is a GPU."""
    if what == "find_cuda":
        print(json.dumps(import_library("torch").cuda.is_available()))
        return
    folder, size = terms
    printed = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        for row in SECTIONS[what](Path(folder), size):
            print(json.dumps(row), file=printed, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
