"""What each judge's cell of a benchmark would take: counted once, priced as a quote prices it."""

import io
import random
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from dagster import AssetKey, DagsterInstance
from PIL import Image

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.front.gaps import describe_gap
from assets.kit.benchmarks import build_planners, load_benchmarks
from assets.kit.judge_tasks import JudgeTaskFinder, find_judge
from assets.kit.model_lookup import NoSuchModel
from assets.kit.plan import Plan
from assets.planning import CannotQuote, CellQuotes, Task, format_text, quote_tasks
from assets.planning.judge_quote import (
    BenchmarkQuote,
    JudgeQuote,
    JudgeScope,
    _drop_refused,
    quote_judge,
)
from assets.planning.lines import Quote, QuoteLine
from assets.planning.prices import Pricing, empty_prices
from assets.planning.shapes import Shapes
from assets.report.roster import Gap
from assets.vlmbias.answers import CountingAnswers
from assets.vlmbias.questions import QUESTIONS
from resources.models.catalog import Catalog, Model, Price
from resources.models.image_limits import ImageLimits
from resources.models.requests import (
    LookRequest,
    Turn,
    build_canonical_request,
    compute_call_key,
)
from tests.assets.asked import adapter_below, ask, judge_at
from tests.assets.plans import definitions_of, plan_context
from tests.resources.calls.calling import call
from tests.runs import STAND_INS, TOPIC, failure, materialize, table

ANSWERED = 3
VLMBIAS = "vlmbias"


def judge(name, dollars, **more):
    price = Price(input_per_million=dollars, output_per_million=4 * dollars)
    known = {"backend": "openai", "model": f"{name}-1", "family": "gpt", "roles": ("judge",)}
    return Model(name=name, price=price, longest_output=100, **{**known, **more})


CHEAP, DEAR = judge("cheap", 0.5), judge("dear", 20.0, model="gpt-4o")
METRIC = Model(name="mine", backend="file", model="mine.csv", family="mine", roles=("metric",))
SKETCH = Model(
    name="sketch", backend="stand_in", model="sketch", family="stand_in", roles=("painter",)
)
MODELS = (*STAND_INS, CHEAP, DEAR, METRIC, SKETCH)


@contextmanager
def cells_at(root, models=MODELS):
    """The cells of a data root, and what planners read of it."""
    catalog = Catalog(tuple(models))
    with DagsterInstance.ephemeral() as instance, plan_context(root) as sources:
        for dimension in ("painters", "sources"):
            painters = [model.name for model in catalog.select_role("painter")]
            instance.add_dynamic_partitions(dimension, painters)
        task_finder = JudgeTaskFinder(catalog, sources.home, instance, definitions_of(catalog))
        yield CellQuotes(task_finder, sources), sources


def total(sources, model, models=MODELS):
    """What a quote of the judge's answers says."""
    task = Task(AssetKey([VLMBIAS, f"answers_{model.name}"]), TOPIC, {})
    (found,) = quote_tasks(build_planners(Catalog(tuple(models))), sources, [task]).totals
    return found


def numbers(line):
    prices = [(p.expected.nano, p.bound.nano, p.expected.unknown) for p in line.prices.values()]
    return line.requests, line.stored, line.follow_ups, prices


@pytest.fixture
def planned(monkeypatch):
    """The judges whose requests were planned."""
    found, rows = [], CountingAnswers.rows
    monkeypatch.setattr(
        CountingAnswers,
        "rows",
        lambda step, work: found.append(step.judge.name) or rows(step, work),
    )
    return found


