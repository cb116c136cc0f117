"""taxonomy.yaml: what it holds, and what is said of one that is wrong."""

from pathlib import Path

import pytest

from generators.prompts.sampling import sample_concepts
from generators.prompts.taxonomy import list_taxonomy_cells
from resources.user_files.taxonomy_file import TaxonomyError, find_taxonomy_path, load_taxonomy

SMALL = """\
animals:
  knobs: [count, color]
  scenes:
    shore: {source: ours, environments: [on a quiet beach, by a calm sea], elements: {rock: [gray, brown]}}
    wood: {source: ours, environments: [in a wood], elements: {log: [brown, gray], fern: [green, brown]}}
  groups:
    birds:
      hypernym: bird
      scenes: [shore]
      pairs:
        - {non_prototype: penguin, prototype: robin, source: paper, pairing: paper}
        - {non_prototype: kiwi, prototype: robin, source: paper, pairing: ours, scenes: [wood]}
demography:
  knobs: [count, color_tone]
  scenes:
    room: {source: ours, environments: [in a quiet room], elements: {book: [red, blue]}}
  groups:
    religion:
      hypernym: person
      scenes: [room]
      advantaged: {name: Christian, description: Christian person wearing a cross pendant, source: paper}
      disadvantaged:
        - {name: Muslim, description: Muslim person wearing a crescent pendant, source: paper}
  attributes:
    wealth:
      positive: [{word: rich, source: paper}]
      negative: [{word: poor, source: paper}]
objects:
  knobs: [scale_size]
  scenes:
    room: {source: ours, environments: [in a room], elements: {lamp: [white]}}
  groups:
    furniture:
      hypernym: piece of furniture
      scenes: [room]
      pairs: [{non_prototype: bean bag, prototype: chair, source: paper, pairing: paper}]
"""  # noqa: E501


@pytest.fixture(scope="module")
def taxonomy():
    return load_taxonomy(find_taxonomy_path())


def test_it_has_the_papers_cells(taxonomy):
    counted = {
        name: len(list_taxonomy_cells(taxonomy, name))
        for name in ("animals", "demography", "objects")
    }
    assert counted == {"animals": 20, "demography": 60, "objects": 18}
    groups = [group.pairs for group in taxonomy.animals.groups.values()]
    assert [len(pairs) for pairs in groups] == [8, 6, 6]
    assert [len(group.pairs) for group in taxonomy.objects.groups.values()] == [5, 5, 8]
    ours = [
        cell.concept for cell in list_taxonomy_cells(taxonomy, "objects") if cell.source == "ours"
    ]
    assert len(ours) == 7
    hypernyms = {cell.hypernym for cell in list_taxonomy_cells(taxonomy, "animals")}
    assert hypernyms == {"bird", "mammal", "animal"}
    hypernyms = {cell.hypernym for cell in list_taxonomy_cells(taxonomy, "objects")}
    assert hypernyms == {"piece of furniture", "vehicle", "tableware item"}


def test_the_pairs_that_the_paper_names_are_marked_so(taxonomy):
    paired = {
        (pair.non_prototype, pair.prototype)
        for domain in (taxonomy.animals, taxonomy.objects)
        for group in domain.groups.values()
        for pair in group.pairs
        if pair.pairing == "paper"
    }
    assert paired == {
        ("penguin", "robin"),
        ("platypus", "dog"),
        ("bean bag", "chair"),
        ("e-scooter", "motorcycle"),
        ("pair of chopsticks", "fork"),
    }


def test_a_negative_pole_turns_prototype_and_non_prototype_round(taxonomy):
    by_name = {cell.concept: cell for cell in list_taxonomy_cells(taxonomy, "demography")}
    rich, poor = (by_name[name] for name in (
        "Muslim / Christian, positive wealth", "Christian / Muslim, negative wealth"))  # fmt: skip
    assert (rich.non_prototype, rich.prototype) == (poor.prototype, poor.non_prototype)
    assert "rich" in rich.attributes
    assert "poor" in poor.attributes
    assert {(cell.disadvantaged, cell.advantaged) for cell in (rich, poor)} == {
        ("Muslim", "Christian")
    }


def test_groups_are_described_alike(taxonomy):
    for axis in taxonomy.demography.groups.values():
        for each in (axis.advantaged, *axis.disadvantaged):
            assert each.description.startswith(f"{each.name} person wearing a")
    assert {len(cell.attributes) for cell in list_taxonomy_cells(taxonomy, "demography")} == {3}


def test_there_are_a_hundred_thousand_instances_of_each_domain(taxonomy):
    for domain in ("animals", "demography", "objects"):
        sample_concepts(taxonomy, domain, 100_000)


