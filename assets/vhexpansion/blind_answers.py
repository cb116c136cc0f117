"""The blind answers of one judge: what it says to each case's question without the picture."""

from collections.abc import Iterator, Sequence
from typing import Any

from assets.kit.blind_questions import build_blind_request, put_blind_pictures
from assets.kit.judging import reply_columns
from assets.kit.limits import LimitConfig
from assets.kit.step import Conversation, Extent, StepAsset
from assets.kit.step_run import Input, Row, StepRun
from assets.vhexpansion.common import asset_key, dataset_partitions, limit_cases
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.yes_no_step import CasePicture, YesNoStep
from generators.prompts.blind import write_blind_prompt
from generators.prompts.yes_no import write_yes_no_prompt
from metrics.vhexpansion.symmetry import ORIGINAL
from resources.models.catalog import Catalog, Model


class BlindYesNoAnswers(YesNoStep):
    """A judge's answers without pictures, once to each case that has a negation.

    Cases about one scene in several sizes have the same question, and share a request.
    """

    config = LimitConfig
    asset = StepAsset(
        key=asset_key("blind_answers"),
        description="Answers of {name} to each case without its picture: what it remembers.",
        partitions_def=dataset_partitions,
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = {
            "cases": Input(
                asset_key("negated_cases"),
                row_columns=NEGATED_CASE_COLUMNS,
                uses_default_config=True,
            )
        }

    def rows(self, work: StepRun[LimitConfig]) -> Iterator[dict[str, Any]]:
        """Yield each case that has a negation, with the grey picture if the judge gets one."""
        cases = [*limit_cases(work.read_rows("cases"), "negated", work.config.limit)]
        grey = put_blind_pictures(self.judge, {case["sha256"] for case in cases}, work.images)
        for case in cases:
            picture = CasePicture(grey.get(case["sha256"]))
            for row in self.iterate_question_rows(case, picture, (ORIGINAL,), 1):
                yield row | {"read": (None, "It reads pixels, and was shown no picture.")}

    def prepare(
        self, work: StepRun[LimitConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """The rows: there is no picture to read."""
        return rows

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask the question without its picture."""
        prompt = write_blind_prompt(write_yes_no_prompt(row["question"] or ""))
        return reply_columns((yield build_blind_request(prompt, row["sha256"])))

    def extent(self, work: StepRun[LimitConfig], rows: Sequence[Row]) -> Extent:
        """Count the cases asked, of all that have a negation."""
        total = work.tables["cases"]["outcome"].eq("negated").sum()
        return Extent(count=len(rows), total=int(total), unit="cases")
