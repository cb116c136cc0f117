"""models.yaml: what it may say, and what is said of everything else."""

import asyncio
import json
import re
import time
import traceback
from pathlib import Path

import pytest
from dagster._core.definitions.utils import DISALLOWED_NAMES, is_valid_name

from resources.models.backend_names import ROLES_BY_BACKEND, STAND_INS
from resources.models.backends import build_backend
from resources.models.catalog import Catalog, CatalogError, Model, load_catalog

MODELS_YAML = Path(__file__).parents[3] / "models.yaml"
GPT = {"name": "gpt", "backend": "openai", "model": "gpt-9", "family": "gpt", "roles": ["judge"]}
"""An entry that is right."""
SECRET = "sk-abcDEF123456"


def entry(**fields):
    """The entry above with other fields, one a line, so that its third field stands on line 3."""
    lines = [f"{name}: {json.dumps(value)}" for name, value in {**GPT, **fields}.items()]
    return "- " + "\n  ".join(lines) + "\n"


def metric(**fields):
    """An entry of a metric, with other fields."""
    return entry(**{"backend": "transformers", "roles": ["metric"]} | fields)


@pytest.fixture
def loaded(tmp_path):
    """`load` of a text or of bytes."""

    def loaded(content):
        path = tmp_path / "models.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_catalog(path)

    return loaded


@pytest.fixture
def said(loaded, tmp_path):
    """What is said of a text that is wrong: one (line, entry, words) a problem."""

    def said(content):
        with pytest.raises(CatalogError) as caught:
            loaded(content)
        head, *lines = str(caught.value).splitlines()
        path = re.escape(str(tmp_path / "models.yaml"))
        assert re.fullmatch(rf"{path} has (one error|\d+ errors)\.", head)
        pattern = rf"  {path}, line (\d+)(?:, ([^:]+))?: (.+)"
        found = [re.fullmatch(pattern, line) for line in lines]
        assert all(found), lines
        return [(int(match[1]), match[2], match[3]) for match in found]

    return said


class TestTheFileInTheProject:
    def test_it_names_what_needs_no_key(self):
        catalog = load_catalog(MODELS_YAML)
        assert {model.name: model.roles for model in catalog.models} == {
            "prior": ("judge",),
            "pixels": ("judge",),
            "random": ("judge",),
            "gullible": ("judge",),
            **dict.fromkeys(("pensive", "pensive_low", "pensive_high"), ("judge",)),
            **dict.fromkeys(
                ("vain", "strict", "plain", "generous", "steep"), ("captioner", "judge")
            ),
            "grammar": ("writer",),
            "sketch": ("painter", "editor"),
        }
        assert {model.key_variable for model in catalog.models} == {None}

    def examples(self):
        paragraphs = MODELS_YAML.read_text(encoding="utf-8").split("\n\n")
        examples = [text for text in paragraphs if text.startswith("# - name:")]
        return [re.sub(r"^# ?", "", text, flags=re.MULTILINE) + "\n" for text in examples]

    def test_every_example_loads_once_it_is_uncommented(self, loaded):
        backends = {loaded(example).models[0].backend for example in self.examples()}
        assert backends == set(ROLES_BY_BACKEND)

    def test_every_example_has_parameters_that_its_backend_takes(self, loaded):
        async def made_and_closed(model):
            await build_backend(model, "no-key", lambda digest: b"").aclose()

        for example in self.examples():
            model = loaded(example).models[0]
            if model.backend != "file":  # which is read, and never asked
                asyncio.run(made_and_closed(model))

    def test_a_ratio_in_an_example_is_text(self, loaded):
        [model] = [
            loaded(example).models[0] for example in self.examples() if "aspect_ratio" in example
        ]
        assert model.parameters["image_config"]["aspect_ratio"] == "1:1"

    def test_all_examples_load_together_beside_what_is_there(self, loaded):
        text = MODELS_YAML.read_text(encoding="utf-8")
        everything = loaded(text + "\n" + "\n".join(self.examples()))
        assert len(everything.models) == 14 + len(self.examples())
        assert len(self.examples()) > 8

    def test_no_example_asks_anthropic_for_what_it_does_not_take(self, said):
        known = {"backend": "anthropic", "model": "claude-9"}
        [(line, name, words)] = said(entry(**known))
        assert (line, name) == (1, "gpt")
        assert words.startswith("`parameters` has no `max_tokens`, without which Anthropic takes")
        assert "add it, as in {max_tokens: 32000}" in words
        for wrong in ({"max_tokens": 0}, {"max_tokens": "32000"}, {"effort": "low"}):
            [(line, _, words)] = said(entry(**known, parameters=wrong))
            assert (line, "has no `max_tokens`" in words) == (6, True)
        [(line, _, words)] = said(entry(**known, parameters={"max_tokens": 9, "temperature": 1.0}))
        assert (line, "`temperature`: remove it" in words) == (6, True)

    def test_nothing_in_a_comment_but_examples_looks_like_an_entry(self):
        text = MODELS_YAML.read_text(encoding="utf-8")
        assert len(re.findall(r"^# *- name", text, re.MULTILINE)) == len(self.examples())
        assert len(re.findall(r"^# *- ", text, re.MULTILINE)) == len(self.examples()) + 1

    def test_the_example_of_a_pattern_loads_once_it_is_uncommented(self, loaded):
        text = MODELS_YAML.read_text(encoding="utf-8")
        [example] = [each for each in text.split("\n\n") if each.startswith("# - pattern:")]
        [pattern] = loaded(re.sub(r"^# ?", "", example, flags=re.MULTILINE) + "\n").patterns
        assert pattern.pattern == "gpt-image-*"


