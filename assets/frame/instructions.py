"""Instructions: the drafts that pass moderator and people, up to the requested number."""

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity, MetadataValue
from pydantic import Field

from assets.frame.common import GROUP, ITEM_COLUMNS, asset_key, frame_domains
from assets.frame.concepts import describe_sample
from assets.frame.drafts import DRAFTS
from assets.frame.writing import merge_calls
from assets.kit.columns import BOOLEAN, TEXT, TEXTS, Columns
from assets.kit.forecast import PENDING, Forecast
from assets.kit.judging import reply_columns
from assets.kit.limits import LimitConfig, format_count_of_total
from assets.kit.model_lookup import find_model
from assets.kit.previews import markdown_table
from assets.kit.review import review_file, review_sheet, write_sheet
from assets.kit.review_forms import ACCEPT, REJECT, ReviewForm, ReviewItem, write_part
from assets.kit.step import Check, Conversation, Step, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.kit.verdicts import Verdicts, read_verdicts
from generators.prompts.instructions import write_moderation_prompt
from metrics import read_yes_no
from resources.models.catalog import Model
from resources.models.requests import Turn, WriteRequest
from resources.storage.data_root import DataRoot

INSTRUCTIONS = Columns(
    **ITEM_COLUMNS,
    instruction=(TEXT, "Instruction by which pictures are judged"),
    writer=(TEXT, "Writer, as models.yaml names it"),
    moderator=(TEXT, "Model asked whether it is harmless and feasible; empty for none"),
    moderation=(TEXT, "The moderator's reply; empty if there was no moderator"),
    outcome=(
        TEXT,
        "used, reserve, moderated, left out (by people), unparsed, refused, failed",
    ),
    refusal=(TEXT, "content filter or model, if refused; else empty"),
    reason=(TEXT, "Reason why it is left out; else empty"),
    used=(BOOLEAN, "True if it belongs to the benchmark"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)
ITEM_ID = "item_id"
FORM = ReviewForm(
    asset="frame/instructions",
    task="Reject an instruction that no picture could follow, or that should not be followed.",
    choices={ACCEPT: "harmless, and a picture can follow it", REJECT: "harmful or infeasible"},
    guidelines="Another instruction takes the place of one that is rejected.",
    reasons=("harmful", "no picture can show it", "unclear", "contradicts itself"),
    next_step="Materialize frame/instructions and what follows again.",
    subject_column=ITEM_ID,
    is_shared=True,
)
"""How people review instructions."""


class Moderation(LimitConfig):
    """Moderator that judges whether instructions are harmless and feasible."""

    moderator: str = Field(
        default="",
        description=(
            "A model of models.yaml with the role moderator. Default: the first with that role, "
            "or none if there is none. The rules always apply."
        ),
    )


def review_name(domain: str) -> str:
    """The name of the review file of a domain's instructions."""
    return f"{GROUP}_{domain}"


class Instructions(Step[Moderation]):
    """The instructions of a domain; those in reserve take the places of those left out."""

    config, example_request = Moderation, WriteRequest(())
    asset = StepAsset(
        key=asset_key("instructions"),
        partitions_def=frame_domains,
        description=(
            "Instructions of the benchmark: drafts without those that a moderator or people find "
            "harmful or infeasible. Writes a sheet for people to fill in, and reads what they "
            "saved (§4.1)."
        ),
    )
    table = StepTable(
        columns=INSTRUCTIONS, key_columns=(ITEM_ID,), unstored_keys=(*DRAFTS.columns, "response")
    )
    forecast = Forecast(describe_sample=describe_sample)
    inputs = MappingProxyType({"drafts": Input(asset_key("drafts"), row_columns=DRAFTS)})

    def model(self, partition: str, config: Moderation) -> Model | None:
        """The moderator."""
        if config.moderator:
            return find_model(self.catalog, config.moderator, "moderator")
        return next(iter(self.catalog.select_role("moderator")), None)

    def rows(self, work: StepRun[Moderation]) -> list[dict[str, Any]]:
        """The drafts that passed the rules."""
        model = self.model(work.partition, work.config)
        drafts = [row for row in work.read_rows("drafts") if row["outcome"] in ("written", PENDING)]
        return [
            row
            | {"moderator": model and model.name, "used": False}
            | ({} if row["outcome"] == PENDING else {"outcome": None})
            for row in drafts
        ]

    def converse(self, work: StepRun[Moderation], row: Row) -> Conversation:
        """Ask the moderator, where there is one."""
        if self.model(work.partition, work.config) is None:
            return {"outcome": "reserve"}
        turn = Turn("user", write_moderation_prompt(row["instruction"] or ""))
        reply = reply_columns((yield WriteRequest((turn,))))
        columns = {**reply, "moderation": reply["response"], "calls": merge_calls(row, reply)}
        if reply["outcome"] != "answered":
            return columns
        answer, outcome = read_yes_no(reply["response"])
        if answer == "Yes":
            return {**columns, "outcome": "reserve"}
        ended = {"outcome": "moderated"} if answer == "No" else {"outcome": outcome}
        return {**columns, **ended, "reason": reply["response"]}

    def finish(
        self, work: StepRun[Moderation], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Leave out what people leave out; use the first ones, as many as are wanted."""
        verdicts = _read_verdicts(work.home, work.partition)
        places = int((~work.tables["drafts"]["reserve"]).sum())
        finished_rows, used = [], 0
        for row in rows:
            verdict, outcome = verdicts.get(row[ITEM_ID]), row["outcome"]
            more: dict[str, Any] = {}
            if verdict is not None and verdict.decision == REJECT:
                more = {"outcome": "left out", "reason": verdict.reason or "People left it out."}
            elif outcome in ("reserve", PENDING) and used < places:
                used += 1
                more = {"used": True, "outcome": PENDING if outcome == PENDING else "used"}
            finished_rows.append({**row, **more})
        return finished_rows

    def metadata(self, work: StepRun[Moderation], rows: Sequence[Row]) -> dict[str, Any]:
        """Report the instructions left out, with reasons; write the sheet for people to fill in."""
        file = review_file(work.home, review_name(work.partition))
        verdicts = _read_verdicts(work.home, work.partition)
        used = [row for row in rows if row["used"]]
        shown = [row for row in rows if row["used"] or row[ITEM_ID] in verdicts]
        cells = [(row[ITEM_ID], {"instruction": row["instruction"]}) for row in shown]
        write_sheet(file, cells, verdicts, ITEM_ID)
        items = [
            ReviewItem(name=name, cells=further_cells, sentence=further_cells["instruction"])
            for name, further_cells in cells
        ]
        write_part(work.home, FORM, work.partition, title=work.partition, answers=file, items=items)
        outs = [row for row in rows if row["reason"]]
        drafts = Counter(work.tables["drafts"]["outcome"])
        return {
            "instructions": len(used),
            "by_rule": drafts["rejected"],
            "sheet": MetadataValue.path(str(review_sheet(file))),
            "out": markdown_table(pd.DataFrame(outs, columns=[ITEM_ID, "outcome", "reason"])),
        }

    def checks(self) -> list[Check]:
        """Check that enough instructions are in use."""
        return [
            Check(
                "all_places_are_taken",
                "The reserve is large enough: every item has an instruction.",
                _check_all_used,
            )
        ]


def _read_verdicts(home: DataRoot, domain: str) -> Verdicts:
    return read_verdicts(review_file(home, review_name(domain)), subject_column=ITEM_ID)


def _check_all_used(work: StepRun[Moderation], rows: Sequence[Row]) -> AssetCheckResult:
    places = int((~work.tables["drafts"]["reserve"]).sum())
    used = sum(bool(row["used"]) for row in rows)
    description = f"{format_count_of_total(used, places, 'instructions')} are used."
    if used < places:
        rejected = int(work.tables["drafts"]["outcome"].eq("rejected").sum())
        if rejected:
            description += (
                f" {rejected} drafts were rejected by rule: frame/drafts says why of each."
            )
        description += f" Materialize frame/concepts of {work.partition} with a larger reserve"
        description += ", or frame/drafts with another writer." if rejected else "."
    return AssetCheckResult(
        passed=used >= places, severity=AssetCheckSeverity.WARN, description=description
    )
