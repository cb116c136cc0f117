"""What a quote says, against what runs then cost."""

import logging
import math
import re
import sqlite3
from contextlib import closing
from io import BytesIO

import pytest
from dagster import (
    AssetChecksDefinition,
    AssetKey,
    AssetsDefinition,
    DagsterInstance,
    load_assets_from_package_module,
)
from PIL import Image

import assets as package
import definitions
from assets import protobias
from assets.kit.benchmarks import build_planners as planners
from assets.kit.model_lookup import NoSuchModel
from assets.kit.plan import PaperSample, Plan
from assets.planning import (
    CannotQuote,
    Task,
    format_markdown,
    format_text,
    prices,
    quote_tasks,
    select_quoted_tasks,
)
from assets.planning.quote_text import sum_totals
from assets.vlmbias.benchmark import BENCHMARK
from assets.vlmbias.common import topics
from resources.calls.spending import Account
from resources.models.catalog import Catalog
from resources.models.client import ModelClient
from resources.models.image_limits import ImageLimits
from resources.models.image_tokens import find_token_rule
from resources.models.requests import LookRequest, PaintRequest, Turn, WriteRequest
from tests.assets.asked import ask, counting, judge_at, requests
from tests.assets.plans import plan_context, quoted
from tests.providers import Provider
from tests.providers.pictures import png
from tests.runs import STAND_INS, TOPIC, rewrite, table

LOG = logging.getLogger("quoting")
OTHER = "patterned_grids"
PRICE = {"input_per_million": 2.0, "output_per_million": 8.0}
NANO_IN, NANO_OUT = 2000, 8000


@pytest.fixture
def priced(server):
    return judge_at(server, price=PRICE, longest_output=100)


def quote_of(root, plans, *partitions):
    """The quote of an asset that asks what `plans` gives, whatever its partition."""
    key = AssetKey("asking")
    tasks = [Task(key, partition, {}) for partition in partitions or ("",)]
    with plan_context(root) as sources:
        return quote_tasks({key: lambda sources, partition, config: iter(plans())}, sources, tasks)


def looks(*numbers, picture="0" * 64):
    return [
        LookRequest((Turn("user", f"How many legs has {number}?", (picture,)),))
        for number in numbers
    ]


def reworded(rows):
    return [row | {"question": f"Well, {row['question']}"} for row in rows]


def billed(server):
    """What the server has answered so far costs by its own count of tokens, in billionths."""
    return sum(
        NANO_IN * (sum(len(text.split()) for text in asked.texts) + 100 * len(asked.images))
        + NANO_OUT * len(server.answer(asked).split())
        for asked in server.received
    )


