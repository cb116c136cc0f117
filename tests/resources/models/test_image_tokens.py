"""Tokens of pictures: what providers publish, and bounds that no rule goes beyond."""

import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.calls.spending import Account
from resources.models.catalog import Model
from resources.models.image_tokens import find_token_rule
from resources.models.outcomes import AnsweredOutcome
from resources.models.pricing import compute_cost, compute_cost_bound
from resources.models.replies import Usage
from resources.models.requests import LookRequest, Turn
from tests.providers.pictures import png
from tests.resources.models.conftest import LOG, looks, model

PICTURE = "a" * 64
LOOK = LookRequest((Turn("user", "?", (PICTURE,)),))
PRICE = {"input_per_million": 2.0, "output_per_million": 8.0}
SIDES = st.integers(1, 8192)
SIZES = st.tuples(SIDES, SIDES).filter(lambda size: size[0] * size[1] <= 30_000_000)


def tiled(base, each, size, *, enlarged=False):
    """OpenAI's words: fit into 2048 px, then bring the shortest side to 768 px, count 512 px."""
    scale = min(1, 2048 / max(size))
    shorter = min(size) * scale
    if shorter > 768 or enlarged:
        scale *= 768 / shorter
    # What is enlarged may not go beyond the first square again.
    sides = [min(2048, side * scale) for side in size]
    return base + each * math.prod(math.ceil(round(side, 6) / 512) for side in sides)


def patched(each, most, size):
    """OpenAI's words: where there are too many, scale so that whole patches cover the picture."""
    squares = math.prod(math.ceil(side / 32) for side in size)
    if squares > most:
        scale = math.sqrt(32**2 * most / math.prod(size))
        across = [side * scale / 32 for side in size]
        scale *= min(max(1, math.floor(side)) / side for side in across)
        squares = min(most, math.prod(math.ceil(max(1, int(side * scale)) / 32) for side in size))
    return math.ceil(squares * each)


