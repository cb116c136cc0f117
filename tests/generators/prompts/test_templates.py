"""The paper's prompts, and what is filled in."""

import json
import re
from hashlib import sha256

import pytest
from jsonschema import Draft202012Validator

from generators.prompts.concepts import DOMAINS
from generators.prompts.sampling import sample_concepts
from generators.prompts.templates import (
    ANIMALS,
    DEMOGRAPHY,
    OBJECTS,
    SCHEMA,
    describe_knob,
    write_triplet_prompt,
)
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy


@pytest.fixture(scope="module")
def taxonomy():
    return load_taxonomy(find_taxonomy_path())


def test_nothing_is_left_to_fill_in(taxonomy):
    for domain in DOMAINS:
        for concept in sample_concepts(taxonomy, domain, 20):
            told = write_triplet_prompt(concept)
            assert re.search(r"\{\w+\}", told) is None
            assert concept.extra_element in told
            assert describe_knob(concept) in told
            assert concept.environment_hint in told


@pytest.mark.parametrize(
    ("table", "digest"),
    [
        (ANIMALS, "283a8049167a9895"),
        (DEMOGRAPHY, "6ce72dc6f0a1cc47"),
        (OBJECTS, "6d2574d40330ec10"),
    ],
    ids=["Table 3", "Table 4", "Table 5"],
)
def test_the_words_are_those_that_were_compared_with_the_papers(table, digest):
    """The paper is not ours to hand on: these are its words' digests, without type and lines."""
    assert sha256(" ".join(table.split()).encode()).hexdigest()[:16] == digest


def test_a_pole_says_whose_description_is_whose(taxonomy):
    seen = set()
    for concept in sample_concepts(taxonomy, "demography", 240):
        told = dict(
            re.findall(r"^(\w+) = (.*?)(?: \(.*)?$", write_triplet_prompt(concept), re.MULTILINE)
        )
        assert told["disadvantaged_desc"].startswith(f"{concept.disadvantaged} person")
        assert told["advantaged_desc"].startswith(f"{concept.advantaged} person")
        advantaged = told["advantaged_desc"] == concept.prototype
        assert advantaged == (concept.pole == "positive")
        seen.add(concept.pole)
    assert seen == {"positive", "negative"}


def test_the_change_is_told_with_its_values(taxonomy):
    (concept,) = sample_concepts(taxonomy, "animals", 1)
    shown, changed = concept.values
    told = describe_knob(concept)
    assert told.index(f"{shown} in TEXT and CORRECT") < told.index(f"{changed} in ADVERSARIAL")


def test_an_answer_is_three_sentences_and_nothing_else():
    Draft202012Validator.check_schema(SCHEMA)
    answer = Draft202012Validator(json.loads(json.dumps(SCHEMA)))
    fair = {"text": "a", "correct": "b", "adversarial": "c"}
    assert answer.is_valid(fair)
    assert not answer.is_valid(fair | {"note": "d"})
    assert not answer.is_valid({"text": "a", "correct": "b"})
    assert not answer.is_valid(fair | {"text": None})
