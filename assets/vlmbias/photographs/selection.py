"""The candidates to review, and those to publish: accepted, or undecided."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import pandas as pd
from upath import UPath

from assets.kit.review import review_file, write_review
from assets.kit.review_forms import ACCEPT, REJECT, ReviewForm, ReviewItem, write_part
from assets.kit.spared_requests import RULE
from assets.kit.step_run import Row
from assets.kit.verdicts import Verdicts
from generators.topics import format_caption, get_title
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.user_files.rows import UserFileError

ReviewState = Literal["accepted", "unreviewed"]


class PublishedCandidate(NamedTuple):
    """A candidate that is published, and on whose word."""

    candidate: Row
    review: ReviewState


class DroppedBaseImage(NamedTuple):
    """A base image of a painter that is not published, and why."""

    painter: str
    base_id: str
    variant: str
    reason: str


_CELLS = ("painter", "subject", "variant", "edit_number", "check", "sentence", "base_id")
FORM = ReviewForm(
    asset="vlmbias/candidates",
    task="Accept a picture if its sentence is true of it.",
    choices={
        ACCEPT: "all of the sentence is true",
        REJECT: "some of it is not, or cannot be seen",
    },
    guidelines=(
        "Of each base image and painter, the first accepted edit is published. Stand-ins stand "
        "last and need no verdict."
    ),
    reasons=(
        "wrong count",
        "another subject",
        "not all of it is in view",
        "another side or pose",
        "something is hidden or merged",
        "broken or unnatural",
        "text or a mark gives it away",
    ),
    next_step="Materialize vlmbias/photographs, which publishes what was accepted.",
    is_shared=True,
)
"""How people review candidates."""


def write_candidates(
    home: DataRoot, images: ImageStore, topic: str, candidates: Sequence[Row], verdicts: Verdicts
) -> UPath:
    """Write the review of the candidates of all painters of a topic, and give its page.

    A picture that several edits have given stands in it once, and one that is to show several
    things not at all.
    """
    unclear = find_ambiguous_pictures(candidates)
    once: dict[str, Row] = {}
    for row in candidates:
        if row["outcome"] == "candidate" and row["sha256"] not in unclear:
            # Of several edits, the one that would be published.
            once.setdefault(row["sha256"], row)
    shown = sorted(
        once.values(),
        key=lambda row: (row["is_stand_in"], row["base_id"], row["variant"] != "original"),
    )
    originals = {
        (row["painter"], row["subject"]): row["sha256"]
        for row in shown
        if row["variant"] == "original"
    }
    pictures = [
        ReviewItem(
            name=row["sha256"],
            cells={cell: row.get(cell) for cell in _CELLS},
            title=_title(topic, row),
            sentence=row["sentence"],
            pictures=list(_pictures(row, originals)),
            notes=[STAND_IN_NOTE] if row["is_stand_in"] else [],
            check="" if row.get("decided_by") == RULE else _CHECKS.get(row["check"], ""),
            check_notes=list(_check_notes(row)),
            is_last=row["is_stand_in"],
        )
        for row in shown
    ]
    file, title = review_file(home, topic), get_title(topic)
    write_part(home, FORM, topic, title=title, answers=file, items=pictures)
    return write_review(file, title, FORM, pictures, verdicts, images)


def _title(topic: str, row: Row) -> str:
    edit = f", edit {row['edit_number']}" if row["variant"] == "counterfactual" else ""
    return f"{format_caption(topic, row['subject'])}, {row['variant']}{edit} ({row['painter']})"


STAND_IN_NOTE = "A stand-in: it stays out of the benchmark, whatever you decide."
_CHECKS = {"passed": ACCEPT, "failed": REJECT}


def _pictures(row: Row, originals: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    """The picture, and beside an edit the original that the same painter made of its subject."""
    yield row["sha256"], "changed" if row["variant"] == "counterfactual" else "original"
    original = originals.get((row["painter"], row["subject"]))
    if original and row["variant"] == "counterfactual":
        yield original, "the original, to compare"


def _check_notes(row: Row) -> Iterator[str]:
    if len(row["failed_checks"]):
        failed = ", ".join(row["failed_checks"])
        is_rule = row.get("decided_by") == RULE
        yield f"A rule failed it: {failed}." if is_rule else f"A model answered No to: {failed}."


def require_known_candidates(
    verdicts: Verdicts, candidates: Iterable[Row], file: UPath, page: UPath
) -> None:
    """Raise `UserFileError` where a verdict is on a picture that is no candidate."""
    candidate_digests = {row["sha256"] for row in candidates}
    unknown = {
        image: verdict for image, verdict in verdicts.items() if image not in candidate_digests
    }
    if not unknown:
        return
    accepted = {image: decided for image, decided in unknown.items() if decided.decision == ACCEPT}
    image, verdict = next(iter((accepted or unknown).items()))
    problem = (
        "was accepted, but is in no table of candidates any more"
        if accepted
        else "is in no table of candidates"
    )
    raise UserFileError(
        f"{file}, {verdict.place}: the picture {image} {problem} ({len(unknown)} such in all). "
        f"Save the review again from {page}, which has today's candidates with their verdicts; or "
        "materialize the candidates of its painter as they were."
    )


def find_ambiguous_pictures(candidates: Iterable[Row]) -> set[str]:
    """The pictures that are to show several things: a verdict on one says nothing of the others."""
    shows = defaultdict(set)
    for row in candidates:
        if row["outcome"] in ("candidate", "edited"):
            shows[row["sha256"]].add((row["base_id"], row.get("variant")))
    return {digest for digest, things in shows.items() if len(things) > 1}


def select_published(
    candidates: Sequence[Row], verdicts: Verdicts
) -> tuple[list[PublishedCandidate], list[DroppedBaseImage]]:
    """Select the first accepted candidate of each painter, base image and variant, or say why none.

    Where nobody has accepted one, it is the first on which nobody has decided and which no check
    has failed. A picture that is to show several things is published as none of them.
    """
    unclear = find_ambiguous_pictures(candidates)
    grouped_rows = defaultdict(list)
    for row in candidates:
        grouped_rows[row["painter"], row["base_id"], row["variant"]].append(row)
    published, dropped_images = [], []
    for key, rows in grouped_rows.items():
        pictures = [row for row in rows if row["outcome"] == "candidate"]
        clear = [row for row in pictures if row["sha256"] not in unclear]
        choice = _choose_candidate(clear, verdicts)
        if choice is not None:
            published.append(choice)
        elif pictures and not clear:
            reason = "the same picture was made for another subject or variant"
            dropped_images.append(DroppedBaseImage(*key, reason))
        else:
            dropped_images.append(DroppedBaseImage(*key, _explain_none(rows, clear, verdicts)))
    return published, dropped_images


def _choose_candidate(pictures: Sequence[Row], verdicts: Verdicts) -> PublishedCandidate | None:
    decided = {row["sha256"]: verdicts.get(row["sha256"]) for row in pictures}
    for row in pictures:
        verdict = decided[row["sha256"]]
        if verdict is not None and verdict.decision == ACCEPT:
            return PublishedCandidate(row, "accepted")
    for row in pictures:
        if decided[row["sha256"]] is None and row["check"] != "failed":
            return PublishedCandidate(row, "unreviewed")
    return None


def _explain_none(candidates: Sequence[Row], pictures: Sequence[Row], verdicts: Verdicts) -> str:
    if not pictures:
        return f"{candidates[0]['outcome']}: {candidates[0]['reason']}"
    rejected = sum(row["sha256"] in verdicts for row in pictures)
    if rejected == len(pictures):
        return "rejected"
    return f"{rejected} rejected, {len(pictures) - rejected} failed a check"


PUBLISHED_STATES = ("accepted", "unreviewed")
"""Review states that are published, which are also the last stages of `count_retention`."""
_BASE_IMAGE = ["painter", "subtopic", "base_id"]


def format_published_id(base_id: str, painter: str) -> str:
    """The base id of a painter's photograph: pictures of one subject by two painters are two."""
    return f"{base_id}/{painter}"


