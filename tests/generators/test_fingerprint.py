"""A domain's fingerprint: which code its work is remembered for."""

import shutil
from pathlib import Path

import pytest

import generators.domains
from generators.domains import Domain, domains

HERE = Path(generators.domains.__file__).parents[1]


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the generators that fingerprints are taken of."""
    copy = shutil.copytree(HERE, tmp_path / "generators")
    monkeypatch.setattr(generators.domains, "__path__", [str(copy / "domains")])
    return copy


def fingerprints():
    return {name: Domain(name).fingerprint for name in domains()}


def changed_by(path, text="\n# changed\n"):
    """The domains whose fingerprint is another one once `text` is added to the file."""
    before = fingerprints()
    path.write_bytes((path.read_bytes() if path.exists() else b"") + text.encode())
    return {name for name, digest in fingerprints().items() if digest != before[name]}


def test_each_domain_has_its_own_wherever_the_code_lies(sources):
    assert len(set(fingerprints().values())) == len(domains())
    assert fingerprints() == {name: domain.fingerprint for name, domain in domains().items()}


@pytest.mark.parametrize("path", ["flags/measure.py", "flags/designs/rings.py", "flags/new.py"])
def test_code_of_one_domain_is_its_own_alone(sources, path):
    assert changed_by(sources / "domains" / path) == {"flags"}


@pytest.mark.parametrize("path", ["canvas.py", "scene.py", "work.py"])
def test_code_that_domains_share_is_everyones(sources, path):
    assert changed_by(sources / path) == set(domains())


def test_what_is_no_code_counts_for_nothing(sources):
    assert changed_by(sources / "domains" / "flags" / "notes.md") == set()
    (sources / "domains" / "flags" / "__pycache__").mkdir(exist_ok=True)
    assert changed_by(sources / "domains" / "flags" / "__pycache__" / "draw.pyc") == set()


def test_what_no_picture_and_no_reading_comes_from_counts_for_nothing(sources):
    assert changed_by(sources / "domains" / "flags" / "outline.py") == set()


def test_another_version_of_a_library_counts(monkeypatch):
    before = fingerprints()
    monkeypatch.setattr(generators.domains, "version", lambda library: "99")
    assert not set(before.values()) & set(fingerprints().values())
