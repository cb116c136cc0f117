"""A data root with characters that a URL reads in its own way."""

import sqlite3
from contextlib import closing

import pytest

from resources.settings.default_resources import build_default_resources
from tests.resources.calls.calling import call

ODD = ("100%25", "100%", "a?b", "a#b", "a b&c=d", "a@b:c", "ü::x")


@pytest.mark.parametrize("name", ODD)
def test_the_answers_lie_in_the_data_root_whatever_its_name(tmp_path, name):
    root = tmp_path / name
    with closing(build_default_resources(str(root))["models"].calls) as store:
        store.keep([call(1)])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with closing(sqlite3.connect(root / "calls.sqlite")) as connection:
        assert connection.execute("SELECT key FROM calls").fetchall() == [(call(1).key,)]
