"""Tables of pictures that are written by hand, and steps run on them without Dagster."""

import logging
from tempfile import TemporaryDirectory

from assets.kit.step_asset import query_models
from assets.kit.step_run import StepRun
from assets.philautia.captions import CAPTIONS, CaptionStep
from assets.philautia.pictures import PICTURES
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS
from assets.philautia.scores import CaptionScoreStep
from resources.calls.spending import Account
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

SET = "zoo"


def reference(name, family="stand_in"):
    """A stand-in model, captioner and evaluator in one."""
    roles = ("captioner", "judge")
    return Model(name=name, backend="stand_in", model=name, family=family, roles=roles)


def picture(number, *references, **columns):
    """A picture, with captions that are known to be right."""
    return {
        "image_id": f"zoo/{number}",
        "dataset": SET,
        "sha256": f"sha of {number}",
        "width": 64,
        "height": 64,
        "references": [*references],
        "outcome": "taken",
        "is_stand_in": False,
    } | columns


def rated(number, caption, score, *references, **columns):
    """A caption that people have scored, 1 to 4."""
    return {
        "image_id": f"zoo/{number}",
        "candidate": f"zoo/row {caption}",
        "sha256": f"sha of {number}",
        "caption": caption,
        "references": [*references],
        "human_score": float(score),
        "human_scores": [float(score)] * 3,
        "scale_low": 1.0,
        "scale_high": 4.0,
        "outcome": "taken",
    } | columns


def captions(model, pictures, models=None, **config):
    """The rows of a model's captions."""
    step = CaptionStep(Catalog((model,)), model)
    return run(step, {"pictures": PICTURES.build_table(pictures).to_pandas()}, models, config)


def scores(judge, pictures, written, models=None, people=(), others=(), **config):
    """The rows of a judge's scores; `written` has the captions' rows by the model of a catalog."""
    step = CaptionScoreStep(Catalog((judge, *(each for each in others if each != judge))), judge)
    tables = {
        "pictures": PICTURES.build_table(pictures).to_pandas(),
        "rated": RATED_CAPTION_COLUMNS.build_table(list(people)).to_pandas(),
    }
    for model in step.generators:
        rows = written.get(model.name, [])
        tables[f"captions_{model.name}"] = CAPTIONS.build_table(
            list(rows), ["references"]
        ).to_pandas()
    return run(step, tables, models, config)


def checked(step, name, pictures, written):
    """What a check of scores says, whatever these are."""
    (check,) = (each for each in step.checks() if each.name == name)
    tables = {"pictures": PICTURES.build_table(pictures).to_pandas()}
    for model in step.generators:
        rows = written.get(model.name, [])
        tables[f"captions_{model.name}"] = CAPTIONS.build_table(
            list(rows), ["references"]
        ).to_pandas()
    stores = {"home": None, "images": None, "work_cache": None, "find_table": None}
    log = logging.getLogger(__name__)
    return check.passes(StepRun(SET, step.config(), tables, step.inputs, log=log, **stores), [])


def run(step, tables, models, config):
    """The rows that a step makes of tables."""
    log = logging.getLogger(__name__)
    images = models and models.images
    with TemporaryDirectory() as root:
        stores = DataRoot(root=root), images, None
        work = StepRun(SET, step.config(**config), tables, step.inputs, *stores, log, None)
        rows, _ = query_models(step, work, models, Account())
        return [*rows]
