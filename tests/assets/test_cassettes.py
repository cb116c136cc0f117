"""Published answers make the published tables again: no key, no provider, the same bytes."""

from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

import assets
from assets import vlmbias
from assets.cassettes import NothingSelected, behind
from definitions import resources_at
from resources.calls import CallStore
from resources.cassette import export_cassette, import_cassette
from resources.faults import Corrupt
from resources.images import ImageStore
from resources.models.catalog import Catalog
from tests.assets.asked import JUDGE, answers, ask, requests
from tests.providers import faults
from tests.runs import REFERENCE, TOPIC, failure, materialize, table

KEY = "sk-canary-77c2e9"
WAYS = ("baseline", "double-check")


def graph(judge):
    """The definitions with that judge."""
    return dg.Definitions(
        assets=[
            *dg.load_assets_from_package_module(assets),
            *vlmbias.judged(Catalog((*REFERENCE, judge))),
        ],
        resources=resources_at("/nowhere"),
    )


def stores(root):
    return CallStore(url=f"sqlite:///{root}/calls.sqlite"), ImageStore(root=str(root))


def exported(root, judge, path, select="vlmbias/accuracy", partitions=()):
    found = behind(graph(judge), select, root, partitions)
    calls, images = stores(root)
    with closing(calls):
        return found, export_cassette(path, found.keys, calls, images, found.reviews)


def imported(root, path):
    calls, images = stores(root)
    with closing(calls):
        return import_cassette(path, calls, images, root / "reviews")


def tables(root):
    """Every table below a data root, as it lies on the disk."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(Path(root).rglob("*.parquet"))
    }


def test_who_imports_the_answers_makes_the_same_tables(root, judge, server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answer = lambda received: f"I see {{8}}, and my key is {KEY}."
    server.when(lambda received: "rows" in received.texts[0], faults.REFUSED)
    assert ask(root, judge, *WAYS).success
    assert materialize(root, models=[*REFERENCE, judge]).success
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
    result = materialize(anew, models=[*REFERENCE, judge])
    assert result.success, failure(result)
    assert {"answered", "refused"} <= set(answers(anew)["outcome"])
    assert tables(anew) == tables(root)
    assert f"vlmbias/answers/somebody/{TOPIC}.parquet" in tables(anew)
    assert server.count == sent
    again = tmp_path / "again.cassette"
    exported(anew, judge, again)
    assert again.read_bytes() == path.read_bytes()
    for kept in (path, *[each for each in anew.rglob("*") if each.is_file()]):
        assert KEY.encode() not in kept.read_bytes()


@pytest.fixture
def asked(root, judge):
    assert ask(root, judge).success
    return root


class TestBehind:
    def test_it_is_what_the_tables_upstream_name(self, asked, judge):
        named = {key for row in answers(asked)["calls"] for key in row}
        for select in ("vlmbias/accuracy", f"vlmbias/{JUDGE}", 'key:"vlmbias/report"', "*"):
            assert behind(graph(judge), select, asked).keys == named
        assert behind(graph(judge), f"vlmbias/{JUDGE}", asked, [TOPIC]).keys == named

    def test_a_selection_without_any_is_said(self, asked, judge):
        for select, partitions, says in (
            ("vlmbias/questions", [], "No stored answer is behind vlmbias/questions:"),
            (f"vlmbias/{JUDGE}", ["flags"], f"behind vlmbias/{JUDGE} .flags.:"),
            ("vlmbias/acuracy", [], "'vlmbias/acuracy' selects no assets"),
            ('key:"no/such"', [], "No stored answer is behind"),
            ('key:"', [], "selects no assets"),
        ):
            with pytest.raises(NothingSelected, match=says):
                behind(graph(judge), select, asked, partitions)

    def test_a_table_that_cannot_be_read_is_named(self, asked, judge):
        table(asked, JUDGE).write_bytes(b"PAR1")
        with pytest.raises(Corrupt, match=f"Materialize vlmbias/{JUDGE}"):
            behind(graph(judge), "vlmbias/accuracy", asked)

    def test_rows_that_failed_are_counted(self, root, judge, server):
        server.when(lambda received: "columns" in received.texts[0], faults.INVALID_REQUEST)
        assert ask(root, judge).success
        failed = int((answers(root)["outcome"] == "failed").sum())
        assert behind(graph(judge), "vlmbias/accuracy", root).failed == failed > 0
