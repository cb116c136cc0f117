"""What the table of numbers says of judges whose answers are made up here."""

import numpy as np
import pandas as pd
import pytest

from assets.vhexpansion.symmetry import SYMMETRY, symmetry_rows
from assets.vhexpansion.training import add_base_pictures
from resources.models.catalog import Catalog, Model
from tests.assets.vhexpansion.cases import answers, case, perturbed, reference
from tests.runs import TOPIC

CASES = [case(n, "yes" if n % 2 else "no") for n in range(30)]


def served(name, temperature, model="llava"):
    """A judge at a server of one's own."""
    return Model(
        name=name,
        backend="openai_compatible",
        base_url="http://localhost:8000/v1",
        model=model,
        family="llava",
        roles=("judge",),
        parameters={} if temperature is None else {"temperature": temperature},
    )


def attacked(name, model="llava"):
    """An encoder on this machine."""
    return Model(name=name, backend="transformers", model=model, family="llava", roles=("encoder",))


def answered(judge, pictures=()):
    return add_base_pictures("zoo", pd.DataFrame(answers(reference(judge), CASES, pictures)))


def rows(judge, table, *others):
    judges = (*others, judge)
    found = SYMMETRY.build_table([*symmetry_rows(Catalog(judges), judges, judge, "zoo", table, 30)])
    return found.to_pandas()


def test_a_row_for_each_perturbation_and_number_of_repeats():
    found = rows(reference("random"), answered("random", [perturbed("image 0")]))
    assert list(zip(found["perturbation"], found["repeats"], strict=True)) == [
        (name, repeats) for repeats in (3, 2, 1) for name in ("none", "noise")
    ]
    assert found["has_all_repeats"].tolist() == [True, True] + [False] * 4
    assert found["cases"].tolist() == [30, 1] * 3
    assert found["is_stand_in"].all()


def test_entries_that_differ_by_temperature_alone_are_variants():
    table = answered("random")
    hot, cold, other = served("hot", 1.0), served("cold", 0.2), served("other", 0.2, model="qwen")
    unset = served("unset", None)
    found = [rows(judge, table, cold)["variant_of"][0] for judge in (cold, hot, unset, other)]
    assert found == ["cold", "cold", "cold", "other"]
    assert rows(hot, table)["temperature"][0] == 1.0
    assert rows(unset, table)["temperature"].isna().all()


@pytest.mark.parametrize(("model", "own"), [("llava", True), ("qwen", False)])
def test_an_attack_is_on_the_judges_own_encoder_or_another(model, own):
    shown = answered("gullible", [perturbed(f"image {n}", "noise") for n in range(30)])
    changed = shown["perturbation"].eq("noise")
    shown.loc[changed, ["perturbation", "encoder"]] = ["i_fgsm", "llava_encoder"]
    encoder = attacked("llava_encoder")
    found = rows(served("judge", 0.2, model=model), shown, encoder)
    by = found[found["has_all_repeats"]].set_index("perturbation")
    assert by["is_own_encoder"].to_dict() == {"none": None, "i_fgsm": own}
    assert by["change"]["i_fgsm"] == 0
    assert by["generated"].to_dict() == {"none": 30, "i_fgsm": 60}


SIZES = (384, 768, 1152)


def sized(random, scenes, share):
    """Answers about scenes in three sizes: a scene is known or not, and nine of ten go by that."""
    scene, size = (each.ravel() for each in np.meshgrid(range(scenes), SIZES, indexing="ij"))
    is_known = random.random(scenes) < share
    luck = random.random((2, len(scene))) < share
    is_right = np.where(random.random((2, len(scene))) < 0.9, is_known[scene], luck)
    is_yes = np.stack([scene % 2, 1 - scene % 2]).astype(bool)
    names = [f"{TOPIC}/scene {n}/normal/{px}" for n, px in zip(scene, size, strict=True)]
    return pd.DataFrame(
        {
            "case_id": names * 2,
            "image_id": names * 2,
            "form": np.repeat(["original", "negated"], len(scene)),
            "truth": np.where(is_yes, "yes", "no").ravel(),
            "answer": np.where(is_yes == is_right, "yes", "no").ravel(),
            "repeat": 0,
            "perturbation": "none",
            "encoder": None,
            "parameters": None,
            "is_stand_in": False,
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_intervals_of_scenes_in_three_sizes_cover_the_truth(share):
    """By size, as if three were independent, they cover it in 78 to 87 %."""
    random, judge, rounds = np.random.default_rng(1), reference("random"), 80
    true = {
        "accuracy": share,
        "symmetric": 0.81 * share + 0.19 * share**2,
        "new_cases": 1 - share,
    }
    covered = dict.fromkeys(true, 0)
    for _ in range(rounds):
        answers = add_base_pictures(TOPIC, sized(random, 40, share))
        (row,) = symmetry_rows(Catalog((judge,)), (judge,), judge, TOPIC, answers, 120)
        assert (row["cases"], row["images"]) == (120, 40)
        for name, value in true.items():
            total = row["generated"] if name == "new_cases" else 1
            covered[name] += row[f"{name}_low"] <= total * value <= row[f"{name}_high"]
    # 95 %, less three standard errors
    assert min(covered.values()) >= rounds * (0.95 - 3 * np.sqrt(0.95 * 0.05 / rounds))