class TestRightFiles:
    def test_a_file_without_entries_is_a_catalog_without_models(self, loaded):
        for text in ("", "# nothing yet\n", "[]", "---\n"):
            assert loaded(text).models == ()

    def test_models_come_in_the_order_of_the_file(self, loaded):
        text = entry(name="b") + entry(name="a", model="other")
        assert [model.name for model in loaded(text).models] == ["b", "a"]

    def test_what_is_left_out_takes_its_default(self, loaded):
        model = loaded(entry()).models[0]
        assert (model.concurrency, model.deadline_s, model.parameters) == (16, 300, {})
        assert (model.requests_per_minute, model.tokens_per_minute) == (None, None)

    def test_a_local_model_may_take_an_hour(self, loaded):
        assert loaded(entry(backend="transformers")).models[0].deadline_s == 3600
        assert loaded(entry(backend="transformers", deadline_s=5)).models[0].deadline_s == 5

    @pytest.mark.parametrize(("batch", "at_once"), [(1, 16), (8, 32), (32, 128), ("32", 16)])
    def test_a_local_model_waits_with_its_next_batches_ready(self, loaded, batch, at_once):
        local = {"backend": "transformers", "parameters": {"batch": batch}}
        assert loaded(entry(**local)).models[0].concurrency == at_once
        assert loaded(entry(**local, concurrency=32)).models[0].concurrency == 32
        assert loaded(entry(parameters={"batch": 99})).models[0].concurrency == 16

    @pytest.mark.parametrize(
        ("backend", "devices", "batch", "per_device"),
        [
            ("diffusers", ["cpu", "cpu"], None, 2),
            ("diffusers", ["cuda:0", "cuda:1"], None, 16),
            ("diffusers", ["cuda:0", "cuda:1"], 4, 8),
            ("transformers", ["cuda:0", "cuda:1", "cuda:2"], 8, 32),
            ("transformers", 3, None, 32),
        ],
    )
    def test_each_device_has_its_next_batches_waiting(
        self, loaded, backend, devices, batch, per_device
    ):
        parameters = {} if batch is None else {"batch": batch}
        role = "painter" if backend == "diffusers" else "judge"
        fields = {"backend": backend, "roles": [role], "devices": devices}
        (model,) = loaded(entry(**fields, parameters=parameters)).models
        assert model.requests_per_device == per_device
        assert model.concurrency == max(16, per_device * len(model.devices))
        assert len(model.devices) == (devices if isinstance(devices, int) else len(devices))

    def test_plain_values_are_what_people_mean_by_them(self, loaded):
        parameters = """
  parameters:
    ratio: 16:9
    small: 1e-5
    whole: 012
    size: 1024x1024
    on_top: "no"
    day: '2026-01-01'
    nothing: null
    list: [1, 2.5, true, {deep: FALSE}]
"""
        assert loaded(entry().rstrip() + parameters).models[0].parameters == {
            "ratio": "16:9",
            "small": 1e-5,
            "whole": 12,
            "size": "1024x1024",
            "on_top": "no",
            "day": "2026-01-01",
            "nothing": None,
            "list": [1, 2.5, True, {"deep": False}],
        }

    def test_windows_files_are_read(self, loaded, said):
        assert loaded(b"\xef\xbb\xbf" + entry().replace("\n", "\r\n").encode()).models
        assert said(entry(backend="gpt").replace("\n", "\r\n"))[0][0] == 2

    def test_one_model_with_other_parameters_is_another_model(self, loaded):
        low = {"reasoning_effort": "low"}
        assert len(loaded(entry() + entry(name="low", parameters=low)).models) == 2


