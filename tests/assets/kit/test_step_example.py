"""The example in the docstring of `assets.kit.step` is a step that can be asked."""

from textwrap import dedent

import dagster as dg
import pytest

from assets.kit import judging, limits, model_lookup, step, step_run
from assets.kit.columns import TEXT, Columns
from assets.kit.step_asset import build_step_asset
from resources.models import requests
from resources.models.catalog import Catalog
from resources.models.outcomes import AnsweredOutcome


def test_the_example_runs():
    _, _, example = step.__doc__.partition("the plan.\n\n")
    modules = (dg, step_run, step, judging, limits, model_lookup, requests)
    names = {name: value for module in modules for name, value in vars(module).items()}
    names["PICTURES"] = Columns(image_id=(TEXT, "The picture"), sha256=(TEXT, "Its bytes"))
    names["CAPTIONS"] = Columns(
        **names["PICTURES"].columns, caption=(TEXT, "The caption"), **judging.REPLY_COLUMNS
    )
    names["PARTS"] = dg.StaticPartitionsDefinition(["all"])
    exec(dedent(example), names)
    captions = names["Captions"](Catalog(()))
    assert build_step_asset(captions).key == dg.AssetKey(["zoo", "captions"])
    talk = captions.converse(None, {"sha256": "0" * 64})
    assert next(talk).turns[0].images == ("0" * 64,)
    with pytest.raises(StopIteration) as end:
        talk.send(step.StepReply(AnsweredOutcome("A cat."), ("key",)))
    assert (end.value.value["caption"], end.value.value["calls"]) == ("A cat.", ["key"])
