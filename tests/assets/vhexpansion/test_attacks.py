"""Attacks on cases' pictures, by a tiny LLaVA-1.5 that is judge and encoder."""

import json
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from assets.kit.checks import find_problems
from assets.kit.forecast import PENDING
from assets.kit.step_asset import query_models
from assets.kit.step_run import StepRun
from assets.vhexpansion import attack_runs as attacking
from assets.vhexpansion.adversarial_perturbations import (
    AdversarialPerturbations,
    check_failure_rate,
)
from assets.vhexpansion.attack_config import AttackSweepConfig
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.yes_no_step import ANSWERS
from resources.attacks.attack import EncoderAttack
from resources.calls.spending import Account
from resources.models.catalog import Catalog, Model
from resources.models.device_workers.local_devices import DeviceProcess
from resources.models.replies import ModelUnavailable
from resources.settings.run_config import BadConfig
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests import runs, tiny
from tests.assets.vhexpansion.cases import case
from tests.resources.attacks.encoders import picture

pytestmark = pytest.mark.slow

SHORT = {"iterations": [30], "raising_iterations": [10]}
DATASET = "flags"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return Model(
        name="tiny",
        backend="transformers",
        model=str(tiny.save_llava(tmp_path_factory.mktemp("llava"))),
        family="tiny",
        roles=("judge", "encoder"),
        parameters={"batch": 2},
    )


class Lab:
    """A data root in which cases are attacked."""

    def __init__(self, root, encoder):
        self.root, self.encoder = root, encoder
        self.step = AdversarialPerturbations(Catalog((encoder,)), encoder)
        self.images, self.work_cache = ImageStore(root=str(root)), WorkCache(root=str(root))
        self.clean = []

    def case(self, number, image=None, size=(40, 64), **columns):
        """A case whose picture is in the store."""
        image = f"image {number}" if image is None else image
        digest = self.images.put(picture(*size, seed=sum(map(ord, image))))
        known = {"sha256": digest, "height": size[0], "width": size[1]}
        return case(number, image=image, **{**known, **columns})

    def answered(self, number, *correct, outcome="answered"):
        """The encoder's own clean answers to a case."""
        for repeat, each in enumerate(correct):
            row = {"case_id": f"zoo/{number}", "correct": each, "repeat": repeat}
            self.clean.append(row | {"outcome": outcome})

    def work(self, cases, **config):
        tables = {
            "cases": NEGATED_CASE_COLUMNS.build_table(cases).to_pandas(),
            "clean": ANSWERS.build_table(self.clean).to_pandas()[["case_id", "correct", "outcome"]],
        }
        log, config = logging.getLogger("lab"), AttackSweepConfig(**SHORT | config)
        stores = self.images, self.work_cache, log
        return StepRun(DATASET, config, tables, self.step.inputs, None, *stores, None)

    def attack(self, cases, **config):
        """The rows of a run."""
        return query_models(self.step, self.work(cases, **config), None, Account())[0]


@pytest.fixture
def lab(tmp_path, encoder):
    return Lab(tmp_path, encoder)


@pytest.fixture
def batches(monkeypatch):
    """How many pictures each batch had."""
    seen, own = [], EncoderAttack.attack

    def attack(self, works, watch):
        seen.append(len(works))
        return own(self, works, watch)

    monkeypatch.setattr(EncoderAttack, "attack", attack)
    return seen


