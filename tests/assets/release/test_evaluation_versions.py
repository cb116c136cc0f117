"""The version of a benchmark's prompts, reader and scorer, which no change of them may keep."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from assets.kit.benchmarks import load_benchmarks
from tests.assets.release import evaluation_behaviour
from tests.assets.release.evaluation_behaviour import BEHAVIOURS, REPLIES

PINS = Path(__file__).with_name("evaluation_versions.json")


def digest(values) -> str:
    text = json.dumps(list(values), ensure_ascii=False, default=float)
    return sha256(text.encode()).hexdigest()[:16]


def fingerprint(name) -> dict[str, str]:
    behaviour = BEHAVIOURS[name]
    readings = (list(behaviour.read(reply)) for reply in REPLIES)
    return {"prompts": digest(behaviour.write_prompts()), "readings": digest(readings)}


def find_problem(name: str, version: str) -> str | None:
    """Say what of a benchmark has changed without a new version, and what to do."""
    pins = json.loads(PINS.read_text())[name]
    actual = fingerprint(name)
    if version in pins and pins[version] == actual:
        return None
    pin = json.dumps({version if version not in pins else str(max(map(int, pins)) + 1): actual})
    if version not in pins:
        return f"{name}: evaluation version {version} has no fingerprint. Add {pin} to {PINS.name}."
    changed = [part for part in actual if actual[part] != pins[version][part]]
    return (
        f"{name}: the {' and '.join(changed)} changed within evaluation version {version}. Raise "
        f"EVALUATION_VERSION in assets/{name}/common.py, and add {pin} to {PINS.name}."
    )


@pytest.mark.parametrize("name", load_benchmarks())
def test_no_prompt_and_no_reading_changes_within_a_version(name):
    assert name in BEHAVIOURS, f"{name}: describe its prompts and its reader in BEHAVIOURS."
    problem = find_problem(name, load_benchmarks()[name].evaluation_version)
    assert problem is None, problem


def test_versions_are_the_numbers_from_one_and_the_latest_counts():
    for name, pins in json.loads(PINS.read_text()).items():
        assert list(pins) == [str(number) for number in range(1, len(pins) + 1)]
        assert load_benchmarks()[name].evaluation_version == list(pins)[-1]
        fingerprints = [tuple(pin.values()) for pin in pins.values()]
        assert len(set(fingerprints)) == len(fingerprints)


def test_a_changed_word_is_a_changed_prompt(monkeypatch):
    changed = BEHAVIOURS["vhexpansion"]._replace(write_prompts=lambda: ["Is it red? Say yes."])
    monkeypatch.setitem(BEHAVIOURS, "vhexpansion", changed)
    problem = find_problem("vhexpansion", "1")
    assert problem.startswith("vhexpansion: the prompts changed within evaluation version 1.")
    assert "Raise EVALUATION_VERSION in assets/vhexpansion/common.py" in problem


def test_a_changed_reader_or_scorer_is_a_changed_reading(monkeypatch):
    score_row = evaluation_behaviour.score_row
    monkeypatch.setattr(
        evaluation_behaviour, "score_row", lambda row: score_row(row) | {"score": 1.0}
    )
    problem = find_problem("vlmbias", "1")
    assert problem.startswith("vlmbias: the readings changed within evaluation version 1.")


def test_a_raised_version_needs_its_fingerprint():
    assert find_problem("frame", "7").startswith(
        "frame: evaluation version 7 has no fingerprint. Add"
    )
