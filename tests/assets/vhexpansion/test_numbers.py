"""What the table of numbers says of judges whose answers are made up here."""

import pandas as pd
import pytest

from assets.vhexpansion.symmetry import SYMMETRY, symmetry_rows
from resources.models.catalog import Catalog, Model
from tests.assets.vhexpansion.cases import answers, case, perturbed, reference

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
    return pd.DataFrame(answers(reference(judge), CASES, pictures))


def rows(judge, table, *others):
    judges = (*others, judge)
    found = SYMMETRY.table([*symmetry_rows(Catalog(judges), judges, judge, "zoo", table, 30)])
    return found.to_pandas()


def test_a_row_for_each_perturbation_and_number_of_repeats():
    found = rows(reference("random"), answered("random", [perturbed("image 0")]))
    assert list(zip(found["perturbation"], found["repeats"], strict=True)) == [
        (name, repeats) for repeats in (3, 2, 1) for name in ("none", "noise")
    ]
    assert found["is_whole"].tolist() == [True, True] + [False] * 4
    assert found["cases"].tolist() == [30, 1] * 3
    assert found["rehearsal"].all()


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
    by = found[found["is_whole"]].set_index("perturbation")
    assert by["own"].to_dict() == {"none": None, "i_fgsm": own}
    assert by["change"]["i_fgsm"] == 0
    assert by["generated"].to_dict() == {"none": 30, "i_fgsm": 60}
