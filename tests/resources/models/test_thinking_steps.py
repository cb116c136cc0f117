"""The axis of thinking of an entry: its steps, their names, and what is refused."""

import pytest

from resources.models.catalog import Catalog, CatalogError, Model, load_catalog
from resources.models.parameter_checks import find_thinking_budget
from resources.models.pricing import estimate_answer_tokens
from resources.models.requests import LookRequest, compute_call_keys
from resources.models.thinking_steps import list_axis_steps

LUNA = {
    "name": "luna",
    "backend": "openai",
    "model": "gpt-6-luna",
    "family": "gpt",
    "roles": ["judge", "writer"],
    "parameters": {"reasoning_effort": "medium", "max_completion_tokens": 16000},
    "blind": "words",
}
EFFORTS = {"reasoning_effort": ["low", "medium", "high"]}
ENTRY = """
- name: luna
  backend: openai
  model: gpt-6-luna
  family: gpt
  roles: [judge]
"""


def test_each_step_is_a_judge_and_the_entry_is_its_own_step():
    entry = Model.model_validate(LUNA | {"thinking": EFFORTS})
    steps = entry.thinking_steps
    assert [(label, model.name) for label, model in steps] == [
        ("low", "luna_low"),
        ("medium", "luna"),
        ("high", "luna_high"),
    ]
    assert steps[1][1] is entry
    low = steps[0][1]
    assert low.parameters == {"reasoning_effort": "low", "max_completion_tokens": 16000}
    assert (low.roles, low.thinking, low.blind) == (("judge",), None, None)
    # The entry's own step is never paid for again, nor is an entry that gets an axis.
    plain = Model.model_validate(LUNA)
    look = [LookRequest(())]
    assert compute_call_keys(steps[1][1], look) == compute_call_keys(plain, look)
    assert compute_call_keys(low, look) != compute_call_keys(plain, look)


def test_an_entry_that_leaves_the_axis_open_comes_first_as_the_default():
    thinking = {"thinking_config": {"thinking_budget": [0, 8192]}}
    fields = {**LUNA, "backend": "gemini", "parameters": {"thinking_config": {"x": 1}}}
    steps = Model.model_validate(fields | {"thinking": thinking}).thinking_steps
    assert [(label, model.name) for label, model in steps] == [
        ("default", "luna"),
        ("0", "luna_0"),
        ("8192", "luna_8192"),
    ]
    assert steps[2][1].parameters == {"thinking_config": {"x": 1, "thinking_budget": 8192}}


def test_a_value_may_be_a_mapping_or_a_switch():
    kinds = [{"type": "disabled"}, {"type": "enabled", "budget_tokens": 4096}]
    steps = list_axis_steps({"thinking": kinds}, {"max_tokens": 9})
    assert [label for label, _ in steps] == ["disabled", "enabled_4096"]
    assert steps[1].parameters == {"max_tokens": 9, "thinking": kinds[1]}
    switches = list_axis_steps({"chat_template_kwargs": {"enable_thinking": [False, True]}}, {})
    assert [label for label, _ in switches] == ["false", "true"]


def test_the_catalog_has_the_steps_behind_their_entry_and_no_role_but_on_request(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text(ENTRY + "  thinking: {reasoning_effort: [low, high]}\n")
    catalog = load_catalog(path)
    names = ["luna", "luna_low", "luna_high"]
    assert [model.name for model in catalog.models] == names
    assert [model.name for model in catalog.select_role("judge")] == ["luna"]
    assert [model.name for model in catalog.select_role("judge", has_steps=True)] == names
    assert Catalog(catalog.models[1:]).select_role("judge") == catalog.models[1:]


@pytest.mark.parametrize(
    ("thinking", "words"),
    [
        ("{reasoning_effort: low}", "has no list of steps: write one parameter and its values"),
        ("{reasoning_effort: []}", "has no list of steps"),
        ("{a: [1], b: [2]}", "has no list of steps"),
        ("{reasoning_effort: [low, LOW]}", "lists a step twice"),
        ("{reasoning_effort: ['']}", "lists a step twice, or an empty one"),
        ("{n: [1, 2]}", "has `n`: remove it"),
        (f"{{reasoning_effort: [{'x' * 60}]}}", "cannot name an asset"),
    ],
)
def test_what_is_no_axis_is_refused_by_line(tmp_path, thinking, words):
    path = tmp_path / "models.yaml"
    path.write_text(f"{ENTRY}  thinking: {thinking}\n")
    with pytest.raises(CatalogError, match=f"line 7, luna: `thinking` .*{words}"):
        load_catalog(path)


def test_a_step_below_what_is_no_mapping_is_refused():
    with pytest.raises(ValueError, match="goes below `reasoning`, which `parameters` set to 'low'"):
        list_axis_steps({"reasoning": {"effort": ["high"]}}, {"reasoning": "low"})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"backend": "stand_in", "model": "prior"}, "is not used by the backend 'stand_in'"),
        ({"roles": ["writer"]}, "is for judges alone"),
    ],
)
def test_it_is_for_judges_that_can_think(fields, words):
    given = {**LUNA, "parameters": {}, "blind": None} | fields
    with pytest.raises(ValueError, match=words):
        Model.model_validate(given | {"thinking": EFFORTS})


def test_a_step_that_another_entry_names_or_is_already_is_an_error(tmp_path):
    path = tmp_path / "models.yaml"
    low = "  parameters: {reasoning_effort: low}\n"
    axis = "  thinking: {reasoning_effort: [low]}\n"
    path.write_text(ENTRY + axis + ENTRY.replace("luna\n  b", "LUNA_low\n  b") + low)
    with pytest.raises(CatalogError) as caught:
        load_catalog(path)
    assert "its step 'luna_low' has the name of a model on line 9: rename that" in str(caught.value)
    path.write_text(ENTRY + axis + ENTRY.replace("luna\n  b", "other\n  b") + low)
    with pytest.raises(CatalogError, match="the same model as `luna_low` on line 2"):
        load_catalog(path)


@pytest.mark.parametrize(
    ("parameters", "budget"),
    [
        ({}, None),
        ({"reasoning_effort": "high"}, None),
        ({"reasoning_effort": "none"}, 0),
        ({"reasoning": {"max_tokens": 2000}}, 2000),
        ({"reasoning": {"effort": "low"}, "max_tokens": 50}, None),
        ({"thinking_config": {"thinking_budget": 8192}}, 8192),
        ({"thinking_config": {"thinking_budget": -1}}, None),
        ({"thinking": {"type": "enabled", "budget_tokens": 4096}}, 4096),
        ({"thinking": {"type": "disabled"}}, 0),
        ({"chat_template_kwargs": {"enable_thinking": False}}, 0),
        ({"thinking": True}, None),
        ({"max_tokens": 9, "thinking": False}, 0),
    ],
)
def test_a_budget_is_expected_whole_and_an_answer_with_it(parameters, budget):
    assert find_thinking_budget(parameters) == budget
    judge = Model.model_validate({**LUNA, "parameters": parameters, "model": "m"})
    is_open = budget is None and parameters
    expected = 1500 if is_open else 100 + (budget or 0)
    assert estimate_answer_tokens(judge, LookRequest(())) == expected