def test_many_judges_are_planned_once_and_priced_as_a_quote_prices_each(made, planned):
    with cells_at(made) as (cells, sources):
        found = [cells.quote_cell(model, load_benchmarks()[VLMBIAS]) for model in (CHEAP, DEAR)]
        assert planned == ["cheap"]
        quoted = [total(sources, model) for model in (CHEAP, DEAR)]
    assert [numbers(cell.line) for cell in found] == [numbers(line) for line in quoted]
    assert [cell.missing for cell in found] == [line.to_send for line in quoted]
    assert found[0].expected_cost == "unknown"
    assert found[1].expected_cost.startswith("$")
    cheap, dear = (float(cell.max_cost.removeprefix("$")) for cell in found)
    assert 0 < cheap < dear
    assert {cell.answered for cell in found} == {0}
    assert (found[0].partitions, found[0].ready) == (7, 1)
    assert found[0].command == "counterfactory judge cheap --benchmark vlmbias"


@pytest.mark.parametrize(
    ("benchmark", "first"),
    [
        ("cdh_bench", (["collections/photograph_contrasts"], ["photograph_contrasts"])),
        ("illusions", (["vlmbias/drawn_images", "vlmbias/original_images"], ["optical_illusions"])),
        ("judge_sets", (["collections/photograph_pairs"], ["photograph_pairs"])),
        ("mm_judge_bias", (["collections/photograph_biases"], ["photograph_biases"])),
        ("philautia", (["collections/photographs"], ["photographs"])),
        ("philautia", (["vlmbias/drawn_images", "vlmbias/original_images"], ["flags"])),
        ("vhexpansion", (["collections/photographs"], ["photographs"])),
    ],
)
def test_what_is_made_first_has_all_that_it_is_made_of(tmp_path, benchmark, first):
    with cells_at(tmp_path) as (cells, _):
        prerequisites = cells.quote_cell(CHEAP, load_benchmarks()[benchmark]).prerequisites
    assets, partitions = first
    assert any(
        [key.to_user_string() for key in prerequisite.assets][: len(assets)] == assets
        and {*partitions} <= {*prerequisite.partitions}
        for prerequisite in prerequisites
    ), [prerequisite.command for prerequisite in prerequisites]


def test_what_only_a_painter_makes_is_named_before_what_is_made_of_it(tmp_path):
    with cells_at(tmp_path) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()[VLMBIAS])
    choices = {
        prerequisite.partitions: prerequisite.describe_choices()
        for prerequisite in cell.prerequisites
    }
    assert choices["animals", "logos"].startswith("First choose a painter and make vlmbias/cand")
    assert [*choices.values()].count("") == len(choices) - 1


def test_a_judge_of_whom_no_log_is_imported_costs_nothing(made):
    logged = Model(
        name="logged", backend="imported", model="logged", family="some", roles=("judge",)
    )
    with cells_at(made, (*MODELS, logged)) as (cells, _):
        cell = cells.quote_cell(logged, load_benchmarks()[VLMBIAS])
    assert (cell.expected_cost, cell.max_cost) == ("$0.00", "$0.00")
    assert cell.missing == cell.line.requests > 0
    assert not cell.line.prices["online"].is_guess


def test_what_is_answered_is_counted(root, server):
    somebody = judge_at(server, longest_output=100)
    done = ask(root, somebody, config={"answers_somebody": {"limit": ANSWERED}})
    assert done.success, failure(done)
    models = (*MODELS, somebody)
    with cells_at(root, models) as (cells, sources):
        cell = cells.quote_cell(somebody, load_benchmarks()[VLMBIAS])
        assert numbers(cell.line) == numbers(total(sources, somebody, models))
    assert cell.answered == ANSWERED
    assert cell.missing == cell.line.requests - ANSWERED


