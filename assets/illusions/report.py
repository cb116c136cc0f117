"""The report: one page, its finding and pictures first."""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import pandas as pd

from assets.illusions.common import QUESTION, TITLE
from assets.illusions.results import RESULTS
from assets.kit.answer_results import ALL
from assets.kit.columns import to_plain_records
from assets.kit.step_run import Row
from assets.report.cells import Body, Group, Head, Table, mean_cell, part_cell
from assets.report.formats import add_firmness, first_sentence, format_whole_percent
from assets.report.judge_report import (
    JudgeNumbers,
    JudgeReport,
    NumberColumn,
    ReportedMeasure,
    WrongAnswer,
    name_part,
    rate_column,
)
from assets.report.standings import Measure, round_robin
from generators.domains.optical_illusions.polarity_questions import Polarity
from metrics.illusions.polarity import MULTIPLIER, WITH, WITHOUT
from metrics.statistics.firmness import Evidence

TURNS = Measure(
    "Turns with the parts",
    "higher",
    "share",
    "Share of pairs, a figure whose parts are equal and one whose parts differ, both judged right "
    "under one question; each pair has two.",
)
CONSISTENT = Measure(
    "Polarity-flip consistency",
    "higher",
    "share",
    "Share of figures judged alike, asked whether their parts are equal and whether they differ.",
)
_CAPTIONS = ("Parts equal", "Parts differ", "The same without what misleads")
_RIGHT = {"Parts equal": "right_equal", "Parts differ": "right_different", "Turns": "turns"}
_BOTH = {
    "Consistent": "consistent",
    "and right": "consistent_right",
    "but wrong": "consistent_wrong",
    "Fixed": "fixed",
}
COLUMNS: Sequence[tuple[str, dict[str, NumberColumn]]] = (
    ("", {"Answers": lambda row, firmness: part_cell(row["answers"], row["requests"])}),
    *(
        (label, {head: rate_column(f"{measure}_{inducer}") for head, measure in heads.items()})
        for label, inducer, heads in (
            ("Right, with what misleads", WITH, _RIGHT),
            ("Right, without it", WITHOUT, _RIGHT),
            ("Both questions, with what misleads", WITH, _BOTH),
        )
    ),
    ("", {"Illusion multiplier": rate_column(f"{MULTIPLIER}_{WITH}", mean_cell)}),
)
METHOD = (
    "Each picture is asked about twice: are its parts equal, and are they different? A control has "
    "the same parts in the same places without what misleads, and its difference is read from its "
    "pixels as well. Values are means over six illusions; intervals resample pictures of equal "
    "parts, each with all that differ from it. The "
    "measures are VI-Probe's, except Turns. See docs/illusions.md."
)


class Triple(NamedTuple):
    """Answers to a figure of equal parts, to one whose parts differ, and to that one's control."""

    equal: Row
    different: Row
    control: Row

    @property
    def is_wrong(self) -> bool:
        """True if the figure whose parts differ was judged equal."""
        return bool(self.different["judged_equal"] == 1)


def _find_place(triple: Triple) -> tuple[bool, bool]:
    """Sort first what is judged equal with the inducer, and right without it."""
    return not triple.is_wrong, triple.control["judged_equal"] != 0