def test_a_pair_that_is_added_is_sampled(tmp_path):
    added = "- {non_prototype: emu, prototype: robin, source: ours, pairing: ours}\n        - "
    path = tmp_path / "taxonomy.yaml"
    path.write_text(SMALL.replace("- ", added, 1))
    drawn = list(sample_concepts(load_taxonomy(path), "animals", 9))
    assert [concept.concept for concept in drawn].count("emu / robin") == 3


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("[count, color]", "[count, colour]", "`animals.knobs` is 'colour', did you mean"),
        ("[count, color]", "[count, count]", "`count` is listed twice: keep one"),
        ("prototype: chair, ", "", "prototype` is missing: name the familiar one"),
        ("prototype: chair", "prototype: Bean bag", "Bean bag is contrasted with itself"),
        ("kiwi", "Penguin", "`Penguin / robin` is listed twice: keep one"),
        ("pairing: ours", "pairing: us", "pairing` is 'us', did you mean ours?"),
        ("pairs: [{non", "pairs: []\n      x: [{non", "furniture.pairs` is empty: list pairs"),
        ("piece of furniture", "bean bag", "text has to say `bean bag` and may not say bean"),
        ("scenes: [wood]", "scenes: [woods]", "unknown scene woods: choose from shore, wood"),
        ("rock: [gray, brown]", "rock: [gray]", "`rock` needs two colours that"),
        ("rock: [gray, brown]", "rock: [gray, grey]", "unknown colour grey: choose from black"),
        ("rock: [gray, brown]", "red rock: [gray, brown]", "`red rock` says red, which is a"),
        ("on a quiet beach", "across a beach", "has to begin with one of at, beside"),
        ("on a quiet beach", "near some rocks", "has rocks already: choose anot"),
        ("rock: [gray, brown]", "rock: [gray, white]", "two colours that can be told apart"),
        ("gray, brown]}}", "gray, brown]}, most: {log: 2}}", "unknown element log: choose from"),
        ("gray, brown]}}", "gray, brown]}, most: {rock: 9}}", "may be 1 to 6 of rock, not 9"),
        ("gray, brown]}}", "gray, brown]}, sized: [log]}", "unknown element log: choose from"),
        ("gray, brown]}}", "gray, brown]}, habitat: sea}", "habitat` is 'sea'. Choose from land"),
        ("gray, brown]}}", "gray, brown]}, habitat: land}", "`on a quiet beach` is shore, and"),
        ("pairing: paper}", "pairing: paper, habitats: [snow]}", "and robin can be in snow"),
        ("by a calm sea", "On a quiet beach", "`On a quiet beach` is listed twice: keep one"),
        ("on a quiet beach", "near some penguins", "says penguins, which stands for the main"),
        ("in a wood", "near a bird bath", "says bird, which stands for the main thing in kiwi"),
        ("furniture:\n      hypernym:", f"furniture:\n      hypernym:{' very' * 20}", "57 words"),
        ("word: poor", "word: rich", "`rich` is listed twice, first in wealth, positive"),
        ("name: Muslim", "name: christian", "listed twice, first in religion: keep one"),
        ("Muslim person", "Muslim man", "has to have the word person in it"),
        ("a crescent", "one crescent", "says one, which is a knob's to tell"),
        ("word: rich", "word: ' rich'", "is ' rich': write words with one space between"),
        ("on a quiet beach", "on a beach near St. Ives", "words with one space between them and"),
        ("by a calm sea", "by a sea or lake", "`by a sea or lake` says or, which leaves open"),
        ("word: rich", "word: no", "`no` may be a switch or a word"),
        ("objects:", "object:", "`object` is no field, did you mean objects?"),
        (SMALL, "- a", "not a mapping: begin with `animals:`, `demography:`, `objects:`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, text):
    path = tmp_path / "taxonomy.yaml"
    line = SMALL[: SMALL.index(old)].count("\n") + 1
    path.write_text(SMALL.replace(old, new, 1))
    with pytest.raises(TaxonomyError) as error:
        load_taxonomy(path)
    told = [each for each in str(error.value).splitlines() if text in each]
    assert told, error.value
    assert told[0].startswith(f"  {path}, line {line}: ")


@pytest.mark.parametrize("new", ["word: no", "word: ''", "word: [rich]"])
def test_what_is_wrong_is_told_once(tmp_path, new):
    path = tmp_path / "taxonomy.yaml"
    path.write_text(SMALL.replace("word: rich", new))
    with pytest.raises(TaxonomyError, match="has one error"):
        load_taxonomy(path)


def test_where_there_is_none_the_way_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_TAXONOMY", str(tmp_path / "mine.yaml"))
    with pytest.raises(TaxonomyError, match=r"mine\.yaml is not there.*COUNTERFACTORY_TAXONOMY"):
        load_taxonomy(find_taxonomy_path())
    monkeypatch.delenv("COUNTERFACTORY_TAXONOMY")
    assert find_taxonomy_path() == Path("taxonomy.yaml").resolve()
