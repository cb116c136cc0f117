"""Published answers make the published tables again: no key, no provider, the same bytes."""

import csv
import io
import os
import re
from contextlib import closing
from functools import cache
from hashlib import sha256

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest

from assets import vhexpansion, vlmbias
from assets.kit.upstream_calls import NothingSelected, find_upstream_calls
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from resources.calls import CallStore
from resources.cassette import export_cassette, import_cassette
from resources.faults import CorruptItem
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import fetch, is_stored, list_files, open_address, read_file
from resources.storage.image_store import ImageStore
from tests.assets.asked import JUDGE, answers, ask, requests
from tests.postgres import Postgres, installed
from tests.providers import faults
from tests.runs import STAND_INS, TOPIC, failure, materialize, of_modules, table

KEY = "sk-canary-77c2e9"
WAYS = ("baseline", "double-check")


def graph(catalog, *others):
    """The definitions with those models, of these benchmarks besides."""
    of_models = [
        each
        for benchmark in (vlmbias, *others)
        for each in benchmark.BENCHMARK.build_definitions(catalog)
    ]
    return dg.Definitions(
        assets=[*of_modules(), *of_models], resources=build_default_resources("/nowhere")
    )


_with = cache(lambda model: graph(Catalog((*STAND_INS, Model.model_validate_json(model)))))


def behind(model, *selected):
    """What a selection rests on, with that model."""
    known = _with(model.model_dump_json())
    return find_upstream_calls(known, Catalog((*STAND_INS, model)), *selected)


def stores(root):
    url = os.environ.get("COUNTERFACTORY_CALLS", f"sqlite:///{root}/calls.sqlite")
    return CallStore(url=url), ImageStore(root=str(root))


def exported(root, judge, path, select="vlmbias/accuracy", partitions=()):
    found = behind(judge, select, root, partitions)
    calls, images = stores(root)
    with closing(calls):
        return found, export_cassette(path, found.keys, calls, images, found.reviews)


def imported(root, path):
    calls, images = stores(root)
    with closing(calls):
        return import_cassette(path, calls, images, root / "reviews")


def tables(root):
    """Every table below a data root, as it lies there."""
    return {
        str(path.relative_to(root)): read_file(path)
        for path in list_files(root)
        if path.suffix == ".parquet"
    }


def test_who_imports_the_answers_makes_the_same_tables(root, judge, server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answer = lambda received: f"I see {{8}}, and my key is {KEY}."
    server.when(lambda received: "rows" in received.texts[0], faults.REFUSED)
    assert ask(root, judge, *WAYS).success
    assert materialize(root, models=[*STAND_INS, judge]).success
    sent, path = server.count, tmp_path / "answers.cassette"
    found, done = exported(root, judge, path)
    assert done.calls == len(found.keys) == sent > requests(root)
    assert found.failed == 0

    monkeypatch.delenv("OPENAI_API_KEY")
    server.always(faults.INVALID_KEY)
    anew = tmp_path / "anew"
    result = materialize(anew, topic=TOPIC)
    assert result.success, failure(result)
    assert "OPENAI_API_KEY is not set" in failure(ask(anew, judge))
    assert imported(anew, path) == (sent, sent, 0, 0, 0)
    assert imported(anew, path) == (sent, 0, 0, 0, 0)
    result = ask(anew, judge, *WAYS)
    assert result.success, failure(result)
    result = materialize(anew, models=[*STAND_INS, judge])
    assert result.success, failure(result)
    assert {"answered", "refused"} <= set(answers(anew)["outcome"])
    assert tables(anew) == tables(root)
    assert f"vlmbias/answers_somebody/{TOPIC}.parquet" in tables(anew)
    assert server.count == sent
    again = tmp_path / "again.cassette"
    exported(anew, judge, again)
    assert again.read_bytes() == path.read_bytes()
    for kept in (path, *[each for each in anew.rglob("*") if each.is_file()]):
        assert KEY.encode() not in kept.read_bytes()


def test_a_cassette_of_a_part_makes_the_part_and_pays_only_for_the_rest(
    root, judge, server, tmp_path
):
    part = {"config": {JUDGE: {"limit": 5}}}
    assert ask(root, judge, **part).success
    sent, path = server.count, tmp_path / "part.cassette"
    _, done = exported(root, judge, path, select=f'key:"vlmbias/{JUDGE}"')
    assert done.calls == sent
    anew = tmp_path / "anew"
    assert materialize(anew, topic=TOPIC).success
    imported(anew, path)
    assert ask(anew, judge, **part).success
    assert server.count == sent
    assert (
        tables(anew)[f"vlmbias/{JUDGE}/{TOPIC}.parquet"]
        == (tables(root)[f"vlmbias/{JUDGE}/{TOPIC}.parquet"])
    )
    assert ask(anew, judge).success
    assert server.count == requests(anew)


@pytest.fixture
def asked(root, judge):
    assert ask(root, judge).success
    return root


class TestUpstreamCalls:
    def test_it_is_what_the_tables_upstream_name(self, asked, judge):
        named = {key for row in answers(asked)["calls"] for key in row}
        for select in ("vlmbias/accuracy", f"vlmbias/{JUDGE}", 'key:"vlmbias/report"', "*"):
            assert behind(judge, select, asked).keys == named
        assert behind(judge, f"vlmbias/{JUDGE}", asked, [TOPIC]).keys == named

    def test_a_selection_without_any_is_said(self, asked, judge):
        for select, partitions, says in (
            ("vlmbias/questions", [], "No stored answer is behind vlmbias/questions:"),
            (f"vlmbias/{JUDGE}", ["flags"], f"behind vlmbias/{JUDGE} .flags.:"),
            ("vlmbias/acuracy", [], "'vlmbias/acuracy' selects no assets"),
            ('key:"no/such"', [], "No stored answer is behind"),
            ('key:"', [], "selects no assets"),
        ):
            with pytest.raises(NothingSelected, match=says):
                behind(judge, select, asked, partitions)

    def test_a_table_that_cannot_be_read_is_named(self, asked, judge):
        table(asked, JUDGE).write_bytes(b"PAR1")
        with pytest.raises(CorruptItem, match=f"Materialize vlmbias/{JUDGE}"):
            behind(judge, "vlmbias/accuracy", asked)

    def test_rows_that_failed_are_counted(self, root, judge, server):
        server.when(lambda received: "columns" in received.texts[0], faults.INVALID_REQUEST)
        assert ask(root, judge).success
        failed = int((answers(root)["outcome"] == "failed").sum())
        assert behind(judge, "vlmbias/accuracy", root).failed == failed > 0


@pytest.fixture(scope="module")
def with_panels():
    return graph(Catalog(tuple(STAND_INS)), vhexpansion)


def test_the_files_of_annotators_are_behind_what_they_review(address, with_panels):
    catalog, found, root = Catalog(tuple(STAND_INS)), with_panels, open_address(address)
    for dataset in ("flags", "logos"):
        row = {"calls": ["a" * 64], "outcome": "negated"}
        data = io.BytesIO()
        pq.write_table(NEGATED_CASE_COLUMNS.build_table([row]), data)
        path = root / "vhexpansion" / "negated_cases" / f"{dataset}.parquet"
        write_atomically(path, data.getvalue())
        folder = root / "reviews" / "vhexpansion" / dataset / "gpt"
        for name in ("Anna B.csv", "ben.CSV", "sheet-to-review.csv", "notes.txt"):
            write_atomically(folder / name, name.encode())
    every = find_upstream_calls(found, catalog, "vhexpansion/negated_cases", root)
    some = find_upstream_calls(found, catalog, "vhexpansion/symmetry", root, ["flags"])
    assert set(every.reviews) == {
        f"vhexpansion/{dataset}/gpt/{name}"
        for dataset in ("flags", "logos")
        for name in ("Anna B", "ben")
    }
    assert dict(some.reviews) == {
        "vhexpansion/flags/gpt/Anna B": b"Anna B.csv",
        "vhexpansion/flags/gpt/ben": b"ben.CSV",
    }


SKETCH = Model(
    name="sketch", backend="stand_in", model="sketch", family="own", roles=("painter", "editor")
)


SMALL = {"paintings": {"limit": 6}, "edits": {"edits_per_image": 1}}


def photographed(root, review):
    """Make six base images of logos, all but one of which are accepted if nobody has decided."""
    models = [*STAND_INS, SKETCH]
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["sketch"])

        def make(name, partition):
            result = materialize(
                root,
                name,
                topic=partition,
                models=models,
                instance=instance,
                config={name: SMALL[name]} if name in SMALL else None,
            )
            assert result.success, failure(result)

        make("subjects", "logos")
        for name in ("paintings", "edits", "candidates"):
            make(name, "sketch|logos")
        if not is_stored(review):
            shown = pd.read_parquet(table(root, "candidates", "sketch/logos"))["sha256"]
            lines = [f"{digest},accept,\n" for digest in sorted(set(shown.dropna()))[1:]]
            write_atomically(review, ("image,verdict,reason\n" + "".join(lines)).encode())
        make("photographs", "logos")


