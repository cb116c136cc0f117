"""The stored answers of a release: those of judges, importable, without a key in them."""

import warnings
from contextlib import closing
from dataclasses import replace

import dagster as dg
import pytest

from assets.kit.columns import TEXT, Columns
from assets.kit.judging import REPLY_COLUMNS, JudgeStep, build_column_answers, reply_columns
from assets.kit.limits import LimitConfig
from assets.kit.step import StepAsset, StepTable
from assets.kit.step_asset import build_step_asset
from assets.kit.step_run import single_input
from assets.release import ReleaseOptions, ReleaseRefused, write_release
from resources.calls import CallStore
from resources.cassette import import_cassette
from resources.models.catalog import Catalog
from resources.models.requests import LookRequest, Turn
from resources.settings.default_resources import build_default_resources
from resources.storage.image_store import ImageStore
from tests.assets.asked import judge_at
from tests.assets.release.small import KEY, PARTS, SHAPES, STORED, squares
from tests.instances import unread
from tests.providers import Provider
from tests.runs import STAND_INS

KEY_TEXT = "sk-canary-77c2e9"


class Shades(JudgeStep[LimitConfig]):
    """A judge's shade of each square."""

    config, example_request = LimitConfig, LookRequest(())
    inputs = single_input(KEY.to_user_string(), STORED)
    asset = StepAsset(key=dg.AssetKey(["shapes", "answers"]), partitions_def=PARTS)
    table = StepTable(
        columns=Columns(**STORED.columns, **REPLY_COLUMNS, model=(TEXT, "The judge")),
        key_columns=("square",),
    )
    stand_in_answers = build_column_answers(prior="square", pixels="square", random="square")

    def rows(self, work):
        return [row | {"model": self.judge.name} for row in work.read_rows("upstream")]

    def query(self, work, row):
        turn = Turn("user", "Which shade is it?", (row["sha256"],))
        return reply_columns((yield LookRequest((turn,))))


@pytest.fixture
def server():
    with Provider(answer=lambda received: "It is grey.") as server:
        yield server


@pytest.fixture
def asked(server, sources, tmp_path, monkeypatch):
    """The benchmark with answers of a judge and of stand-ins, its sources, and a way to ask."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY_TEXT)
    catalog = Catalog((*STAND_INS, judge_at(server)))
    resources = build_default_resources(str(tmp_path / "root"))
    steps = [Shades(catalog, judge) for judge in catalog.models]
    assets = [squares, *map(build_step_asset, steps)]
    graph = dg.Definitions(assets=assets, resources=resources).resolve_asset_graph()
    with warnings.catch_warnings(), unread(sources.instance):
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        for partition in PARTS.get_partition_keys():
            assert dg.materialize(
                assets,
                instance=sources.instance,
                partition_key=partition,
                resources=resources,
                selection=[step.key for step in steps],
            ).success
    benchmark = replace(SHAPES, steps=lambda catalog: steps)
    return benchmark, replace(sources, catalog=catalog, graph=graph)


def test_the_cassette_has_the_answers_of_judges_and_can_be_imported(asked, server, tmp_path):
    benchmark, sources = asked
    release = write_release(tmp_path / "out", benchmark, sources, ReleaseOptions())
    assert release.judges == ["somebody"]
    cassette = tmp_path / "out" / "answers.cassette"
    assert KEY_TEXT.encode() not in cassette.read_bytes()
    anew = tmp_path / "anew"
    anew.mkdir()
    with closing(CallStore(url=f"sqlite:///{anew}/calls.sqlite")) as calls:
        done = import_cassette(cassette, calls, ImageStore(root=str(anew)), anew / "reviews")
        assert done[0] == server.count == 6
        texts = [call.answer["text"] for call in calls.iterate_calls(calls.iterate_keys())]
    assert texts == ["It is grey."] * 6


def test_partitions_choose_the_answers_as_well(asked, tmp_path):
    benchmark, sources = asked
    options = ReleaseOptions(partitions=["dark"])
    write_release(tmp_path / "out", benchmark, sources, options)
    anew = tmp_path / "anew"
    anew.mkdir()
    with closing(CallStore(url=f"sqlite:///{anew}/calls.sqlite")) as calls:
        cassette = tmp_path / "out" / "answers.cassette"
        done = import_cassette(cassette, calls, ImageStore(root=str(anew)), anew / "reviews")
    assert done[0] == 3


def test_an_answer_that_holds_a_key_is_refused(asked, tmp_path, monkeypatch):
    benchmark, sources = asked
    monkeypatch.setenv("OPENAI_API_KEY", "is grey.")
    with pytest.raises(
        ReleaseRefused, match="6 stored answers holding the value of OPENAI_API_KEY"
    ) as caught:
        write_release(tmp_path / "out", benchmark, sources, ReleaseOptions())
    # The rows of all partitions are clean, but a release of them would be refused as well.
    assert "--partitions" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_without_answers_there_is_no_cassette(sources, tmp_path):
    assert write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions()).judges == []
    assert not (tmp_path / "out" / "answers.cassette").exists()
    assert not (tmp_path / "root" / "calls.sqlite").exists()
