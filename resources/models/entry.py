"""An entry of models.yaml, with the checks of its fields."""

import re
from collections.abc import Mapping
from keyword import iskeyword
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from generators.name_suggestions import suggest_names
from resources.models.backend_names import (
    DEVICE_BACKENDS,
    KEY_VARIABLES,
    LOCAL_BACKENDS,
    ROLES_BY_BACKEND,
    STAND_INS,
    BackendName,
    Role,
)
from resources.models.formulas import find_formula_problem
from resources.models.image_limits import ImageLimits
from resources.models.image_tokens import ImageTokens
from resources.models.parameter_checks import (
    MAX_TOKENS,
    find_backend_problem,
    find_encoder_problem,
    find_reserved_parameter,
)
from resources.models.thinking_steps import ThinkingStep, find_own_step, list_axis_steps
from resources.spdx_licences import LicenceName

_DAGSTERS = re.compile(
    r"context|conf|config|meta|(?:input_|output_)?arg_dict|dict|int|str|float|bool|input|output|type"
)
"""Names that Dagster refuses for an input, beside the words of Python."""

_SEEDED = ("diffusers", "gemini", "stand_in")
_SERVED = ("openai", "openai_compatible", "gemini", "anthropic")

_AT_ONCE = 16
ANY_GPU = "gpu"
"""A device that is any GPU: those of an entry that says how many."""
MAX_GPUS = 1024
MAX_DEFAULT_BATCH = 8
"""Largest batch of a local model on a GPU whose entry names none."""
_WAITING_BATCHES: Mapping[str, int] = {"transformers": 4}
"""Batches of a local model that are worked on, prepared or wait to be grouped; else 2."""
_WEEK_S = 604_800

Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
"""Price in dollars, bounded: a larger one is a typo and would overflow what is booked."""
Tokens = Annotated[int, Field(ge=1, le=MAX_TOKENS)]
_IMAGE_SIZE = r"^([0-9]+x[0-9]+|[0-9]+K)(/[a-z]+)?$"