def test_photographs_come_with_their_pictures_and_their_review(tmp_path):
    here, anew, path = tmp_path / "here", tmp_path / "anew", tmp_path / "logos.cassette"
    photographed(here, here / "reviews" / "logos.csv")
    _, done = exported(here, SKETCH, path, "vlmbias/photographs", ["sketch|logos"])
    assert done.pictures == done.calls > 6
    assert done.reviews == 1
    assert imported(anew, path) == (done.calls, done.calls, 0, done.pictures, 1)
    photographed(anew, anew / "reviews" / "logos.csv")
    assert tables(anew) == tables(here)
    assert set(tables(anew)) == {
        *(f"vlmbias/{name}/sketch/logos.parquet" for name in ("candidates", "edits", "paintings")),
        *("vlmbias/photographs/logos.parquet", "vlmbias/subjects/logos.parquet"),
    }
    again = tmp_path / "again.cassette"
    exported(anew, SKETCH, again, "vlmbias/photographs")
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason="no PostgreSQL server is installed")
def test_photographs_come_to_an_object_store_and_back(tmp_path, s3, monkeypatch):
    here, path = tmp_path / "here", open_address("s3://pictures/out/logos.cassette")
    photographed(here, here / "reviews" / "logos.csv")
    _, done = exported(here, SKETCH, path, "vlmbias/photographs", ["sketch|logos"])
    with Postgres() as server:
        monkeypatch.setenv("COUNTERFACTORY_CALLS", server.database())
        anew = open_address("s3://pictures/home")
        assert imported(anew, path) == (done.calls, done.calls, 0, done.pictures, 1)
        photographed(anew, anew / "reviews" / "logos.csv")
        assert tables(anew) == tables(here)
        again = anew / "again.cassette"
        exported(anew, SKETCH, again, "vlmbias/photographs")
        assert read_file(again) == read_file(path)
        review = fetch(anew / "reviews")
    page = (review / "logos-to-review.html").read_text()
    pictures = re.findall(r'<img src="images/(\w{64})\.png"', page)
    assert pictures
    for digest in pictures:
        assert sha256((review / "images" / f"{digest}.png").read_bytes()).hexdigest() == digest
    with (review / "logos-to-review.csv").open(newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    assert [row["image"] for row in rows] == pictures
    assert {row["verdict"] for row in rows} == {"accept", ""}
