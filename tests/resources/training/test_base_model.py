"""What is known of a base before anything is loaded."""

import json
from pathlib import Path

import pytest

from resources.models.weights import NoWeights, find_weights
from resources.training import job
from resources.training.base_model import (
    TrainingEstimate,
    estimate_training,
    find_recipe_weights,
    require_room,
    require_targets,
)
from resources.training.processes import read_process_count, require_process_count
from resources.training.recipe import MarginRecipe, RankingRecipe, TuningRecipe
from resources.training.training_errors import TrainingError

pytestmark = pytest.mark.slow

RECIPE = RankingRecipe(base="some/model")
HIDDEN, INNER, LAYERS, HEAD = 3584, 18944, 28, 152064


def saved(folder, shapes, name="model.safetensors"):
    """A file of weights that takes no room: its header, and nothing behind it that is written."""
    header, end = {}, 0
    for tensor, shape in shapes.items():
        size = 2 * shape[0] * shape[1]
        header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    data = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    with (folder / name).open("wb") as file:
        file.write(len(data).to_bytes(8, "little") + data)
        file.truncate(8 + len(data) + end)
    return folder


def seven_billion():
    """The shapes of Qwen2.5-VL-7B's language model, and a part of its vision encoder."""
    found = {"model.embed_tokens.weight": [HEAD, HIDDEN], "lm_head.weight": [HEAD, HIDDEN]}
    found["visual.blocks.0.mlp.up_proj.weight"] = [3420, 1280]
    for layer in range(LAYERS):
        of = f"model.layers.{layer}"
        found |= {f"{of}.self_attn.{n}_proj.weight": [HIDDEN, HIDDEN] for n in "qo"}
        found |= {f"{of}.self_attn.{n}_proj.weight": [512, HIDDEN] for n in "kv"}
        found |= {f"{of}.mlp.{n}_proj.weight": [INNER, HIDDEN] for n in ("gate", "up")}
        found[f"{of}.mlp.down_proj.weight"] = [HIDDEN, INNER]
    return found


def test_a_model_of_seven_billion_is_estimated_from_the_heads_of_its_files(tmp_path):
    found = estimate_training(find_weights(saved(tmp_path, seven_billion())), RECIPE, 160_000)
    layer = 4 * HIDDEN + 2 * (HIDDEN + 512) + 3 * (HIDDEN + INNER)
    assert found.adapter_parameter_count == 16 * LAYERS * layer
    assert found.parameter_count == pytest.approx(7.6e9, rel=0.01)
    assert found.gigabytes == pytest.approx(
        (2 * found.parameter_count + 16 * found.adapter_parameter_count) / 1e9
    )
    assert found.hours > 100


def test_it_is_refused_without_a_gpu_and_the_error_says_what_it_takes(tmp_path):
    found = TrainingEstimate(7_600_000_000, 40_000_000, 15.9, 12_345.0)
    said = (
        "some/model cannot be trained here: torch finds no GPU. It has 7.60 billion weights, 40.0 "
        "million in the adapter; 15.9 GB for these, and more for pictures; this machine has 24 GB, "
        "and its processors would take about 12,345 hours."
    )
    with pytest.raises(TrainingError) as refused:
        require_room(RECIPE, found, has_gpu=False, memory=24.0)
    assert str(refused.value).startswith(said)
    require_room(RECIPE, found, has_gpu=True, memory=24.0)
    require_room(
        RECIPE.model_copy(update={"skip_estimate_check": True}), found, has_gpu=False, memory=24.0
    )
    require_room(RECIPE, found._replace(hours=2.0), has_gpu=False, memory=24.0)


@pytest.mark.parametrize("target", ["q_porj", "lm_head", "embed_tokens"])
def test_a_target_that_is_no_layer_is_refused_though_others_are(tmp_path, target):
    weights = find_weights(saved(tmp_path, seven_billion()))
    require_targets(weights, RECIPE)
    wrong = RECIPE.model_copy(update={"target_modules": ["v_proj", target]})
    with pytest.raises(
        TrainingError, match=f"has no layer '{target}' .* Choose from down_proj, gate"
    ):
        require_targets(weights, wrong)


TERMS = {"kind": "ranking", "base": "0", "recipe": RECIPE.model_dump(), "data": "d"}


def test_the_names_of_adapters_stay():
    """What is trained once is not trained again."""
    kinds = {"margin": MarginRecipe, "tuning": TuningRecipe}
    recipes = {kind: made(base="some/model").model_dump() for kind, made in kinds.items()}
    told = [TERMS, *(TERMS | {"kind": k, "recipe": recipe} for k, recipe in recipes.items())]
    digests = [job.build_terms(**each, processes=1).digest for each in told]
    assert digests == ["306e5e1db307", "2156b7ed40a1", "f0e61d5d6032"]
    assert job.build_terms(**TERMS, processes=8).digest == "f728b12e6d75"


def test_other_words_give_another_adapter_which_says_so(monkeypatch):
    before = job.build_terms(**TERMS, processes=1)
    record = {**TERMS, "base": {"sha256": "0"}, "trained": {"processes": 1}}
    record["wording"] = job.build_wording("ranking")
    monkeypatch.setattr(job, "PROMPT", "Is {text} shown?")
    now = job.build_terms(**TERMS, processes=1)
    assert now.digest != before.digest
    assert job.read_terms(record) == before
    assert now.find_differences(job.read_terms(record)) == ["wording"]
    other = job.build_terms(
        **TERMS | {"recipe": RECIPE.model_dump() | {"rank": 4}, "data": "e"}, processes=2
    )
    assert other.find_differences(before) == ["rank", "data", "processes", "wording"]


def test_several_processes_are_counted(tmp_path):
    path = tmp_path / "eight.yaml"
    path.write_text("num_processes: 8\n")
    assert [read_process_count(each) for each in (None, str(path))] == [1, 8]
    for wrong in (tmp_path / "seven.yaml", path):
        path.write_text("machines: 1\n")
        with pytest.raises(TrainingError, match=r"yaml says no number of processes .* Make it by"):
            read_process_count(str(wrong))


def test_a_file_of_weights_that_is_missing_is_named(tmp_path):
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    saved(tmp_path, {"a": [2, 2]}, "model-1.safetensors")
    with pytest.raises(NoWeights, match=r"lacks model-2\.safetensors"):
        find_weights(tmp_path)
    with pytest.raises(TrainingError, match=r"lacks model-2\.safetensors\. Download them: hf"):
        find_recipe_weights(RankingRecipe(base=str(tmp_path)))


def test_weights_that_are_not_here_are_to_be_downloaded_first():
    with pytest.raises(TrainingError, match="hf download nobody/nothing"):
        find_recipe_weights(RankingRecipe(base="nobody/nothing"))


def test_a_base_is_known_by_its_weights_wherever_it_lies(tmp_path):
    digests = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        digests.append(find_weights(saved(tmp_path / name, {"a": [2, 2]})).digest)
    assert digests[0] == digests[1]
    path = Path(tmp_path, "there", "model.safetensors")
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    assert find_weights(tmp_path / "there").digest != digests[0]


def test_fewer_processes_than_the_adapter_is_named_for_train_nothing(tmp_path):
    (path := tmp_path / "two.yaml").write_text("num_processes: 2\n")
    require_process_count(2, str(path))
    require_process_count(1, None)
    with pytest.raises(TrainingError, match=r"two\.yaml is for 2 processes, and 1 started\. Make"):
        require_process_count(1, str(path))