class TestKeys:
    @pytest.mark.parametrize(
        ("fields", "variable"),
        [
            ({}, "OPENAI_API_KEY"),
            ({"backend": "gemini"}, "GEMINI_API_KEY"),
            ({"key": "MY_KEY_2"}, "MY_KEY_2"),
            ({"backend": "openai_compatible", "base_url": "http://localhost:8000/v1"}, None),
            ({"backend": "openai_compatible", "base_url": "http://h", "key": "VLLM"}, "VLLM"),
            ({"backend": "diffusers", "roles": ["painter"]}, None),
            ({"backend": "transformers", "key": "HF_TOKEN"}, "HF_TOKEN"),
        ],
    )
    def test_the_variable_that_holds_it(self, loaded, fields, variable):
        assert loaded(entry(**fields)).models[0].key_variable == variable

    @pytest.mark.parametrize(
        "fields",
        [
            {"key": SECRET},
            {"key": SECRET, "backend": "diffusers"},
            {"key": SECRET, "backend": "opena", "nonsense": 1},
            {"key": [SECRET]},
            {"key": {"value": SECRET}},
            {"api_key": SECRET},
            {"base_url": f"https://me:{SECRET}@example.org"},
            {"base_url": f"https://example.org?key={SECRET}"},
            {"base_url": SECRET},
            {"parameters": {"api_key": SECRET}},
            {"parameters": {"extra_body": [{"Authorization": SECRET}]}},
        ],
    )
    def test_a_key_in_the_file_is_refused_and_not_repeated(self, loaded, fields):
        with pytest.raises(CatalogError) as caught:
            loaded(entry(**fields))
        assert SECRET not in "".join(traceback.format_exception(caught.value))

    def test_a_key_in_yaml_that_is_none_is_not_repeated(self, loaded):
        for text in (
            f"- key: {SECRET}\n key: x\n",
            f"- key: *{SECRET}\n",
            f"- key: &{SECRET} 1\n",
            f"- key: !{SECRET} 1\n",
            f'- key: "{SECRET}\\q"\n',
            f"- key: {SECRET}: {SECRET}\n",
            f"- key: [{SECRET}\n",
        ):
            with pytest.raises(CatalogError) as caught:
                loaded(text)
            assert SECRET not in "".join(traceback.format_exception(caught.value))

    def test_the_remedy_for_a_key_in_the_file_is_said(self, said):
        [(line, name, words)] = said(entry(key=SECRET))
        assert (line, name) == (6, "gpt")
        assert "set a variable" in words


