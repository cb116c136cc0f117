"""An attack's method, objective and parameters, in levels of 255."""

from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

Method: TypeAlias = Literal["i_fgsm", "pgd"]
Objective: TypeAlias = Literal["lower", "raise"]
"""Lower the similarity to the clean embedding, where the model does not hallucinate; else raise."""

ATTACK_VERSION = "1"
"""Version of attacks; raise it when the same work would give another picture."""
MAX_LEVELS = 64
MAX_ITERATIONS = 10_000
MIN_SIDE, MAX_SIDE = 8, 4096
MAX_ASPECT_RATIO = 16
"""Longer side by shorter: processors scale the shorter one, and cut what is beyond of the other."""


class AttackParameters(BaseModel):
    """A setting of an attack (VHExpansion §5.1, Table 6); changes are in levels of 255.

    A change is at most `epsilon` in any channel of any pixel, and `step` a step. It takes
    `iterations` steps to lower the similarity. To raise it, the change begins at `start` or
    -`start`, and ends after `raising_iterations`, or as soon as what the similarity lacks to 1 is
    this part, `early_stop`, of what it lacked at the beginning; never if that is 0.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    epsilon: float = Field(default=8.0, ge=1, le=MAX_LEVELS, allow_inf_nan=False)
    step: float = Field(default=0.5, gt=0, le=MAX_LEVELS, allow_inf_nan=False)
    iterations: int = Field(default=500, ge=1, le=MAX_ITERATIONS)
    raising_iterations: int = Field(default=100, ge=1, le=MAX_ITERATIONS)
    start: float = Field(default=5.0, ge=1, le=MAX_LEVELS, allow_inf_nan=False)
    early_stop: float = Field(default=0.1, ge=0, lt=1)

    @model_validator(mode="after")
    def _require_bounds(self) -> "AttackParameters":
        if self.step > self.epsilon:
            raise ValueError(
                f"step: {self.step:g} is above epsilon, {self.epsilon:g}, so that each step would "
                "end at the bound. Take a smaller step."
            )
        return self

    def select_used(self, objective: Objective) -> dict[str, float]:
        """Select the parameters that an attack with that objective depends on."""
        objective_fields = (
            {"iterations"}
            if objective == "lower"
            else {"raising_iterations", "start", "early_stop"}
        )
        return self.model_dump(include={"epsilon", "step", *objective_fields})

    def get_max_steps(self, objective: Objective) -> int:
        """Get the most steps of an attack with that objective."""
        return self.iterations if objective == "lower" else self.raising_iterations


def find_size_problem(width: int, height: int) -> str | None:
    """Say why a picture of that size, in px, is not attacked; None where it is."""
    size = f"{width:,} × {height:,} px"
    short, long = sorted((width, height))
    if short < MIN_SIDE:
        return f"{size}: too small, a side has at least {MIN_SIDE} px"
    if long > MAX_SIDE:
        return f"{size}: too large, a side has at most {MAX_SIDE:,} px. Scale it down"
    if long > MAX_ASPECT_RATIO * short:
        return f"{size}: too narrow, a side is at most {MAX_ASPECT_RATIO} times the other. Crop it"
    return None


class AttackJob(NamedTuple):
    """A picture to attack. `seed` is what its noise comes from; see `resources.attacks.noise`."""

    picture: bytes
    question: str
    method: Method
    objective: Objective
    parameters: AttackParameters
    seed: str


class AttackResult(NamedTuple):
    """The end of an attack: the PNG, or the reason why none is published.

    `similarity` and `largest_change` are those of the saved PNG, `noise_similarity` that of random
    noise: of plus or minus epsilon, or, where it is to be raised, of plus or minus `start`.
    """

    png: bytes | None
    similarity: float | None
    noise_similarity: float | None
    largest_change: int | None
    iterations: int
    reason: str | None
