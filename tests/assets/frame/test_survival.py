"""The asset that says whether perturbed pictures still show their truth."""

import dagster as dg
import pytest

from assets.frame import survival
from assets.frame.survival import (
    check_survival,
    drawn_domains,
    list_perturbations,
    sample_scenes,
    survival_asset,
)
from generators.domains import load_domains
from generators.perturbations.registry import build_perturbation
from resources.settings.image_design import ImageDesign
from resources.storage.work_cache import WorkCache

SOME = [build_perturbation("brightness", factor=1.1), build_perturbation("padding", thickness=50)]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Those of two runs on two scenes of a domain, under two perturbations."""
    work_cache = WorkCache(root=str(tmp_path_factory.mktemp("survival")))
    with dg.DagsterInstance.ephemeral() as instance, pytest.MonkeyPatch.context() as patch:
        patch.setattr(survival, "list_perturbations", lambda which: SOME)
        return [
            dg.materialize(
                [survival_asset],
                instance=instance,
                partition_key="game_boards",
                run_config={"ops": {"frame__survival": {"config": {"scenes": 2, "size": 384}}}},
                resources={
                    "design": ImageDesign(),
                    "work_cache": work_cache,
                    "io_manager": dg.mem_io_manager,
                },
            )
            for _ in range(2)
        ]


def told(result, name):
    (made,) = result.asset_materializations_for_node("frame__survival")
    return made.metadata[name].value


def test_every_perturbation_is_read_once_and_kept(results):
    assert [result.success for result in results] == [True, True]
    assert [told(result, "read_now") for result in results] == [4, 0]


def test_all_of_the_papers_configurations_can_be_tried():
    assert len(list_perturbations("single")) == 8 + 4
    assert len(list_perturbations("grid")) == 2 * 16 + 3 * 5 + 7 + 2 + 4


def test_its_check_says_how_many_stay_readable(results):
    (check,) = results[0].get_asset_check_evaluations()
    assert check.passed
    assert check.description == "4 of 4 perturbed pictures stay readable."


def row(**cells):
    return {
        "base_id": "a",
        "parameters": "p",
        "outcome": "right",
        "reason": None,
        "exempt": False,
        "readable": True,
    } | cells


def test_exempt_and_inapplicable_pictures_do_not_count():
    out = {"outcome": "unreadable", "readable": False}
    found = check_survival(
        [row(), row(**out, exempt=True), row(outcome="inapplicable", readable=False)]
    )
    assert found.passed
    assert found.description.startswith("1 of 1 ")


def test_nineteen_of_twenty_are_enough_and_fewer_are_a_warning():
    out = row(outcome="unreadable", readable=False)
    assert check_survival([row()] * 19 + [out]).passed
    few = check_survival([row()] * 18 + [out] * 2)
    assert not few.passed
    assert few.severity == dg.AssetCheckSeverity.WARN


def test_one_that_reads_wrong_is_an_error_that_names_it():
    wrong = row(base_id="b", outcome="wrong", reason="rows reads 3 instead of 4", readable=False)
    found = check_survival([row()] * 99 + [wrong])
    assert found.severity == dg.AssetCheckSeverity.ERROR
    assert "b: rows reads 3 instead of 4." in found.description


def test_scenes_are_taken_evenly_from_the_first_to_the_last():
    assert sample_scenes(range(101), 3) == [0, 50, 100]
    assert sample_scenes(range(2), 3) == [0, 1]
    assert drawn_domains.get_partition_keys() == list(load_domains())
