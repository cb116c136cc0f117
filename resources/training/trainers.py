"""TRL's trainers, set up for a job."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from resources.images import ImageStore
from resources.models.backends.adapters import Adapted
from resources.models.backends.scoring.expected import HIGHEST, LONGEST_ANSWER, PROMPT, digit_in
from resources.models.backends.scoring.vqa import ANSWER, QUESTION, token_of_yes
from resources.models.backends.vision_language import VisionLanguage
from resources.models.catalog import Model
from resources.training.answers import AnswerBatches
from resources.training.faults import library
from resources.training.job import NOT_YES, Job
from resources.training.margin import margin_loss
from resources.training.meter import Meter
from resources.training.processes import processes
from resources.training.recipe import MarginRecipe, RankingRecipe, Recipe, TuningRecipe
from resources.training.reward import CORRECT, misranked, rewards
from resources.training.rows import Row, assistant, dataset, order_of, sides_of, user

_SAID, _LONG = 4, 40
"""Samples of what is said that are told at a time, and how many characters of one."""


@dataclass(frozen=True)
class Trained:
    """A trainer, what it measures besides its own numbers, and how many rows it has in all."""

    trainer: Any
    meter: Meter
    steps: int
    rows: int
    given: int
    processes: int


def trainer_of(job: Job) -> Trained:
    """The trainer of a job, its model loaded as judges and metrics are."""
    rows = pq.read_table(job.rows).to_pylist()
    match job.kind:
        case "ranking":
            return _ranking(job, RankingRecipe(**job.recipe), rows)
        case "margin":
            return _margin(job, MarginRecipe(**job.recipe), rows)
        case "tuning":
            return _tuning(job, TuningRecipe(**job.recipe), rows)


def _ranking(job: Job, recipe: RankingRecipe, rows: Sequence[Row]) -> Trained:
    meter, shape = Meter(), _Shape(recipe, rows)

    def shown(row: Row) -> Row:
        return {"prompt": user(PROMPT.format(text=row["text"])), **row}

    trl, speaking = library("trl"), _loaded(job, recipe)
    trainer = trl.GRPOTrainer(
        model=speaking.network,
        reward_funcs=reward_of(recipe, meter),
        args=trl.GRPOConfig(
            **_arguments(job, recipe, shape.steps),
            per_device_train_batch_size=2 * recipe.generations * recipe.at_once,
            num_generations=recipe.generations,
            max_completion_length=LONGEST_ANSWER,
            temperature=recipe.temperature,
            beta=recipe.beta,
            # Pairs stay whole: both pictures with all their samples on one device.
            shuffle_dataset=False,
        ),
        train_dataset=dataset(sides_of(rows, shape.order), _images(job), shown),
        processing_class=speaking.processor,
        peft_config=_lora(recipe),
    )
    return shape.trained(trainer, meter)


def reward_of(recipe: RankingRecipe, meter: Meter) -> Callable[..., list[float]]:
    """The reward as TRL calls it: of one process's samples, their pairs and sides."""

    def ranking(
        completions: Sequence[Any], pair: Sequence[str], side: Sequence[str], **others: Any
    ) -> list[float]:
        said = [completion[0]["content"] for completion in completions]
        digits = [digit_in(text) for text in said]
        scores = [None if digit is None else digit / HIGHEST for digit in digits]
        given = rewards(scores, pair, side, margin=recipe.margin, penalty=recipe.penalty)
        meter.add("unscored", [float(score is None) for score in scores])
        meter.add("misranked", misranked(scores, pair, side))
        step = -(-len(said) // _SAID)
        meter.say(
            [
                f"{side[at]}: {said[at][:_LONG]!r} ({given[at]:+.2f})"
                for at in range(0, len(said), step)
            ]
        )
        return given

    return ranking


def _margin(job: Job, recipe: MarginRecipe, rows: Sequence[Row]) -> Trained:
    meter, shape = Meter(), _Shape(recipe, rows)

    def shown(row: Row) -> Row:
        # The second word is not learned: it tells the loss which picture of the pair it is.
        word = ANSWER if row["side"] == CORRECT else NOT_YES
        return {"prompt": user(QUESTION.format(text=row["text"])), "completion": assistant(word)}

    speaking = _loaded(job, recipe)
    yes = token_of_yes(speaking, _entry(job))
    trainer = _supervised(
        job,
        recipe,
        shape,
        speaking,
        dataset(sides_of(rows, shape.order), _images(job), shown),
        rows_at_once=2 * recipe.at_once,
        loss=margin_loss(yes, recipe.margin, recipe.at_once * recipe.accumulate, meter),
    )
    return shape.trained(trainer, meter)


def _tuning(job: Job, recipe: TuningRecipe, rows: Sequence[Row]) -> Trained:
    shape = _Shape(recipe, rows)

    def shown(row: Row) -> Row:
        return {"prompt": user(row["question"]), "completion": assistant(row["answer"])}

    ordered = dataset([rows[at] for at in shape.order], _images(job), shown)
    speaking = _loaded(job, recipe)
    trainer = _supervised(job, recipe, shape, speaking, ordered, rows_at_once=recipe.at_once)
    return shape.trained(trainer, Meter())


def _supervised(
    job: Job,
    recipe: Recipe,
    shape: "_Shape",
    speaking: VisionLanguage,
    rows: Any,
    *,
    rows_at_once: int,
    loss: Callable[..., Any] | None = None,
) -> Any:
    trl = library("trl")
    return trl.SFTTrainer(
        model=speaking.network,
        args=trl.SFTConfig(
            **_arguments(job, recipe, shape.steps),
            **_schedule(recipe, shape.steps),
            per_device_train_batch_size=rows_at_once,
            # Cut off at TRL's 1,024 tokens, a picture of 1,024 px would lose its end.
            max_length=None,
            dataset_kwargs={"skip_prepare_dataset": True},
            train_sampling_strategy="sequential",
            average_tokens_across_devices=loss is None,
            remove_unused_columns=False,
        ),
        train_dataset=rows,
        data_collator=AnswerBatches(speaking),
        processing_class=speaking.processor,
        peft_config=_lora(recipe),
        compute_loss_func=loss,
    )


class _Shape:
    """How many rows make a step, how many steps there are, and which row comes when."""

    def __init__(self, recipe: Recipe, rows: Sequence[Row]) -> None:
        self._rows = len(rows)
        self._processes: int = processes().num_processes
        each = recipe.at_once * recipe.accumulate * self._processes
        self.steps = recipe.steps or -(-len(rows) // each)
        self.order = order_of(len(rows), self.steps * each, recipe.seed)

    def trained(self, trainer: Any, meter: Meter) -> Trained:
        of_rows = len(set(self.order))
        return Trained(trainer, meter, self.steps, self._rows, of_rows, self._processes)


def _arguments(job: Job, recipe: Recipe, steps: int) -> dict[str, Any]:
    on_gpu = library("torch").cuda.is_available()
    return {
        "output_dir": job.folder,
        "learning_rate": recipe.learning_rate,
        "max_steps": steps,
        "gradient_accumulation_steps": recipe.accumulate,
        "activation_checkpointing": recipe.save_memory,
        "seed": recipe.seed,
        "bf16": on_gpu,
        "use_cpu": not on_gpu,
        "logging_steps": 1,
        "save_steps": recipe.checkpoint_every,
        # The one before stays until the next is whole.
        "save_total_limit": 2,
        "report_to": [],
        "disable_tqdm": True,
    }


def _schedule(recipe: Recipe, steps: int) -> dict[str, Any]:
    """How the learning rate goes, where that is not in a line from its highest to 0."""
    if not isinstance(recipe, TuningRecipe):
        return {}
    # The rate of its first step is 0: of one step alone nothing would be learned.
    rising = min(math.ceil(recipe.warmup * steps), steps - 1)
    return {"lr_scheduler_type": "cosine", "warmup_steps": rising}


def _loaded(job: Job, recipe: Recipe) -> VisionLanguage:
    """The base on this process's device."""
    wanted = Adapted(dtype=recipe.dtype, revision=job.base.revision)
    speaking = VisionLanguage(_entry(job), None, wanted)
    # Pictures of several sizes in one batch of Qwen2.5-VL need it.
    speaking.processor.tokenizer.padding_side = "left"
    return speaking


def _entry(job: Job) -> Model:
    known: dict[str, Any] = {"name": job.name, "model": job.base.model, "family": "base"}
    return Model(backend="transformers", roles=("judge",), **known)


def _lora(recipe: Recipe) -> Any:
    """Low-rank matrices beside the language model's layers; its head and all pictures stay."""
    ends = "|".join(recipe.targets)
    return library("peft").LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout if isinstance(recipe, TuningRecipe) else 0.0,
        target_modules=rf".*language_model.*\.({ends})",
        task_type="CAUSAL_LM",
    )


def _images(job: Job) -> ImageStore:
    return ImageStore(root=job.images)