def test_pictures_beyond_a_limit_are_told_of_and_cost_nothing(made):
    limited = judge("limited", 1.0, image_limits=ImageLimits(longest_side=100))
    with cells_at(made, (*MODELS, limited)) as (cells, sources):
        cell = cells.quote_cell(limited, load_benchmarks()[VLMBIAS])
        quoted = total(sources, limited, (*MODELS, limited))
        scope = JudgeScope(limited, [load_benchmarks()[VLMBIAS]])
        notes = [*quote_judge(cells._task_finder, sources, scope).notes()]
    assert numbers(cell.line) == numbers(quoted)
    assert (cell.missing, cell.line.oversized) == (0, cell.line.requests)
    count = f"{cell.line.requests:,}"
    told = f"limited: {count} of {count} requests of"
    reason = "px; `longest_side` is 100 px."
    (warning,) = cell.picture_warnings
    assert warning.startswith(f"{told} vlmbias are not sent, and fail: ")
    assert "such as a picture of 384 × " in warning
    assert reason in warning
    assert any(note.startswith(f"{told} VLMBias") and reason in note for note in notes)
    assert describe_gap(cell, asks=True) == Gap("", "no quote yet", warning)


def test_files_are_weighed_where_a_provider_may_refuse_them(tmp_path):
    claude = judge("claude", 1.0, backend="anthropic", parameters={"max_tokens": 100})
    side = 1200
    noise = Image.frombytes("RGB", (side, side), random.Random(0).randbytes(3 * side * side))
    with plan_context(tmp_path) as sources:
        light, heavy = (
            sources.images.put(as_png(image)) for image in (Image.new("RGB", noise.size), noise)
        )
        requests = [LookRequest((Turn("user", "?", (name,)),)) for name in (light, heavy)]
        shapes, pricing = Shapes(), Pricing(sources.calls)
        shapes.add(Plan(claude, requests), sources.images)
        line = shapes.line(claude, "zoo", pricing)
        free = shapes.line(CHEAP, "zoo", pricing)
    assert (line.requests, line.oversized, line.to_send) == (2, 1, 1)
    assert line.excess == "a picture of 4,400,000 bytes; `bytes_per_image` is 3,932,160"
    assert (free.requests, free.oversized) == (2, 0)


def as_png(image):
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def test_a_benchmark_that_has_nothing_for_a_metric_does_not_apply(made):
    with cells_at(made) as (cells, _):
        found = {name: cells.quote_cell(METRIC, each) for name, each in load_benchmarks().items()}
    assert [name for name, cell in found.items() if cell.is_applicable] == ["protobias"]
    assert found[VLMBIAS].line is None


def test_what_has_to_be_made_first_is_named_from_where_it_begins(made):
    flux = judge("flux", 1.0, roles=("painter",))
    with cells_at(made, (*MODELS, flux)) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()["protobias"])
        reference = cells.quote_cell(STAND_INS[0], load_benchmarks()["protobias"])
    (first,) = cell.prerequisites
    assert "animals|sketch" in reference.prerequisites[0].partitions
    assert [key.path[1] for key in first.assets] == [
        *("concepts", "prompt_triplets", "image_pairs", "filtered_pairs")
    ]
    assert set(first.partitions) == {
        *("animals", "demography", "objects"),
        *("animals|flux", "demography|flux", "objects|flux"),
    }
    assert cell.ready == cell.answered == cell.missing == 0
    assert cell.command == first.command
    assert first.command.startswith('counterfactory run \'key:"protobias/concepts" or ')


def test_what_stand_ins_made_is_for_reference_judges_alone(root):
    asked = {"sha256": "0" * 64, "domain": "animals", "question_id": "Q1", "question": "Legs?"}
    path = table(root, "questions", topic="animals")
    pq.write_table(QUESTIONS.build_table([asked | {"is_stand_in": True}]), path)
    with cells_at(root) as (cells, _):
        found = {
            m.name: cells.quote_cell(m, load_benchmarks()[VLMBIAS]) for m in (CHEAP, STAND_INS[0])
        }
        assert [(cell.ready, cell.stand_in_partitions) for cell in found.values()] == [
            (1, 1),
            (2, 0),
        ]
        before = found["cheap"].missing
    pq.write_table(QUESTIONS.build_table([asked | {"is_stand_in": False}]), path)
    with cells_at(root) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()[VLMBIAS])
    assert (cell.ready, cell.stand_in_partitions, cell.missing) == (2, 0, before + 1)