def cropped(size):
    """Google's words: a crop is two thirds of the shorter side, of 256 to 768 px."""
    if size[0] <= 384 and size[1] <= 384:
        return 258
    crop = sorted([256, min(size) // 1.5, 768])[1]
    return 258 * math.ceil(size[0] / crop) * math.ceil(size[1] / crop)


def of_claude(longest, most, size):
    scale = min(1, longest / max(size))
    return min(most, math.prod(math.ceil(side * scale / 28) for side in size))


BILLS = [
    ("openai", "gpt-4o", partial(tiled, 85, 170)),
    ("openai", "gpt-4o", partial(tiled, 85, 170, enlarged=True)),
    ("openai", "gpt-4.1-2025-04-14", partial(tiled, 85, 170)),
    ("openai", "gpt-4o-mini", partial(tiled, 2833, 5667)),
    ("openai", "gpt-4o-mini", partial(tiled, 2833, 5667, enlarged=True)),
    ("openai", "gpt-5", partial(tiled, 70, 140)),
    ("openai", "o3", partial(tiled, 75, 150)),
    ("openai", "gpt-5-mini", partial(patched, 1.62, 1536)),
    ("openai", "gpt-5-nano", partial(patched, 2.46, 1536)),
    ("openai", "o4-mini", partial(patched, 1.72, 1536)),
    ("openai", "gpt-5.5", partial(patched, 1.2, 10_000)),
    ("openai", "gpt-5.6", partial(patched, 1.62, math.inf)),
    ("openai", "gpt-6-luna", partial(patched, 2.46, math.inf)),
    ("gemini", "gemini-2.5-pro", cropped),
    ("gemini", "gemini-3.8-flash", lambda size: 1120),
    ("anthropic", "claude-sonnet-4-5", partial(of_claude, 1568, 1568)),
    ("anthropic", "claude-sonnet-5-5", partial(of_claude, 2576, 4784)),
    ("openai_compatible", "Qwen/Qwen2.5-VL-7B-Instruct",
     lambda size: min(16_384, math.ceil(size[0] / 28) * math.ceil(size[1] / 28))),
]  # fmt: skip
"""Backend, model, and what its provider bills for a picture, told independently of the rules."""


def entry(backend, name, **more):
    fields = {"name": "m", "backend": backend, "model": name, "family": "m", "roles": ["judge"]}
    if backend == "openai_compatible":
        fields["base_url"] = "http://localhost:1/v1"
    if backend == "anthropic":
        fields["parameters"] = {"max_tokens": 1}
    return Model.model_validate(fields | {"price": PRICE, "longest_output": 1} | more)


@pytest.mark.parametrize(("backend", "name", "billed"), BILLS)
@given(size=SIZES)
def test_the_bound_is_never_below_what_is_billed_whatever_the_size(backend, name, billed, size):
    judge = entry(backend, name)
    cost = compute_cost(judge, LOOK, Usage(1 + billed(size), 1))
    assert cost <= compute_cost_bound(judge, LOOK, sizes={PICTURE: size})


@pytest.mark.parametrize(("backend", "name", "billed"), BILLS)
@pytest.mark.parametrize("size", [(384, 384), (768, 768), (1152, 1152), (1024, 1536), (2000, 500)])
def test_the_rule_counts_what_is_billed(backend, name, billed, size):
    rule = find_token_rule(backend, name, {})
    if rule is not None and not name.startswith("gpt-5.") and "enlarged" not in str(billed):
        assert billed(size) <= rule.count(size) <= 1.07 * billed(size)


@pytest.mark.parametrize(
    ("backend", "name", "size", "tokens"),
    [
        ("openai", "gpt-4o", (1024, 1024), 765),
        ("openai", "gpt-4o-2024-08-06", (2048, 4096), 1105),
        ("openai", "gpt-4.1", (512, 512), 255),
        ("openai", "gpt-4o-mini", (1024, 1024), 25_501),
        ("openai", "gpt-4.1-mini", (1024, 1024), 1_659),
        ("gemini", "gemini-2.5-flash", (384, 384), 258),
        ("gemini", "gemini-2.5-flash", (960, 540), 6 * 258),
        ("gemini", "gemini-3.8-flash", (4000, 3000), 1120),
        ("anthropic", "claude-sonnet-4-5", (200, 200), 64),
        ("anthropic", "claude-opus-4-7", (1000, 1000), 1296),
        ("anthropic", "claude-sonnet-5-5", (3840, 2160), 4784),
    ],
)
def test_documented_examples(backend, name, size, tokens):
    assert find_token_rule(backend, name, {}).count(size) == tokens


@pytest.mark.parametrize(
    ("backend", "name"),
    [("openai", "gpt-6-luna"), ("openai_compatible", "llava"), ("openai", "gpt-image-2"),
     ("gemini", "learnlm"), ("transformers", "llava-hf/llava-1.5-7b-hf")],
)  # fmt: skip
def test_where_nothing_is_published_nothing_is_said(backend, name):
    assert find_token_rule(backend, name, {}) is None


def test_the_resolution_that_gemini_is_told_counts():
    low = {"media_resolution": "MEDIA_RESOLUTION_LOW"}
    assert find_token_rule("gemini", "gemini-3.8-flash", low).count((1024, 1024)) == 280
    assert find_token_rule("gemini", "gemini-2.5-pro", low).count((1024, 1024)) == 64


@pytest.mark.parametrize(("backend", "name"), [("openai", "gpt-4o-mini"), ("openai", "gpt-5.6")])
def test_a_provider_that_bills_by_its_rule_never_goes_beyond_what_is_reserved(
    server, client, backend, name
):
    """Over HTTP: pictures of 8 px to 4,000 px a side, of which none stops the run."""
    sizes = [(8, 8), (384, 384), (1152, 768), (4000, 40), (3000, 3000)]
    digests = [client.images.put(png(str(size), *size)) for size in sizes]
    assert client.images.sizes([*digests, "0" * 64]) == dict(zip(digests, sizes, strict=True))
    rule = find_token_rule(backend, name, {})
    server.counts = lambda data: rule.count_most(
        (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    )
    judge = model(server, backend, model=name, price=PRICE, longest_output=1)
    requests = [request for digest in digests for request in looks(1, digest)]
    asked = client.ask(judge, requests, LOG, Account(per_run=10.0))
    assert all(isinstance(outcome, AnsweredOutcome) for outcome in asked.outcomes)
    assert asked.spent > 0
