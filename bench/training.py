"""Training a tiny model: ours against TRL's bare trainers, five seeds, kills, and processes.

Bare are `GRPOTrainer` and `SFTTrainer` as TRL's examples for vision-language models have them, with
the same model, rows in memory, arguments, and a reward that ranks the same: without reading
pictures from the store, checkpoints that are held whole, progress and checks. Both save as often;
seconds are of processor time, on one thread. A model of 69,000 weights makes a step in a tenth of
a second, so that all of ours weighs far more here than at 7B. Where there is a GPU, GRPO trains
random weights in the shape of llava-hf/llava-1.5-7b-hf on it as well.
"""

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from bench.figure import Figure, Unmeasured, answer, in_a_process
from bench.machine import peak_megabytes
from bench.shapes import LLAVA, save_llava
from resources.models.backends.local_models import import_library
from resources.models.backends.scoring.expected_score import MAX_ANSWER_TOKENS
from resources.training import launch, worker
from resources.training.job import TrainingJob
from resources.training.recipe import RankingRecipe, TuningRecipe
from resources.training.training_errors import TrainingError

STEPS, SEEDS, ROUNDS = 80, 5, 3
TIMED = {"ranking": 40, "tuning": 200}
"""Steps of a timed training, by its kind."""
TRAINERS = {"ranking": "GRPOTrainer", "tuning": "SFTTrainer"}
HELD_OUT, MOST_S, MOST_FAILURES = 100, 60.0, 0.1
LARGE_STEPS, LARGE_ITEMS, PAPERS_S = 5, 64, 2.67
"""On a GPU: steps, items that are scored, and the seconds an item that the paper gives (§3.3)."""
# One pair at once and activations computed again, as by default at that size.
LARGE: Mapping[str, Any] = {
    "dtype": "bfloat16",
    "per_device_batch_size": 1,
    "gradient_checkpointing": True,
    "learning_rate": 1e-5,
}
_CPU = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
"""One thread: what is killed is forked, and a fork waits forever for threads that it has not."""


def figures() -> Iterator[Figure | Unmeasured]:
    """Speed and memory against the bare trainer, what is learned, and what survives."""
    for kind, name in TRAINERS.items():
        yield from _beside(kind, f"TRL's bare {name}")
    longest = 0.0
    for seed in range(SEEDS):
        before, after, seconds = _on_cpu("learned", seed)
        longest, note = max(longest, seconds), f"{before:.0%} before"
        what = f"misranked held-out pairs after {STEPS} steps, seed {seed}"
        yield Figure(what, 100 * after, "%", 100 * MOST_FAILURES, note)
    yield Figure("processor time of the longest of these", longest, "s", MOST_S)
    same, kills = _on_cpu("killed")
    yield Figure("killed runs that end with other bytes", kills - same, "", 0, f"{kills} kills")
    for number in (2, 4):
        processes, torn = _on_cpu("processes", number)
        note = f"{processes} processes"
        yield Figure(f"torn pairs over {number} processes", torn, "", 0, note)
    yield from _large()


def _beside(kind: str, peer: str) -> Iterator[Figure]:
    """Speed and memory of ours and of the bare trainer, in turn."""
    rounds = [{how: _on_cpu(how, kind) for how in ("bare", "ours")} for _ in range(ROUNDS)]
    rates = {how: max(each[how][0] for each in rounds) for how in ("bare", "ours")}
    memory = {how: min(each[how][1] for each in rounds) for how in ("bare", "ours")}
    yield Figure(f"steps a second of processor time, {peer}", rates["bare"], "steps")
    note = f"ours {rates['ours']:.2f}, best of {ROUNDS} rounds"
    slower = 100 * (rates["bare"] / rates["ours"] - 1)
    yield Figure(f"time of ours above {peer}", slower, "%", 10, note)
    yield Figure(f"peak memory, {peer}", memory["bare"], "MB")
    more = 100 * (memory["ours"] / memory["bare"] - 1)
    yield Figure(f"peak memory of ours above {peer}", more, "%", 10, f"{memory['ours']:.0f} MB")


def _on_cpu(*what: object) -> Any:
    return in_a_process("bench.training", *what, environment=_CPU)


