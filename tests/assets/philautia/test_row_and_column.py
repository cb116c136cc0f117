"""A new judge's quote: its captions, its scores, and what the others give its captions."""

from collections import Counter
from copy import copy

import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance

from assets.front.gaps import describe_gap
from assets.kit.benchmarks import load_benchmarks
from assets.kit.judge_tasks import JudgeTaskFinder
from assets.philautia.captions import CAPTIONS
from assets.philautia.pictures import PICTURES
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS
from assets.philautia.scores import SCORES, CaptionScoreStep
from assets.planning import CellQuotes
from assets.planning.judge_quote import JudgeScope, quote_judge
from resources.models.catalog import Catalog
from tests.assets.philautia.galleries import SET, captions, checked, picture, scores
from tests.assets.philautia.test_asked import RIGHT, answer
from tests.assets.plans import definitions_of, plan_context
from tests.providers import Provider
from tests.providers.pictures import png
from tests.resources.models.conftest import client_at, closed, model
from tests.runs import copied

IMAGES, FEW = 4, 2
"""Pictures, and those that `bob` was asked about; one of each has a caption that is right."""
NAMES = ("ann", "bob", "cid", "dot")
PHILAUTIA = load_benchmarks()["philautia"]


class Zoo:
    """Some models at a provider; `ann` and `bob` have done their part, `bob` a trial of it."""

    def __init__(self, root, server):
        self.root, self.server = root, server
        self.client = client_at(root)
        digests = [self.client.images.put(png(f"animal {n}")) for n in range(IMAGES)]
        self.pictures = [picture(n, RIGHT, sha256=d) for n, d in enumerate(digests)]
        self.models = {name: self.model(name) for name in NAMES}
        self.write("pictures", PICTURES, self.pictures)
        self.write("rated_captions", RATED_CAPTION_COLUMNS, [])
        self.captions = {}
        self.sent = Counter()

    def model(self, name):
        price = {"input_per_million": 1.0, "output_per_million": 1.0}
        known = {"model": f"{name}-1", "roles": ["captioner", "judge"], "price": price}
        more = {"longest_output": 100, "tokens_per_image": 100}
        return model(self.server, "openai_compatible", name=name, **known, **more)

    def write(self, name, columns, rows):
        path = self.root / "philautia" / name / f"{SET}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(columns.build_table(rows, ["references"]), path)

    def describe(self, name, **config):
        before = self.server.count
        self.captions[name] = captions(self.models[name], self.pictures, self.client, **config)
        self.write(f"captions_{name}", CAPTIONS, self.captions[name])
        self.sent[name] += self.server.count - before

    def score(self, name, **config):
        before, others = self.server.count, [*self.models.values()]
        rows = scores(
            self.models[name], self.pictures, self.captions, self.client, others=others, **config
        )
        self.write(f"scores_{name}", SCORES, rows)
        self.sent[name] += self.server.count - before


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Where `ann` and `bob` have done their part; one provider, so that models stay the same."""
    root = tmp_path_factory.mktemp("zoo")
    (root / "collections.yaml").write_text(f"- {{name: {SET}, path: {SET}}}\n")
    with pytest.MonkeyPatch.context() as patch, Provider(answer=answer) as server:
        patch.setenv("COUNTERFACTORY_COLLECTIONS", str(root / "collections.yaml"))
        found = Zoo(root, server)
        for name in ("ann", "bob"):
            found.describe(name)
        found.score("ann")
        found.score("bob", limit=FEW)
        closed(found.client)
        yield found


@pytest.fixture
def zoo(begun, tmp_path):
    found = copy(begun)
    found.root = copied(begun.root, tmp_path / "zoo")
    found.client = client_at(found.root)
    found.models, found.captions = {**begun.models}, {**begun.captions}
    found.sent = Counter()
    yield found
    closed(found.client)


def quoted(zoo, name, limit=None):
    """What a judge would be asked by itself, and what its cell of the front page says."""
    catalog = Catalog(tuple(zoo.models.values()))
    with DagsterInstance.ephemeral() as instance, plan_context(zoo.root) as sources:
        task_finder = JudgeTaskFinder(catalog, sources.home, instance, definitions_of(catalog))
        judge = zoo.models[name]
        found = quote_judge(task_finder, sources, JudgeScope(judge, [PHILAUTIA], limit))
        return found, CellQuotes(task_finder, sources).quote_cell(judge, PHILAUTIA)


def lacking(lines):
    return {line.model.name: line.to_send + line.follow_ups for line in lines if line.requests}


def done(zoo, found):
    """Do what was quoted, with the run configs of its tasks; what was sent to whom."""
    zoo.sent.clear()
    for task in found.benchmark_quotes[0].tasks:
        what, _, name = task.asset.path[1].partition("_")
        {"captions": zoo.describe, "scores": zoo.score}[what](name, **task.config)
    return dict(zoo.sent)


def test_what_others_are_asked_about_a_new_judge_is_quoted_and_sent(zoo):
    found, cell = quoted(zoo, "cid")
    expected = {
        # Its captions, and what it gives them and those of two others, in two settings.
        "cid": IMAGES + 2 * 3 * IMAGES,
        "ann": 2 * IMAGES,
        # As far as it takes part: nobody asked it about the other pictures.
        "bob": 2 * FEW,
    }
    assert {
        line.model.name: line.to_send + line.follow_ups for line in found.quote.lines
    } == expected
    assert {line.asset for line in found.quote.lines} == {PHILAUTIA.title}
    assert len(found.quote.totals) == len(expected)
    assert "asked as well, about what cid writes: ann, bob." in "\n".join(found.notes())
    assert cell.missing == sum(expected.values())
    assert cell.missing_of_others == expected["ann"] + expected["bob"]
    bound = sum(line.prices["online"].bound.nano for line in found.quote.lines)
    assert cell.max_cost == f"${bound / 1e9:,.4f}"
    assert "ask ann, bob about what it writes" in describe_gap(cell, asks=True).details
    assert done(zoo, found) == expected
    found, cell = quoted(zoo, "cid")
    assert found.is_free
    assert (cell.missing, cell.max_cost) == (0, "$0.00")
    assert set(done(zoo, found).values()) <= {0}


def test_a_trial_of_a_new_judge_leaves_the_tables_of_others_as_large_as_they_are(zoo):
    found, _ = quoted(zoo, "cid", limit=1)
    configs = {task.asset.path[1]: dict(task.config) for task in found.benchmark_quotes[0].tasks}
    assert configs == {
        "captions_cid": {"limit": 1},
        "scores_cid": {"limit": 1},
        "scores_ann": {},
        "scores_bob": {"limit": FEW},
    }
    assert done(zoo, found)["ann"] == 2


def test_what_a_judge_has_answered_makes_no_quote_of_another_too_low(zoo):
    """Its own captions cost the next one requests, which the first was not asked."""
    done(zoo, quoted(zoo, "cid")[0])
    catalog = Catalog(tuple(zoo.models.values()))
    with DagsterInstance.ephemeral() as instance, plan_context(zoo.root) as sources:
        cells = CellQuotes(
            JudgeTaskFinder(catalog, sources.home, instance, definitions_of(catalog)), sources
        )
        for name in NAMES[:3]:
            cells.quote_cell(zoo.models[name], PHILAUTIA)
        after = cells.quote_cell(zoo.models["dot"], PHILAUTIA)
    found, alone = quoted(zoo, "dot")
    assert after.missing == alone.missing == sum(lacking(found.quote.lines).values())
    assert after.max_cost == alone.max_cost
    assert sum(done(zoo, found).values()) == after.missing


def test_a_judge_that_was_cut_off_is_quoted_for_the_rest(zoo):
    whole = quoted(zoo, "cid")[1].missing
    zoo.describe("cid", limit=1)
    found, cell = quoted(zoo, "cid")
    assert cell.missing == whole - 1 == sum(lacking(found.quote.lines).values())
    assert sum(done(zoo, found).values()) == cell.missing


def test_two_entries_of_one_model_are_asked_nothing_about_each_other(zoo):
    twin = zoo.model("cid").model_copy(update={"model": "ann-1", "parameters": {"top_p": 0.5}})
    zoo.models["cid"] = twin
    found, cell = quoted(zoo, "cid")
    assert {line.model.name for line in found.quote.lines} == {"cid"}
    assert cell.other_lines == []
    assert "cid is the same model as ann" in describe_gap(cell, asks=True).details


def test_a_judge_that_writes_no_captions_is_told_that_it_gets_no_number(zoo):
    zoo.models["cid"] = zoo.models["cid"].model_copy(update={"roles": ("judge",)})
    found, cell = quoted(zoo, "cid")
    assert lacking(found.quote.lines) == {"cid": 2 * 2 * IMAGES}
    (warning,) = found.quote.warnings
    assert warning.startswith("cid writes no captions")
    assert warning in describe_gap(cell, asks=True).details


def test_captions_of_earlier_pictures_are_left_out_and_block_nothing(zoo):
    """As those of a captioner that is there to filter pictures, and described some before."""
    before = zoo.captions["bob"]
    zoo.captions["bob"] = [{**before[0], "sha256": "0" * 64}, *before[1:]]
    zoo.score("ann")
    rows = pd.read_parquet(zoo.root / f"philautia/scores_ann/{SET}.parquet")
    assert Counter(rows["generator"]) == {"ann": 2 * IMAGES, "bob": 2 * IMAGES - 2}
    assert set(rows["outcome"]) == {"scored"}
    step = CaptionScoreStep(Catalog(tuple(zoo.models.values())), zoo.models["ann"])
    found = checked(step, "captions_are_current", zoo.pictures, zoo.captions)
    assert not found.passed
    assert found.description == (
        "1 of the captions of bob are of other pictures than are there now, and were not scored. "
        "Materialize philautia/captions_bob again."
    )


def test_an_only_model_is_told_that_it_takes_a_second_one(zoo):
    zoo.models = {"ann": zoo.models["ann"]}
    found, _ = quoted(zoo, "ann")
    (warning,) = found.quote.warnings
    assert warning.startswith("ann is the only model that writes and scores captions")
    assert "List a second one" in warning
