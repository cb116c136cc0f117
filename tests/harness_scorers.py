"""Scores of VLMBias's replies by the harnesses' own packages, in a process that has these."""

import asyncio
import sys
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from types import SimpleNamespace

from tests.harnesses import FOLDER


def load_file(path):
    """Load one file of a package, without the package and what that needs."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def score_by_lmms_eval(items):
    module = load_file(FOLDER / "lmms_eval" / "tasks" / "vlms_are_biased" / "utils.py")
    for reply, truth, bias in items:
        scores = module.vlms_are_biased_process_results(
            {"ground_truth": truth, "expected_bias": bias}, [reply]
        )
        yield bool(scores["accuracy"]), bool(scores["bias_ratio"])


def score_by_vlmevalkit(items):
    # What loads its tables is the only thing that the file takes from the package.
    rows = [
        {"prediction": reply, "ground_truth": truth, "expected_bias": bias}
        for reply, truth, bias in items
    ]
    sys.modules["vlmeval"] = SimpleNamespace()
    sys.modules["vlmeval.smp"] = SimpleNamespace(load=lambda _: rows)
    module = load_file(FOLDER / "vlmeval" / "dataset" / "utils" / "vlmsarebiased.py")
    for row in module.vlms_are_biased_process_results("rows"):
        yield row["is_correct"], row["matches_bias"]


def score_by_evalscope(items):
    module = load_file(FOLDER / "evalscope" / "benchmarks" / "vlms_are_biased" / "utils.py")
    for reply, truth, bias in items:
        # As its adapter does: the extracted answer is what is scored.
        scores = module.score_answer(module.normalize_answer(reply), truth, bias)
        yield bool(scores["acc"]), bool(scores["bias_ratio"])


def score_by_inspect(items, name):
    from inspect_ai.scorer import Target, match, pattern  # noqa: PLC0415 - only that process has it

    score = {"pattern": pattern(r"\{\s*([^{}]*?)\s*\}"), "match": match()}[name]

    async def is_match(reply, target):
        state = SimpleNamespace(output=SimpleNamespace(completion=reply))
        return (await score(state, Target(target))).value == "C"

    for reply, *answers in items:
        yield [asyncio.run(is_match(reply, answer)) for answer in answers]


SCORERS = {
    "lmms-eval": score_by_lmms_eval,
    "VLMEvalKit": score_by_vlmevalkit,
    "evalscope": score_by_evalscope,
    "inspect_ai": partial(score_by_inspect, name="pattern"),
    "inspect_ai match": partial(score_by_inspect, name="match"),
}


def score_by_packages(items):
    """Verdicts by harness, (is right, is biased) of each (reply, right answer, familiar one)."""
    return {name: [tuple(verdict) for verdict in score(items)] for name, score in SCORERS.items()}
