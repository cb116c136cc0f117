"""Common perturbations of cases' pictures: made once, seeded, and read again where code can."""

import io
import logging

import numpy as np
import pytest
from PIL import Image

from assets.kit.checks import find_problems
from assets.kit.forecast import PENDING
from assets.kit.step_asset import query_models
from assets.kit.step_run import StepRun
from assets.vhexpansion.common_perturbations import (
    NAMES,
    CommonPerturbations,
    CommonPerturbationsConfig,
)
from assets.vhexpansion.seed_cases import SEED_CASES
from generators.canvas import rasterise
from generators.domains import load_domain
from generators.perturbations.registry import from_json
from generators.tiles import encode_png
from resources.calls.spending import Account
from resources.models.catalog import Catalog
from resources.settings.run_config import BadConfig
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.assets.vhexpansion.cases import NEGATION_KEYS, case


class Lab:
    """A data root in which pictures are perturbed."""

    def __init__(self, root):
        self.images, self.work_cache = ImageStore(root=str(root)), WorkCache(root=str(root))
        self.step = CommonPerturbations(Catalog(()))
        self.cases = []

    def add(self, png, **columns):
        digest = self.images.put(png)
        number = len(self.cases)
        known = {"sha256": digest, "outcome": "taken", "image": f"image {digest[:6]}"}
        self.cases.append(case(number, **known | columns))

    def work(self, dataset="zoo", **config):
        tables = {"cases": SEED_CASES.build_table(self.cases, NEGATION_KEYS).to_pandas()}
        stores = self.images, self.work_cache, logging.getLogger("lab")
        return StepRun(
            dataset,
            CommonPerturbationsConfig(**config),
            tables,
            self.step.inputs,
            None,
            *stores,
            None,
        )

    def rows(self, dataset="zoo", **config):
        work = self.work(dataset, **config)
        rows = query_models(self.step, work, None, Account())[0]
        assert not list(find_problems(self.step, work, rows))
        return rows

    def pixels(self, digest):
        return np.asarray(Image.open(io.BytesIO(self.images.get(digest))).convert("RGB"), int)


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def grey(level, size=(40, 30)):
    return encode_png(Image.new("RGB", size, (level, level, level)))


def test_each_picture_has_the_four_of_the_paper_once(lab):
    lab.add(grey(100))
    lab.add(grey(100), question="Is there another?")
    lab.add(grey(50))
    lab.add(grey(60), outcome="rejected")
    rows = lab.rows()
    assert [row["perturbation"] for row in rows] == [*NAMES, *NAMES]
    assert NAMES == ("noise", "hsv_brightness", "defocus", "jpeg")
    parameters = [each.parameters for row in rows[:4] for each in from_json(row["parameters"])]
    assert parameters == [{"sigma": 0.08}, {"amount": 0.5}, {"radius": 5}, {"quality": 30}]
    assert lab.pixels(rows[1]["sha256"]).min() == 228
    noise = lab.pixels(rows[0]["sha256"]) - 100
    assert noise.std() == pytest.approx(0.08 * 255, rel=0.05)
    assert {row["readable"] for row in rows} == {None}


def test_noise_is_of_the_seed_and_of_each_picture_alone(lab):
    lab.add(grey(100))
    lab.add(grey(101))
    first, second = (lab.pixels(row["sha256"]) for row in lab.rows(perturbations=["noise"]))
    assert (first - 100 != second - 101).mean() > 0.9
    again = [row["sha256"] for row in lab.rows(perturbations=["noise"])]
    other = [row["sha256"] for row in lab.rows(perturbations=["noise"], seed=1)]
    assert again != other
    assert [row["sha256"] for row in lab.rows(perturbations=["noise"])] == again
    (some,) = lab.rows(perturbations=["noise"], limit=1)
    assert some["sha256"] in again


def test_what_was_made_is_found_and_what_was_lost_is_made_again(lab):
    lab.add(grey(100))
    made = lab.rows()
    work = lab.work()
    assert [row["sha256"] for row in lab.step.rows(work)] == [row["sha256"] for row in made]
    path = lab.images.path(made[0]["sha256"])
    path.write_bytes(path.read_bytes()[:50])
    assert lab.rows() == made
    assert lab.images.holds(made[0]["sha256"])
    path.unlink()
    assert [row["outcome"] for row in lab.step.rows(work)].count(PENDING) == 1


def test_a_case_that_is_not_there_yet_is_pending(lab):
    lab.add(grey(100), outcome=PENDING)
    assert {row["outcome"] for row in lab.step.rows(lab.work())} == {PENDING}


def test_a_drawn_picture_is_read_again(lab):
    flags = load_domain("flags")
    scene = next(each for each in flags.draw_module.list_scenes(0) if "stars" in each.truths)
    question = flags.ask_module.write_questions(scene)[0]
    known = {"source_question": question.text, "dataset": "flags", "image": "flag"}
    png = rasterise(flags.draw_module.draw(scene, 384))
    lab.add(png, truth=question.ground_truth, **known)
    wanted = {"perturbations": ["jpeg", "noise"], "quality": 90, "sigma": 1.0}
    assert [row["readable"] for row in lab.rows("flags", **wanted)] == [True, False]
    assert {row["readable"] for row in lab.rows("flags", **wanted, reread=False)} == {None}
    lab.cases[0]["truth"] = "7000"
    assert {row["readable"] for row in lab.rows("flags", **wanted)} == {None}


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"perturbations": ["nois"]}, "no 'nois', did you mean noise"),
        ({"perturbations": []}, "at least 1"),
        ({"sigma": 2}, "less than or equal to 1"),
        ({"quality": 0}, "greater than or equal to 1"),
        ({"radius": 51}, "less than or equal to 50"),
        ({"amount": -2}, "greater than or equal to -1"),
    ],
)
def test_parameters_have_ranges(config, why):
    with pytest.raises(BadConfig, match=why):
        CommonPerturbationsConfig(**config)
