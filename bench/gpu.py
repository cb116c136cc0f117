"""Local models on a GPU: images and answers a second, beside a plain loop of the library.

Ours is all that a run does: the call store, batches, PNG, several requests waiting. The plain loop
calls pipeline or network for one request after the other, on one GPU. `python -m bench.gpu tiny`
runs the same code with tiny models on the CPU, whose numbers are no result.
"""

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Any, NamedTuple

from PIL import Image

from bench.client import ask_timed, client_in, model_named, picture
from bench.figure import Figure, Unmeasured, answer, in_a_process
from resources.models.backends.local_models import import_library
from resources.models.requests import LookRequest, PaintRequest, Request, Turn

QUESTION = "How many of the small squares in this picture are red? Answer with a number."
NO_RESULT = "cpu, tiny: no result"
_SAMPLE_S = 0.5
_SIDE = 1024
_SQUARE = {"height": _SIDE, "width": _SIDE}


class LocalCase(NamedTuple):
    """A model that paints or looks, by its id on the Hub or a folder, and how much it is asked."""

    output: str
    backend: str
    model: str
    parameters: Mapping[str, Any]
    number: int
    note: str
    side: int = _SIDE


# Steps and guidance are those of the model cards. Z-Image-Turbo's says 9 steps, of which one did
# nothing (its own text: 8 forward passes) until diffusers dropped it (pull request 13730).
CASES = (
    LocalCase(
        *("images", "diffusers", "black-forest-labs/FLUX.1-dev"),
        {"num_inference_steps": 28, "guidance_scale": 3.5, **_SQUARE},
        *(16, "28 steps; published for one H100: xDiT 0.15 eager, 0.23 compiled"),
    ),
    LocalCase(
        *("images", "diffusers", "black-forest-labs/FLUX.2-klein-4B"),
        {"num_inference_steps": 4, "guidance_scale": 1.0, **_SQUARE},
        *(64, "4 steps; published for one H100: SGLang 2.5, diffusers 1.75"),
    ),
    LocalCase(
        *("images", "diffusers", "Tongyi-MAI/Z-Image-Turbo"),
        {"num_inference_steps": 8, "guidance_scale": 0.0, **_SQUARE},
        *(64, "8 steps; published for one H100: SGLang 1.1"),
    ),
    LocalCase(
        *("answers", "transformers", "llava-hf/llava-1.5-7b-hf"),
        {"max_new_tokens": 64},
        *(128, "64 tokens at most, pictures of 1,024 px"),
    ),
)


class Rate(NamedTuple):
    """Requests a second, and the utilisation of the GPU meanwhile in percent, if it is known."""

    per_second: float
    utilisation: float | None


def figures() -> Iterator[Figure | Unmeasured]:
    """Rates of each case, or that nothing was measured where there is no GPU."""
    if not in_a_process("bench.gpu", "find_cuda"):
        why = "torch finds no CUDA device here, so nothing was measured"
        yield Unmeasured("images and answers a second on a GPU", why)
        return
    for case in CASES:
        try:
            yield from compare(case)
        except subprocess.CalledProcessError:
            yield Unmeasured(f"{case.output} a second, {case.model}", "see the error above")


def compare(case: LocalCase) -> Iterator[Figure]:
    """The rate of a case by a run of ours, and by a plain loop."""
    rates = {
        how: Rate(*in_a_process("bench.gpu", how, json.dumps(case._asdict())))
        for how in ("run", "loop")
    }
    ours, plain = rates["run"], rates["loop"]
    title = f"{case.output} a second, {Path(case.model).name}"
    yield Figure(title, ours.per_second, "", note=case.note)
    yield Figure("by a plain loop", plain.per_second, "", note=case.note)
    for name, rate in (("the GPU's utilisation", ours), ("by a plain loop", plain)):
        if rate.utilisation is not None:
            yield Figure(name, rate.utilisation, "%", note=case.note)


def measure(how: str, case: str = "") -> Any:
    """One measurement in this process: `run` or `loop` of a case as JSON, or `find_cuda`."""
    if how == "find_cuda":
        return import_library("torch").cuda.is_available()
    local_case = LocalCase(**json.loads(case))
    return run(local_case) if how == "run" else loop(local_case)


def run(case: LocalCase) -> Rate:
    """The rate at which a run of ours gets answers, once the model is loaded and warm."""
    role = "painter" if case.backend == "diffusers" else "judge"
    terms = {"model": case.model, "parameters": dict(case.parameters)}
    model = model_named("local", case.backend, role, **terms)
    with TemporaryDirectory() as root, client_in(root) as client:
        requests = [
            _build_request(case, number, client.images.put) for number in range(case.number + 1)
        ]
        ask_timed(client, model, requests[:1])
        with watch_utilisation() as utilisation:
            seconds = ask_timed(client, model, requests[1:])
    return Rate(case.number / seconds, _mean(utilisation))


def loop(case: LocalCase) -> Rate:
    """The rate of calling the library for one request after the other."""
    answer_one = _load_painter(case) if case.backend == "diffusers" else _load_judge(case)
    answer_one(0)
    with watch_utilisation() as utilisation:
        started = perf_counter()
        for number in range(1, case.number + 1):
            answer_one(number)
        seconds = perf_counter() - started
    return Rate(case.number / seconds, _mean(utilisation))


@contextmanager
def watch_utilisation() -> Iterator[list[float]]:
    """Sample the utilisation of the first GPU by nvidia-smi; nothing where there is none."""
    samples: list[float] = []
    ended = Event()
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]

    def watch() -> None:
        while shutil.which(command[0]) and not ended.wait(_SAMPLE_S):
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
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
    processor = transformers.AutoProcessor.from_pretrained(case.model)
    network = transformers.AutoModelForImageTextToText.from_pretrained(case.model).to(device)
    pictures = [picture(case.side, number) for number in range(case.number + 1)]

    def look(number: int) -> None:
        image = Image.open(io.BytesIO(pictures[number])).convert("RGB")
        content = [{"type": "image", "image": image}, {"type": "text", "text": QUESTION}]
        inputs = processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(device, dtype=network.dtype)
        sequences = network.generate(**inputs, **case.parameters)
        processor.decode(sequences[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)

    return look


def tiny_cases(root: Path) -> tuple[LocalCase, ...]:
    """The same on models that are too small to mean anything."""
    tiny = import_module("tests.tiny")
    flux, llava = tiny.save_flux(root / "flux"), tiny.save_llava(root / "llava")
    side = {"height": tiny.SIDE, "width": tiny.SIDE}
    painting = {"num_inference_steps": 2, "guidance_scale": 0.0, "max_sequence_length": 32, **side}
    return (
        LocalCase("images", "diffusers", str(flux), painting, 4, NO_RESULT),
        LocalCase("answers", "transformers", str(llava), {"max_new_tokens": 4}, 4, NO_RESULT, 64),
    )


def print_tiny() -> None:
    """Print what tiny models do on the CPU, marked as no result."""
    with TemporaryDirectory() as root:
        for case in tiny_cases(Path(root)):
            for figure in compare(case):
                print(figure, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["tiny"]:
        print_tiny()
    else:
        answer(measure)