def test_each_case_is_attacked_by_each_method_the_way_its_own_answers_say(lab):
    lab.answered(0, True, True, False)
    lab.answered(1, True, False, None)
    lab.answered(2, None, outcome="unparsed")
    rows = lab.attack([lab.case(number, size=(40, 64 + number)) for number in range(3)])
    found = {(row["case_id"], row["method"]): row for row in rows}
    assert len(rows) == len(found) == 6
    assert {row["outcome"] for row in rows} == {"attacked"}
    for (name, _), row in found.items():
        told = {"zoo/0": (False, "lower"), "zoo/1": (True, "raise"), "zoo/2": (None, "lower")}
        assert (row["hallucinates"], row["objective"]) == told[name]
        gain = row["similarity"] - row["noise_similarity"]
        assert (gain > 0) == (row["objective"] == "raise")
        assert 0 < row["largest_change"] <= 8
        assert lab.images.sizes([row["sha256"]]) == {row["sha256"]: (64 + int(name[-1]), 40)}
    assert list(find_problems(lab.step, lab.work([lab.case(0)]), rows[:2])) == []


def test_what_was_made_is_not_made_again(lab, batches, monkeypatch):
    cases = [lab.case(number) for number in range(3)]
    first = lab.attack(cases)
    assert batches == [2, 2, 2]
    monkeypatch.setattr(attacking, "EncoderAttack", None)
    assert lab.attack(cases) == first
    assert lab.attack(cases[:1], methods=["pgd"]) == [first[1]]


@pytest.fixture
def asked(monkeypatch, forked_devices):
    """What each process of a device was asked; one that `kills` says so of is killed then."""
    asked, kills, own = [], [], DeviceProcess.ask

    def ask(self, arguments):
        asked.append((self, arguments[0]))
        if any(kill(arguments[0]) for kill in kills):
            self._process.kill()
            self._process.join()
        return own(self, arguments)

    monkeypatch.setattr(DeviceProcess, "ask", ask)
    return asked, kills


def has_ended(process):
    return process._process.exitcode is not None


def test_two_devices_of_which_one_is_killed_make_the_bytes_of_one(lab, encoder, tmp_path, asked):
    working, kills = asked
    expected = lab.attack([lab.case(number) for number in range(5)])
    spread = Lab(tmp_path / "spread", encoder.model_copy(update={"devices": ("cpu", "cpu")}))
    kills.append(lambda works: len([works for _, works in working if works]) == 3)
    assert spread.attack([spread.case(number) for number in range(5)]) == expected
    assert {row["outcome"] for row in expected} == {"attacked"}
    sizes = [len(works) for _, works in working if works]
    assert sizes == [2] * 6
    assert len({process for process, works in working if works}) >= 2
    assert all(has_ended(process) for process, _ in working)


def test_a_picture_that_ends_three_processes_is_named_and_the_others_are_attacked(
    lab, encoder, tmp_path, asked
):
    working, kills = asked
    lab = Lab(tmp_path, encoder.model_copy(update={"devices": ("cpu",)}))
    cases = [lab.case(number, question=f"is there dog {number} ?") for number in range(3)]
    kills.append(lambda works: any("dog 1" in work.question for work in works or ()))
    rows = lab.attack(cases, methods=["pgd"])
    assert [row["outcome"] for row in rows] == ["attacked", "failed", "attacked"]
    assert "has ended 3 workers of tiny (the last one on cpu, exit code " in rows[1]["reason"]
    # The batch of two, and then the one alone.
    assert [kills[0](works) for _, works in working].count(True) == 3 + 3
    kills.clear()
    assert {row["outcome"] for row in lab.attack(cases, methods=["pgd"])} == {"attacked"}


def test_two_machines_share_the_attacks(lab, encoder, batches, monkeypatch):
    cases = [lab.case(number) for number in range(6)]
    own, both = EncoderAttack.attack, threading.Barrier(2, timeout=60)
    begun = set()

    def attack(self, works, watch):
        if self not in begun:
            begun.add(self)
            both.wait()
        return own(self, works, watch)

    monkeypatch.setattr(EncoderAttack, "attack", attack)
    with ThreadPoolExecutor(2) as threads:
        machines = [Lab(lab.root, encoder) for _ in range(2)]
        one, other = threads.map(lambda lab: lab.attack(cases, methods=["pgd"]), machines)
    assert one == other
    assert {row["outcome"] for row in one} == {"attacked"}
    assert batches == [2, 2, 2]