class PolarityReport(JudgeReport):
    """The numbers of all judges, and figures whose parts differ that are judged equal."""

    title, question, place = TITLE, QUESTION, 7
    results, opens_with_highest = RESULTS, False
    measures = (
        ReportedMeasure(TURNS, f"turns_{WITH}", f"turns_{WITH}_answers", "pairs of answers"),
        ReportedMeasure(CONSISTENT, f"consistent_{WITH}", f"consistent_{WITH}_answers", "figures"),
    )
    method = METHOD

    def read_rows(self, table: pd.DataFrame) -> list[dict[str, Any]]:
        """A row for each judge and illusion; columns are measures with inducers, and ends."""
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for number in to_plain_records(table):
            model, illusion = number["model"], number["illusion"]
            row = rows.setdefault((model, illusion), {"model": model, "illusion": illusion})
            name = f"{number['measure']}_{number['inducer']}"
            row |= {f"{name}{end}": number[f"value{end}"] for end in ("", "_low", "_high")}
            row[f"{name}_answers"] = number["answers"]
            if number["measure"] == MULTIPLIER:
                row |= {"requests": number["requests"], "answers": number["answers"]}
        return [*rows.values()]

    def build_evidence(self, total: Row, parts: Sequence[Row], items: pd.DataFrame) -> Evidence:
        """Count answers of the questions about all pictures."""
        questions = len(get_args(Polarity)) * len(items)
        return Evidence(
            requests=total["requests"],
            answers=total["answers"],
            part=name_part(total["requests"], questions, "questions"),
        )

    def write_finding(self, total: Row) -> str:
        """Write how often a judge says equal, and a verdict if intervals bear one."""
        rights = [total[name] for name in ("right_equal_with", "right_different_with")]
        rights.append(total["right_different_without"])
        if None in rights:
            return f"{total['model']} has no answers that can be read to all kinds of figures."
        shares = rights[0], 1 - rights[1], 1 - rights[2]
        in_equal, in_different, in_alone = map(format_whole_percent, shares)
        sentence = (
            f"{total['model']} judges equal {in_equal} of the figures whose parts are equal, "
            f"{in_different} of those whose parts differ, and {in_alone} of these without what "
            "misleads"
        )
        if total["right_different_with_high"] < total["right_different_without_low"]:
            return f"{sentence}: it knows the illusion."
        if (total["turns_with_low"] or 0) > 0.5:
            return f"{sentence}: it sees the parts."
        if total["right_different_without_high"] < 0.5:
            return f"{sentence}: it does not see the parts at all."
        return f"{sentence}."

    def list_wrong_answers(self, numbers: JudgeNumbers) -> list[WrongAnswer]:
        """List figures whose parts differ that are judged equal, of one judge after the other."""
        return [
            WrongAnswer(
                row=triple.different,
                question=first_sentence(triple.different["question"]),
                alt=f"{triple.different['illusion']} illusion whose parts differ",
                comparison=triple.control["sha256"],
                comparison_alt="The same parts without what misleads",
            )
            for model in numbers.totals
            for triple in find_telling(numbers.answers, model)
            if triple.is_wrong
        ]

    def list_pictures(
        self, numbers: JudgeNumbers, wrong_answers: Sequence[WrongAnswer]
    ) -> list[tuple[str, str]]:
        """List the most telling triple, with what the judge says."""
        model = numbers.first_judge
        return [
            (f"{caption}: {model} says {_say(row)}", row["sha256"])
            for triple in find_telling(numbers.answers, model)[:1]
            for caption, row in zip(_CAPTIONS, triple, strict=True)
        ]

    def build_tables(self, numbers: JudgeNumbers) -> list[Table]:
        """Build all numbers of each judge, over all illusions and by illusion."""
        illusions = sorted({row["illusion"] for row in numbers.rows} - {ALL})
        return [
            _build_table("All numbers", [ALL], numbers),
            _build_table("By illusion", illusions, numbers),
        ]


def find_telling(answers: pd.DataFrame, model: str) -> list[Triple]:
    """The first triples of a judge: judged equal with the inducer and right without it come first.

    They are of the question whether the parts are equal, one illusion after the other.
    """
    rows = answers[answers["model"].eq(model) & answers["polarity"].eq("equal")]
    by_picture = {row["picture_id"]: row for row in to_plain_records(rows)}
    groups: dict[str, list[Triple]] = {}
    for row in by_picture.values():
        names = row["pair_id"], row["picture_id"], row["control_id"]
        if row["inducer"] == WITH and not row["is_equal"] and by_picture.keys() >= {*names}:
            triple = Triple(*(by_picture[name] for name in names))
            groups.setdefault(row["illusion"], []).append(triple)
    ordered = (sorted(group, key=_find_place) for group in groups.values())
    return sorted(round_robin(ordered), key=_find_place)


def _build_table(caption: str, illusions: Sequence[str], numbers: JudgeNumbers) -> Table:
    columns = [column for _, heads in COLUMNS for column in heads.values()]
    bodies = []
    for illusion in illusions:
        lines = [
            numbers.build_line(
                add_firmness(row["model"], numbers.evidence[row["model"]].firmness),
                row,
                columns,
                small=", ".join(numbers.evidence[row["model"]].reasons),
            )
            for row in numbers.rows
            if row["illusion"] == illusion
        ]
        bodies.append(Body(illusion, lines))
    groups = [Group(label, [*map(Head, heads)]) for label, heads in COLUMNS]
    return Table(caption, "Judge", groups, bodies)


def _say(row: Row) -> str:
    words = {1.0: "“equal”", 0.0: "“different”"}
    return words.get(row["judged_equal"], "nothing that can be read")