class TestPrices:
    def test_one_topic_tells_what_the_next_one_costs_within_a_tenth(self, root, priced, server):
        server.answer = lambda received: "I see " * (int(received.digest[:2], 16) % 9) + "{8}"
        other = table(root, "questions", OTHER)
        other.write_bytes(table(root, "questions").read_bytes())
        rewrite(
            other, lambda rows: [row | {"question": f"Well, {row['question']}"} for row in rows]
        )
        assert ask(root, priced).success
        before = billed(server)
        (line,) = quoted(root, priced, topics=(OTHER,)).lines
        table(root, "questions").write_bytes(other.read_bytes())
        assert ask(root, priced).success
        cost = billed(server) - before
        price = line.prices["online"]
        assert line.to_send == requests(root)
        assert 0.9 * cost < price.expected.nano < 1.1 * cost
        assert cost <= price.bound.nano
        assert price.expected.unknown == price.bound.unknown == set()

    def test_what_costs_the_same_is_priced_once(self, tmp_path, priced, monkeypatch):
        one, other = (
            quote_of(tmp_path, lambda some=some: [Plan(priced, looks(*some))]).lines[0]
            for some in ([1], [10])
        )
        worked_out, most_usage = [], prices.compute_most_usage
        monkeypatch.setattr(
            prices, "compute_most_usage", lambda *of: worked_out.append(of) or most_usage(*of)
        )
        (line,) = quote_of(tmp_path, lambda: [Plan(priced, looks(*range(12)))]).lines
        assert len(worked_out) == 2
        bounds = [each.prices["online"].bound.nano for each in (one, other, line)]
        assert bounds[2] == 10 * bounds[0] + 2 * bounds[1]

    @pytest.mark.parametrize("prompting", ["baseline", "double-check"])
    def test_no_run_costs_more_than_the_bound(self, root, priced, server, prompting):
        server.answer = lambda received: "word " * 99 + "{8}"
        (line,) = quoted(root, priced, prompting).lines
        assert ask(root, priced, prompting).success
        assert 0 < billed(server) <= line.prices["online"].bound.nano

    def test_what_misses_its_schema_is_asked_again_within_the_bound(self, tmp_path, server):
        server.answer = lambda received: "word " * 20
        writer = judge_at(server, roles=("writer",), price=PRICE, longest_output=100)
        asked = [WriteRequest((Turn("user", "Name one."),), '{"type": "object"}')]

        def counted():
            (line,) = quote_of(tmp_path, lambda: [Plan(writer, asked)]).lines
            return line, (line.requests, line.stored, line.to_send, line.follow_ups)

        before, numbers = counted()
        assert numbers == (1, 0, 1, 1)
        with plan_context(tmp_path) as sources:
            with closing(ModelClient(calls=sources.calls, images=sources.images)) as client:
                (keys,) = client.ask(writer, asked, LOG, Account(asset="asking")).keys
            (spent,) = sources.calls.list_spending()
        assert spent.requests == 2
        assert spent.paid <= before.prices["online"].bound.nano
        assert counted()[1] == (2, 2, 0, 0)
        with plan_context(tmp_path) as sources:
            sources.calls.forget(keys[1:])
        assert counted()[1] == (2, 1, 1, 0)

    def test_a_price_for_a_picture_is_exact(self, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
        with Provider() as server:
            painter = judge_at(
                server,
                roles=("painter",),
                parameters={"size": "1024x1024", "quality": "high"},
                price={"per_image": {"1024x1024/high": 0.17}},
            )
            asked = [PaintRequest(f"A horse with {number} legs.") for number in range(3)]
            (line,) = quote_of(tmp_path, lambda: [Plan(painter, asked)]).lines
            with plan_context(tmp_path) as sources:
                client = ModelClient(calls=sources.calls, images=sources.images)
                with closing(client):
                    client.ask(painter, asked, LOG, Account(asset="asking"))
                (spent,) = sources.calls.list_spending()
        price = line.prices["online"]
        assert price.expected.nano == price.bound.nano == spent.paid == 3 * 170_000_000

    def test_a_batch_is_quoted_at_its_share(self, tmp_path, server):
        judge = judge_at(server, price=PRICE | {"batch_share": 0.5}, longest_output=100)
        (line,) = quote_of(tmp_path, lambda: [Plan(judge, looks(*range(5)))]).lines
        assert line.prices["batch"].bound.nano * 2 == line.prices["online"].bound.nano

    def test_what_is_later_counts_in_the_price(self, tmp_path, priced):
        (now,) = quote_of(tmp_path, lambda: [Plan(priced, looks(1, 2))]).lines
        (later,) = quote_of(tmp_path, lambda: [Plan(priced, (), looks(1, 2))]).lines
        assert later.prices["online"].bound == now.prices["online"].bound
        assert (later.to_send, later.follow_ups) == (0, 2)

    def test_what_is_later_is_priced_by_its_own_pictures(self, tmp_path, server):
        """Pictures of 5 × 3 and of 20 × 10 squares, in chunks, later and in the paper's sample."""
        rule = {"patch": 32}
        judge = judge_at(server, price=PRICE, longest_output=100, image_tokens=rule)
        with plan_context(tmp_path) as sources:
            small, large = (
                sources.images.put(png(f"{width} px", width, height))
                for width, height in ((160, 96), (640, 320))
            )
        ((few,), (many,)) = looks(1, picture=small), looks(1, picture=large)

        def cost(squares):
            return (math.ceil(len("How many legs has 1?") / 4) + squares) * NANO_IN + 100 * NANO_OUT

        for first, other, asked, put_off in ((few, many, 15, 200), (many, few, 200, 15)):
            whole = PaperSample("1 of 7", 7, other)
            plan = Plan(judge, [first], [other, other], paper_sample=whole)
            made = quote_of(tmp_path, lambda plan=plan: [plan])
            (line,) = made.lines
            assert line.prices["online"].expected.nano == cost(asked) + 2 * cost(put_off)
            assert made.samples[0].price.expected.nano == cost(put_off)


def rows_of(said):
    """The lines of a quote's table, below its sentences."""
    return said.split("\n\n")[1].splitlines()


class TestUnknown:
    def said(self, root, model, *prompting):
        made = quoted(root, model, *prompting)
        return made.lines[0], format_text(made, [])

    def test_without_a_price_both_are_unknown_and_the_field_is_named(self, root, judge):
        line, said = self.said(root, judge)
        assert line.prices["online"].expected.unknown
        assert rows_of(said)[1].split()[-2:] == ["unknown", "unknown"]
        assert "$" not in said
        assert said.startswith(f"{line.requests} requests to somebody: the cost is unknown.")
        assert "at most is unknown without price.input_per_million and price.output_per_" in said

    def test_without_experience_the_expected_price_is_unknown(self, root, priced):
        _, said = self.said(root, priced)
        assert rows_of(said)[1].split()[-2] == "unknown"
        assert rows_of(said)[1].split()[-1].startswith("$")
        assert "unknown without an answer about a picture of its own, or image_tokens in" in said
        assert "how many tokens it counts for a picture is not published" in said

    def test_by_the_published_rule_it_is_known_before_any_answer(self, root, server):
        server.answer = lambda received: "I count " + "one " * 60 + "{8}"
        rule = find_token_rule("openai", "gpt-4o", {})
        server.counts = lambda data: rule.count(Image.open(BytesIO(data)).size)
        judge = judge_at(server, model="gpt-4o", price=PRICE, longest_output=2_000)
        line, said = self.said(root, judge)
        assert ask(root, judge).success
        price = line.prices["online"]
        paid = sum(
            NANO_IN * (sum(len(each.split()) for each in asked.texts) + asked.picture_tokens)
            + NANO_OUT * len(server.answer(asked).split())
            for asked in server.received
        )
        assert paid / 2 < price.expected.nano < 2 * paid <= 2 * price.bound.nano
        assert "somebody: expected goes by its provider's rule for pictures and by a guess" in said

    def test_what_of_the_bound_is_for_pictures_is_told(self, root, server):
        judge = judge_at(server, backend="openai_compatible", price=PRICE, longest_output=100)
        said = self.said(root, judge)[1]
        assert re.search(r"somebody: 9\d% of at most is for pictures, .* up to 16,384 tokens", said)
        assert "set tokens_per_image in models.yaml" in said
        fewer = judge_at(
            server,
            backend="openai_compatible",
            price=PRICE,
            longest_output=100,
            tokens_per_image=50,
        )
        assert "tokens_per_image" not in self.said(root, fewer)[1]

    def test_without_a_longest_output_the_bound_is_unknown(self, root, server):
        _, said = self.said(root, judge_at(server, price=PRICE), "double-check")
        assert rows_of(said)[1].split()[-2:] == ["unknown", "unknown"]
        assert "at most is unknown without longest_output" in said

    def test_without_questions_nothing_is_known_and_the_total_says_that_it_is_not_all(
        self, root, priced
    ):
        made = quoted(root, priced, topics=(TOPIC, OTHER))
        said = rows_of(format_text(made, []))
        assert said[2].split()[3:] == ["unknown"] * 5
        assert said[3].split()[:3] == ["all", "of", "these"]
        assert f"{requests(root)} +" in said[3]
        assert "Materialize vlmbias/questions first" in format_text(made, [])
        assert "(patterned_grids)" in format_text(made, [])

    def test_nothing_to_send_costs_nothing_whatever_the_price(self, root, judge):
        assert ask(root, judge).success
        line, said = self.said(root, judge)
        assert line.to_send == 0
        assert said.startswith(
            f"{line.requests} requests to somebody: nothing is left to send, {line.requests} "
            "answers are there already and cost nothing."
        )
        assert rows_of(said)[1].split()[-2:] == ["$0.00", "$0.00"]


class TestCounts:
    def test_shared_requests_count_once_in_the_total_and_repeated_ones_once_at_all(
        self, tmp_path, priced
    ):
        made = quote_of(tmp_path, lambda: [Plan(priced, looks(1, 2, 2))], "a", "b", "c")
        assert [line.requests for line in made.lines] == [2, 2, 2]
        (total,) = made.totals
        assert (total.requests, total.to_send) == (2, 2)
        bounds = [line.prices["online"].bound.nano for line in (*made.lines, total)]
        assert len(set(bounds)) == 1

    def test_plans_of_one_model_are_one_line_and_of_another_are_another(self, tmp_path, priced):
        other = priced.model_copy(update={"name": "other", "model": "other-1"})
        plans = [Plan(priced, looks(1)), Plan(other, looks(1)), Plan(priced, looks(1, 2))]
        made = quote_of(tmp_path, lambda: plans)
        assert [(line.model.name, line.requests) for line in made.lines] == [
            ("somebody", 2),
            ("other", 1),
        ]

    def test_more_than_are_looked_up_at_once(self, tmp_path, priced):
        made = quote_of(tmp_path, lambda: [Plan(priced, iter(looks(*range(2500), 0)))])
        assert made.lines[0].requests == 2500

    def test_pictures_beyond_a_limit_are_counted_apart_and_cost_nothing(self, tmp_path, server):
        limited = judge_at(server, price=PRICE, longest_output=100).model_copy(
            update={"image_limits": ImageLimits(longest_side=40)}
        )
        with plan_context(tmp_path) as sources:
            small, large = (sources.images.put(png("", side, side)) for side in (32, 64))
        plan = Plan(limited, [*looks(1, 2, picture=small), *looks(3, picture=large)])
        quote = quote_of(tmp_path, lambda: [plan])
        (line,) = quote.lines
        assert (line.requests, line.to_send, line.oversized) == (3, 2, 1)
        alone = quote_of(tmp_path, lambda: [Plan(limited, looks(1, 2, picture=small))])
        assert line.prices == alone.lines[0].prices
        assert (
            "1 of 3 requests of asking are not sent, and fail: their pictures exceed its limits, "
            "such as a picture of 64 × 64 px; `longest_side` is 40 px. Show smaller pictures"
        ) in format_text(quote, [])
        assert server.count == 0

    def test_nothing_is_sent_and_the_store_stays_as_it_is(self, root, judge, server):
        assert ask(root, judge).success
        count, before = server.count, dump(root)
        made = quoted(root, judge, "baseline", "debiased", "double-check", "in-image title")
        assert made.lines[0].stored == requests(root)
        assert made.lines[0].to_send == 3 * counting(root)
        assert server.count == count
        assert dump(root) == before


class TestWithoutAModel:
    """A model that is wanting for some partitions does not keep the others from a quote."""

    HEADLESS = AssetKey("headless")

    def quote(self, root, priced, *tasks):
        asks = AssetKey("asking")
        plans = {asks: lambda *_: iter([Plan(priced, looks(1))]), self.HEADLESS: wanting}
        with plan_context(root) as sources:
            return quote_tasks(plans, sources, [Task(asks, "", {}), *tasks])

    def test_it_is_said_once_of_all_of_them(self, tmp_path, priced):
        tasks = [Task(self.HEADLESS, name, {}) for name in ("animals", "objects")]
        made = self.quote(tmp_path, priced, *tasks)
        assert [line.to_send for line in made.lines] == [1]
        told = "Not in this quote: headless (animals, objects). grammar is not in models.yaml."
        assert told in format_text(made, [])

    def test_one_that_the_config_names_is_a_mistake(self, tmp_path, priced):
        with pytest.raises(CannotQuote, match="headless: grammar is not"):
            self.quote(tmp_path, priced, Task(self.HEADLESS, "animals", {"writer": "grammar"}))

    def test_a_quote_of_nothing_else_is_a_mistake_as_well(self, tmp_path, priced):
        tasks = [Task(self.HEADLESS, "animals", {})]
        with (
            plan_context(tmp_path) as sources,
            pytest.raises(CannotQuote, match="headless: grammar"),
        ):
            quote_tasks({self.HEADLESS: wanting}, sources, tasks)


def wanting(sources, partition, config):
    raise NoSuchModel("grammar is not in models.yaml. Add it there.")


class TestChoice:
    @pytest.fixture
    def assets(self, judge):
        known = [
            *load_assets_from_package_module(package),
            *BENCHMARK.build_definitions(Catalog((*STAND_INS, judge))),
        ]
        return {each.key: each for each in known if not isinstance(each, AssetChecksDefinition)}

    def chosen(self, assets, judge, select="*", partitions=(), config=None):
        with DagsterInstance.ephemeral() as instance:
            known = planners(Catalog((judge,)))
            return select_quoted_tasks(assets, known, instance, select, partitions, config)

    def test_a_selection_is_read_as_dagster_does(self, assets, judge):
        chosen = self.chosen(assets, judge, 'kind:"judge"')
        assert [task.partition for task in chosen.tasks] == topics.get_partition_keys()
        assert {task.asset.path[-1] for task in chosen.tasks} == {"answers_somebody"}
        assert [key.path[-1] for key in chosen.silent_assets] == [
            "answers_pixels",
            "answers_prior",
            "answers_random",
        ]

    def test_partitions_and_config_go_to_the_task(self, assets, judge):
        config = {"ops": {"vlmbias__answers_somebody": {"config": {"prompting": ["debiased"]}}}}
        chosen = self.chosen(assets, judge, "*", [TOPIC], config)
        (task,) = chosen.tasks
        assert (task.partition, task.config) == (TOPIC, {"prompting": ["debiased"]})

    def test_what_asks_nobody_says_what_is_asked_after_it(self, assets, judge, tmp_path):
        concepts = AssetKey(["protobias", "concepts"])
        others = protobias.BENCHMARK.build_definitions(Catalog(STAND_INS))
        assets |= {each.key: each for each in others if isinstance(each, AssetsDefinition)}
        config = {"ops": {"protobias__concepts": {"config": {"instances": 20}}}}
        chosen = self.chosen(assets, judge, "*", config=config)
        assert chosen.planned_configs[concepts, "animals"] == {"instances": 20}
        seen = []
        task, *_ = chosen.tasks
        with plan_context(tmp_path) as sources:
            known = {
                task.asset: lambda sources, *_: seen.append(sources.planned_configs) or iter(())
            }
            quote_tasks(known, sources.with_planned(chosen.planned_configs), [task])
        assert seen == [chosen.planned_configs | {task[:2]: task.config}]

    def test_an_asset_that_asks_nothing_is_simply_said_to(self, assets, judge, tmp_path):
        chosen = self.chosen(assets, judge, 'key:"vlmbias/questions"', ["flags"])
        assert chosen.tasks == []
        with plan_context(tmp_path) as sources:
            made = quote_tasks({}, sources, chosen.tasks)
        assert format_text(made, chosen.silent_assets) == "Asks no model: vlmbias/questions."
        assert format_markdown(made, chosen.silent_assets) == "- Asks no model: vlmbias/questions."

    @pytest.mark.parametrize(
        ("select", "partitions", "config", "message"),
        [
            ("key:((", [], {}, r"The selection 'key:\(\(' cannot be used: Invalid selection"),
            ("nobody", [], {}, r"There is no asset 'nobody'\. Choose from .* others\.$"),
            ("vlmbias/answers_nobody", [], {}, "If it is named by a model, add the model"),
            ('key:"nobody"', [], {}, "selects no asset. Write it as in 'key:"),
            ("*", ["game_board"], {}, "'game_board', did you mean game_boards"),
            (
                "*",
                [],
                {"ops": {"vlmbias__answers_some": {}}},
                "did you mean vlmbias__answers_some",
            ),
            ("*", [], {"vlmbias__answers_somebody": {}}, "has to be that of ops alone"),
            ("*", [], {"ops": {"vlmbias__answers_somebody": []}}, "has to be as in"),
            (
                "*",
                [],
                {"ops": {"vlmbias__answers_somebody": {"config": {"prompt": []}}}},
                "takes no config 'prompt', did you mean prompting",
            ),
        ],
    )
    def test_what_is_not_there_is_named(self, assets, judge, select, partitions, config, message):
        with pytest.raises(CannotQuote, match=message):
            self.chosen(assets, judge, select, partitions, config)


class TestWords:
    def test_a_table_for_dagster_keeps_a_painters_partition_in_its_cell(self, tmp_path, priced):
        made = quote_of(tmp_path, lambda: [Plan(priced, looks(1), looks(2))], "sketch|animals")
        sentence, _, heads, rule, row, *rest = format_markdown(made, []).splitlines()
        assert sentence.startswith("- 1 request, and up to 1 that depend on answers to come, to ")
        assert heads == (
            "| asset | partition | model | requests | stored | to send | later, at most "
            "| expected | at most |"
        )
        assert rule == "| --- | --- | --- | --: | --: | --: | --: | --: | --: |"
        assert row.startswith(
            "| asking | sketch\\|animals | somebody | 1 | 0 | 1 | 1 | unknown | $"
        )
        assert any(note.startswith("- Later: ") for note in rest)

    def test_what_depends_on_later_answers_is_a_price_up_to(self, root, priced):
        assert ask(root, priced).success
        rewrite(table(root, "questions"), reworded)
        said = rows_of(format_text(quoted(root, priced, "double-check"), []))[1]
        assert " up to $" in said


class TestJob:
    # Dagster's own, while it makes a resource that is part of another one.
    @pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
    def test_the_run_shows_the_quote_in_its_output_and_its_log(self):
        job = definitions.defs.resolve_job_def("quote")
        with DagsterInstance.ephemeral() as instance:
            result = job.execute_in_process(
                instance=instance, run_config={"loggers": {"console": {"config": QUIET}}}
            )
            (output,) = [
                event for event in result.all_events if event.event_type_value == "STEP_OUTPUT"
            ]
            logged = [entry.user_message for entry in instance.all_logs(result.run_id)]
        assert "Asks no model: " in output.step_output_data.metadata["quote"].value
        assert any(said.startswith("The quote:\n") for said in logged)


QUIET = {"log_level": "CRITICAL"}


def dump(root):
    with closing(sqlite3.connect(root / "calls.sqlite")) as database:
        return list(database.iterdump())


def test_all_models_together_have_a_line_of_their_own(tmp_path, server):
    both = [
        judge_at(server, name=name, model="gpt-4o", price=PRICE, longest_output=100)
        for name in ("one", "other")
    ]
    asked = [Plan(judge, looks(*range(n + 2))) for n, judge in enumerate(both)]
    made = quote_of(tmp_path, lambda: asked[1:] + asked[:1])
    total = sum_totals(made)
    assert (total.requests, total.to_send) == (3, 3)
    bounds = [line.prices["online"].bound.nano for line in made.totals]
    assert total.prices["online"].bound.nano == sum(bounds)
    said = format_text(made, [])
    *_, in_all = said.split("\n\n")[0].splitlines()
    assert re.fullmatch(r"In all: 3 requests to all models: about \$0\.\d\d, at most .*\.", in_all)
    last = rows_of(said)[len(made.lines) + 1]
    assert last.split()[:4] == ["in", "all", "all", "models"]
