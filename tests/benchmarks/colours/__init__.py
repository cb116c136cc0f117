"""Colours: does a judge name the colour in the picture, or the one that the thing usually has?"""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import pandas as pd

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.columns import TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.forecast import Forecast, StepSample
from assets.kit.judging import REPLY_COLUMNS, JudgeStep, build_column_answers, reply_columns
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import find_model
from assets.kit.painting import PAINTED_COLUMNS, PaintStep
from assets.kit.partitions import painters, parse_painter_key
from assets.kit.step import Conversation, Step, StepAsset, StepTable
from assets.kit.step_run import Row, StepRun, single_input
from assets.kit.table_asset import NotMaterialized, table_asset
from assets.report.asset import ReportSources, report_asset
from assets.report.formats import format_whole_percent
from assets.report.one_page import judge_shares, one_page
from assets.report.openings import Entry
from assets.report.publish import Site
from assets.report.standings import Measure
from resources.models.catalog import Catalog, Model
from resources.models.requests import LookRequest, PaintRequest, Turn, WriteRequest
from resources.storage.data_root import DataRoot

KINDS = dg.StaticPartitionsDefinition(["plants", "things"])
BY_PAINTER = dg.MultiPartitionsDefinition({"kind": KINDS, "painter": painters})
CONCEPTS = {
    "plants": [("bush", "green", "red"), ("fern", "green", "blue"), ("lily", "white", "red")],
    "things": [("log", "brown", "blue"), ("rock", "gray", "red"), ("bench", "brown", "blue")],
}
CONCEPT = dict.fromkeys(("thing", "usual", "colour"), (TEXT, "Of the concept"))
PROMPTS = Columns(**CONCEPT, prompt=(TEXT, "The sentence"), **REPLY_COLUMNS)
PICTURES = Columns(**CONCEPT, **PAINTED_COLUMNS)
ANSWERS = Columns(**{**PICTURES.columns, **REPLY_COLUMNS}, model=(TEXT, "The judge"))
COUNTS = {"usual": "Usual colours", "answers": "Answers", "asked": "Requests"}
RATES = Columns(model=(TEXT, "The judge"), **{name: (WHOLE, of) for name, of in COUNTS.items()})
USUAL = Measure("Usual colour", "lower", "share", "Answers with the usual colour.")
BY_KIND = ("pictures", "kept", "answers_prior")
QUESTION = "Does a judge name the colour that it sees, or the usual one?"