WRONG = {
    "unknown backend": (entry(backend="opena"), 2, "'opena' … did you mean openai? … gemini"),
    "devices of a server": (entry(devices=["cuda:0"]), 6, "`devices` … not used by … openai"),
    "no GPU": (
        entry(backend="diffusers", roles=["painter"], devices=0),
        6,
        "`devices` is 0: write a number of GPUs from 1 to 1024",
    ),
    "GPUs by name and by number": (
        entry(backend="diffusers", roles=["painter"], devices=["gpu", "cuda:0"]),
        6,
        "`devices` has GPUs by name and by number: write either",
    ),
    "unknown role": (entry(roles=["judge", "panter"]), 5, "'panter' … did you mean painter?"),
    "only role unknown": (entry(roles=["juge"]), 5, "'juge' … did you mean judge?"),
    "unknown field": (entry(famly="gpt"), 6, "`famly` is no field … did you mean family?"),
    "a key in a field of its own": (entry(api_key=SECRET), 6, "no field … treat it as leaked"),
    "a parameter in the entry": (entry(temperature=1.0), 6, "no field … below `parameters`"),
    "unknown price": (entry(price={"input": 1}), 6, "`price.input` … input_per_million"),
    "missing name": (
        "- backend: openai\n  model: m\n  family: f\n  roles: [judge]",
        1,
        "`name` is missing",
    ),
    "missing family": (
        "- name: a\n  backend: openai\n  model: m\n  roles: [judge]",
        1,
        "`family` is missing … gpt or qwen",
    ),
    "empty family": (entry(family=""), 4, "`family` is empty … gpt or qwen"),
    "nothing after the colon": (entry().replace('"gpt-9"', ""), 3, "`model` is empty"),
    "no roles": (entry(roles=[]), 5, "`roles` is empty … painter"),
    "roles no list": (entry(roles="judge"), 5, "`roles` has to be a list, as in [judge]"),
    "model a number": (
        entry(model=5),
        3,
        "`model` has to be … string, not int: … quotes",
    ),
    "model true": (entry(model=True), 3, "`model` has to be a valid string, not bool … in quotes"),
    "model a list": (entry(model=["m"]), 3, "`model` has to be a valid string, not list"),
    "concurrency in quotes": (
        entry(concurrency="4"),
        6,
        "`concurrency` … integer, not str … quotes",
    ),
    "concurrency 1.5": (
        entry(concurrency=1.5),
        6,
        "`concurrency` … integer, not float … or point",
    ),
    "concurrency true": (
        entry(concurrency=True),
        6,
        "`concurrency` … integer, not bool",
    ),
    "concurrency 0": (
        entry(concurrency=0),
        6,
        "`concurrency` has to be greater than or equal to 1",
    ),
    "a batch that never fills": (
        entry(backend="transformers", parameters={"batch": 32}, concurrency=16),
        7,
        "`concurrency` is 16 … `batch` of 32 would never be full: write 64, or remove it",
    ),
    "no requests": (entry(requests_per_minute=0), 6, "has to be greater than 0"),
    "no tokens": (entry(tokens_per_minute=-1), 6, "has to be greater than 0"),
    "no time": (entry(deadline_s=0), 6, "has to be greater than 0"),
    "parameters a list": (
        entry(parameters=[1]),
        6,
        "`parameters` … mapping … not list",
    ),
    "price a number": (
        entry(price=3),
        6,
        "`price` … mapping … not int",
    ),
    "price of a machine for a server": (
        entry(price={"per_gpu_hour": 2}),
        6,
        "has `per_gpu_hour`, which is not used by the backend 'openai': write prices of tokens",
    ),
    "price in quotes": (
        entry(price={"per_gpu_hour": "2"}),
        6,
        "`price.per_gpu_hour` … number, not str",
    ),
    "price below 0": (entry(price={"output_per_million": -1}), 6, "greater than or equal to 0"),
    "price of a strange size": (
        entry(price={"per_image": {"big": 1}}),
        6,
        "`price.per_image.big` … 1024x1024/high",
    ),
    "name with a blank": (entry(name="my gpt"), 1, "'my gpt' … letters, digits and _"),
    "name with a dash": (entry(name="gpt-4"), 1, "'gpt-4' … letters, digits and _"),
    "name with a digit first": (entry(name="4o"), 1, "no digit first"),
    "name with a newline": (entry(name="gpt\n"), 1, "letters, digits and _"),
    "name too long": (entry(name="g" * 65), 1, "64 characters"),
    "name twice": (entry() + entry(model="m"), 6, "'gpt' is taken on line 1 … choose another"),
    "name in capitals": (entry() + entry(name="GPT", model="m"), 6, "'GPT' is taken on line 1"),
    "painter on a server": (
        entry(backend="openai_compatible", base_url="http://h", roles=["judge", "painter"]),
        5,
        "has painter … 'openai_compatible' … choose from writer, judge, captioner",
    ),
    "judge on diffusers": (
        entry(backend="diffusers"),
        5,
        "has judge … choose from painter, editor",
    ),
    "licence that has no name": (
        entry(licence="unknown"),
        6,
        "`licence` is 'unknown', which is not on SPDX's list … While it is unknown, remove the",
    ),
    "licence beside one that has no name": (
        entry(licence="MIT AND Foo-9"),
        6,
        "`licence` is 'MIT AND Foo-9', which is not on SPDX's list … as in CC-BY-4.0",
    ),
    "an imported log that is asked each month": (
        entry(backend="imported", drift_budget=2),
        6,
        "`drift_budget` asks it again, which no imported log can answer",
    ),
    "an imported log that is asked blind": (
        entry(backend="imported", blind="words"),
        6,
        "`blind` asks it again",
    ),
    "metric on openai": (
        entry(roles=["metric"], parameters={"formula": "clip_score"}),
        5,
        "has metric … 'openai'",
    ),
    "metric and judge": (
        metric(roles=["judge", "metric"], parameters={"formula": "vqa_score"}),
        5,
        "has metric beside others … an entry of its own",
    ),
    "metric without a formula": (
        metric(parameters={"batch": 4}),
        6,
        "has no `formula` … {formula: clip_score} … vision_score",
    ),
    "an unknown formula": (
        metric(parameters={"formula": "clipscore"}),
        6,
        "the `formula` 'clipscore', did you mean clip_score?",
    ),
    "a formula of a judge": (
        entry(backend="transformers", parameters={"formula": "vqa_score"}),
        6,
        "has `formula` … remove it, or write `roles: [metric]`",
    ),
    "a parameter of another formula": (
        metric(parameters={"formula": "pick_score", "prefix": ""}),
        6,
        "has `prefix`: remove it, pick_score takes formula, batch, … processor",
    ),
    "a metric that samples": (
        metric(parameters={"formula": "vision_score", "temperature": 0.5}),
        6,
        "has `temperature`: remove it, vision_score decodes greedily",
    ),
    "an encoder that an API serves": (
        entry(roles=["judge", "encoder"]),
        5,
        "has encoder, which the backend 'openai' cannot be: choose from writer",
    ),
    "an encoder that generates": (
        entry(backend="transformers", roles=["encoder"], parameters={"max_new_tokens": 9}),
        6,
        "has `max_new_tokens`: remove it, an encoder takes batch, device, dtype, revision",
    ),
    "unknown offline": (
        entry(backend="stand_in", model="grammer"),
        3,
        "'grammer' … did you mean grammar?",
    ),
    "offline judge that writes": (
        entry(backend="stand_in", model="pixels", roles=["writer"]),
        5,
        "'pixels' cannot be … choose from judge",
    ),
    "no base_url": (
        entry(backend="openai_compatible"),
        1,
        "`base_url` is missing … http://localhost:8000/v1",
    ),
    "base_url on diffusers": (
        entry(backend="diffusers", roles=["painter"], base_url="http://h"),
        6,
        "is not used by the backend 'diffusers'",
    ),
    "base_url without http": (entry(base_url="localhost:8000"), 6, "is not a valid URL"),
    "base_url of another kind": (entry(base_url="ftp://h/v1"), 6, "is not a valid URL"),
    "base_url without a host": (entry(base_url="http:///v1"), 6, "is not a valid URL"),
    "base_url with a blank": (entry(base_url="http://h /v1"), 6, "is not a valid URL"),
    "base_url with a strange port": (entry(base_url="http://h:99999"), 6, "is not a valid URL"),
    "base_url a number": (entry(base_url=5), 6, "has to be an address in quotes, or a list"),
    "several servers of a provider": (
        entry(base_url=["http://h/v1", "http://i/v1"]),
        6,
        "is a list, which the backend 'openai' has no use for",
    ),
    "a server listed twice": (
        entry(backend="openai_compatible", base_url=["http://h/v1", "http://h/v1"]),
        6,
        "`base_url` has to list each server once",
    ),
    "no server": (entry(backend="openai_compatible", base_url=[]), 6, "list each server once"),
    "a wrong one of several": (
        entry(backend="openai_compatible", base_url=["http://h/v1", "h:8000"]),
        6,
        "is not a valid URL",
    ),
    "base_url with a query": (entry(base_url="http://h/v1?a=b"), 6, "more than a plain URL"),
    "key on offline": (
        entry(backend="stand_in", model="pixels", key="A_KEY"),
        6,
        "`key` is not used by the backend 'stand_in'",
    ),
    "a model twice": (
        entry() + entry(name="again"),
        8,
        "the same model as `gpt` on line 1 … keep one",
    ),
    "a model on two servers": (
        entry() + entry(name="azure", base_url="http://h"),
        8,
        "`gpt` on line 1 at another `base_url` … share their answers",
    ),
    "an entry of text": ("- gpt\n", 1, "the entry is no mapping"),
    "an empty entry": (entry() + "-\n", 6, "the entry is no mapping"),
    "a key twice": (entry() + "  family: x\n", 6, "`family` is given twice, first on line 4"),
    "a parameter twice": (
        entry() + "  parameters:\n    a: 1\n    a: 1\n",
        8,
        "`a` is given twice, first on line 7",
    ),
    "a date": (entry() + "  parameters:\n    day: 2026-01-01\n", 7, "a date … in quotes"),
    "a date for text": (entry().replace('"gpt-9"', "2026-01-01"), 3, "a date … in quotes"),
    "a time": (entry() + "  parameters: {day: 2026-01-01T10:00:00Z}\n", 6, "a date … in quotes"),
    "not a number": (
        entry() + "  parameters:\n    t: .nan\n",
        7,
        "a number that JSON does not have",
    ),
    "infinite": (
        entry() + "  price:\n    per_gpu_hour: 1e999\n",
        7,
        "a number that JSON does not have",
    ),
    "yes": (entry() + "  parameters:\n    do_sample: yes\n", 7, "`yes` … true or false"),
    "half a character": (
        entry() + '  parameters:\n    stop: "\\ud800"\n',
        7,
        "half of a character",
    ),
    "a list as a key": (entry() + "  parameters:\n    [1]: 2\n", 7, "as a key"),
}
"""Text, the line that is named, and what is said, with … for whatever stands between."""


