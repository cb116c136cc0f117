"""What a vision model is asked about candidates, and what is made of its answers."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assets.kit.pictures import PICTURED, Row
from assets.kit.table_asset import Mismatch
from generators.photographs import Photograph, photographed
from generators.scene import Variant
from metrics import read_yes_no
from resources.models.catalog import Model, Role
from resources.models.client import AskResult
from resources.models.outcomes import Answered
from resources.models.requests import Look, Turn

CHECKERS: tuple[Role, ...] = ("captioner", "judge")
"""The roles that can look at a picture."""


class Candidate(NamedTuple):
    """A picture that may be published, or why there is none: a row, with its base image."""

    photograph: Photograph
    row: Row


class Check(NamedTuple):
    """One question about one candidate."""

    place: int
    """Which candidate it is about."""
    name: str
    request: Look


def candidates_of(
    photographs: Iterable[Photograph], paintings: Sequence[Row], edits: Sequence[Row]
) -> list[Candidate]:
    """Every original and every edit, not checked yet.

    Raises `Mismatch` where the edits are not those of these base images and paintings.
    """
    painted = {row["prompt"]: row for row in paintings}
    edited = defaultdict(list)
    for row in edits:
        edited[row["base_id"]].append(row)
    found = []
    for photograph in photographs:
        sources = [painted[each.prompt] for each in photograph.paintings if each.prompt in painted]
        digests = [source["sha256"] for source in sources if source["sha256"]]
        rows = edited[photograph.base_id]
        if (
            len(sources) < len(photograph.paintings)
            or not rows
            or any((row["prompt"], row["sources"]) != (photograph.edit, digests) for row in rows)
        ):
            raise Mismatch(
                f"vlmbias/edits holds no edit of {photograph.base_id} as it is now: its subjects "
                "or paintings have changed since. Materialize paintings and edits of this painter "
                "and topic again: only what is new is asked for."
            )
        if photograph.has_original:
            found.append(_candidate(photograph, "original", sources[0]))
        found += [_candidate(photograph, "counterfactual", row) for row in rows]
    return found


def checks_of(topic: str, candidates: Sequence[Candidate]) -> list[Check]:
    """What a checker is asked: the topic's checks of every candidate that has a picture."""
    questions = photographed()[topic].checks
    return [
        Check(place, name, Look((Turn("user", question, (candidate.row["sha256"],)),)))
        for place, candidate in enumerate(candidates)
        if candidate.row["outcome"] == "candidate"
        for name, question in questions(candidate.photograph).items()
    ]


def checked(
    candidates: Sequence[Candidate], checks: Sequence[Check], asked: AskResult, checker: Model
) -> list[Candidate]:
    """The candidates with what was answered about them.

    One No fails a candidate. It passes where every answer is Yes; where one cannot be read, was
    refused or failed, it stays unchecked.
    """
    said: dict[int, dict[str, str | None]] = defaultdict(dict)
    calls: dict[int, list[str]] = defaultdict(list)
    for check, outcome, keys in zip(checks, asked.outcomes, asked.keys, strict=True):
        text = outcome.text if isinstance(outcome, Answered) else None
        said[check.place][check.name] = read_yes_no(text).answer if text else None
        calls[check.place] += keys
    found = []
    for place, (photograph, row) in enumerate(candidates):
        answers = said[place]
        failed = [name for name, answer in answers.items() if answer == "No"]
        unread = [name for name, answer in answers.items() if answer is None]
        verdict = "failed" if failed else "unchecked" if unread else "passed"
        looked_at = {
            "check": verdict,
            "failed_checks": failed,
            "unread": unread,
            "checker": checker.name,
            "rehearsal": row["rehearsal"] or checker.rehearses,
            "calls": [*row["calls"], *calls[place]],
        }
        found.append(Candidate(photograph, {**row, **(looked_at if answers else {})}))
    return found


def _candidate(photograph: Photograph, variant: Variant, row: Row) -> Candidate:
    """A row of paintings or edits as one of candidates."""
    there = row["outcome"] in ("painted", "edited")
    return Candidate(
        photograph,
        {
            "domain": photograph.domain,
            "painter": row["painter"],
            "editor": row.get("editor"),
            "base_id": photograph.base_id,
            "variant": variant,
            "subject": photograph.subject,
            "subtopic": photograph.subtopic,
            "prompt": row["prompt"],
            "trial": row.get("trial", 0),
            "sentence": photographed()[photograph.domain].review(photograph, variant),
            "outcome": "candidate" if there else row["outcome"],
            "check": "unchecked" if there else None,
            "failed_checks": [],
            "unread": [],
            "checker": "none",
            **{column: row[column] for column in PICTURED},
        },
    )
