"""Costs of a request: at most, before it is sent, and in truth, once it is answered.

In whole billionths of a dollar, rounded up, so that sums are exact and no cost is above its bound.
"""

import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from resources.calls.spending import NANO, Mode
from resources.models.backend_names import LOCAL_BACKENDS
from resources.models.catalog import Model, Price
from resources.models.image_tokens import Size, count_most_by_any_rule, find_token_rule
from resources.models.parameter_checks import (
    THINKING_PARAMETERS,
    find_thinking_budget,
    read_token_limits,
)
from resources.models.replies import Usage
from resources.models.requests import (
    EditRequest,
    PaintRequest,
    Request,
    ScoreRequest,
    Turn,
    WriteRequest,
    get_request_kind,
)

TOKENS_PER_MESSAGE = 16
"""Tokens that frame a message, at most: roles and separators are three to ten."""
TOKENS_PER_REQUEST = 64
TOKENS_PER_SCHEMA = 1024
"""Tokens of the provider's own words around a schema; Anthropic's for a tool are the most, 350."""
TOKENS_PER_IMAGE: Mapping[str, int] = {
    # 1,536 patches of 32 px, the most that a picture is scaled to, at the largest multiplier.
    "openai": 3_800,
    # The highest media resolution of Gemini 3.
    "gemini": 2_240,
    # A picture of 2,576 px per side, the largest that is not scaled down, in patches of 28 px.
    "anthropic": 4_784,
    # The default of Qwen's processors, which take more than others.
    "openai_compatible": 16_384,
}
"""Tokens that a picture counts for at least in a bound, by backend, where an entry does not say."""
Sizes: TypeAlias = Mapping[str, Size]
NO_SIZES: Sizes = MappingProxyType({})
UNPAINTED_SIZE: Size = (2048, 2048)
"""The size, in px, of a picture that is not there yet: painters make 1,024 to 2,048 a side."""
EXPECTED_ANSWER_TOKENS: Mapping[str, int] = {"look": 100, "write": 500}
"""Tokens of an answer, by the kind of request, where a model has given none yet: a guess."""
EXPECTED_THINKING_TOKENS = 1_500
"""Expected tokens of an answer by a model that is set to think."""


def compute_cost_bound(
    model: Model, request: Request, mode: Mode = "online", sizes: Sizes = NO_SIZES
) -> int | None:
    """The most that a request can cost; None where a price or a limit is unknown.

    `sizes` are those of its pictures in px, by digest; a missing one has `UNPAINTED_SIZE`.
    """
    return compute_cost(model, request, compute_most_usage(model, request, sizes), mode)


def compute_most_usage(model: Model, request: Request, sizes: Sizes = NO_SIZES) -> Usage:
    """The most that a request can use; a token of text is at least a byte."""
    text, turns, schema = measure_text(request)
    tokens = (
        TOKENS_PER_REQUEST + len(json.dumps(model.parameters)) + text + turns * TOKENS_PER_MESSAGE
    )
    tokens += schema + TOKENS_PER_SCHEMA if schema else 0
    tokens += count_most_picture_tokens(model, request, sizes)
    return Usage(tokens, find_output_limit(model), model.deadline_s)


def count_most_picture_tokens(model: Model, request: Request, sizes: Sizes = NO_SIZES) -> int:
    """Count the most tokens that a request's pictures may take."""
    return sum(
        _count_most_tokens(model, sizes.get(image, UNPAINTED_SIZE))
        for image in list_images(request)
    )


def estimate_usage(model: Model, request: Request, sizes: Sizes = NO_SIZES) -> Usage | None:
    """Estimate a request's usage before its model has answered any like it.

    Four bytes of text count as a token, pictures by their provider's rule, and answers as
    `EXPECTED_ANSWER_TOKENS`; of a picture that is made, `longest_output` says how many tokens it
    takes. None where no rule is known.
    """
    rule = model.image_tokens or find_token_rule(model.backend, model.model, model.parameters)
    images = list_images(request)
    if images and rule is None:
        return None
    most = compute_most_usage(model, request, sizes)
    text, _, schema = measure_text(request)
    pictured = 0 if rule is None else sum(rule.count(sizes.get(i, UNPAINTED_SIZE)) for i in images)
    limits = (estimate_answer_tokens(model, request), most.output_tokens)
    return Usage(
        min(math.ceil((text + schema) / 4) + pictured, most.input_tokens or 0),
        min((limit for limit in limits if limit is not None), default=None),
    )


def estimate_answer_tokens(model: Model, request: Request) -> int | None:
    """Tokens that an answer is expected to have; None for a picture, which has its own number.

    A thinking budget counts whole.
    """
    if isinstance(request, PaintRequest | EditRequest | ScoreRequest):
        return None
    answer_tokens = EXPECTED_ANSWER_TOKENS[get_request_kind(request)]
    budget = find_thinking_budget(model.parameters)
    if budget is not None:
        return budget + answer_tokens
    is_thinking = not set(THINKING_PARAMETERS).isdisjoint(model.parameters)
    return EXPECTED_THINKING_TOKENS if is_thinking else answer_tokens


def explain_picture_cost(model: Model, requests: Iterable[Request], sizes: Sizes = NO_SIZES) -> str:
    """Explain that pictures are most of a bound, and the remedy; "" where they are not."""
    request = next((candidate for candidate in requests if list_images(candidate)), None)
    if request is None:
        return ""
    pictured = count_most_picture_tokens(model, request, sizes)
    bound = compute_cost_bound(model, request, sizes=sizes)
    cost = compute_cost(model, request, Usage(pictured, 0, 0.0))
    if not bound or not cost or cost <= bound / 2:
        return ""
    return (
        f"{cost / bound:.0%} of that is for pictures, each taken for "
        f"{pictured // len(list_images(request)):,} tokens at most. If you know that {model.name} "
        "counts fewer, set tokens_per_image in its entry in models.yaml."
    )


