"""The prompting variants, and a judge's questions under each (sections 4.7, 4.8)."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd
from pydantic import Field, field_validator

from assets.kit.columns import to_records
from assets.kit.limits import LimitConfig, SamplingKey, stratified_order
from assets.kit.pictures import draw_missing_pictures
from generators.fingerprint import fingerprint
from generators.perturbations.title_strip import TitleJob, title_png
from generators.topics import format_caption
from metrics import BASELINE, ISOLATED
from resources.models.catalog import Model
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

DEBIASED = (
    "Do not assume from prior knowledge and answer only based on what is visible in the image."
)
DOUBLE_CHECK = (
    "Please double-check your answer and give your final answer in curly brackets, following the "
    "format above."
)
_PLACED = ["image_id", "sha256", "question_id", "question", "subtopic", "size"]
"""The columns that decide where a question stands in the order of a limit."""


class PromptingVariant(NamedTuple):
    """Changes that a way of prompting makes to the plain question."""

    prefix: str = ""
    """Written before the question."""
    follow_up: str | None = None
    """A second turn, after the judge's answer to the first."""
    has_title: bool = False
    """Whether the subject's name stands above the image."""
    is_isolated: bool = False
    """Whether the image shows what is counted alone."""


VARIANTS: Mapping[str, PromptingVariant] = {
    BASELINE: PromptingVariant(),
    "debiased": PromptingVariant(prefix=f"{DEBIASED} "),
    "double-check": PromptingVariant(follow_up=DOUBLE_CHECK),
    "in-image title": PromptingVariant(has_title=True),
    ISOLATED: PromptingVariant(is_isolated=True),
}
"""Variants by name, in the order of a table's rows."""


class PromptingConfig(LimitConfig):
    """Variants that a run asks; the table keeps its answers to others.

    A limit is on the questions of each variant.
    """

    prompting: list[str] = Field(
        default=[BASELINE],
        description=f"Ways to ask, one or more of: {', '.join(VARIANTS)}.",
    )

    @field_validator("prompting")
    @classmethod
    def _require_known_promptings(cls, prompting: list[str]) -> list[str]:
        unknown = [name for name in prompting if name not in VARIANTS]
        if unknown or not prompting:
            problem = f"There is no prompting {unknown[0]!r}." if unknown else "None is given."
            raise ValueError(f"{problem} Choose one or more of: {', '.join(VARIANTS)}.")
        return [name for name in VARIANTS if name in prompting]


def select_questions(
    judge: Model, questions: pd.DataFrame, prompting: str, limit: int | None = None
) -> pd.DataFrame:
    """Select the topic's questions that a judge gets under a prompting, with their index.

    The sanity check (N1 and N2) asks what a model knows: no stand-in judge gets it. The ways
    beyond the baseline are tried on the counting questions alone, as the paper does (Table 5);
    isolated pictures have Q3 as well, and there are none of originals. Of photographs, those are
    isolated that `questions` marks in the column `has_isolated`.
    Of no more than `limit`, those of Q1 and Q2 are the same under every prompting, as far as they
    go: the order is that of the baseline.
    """
    ids = questions["question_id"]
    if prompting == ISOLATED:
        selected = questions[[shows_isolated(row) for row in to_records(questions)]]
    elif prompting != BASELINE:
        selected = questions[ids.isin(["Q1", "Q2"])]
    else:
        selected = questions[~(ids.str.startswith("N") & judge.is_stand_in)]
    if limit is None or limit >= len(selected):
        return selected
    all_keys = list(questions[_PLACED].itertuples(index=False, name=None))
    of_judge = set(selected[_PLACED].itertuples(index=False, name=None))
    order = [row for row in stratified_order(all_keys, _build_sampling_key) if row in of_judge]
    first_keys = pd.MultiIndex.from_tuples(order[:limit])
    return selected[pd.MultiIndex.from_frame(selected[_PLACED]).isin(first_keys)]


def shows_isolated(question: Mapping[str, Any]) -> bool:
    """Return whether a question is put about an isolated picture: Q1 to Q3 of changes."""
    is_isolated = not question["painter"] or question["has_isolated"]
    is_changed = question["image_set"] == "benchmark"
    return is_changed and is_isolated and question["question_id"] in ("Q1", "Q2", "Q3")


def count_questions(judge: Model, questions: pd.DataFrame, promptings: Iterable[str]) -> int:
    """Count the questions that a judge has to answer under some promptings."""
    return sum(len(select_questions(judge, questions, name)) for name in promptings)


def _build_sampling_key(question: tuple[Any, ...]) -> SamplingKey:
    image_id, _, question_id, text, subtopic, size = question
    return SamplingKey(f"{image_id}/{question_id}/{text}", (subtopic, str(size)))


def draw_titled_pictures(
    questions: Iterable[Mapping[str, Any]], images: ImageStore, work_cache: WorkCache
) -> dict[str, str]:
    """Map each image's sha256 to that of a copy with the subject's name above it.

    Draws those that are not there yet.
    """
    titles: dict[str, str] = {}
    for row in questions:
        titles.setdefault(row["sha256"], format_caption(row["domain"], row["subject"]))
    code = fingerprint("generators.perturbations.title_strip")
    keys = {
        digest: build_work_key("title", code, digest, title) for digest, title in titles.items()
    }
    return draw_missing_pictures(
        keys,
        lambda digest: TitleJob(images.get(digest), titles[digest]),
        *(title_png, images, work_cache),
    ).results
