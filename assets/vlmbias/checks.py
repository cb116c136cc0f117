"""What must hold before anything is published: labels, distinct scenes, legible marks."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetIn,
    AssetKey,
    PreviewWarning,
    asset_check,
    multi_asset_check,
)

from assets.kit.limits import so_many
from assets.kit.previews import markdown_table
from assets.kit.unread import few_unread, unread_spec
from assets.vlmbias.answers import all_of, not_ended, topics_of
from assets.vlmbias.common import GROUP, answers_of
from assets.vlmbias.partitions import drawn_topics
from assets.vlmbias.proof import agreement, alike, disagreeing, too_narrow
from metrics import BASELINE
from resources.models.catalog import Model

_LABELS = ["image_id", "sha256", "domain", "size", "targets", "truths"]
_TRUTHS = {
    name: AssetIn([GROUP, name], metadata={"columns": _LABELS})
    for name in ("drawn_images", "original_images")
}
_MEASUREMENTS = AssetKey([GROUP, "measurements"])
_SHOWN = 20
_READ_SOME = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "provider may refuse the pictures. The accuracy counts an unparsed answer as wrong."
)

Check = Callable[..., AssetCheckResult]


@contextmanager
def previewed() -> Iterator[None]:
    """Dagster marks partitioned checks as a preview: it need not say so each time."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Specifying a partitions_def", PreviewWarning)
        yield


def topic_check(
    asset: AssetKey,
    description: str,
    additional_ins: Mapping[str, AssetIn] | None = None,
    *,
    blocking: bool = True,
) -> Callable[[Check], AssetChecksDefinition]:
    """A check with a result of its own for each drawn topic; a blocking one stops what follows.

    A topic that failed stays failed in the UI until it passes itself, whatever other topics do.
    """

    def decorated(check: Check) -> AssetChecksDefinition:
        with previewed():
            return asset_check(
                asset=asset,
                description=description,
                additional_ins=additional_ins,
                partitions_def=drawn_topics,
                blocking=blocking,
            )(check)

    return decorated


@topic_check(_MEASUREMENTS, "Every label agrees with what was read back from the pixels.", _TRUTHS)
def labels_agree(
    measurements: pd.DataFrame, drawn_images: pd.DataFrame, original_images: pd.DataFrame
) -> AssetCheckResult:
    """Compare readings with truths: counts exactly, differences within the stated accuracy."""
    both = agreement(pd.concat([drawn_images, original_images], ignore_index=True), measurements)
    images = both.groupby(["size", "image_id"]).agg(
        agrees=("agrees", "all"), labels=("agrees", "size"), error=("error", "max")
    )
    sizes = images.groupby("size").agg(
        verified=("agrees", "sum"),
        images=("agrees", "size"),
        labels=("labels", "sum"),
        largest_error=("error", "max"),
    )
    return result_of(
        f"{sizes['verified'].sum()} of {sizes['images'].sum()} images agree with the pixels",
        disagreeing(both),
        images=int(sizes["images"].sum()),
        verified=int(sizes["verified"].sum()),
        labels=len(both),
        by_size=markdown_table(sizes.reset_index().round(5)),
    )


@topic_check(_MEASUREMENTS, "No two scenes share their pixels.")
def scenes_differ(measurements: pd.DataFrame) -> AssetCheckResult:
    """Compare the hashes of the decoded pixels of all images of the topic."""
    images = measurements["image_id"].nunique()
    distinct = int(measurements["pixels_sha256"].nunique())
    return result_of(
        f"{distinct} distinct of {images} images",
        alike(measurements),
        images=images,
        distinct=distinct,
    )


@topic_check(
    _MEASUREMENTS,
    "Marks and gaps that a count rests on are at least 2 px wide at the smallest size drawn.",
)
def legible(measurements: pd.DataFrame) -> AssetCheckResult:
    """Read off the pixels; below 384 px the limit shrinks with the size."""
    size = int(measurements["size"].min())
    mark, gap = float(measurements["mark"].min()), float(measurements["gap"].min())
    return result_of(
        f"narrowest mark {mark:.2f} px, narrowest gap {gap:.2f} px at {size} px",
        too_narrow(measurements),
        size=size,
        narrowest_mark_px=mark,
        narrowest_gap_px=gap,
    )


