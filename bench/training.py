"""Training a tiny model: ours against TRL's bare trainer, five seeds, kills, and processes.

Bare is `GRPOTrainer` with the same model, rows in memory, arguments and a reward that ranks the
same: without reading pictures from the store, checkpoints that are held whole, progress and
checks. Both save as often; seconds are of processor time, on one thread. A model of 69,000 weights
makes a step in a tenth of a second, so that all of ours weighs far more here than at 7B.
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
from time import process_time
from typing import Any

from bench.figure import Figure, Unmeasured, answer, in_a_process
from bench.machine import peak_megabytes
from resources.models.backends.local_models import library
from resources.training import launch, worker
from resources.training.faults import TrainingError
from resources.training.job import Job
from resources.training.recipe import RankingRecipe

STEPS, TIMED, SEEDS, ROUNDS = 80, 40, 5, 3
HELD_OUT, MOST_S, MOST_FAILURES = 100, 60.0, 0.1


def figures() -> Iterator[Figure | Unmeasured]:
    """Speed and memory against the bare trainer, what is learned, and what survives."""
    rounds = [
        {how: in_a_process("bench.training", how) for how in ("bare", "ours")}
        for _ in range(ROUNDS)
    ]
    rates = {how: max(each[how][0] for each in rounds) for how in ("bare", "ours")}
    memory = {how: min(each[how][1] for each in rounds) for how in ("bare", "ours")}
    yield Figure("steps a second of processor time, TRL's bare trainer", rates["bare"], "steps")
    yield Figure("steps a second of processor time, ours", rates["ours"], "steps")
    slower = 100 * (rates["bare"] / rates["ours"] - 1)
    yield Figure("ours above the bare trainer", slower, "%", 10, f"best of {ROUNDS} rounds")
    yield Figure("peak memory, TRL's bare trainer", memory["bare"], "MB")
    more = 100 * (memory["ours"] / memory["bare"] - 1)
    yield Figure("peak memory of ours above it", more, "%", 10, f"{memory['ours']:.0f} MB")
    longest = 0.0
    for seed in range(SEEDS):
        before, after, seconds = in_a_process("bench.training", "learned", seed)
        longest, note = max(longest, seconds), f"{before:.0%} before"
        what = f"misranked held-out pairs after {STEPS} steps, seed {seed}"
        yield Figure(what, 100 * after, "%", 100 * MOST_FAILURES, note)
    yield Figure("processor time of the longest of these", longest, "s", MOST_S)
    same, kills = in_a_process("bench.training", "killed")
    yield Figure("killed runs that end with other bytes", kills - same, "", 0, f"{kills} kills")
    for number in (2, 4):
        processes, torn = in_a_process("bench.training", "processes", number)
        note = f"{processes} processes"
        yield Figure(f"torn pairs over {number} processes", torn, "", 0, note)
    yield Unmeasured("steps a second and memory at 7B shape", "torch finds no CUDA device here")


def measure(what: str, *number: str) -> Any:
    """One measurement, in this process."""
    with TemporaryDirectory() as root, contextlib.redirect_stdout(io.StringIO()):
        work: Mapping[str, Callable[..., Any]] = {
            "bare": bare,
            "ours": ours,
            "learned": learned,
            "killed": killed,
            "processes": processes,
        }
        return work[what](Path(root), *map(int, number))


def ours(root: Path) -> tuple[float, float]:
    """Steps a second and peak memory of the process that trains."""
    job = job_of(root, TIMED)
    library("trl").GRPOTrainer  # noqa: B018 - imported before the clock starts
    started = process_time()
    worker.train(job)
    return TIMED / (process_time() - started), peak_megabytes()


def bare(root: Path) -> tuple[float, float]:
    """The same by TRL alone, as its example for vision-language models has it."""
    transformers, trl, peft = map(library, ("transformers", "trl", "peft"))
    job, small = job_of(root, TIMED), import_module("tests.resources.training.small")
    recipe = RankingRecipe(**job.recipe)
    rows = small.in_memory(job)
    trl.GRPOTrainer  # noqa: B018 - imported before the clock starts
    started = process_time()
    trainer = trl.GRPOTrainer(
        model=transformers.AutoModelForImageTextToText.from_pretrained(job.base.model),
        processing_class=transformers.AutoProcessor.from_pretrained(job.base.model),
        reward_funcs=small.plain_reward,
        args=trl.GRPOConfig(
            output_dir=str(root / "bare"),
            learning_rate=recipe.learning_rate,
            max_steps=TIMED,
            per_device_train_batch_size=2 * recipe.generations * recipe.at_once,
            num_generations=recipe.generations,
            max_completion_length=4,
            gradient_checkpointing=False,
            bf16=False,
            use_cpu=True,
            shuffle_dataset=False,
            logging_steps=1,
            save_steps=recipe.checkpoint_every,
            save_total_limit=2,
            report_to=[],
            disable_tqdm=True,
        ),
        train_dataset=library("datasets").Dataset.from_list(rows),
        peft_config=peft.LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            target_modules=rf".*language_model.*\.({'|'.join(recipe.targets)})",
            task_type="CAUSAL_LM",
        ),
    )
    trainer.train()
    trainer.save_model(str(root / "bare" / "adapter"))
    return TIMED / (process_time() - started), peak_megabytes()


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
        launch.run(job, import_module("logging").getLogger(__name__), str(config))
    except TrainingError as error:
        if "is torn" not in str(error):
            raise
        return number, 1
    told = json.loads((Path(job.folder) / worker.TRAINED).read_text())
    return int(told["processes"]), 0


def job_of(root: Path, steps: int, seed: int = 0, **more: Any) -> Job:
    """A job of so many steps."""
    small = import_module("tests.resources.training.small")
    base = small.save_base(root / "base", seed)
    recipe = RankingRecipe(base=str(base), steps=steps, seed=seed, **{**small.QUICK, **more})
    job: Job = small.job(root, base, small.pairs(root, 4 * steps, seed), recipe=recipe)
    Path(job.folder).mkdir(parents=True)
    return job


if __name__ == "__main__":
    answer(measure)
