"""The four ways in which a question is put to a judge (VLMBias, sections 4.7 and 4.8)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
from pydantic import Field, field_validator

from assets.kit.columns import records
from assets.kit.limits import Limited
from generators.fingerprint import fingerprint
from generators.perturbations.title import Titling, title_png
from generators.topics import caption
from metrics import BASELINE
from resources.images import ImageStore
from resources.ledger import WorkLedger, work_key
from resources.workers import spread

DEBIASED = (
    "Do not assume from prior knowledge and answer only based on what is visible in the image."
)
DOUBLE_CHECK = (
    "Please double-check your answer and give your final answer in curly brackets, following the "
    "format above."
)
_KEPT_AT_ONCE = 50


class Variant(NamedTuple):
    """What a way of prompting changes of the plain question."""

    before: str = ""
    """Written before the question."""
    follow_up: str | None = None
    """A second turn, after the judge's answer to the first."""
    titled: bool = False
    """Whether the subject's name stands above the image."""


VARIANTS: Mapping[str, Variant] = {
    BASELINE: Variant(),
    "debiased": Variant(before=f"{DEBIASED} "),
    "double-check": Variant(follow_up=DOUBLE_CHECK),
    "in-image title": Variant(titled=True),
}
"""By name, in the order of a table's rows."""


class Prompting(Limited):
    """Which variants a run asks; what the table holds of others stays in it.

    A limit is on the questions of each variant.
    """

    prompting: list[str] = Field(
        default=[BASELINE],
        description=f"How to ask, one or more of: {', '.join(VARIANTS)}.",
    )

    @field_validator("prompting")
    @classmethod
    def _known(cls, prompting: list[str]) -> list[str]:
        unknown = [name for name in prompting if name not in VARIANTS]
        if unknown or not prompting:
            said = f"There is no prompting {unknown[0]!r}." if unknown else "None is given."
            raise ValueError(f"{said} Choose one or more of: {', '.join(VARIANTS)}.")
        return [name for name in VARIANTS if name in prompting]


class Posed(NamedTuple):
    """One question as a judge meets it; only `prompt`, `shown` and `follow_up` are for its eyes."""

    question: dict[str, Any]
    prompting: str
    prompt: str
    shown: str
    """The sha256 of the picture that it is shown."""
    follow_up: str | None


def asked(questions: pd.DataFrame, prompting: str, *, reference: bool) -> pd.DataFrame:
    """Those of a topic's questions that a judge is asked under a prompting.

    The sanity check (N1 and N2) asks what a model knows: it is put to no reference judge. The ways
    beyond the baseline are tried on the counting questions alone, as the paper does (Table 5).
    """
    question = questions["question_id"]
    if prompting != BASELINE:
        kept = question.isin(["Q1", "Q2"])
    else:
        kept = ~(question.str.startswith("N") & reference)
    return questions[kept].reset_index(drop=True)


def posed(
    questions: pd.DataFrame, prompting: str, images: ImageStore, ledger: WorkLedger
) -> list[Posed]:
    """The questions as they are put under a prompting, pictures made that are not there yet."""
    variant = VARIANTS[prompting]
    shown = _titled(questions, images, ledger) if variant.titled else {}
    return [
        Posed(
            question,
            prompting,
            variant.before + question["question"],
            shown.get(question["sha256"], question["sha256"]),
            variant.follow_up,
        )
        for question in records(questions)
    ]


def _titled(questions: pd.DataFrame, images: ImageStore, ledger: WorkLedger) -> dict[str, str]:
    """By the sha256 of each image: that of the one with its subject's name above it."""
    titles: dict[str, str] = {
        row["sha256"]: caption(row["domain"], row["subject"])
        for row in records(questions.drop_duplicates("sha256"))
    }
    code = fingerprint("generators.perturbations.title")
    keys = {digest: work_key("title", code, digest, title) for digest, title in titles.items()}
    made = ledger.known(keys.values())
    missing = [
        digest for digest, key in keys.items() if key not in made or not images.holds(made[key])
    ]
    for start in range(0, len(missing), _KEPT_AT_ONCE):
        batch = missing[start : start + _KEPT_AT_ONCE]
        pngs = spread(title_png, [Titling(images.get(digest), titles[digest]) for digest in batch])
        kept = {keys[digest]: images.put(png) for digest, png in zip(batch, pngs, strict=True)}
        ledger.record(kept)
        made |= kept
    return {digest: made[key] for digest, key in keys.items()}