def count_retention(
    candidates: Sequence[Row], photographs: Sequence[Row] | None = None
) -> pd.DataFrame:
    """Counterfactual base images by painter and subtopic, and how many came through each stage.

    The arguments are rows of the tables of those names; without `photographs` the stages end with
    the passed checks.
    """
    changed = pd.DataFrame(candidates, columns=[*_BASE_IMAGE, "variant", "outcome", "check"])
    changed = changed[changed["variant"].eq("counterfactual")]
    pictures = changed["outcome"].eq("candidate")
    stage_flags = changed[_BASE_IMAGE].assign(
        base_images=True,
        painted=changed["outcome"].ne("unpainted"),
        edited=pictures,
        passed=pictures & changed["check"].ne("failed"),
    )
    stages = stage_flags.groupby(_BASE_IMAGE, sort=False).any().reset_index()
    reviews = {row["base_id"]: row["review"] for row in photographs or ()}
    for stage in () if photographs is None else PUBLISHED_STATES:
        published_ids = (
            format_published_id(*id_and_painter)
            for id_and_painter in zip(stages["base_id"], stages["painter"], strict=True)
        )
        stages[stage] = [reviews.get(name) == stage for name in published_ids]
    by = ["painter", "subtopic"]
    return stages.drop(columns="base_id").groupby(by, sort=False).sum().reset_index()
