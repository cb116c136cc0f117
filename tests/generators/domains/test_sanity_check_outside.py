"""Accepted names against lists that others keep: of all countries, of illusions, in Unicode."""

import importlib.resources
import json
import re
import unicodedata
from importlib import import_module

import pytest

from generators.domains import load_domains
from generators.domains.optical_illusions.figures import FIGURES
from metrics.reply_parsing.bracketed_answers import read_name
from tests.generators.domains.samples import scenes_of
from tests.generators.domains.test_flags_outside import CODES, DRAWINGS


def accepted(domain):
    """The accepted names by the last part of an original's name, or by its illusion."""
    return {
        scene.subject if domain == "optical_illusions" else scene.base_id.split("/")[1]: q.accepted
        for scene in scenes_of(load_domains()[domain])
        if scene.variant == "original"
        for q in load_domains()[domain].ask_module.write_questions(scene)
        if q.question_id == "N1"
    }


def names_of_svg_country_flags():
    path = DRAWINGS.parent / "countries.json"
    if not path.exists():
        pytest.fail(
            f"{path} is missing. Fetch it with: "
            "npm install --prefix tests/outside --no-package-lock --no-audit --no-fund"
        )
    names = json.loads(path.read_text(encoding="utf-8"))
    return {code.lower(): name for code, name in names.items()}


def names_of_the_time_zone_database():
    """Short names of the countries of ISO 3166; the European Union is none."""
    table = importlib.resources.files("tzdata") / "zoneinfo" / "iso3166.tab"
    lines = table.read_text(encoding="utf-8").splitlines()
    names = dict(line.split("\t") for line in lines if not line.startswith("#"))
    return {code.lower(): name for code, name in names.items()}


@pytest.mark.parametrize(
    ("source", "at_least"),
    [(names_of_svg_country_flags, 250), (names_of_the_time_zone_database, 249)],
)
@pytest.mark.parametrize("written", ["{{{}}}", "{{Flag of {}}}", "{{The flag of the {}.}}"])
def test_of_all_countries_names_a_flags_own_alone_is_right(source, at_least, written):
    outside = source()
    assert len(outside) >= at_least
    assert set(CODES.values()) - outside.keys() <= {"eu"}
    flags = accepted("flags")
    assert flags.keys() == CODES.keys()
    for slug, names in flags.items():
        right = {
            code
            for code, name in outside.items()
            if read_name(written.format(name), names).answer == names[0]
        }
        assert right == {CODES[slug]} & outside.keys(), slug


def test_of_all_illusions_that_pyllusion_draws_the_own_name_alone_is_right():
    classes = [
        value for value in vars(import_module("pyllusion")).values() if isinstance(value, type)
    ]
    outside = {
        name[1]
        for each in classes
        if (name := re.search(r"[Tt]he ([\w\s–-]+?) [Ii]llusion\b", each.__doc__ or ""))
    }
    assert len(outside) >= 8
    illusions = accepted("optical_illusions")
    assert illusions.keys() == FIGURES.keys()
    for subject, names in illusions.items():
        right = {
            name for name in outside if read_name(f"{{{name} illusion}}", names).answer == names[0]
        }
        assert {name.casefold() for name in right} == {subject.casefold().replace("–", "-")}


def test_unicodes_names_of_the_two_games_are_right():
    pieces = {"chess": "♔", "xiangqi": "\N{XIANGQI RED GENERAL}"}
    games = accepted("chess_pieces")
    for game, piece in pieces.items():
        words = unicodedata.name(piece).split()
        right = {
            (other, word)
            for other, names in games.items()
            for word in words
            if read_name(f"{{{word}}}", names).answer == names[0]
        }
        assert right == {(game, game.upper())}