def test_of_a_step_that_does_not_read_who_made_them_as_well(root):
    path = table(root, "biased_images", topic="animals/sketch", group="frame")
    path.parent.mkdir(parents=True)
    picture = {"image_id": "one", "bias": "none", "outcome": "made", "is_stand_in": True}
    pq.write_table(BIASED_IMAGE_COLUMNS.build_table([picture]), path)
    with cells_at(root) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()["frame"])
    assert (cell.ready, cell.stand_in_partitions, cell.missing) == (0, 1, 0)


def test_what_a_run_would_refuse_of_a_trained_judge_is_in_no_quote(root, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(root))
    shown = pq.read_table(table(root, "questions"))["sha256"][0].as_py()
    tuned = judge("tuned", 0.5, parameters={"adapter": adapter_below(root, shown)})
    models = (*MODELS, tuned)
    with cells_at(root, models) as (cells, sources):
        assert cells.quote_cell(CHEAP, load_benchmarks()[VLMBIAS]).missing
        told = cells.quote_cell(tuned, load_benchmarks()[VLMBIAS]).error
        tasks = [
            Task(AssetKey([VLMBIAS, f"answers_{name}"]), TOPIC, {}) for name in ("cheap", "tuned")
        ]
        planned = build_planners(Catalog(models))
        quoted = quote_tasks(planned, sources, tasks)
        with pytest.raises(CannotQuote, match="are among those that adapters/tuned-0"):
            quote_tasks(planned, sources, tasks[1:])
    done = materialize(root, "answers_tuned", topic=TOPIC, models=models)
    assert not done.success
    assert f"are among those that adapters/tuned-0 was trained on: {TOPIC}/" in told
    assert told in failure(done)
    assert [line.model for line in quoted.lines] == [CHEAP]
    assert f"Not in this quote: vlmbias/answers_tuned ({TOPIC}). {told}" in format_text(quoted, [])


@pytest.mark.parametrize("answered", [0, 1])
def test_of_what_a_run_would_refuse_only_that_is_left_out(root, monkeypatch, answered):
    """Beside a topic that the judge was trained on there is one that it was not."""
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(root))
    shown = pq.read_table(table(root, "questions"))["sha256"][0].as_py()
    asked = {"sha256": "0" * 64, "domain": "animals", "question_id": "Q1", "is_stand_in": False}
    rows = [{**asked, "image_id": f"{n}", "question": f"Legs of {n}?"} for n in range(3)]
    pq.write_table(QUESTIONS.build_table(rows), table(root, "questions", topic="animals"))
    tuned = judge("tuned", 0.5, parameters={"adapter": adapter_below(root, shown)})
    again = tuned.model_copy(update={"name": "again"})
    models = (*MODELS, tuned, again)
    with cells_at(root, models) as (cells, sources):
        asset, planned = AssetKey([VLMBIAS, "answers_tuned"]), build_planners(Catalog(models))
        (plan,) = planned[asset](sources, "animals", {})
        asked = [build_canonical_request(tuned, request) for request in plan.requests][:answered]
        sources.calls.keep(
            [replace(call(), key=compute_call_key(each), request=each) for each in asked]
        )
        cell, other = (
            cells.quote_cell(each, load_benchmarks()[VLMBIAS]) for each in (tuned, again)
        )
        (rest,) = quote_tasks(planned, sources, [Task(asset, "animals", {})]).totals
    assert numbers(cell.line) == numbers(rest)
    assert (other.ready, other.partitions) == (1, 7)
    told = describe_gap(other, asks=True).details
    assert f" Left out: vlmbias/answers_again ({TOPIC}). " in told
    assert ". again is not asked about any picture of" in told
    assert (cell.answered, cell.missing) == (answered, 3 - answered)
    assert (cell.error, cell.ready, cell.partitions) == ("", 1, 7)
    told = describe_gap(cell, asks=True).details
    assert "For 1 of 7 partitions: the others are not made, or left out." in told
    assert f" Left out: vlmbias/answers_tuned ({TOPIC}). " in told
    assert "are among those that adapters/tuned-0 was trained on" in told