def require_asset_name(name: str) -> str:
    """The name of an entry, which names an asset as well; raises ValueError where it cannot."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name):
        raise ValueError(
            f"is {name!r}, which cannot name an asset: take letters, digits and _, "
            "no digit first, 64 characters at most"
        )
    if iskeyword(name) or _DAGSTERS.fullmatch(name):
        raise ValueError(f"is {name!r}, which Dagster and Python keep: choose another")
    return name


AssetName = Annotated[str, AfterValidator(require_asset_name)]


class CatalogError(Exception):
    """A file of models cannot be used; the message says where and what to do."""


class Price(BaseModel):
    """US dollars; what is not given is unknown, never 0."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    input_per_million: Dollars | None = None
    output_per_million: Dollars | None = None
    per_image: dict[Annotated[str, Field(pattern=_IMAGE_SIZE)], Dollars] = {}
    """Price by size, or size and quality: "1024x1024", "1024x1024/high", "2K"."""
    per_gpu_hour: Dollars | None = None
    batch_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Price of a batched request as a share of the online price: 0.5 for half price."""


class Model(BaseModel):
    """An entry of models.yaml. A field's description says what to write where it is missing."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    name: AssetName = Field(
        description="letters, digits and _, as tables and assets show the model"
    )
    backend: BackendName = Field(description=f"one of {', '.join(get_args(BackendName))}")
    model: str = Field(
        min_length=1, description="the provider's id of the model, or `pattern` in its place"
    )
    family: str = Field(
        min_length=1,
        description="which models it belongs to, as in gpt or qwen: a family favours its own",
    )
    roles: tuple[Role, ...] = Field(
        min_length=1, strict=False, description=f"a list from {', '.join(get_args(Role))}"
    )
    parameters: dict[str, Any] = Field(default={}, validate_default=True)
    may_leave_folder: bool = False
    """Whether files and links of a manifest may lead out of its folder."""
    devices: tuple[str, ...] = Field(default=(), strict=False)
    """Devices of a local model: of this machine in torch's words, or a number of GPUs, which are
    those of the Ray cluster where one is set. A process on each."""
    base_url: str | tuple[str, ...] | None = Field(default=None, validate_default=True)
    """Address of the server, or of each of several servers of the same model."""
    key: str | None = None
    concurrency: int = Field(
        default_factory=lambda data: max(_AT_ONCE, _count_waiting_requests(data)), ge=1
    )
    """Requests on their way at once, at most; a local model's next batch waits behind its first."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    deadline_s: float = Field(
        default_factory=lambda data: 3600.0 if data.get("backend") in LOCAL_BACKENDS else 300.0,
        gt=0,
        le=_WEEK_S,
        allow_inf_nan=False,
    )
    """Seconds around one whole call, waiting and retries apart."""
    longest_output: Tokens | None = None
    """Tokens of the longest answer the model gives, where no parameter sets a limit."""
    tokens_per_image: Tokens | None = None
    """Tokens that a picture it is shown counts for, at most; by default what its backend bills."""
    image_tokens: ImageTokens | None = None
    """Expected tokens of an input picture, if no rule is published."""
    image_limits: ImageLimits | None = None
    """Limits on the pictures it is shown, in place of those that its provider publishes."""
    thinking: dict[str, Any] | None = None
    """A parameter with the values at which a judge is asked as well, such as
    {"reasoning_effort": ["low", "high"]}: each is a judge of its own."""
    blind: Literal["words", "grey"] | None = None
    """How a judge is asked without the picture as well: in words alone, or beside a grey picture;
    by default not at all."""
    drift_budget: Dollars | None = None
    """US dollars a month for asking a judge the same questions again, to see whether it has
    changed; by default it is not asked again."""
    licence: LicenceName | None = None
    """Licence of what it makes, by its SPDX name where it has one; a release states it."""
    price: Price = Price()

    @property
    def is_stand_in(self) -> bool:
        """True where it stands in for a model, for free: its results are no results."""
        return self.backend == "stand_in"

    @property
    def takes_seed(self) -> bool:
        """True where a request can carry the seed of the picture's noise."""
        in_files = self.backend == "folder" and self.parameters.get("seeds") is True
        return self.backend in _SEEDED or in_files

    @property
    def is_free(self) -> bool:
        """True where answers are free: they come from this project, from files, or from a log."""
        return self.backend in ("stand_in", "folder", "imported")

    @property
    def is_imported(self) -> bool:
        """True where its only answers come from logs: what these lack cannot be asked."""
        return self.backend == "imported"

    @property
    def may_lack_answers(self) -> bool:
        """True where one request without an answer says nothing of the others."""
        return self.backend in ("folder", "imported")

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds its API key; None where none is needed."""
        return self.key or KEY_VARIABLES.get(self.backend)

    @property
    def base_urls(self) -> tuple[str, ...]:
        """The addresses of its servers; none where its provider's is taken."""
        return (self.base_url,) if isinstance(self.base_url, str) else self.base_url or ()

    @property
    def thinking_steps(self) -> "tuple[tuple[str, Model], ...]":
        """Steps of its axis of thinking by label, in order; none without an axis.

        The step that its own parameters are is the entry itself, which comes first if it is none of
        those listed. The others are judges with names and parameters of their own.
        """
        if self.thinking is None:
            return ()
        steps = [
            (step.label, self if step.parameters == self.parameters else self._at_step(step))
            for step in list_axis_steps(self.thinking, self.parameters)
        ]
        if all(model is not self for _, model in steps):
            steps = [(find_own_step(self.thinking, self.parameters), self), *steps]
        return tuple(steps)

    def _at_step(self, step: ThinkingStep) -> "Model":
        changes = {"name": f"{self.name}_{step.label}", "parameters": step.parameters}
        plain = {"roles": ("judge",), "thinking": None, "blind": None, "drift_budget": None}
        return self.model_copy(update={**changes, **plain})

    def on_device(self, device: str | None) -> "Model":
        """The entry of the same model on one device alone; None for whichever torch sees."""
        parameters = self.parameters if device is None else {**self.parameters, "device": device}
        return self.model_copy(update={"parameters": parameters, "devices": ()})

    @property
    def requests_per_device(self) -> int:
        """Requests that a device of a local model has at once, worked on and waiting."""
        return _count_waiting_requests(dict(self)) // max(1, len(self.devices))

    @field_validator("model")
    @classmethod
    def _check_model_name(cls, model: str, entry: ValidationInfo) -> str:
        if entry.data.get("backend") == "python" and not re.fullmatch(r"[\w.]+:\w+", model):
            raise ValueError(f"is {model!r}: write module:function, as in my_metrics:brightness")
        if entry.data.get("backend") == "stand_in" and model not in STAND_INS:
            raise ValueError(f"is {model!r}, which is no stand-in{suggest_names(model, STAND_INS)}")
        return model

    @field_validator("roles")
    @classmethod
    def _require_abilities(cls, roles: tuple[Role, ...], entry: ValidationInfo) -> tuple[Role, ...]:
        backend, model = entry.data.get("backend"), entry.data.get("model")
        able = (
            STAND_INS.get(str(model))
            if backend == "stand_in"
            else ROLES_BY_BACKEND.get(str(backend))
        )
        beyond = [role for role in roles if able is not None and role not in able]
        if able is not None and beyond:
            who = f"{model!r}" if backend == "stand_in" else f"the backend {backend!r}"
            raise ValueError(
                f"has {', '.join(beyond)}, which {who} cannot be: choose from {', '.join(able)}"
            )
        if "metric" in roles and len(roles) > 1:
            raise ValueError(
                "has metric beside others, and its `formula` is for scores alone: give the metric "
                "an entry of its own"
            )
        return roles

    @field_validator("parameters")
    @classmethod
    def _refuse_reserved(cls, parameters: dict[str, Any], entry: ValidationInfo) -> dict[str, Any]:
        problem = (
            find_reserved_parameter(parameters)
            or find_backend_problem(entry.data.get("backend"), parameters)
            or find_encoder_problem(entry.data.get("roles"), parameters)
            or find_formula_problem(entry.data.get("backend"), entry.data.get("roles"), parameters)
        )
        if problem is not None:
            raise ValueError(problem)
        return parameters

    @field_validator("concurrency")
    @classmethod
    def _require_full_batches(cls, concurrency: int, entry: ValidationInfo) -> int:
        batches = _count_parallel_requests(entry.data)
        if concurrency < batches:
            raise ValueError(
                f"is {concurrency}: a `batch` of {_read_batch_size(entry.data)} would never "
                f"be full: write {2 * batches}, or remove it"
            )
        return concurrency

    @field_validator("may_leave_folder")
    @classmethod
    def _require_manifest(cls, may_leave: bool, entry: ValidationInfo) -> bool:
        backend = entry.data.get("backend")
        if may_leave and backend is not None and backend != "folder":
            raise ValueError(f"is not used by the backend {backend!r}: remove it")
        return may_leave

    @field_validator("devices", mode="before")
    @classmethod
    def _list_gpus(cls, devices: object) -> object:
        if isinstance(devices, bool) or not isinstance(devices, int):
            return devices
        if not 1 <= devices <= MAX_GPUS:
            raise ValueError(f"is {devices}: write a number of GPUs from 1 to {MAX_GPUS}")
        return (ANY_GPU,) * devices

    @field_validator("devices")
    @classmethod
    def _require_device_backend(
        cls, devices: tuple[str, ...], entry: ValidationInfo
    ) -> tuple[str, ...]:
        backend = entry.data.get("backend")
        if devices and backend is not None and backend not in DEVICE_BACKENDS:
            raise ValueError(f"is not used by the backend {backend!r}: remove it")
        if devices and "device" in entry.data.get("parameters", {}):
            raise ValueError("stands beside `device` in parameters: remove that one")
        if not all(re.fullmatch(r"[a-z]+(:[0-9]+)?", device) for device in devices):
            raise ValueError(
                "has no device in it: write them as in [cuda:0, cuda:1], or a number of GPUs"
            )
        if ANY_GPU in devices and set(devices) != {ANY_GPU}:
            raise ValueError("has GPUs by name and by number: write either")
        return devices

    @field_validator("base_url", mode="before")
    @classmethod
    def _require_servers(cls, value: object, entry: ValidationInfo) -> str | tuple[str, ...] | None:
        backend = entry.data.get("backend")
        if value is None:
            if backend == "openai_compatible":
                raise ValueError("is missing: the server's address, as in http://localhost:8000/v1")
            return None
        if backend is not None and backend not in _SERVED:
            raise ValueError(f"is not used by the backend {backend!r}: remove it")
        if isinstance(value, str):
            return _require_url(value)
        if not isinstance(value, list | tuple) or not all(isinstance(url, str) for url in value):
            raise ValueError("has to be an address in quotes, or a list of addresses")
        if backend is not None and backend != "openai_compatible":
            raise ValueError(
                f"is a list, which the backend {backend!r} has no use for: write one address"
            )
        if not value or len(set(value)) < len(value):
            raise ValueError("has to list each server once: remove it, or what is listed twice")
        urls = tuple(map(_require_url, value))
        return urls if len(urls) > 1 else urls[0]

    @field_validator("thinking")
    @classmethod
    def _require_steps(
        cls, thinking: dict[str, Any] | None, entry: ValidationInfo
    ) -> dict[str, Any] | None:
        backend = entry.data.get("backend")
        if thinking is None or backend is None:
            return thinking
        is_pensive = (backend, entry.data.get("model")) == ("stand_in", "pensive")
        if backend not in (*_SERVED, "transformers") and not is_pensive:
            raise ValueError(f"is not used by the backend {backend!r}: remove it")
        for step in list_axis_steps(thinking, entry.data.get("parameters", {})):
            require_asset_name(f"{entry.data.get('name', '')}_{step.label}")
            cls._refuse_reserved(step.parameters, entry)
        return thinking

    @field_validator("thinking", "blind", "drift_budget")
    @classmethod
    def _require_judge(cls, value: Any, entry: ValidationInfo) -> Any:
        if value is not None and "judge" not in entry.data.get("roles", ("judge",)):
            raise ValueError("is for judges alone: remove it, or add judge to roles")
        if value is not None and entry.data.get("backend") == "imported":
            raise ValueError("asks it again, which no imported log can answer: remove it")
        return value

    @field_validator("image_limits")
    @classmethod
    def _require_server(
        cls, limits: ImageLimits | None, entry: ValidationInfo
    ) -> ImageLimits | None:
        backend = entry.data.get("backend")
        if limits is not None and backend is not None and backend not in _SERVED:
            raise ValueError(f"is not used by the backend {backend!r}: remove it")
        return limits

    @field_validator("price")
    @classmethod
    def _require_used_price(cls, price: Price, entry: ValidationInfo) -> Price:
        backend = entry.data.get("backend")
        if price.per_gpu_hour is not None and backend in _SERVED:
            raise ValueError(
                f"has `per_gpu_hour`, which is not used by the backend {backend!r}: write prices "
                "of tokens, {input_per_million: 0, output_per_million: 0} for a server of your own"
            )
        return price

    @field_validator("key")
    @classmethod
    def _require_variable(cls, key: str | None, entry: ValidationInfo) -> str | None:
        backend = entry.data.get("backend")
        if key is None:
            return None
        if backend in ("stand_in", "folder", "imported"):
            raise ValueError(f"is not used by the backend {backend!r}: remove it")
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", key):
            raise ValueError(
                "is no name of an environment variable, as OPENAI_API_KEY is. If it is the API key "
                "itself, take it out of the file, hold it for leaked, and set a variable to it"
            )
        return key


def _require_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if wrong or re.search(r"\s", url):
        raise ValueError("is not a valid URL: write one as in http://localhost:8000/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("has more than a plain URL: remove name, password, ? and #")
    return url


def _read_batch_size(entry: Mapping[str, Any]) -> int:
    """Read a local model's batch size; 0 for others, and where it is no number."""
    batch = entry.get("parameters", {}).get("batch")
    return batch if entry.get("backend") in LOCAL_BACKENDS and isinstance(batch, int) else 0


def _count_parallel_requests(entry: Mapping[str, Any]) -> int:
    """Count the requests that a local model works on at once on all its devices."""
    return _read_batch_size(entry) * max(1, len(entry.get("devices", ())))


def _count_waiting_requests(entry: Mapping[str, Any]) -> int:
    """Count the requests that a local model works on, or that wait, on all its devices."""
    devices = entry.get("devices", ())
    default = MAX_DEFAULT_BATCH if any(device != "cpu" for device in devices) else 1
    batches = _WAITING_BATCHES.get(str(entry.get("backend")), 2)
    return batches * (_read_batch_size(entry) or default) * max(1, len(devices))
