"""The models that a user has: models.yaml, checked."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["writer", "painter", "editor", "judge", "captioner", "metric"]
BackendName = Literal[
    "openai", "openai_compatible", "gemini", "diffusers", "transformers", "offline"
]


class Price(BaseModel):
    """US dollars; what is not given is unknown, never 0."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input_per_million: float | None = Field(default=None, ge=0)
    output_per_million: float | None = Field(default=None, ge=0)
    per_image: dict[str, float] = {}
    per_gpu_hour: float | None = Field(default=None, ge=0)


class Model(BaseModel):
    """One entry of models.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    backend: BackendName
    family: str
    roles: tuple[Role, ...] = Field(min_length=1)
    model: str
    parameters: dict[str, Any] = {}
    base_url: str | None = None
    key: str | None = None
    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price: Price = Field(default_factory=Price)