class TestWrongEntries:
    @pytest.mark.parametrize("case", WRONG)
    def test_one_problem_is_said_with_its_line_its_entry_and_the_remedy(self, said, case):
        text, expected_line, expected = WRONG[case]
        [(line, _, words)] = said(text)
        assert SECRET not in words
        assert line == expected_line
        assert re.search(re.escape(expected).replace("\\ …\\ ", ".*"), words), words

    @pytest.mark.parametrize(
        "name",
        ["model", "messages", "prompt", "contents", "n", "candidate_count", "stream", "timeout",
         "num_images_per_prompt", "base_url", "api_key", "apiKey", "headers", "extra_headers",
         "default_headers", "Authorization", "http_options", "httpOptions", "password",
         "x-goog-api-key", "token", "hf_token", "use_auth_token"],
    )  # fmt: skip
    def test_a_parameter_that_is_not_the_users_is_refused(self, said, name):
        [(line, entry_name, words)] = said(entry(parameters={"temperature": 1, name: 1}))
        assert (line, entry_name) == (6, "gpt")
        assert f"`parameters` has `{name}`" in words
        assert ": remove it" in words

    @pytest.mark.parametrize(
        "name",
        ["n", "N", "candidateCount", "candidate-count", "bestOf", "numberOfImages", "numImages",
         "number_of_images", "numReturnSequences", "sampleCount", "num_outputs"],
    )  # fmt: skip
    @pytest.mark.parametrize("value", [2, 2.0, "2"])
    def test_several_answers_to_one_request_are_refused_however_they_are_written(
        self, said, name, value
    ):
        for parameters in (
            {name: value},
            {"extra_body": {"generationConfig": {name: value}}},
            {"tools": [{"image_generation": {name: value}}]},
        ):
            [(line, _, words)] = said(entry(parameters=parameters))
            assert (line, f"`parameters` has `{name}`: remove it" in words) == (6, True)

    @pytest.mark.parametrize("amount", ["1.0e+300", "1" + 300 * "0", "1000001", ".inf", ".nan"])
    @pytest.mark.parametrize(
        "field", ["input_per_million", "output_per_million", "per_gpu_hour", "per_image"]
    )
    def test_a_price_that_would_overflow_is_refused_with_its_line(self, said, field, amount):
        written = f"{{1K: {amount}}}" if field == "per_image" else amount
        [(line, _, words)] = said(entry() + f"  price:\n    {field}: {written}\n")
        expected = "that JSON does not have" if amount.startswith(".") else f"`price.{field}"
        assert (line, expected in words) == (7, True)

    @pytest.mark.parametrize(
        "field", ["longest_output: 10000001", "tokens_per_image: 10000001", "deadline_s: 1.0e+300"]
    )
    def test_so_is_an_amount_that_a_price_is_multiplied_by(self, said, field):
        [(line, _, words)] = said(entry() + f"  {field}\n")
        assert (line, "less than or equal to" in words) == (6, True)

    @pytest.mark.parametrize("limit", ["100000000", "1.0e+300", "1" + 300 * "0"])
    def test_so_is_a_limit_among_the_parameters(self, said, limit):
        [(line, _, words)] = said(entry() + f"  parameters:\n    max_tokens: {limit}\n")
        assert (line, "`max_tokens` that no model reaches" in words) == (6, True)

    def test_a_metric_without_parameters_lacks_its_formula(self, said):
        [(line, name, words)] = said(metric())
        assert (line, name, "has no `formula`, by which" in words) == (1, "gpt", True)

    def test_a_problem_with_what_stands_below_is_said_of_the_line_with_its_name(self, said):
        assert said(entry() + "  parameters:\n    top_p: 1\n    n: 2\n")[0][0] == 6

    def test_parameters_that_only_resemble_those_are_taken(self, loaded):
        parameters = {
            "max_tokens": 9,
            "eos_token": "x",
            "top_n": 1,
            "extra_body": {"top_k": 1},
            "seed": 5,
        }
        assert loaded(entry(parameters=parameters)).models[0].parameters == parameters

    def test_an_entry_is_called_by_its_name_or_its_place(self, said):
        text = entry(concurrency=0) + "- family: f\n" + entry(name="", model="n")
        assert {name for _, name, _ in said(text)} == {"gpt", "entry 2", "entry 3"}

    def test_everything_that_is_wrong_is_said_at_once_by_line(self, said):
        text = (
            entry(backend="opena", model=5, key=SECRET, price={"inputs": 1})
            + entry(name="GPT", model="other", concurrency=0, base_url="h")
            + "- backend: stand_in\n  backend: stand_in\n  model: grammer\n  roles: [judge]\n"
        )
        problems = said(text)
        assert [line for line, _, _ in problems] == [2, 3, 6, 7, 8, 13, 14, 15, 15, 16, 17]

    def test_the_field_in_a_message_is_the_one_on_its_line(self, said):
        for text, _, _ in WRONG.values():
            for line, _, words in said(text):
                field = re.match(r"`(\w+)", words)
                if field and "missing" not in words and ":" in text.split("\n")[line - 1]:
                    assert field[1] in text.split("\n")[line - 1]


