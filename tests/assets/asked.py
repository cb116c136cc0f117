"""Asking a model of the test's own provider to be a judge of `TOPIC`."""

import json

import pandas as pd

from assets.kit.tuning import TRAINED_ON
from resources.models.catalog import Model
from tests.adapters import adapter_record
from tests.runs import STAND_INS, TOPIC, materialize, table

JUDGE = "answers_somebody"


def judge_at(server, **entry):
    """An entry of models.yaml for a model of this server."""
    known = {"name": "somebody", "backend": "openai", "model": "some-vlm-1", "family": "some"}
    return Model(**{**known, "roles": ("judge",), "base_url": server.openai_url, **entry})


def adapter_below(root, *seen):
    """The name of an adapter below a data root, which was trained on such pictures or scenes."""
    folder = root / "adapters/tuned-0"
    folder.mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    record = adapter_record(b"weights", **{TRAINED_ON: [*seen]})
    (folder / "record.json").write_text(json.dumps(record))
    return str(folder.relative_to(root))


def ask(root, judge, *prompting, **more):
    """Materialize the judge's answers, for the baseline unless told otherwise."""
    return materialize(
        root, JUDGE, topic=TOPIC, models=[*STAND_INS, judge], prompting=list(prompting), **more
    )


def answers(root):
    return pd.read_parquet(table(root, JUDGE))


def questions(root):
    return pd.read_parquet(table(root, "questions"))


def counting(root):
    """How many of the questions are asked in the ways beyond the baseline: Q1 and Q2."""
    return int(questions(root)["question_id"].isin(["Q1", "Q2"]).sum())


def requests(root):
    """How many requests the questions are: N2 has the words of Q1, and is paid for once."""
    return len(questions(root)[["sha256", "question"]].drop_duplicates())
