"""TRL's trainers, set up for a job."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.chat_models import ChatModel
from resources.models.backends.scoring.expected_score import (
    MAX_ANSWER_TOKENS,
    MAX_DIGIT,
    PROMPT,
    parse_digit,
)
from resources.models.backends.scoring.vqa_score import ANSWER, QUESTION, find_yes_token
from resources.models.catalog import Model
from resources.storage.image_store import ImageStore
from resources.training.answer_batches import AnswerCollator
from resources.training.job import OTHER_ANSWER, TrainingJob
from resources.training.margin import build_margin_loss
from resources.training.meter import Meter
from resources.training.processes import get_process_state
from resources.training.recipe import MarginRecipe, RankingRecipe, Recipe, TuningRecipe
from resources.training.reward import CORRECT, compute_misranked_shares, compute_rewards
from resources.training.training_errors import TrainingError, import_library
from resources.training.training_rows import (
    Row,
    build_assistant_turn,
    build_dataset,
    build_order,
    build_side_rows,
    build_user_turn,
)

_NOT_RANKED = {
    **dict.fromkeys(("mllama", "kimi_k25", "minicpmv4_6"), "leaves out a part of its pictures"),
    "mistral3": "takes pictures of one size alone from its processor",
    "paligemma": "shows it the answer that it is to score",
}
"""What TRL's `GRPOTrainer` does with families that it does not fit, by their `model_type`."""
_SAID, _LONG = 4, 40
"""Samples of what is said that are told at a time, and how many characters of one."""


@dataclass(frozen=True)
class TrainerSetup:
    """A trainer, what it measures besides its own numbers, and how many rows it has in all."""

    trainer: Any
    meter: Meter
    steps: int
    row_count: int
    used_row_count: int
    processes: int


def build_trainer(job: TrainingJob) -> TrainerSetup:
    """The trainer of a job, its model loaded as judges and metrics are."""
    rows = pq.read_table(job.rows_file).to_pylist()
    match job.kind:
        case "ranking":
            return _ranking(job, RankingRecipe(**job.recipe), rows)
        case "margin":
            return _margin(job, MarginRecipe(**job.recipe), rows)
        case "tuning":
            return _tuning(job, TuningRecipe(**job.recipe), rows)


def _ranking(job: TrainingJob, recipe: RankingRecipe, rows: Sequence[Row]) -> TrainerSetup:
    meter, shape = Meter(), _Shape(recipe, rows)
    trl, speaking = import_library("trl"), _load_base(job, recipe)
    if reason := _NOT_RANKED.get(speaking.network.config.model_type):
        raise TrainingError(
            f"{recipe.base} cannot be trained by GRPO: TRL {reason}. Materialize `margin_adapter`, "
            "or name a base of another family."
        )

    def shown(row: Row) -> Row:
        return {"prompt": build_user_turn(PROMPT.format(text=row["text"])), **row}

    trainer = trl.GRPOTrainer(
        model=speaking.network,
        reward_funcs=build_reward_function(recipe, meter),
        args=trl.GRPOConfig(
            **_arguments(job, recipe, shape.steps),
            per_device_train_batch_size=2 * recipe.num_generations * recipe.per_device_batch_size,
            num_generations=recipe.num_generations,
            max_completion_length=MAX_ANSWER_TOKENS,
            temperature=recipe.temperature,
            beta=recipe.beta,
            chat_template_kwargs=dict.fromkeys(speaking.thinking_variables, False),
            # Pairs stay whole: both pictures with all their samples on one device.
            shuffle_dataset=False,
        ),
        train_dataset=build_dataset(build_side_rows(rows, shape.order), _images(job), shown),
        processing_class=speaking.processor,
        peft_config=_lora(recipe),
    )
    return shape.trained(trainer, meter)