class TestWhatIsNoCatalog:
    @pytest.mark.parametrize(
        ("content", "line", "words"),
        [
            ("models:\n- name: a\n", 1, "not a list of models"),
            ("hello", 1, "not a list of models"),
            ("- name: a\n\tbackend: openai\n", 2, "a tab: indent with spaces"),
            ("- name: a\n  b: [1\n- c\n", 4, "in what begins on line 2"),
            ("- name: a: b\n", 1, "not YAML"),
            ("- a\n---\n- b\n", 2, "not YAML"),
            ("- name: &x a\n  family: *x\n", 1, "anchors and aliases"),
            ("- name: a\n- *x\n", 2, "anchors and aliases"),
            ("- name: !!python/object/apply:os.system ['false']\n", 1, "tags (!)"),
            ("- ! a\n", 1, "tags (!)"),
            (b"- name: a\n  family: \xff\xfe\n", 2, "UTF-8"),
            (b"- name: a\n  family: \x00\n", 2, "a character that no text has"),
            (b"\x89PNG\r\n\x1a\n\x00\x00", 1, "UTF-8"),
            ("- " + "[" * 100_000, 1, "nested more than 20 deep"),
        ],
    )
    def test_it_is_said_with_the_line(self, said, content, line, words):
        [(found_line, _, found_words)] = said(content)
        assert found_line == line
        assert words in found_words

    def test_aliases_are_refused_before_they_unfold(self, said):
        bomb = "- &a [x, x]\n" + "".join(f"- &b{i} [*a, *a]\n" for i in range(50))
        assert "anchors and aliases" in said(bomb)[0][2]

    def test_a_problem_outside_of_every_entry_names_none(self, said):
        for text in ("a: 1\na: 2\n", "models:\n- a: yes\n"):
            assert {name for _, name, _ in said(text)} == {None}

    def test_a_file_that_is_not_there(self, tmp_path):
        path = tmp_path / "gone.yaml"
        with pytest.raises(CatalogError, match=r"gone.yaml is not there.*COUNTERFACTORY_MODELS"):
            load_catalog(path)

    def test_a_folder(self, tmp_path):
        with pytest.raises(CatalogError, match=r"cannot be read \(Is a directory\)"):
            load_catalog(tmp_path)


