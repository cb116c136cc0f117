"""Recipes: how an adapter is trained, with the reason for each default."""

from dagster import Config
from pydantic import Field

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_FURTHER_TARGETS = [
    # GLM
    "gate_up_proj",
    # LFM2-VL
    *("in_proj", "out_proj", "w1", "w2", "w3"),
    # Qwen3.5 and MiniCPM-V 4.6, in layers of linear attention
    *("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"),
    # Kimi K2.5
    *("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"),
]
"""Linear layers that families have besides or in place of the usual ones."""


class Recipe(Config):
    """The recipe that all trainings share."""

    base: str = Field(
        description=(
            "Model to adapt: a folder, or an id of the Hugging Face Hub whose weights are on this "
            "machine (hf download ID)."
        )
    )
    revision: str | None = Field(
        default=None,
        description="Branch, tag or commit on the Hub. Default: the newest on this machine.",
    )
    dtype: str | None = Field(
        default=None,
        description=(
            "Torch dtype of the base's weights. Default: the dtype of the checkpoint. The "
            "adapter's own weights are float32."
        ),
    )
    rank: int = Field(
        default=16,
        ge=1,
        description=(
            "Rank of the adapter's matrices. Neither paper states it; 16 is the value in PEFT's "
            "and TRL's examples for models of this size."
        ),
    )
    alpha: int = Field(
        default=32, ge=1, description="Scale of the adapter, usually twice its rank."
    )
    target_modules: list[str] = Field(
        default=TARGETS,
        description=(
            "Linear layers of the language model to adapt, by the ends of their names. Default: "
            "all of them, as in QLoRA, but not the experts of a mixture, which are no linear "
            "layers in transformers. The vision encoder is not adapted, since vLLM ignores "
            "adapters there."
        ),
    )
    learning_rate: float = Field(
        default=1e-5,
        gt=0,
        description=(
            "Initial learning rate; it falls linearly to 0. The default is ten times TRL's, which "
            "is for all weights: an adapter's few need more."
        ),
    )
    steps: int | None = Field(
        default=None, ge=1, description="Optimizer steps. Default: enough to train each row once."
    )
    per_device_batch_size: int = Field(
        default=1,
        ge=1,
        description=(
            "Rows (pairs or cases) per device and batch, limited by memory. A row of pairs has "
            "two pictures, each as often as it has samples."
        ),
    )
    gradient_accumulation_steps: int = Field(
        default=4, ge=1, description="Batches per device that make one optimizer step."
    )
    seed: int = Field(
        default=0,
        ge=0,
        description="Random seed for the adapter's first weights, the order of rows, and sampling.",
    )
    save_steps: int = Field(
        default=25,
        ge=1,
        description=(
            "Steps between two checkpoints. A run that was killed resumes at the last one, so at "
            "most this many steps are repeated."
        ),
    )
    gradient_checkpointing: bool = Field(
        default=True,
        description=(
            "Recompute activations in the backward pass: a fifth slower, but 7B fit into one GPU "
            "of 80 GB."
        ),
    )
    accelerate_config: str | None = Field(
        default=None,
        description=(
            "Path of a file made by `accelerate config`, for training in several processes. "
            "Default: one process."
        ),
    )
    skip_estimate_check: bool = Field(
        default=False,
        description="Train even if no GPU is found and the estimate exceeds this machine.",
    )

    @property
    def layer_names(self) -> list[str]:
        """The ends of the names of layers to adapt; the default has those of all families."""
        return [*TARGETS, *_FURTHER_TARGETS] if self.has_default_targets else self.target_modules

    @property
    def has_default_targets(self) -> bool:
        """Whether all linear layers are adapted, whatever a family calls them."""
        return self.target_modules == TARGETS


class MarginRecipe(Recipe):
    """The control of ProtoScore: a margin loss on P(yes) of a pair's pictures."""

    margin: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="Least margin of the right order (m): three digits of ten, about what "
        "the paper's own metric reaches on average (0.18 to 0.35).",
    )


class RankingRecipe(MarginRecipe):
    """ProtoScore: GRPO with a reward on pairs (ProtoBias, §3.3), which leaves the rest open."""

    num_generations: int = Field(
        default=8,
        ge=2,
        description="Samples of each picture's score (G), which are compared with the partner's: "
        "64 comparisons per pair.",
    )
    penalty: float = Field(
        default=0.5,
        ge=0,
        description="Weight of a wrong order, by the square of its size (λ): at 0.5 one by all of "
        "the scale costs as much as a clear one gains.",
    )
    beta: float = Field(
        default=0.0,
        ge=0,
        description="Weight of the KL term (β), which keeps answers near the base's. 0 as in TRL: "
        "each step is spared a pass. Raise it where answers stop being digits.",
    )
    temperature: float = Field(
        default=1.0,
        gt=0,
        description="Sampling temperature; raise it where all samples are the same.",
    )


class TuningRecipe(Recipe):
    """Fine-tuning on answers (VHExpansion, §5.4)."""

    learning_rate: float = Field(
        default=1.8e-6,
        gt=0,
        description="Highest rate, by default the paper's. A sweep's partition names its own.",
    )
    warmup_ratio: float = Field(
        default=0.03,
        ge=0,
        lt=1,
        description="Share of the steps in which the rate rises to that; it then falls to 0 by a "
        "cosine. LLaVA-1.5's own.",
    )
    dropout: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="Share of what the adapter gets that is left out at random while it trains; "
        "LLaVA-1.5's own for LoRA.",
    )
    rank: int = Field(default=128, ge=1, description="LLaVA-1.5's own for LoRA.")
    alpha: int = Field(default=256, ge=1, description="LLaVA-1.5's own for LoRA.")
    per_device_batch_size: int = Field(
        default=16, ge=1, description="Cases on a device at once; LLaVA-1.5's own for LoRA."
    )
    gradient_accumulation_steps: int = Field(
        default=8,
        ge=1,
        description="Batches of a device that make one step; LLaVA-1.5 has 8 devices.",
    )