class Prompts(Step[LimitConfig]):
    """A writer's sentence of each concept."""

    config, example_request = LimitConfig, WriteRequest(())
    asset = StepAsset(key=dg.AssetKey(["colours", "prompts"]), partitions_def=KINDS)
    table = StepTable(columns=PROMPTS, key_columns=("thing",))
    # A new painter is launched on samples of the paper's size alone.
    forecast = Forecast(describe_sample=lambda *_: StepSample("3 of 3 concepts", is_trial=False))

    def model(self, partition: str, config: LimitConfig) -> Model | None:
        """The first writer that is no stand-in."""
        writers = (model for model in self.catalog.select_role("writer") if not model.is_stand_in)
        return next(writers, None)

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """All concepts, or the first of a limit."""
        concepts = CONCEPTS[work.partition][: work.config.limit]
        return [dict(zip(CONCEPT, concept, strict=True)) for concept in concepts]

    def converse(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask for a sentence with the colour."""
        words = f"a {row['colour']} {row['thing']}"
        if self.model(work.partition, work.config) is None:
            return {"prompt": f"A kiwi is in a quiet field with {words}.", "outcome": "answered"}
        turn = Turn("user", f"Write a sentence with {words}.")
        cells = reply_columns((yield WriteRequest((turn,))))
        return {**cells, "prompt": cells["response"]}


class Pictures(PaintStep[LimitConfig]):
    """A painter's picture of each sentence."""

    config = LimitConfig
    asset = StepAsset(key=dg.AssetKey(["colours", "pictures"]), partitions_def=BY_PAINTER)
    table = StepTable(columns=PICTURES, key_columns=("thing",))
    inputs = single_input("colours/prompts", PROMPTS, "kind")

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The sentences that were written."""
        written = [row for row in work.read_rows("upstream") if row["prompt"]]
        return [
            self.build_row(work, row, PaintRequest(row["prompt"]), calls=row["calls"])
            for row in written
        ]


class Kept(Step[LimitConfig]):
    """The pictures that a captioner accepts."""

    config, example_request = LimitConfig, LookRequest(())
    asset = StepAsset(key=dg.AssetKey(["colours", "kept"]), partitions_def=BY_PAINTER)
    table = StepTable(columns=PICTURES, key_columns=("thing",))
    inputs = single_input("colours/pictures", PICTURES)

    def model(self, partition: str, config: LimitConfig) -> Model | None:
        """The first captioner, for pictures of a painter that is no stand-in."""
        painter = find_model(self.catalog, parse_painter_key(partition, BY_PAINTER), "painter")
        return None if painter.is_stand_in else self.catalog.select_role("captioner")[0]

    def converse(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask whether the picture shows the sentence."""
        if row["outcome"] not in ("painted", "pending"):
            return {}
        if self.model(work.partition, work.config) is None:
            return {"outcome": "kept"}
        words = f"Does this picture show: {row['prompt']} Answer Yes or No."
        cells = reply_columns((yield LookRequest((Turn("user", words, (row["sha256"],)),))))
        outcome = "kept" if cells["response"] == "Yes" else "dropped"
        return {"outcome": outcome, "calls": [*row["calls"], *cells["calls"]]}


class Answers(JudgeStep[LimitConfig]):
    """A judge's colour of each thing."""

    config, example_request = LimitConfig, LookRequest(())
    inputs = single_input("colours/kept", PICTURES)
    asset = StepAsset(key=dg.AssetKey(["colours", "answers"]), partitions_def=BY_PAINTER)
    table = StepTable(columns=ANSWERS, key_columns=("thing",))
    stand_in_answers = build_column_answers(prior="usual", pixels="colour", random="thing")

    def rows(self, work: StepRun[LimitConfig]) -> list[dict[str, Any]]:
        """The pictures that were kept."""
        rows = work.read_rows("upstream")
        kept_rows = [row for row in rows if row["outcome"] in ("kept", "pending")]
        return [row | {"model": self.judge.name} for row in kept_rows]

    def query(self, work: StepRun[LimitConfig], row: Row) -> Conversation:
        """Ask for the colour."""
        words = f"What colour is the {row['thing']}? Answer with one word."
        cells = reply_columns((yield LookRequest((Turn("user", words, (row["sha256"],)),))))
        return {**cells, "calls": [*row["calls"], *cells["calls"]]}


def assets(catalog: Catalog) -> Iterator[Definition]:
    """The rates of all judges, and their report."""
    answers = [Answers(catalog, judge).key for judge in catalog.select_role("judge")]

    @table_asset("colours", columns=RATES, partitions=None, deps=answers, description=QUESTION)
    def rates(context: dg.AssetExecutionContext, home: DataRoot) -> dg.MaterializeResult[Any]:
        """Count usual colours by judge."""
        partitions = BY_PAINTER.get_partition_keys(dynamic_partitions_store=context.instance)
        tables = [home.find(key, partition) for key in answers for partition in partitions]
        rows = pd.concat(table for table in tables if table is not None)
        usual, replied = rows["response"].eq(rows["usual"]), rows["response"].notna()
        by_judge = rows.assign(usual=usual, answers=replied, asked=1).groupby("model")
        return to_materialize_result(RATES.build_table(by_judge[[*COUNTS]].sum().reset_index()))

    yield rates
    yield report_asset("colours", site, deps=[rates.key], description=QUESTION)


def site(sources: ReportSources) -> Site:
    """The report's page."""
    table = sources.table("rates")
    if table is None:
        raise NotMaterialized("Colours has no rates yet. Materialize colours/rates.")
    counts = table.itertuples(index=False)
    results = judge_shares(USUAL, counts, stand_ins=("prior", "pixels", "random"))
    worst = max(results.standings, key=lambda standing: standing.value or 0)
    share = format_whole_percent(worst.value or 0)
    finding = f"{worst.model} names the usual colour in {share} of all."
    entry = Entry("Colours", QUESTION, finding, worst.firmness)
    return one_page(sources, entry, judged=results)


BENCHMARK = Benchmark(
    name="colours",
    title="Colours",
    question=QUESTION,
    steps=lambda catalog: [
        *(step(catalog) for step in (Prompts, Pictures, Kept)),
        *(Answers(catalog, judge) for judge in catalog.select_role("judge")),
    ],
    assets=assets,
    stand_in_runs=lambda catalog, painter: [
        *(StandInRun(("prompts",), kind) for kind in CONCEPTS),
        *(StandInRun(BY_KIND, f"{kind}|{painter}") for kind in CONCEPTS),
        StandInRun(("rates", "report")),
    ],
)