class TestAsking:
    catalog = Catalog(
        (
            Model(**GPT),
            Model(**{**GPT, "name": "artist", "model": "m", "roles": ["painter", "editor"]}),
        )
    )

    def test_by_role(self):
        assert [model.name for model in self.catalog.select_role("editor")] == ["artist"]
        assert self.catalog.select_role("metric") == ()


class TestPrices:
    def test_sizes_of_images(self, loaded):
        sizes = {"1024x1024": 1, "1024x1536/high": 2.5, "2K": 0.1, "4K/low": 0}
        assert loaded(entry(price={"per_image": sizes})).models[0].price.per_image == sizes


class TestDagstersNames:
    @pytest.mark.parametrize(
        "name", ["a b", "a-b", "a.b", "a/b", "ä", "", *sorted(DISALLOWED_NAMES)]
    )
    def test_what_dagster_refuses_is_refused(self, name):
        assert not is_valid_name(name)
        with pytest.raises(ValueError, match=r"letters, digits|choose another"):
            Model(**{**GPT, "name": name})

    @pytest.mark.parametrize("name", ["a" * 64, "_1", "Type", "types"])
    def test_what_is_taken_is_taken_by_dagster(self, name):
        assert is_valid_name(Model(**{**GPT, "name": name}).name)


def test_every_offline_model_has_roles_of_its_own():
    assert all(STAND_INS.values())


@pytest.mark.parametrize("text", ["- name: " + "a" * 2_000_000, "- " + "[]\n- " * 400_000])
def test_a_file_of_megabytes_is_refused_at_once(tmp_path, text):
    path = tmp_path / "models.yaml"
    path.write_text(text)
    started = time.process_time()
    with pytest.raises(CatalogError, match="more than 500,000 bytes"):
        load_catalog(path)
    assert time.process_time() - started < 10, "hundred times what is needed"