def build_reward_function(recipe: RankingRecipe, meter: Meter) -> Callable[..., list[float]]:
    """The reward as TRL calls it: of one process's samples, their pairs and sides."""

    def ranking(
        completions: Sequence[Any], pair: Sequence[str], side: Sequence[str], **others: Any
    ) -> list[float]:
        replies = [completion[0]["content"] for completion in completions]
        digits = [parse_digit(text) for text in replies]
        scores = [None if digit is None else digit / MAX_DIGIT for digit in digits]
        sample_rewards = compute_rewards(
            scores, pair, side, margin=recipe.margin, penalty=recipe.penalty
        )
        meter.add("unscored", [float(score is None) for score in scores])
        meter.add("misranked", compute_misranked_shares(scores, pair, side))
        step = -(-len(replies) // _SAID)
        meter.record_samples(
            [
                f"{side[index]}: {replies[index][:_LONG]!r} ({sample_rewards[index]:+.2f})"
                for index in range(0, len(replies), step)
            ]
        )
        return sample_rewards

    return ranking


def _margin(job: TrainingJob, recipe: MarginRecipe, rows: Sequence[Row]) -> TrainerSetup:
    meter, shape = Meter(), _Shape(recipe, rows)

    def shown(row: Row) -> Row:
        # The second word is not learned: it tells the loss which picture of the pair it is.
        word = ANSWER if row["side"] == CORRECT else OTHER_ANSWER
        return {
            "prompt": build_user_turn(QUESTION.format(text=row["text"])),
            "completion": build_assistant_turn(word),
        }

    speaking = _load_base(job, recipe)
    yes = find_yes_token(speaking, _entry(job))
    trainer = _supervised(
        job,
        recipe,
        shape,
        speaking,
        build_dataset(build_side_rows(rows, shape.order), _images(job), shown),
        rows_at_once=2 * recipe.per_device_batch_size,
        loss=build_margin_loss(
            yes,
            recipe.margin,
            recipe.per_device_batch_size * recipe.gradient_accumulation_steps,
            meter,
        ),
    )
    return shape.trained(trainer, meter)


def _tuning(job: TrainingJob, recipe: TuningRecipe, rows: Sequence[Row]) -> TrainerSetup:
    shape = _Shape(recipe, rows)

    def shown(row: Row) -> Row:
        return {
            "prompt": build_user_turn(row["question"]),
            "completion": build_assistant_turn(row["answer"]),
        }

    ordered = build_dataset([rows[index] for index in shape.order], _images(job), shown)
    speaking = _load_base(job, recipe)
    trainer = _supervised(
        job, recipe, shape, speaking, ordered, rows_at_once=recipe.per_device_batch_size
    )
    return shape.trained(trainer, Meter())


def _supervised(
    job: TrainingJob,
    recipe: Recipe,
    shape: "_Shape",
    speaking: ChatModel,
    rows: Any,
    *,
    rows_at_once: int,
    loss: Callable[..., Any] | None = None,
) -> Any:
    trl = import_library("trl")
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
        data_collator=AnswerCollator(speaking),
        processing_class=speaking.processor,
        peft_config=_lora(recipe),
        compute_loss_func=loss,
    )


class _Shape:
    """The shape of a training: rows per step, steps, and the order of rows."""

    def __init__(self, recipe: Recipe, rows: Sequence[Row]) -> None:
        self._rows = len(rows)
        self._processes: int = get_process_state().num_processes
        rows_per_step = (
            recipe.per_device_batch_size * recipe.gradient_accumulation_steps * self._processes
        )
        self.steps = recipe.steps or -(-len(rows) // rows_per_step)
        self.order = build_order(len(rows), self.steps * rows_per_step, recipe.seed)

    def trained(self, trainer: Any, meter: Meter) -> TrainerSetup:
        of_rows = len(set(self.order))
        return TrainerSetup(
            trainer=trainer,
            meter=meter,
            steps=self.steps,
            row_count=self._rows,
            used_row_count=of_rows,
            processes=self._processes,
        )


def _arguments(job: TrainingJob, recipe: Recipe, steps: int) -> dict[str, Any]:
    on_gpu = import_library("torch").cuda.is_available()
    return {
        "output_dir": job.folder,
        "learning_rate": recipe.learning_rate,
        "max_steps": steps,
        "gradient_accumulation_steps": recipe.gradient_accumulation_steps,
        "activation_checkpointing": recipe.gradient_checkpointing,
        "seed": recipe.seed,
        "bf16": on_gpu,
        "use_cpu": not on_gpu,
        "logging_steps": 1,
        "save_steps": recipe.save_steps,
        # The one before stays until the next is whole.
        "save_total_limit": 2,
        "report_to": [],
        "disable_tqdm": True,
    }


def _schedule(recipe: Recipe, steps: int) -> dict[str, Any]:
    """Build the learning-rate schedule, where it is not a line from its highest to 0."""
    if not isinstance(recipe, TuningRecipe):
        return {}
    # The rate of its first step is 0: of one step alone nothing would be learned.
    rising = min(math.ceil(recipe.warmup_ratio * steps), steps - 1)
    return {"lr_scheduler_type": "cosine", "warmup_steps": rising}


def _load_base(job: TrainingJob, recipe: Recipe) -> ChatModel:
    """The base on this process's device."""
    settings = AdapterSettings(dtype=recipe.dtype, revision=job.base.revision)
    speaking = ChatModel(_entry(job), None, settings)
    # Pictures of several sizes in one batch of Qwen2.5-VL need it.
    speaking.tokenizer.padding_side = "left"
    if speaking.network.base_model is speaking.network:
        # TRL computes the loss from what comes before the head, by this attribute.
        raise TrainingError(
            f"{recipe.base} cannot be trained: TRL finds no network without a head in its class, "
            f"{type(speaking.network).__name__}. Name a base of another family."
        )
    return speaking


def _entry(job: TrainingJob) -> Model:
    fields: dict[str, Any] = {"name": job.name, "model": job.base.model, "family": "base"}
    return Model(backend="transformers", roles=("judge",), **fields)


def _lora(recipe: Recipe) -> Any:
    """Low-rank matrices beside the language model's layers; its head and all pictures stay."""
    suffixes = "|".join(recipe.layer_names)
    # What the language model is called: in SmolVLM and Idefics3 it is `text_model`.
    return import_library("peft").LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout if isinstance(recipe, TuningRecipe) else 0.0,
        target_modules=rf".*(language|text)_model.*\.({suffixes})",
        task_type="CAUSAL_LM",
    )


def _images(job: TrainingJob) -> ImageStore:
    return ImageStore(root=job.images)
