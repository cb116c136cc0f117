"""Candidates for publication: every painted original and edited picture, as model and people judge
it.

A vision model may be asked whether the subject is there, framed and visible. It is never asked how
many there are of anything: that is what judges are tested on, and a person decides it. Nor is it
asked about a picture of one colour or an edit that changed nothing: a rule fails these.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dagster import MetadataValue
from pydantic import Field

from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.flaws import find_unchanged, inspect_pictures
from assets.kit.forecast import PENDING, PLACEHOLDER_SHA256, Forecast
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import find_model
from assets.kit.pictures import PICTURE_COLUMNS, sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.review import review_file
from assets.kit.spared_requests import RULE
from assets.kit.step import Conversation, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.kit.verdicts import read_verdicts
from assets.vlmbias.common import asset_key, split_photograph_key
from assets.vlmbias.photographs.base_images import SUBJECTS_OF_TOPIC, PhotographStep, select_edited
from assets.vlmbias.photographs.edits import EDITS, Edits, EditsConfig
from assets.vlmbias.photographs.paintings import PAINTINGS, Paintings
from assets.vlmbias.photographs.selection import count_retention, write_candidates
from generators.photographs import Photograph, load_photograph_topics
from generators.scene import Variant
from metrics import read_yes_no
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import LookRequest, Turn
from resources.storage.data_root import DataRoot
from resources.storage.files import list_folder

NO_CHECKER = "none"
"""The checker that is none: a person sees everything."""

CANDIDATES = Columns(
    domain=(TEXT, "Topic"),
    painter=(TEXT, "Painter, as models.yaml names it"),
    editor=(TEXT, "Editor, as models.yaml names it; empty for an original"),
    base_id=(TEXT, "The base image, without its painter"),
    variant=(TEXT, "original or counterfactual"),
    subject=(TEXT, "Subject of the picture"),
    subtopic=(TEXT, "Column of the paper's Tables 3 and 9"),
    prompt=(TEXT, "Prompt of its painter or its editor"),
    edit_number=(WHOLE, "Number of the independent edit, from 0; 0 for an original"),
    sentence=(TEXT, "Sentence that people decide on"),
    outcome=(
        TEXT,
        "candidate, or an earlier end: dropped, refused, malformed, failed or unpainted",
    ),
    check=(TEXT, "passed, failed or unchecked; empty if it is no candidate"),
    failed_checks=(TEXTS, "Checks answered with No; blank or unchanged if a rule failed it"),
    decided_by=(TEXT, "model or rule; empty if nothing was checked"),
    unanswered_checks=(TEXTS, "Checks without a readable answer"),
    checker=(TEXT, "Checking model, as models.yaml names it, or none"),
    **PICTURE_COLUMNS,
)


class CandidatesConfig(LimitConfig):
    """Checker that looks at candidates before people do; a limit is on base images."""

    checker: str = Field(
        default=NO_CHECKER,
        description="A model of models.yaml with the role captioner or judge; or none.",
    )


class Candidates(PhotographStep[CandidatesConfig]):
    """Originals and edits of a painter, checked if wished, and laid out for people to review.

    Until `finish` merges them, a picture has one row for each check: all are sent at once.
    """

    config, success_outcome, example_request = CandidatesConfig, "candidate", LookRequest(())
    asset = StepAsset(
        key=asset_key("candidates"),
        description=(
            "Originals and edits, optionally checked by a model, on a page for people to review."
        ),
    )
    table = StepTable(
        columns=CANDIDATES,
        key_columns=("base_id", "variant", "edit_number"),
        unstored_keys=(
            "calls_of_check",
            "checked",
            "photograph",
            "place",
            "question",
            "said",
            "sources",
        ),
    )
    inputs: Mapping[str, Input] = {
        **SUBJECTS_OF_TOPIC,
        "paintings": Input(asset_key("paintings"), row_columns=PAINTINGS, uses_default_config=True),
        "edits": Input(asset_key("edits"), row_columns=EDITS, uses_default_config=True),
    }

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.forecast = Forecast(
            describe_outdated=self._describe_outdated,
            max_requests=self._max_requests,
            spared_requests=_iterate_spared_requests,
        )

    def model(self, partition: str, config: CandidatesConfig) -> Model | None:
        """The checker, where there is one."""
        nobody = config.checker == NO_CHECKER
        return None if nobody else find_model(self.catalog, config.checker, "captioner", "judge")

    def load_base_images(self, work: StepRun[CandidatesConfig]) -> list[Photograph]:
        """The base images that edits are about."""
        return select_edited(self.list_all(work), work.read_rows("edits"))

    def list_keys(
        self, work: StepRun[CandidatesConfig], rows: Sequence[Row]
    ) -> Iterator[tuple[str, str, int]]:
        """Originals, and as many edits as there are."""
        part = {photograph.base_id: photograph for photograph in self.list_limited(work)}
        for photograph in part.values():
            if photograph.has_original:
                yield photograph.base_id, "original", 0
        for row in work.read_rows("edits"):
            if row["base_id"] in part:
                yield row["base_id"], "counterfactual", row["edit_number"]

    def rows(self, work: StepRun[CandidatesConfig]) -> list[dict[str, Any]]:
        """A row for each check of each picture, and for what has no picture or no check.

        Raises `UserFileError` for a review file that cannot be followed, before anything is sent.
        """
        read_verdicts(review_file(work.home, split_photograph_key(work.partition)[1]))
        painted = {row["prompt"]: row for row in work.read_rows("paintings")}
        edited = defaultdict(list)
        for row in work.read_rows("edits"):
            edited[row["base_id"]].append(row)
        picture_rows = [
            row
            for photograph in self.list_limited(work)
            for row in _iterate_pictures(photograph, painted, edited[photograph.base_id])
        ]
        if work.config.checker != NO_CHECKER:
            _fail_by_rule(picture_rows, work)
        return [
            {**row, "place": place, "checked": name, "question": question}
            for place, row in enumerate(picture_rows)
            for name, question in self._questions(work, row) or [(None, None)]
        ]

    def _questions(
        self, work: StepRun[CandidatesConfig], row: Row
    ) -> list[tuple[str | None, str | None]]:
        may_be_asked_about = row["outcome"] in (self.success_outcome, PENDING)
        is_decided = work.config.checker == NO_CHECKER or row["decided_by"] == RULE
        if is_decided or not may_be_asked_about:
            return []
        return list(_checks(row["photograph"]))

    def _describe_outdated(self, row: Row) -> str:
        """The base image without edits."""
        return (
            f"vlmbias/edits holds no edit of {row['base_id']} as it is now: its subjects or "
            "paintings have changed since. Materialize paintings and edits of this painter and "
            "topic again: only what is new is asked for."
        )

    def converse(self, work: StepRun[CandidatesConfig], row: Row) -> Conversation:
        """Ask one check about a picture."""
        if row["checked"] is None:
            return {}
        outcome, calls = yield _look(row["question"], row["sha256"])
        text = outcome.text if isinstance(outcome, AnsweredOutcome) else None
        answer = read_yes_no(text).answer if text else None
        return {"said": answer, "calls_of_check": [*calls]}

    def _max_requests(
        self, work: StepRun[CandidatesConfig], rows: Sequence[Row]
    ) -> Iterator[LookRequest]:
        """The checks of edits that failed, and of edits of what could not be painted."""
        for row in rows:
            tries = {"failed": 1, "unpainted": EditsConfig().edits_per_image}.get(row["outcome"], 0)
            if work.config.checker != NO_CHECKER:
                for _, question in _checks(row["photograph"]):
                    yield from [_look(question, PLACEHOLDER_SHA256)] * tries

    def finish(
        self, work: StepRun[CandidatesConfig], rows: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Merge the answers about a picture into one row."""
        checker = self.model(work.partition, work.config)
        checks_by_picture = (list(rows) for _, rows in groupby(rows, key=lambda row: row["place"]))
        return [
            row
            if row["checked"] is None or checker is None
            else {**row, **_summarize_answers(checks, checker)}
            for checks in checks_by_picture
            for row in checks[:1]
        ]

    def metadata(self, work: StepRun[CandidatesConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Retention, some pictures, and the page for reviewing the pictures of all painters."""
        painter, topic = split_photograph_key(work.partition)
        other_rows = [
            row
            for folder in list_folder(work.home.path(*self.key.path))
            if folder.name != painter
            for row in load_candidates(work.home, folder.name, topic)
        ]
        verdicts = read_verdicts(review_file(work.home, topic))
        page = write_candidates(work.home, work.images, topic, [*other_rows, *rows], verdicts)
        return {
            **Counter(row["check"] for row in rows if row["check"]),
            "retention": markdown_table(count_retention(rows)),
            "review": MetadataValue.path(str(page)),
            "contact_sheet": sample_contact_sheet(rows, _caption, work.images),
        }


def _iterate_pictures(
    photograph: Photograph, painted: Mapping[str, Row], edits: Sequence[Row]
) -> Iterator[dict[str, Any]]:
    """Iterate over the original and the edits of a base image; outdated ones are pending."""
    sources = [painted.get(painting.prompt) for painting in photograph.paintings]
    stored_sources = [row for row in sources if row is not None]
    digests = [row["sha256"] for row in stored_sources if row["sha256"]]
    pending = not edits or len(stored_sources) < len(sources)
    if photograph.has_original:
        yield _candidate(photograph, "original", sources[0] or _NOTHING, pending)
    unmade = [_NOTHING | {"edit_number": number} for number in range(EditsConfig().edits_per_image)]
    for row in edits or unmade:
        is_current = row["prompt"] == photograph.edit and row["sources"] == digests
        is_outdated = row["outcome"] != PENDING and not is_current
        yield _candidate(photograph, "counterfactual", row, pending or is_outdated)


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("prompt", "sources", "painter", *PICTURE_COLUMNS)),
    **{"outcome": PENDING, "is_stand_in": False, "calls": []},
}
"""Stands for a row of paintings or edits that is not there."""


def _candidate(photograph: Photograph, variant: Variant, row: Row, pending: bool) -> dict[str, Any]:
    """A row of paintings or edits as one of candidates."""
    has_picture = row["outcome"] in (Paintings.success_outcome, Edits.success_outcome)
    candidate = {
        "photograph": photograph,
        "domain": photograph.domain,
        "painter": row["painter"],
        "editor": row.get("editor"),
        "base_id": photograph.base_id,
        "variant": variant,
        "subject": photograph.subject,
        "subtopic": photograph.subtopic,
        "prompt": row["prompt"],
        "edit_number": row.get("edit_number", 0),
        "sentence": load_photograph_topics()[photograph.domain].write_review_task(
            photograph, variant
        ),
        "outcome": Candidates.success_outcome if has_picture else row["outcome"],
        "check": "unchecked" if has_picture else None,
        "failed_checks": [],
        "unanswered_checks": [],
        "decided_by": None,
        "sources": list(row.get("sources") or ()),
        "checker": NO_CHECKER,
        **{column: row[column] for column in PICTURE_COLUMNS},
    }
    if pending or row["outcome"] == PENDING:
        candidate |= {"outcome": PENDING, "sha256": PLACEHOLDER_SHA256}
    return candidate


def _fail_by_rule(rows: Sequence[dict[str, Any]], work: StepRun[CandidatesConfig]) -> None:
    """Fail the candidates that are blank, or edits of which no pixel shows a change."""
    candidates = [row for row in rows if row["outcome"] == Candidates.success_outcome]
    digests = {digest for row in candidates for digest in (row["sha256"], *row["sources"])}
    stored = set(work.images.sizes(digests))
    shown = [row for row in candidates if row["sha256"] in stored]
    inspections = inspect_pictures(
        work.images, work.work_cache, dict.fromkeys(row["sha256"] for row in shown)
    )
    pairs = {(row["sha256"], source) for row in shown for source in row["sources"]}
    unchanged = find_unchanged(
        work.images, work.work_cache, sorted(pair for pair in pairs if pair[1] in stored)
    )
    for row in shown:
        is_blank = inspections[row["sha256"]].blank is not None
        is_unchanged = any((row["sha256"], source) in unchanged for source in row["sources"])
        failed = ["blank"] * is_blank + ["unchanged"] * is_unchanged
        if failed:
            row |= {"check": "failed", "failed_checks": failed, "decided_by": RULE}


def _iterate_spared_requests(work: StepRun[CandidatesConfig], row: Row) -> Iterator[LookRequest]:
    """The checks of a picture that a rule fails."""
    if row["decided_by"] == RULE:
        for _, question in _checks(row["photograph"]):
            yield _look(question, row["sha256"])


def _checks(photograph: Photograph) -> Iterable[tuple[str, str]]:
    """Return the questions for a checker about a base image's pictures, by name of the check."""
    return load_photograph_topics()[photograph.domain].write_checks(photograph).items()


def _look(question: str, digest: str) -> LookRequest:
    return LookRequest((Turn("user", question, (digest,)),))


def _summarize_answers(checks: Sequence[Row], checker: Model) -> dict[str, Any]:
    """Summarize the answers about a candidate.

    One No fails it. It passes where every answer is Yes; where one cannot be read, was refused or
    failed, it stays unchecked.
    """
    failed = [row["checked"] for row in checks if row["said"] == "No"]
    unanswered_checks = [row["checked"] for row in checks if row["said"] is None]
    return {
        "check": "failed" if failed else "unchecked" if unanswered_checks else "passed",
        "failed_checks": failed,
        "unanswered_checks": unanswered_checks,
        "decided_by": "model",
        "checker": checker.name,
        "is_stand_in": checks[0]["is_stand_in"] or checker.is_stand_in,
        "calls": [*checks[0]["calls"], *(key for row in checks for key in row["calls_of_check"])],
    }


def load_candidates(home: DataRoot, painter: str, topic: str) -> Sequence[Row]:
    """The candidates of a painter as they were last materialized, none if they never were."""
    key = Candidates.asset.key
    table = home.find(key, f"{painter}|{topic}")
    return [] if table is None else CANDIDATES.read_rows(table, key)


def _caption(row: Row) -> str:
    edit = f", edit {row['edit_number']}" if row["variant"] == "counterfactual" else ""
    return f"{row['subject']}, {row['variant']}{edit}"
