"""Yes/no questions to one judge about a picture, in several repeats, and how replies are read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
from pydantic import Field

from assets.kit.columns import BOOLEAN, TEXT, TEXTS, WHOLE, Columns
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.forecast import PENDING
from assets.kit.judging import JudgeStep, reply_columns
from assets.kit.limits import LimitConfig
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, StepTable
from assets.kit.step_run import Row, StepRun
from assets.kit.token_counts import TOKEN_COLUMNS
from assets.vhexpansion.common_perturbations import NAMES
from assets.vhexpansion.references import PIXELS, STAND_IN_ANSWERS, add_readings
from generators.prompts.yes_no import VERSION, write_yes_no_prompt
from metrics import read_plain_yes_no
from metrics.reply_parsing.plain_answers import VERSION as READING_VERSION
from metrics.vhexpansion.symmetry import NEGATED, ORIGINAL
from resources.models.requests import LookRequest, Turn

NONE = "none"
"""The perturbation of a picture as it was."""
FORMS = (ORIGINAL, NEGATED)
COMMON = NAMES
"""The common perturbations, in the order of tables."""

ANSWERS = Columns(
    case_id=(TEXT, "The case, as vhexpansion/seed_cases names it"),
    dataset=(TEXT, "The dataset"),
    image_id=(TEXT, "Original picture"),
    original=(TEXT, "Name of the original picture in the image store"),
    sha256=(TEXT, "Name in the image store of the picture that was sent; empty if none was"),
    form=(TEXT, "original, or negated"),
    question=(TEXT, "Question, without the instruction on how to answer"),
    prompt_version=(TEXT, "Digest of the instruction on how to answer"),
    truth=(TEXT, "Right answer: yes or no"),
    perturbation=(TEXT, "Perturbation of the picture: none, a common one, i_fgsm or pgd"),
    encoder=(TEXT, "Model whose encoder was attacked; empty without an attack"),
    parameters=(TEXT, "Parameters of the perturbation, as JSON; empty for none"),
    repeat=(WHOLE, "Number of the request among those in the same words, from 0"),
    model=(TEXT, "The judge, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    response=(TEXT, "The judge's reply; empty if there is none"),
    answer=(TEXT, "Answer: yes or no; empty if there is none"),
    correct=(BOOLEAN, "True if the answer is right; empty if there is none"),
    reading_version=(TEXT, "Version of the rules for plain words; empty without a reply"),
    outcome=(TEXT, "answered, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    reason=(TEXT, "Reason for a missing answer; else empty"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    **TOKEN_COLUMNS,
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a stand-in judge"),
)
"""Table with one row per case, picture, form and repeat."""

_KEY_COLUMNS = ("case_id", "form", "perturbation", "encoder", "parameters", "repeat")
_FILLED_COLUMNS: Mapping[str, Collection[str]] = MappingProxyType(
    {"answered": ("answer", "correct"), "unparsed": (), "refused": (), "failed": ()}
)
_READ_RESPONSES_REMEDY = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "judge may not say yes or no. What has no answer is neither right nor wrong."
)


class RepeatsConfig(LimitConfig):
    """Number of requests for each question; a limit is on cases."""

    repeats: int = Field(
        default=3, ge=1, le=100, description="Requests per question in the same words."
    )


class CasePicture(NamedTuple):
    """A picture that a case is asked about, and what was done to it."""

    sha256: str | None
    perturbation: str = NONE
    parameters: str | None = None
    encoder: str | None = None
    is_stand_in: bool = False
    is_pending: bool = False


class YesNoStep(JudgeStep[Any]):
    """A step that asks one judge yes/no questions."""

    unparsed_check, leaves_out_trained = ("perturbation", _READ_RESPONSES_REMEDY), True
    table = StepTable(
        columns=ANSWERS,
        unstored_keys=("familiar_answer", "read", "source_question", "stated"),
        key_columns=_KEY_COLUMNS,
        filled_columns=_FILLED_COLUMNS,
        has_portions=True,
    )
    stand_in_answers, example_request = STAND_IN_ANSWERS, LookRequest(())

    def iterate_question_rows(
        self, case: Row, picture: CasePicture, forms: Sequence[str], repeats: int
    ) -> Iterator[dict[str, Any]]:
        """The rows of a case about a picture."""
        pending = picture.is_pending or case["outcome"] == PENDING
        fixed_columns = {name: case[name] for name in ("case_id", "dataset", "image_id")}
        fixed_columns |= {
            name: case[name] for name in ("source_question", "familiar_answer", "stated")
        }
        for form in forms:
            prefix = "" if form == ORIGINAL else "negated_"
            for repeat in range(repeats):
                yield {
                    **fixed_columns,
                    "original": case["sha256"],
                    "sha256": picture.sha256,
                    "form": form,
                    "question": case[f"{prefix}question"],
                    "prompt_version": VERSION,
                    "truth": case[f"{prefix}answer"],
                    "perturbation": picture.perturbation,
                    "encoder": picture.encoder,
                    "parameters": picture.parameters,
                    "repeat": repeat,
                    "model": self.judge.name,
                    "entry_version": self.asset.code_version,
                    "is_stand_in": case["is_stand_in"]
                    or picture.is_stand_in
                    or self.judge.is_stand_in,
                    "outcome": PENDING if pending else None,
                    "calls": [],
                }

    def prepare(
        self, work: StepRun[Any], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Read the pictures, for the stand-in judge that goes by them."""
        reads = self.judge.is_stand_in and self.judge.model == PIXELS
        return add_readings(rows, work) if reads else rows

    def query(self, work: StepRun[Any], row: Row) -> Conversation:
        """Ask about the picture; repeats are samples of one request."""
        turn = Turn("user", write_yes_no_prompt(row["question"] or ""), (row["sha256"],))
        return reply_columns((yield LookRequest((turn,), row["repeat"])))

    def finish(self, work: StepRun[Any], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Read the responses, and compare answers with truths."""
        return [row if row["outcome"] == PENDING else row | parse_answer(row) for row in rows]

    def metadata(self, work: StepRun[Any], rows: Sequence[Row]) -> dict[str, Any]:
        """Summarize the judge's shares of right answers and of yes, by perturbation and form."""
        names = ["perturbation", "form", "answer", "correct"]
        values = ([row[name] for name in names] for row in rows)
        table = pd.DataFrame(values, columns=names)
        table["yes"] = table["answer"].eq("yes").where(table["answer"].notna())
        table = table.astype({"correct": float, "yes": float})
        means = table.groupby(["perturbation", "form"], sort=False)[["correct", "yes"]].mean()
        return {"shares": markdown_table(means.round(3).reset_index())}


def parse_answer(row: Row) -> dict[str, Any]:
    """The columns that are read from the response of a row whose judge has ended."""
    if row["response"] is None:
        return {"answer": None, "correct": None, "reading_version": None}
    reading = {"reading_version": READING_VERSION}
    parsed = read_plain_yes_no(row["response"])
    if parsed.answer is None:
        declined = {"refusal": "model"} if parsed.outcome == "refused" else {}
        reason = "It says neither yes nor no." if parsed.outcome == "unparsed" else "It declines."
        ending_columns = {"outcome": parsed.outcome, "reason": reason, **declined}
        return {"answer": None, "correct": None, **reading, **ending_columns}
    answer = parsed.answer.lower()
    return {"answer": answer, "correct": answer == row["truth"], **reading}
