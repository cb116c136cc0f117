"""Steps that send each row to one judge or metric, or have a stand-in judge answer it.

A step says by model which function answers as a stand-in judge: what the function needs, as an
expected bias, the rows of the step hold.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from assets.kit.checks import unparsed_rate_check
from assets.kit.columns import TEXT, TEXTS
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.conversations import unanswered_columns
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.model_lookup import digest_entry
from assets.kit.pair_marks import PICTURE, load_mark_finder
from assets.kit.step import Check, Conversation, Extent, Step, StepReply
from assets.kit.step_run import ConfigT, Row, StepRun
from assets.kit.table_asset import TablesMismatch
from resources.models.backends.adapters import resolve_adapter_folder
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome
from resources.models.requests import LookRequest
from resources.storage.image_store import ImageStore

StandInAnswers: TypeAlias = Mapping[str, Callable[[Row, ImageStore], Mapping[str, Any]]]
"""Maps a stand-in judge's model to a function that builds a row's further columns."""
_MARK_COLUMNS = ("sha256", "base_id")
"""The columns that say what a row shows: a picture, and the scene in any size."""
_MAX_LISTED = 5


def select_judges(
    catalog: Catalog, stand_in_answers: StandInAnswers, *, has_steps: bool = False
) -> tuple[Model, ...]:
    """The judges of a catalog, without those stand-in judges that `stand_in_answers` lacks.

    With `has_steps` those at each step of their thinking as well.
    """
    return tuple(
        model
        for model in catalog.select_role("judge", has_steps=has_steps)
        if not model.is_stand_in or model.model in stand_in_answers
    )


class JudgeStep(Step[ConfigT]):
    """A step of one judge or metric, whose name follows on the key of the step's `asset`."""

    stand_in_answers: ClassVar[StandInAnswers]
    """Function per stand-in judge, by its model, that answers about a row."""
    unparsed_check: ClassVar[tuple[str, str] | None] = None
    """Column by which the check counts unreadable replies, and the remedy."""
    leaves_out_trained: ClassVar[bool] = False
    """Whether rows about pictures that a judge was trained on count in none of its numbers."""

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog)
        self.judge = judge
        self.asset = self.asset.of_model(
            judge,
            kinds=("judge", judge.backend),
            code_version=digest_entry(judge),
            pool=judge.name,
            subject_model=judge,
            is_optional=True,
        )
        if judge.is_stand_in:
            self.example_request = None

    def model(self, partition: str, config: ConfigT) -> Model | None:
        """The judge; None for a stand-in judge."""
        return None if self.judge.is_stand_in else self.judge

    def converse(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Query the judge about a row, or have the stand-in judge answer it."""
        if self.judge.is_stand_in:
            return dict(self.stand_in_answers[self.judge.model](row, work.images))
        return (yield from self.query(work, row))

    def require(self, work: StepRun[ConfigT]) -> None:
        """Raise `TablesMismatch` where the judge was trained on pictures of any row."""
        adapter = self.judge.parameters.get("adapter")
        if adapter and not self.leaves_out_trained:
            _require_unseen(self.judge, str(adapter), work, self.rows(work))

    @abstractmethod
    def query(self, work: StepRun[ConfigT], row: Row) -> Conversation:
        """Ask the judge about a row, as `converse` does."""

    def checks(self) -> Sequence[Check]:
        """Check that few replies are unreadable."""
        return [unparsed_rate_check(*self.unparsed_check)] if self.unparsed_check else []


class LimitedJudgeStep(JudgeStep[LimitConfig]):
    """A step of one judge about pictures, whose limit is on items of a row or of several."""

    config, example_request = LimitConfig, LookRequest(())
    item_columns: ClassVar[Sequence[str]]
    """The columns that name an item."""
    strata_columns: ClassVar[Sequence[str]] = ()
    """The columns over whose values a limit is spread evenly."""
    unit: ClassVar[str]
    """The items, in the plural."""

    def list_rows(self, work: StepRun[LimitConfig]) -> Sequence[Row]:
        """List the rows about all items; by default those of the input."""
        return work.read_rows("upstream")

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The rows about all items, or about those of a limit."""
        rows = self.list_rows(work)
        items = {self._name_item(row): row for row in rows}

        def place(name: str) -> SamplingKey:
            return SamplingKey(name, tuple(str(items[name][key]) for key in self.strata_columns))

        chosen = {*stratified_head([*items], work.config.limit, place)}
        more = {"model": self.judge.name}
        return [{**row, **more} for row in rows if self._name_item(row) in chosen]

    def extent(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> Extent:
        """Count the items that were asked about."""
        tables = rows, self.list_rows(work)
        count, total = (len({self._name_item(row) for row in table}) for table in tables)
        return Extent(count=count, total=total, unit=self.unit)

    def _name_item(self, row: Row) -> str:
        return "/".join(row[column] for column in self.item_columns)


def _require_unseen(judge: Model, adapter: str, work: StepRun[Any], rows: Iterable[Row]) -> None:
    """Raise `TablesMismatch` if a judge's adapter was trained on pictures of the rows."""
    find = load_mark_finder(resolve_adapter_folder(adapter))
    if find is None:
        return
    marks = (
        (row, (PICTURE, str(row[name]))) for row in rows for name in _MARK_COLUMNS if name in row
    )
    seen_images = {row["image_id"]: None for row, mark in marks if find(mark) is not None}
    if seen_images:
        named_images = ", ".join([*seen_images][:_MAX_LISTED])
        raise TablesMismatch(
            f"{len(seen_images):,} pictures of {work.partition} are among those that {adapter} was "
            f"trained on: {named_images}{', …' if len(seen_images) > _MAX_LISTED else ''}. "
            f"{judge.name} is not asked about any picture of {work.partition}: its score "
            "would measure memorization. Train on other cases, and set `adapter` in models.yaml to "
            "the new folder."
        )


REPLY_COLUMNS = {
    "response": (TEXT, "Text of the reply; empty where there is none"),
    "outcome": (TEXT, "answered, unparsed, refused or failed"),
    "refusal": (TEXT, "content filter, image safety or model, if refused; else empty"),
    "reason": (TEXT, "Reason for which there is no answer; else empty"),
    "served_model": (TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    "calls": (TEXTS, "Keys of the stored calls behind the row; none for a stand-in judge"),
}
"""The columns that `reply_columns` and the kit fill, for the `Columns` of a step."""


def reply_columns(reply: StepReply) -> dict[str, Any]:
    """Build a text reply's columns: `response`, `outcome`, `refusal`, `reason`, `served_model`.

    The outcome is answered, unparsed, refused or failed; `calls` are the keys of the stored calls.
    """
    outcome, calls = reply.outcome, {"calls": list(reply.calls)}
    if isinstance(outcome, AnsweredOutcome):
        answer_cells = {"outcome": "answered", "served_model": outcome.served_model}
        return {"response": outcome.text, **answer_cells, **calls}
    return {"response": None, **unanswered_columns(outcome, "unparsed"), **calls}


def scored_columns(
    reply: StepReply, read: Callable[[str], tuple[float | None, str, str | None]]
) -> dict[str, Any]:
    """Build `reply_columns` with the parsed `score`; the outcome tells why a score is missing.

    `read` parses a response into score, outcome (scored, unparsed or refused) and reason.
    """
    reply_cells = reply_columns(reply)
    if reply_cells["outcome"] != "answered":
        return {**reply_cells, "score": None}
    score, outcome, reason = read(reply_cells["response"] or "")
    refused = {"refusal": "model"} if outcome == "refused" else {}
    return {**reply_cells, **refused, "score": score, "outcome": outcome, "reason": reason}


def build_column_answers(**columns: str) -> StandInAnswers:
    """Build the answers of stand-in judges whose response is a column of the row, by model."""

    def read_column(column: str) -> Callable[[Row, ImageStore], Mapping[str, Any]]:
        return lambda row, images: {"response": row[column], "outcome": "answered"}

    return {model: read_column(column) for model, column in columns.items()}
