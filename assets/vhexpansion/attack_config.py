"""Config of attacks: methods, bounds and numbers of steps, each combined into settings."""

from collections.abc import Sequence
from typing import Annotated, get_args

from pydantic import Field, ValidationError, model_validator

from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import validate_names
from resources.attacks.attack_parameters import AttackParameters, Method

METHODS: tuple[Method, ...] = get_args(Method)


class AttackSweepConfig(LimitConfig):
    """Settings of the attacks; a limit is on cases.

    The first number of each list makes the setting; each further one is tried with the first of
    the other lists, as in Table 6.
    """

    methods: Annotated[list[str], validate_names(METHODS)] = Field(
        default=[*METHODS],
        min_length=1,
        description=f"Attack methods: {' and '.join(METHODS)}, or one of them.",
    )
    epsilons: list[float] = Field(
        default=[8.0],
        min_length=1,
        description="Bounds of the perturbation in levels of 255 (Table 6: 4 to 16).",
    )
    steps: list[float] = Field(
        default=[0.5],
        min_length=1,
        description="Step sizes in levels of 255 (Table 6: 0.3 to 0.7).",
    )
    iterations: list[int] = Field(
        default=[500],
        min_length=1,
        description="Numbers of steps for cases in which the model does not hallucinate.",
    )
    raising_iterations: list[int] = Field(
        default=[100],
        min_length=1,
        description="Maximum numbers of steps for cases in which the model already hallucinates.",
    )
    start: float = Field(
        default=5.0,
        description=(
            "For cases with hallucination: the perturbation starts at plus or minus this many "
            "levels of 255."
        ),
    )
    early_stop: float = Field(
        default=0.1,
        description=(
            "For cases without hallucination: stop once the similarity's distance to 1 is this "
            "fraction of its first value. 0 disables it."
        ),
    )
    seed: int = Field(default=0, description="Random seed for all noise.")
    batch: int | None = Field(
        default=None,
        ge=1,
        description="Pictures attacked together. Default: `batch` of the model's entry.",
    )

    @model_validator(mode="after")
    def _require_ranges(self) -> "AttackSweepConfig":
        try:
            self.list_settings()
        except ValidationError as error:
            first_error = error.errors(include_url=False)[0]
            message = first_error["msg"].removeprefix("Value error, ")
            raise ValueError(": ".join([*map(str, first_error["loc"]), message])) from None
        return self

    def list_settings(self) -> list[AttackParameters]:
        """The settings that are tried, each once."""
        lists: dict[str, Sequence[float]] = {
            "epsilon": self.epsilons,
            "step": self.steps,
            "iterations": self.iterations,
            "raising_iterations": self.raising_iterations,
        }
        fixed = {"start": self.start, "early_stop": self.early_stop}
        base_setting = fixed | {name: values[0] for name, values in lists.items()}
        varied = [
            base_setting | {name: value} for name, values in lists.items() for value in values[1:]
        ]
        return list(
            dict.fromkeys(
                AttackParameters.model_validate(setting) for setting in (base_setting, *varied)
            )
        )