def test_a_kill_costs_the_batch_on_its_way(lab, batches, monkeypatch):
    cases = [lab.case(number) for number in range(5)]
    own = EncoderAttack.attack

    def killed(self, works, watch):
        if len(batches) == 2:
            raise KeyboardInterrupt
        return own(self, works, watch)

    with monkeypatch.context() as patched:
        patched.setattr(EncoderAttack, "attack", killed)
        with pytest.raises(KeyboardInterrupt):
            lab.attack(cases, methods=["pgd"])
    assert batches == [2, 2]
    rows = lab.attack(cases, methods=["pgd"])
    assert batches == [2, 2, 1]
    assert {row["outcome"] for row in rows} == {"attacked"}


def test_questions_about_one_picture_are_one_attack(lab, batches):
    rows = lab.attack([lab.case(0, "one"), lab.case(1, "one")], methods=["pgd"])
    assert batches == [1]
    assert rows[0]["sha256"] == rows[1]["sha256"]
    assert [row["case_id"] for row in rows] == ["zoo/0", "zoo/1"]
    lab.attack([lab.case(0, "one"), lab.case(2, "one")], methods=["pgd"])
    assert batches == [1]


def test_a_damaged_picture_is_made_again(lab, batches):
    cases = [lab.case(0), lab.case(1)]
    rows = lab.attack(cases, methods=["pgd"])
    runs.image(lab.root, rows[0]["sha256"]).write_bytes(b"damaged")
    runs.image(lab.root, rows[1]["sha256"]).unlink()
    assert lab.attack(cases, methods=["pgd"]) == rows
    assert batches == [2, 2]
    assert all(lab.images.holds(row["sha256"]) for row in rows)


def test_an_attack_no_better_than_noise_has_no_picture(lab):
    rows = lab.attack([lab.case(0)], methods=["pgd"], iterations=[1], steps=[0.01])
    assert [row["outcome"] for row in rows] == ["failed"]
    assert rows[0]["sha256"] is None
    assert "no better than noise" in rows[0]["reason"]
    found = check_failure_rate(None, rows)
    assert not found.passed
    assert "1 of 1 attacks failed, most often with: It reached" in found.description


def test_pictures_that_cannot_be_attacked_are_said_and_the_others_go_on(lab):
    sizes = [(40, 64), (4, 4), (10, 200)]
    rows = lab.attack([lab.case(n, size=size) for n, size in enumerate(sizes)], methods=["pgd"])
    assert [row["outcome"] for row in rows] == ["attacked", "inapplicable", "inapplicable"]
    assert "4 × 4 px: too small" in rows[1]["reason"]


def test_a_question_that_cannot_be_taken_fails_alone(lab, monkeypatch, tmp_path_factory):
    folder = str(tiny.save_instructblip(tmp_path_factory.mktemp("instructblip")))
    lab.encoder = lab.encoder.model_copy(update={"model": folder})
    lab.step = AdversarialPerturbations(Catalog((lab.encoder,)), lab.encoder)
    cases = [lab.case(0, question="is there a dog ?"), lab.case(1, question="dog " * 40)]
    rows = lab.attack(cases, methods=["i_fgsm"])
    assert [row["outcome"] for row in rows] == ["attacked", "failed"]
    assert "cannot take this request" in rows[1]["reason"]


def test_a_sweep_varies_one_number_at_a_time():
    swept = AttackSweepConfig(epsilons=[8, 4, 12], steps=[0.5, 0.3], iterations=[500, 100])
    told = [(each.epsilon, each.step, each.iterations) for each in swept.list_settings()]
    default = (8, 0.5, 500)
    assert told == [default, (4, 0.5, 500), (12, 0.5, 500), (8, 0.3, 500), (8, 0.5, 100)]


