"""Tables of cases that are written by hand, and steps run on them without Dagster."""

import logging
from tempfile import TemporaryDirectory

import pandas as pd

from assets.kit.step_asset import query_models
from assets.kit.step_run import StepRun
from assets.vhexpansion.answers import ATTACK_COLUMNS, CleanAnswers, YesNoAnswers
from assets.vhexpansion.blind_answers import BlindYesNoAnswers
from assets.vhexpansion.common_perturbations import PERTURBED_PICTURE_COLUMNS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.seed_cases import SEED_CASES
from resources.calls.spending import Account
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

OTHER = {"yes": "no", "no": "yes"}


def reference(name, role="judge"):
    return Model(name=name, backend="stand_in", model=name, family="stand_in", roles=(role,))


def case(number, answer="yes", image=None, **columns):
    """A case with its negation, about a picture of its own unless one is named."""
    image = f"image {number}" if image is None else image
    return {
        "case_id": f"zoo/{number}",
        "dataset": "zoo",
        "image_id": image,
        "sha256": f"sha of {image}",
        "width": 64,
        "height": 64,
        "question": f"Is there an animal of kind {number}?",
        "answer": answer,
        "origin": "as it stands",
        "case_number": number,
        "seed": 0,
        "is_stand_in": False,
        "source_question": f"Is there an animal of kind {number}?",
        "truth": answer.title(),
        "negated_question": f"Is there no animal of kind {number}?",
        "negated_answer": OTHER[answer],
        "writer": "grammar",
        "outcome": "negated",
    } | columns


NEGATION_KEYS = ("negated_question", "negated_answer", "writer")
"""Keys of a case that no table of seed cases has."""


def perturbed(image, name="noise", **columns):
    """A perturbed picture."""
    return {
        "dataset": "zoo",
        "image_id": image,
        "original": f"sha of {image}",
        "perturbation": name,
        "parameters": f'[{{"kind":"{name}"}}]',
        "sha256": f"sha of {image} with {name}",
        "is_stand_in": False,
        "outcome": "perturbed",
    } | columns


def attack(number, encoder, method="pgd", **columns):
    """An attack on a case for an encoder."""
    return {
        "case_id": f"zoo/{number}",
        "encoder": encoder,
        "method": method,
        "parameters": '{"epsilon":8.0}',
        "sha256": f"sha of case {number} attacked for {encoder} by {method}",
        "outcome": "attacked",
    } | columns


def answers(judge, cases, pictures=(), models=None, attacks=(), attacked_on=(), **config):
    """The rows of a judge's answers to cases, of pictures as they were, perturbed and attacked."""
    step = YesNoAnswers(Catalog((judge, *attacked_on)), judge)
    tables = {
        "cases": NEGATED_CASE_COLUMNS.build_table(list(cases)).to_pandas(),
        "perturbed": PERTURBED_PICTURE_COLUMNS.build_table(list(pictures)).to_pandas(),
    }
    for encoder in attacked_on:
        rows = [each for each in attacks if each["encoder"] == encoder.name]
        tables[f"adversarial_{encoder.name}"] = ATTACK_COLUMNS.build_table(rows).to_pandas()
    return run(step, tables, models, config)


def clean_answers(judge, cases, models=None, **config):
    """The rows of a judge's answers to seed cases."""
    step = CleanAnswers(Catalog((judge,)), judge)
    taken = [case | {"outcome": "taken"} for case in cases]
    return run(
        step, {"cases": SEED_CASES.build_table(taken, NEGATION_KEYS).to_pandas()}, models, config
    )


def blind_answers(judge, cases, models):
    """The rows of a judge's answers to cases without their pictures."""
    step = BlindYesNoAnswers(Catalog((judge,)), judge)
    return run(step, {"cases": NEGATED_CASE_COLUMNS.build_table(cases).to_pandas()}, models, {})


def run(step, tables, models, config):
    """The rows that a step makes of tables."""
    log = logging.getLogger(__name__)
    images = models and models.images
    with TemporaryDirectory() as root:
        stores = DataRoot(root=root), images, None
        work = StepRun("zoo", step.config(**config), tables, step.inputs, *stores, log, None)
        rows, _ = query_models(step, work, models, Account())
    return rows


def table_of(rows):
    """Rows as the report reads them."""
    return pd.DataFrame(rows)
