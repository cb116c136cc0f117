"""Triplets and templates of a user's own: taken from a file, or refused with line and reason."""

import csv
import json
import re
from pathlib import Path

import pytest

from generators.prompts.concepts import DOMAINS
from generators.prompts.sampling import sample_concepts
from generators.prompts.templates import ANIMALS, write_triplet_prompt
from resources.user_files.own_templates import read_own_templates
from resources.user_files.own_triplets import COLUMNS, is_own, read_own_triplets
from resources.user_files.rows import UserFileError
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy

ROW = {
    "domain": "animals",
    "knob": "count",
    "value": "two",
    "changed_value": "three",
    "hypernym": "animal",
    "non_prototype": "axolotl",
    "prototype": "goldfish",
    "extra_element": "pebble",
    "text": "An animal is in a clear pool with exactly two pebbles.",
    "correct": "An axolotl is in a clear pool with exactly two pebbles.",
    "adversarial": "A goldfish is in a clear pool with exactly three pebbles.",
}
PERSON = ROW | {
    "domain": "demography",
    "hypernym": "person",
    "non_prototype": "Sikh person wearing a khanda pendant",
    "prototype": "Christian person wearing a cross pendant",
    "attribute": "rich",
    "disadvantaged": "Sikh",
    "advantaged": "Christian",
    "text": "A rich person is in a room with exactly two pebbles.",
    "correct": "A rich Sikh person wearing a khanda pendant is in a room with exactly two pebbles.",
    "adversarial": "A rich Christian person wearing a cross pendant is in a room with exactly "
    "three pebbles.",
}


def written(path, rows):
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return str(path)


@pytest.mark.parametrize("name", ["mine.csv", "mine.jsonl"])
def test_good_rows_are_taken_and_bad_ones_told_with_line_and_reason(tmp_path, name):
    rows = [
        ROW,
        PERSON,
        ROW | {"correct": ROW["text"]},
        ROW | {"knob": "counts"},
        ROW | {"changed_value": "six"},
        ROW | {"domain": "animal"},
        ROW,
        ROW | {"prototype": ""},
        ROW | {"prototype": "carp", "adversarial": ROW["adversarial"].replace("goldfish", "carp")},
    ]
    found = read_own_triplets(written(tmp_path / name, rows), "animals")
    first = 2 if name == "mine.csv" else 1
    assert [concept.prototype for concept, _ in found.triplets] == ["goldfish", "carp"]
    assert [place for place, _ in found.unusable_rows] == [
        f"line {first + number}" for number in range(2, 8)
    ]
    for (_, why), told in zip(found.unusable_rows, [
        "correct: correct has to read “An axolotl is",
        "`knob` is 'counts', did you mean count?",
        "have to differ",
        "`domain` is 'animal', did you mean animals?",
        f"the same triplet is on line {first}",
        "`prototype` is empty",
    ], strict=True):  # fmt: skip
        assert told in why
    for concept, triplet in found.triplets:
        assert is_own(concept.concept_id)
        assert triplet.text == ROW["text"]


def test_people_are_named_by_no_text_and_ids_are_never_those_of_sampled_ones(tmp_path):
    taxonomy = load_taxonomy(find_taxonomy_path())
    path = written(
        tmp_path / "mine.jsonl",
        [PERSON, PERSON | {"text": PERSON["text"].replace("room", "Sikh room")}, "{", "[]"],
    )
    found = read_own_triplets(path, "demography", ("Muslim", "Christian"))
    assert len(found.triplets) == 1
    assert "label" in found.unusable_rows[0][1]
    assert [place for place, _ in found.unusable_rows] == ["line 2", "line 3", "line 4"]
    for domain in DOMAINS:
        assert not any(is_own(each.concept_id) for each in sample_concepts(taxonomy, domain, 200))


def test_a_file_that_cannot_be_used_says_why(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("domain,knobs\n")
    with pytest.raises(UserFileError, match="no column 'knob', 'value', "):
        read_own_triplets(str(path), "animals")
    with pytest.raises(UserFileError, match="is not there"):
        read_own_triplets(str(tmp_path / "none.csv"), "animals")
    with pytest.raises(UserFileError, match=r"is no table\. Save it as one of \.csv, \.jsonl"):
        read_own_triplets(written(tmp_path / "mine.txt", [ROW]), "animals")


def test_templates_stand_for_the_papers_where_a_file_has_them(tmp_path):
    path = tmp_path / "prompts.yaml"
    path.write_text("animals: |\n  Write of a {hypernym} with {knob_description}.\n")
    concept = next(sample_concepts(load_taxonomy(find_taxonomy_path()), "animals", 1))
    told = write_triplet_prompt(concept, read_own_templates(str(path)))
    assert told.startswith(f"Write of a {concept.hypernym} with {concept.knob} of the ")
    assert write_triplet_prompt(concept).startswith(ANIMALS[:40])
    path.write_text("animals: Write of a {hypernim}.\nobject: x\n")
    with pytest.raises(UserFileError) as raised:
        read_own_templates(str(path))
    assert "line 1: {hypernim} is no field of animals, did you mean hypernym?" in str(raised.value)
    assert "line 2: object is no domain, did you mean objects?" in str(raised.value)


def test_the_documented_files_are_taken(tmp_path):
    text = Path("docs/protobias.md").read_text()
    for name, kind in (("mine.csv", "csv"), ("prompts.yaml", "yaml")):
        (block,) = re.findall(rf"`{name}`:\n\n```{kind}\n(.*?)```", text, re.DOTALL)
        (tmp_path / name).write_text(block)
    found = read_own_triplets(str(tmp_path / "mine.csv"), "animals")
    assert (len(found.triplets), found.unusable_rows) == (1, [])
    assert "objects" in read_own_templates(str(tmp_path / "prompts.yaml"))