def test_of_a_setting_what_the_objective_uses_counts(lab, batches):
    lab.answered(1, False)
    cases = [lab.case(0), lab.case(1)]
    rows = lab.attack(cases, methods=["pgd"], raising_iterations=[10, 12])
    assert batches == [2, 1]
    assert len({row["parameters"] for row in rows}) == 2
    assert len({row["sha256"] for row in rows if row["case_id"] == "zoo/0"}) == 1


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"methods": ["fgsm"]}, "no 'fgsm', did you mean i_fgsm"),
        ({"epsilons": [0.5]}, "epsilon: Input should be greater than or equal to 1"),
        ({"steps": [0.5, 9]}, "^step: 9 is above epsilon"),
        ({"iterations": []}, "iterations"),
        ({"early_stop": 1.0}, "early_stop"),
        ({"batch": 0}, "batch"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(config, told):
    with pytest.raises(BadConfig, match=told):
        AttackSweepConfig(**config)


def test_the_same_weights_behind_a_server_say_what_is_hallucinated(encoder):
    alone = encoder.model_copy(update={"roles": ("encoder",)})
    served = alone.model_copy(update={"name": "served", "roles": ("judge",)})
    other = served.model_copy(update={"name": "other", "model": "another"})
    for models, clean in (
        ((alone,), None),
        ((alone, other), None),
        ((alone, other, served), "clean_answers_served"),
        ((served, encoder), "clean_answers_tiny"),
    ):
        catalog = Catalog(models)
        (entry,) = catalog.select_role("encoder")
        found = AdversarialPerturbations(catalog, entry).inputs.get("clean")
        assert (found and found.asset.path[-1]) == clean


def test_a_plan_knows_what_is_not_there_yet(lab):
    lab.answered(1, None, outcome=PENDING)
    cases = [lab.case(0), lab.case(1), lab.case(2, outcome=PENDING), lab.case(3, size=(4, 4))]
    rows = lab.step.rows(lab.work(cases, methods=["pgd"]))
    assert [row["outcome"] for row in rows] == [PENDING, PENDING, PENDING, "inapplicable"]


def test_an_attack_that_was_changed_by_hand_is_found(lab):
    rows = [dict(row) for row in lab.attack([lab.case(0)])]
    rows[0]["largest_change"] = 9
    rows[1]["similarity"] = 1.0
    told = [why for _, why in lab.step.table.find_problems(lab.work([]), rows)]
    assert told == ["a change of 9 levels, above 8", "a similarity of 1.0000, no better than noise"]


def test_without_the_libraries_it_says_what_to_install(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'counterfactory\[local\]'"):
        lab.attack([lab.case(0)])


def test_it_is_an_asset_with_its_checks_and_pictures(lab, encoder):
    cases = [lab.case(number, dataset=DATASET) for number in range(3)]
    lab.answered(0, False)
    tables = {
        "negated_cases": NEGATED_CASE_COLUMNS.build_table(cases),
        "clean_answers_tiny": ANSWERS.build_table(lab.clean),
    }
    for name, rows in tables.items():
        path = runs.table(lab.root, name, DATASET, "vhexpansion")
        path.parent.mkdir(parents=True)
        rows.to_pandas().to_parquet(path)
    name = "adversarial_perturbations_tiny"
    result = runs.materialize(
        lab.root,
        name,
        topic=DATASET,
        models=(encoder,),
        group="vhexpansion",
        config={name: SHORT | {"limit": 2}},
    )
    assert result.success, runs.failure(result)
    made = pd.read_parquet(runs.table(lab.root, name, DATASET, "vhexpansion"))
    assert made["outcome"].tolist() == ["attacked"] * 4
    assert json.loads(made["parameters"][0])["epsilon"] == 8
    found = runs.metadata(result, name, "vhexpansion")
    assert found["attacked"] == 4
    assert found["partial"] == "2 of 3 cases"
    assert "| i_fgsm" in found["similarity"]
    assert "data:image/jpeg" in found["contact_sheet"]
    assert found["cases_without_clean_answers"] >= 1
    assert runs.checks(result)["nothing_failed"]