def test_what_is_left_out_is_told_of_each_benchmark_and_counts_as_no_partition():
    """The reason of a record that cannot be read is the same everywhere."""
    why, names = "record.json cannot be read.", ("frame", VLMBIAS)

    def share(name):
        tasks = [Task(AssetKey([name, "answers_cheap"]), each, {}) for each in ("one", "other")]
        made = Quote([], [QuoteLine("", "", CHEAP, prices=empty_prices(CHEAP))], {why: tasks[1:]})
        return BenchmarkQuote(
            load_benchmarks()[name], tasks[:1], len(tasks), [], [], [], set(), made
        )

    found = JudgeQuote(JudgeScope(CHEAP, []), [share(name) for name in names], []).quote
    assert [task.asset.path[0] for task in found.refused_tasks[why]] == [*names]
    assert {line.partition for line in found.lines} == {"1 of 2 partitions"}


@pytest.mark.parametrize("stored", [False, True])
def test_what_starts_from_what_would_be_refused_is_left_out_unless_that_is_there(stored):
    first, then, last, beside = wheres = [
        (AssetKey([VLMBIAS, name]), TOPIC) for name in ("first", "then", "last", "beside")
    ]
    reads = {then: (first, False), last: (then, False), beside: (first, True)}

    def inputs_of(part):
        return [
            (SimpleNamespace(is_optional=optional), of) for of, optional in reads[part.location]
        ]

    parts = [SimpleNamespace(location=where) for where in wheres]
    reads = {where: [reads[where]] if where in reads else [] for where in wheres}
    task_finder = SimpleNamespace(iterate_inputs=inputs_of, is_stored=lambda _: stored)
    tasks = [Task(*where, {}) for where in wheres]
    made = Quote([], [], {"why": tasks[:1]})
    share = BenchmarkQuote(load_benchmarks()[VLMBIAS], tasks, 1, [], [], [], set(), made)
    found = _drop_refused(task_finder, parts, share)
    left = tasks[1:] if stored else tasks[3:]
    assert found.tasks == left
    assert found.quote.refused_tasks == {"why": [task for task in tasks if task not in left]}


def test_a_table_that_cannot_be_read_is_told_of(root):
    table(root, "questions").write_bytes(b"PAR1 no more")
    with cells_at(root) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()[VLMBIAS])
    assert "cannot be read" in cell.error
    assert cell.line is None


def test_a_table_of_an_earlier_version_is_told_of(root):
    path = table(root, "questions")
    pq.write_table(pq.read_table(path).drop_columns(["question"]), path)
    with cells_at(root) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()[VLMBIAS])
    assert "The table of vlmbias/questions has no column `question` (the nearest is" in cell.error


def test_a_table_of_an_earlier_version_that_is_read_by_rows_is_told_of(root):
    path = table(root, "biased_images", topic="animals/sketch", group="frame")
    path.parent.mkdir(parents=True)
    picture = {"image_id": "one", "bias": "none", "outcome": "made", "is_stand_in": False}
    pq.write_table(BIASED_IMAGE_COLUMNS.build_table([picture]).drop_columns(["bias"]), path)
    with cells_at(root) as (cells, _):
        cell = cells.quote_cell(CHEAP, load_benchmarks()["frame"])
    assert "The table of frame/biased_images has no column `bias`" in cell.error


def test_who_is_no_judge_cannot_be_named():
    catalog = Catalog(MODELS)
    assert find_judge(catalog, "mine") == METRIC
    with pytest.raises(NoSuchModel, match="'sketch' is no judge or metric in"):
        find_judge(catalog, "sketch")
    with pytest.raises(NoSuchModel, match=r"'deer' is not in .* did you mean dear"):
        find_judge(catalog, "deer")