def _large() -> Iterator[Figure | Unmeasured]:
    """The same at 7B shape in bfloat16, on a GPU, and the seconds that a score takes."""
    trained = "steps a second, 7B shape on a GPU, ours"
    bare, ours, scored = (
        in_a_process("bench.training", "large", how) for how in ("bare", "ours", "scored")
    )
    if ours is None:
        why = "torch finds no CUDA device here"
        yield Unmeasured(trained, why)
        yield Unmeasured("memory of the GPU", why)
        yield Unmeasured("seconds to score an item with an adapter", why)
        return
    yield Figure(trained, ours[0], "steps", note=f"TRL's bare trainer {bare[0]:.3f}")
    yield Figure("ours above the bare trainer", 100 * (bare[0] / ours[0] - 1), "%", 10)
    note = f"TRL's bare trainer {bare[1]:.0f} MB"
    yield Figure("memory of the GPU", ours[1], "MB", note=note)
    yield Figure("seconds to score an item with an adapter", scored, "s", PAPERS_S)


def measure(what: str, *more: str) -> Any:
    """One measurement, in this process."""
    with TemporaryDirectory() as root, contextlib.redirect_stdout(io.StringIO()):
        work: Mapping[str, Callable[..., Any]] = {
            "bare": lambda root, kind: bare(timed(root, kind)),
            "ours": lambda root, kind: ours(timed(root, kind)),
            "large": large,
            "learned": lambda root, seed: learned(root, int(seed)),
            "killed": killed,
            "processes": lambda root, number: processes(root, int(number)),
        }
        return work[what](Path(root), *more)


def large(root: Path, how: str, shape: Mapping[str, Any] = LLAVA) -> Any:
    """What `bare`, `ours` or `scored` gives at 7B shape on a GPU; None where there is none."""
    if shape is LLAVA and not import_library("torch").cuda.is_available():
        return None
    base = root / "base"
    save_llava(base, shape)
    job = job_of(root, LARGE_STEPS, base=base, **LARGE)
    if how != "scored":
        return bare(job) if how == "bare" else ours(job)
    worker.train(job)
    return scored(root, job)