def compute_cost(model: Model, request: Request, usage: Usage, mode: Mode = "online") -> int | None:
    """Compute what an answer cost; None where a count or a price is unknown.

    What runs offline costs nothing, nor what lies in files.
    """
    if model.is_free:
        return 0
    share = model.price.batch_share if mode == "batch" else 1.0
    if share is None:
        return None
    cost = Decimal(0)
    for price, number in _parts(model, request, usage):
        if price is None or number is None:
            return None
        cost += price * Decimal(number)
    return math.ceil(cost * _to_decimal(share))


def is_paid(model: Model) -> bool:
    """Return whether a provider is paid for answers: not a machine or server of one's own.

    That is a server whose price is 0, or that has none and is near.
    """
    price = model.price
    dollars = (price.input_per_million, price.output_per_million, *price.per_image.values())
    is_own = model.backend == "openai_compatible" and not any(dollars)
    return model.backend not in LOCAL_BACKENDS and not (
        is_own and (price != Price() or is_near(model))
    )


def is_near(model: Model) -> bool:
    """Return whether all servers of an entry are on this machine or in its private network."""
    hosts = [urlsplit(url).hostname or "" for url in model.base_urls]
    return bool(hosts) and all(map(_is_private, hosts))


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host


def find_output_limit(model: Model) -> int | None:
    """The most tokens that an answer has: as a parameter limits it, else as the entry says."""
    limits = read_token_limits(model.backend, model.parameters)
    return max(limits.values(), default=model.longest_output)


def to_dollars(nano: int) -> float:
    """Billionths of a dollar as dollars."""
    return nano / NANO


def _parts(
    model: Model, request: Request, usage: Usage
) -> list[tuple[Decimal | None, float | None]]:
    """Prices in billionths, each with how much of it there was."""
    price = model.price
    tokens_in = (_to_token_price(price.input_per_million), usage.input_tokens)
    if isinstance(request, PaintRequest | EditRequest) and price.per_image:
        picture = (_find_image_price(model), 1)
        return [picture] if price.input_per_million is None else [picture, tokens_in]
    if model.backend in LOCAL_BACKENDS:
        hourly = price.per_gpu_hour
        return [(None if hourly is None else _to_decimal(hourly) * NANO / 3600, usage.gpu_seconds)]
    return [tokens_in, (_to_token_price(price.output_per_million), usage.output_tokens)]


def _to_token_price(per_million: float | None) -> Decimal | None:
    return None if per_million is None else _to_decimal(per_million) * (NANO // 1_000_000)


def _find_image_price(model: Model) -> Decimal | None:
    """The price of a picture of the size, and the quality, that the parameters ask for."""
    size, prices = format_size_and_quality(model), model.price.per_image
    if size is None:
        return None
    price = prices.get(size, prices.get(size.partition("/")[0]))
    return None if price is None else _to_decimal(price) * NANO


@lru_cache
def _to_decimal(number: float) -> Decimal:
    """A number as it is written: 0.1 is a tenth."""
    return Decimal(str(number))


def has_image_price(model: Model) -> bool:
    """Return whether the price of a picture of the parameters' size and quality is known."""
    return _find_image_price(model) is not None


def format_size_and_quality(model: Model) -> str | None:
    """Format as price.per_image does: "1024x1024/high", "1024x1024", "2K"; None without."""
    parameters = model.parameters
    config = parameters.get("image_config")
    if model.backend == "gemini":
        return str(config.get("image_size", "1K")) if isinstance(config, dict) else "1K"
    if "width" in parameters and "height" in parameters:
        return f"{parameters['width']}x{parameters['height']}"
    if "size" not in parameters:
        return None
    return (
        f"{parameters['size']}/{parameters['quality']}"
        if "quality" in parameters
        else str(parameters["size"])
    )


def _turns(request: Request) -> tuple[Turn, ...]:
    match request:
        case ScoreRequest(text, image):
            return (Turn("user", text, (image,)),)
        case PaintRequest(prompt):
            return (Turn("user", prompt),)
        case EditRequest(prompt, images):
            return (Turn("user", prompt, images),)
    return request.turns


def measure_text(request: Request) -> tuple[int, int, int]:
    """Measure a request's text, as prices depend on it: bytes, turns, bytes of a schema."""
    schema = request.schema if isinstance(request, WriteRequest) else None
    turns = _turns(request)
    return sum(_bytes(turn.text) for turn in turns), len(turns), _bytes(schema or "")


def to_request_shape(request: Request, sizes: Sizes) -> tuple[Any, ...]:
    """Reduce a request to what its price depends on: one shape costs any model the same."""
    return (type(request), *measure_text(request), *map(sizes.get, list_images(request)))


def list_images(request: Request) -> tuple[str, ...]:
    """The digests of the pictures that a request shows."""
    return tuple(image for turn in _turns(request) for image in turn.images)


def _count_most_tokens(model: Model, size: Size) -> int:
    """The most tokens that a picture of a size counts for."""
    if model.tokens_per_image is not None:
        return model.tokens_per_image
    rule = model.image_tokens or find_token_rule(model.backend, model.model, model.parameters)
    return max(
        TOKENS_PER_IMAGE.get(model.backend, 0),
        0 if rule is None else rule.count_most(size),
        count_most_by_any_rule(model.backend, model.model, size),
    )


def _bytes(text: str) -> int:
    # A model may have said half of a surrogate pair, which is then put to it again.
    return len(text.encode(errors="surrogatepass"))