def truths_hold(judge: Model) -> AssetChecksDefinition:
    """The check of truths against the judge that looks."""

    @topic_check(
        answers_of(judge.name),
        "The published truths are what someone answers who looks at the pixels.",
    )
    def truths_hold(answers: pd.DataFrame) -> AssetCheckResult:
        """Every question's ground truth, in the words it is published in, is answered so."""
        plain = answers[answers["prompting"] == BASELINE]
        wrong = plain.loc[
            plain["score"] != 1.0, ["image_id", "question", "response", "ground_truth"]
        ]
        return result_of(
            f"{len(plain) - len(wrong)} of {len(plain)} truths hold", wrong, questions=len(plain)
        )

    return truths_hold


def checks_of_answers(judge: Model) -> AssetChecksDefinition:
    """What has to hold of every judge's answers; one step, that reads them once."""
    asset = answers_of(judge.name)
    with previewed():
        ended = AssetCheckSpec(
            "every_row_ended",
            asset=asset,
            description="Every question has one row under each prompting, which is answered, "
            "unparsed, refused or failed.",
            additional_deps=[AssetKey([GROUP, "questions"])],
            partitions_def=topics_of(judge),
            blocking=True,
        )
        failed = AssetCheckSpec(
            "nothing_failed",
            asset=asset,
            description="No request has failed.",
            partitions_def=topics_of(judge),
        )
        unread = unread_spec(asset, topics_of(judge))

    @multi_asset_check(
        name=f"vlmbias__answers_{judge.name}__checks",
        specs=[ended, failed, unread],
        ins={"answers": AssetIn(asset), "questions": AssetIn([GROUP, "questions"])},
    )
    def checks(answers: pd.DataFrame, questions: pd.DataFrame) -> Iterator[AssetCheckResult]:
        yield _every_row_ended(judge, answers, questions)._replace(check_name=ended.name)
        yield _nothing_failed(judge, answers)._replace(check_name=failed.name)
        yield few_unread(answers, "prompting", _READ_SOME)._replace(check_name=unread.name)

    return checks


def _every_row_ended(
    judge: Model, answers: pd.DataFrame, questions: pd.DataFrame
) -> AssetCheckResult:
    """Compare rows with questions, and each outcome with what stands beside it."""
    counts = Counter(answers["outcome"]).items()
    whole = all_of(judge, questions, answers["prompting"].unique())
    return as_partial(
        result_of(
            f"{len(answers)} rows: {', '.join(f'{n} {outcome}' for outcome, n in counts)}",
            not_ended(judge, answers, questions),
            rows=len(answers),
        ),
        (len(answers), whole),
        "questions",
    )


def _nothing_failed(judge: Model, answers: pd.DataFrame) -> AssetCheckResult:
    """Name how many did, the commonest last error and the remedy."""
    failed = answers[answers["outcome"] == "failed"]
    said = "Every request had a reply."
    if len(failed):
        said = (
            f"{len(failed)} of {len(answers)} requests failed, most often with: "
            f"{failed['reason'].mode()[0]} Materialize vlmbias/answers_{judge.name} for "
            f"{failed['domain'].iloc[0]} again: only those are asked."
        )
    return result_of(said, failed[["image_id", "question_id", "prompting", "reason"]])


def as_partial(found: AssetCheckResult, parts: tuple[int, int], what: str) -> AssetCheckResult:
    """A check of completeness that has passed, where so many of so many there are a part.

    It has not passed then, as a warning: what follows is made of the part.
    """
    there, of = parts
    if not found.passed or there >= of:
        return found
    return found._replace(
        passed=False,
        severity=AssetCheckSeverity.WARN,
        description=f"A part, {so_many(there, of, what)}: {found.description}",
    )


def result_of(description: str, wrong: pd.DataFrame, **metadata: Any) -> AssetCheckResult:
    """A check's result: it has passed where there is nothing `wrong`, and shows the first of it."""
    if len(wrong):
        metadata["wrong"] = markdown_table(wrong.head(_SHOWN))
    return AssetCheckResult(passed=wrong.empty, description=description, metadata=metadata)