def scored(root: Path, job: TrainingJob) -> float:
    """Seconds to score an item with the adapter of a finished job; loading apart."""
    small = import_module("tests.resources.training.small")
    adapter = str(Path(job.folder) / worker.ADAPTER)

    def seconds(items: int) -> float:
        held_out, started = small.pairs(root, items // 2), perf_counter()
        small.scores(root, job.base.model, held_out, adapter=adapter, dtype="bfloat16", batch=1)
        return perf_counter() - started

    return (seconds(LARGE_ITEMS + 2) - seconds(2)) / LARGE_ITEMS


def ours(job: TrainingJob) -> tuple[float, float]:
    """Steps a second and peak memory of a job."""
    getattr(import_library("trl"), TRAINERS[job.kind])  # imported before the clock starts
    return _taken(job, lambda: worker.train(job))


def bare(job: TrainingJob) -> tuple[float, float]:
    """The same by TRL alone, as its examples for vision-language models have it."""
    rows = import_module("tests.resources.training.small").in_memory(job)
    make = getattr(import_library("trl"), TRAINERS[job.kind])

    def train() -> None:
        transformers, folder = import_library("transformers"), Path(job.folder).with_name("bare")
        recipe = recipe_of(job)
        trainer = make(
            model=transformers.AutoModelForImageTextToText.from_pretrained(
                job.base.model, dtype=recipe.dtype or "auto"
            ),
            processing_class=transformers.AutoProcessor.from_pretrained(job.base.model),
            train_dataset=import_library("datasets").Dataset.from_list(rows),
            peft_config=import_library("peft").LoraConfig(
                r=recipe.rank,
                lora_alpha=recipe.alpha,
                lora_dropout=recipe.dropout if isinstance(recipe, TuningRecipe) else 0.0,
                target_modules=rf".*language_model.*\.({'|'.join(recipe.target_modules)})",
                task_type="CAUSAL_LM",
            ),
            **_arguments(recipe, str(folder)),
        )
        trainer.train()
        trainer.save_model(str(folder / "adapter"))

    return _taken(job, train)


def recipe_of(job: TrainingJob) -> RankingRecipe | TuningRecipe:
    """A job's recipe."""
    return RankingRecipe(**job.recipe) if job.kind == "ranking" else TuningRecipe(**job.recipe)


def _arguments(recipe: RankingRecipe | TuningRecipe, folder: str) -> dict[str, Any]:
    """What a bare trainer is told: as ours is, and else TRL's defaults."""
    on_gpu = import_library("torch").cuda.is_available()
    same: dict[str, Any] = {
        "output_dir": folder,
        "learning_rate": recipe.learning_rate,
        "max_steps": recipe.steps,
        "gradient_accumulation_steps": recipe.gradient_accumulation_steps,
        "activation_checkpointing": recipe.gradient_checkpointing,
        "bf16": on_gpu,
        "use_cpu": not on_gpu,
        "logging_steps": 1,
        "save_steps": recipe.save_steps,
        "save_total_limit": 2,
        "report_to": [],
        "disable_tqdm": True,
    }
    if isinstance(recipe, TuningRecipe):
        told: dict[str, Any] = {
            "per_device_train_batch_size": recipe.per_device_batch_size,
            "max_length": None,
        }
        told |= {"lr_scheduler_type": "cosine", "warmup_steps": recipe.warmup_ratio}
        return {"args": import_library("trl").SFTConfig(**same, **told)}
    told = {
        "per_device_train_batch_size": 2 * recipe.num_generations * recipe.per_device_batch_size,
        "num_generations": recipe.num_generations,
        "max_completion_length": MAX_ANSWER_TOKENS,
        "shuffle_dataset": False,
    }
    reward = import_module("tests.resources.training.small").plain_reward
    return {"args": import_library("trl").GRPOConfig(**same, **told), "reward_funcs": reward}


def _taken(job: TrainingJob, train: Callable[[], None]) -> tuple[float, float]:
    """Steps a second and peak memory, MB: by the clock and of the GPU where it trains on one."""
    cuda = import_library("torch").cuda
    on_gpu = cuda.is_available()
    clock = perf_counter if on_gpu else process_time
    if on_gpu:
        cuda.reset_peak_memory_stats()
    started = clock()
    train()
    rate = job.recipe["steps"] / (clock() - started)
    return rate, cuda.max_memory_allocated() / 1e6 if on_gpu else peak_megabytes()


def learned(root: Path, seed: int) -> tuple[float, float, float]:
    """Failure rates on held-out pairs before and after, and seconds of processor time between."""
    small = import_module("tests.resources.training.small")
    job = job_of(root, STEPS, seed)
    held_out = small.pairs(root, HELD_OUT, seed + 777)
    before, _ = small.failure_rate(root, job.base.model, held_out)
    started = process_time()
    worker.train(job)
    seconds = process_time() - started
    adapter = str(Path(job.folder) / worker.ADAPTER)
    after, scored = small.failure_rate(root, job.base.model, held_out, adapter=adapter)
    # A pair without scores counts as misranked.
    return before, (after * scored + HELD_OUT - scored) / HELD_OUT, seconds


def killed(root: Path) -> tuple[int, int]:
    """How many killed trainings end with the bytes of an undisturbed one, of how many."""
    small = import_module("tests.resources.training.small")
    base = small.save_base(root / "base")
    command = [sys.executable, "-W", "ignore", "-m", "tests.resources.training.kills"]
    done = subprocess.run([*command, base, root], stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return sum(each["killed"] and each["same"] for each in found), len(found)


def processes(root: Path, number: int) -> tuple[int, int]:
    """How many processes have trained, by accelerate with gloo, and how many pairs were torn.

    The reward counts a pair of which it gets one picture alone, and ends the training.
    """
    config = import_module("tests.resources.training.small").accelerate_config(root, number)
    job = job_of(root, 2, accelerate_config=str(config))
    try:
        launch.run_training(job, import_module("logging").getLogger(__name__), str(config))
    except TrainingError as error:
        if "is torn" not in str(error):
            raise
        return number, 1
    told = json.loads((Path(job.folder) / worker.TRAINED).read_text())
    return int(told["processes"]), 0


def timed(root: Path, kind: str) -> TrainingJob:
    """A job of that kind that is timed."""
    if kind == "ranking":
        return job_of(root, TIMED[kind])
    small = import_module("tests.resources.training.small")
    base = small.save_talker(root / "base")
    recipe = TuningRecipe(base=str(base), steps=TIMED[kind], rank=16, alpha=32, **small.QUICK)
    rows = small.questions(root, recipe.per_device_batch_size * TIMED[kind])
    job: TrainingJob = small.job(root, base, rows, kind=kind, recipe=recipe)
    Path(job.folder).mkdir(parents=True)
    return job


def job_of(
    root: Path, steps: int, seed: int = 0, base: Path | None = None, **more: Any
) -> TrainingJob:
    """A job of so many steps, by default of a tiny model."""
    small = import_module("tests.resources.training.small")
    base = base or small.save_base(root / "base", seed)
    recipe = RankingRecipe(base=str(base), steps=steps, seed=seed, **{**small.QUICK, **more})
    job: TrainingJob = small.job(root, base, small.pairs(root, 4 * steps, seed), recipe=recipe)
    Path(job.folder).mkdir(parents=True)
    return job


if __name__ == "__main__":
    answer(measure)
