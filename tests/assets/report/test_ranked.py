"""Whatever is answered, refused or unparsed: every benchmark ranks by the one rule."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assets.frame import pages as frame
from assets.frame.inflation import build_inflation_rows
from assets.frame.search import join_originals, search_biases
from assets.philautia import pages as philautia
from assets.protobias import pages as protobias
from assets.report.publish import Site
from assets.vhexpansion import pages as vhexpansion
from assets.vlmbias import pages as vlmbias
from metrics.philautia.caption_scores import CaptionScores
from tests.assets.frame.test_pages import NOTHING, made
from tests.assets.philautia.test_finding import compared
from tests.assets.protobias.pairs_data import Pictures, painted, triplets_of
from tests.assets.vhexpansion.test_pages import EAR, EYE, dataset, said
from tests.assets.vlmbias.site_data import Report
from tests.metrics.philautia.simulated_captions import simulated

JUDGES = ("eye", "ear")
PICTURES = Pictures()
PAINTED = painted("flux", PICTURES)

Missing = Mapping[str, float]
"""By judge: the share of its answers that is missing."""


def lacking(number: int, share: float, seed: int = 0) -> np.ndarray:
    """Which of so many answers are missing, at random."""
    chosen = np.random.default_rng(seed).permutation(number)[: round(share * number)]
    return np.isin(np.arange(number), chosen)


def of_vlmbias(missing: Missing) -> Site:
    """Refused and unparsed by turns; a reply that cannot be read counts as wrong there."""

    def answering(model: str, prompting: str, question: dict[str, Any]) -> dict[str, Any]:
        number = int(question["image_id"].split("subject-")[1].split("/")[0].split("-")[0])
        if number >= 10 - round(10 * missing[model]):
            ended = "refused" if number % 2 else "unparsed"
            return {"outcome": ended, "response": "I see."}
        return {"answer": question["expected_bias"]}

    tables = Report(10, ("flags",), models=JUDGES, answering=answering).tables()
    del tables["png_of"]
    return vlmbias.build(**tables)


def of_protobias(missing: Missing) -> Site:
    summary = PAINTED.summary[PAINTED.summary["metric"].isin(["clip_l", "qwen"])]
    names = dict(zip(("clip_l", "qwen"), JUDGES, strict=True))
    summary = summary.assign(metric=summary["metric"].map(names), same_family=False)
    summary["unscored"] = (1000 * summary["metric"].map(missing)).round().astype(int)
    summary["pairs"] = 1000 - summary["unscored"]
    painter = replace(PAINTED, summary=summary)
    return protobias.build([painter], prompts={"animals": triplets_of("animals")}, facts={})


def of_frame(missing: Missing) -> Site:
    tables = []
    for judge in JUDGES:
        scores, _ = made(judge, 1.0, 60, domains=("animals",))
        # A picture lacks all of its scores, as one that is refused does.
        is_lacking = dict(
            zip(scores["original"].unique(), lacking(60, missing[judge]), strict=True)
        )
        scores["score"] = scores["score"].mask(scores["original"].map(is_lacking))
        search = pd.DataFrame(search_biases(join_originals(scores), 0))
        known = {"domain": "animals", "model": judge, "seed": 0, "is_stand_in": False}
        tables.append((judge, scores, search.assign(**known)))
    rows = [
        {"source": "brush", "model": judge, **row}
        for judge, scores, search in tables
        for row in build_inflation_rows(scores, search, NOTHING, NOTHING)
    ]
    scores, search = (pd.concat(held) for held in list(zip(*tables, strict=True))[1:])
    source = frame.ScoredSource("brush", pd.DataFrame(rows), scores, search, *3 * [NOTHING])
    return frame.REPORT.build([source], facts={})


def of_vhexpansion(missing: Missing) -> Site:
    tables = []
    for judge in JUDGES:
        answers = said(judge, 0.8)
        answers["answer"] = answers["answer"].mask(lacking(len(answers), missing[judge]))
        tables.append(answers)
    return vhexpansion.REPORT.build([dataset([EYE, EAR], *tables)], facts={})


def of_philautia(missing: Missing) -> Site:
    """Two more models write and score, and lack nothing."""
    values = simulated(np.random.default_rng(0), images=30, models=4, preference=9.0).values
    for column, judge in enumerate(JUDGES):
        held = values[:, :, column]
        held[lacking(held.size, missing[judge]).reshape(held.shape)] = np.nan
    models = [*JUDGES, "C", "D"]
    scores = CaptionScores.from_arrays(values, models, models, None)
    return philautia.REPORT.build([compared(scores)], facts={})


@pytest.mark.parametrize(
    "made_of", [of_vlmbias, of_protobias, of_frame, of_vhexpansion, of_philautia]
)
@settings(
    max_examples=1, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(shares=(0.1, 0.6))
@example(shares=(0.2, 1.0))
@given(shares=st.tuples(*[st.sampled_from([0.0, 0.1, 0.2, 0.6, 1.0])] * 2))
def test_what_is_ranked_follows_the_answers(
    made_of: Callable[[Missing], Site], shares: tuple[float, float]
) -> None:
    missing = dict(zip(JUDGES, shares, strict=True))
    site = made_of(missing)
    standings = [each for each in site.judged.standings if each.model in JUDGES]
    assert {each.model for each in standings} == {*JUDGES}
    for each in standings:
        share = missing[each.model]
        if share == 1:
            assert (each.firmness, each.value) == ("no answer", None), each
            assert "no answer to" in each.note
        elif share > 0.1:
            assert each.firmness == "trial", each
            assert "answers missing" in each.note
        else:
            assert each.firmness in ("result", "trial"), each
            assert each.value is not None
        if each.value is not None and each.measure != "Score inflation":
            assert (each.low, each.high) != (0.0, 1.0)
    if site.entry.firmness == "result":
        trials = [judge for judge, share in missing.items() if share > 0.1]
        assert not any(f"{judge} " in site.entry.finding for judge in trials)
