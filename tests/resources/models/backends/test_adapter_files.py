"""Configs, records and weights of adapters as strangers send them: taken, or refused in words."""

import json
import random
import time

import pytest

from resources.models.backends import adapter_files
from resources.models.backends.adapter_files import (
    BadAdapterFile,
    LoraFields,
    RecordFields,
    read_fields,
)
from resources.models.weights import NoWeights, find_weights, read_shapes

pytestmark = pytest.mark.slow

LAYERS = [
    f"model.{part}.layers.{number}.self_attn.{name}_proj"
    for part in ("language_model", "vision_tower.vision_model")
    for number in range(32)
    for name in "qkvo"
]
CONFIG = {
    "peft_type": "LORA",
    "auto_mapping": None,
    "base_model_name_or_path": "llava-hf/llava-1.5-7b-hf",
    "revision": None,
    "task_type": "CAUSAL_LM",
    "inference_mode": True,
    "peft_version": "0.21.0",
    "r": 16,
    "target_modules": r".*language_model.*\.(q_proj|v_proj)",
    "exclude_modules": None,
    "lora_alpha": 32,
    "lora_dropout": 0.05,
    "bias": "none",
    "modules_to_save": None,
    "rank_pattern": {},
    "alpha_pattern": {},
    "init_lora_weights": True,
    "loftq_config": {},
    "megatron_core": "megatron.core",
    "use_dora": False,
}
RECORD = {
    "name": "small",
    "kind": "ranking",
    "base": {"model": "llava-hf/llava-1.5-7b-hf", "revision": None, "sha256": "a" * 64},
    "weights": "b" * 64,
    "files": {"adapter_config.json": "c" * 64},
    "trained": {"rows": 4, "processes": 1},
    "recipe": {"rank": 16},
    "data": "d",
    "wording": "",
    "versions": {},
}
HOSTILE = [
    *(None, True, 0, -1, 1.5, 100_000_000, 10**400, -(2**63), 1e308, float("nan"), float("inf")),
    *(
        "",
        "x",
        "\x00",
        "\ud800",
        "../../etc/passwd",
        "/etc/passwd",
        "(" * 50,
        "[",
        "(?P<x",
        "a" * 10**6,
    ),
    *(
        "(a+)+$",
        "(.*)*x",
        r"(\w+\s?)*!",
        "((.{1,999}){1,999}){1,999}",
        "(x+x+)+y",
        "\\",
        "*",
        "auto",
    ),
    *(
        [],
        [[]],
        [None],
        ["(a+)+$"],
        ["q_proj"] * 20_000,
        {},
        {"": 1},
        {"(a+)+$": 8},
        {"q": {"q": {}}},
    ),
]


def deep(depth):
    return b"[" * depth + b"]" * depth


def variants(good):
    """Files in which one thing at a time is wrong: any value, its absence, its end, some bytes."""
    for name in good:
        yield json.dumps({key: value for key, value in good.items() if key != name}).encode()
        for value in HOSTILE:
            yield json.dumps(good | {name: value}).encode()
    whole, lot = json.dumps(good).encode(), random.Random(7)
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(lot.randint(1, 4)):
            data[lot.randrange(len(data))] = lot.randrange(256)
        yield bytes(data)
        yield whole[: lot.randrange(len(whole))]
    for name in ("target_modules", "base", "r"):
        for value in ("a" * 10**6, ["q_proj"] * 20_000):
            yield json.dumps(good | {name: value}).encode()
    yield from (deep(100), deep(100_000), b"", b"null", b"7", b"[]", b'"x"', b"{}", b"\xff\xfe{}")
    yield json.dumps(good | {"more": ["x"] * 600_000}).encode()
    yield b'{"more": "' + b"x" * 5_000_000 + b'"}'


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(adapter_files, "MATCHING_S", 0.02)


def test_the_layers_of_a_real_config_are_those_that_its_expression_matches(tmp_path):
    path = tmp_path / "adapter_config.json"
    path.write_text(json.dumps(CONFIG))
    config = LoraFields(**read_fields(path, LoraFields)).to_config(LAYERS)
    assert sorted(config.target_modules) == sorted(
        name for name in LAYERS if "language_model" in name and name[-6:] in ("q_proj", "v_proj")
    )
    assert (config.r, config.lora_alpha, config.inference_mode) == (16, 32, True)


def outcome(read):
    """What came of a reading: its value, or the words of its refusal."""
    started = time.process_time()
    try:
        return read(), None
    except (BadAdapterFile, NoWeights) as refusal:
        return None, str(refusal)
    finally:
        assert time.process_time() - started < 15, "hundred times what is needed"


def test_configs_of_strangers_are_taken_or_refused_in_words(tmp_path):
    path, outcomes = tmp_path / "adapter_config.json", []
    for data in variants(CONFIG):
        path.write_bytes(data)
        outcomes.append(
            outcome(lambda: LoraFields(**read_fields(path, LoraFields)).to_config(LAYERS))
        )
    assert all(len(words) < 500 for config, words in outcomes if words is not None)
    configs = [config for config, words in outcomes if words is None]
    assert all(config.r <= adapter_files.MAX_RANK for config in configs)
    assert 60 < len(configs) < len(outcomes) - 600


def test_records_of_strangers_are_taken_or_refused_in_words(tmp_path):
    path, outcomes = tmp_path / "record.json", []
    for data in variants(RECORD):
        path.write_bytes(data)
        outcomes.append(outcome(lambda: read_fields(path, RecordFields)))
    assert all(len(words) < 500 for _, words in outcomes if words is not None)
    records = [record for record, words in outcomes if words is None]
    assert all(len(record["weights"]) == len(record["base"]["sha256"]) == 64 for record in records)
    assert 60 < len(records) < len(outcomes) - 250


@pytest.mark.parametrize("layer", ["r", "rank_pattern"])
def test_layers_are_no_larger_than_the_weights_that_fill_them(layer):
    shapes = [("base_model.model.q_proj.lora_A.weight", [16, 4096])]
    value = {"q_proj": 64} if layer == "rank_pattern" else 64
    LoraFields(**CONFIG).require_ranks(shapes)
    with pytest.raises(BadAdapterFile, match="is 64, and its weights have rank 16"):
        LoraFields(**CONFIG | {layer: value}).require_ranks(shapes)


def test_weights_of_strangers_are_read_or_refused_in_words(tmp_path):
    path, lot = tmp_path / "model.safetensors", random.Random(7)
    tensor = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    heads = [json.dumps({"a": tensor}).encode(), *variants({"a": tensor})]
    for head in [*heads, *(b'{"a": %b}' % variant for variant in variants(tensor))]:
        length = len(head) if lot.random() < 0.9 else lot.randrange(2**64)
        path.write_bytes(length.to_bytes(8, "little") + head + bytes(16))
        shapes, words = outcome(lambda: list(read_shapes(path)))
        assert words is None or str(path) in words
        assert all(size >= 0 for _, shape in shapes or () for size in shape)
    index = tmp_path / "model.safetensors.index.json"
    for data in variants({"weight_map": {"a": "../../../etc/passwd"}}):
        index.write_bytes(data)
        assert outcome(lambda: find_weights(tmp_path))[1] is not None
