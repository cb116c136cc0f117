"""Bounds and costs, in whole billionths of a dollar."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.calls.spending import NANO
from resources.models.catalog import Model
from resources.models.price_gaps import describe_missing_fields
from resources.models.pricing import (
    TOKENS_PER_IMAGE,
    TOKENS_PER_MESSAGE,
    TOKENS_PER_REQUEST,
    TOKENS_PER_SCHEMA,
    compute_cost,
    compute_cost_bound,
    compute_most_usage,
    count_most_picture_tokens,
    estimate_usage,
    explain_picture_cost,
    find_output_limit,
    is_paid,
    to_dollars,
)
from resources.models.replies import UNCOUNTED, Usage
from resources.models.requests import (
    EditRequest,
    LookRequest,
    PaintRequest,
    ScoreRequest,
    Turn,
    WriteRequest,
)

TOKENS = {"input_per_million": 2.0, "output_per_million": 8.0}
LOOK = LookRequest((Turn("user", "How many legs? 🇳🇵", ("a" * 64,)),))
WRITE = WriteRequest((Turn("system", "Be short."), Turn("user", "Write.")), '{"type": "object"}')
PAINT = PaintRequest("A hen with three legs")
EDIT = EditRequest("Add a leg", ("a" * 64, "b" * 64))


def model(backend="openai", price=TOKENS, **more):
    fields = {"name": "m", "backend": backend, "model": "m-1", "family": "m", "roles": ["judge"]}
    if backend == "diffusers":
        fields["roles"] = ["painter"]
    if backend == "openai_compatible":
        fields["base_url"] = "http://localhost:1/v1"
    return Model.model_validate(fields | {"price": price} | more)


@pytest.mark.parametrize(
    ("backend", "price", "expected"),
    [
        ("openai_compatible", {}, False),
        ("openai_compatible", {"input_per_million": 0.0, "output_per_million": 0.0}, False),
        ("openai_compatible", {"input_per_million": 0.0, "output_per_million": 0.1}, True),
        ("openai_compatible", {"per_image": {"1024x1024": 0.1}}, True),
        ("openai", {"input_per_million": 0.0, "output_per_million": 0.0}, True),
        ("openai", {}, True),
        ("diffusers", {}, False),
    ],
)
def test_a_provider_is_paid_and_a_server_of_ones_own_without_a_price_or_at_0_is_not(
    backend, price, expected
):
    assert is_paid(model(backend, price)) is expected


class TestCost:
    @pytest.mark.parametrize(
        ("price", "usage", "cost"),
        [
            (TOKENS, Usage(1000, 500), 6_000_000),
            ({"input_per_million": 0.1, "output_per_million": 0.5}, Usage(3, 0), 300),
            ({"input_per_million": 0.0375, "output_per_million": 0.0}, Usage(3, 0), 113),
            ({"input_per_million": 0.0, "output_per_million": 0.0}, Usage(9, 9), 0),
            (TOKENS, Usage(0, 0), 0),
            (TOKENS, Usage(1000, None), None),
            (TOKENS, Usage(None, 5), None),
            ({"input_per_million": 2.0}, Usage(1000, 500), None),
            ({"output_per_million": 2.0}, Usage(1000, 500), None),
            ({"per_image": {"1024x1024/high": 0.1}}, Usage(1000, 500), None),
            ({}, Usage(1000, 500), None),
        ],
    )
    def test_tokens_cost_what_they_cost_or_it_is_unknown(self, price, usage, cost):
        assert compute_cost(model(price=price), LOOK, usage) == cost

    def test_a_batch_costs_its_share_and_without_one_it_is_unknown(self):
        half = model(price=TOKENS | {"batch_share": 0.5})
        assert compute_cost(half, LOOK, Usage(1000, 500), "batch") == 3_000_000
        assert compute_cost(half, LOOK, Usage(1000, 500)) == 6_000_000
        assert compute_cost(model(), LOOK, Usage(1000, 500), "batch") is None
        assert "batch_share" in describe_missing_fields(model(), LOOK, "batch")

    def test_offline_costs_nothing(self):
        offline = model("stand_in", {}, model="sketch", roles=["painter"])
        assert compute_cost(offline, PAINT, UNCOUNTED) == compute_cost_bound(offline, PAINT) == 0

    @pytest.mark.parametrize(
        ("backend", "parameters", "prices", "cost"),
        [
            ("openai", {"size": "1024x1024", "quality": "high"}, {"1024x1024/high": 0.13}, 0.13),
            ("openai", {"size": "1024x1024", "quality": "low"}, {"1024x1024": 0.04}, 0.04),
            ("openai", {"size": "1024x1024", "quality": "low"}, {"1024x1024/high": 0.13}, None),
            ("openai", {"size": "1024x1024"}, {"1024x1024/high": 0.13}, None),
            ("openai", {"quality": "high"}, {"1024x1024/high": 0.13}, None),
            ("gemini", {"image_config": {"image_size": "2K"}}, {"1K": 0.07, "2K": 0.1}, 0.1),
            ("gemini", {}, {"1K": 0.07, "2K": 0.1}, 0.07),
            ("diffusers", {"width": 512, "height": 384}, {"512x384": 0.001}, 0.001),
        ],
    )
    def test_pictures_cost_by_size_and_quality(self, backend, parameters, prices, cost):
        painter = model(
            backend, {"per_image": prices}, parameters=parameters, roles=["painter", "editor"]
        )
        wanted = None if cost is None else round(cost * NANO)
        assert (
            compute_cost(painter, PAINT, UNCOUNTED) == compute_cost_bound(painter, PAINT) == wanted
        )
        if cost is None:
            assert "size" in describe_missing_fields(
                painter, PAINT
            ) or "per_image" in describe_missing_fields(painter, PAINT)

    def test_what_a_picture_is_made_from_is_paid_for_as_well_where_it_has_a_price(self):
        price = {"per_image": {"1K": 0.07}, "input_per_million": 1.0}
        painter = model("gemini", price, roles=["painter", "editor"])
        assert compute_cost(painter, PAINT, Usage(10, 1290)) == 70_010_000
        assert compute_cost(painter, PAINT, UNCOUNTED) is None
        assert (
            compute_cost_bound(painter, EDIT) - compute_cost_bound(painter, PAINT)
            > 2 * 1000 * 2_000
        )

    def test_a_picture_without_a_price_of_its_own_is_paid_by_tokens(self):
        painter = model(roles=["painter"], longest_output=5_000)
        assert compute_cost(painter, PAINT, Usage(10, 4_160)) == 20_000 + 33_280_000
        assert compute_cost_bound(painter, PAINT) > 40_000_000

    def test_local_ones_cost_the_time_of_the_gpu(self):
        painter = model("diffusers", {"per_gpu_hour": 3.6})
        assert compute_cost(painter, PAINT, Usage(gpu_seconds=2.5)) == 2_500_000
        assert compute_cost(painter, PAINT, UNCOUNTED) is None
        assert describe_missing_fields(model("diffusers", {}), PAINT) == "price.per_gpu_hour"
        assert compute_cost_bound(painter, PAINT) == 3_600_000_000
        many = model("diffusers", {"per_gpu_hour": 3.6}, deadline_s=60.0, parameters={"batch": 4})
        assert compute_cost_bound(many, PAINT) == 60_000_000

    def test_a_metric_costs_as_other_local_ones_do(self):
        scored = ScoreRequest("A hen", "a" * 64)
        clip = {"roles": ["metric"], "parameters": {"formula": "clip_score"}}
        metric = model("transformers", {"per_gpu_hour": 3.6}, **clip)
        assert compute_cost(metric, scored, Usage(gpu_seconds=2.5)) == 2_500_000
        assert compute_cost_bound(metric, scored) == 3_600_000_000
        unpriced = model("transformers", {}, **clip)
        assert compute_cost_bound(unpriced, scored) is None
        assert describe_missing_fields(unpriced, scored) == "price.per_gpu_hour"


class TestBound:
    def test_it_is_every_byte_every_picture_and_the_longest_answer(self):
        judge = model(parameters={"max_completion_tokens": 100})
        tokens = TOKENS_PER_REQUEST + len('{"max_completion_tokens": 100}')
        tokens += len("How many legs? ") + 8 + TOKENS_PER_MESSAGE + TOKENS_PER_IMAGE["openai"]
        assert (
            compute_cost_bound(judge, LOOK, sizes={"a" * 64: (64, 64)})
            == tokens * 2_000 + 100 * 8_000
        )

    def test_a_schema_counts(self):
        judge = model(longest_output=1)
        plain = WriteRequest(WRITE.turns)
        assert compute_cost_bound(judge, WRITE) - compute_cost_bound(judge, plain) == 2_000 * (
            TOKENS_PER_SCHEMA + 18
        )

    def test_an_entry_may_say_what_a_picture_counts_for(self):
        more, less = (model(longest_output=1, tokens_per_image=n) for n in (1_000, 100))
        assert compute_cost_bound(more, LOOK) - compute_cost_bound(less, LOOK) == 900 * 2_000
        assert compute_cost_bound(more, ScoreRequest("A hen", "a" * 64)) is not None

    @pytest.mark.parametrize(
        ("backend", "limit"),
        [
            ("openai", "max_completion_tokens"),
            ("openai_compatible", "max_tokens"),
            ("gemini", "max_output_tokens"),
            ("gemini", "maxOutputTokens"),
        ],
    )
    @pytest.mark.parametrize("value", [7, 7.0])
    def test_a_parameter_limits_the_answer_before_the_entry_does(self, backend, limit, value):
        by_parameter = compute_cost_bound(
            model(backend, parameters={limit: value}, longest_output=1_000), WRITE
        )
        assert by_parameter < compute_cost_bound(model(backend, longest_output=1_000), WRITE)
        assert by_parameter == compute_cost_bound(model(backend, parameters={limit: value}), WRITE)

    @pytest.mark.parametrize(
        "parameters",
        [{"max_new_tokens": 7}, {"maxTokens": 7}, {"extra_body": {"max_tokens": 7}},
         {"max_tokens": -1}, {"max_tokens": True}, {"max_tokens": "7"}, {"max_tokens": 7.5}],
    )  # fmt: skip
    def test_what_the_server_does_not_read_as_a_limit_is_none(self, parameters):
        judge = model("openai_compatible", parameters=parameters, longest_output=1_000)
        assert find_output_limit(judge) == 1_000
        assert find_output_limit(model("openai_compatible", parameters=parameters)) is None

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({}, "longest_output"),
            ({"price": {}, "longest_output": 9}, "price.input_per_million"),
            (
                {"price": {"input_per_million": 1.0}, "longest_output": 9},
                "price.output_per_million",
            ),
        ],
    )
    def test_what_is_missing_is_named(self, fields, says):
        assert compute_cost_bound(model(**fields), LOOK) is None
        assert says in describe_missing_fields(model(**fields), LOOK)

    @given(
        text=st.text(),
        tokens=st.integers(0, 10**6),
        price=st.floats(0, 1000),
        share=st.floats(0.01, 1),
    )
    def test_no_cost_is_above_it(self, text, tokens, price, share):
        both = {"input_per_million": price, "output_per_million": price, "batch_share": share}
        judge = model(price=both, longest_output=10**6)
        request = WriteRequest((Turn("user", text),))
        for mode in ("online", "batch"):
            bound = compute_cost_bound(judge, request, mode)
            longest = Usage(len(text.encode()), tokens)
            assert 0 <= compute_cost(judge, request, longest, mode) <= bound

    def test_half_a_surrogate_pair_is_bytes(self):
        assert (
            compute_cost_bound(model(longest_output=1), WriteRequest((Turn("user", "\ud83d"),)))
            is not None
        )


class TestExpected:
    """What a request is expected to cost before its model has answered any."""

    def test_pictures_count_by_the_rule_and_texts_by_a_token_for_four_bytes(self):
        judge = model(model="gpt-4o", longest_output=1_000)
        usage = estimate_usage(judge, LOOK, {"a" * 64: (1024, 1024)})
        assert usage == Usage(765 + math.ceil(len("How many legs? 🇳🇵".encode()) / 4), 100)

    def test_an_answer_is_no_longer_than_it_may_be(self):
        judge = model(model="gpt-4o", parameters={"max_tokens": 20, "reasoning_effort": "low"})
        assert estimate_usage(judge, LOOK).output_tokens == 20
        thinking = model(model="gpt-4o", parameters={"reasoning_effort": "low"})
        assert estimate_usage(thinking, LOOK).output_tokens == 1_500

    def test_a_picture_that_is_made_takes_what_the_entry_says(self):
        painter = model(roles=["painter"], longest_output=4_160)
        assert estimate_usage(painter, PAINT).output_tokens == 4_160

    def test_without_a_rule_it_is_unknown_and_an_entry_may_say_one(self):
        assert estimate_usage(model(), LOOK) is None
        said = model(
            image_tokens={"patch": 32, "tokens_per_square": 1.5, "base": 3}, longest_output=9
        )
        words = math.ceil(len("How many legs? 🇳🇵".encode()) / 4)
        assert estimate_usage(said, LOOK, {"a" * 64: (64, 33)}) == Usage(3 + 6 + words, 9)
        assert (
            count_most_picture_tokens(said, LOOK, {"a" * 64: (64, 33)})
            == TOKENS_PER_IMAGE["openai"]
        )

    def test_an_entrys_own_number_is_the_bound_of_both(self):
        judge = model(model="gpt-4o", tokens_per_image=200, longest_output=9)
        assert count_most_picture_tokens(judge, LOOK) == 200
        usage = compute_most_usage(judge, LOOK)
        assert estimate_usage(judge, LOOK).input_tokens <= usage.input_tokens


class TestWhatIsForPictures:
    def test_it_is_named_where_it_is_most_of_the_bound(self):
        judge = model("openai_compatible", longest_output=100)
        words = explain_picture_cost(judge, [WRITE, LOOK])
        assert re.fullmatch(
            r"\d\d% of that is for pictures, each taken for 16,384 tokens at most. If you know "
            r"that m counts fewer, set tokens_per_image in its entry in models.yaml.",
            words,
        )

    def test_it_is_not_where_it_is_not(self):
        assert explain_picture_cost(model(longest_output=100_000), [LOOK]) == ""
        assert explain_picture_cost(model(longest_output=100), [WRITE]) == ""
        assert explain_picture_cost(model(price={}), [LOOK]) == ""


def test_dollars_are_for_readers():
    assert to_dollars(1_250_000_000) == 1.25
