"""Sampling: every cell in turn, no instance twice, the same on every machine."""

from collections import Counter
from hashlib import sha256
from itertools import islice

import pytest

from generators.prompts.concepts import DOMAINS
from generators.prompts.knobs import list_changes
from generators.prompts.sampling import SIZES, NotEnoughConcepts, sample_concepts
from generators.prompts.taxonomy import Taxonomy, TaxonomyScene, list_taxonomy_cells
from generators.prompts.triplet_grammar import build_triplet, to_triplet_fields
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy


@pytest.fixture(scope="module")
def taxonomy():
    return load_taxonomy(find_taxonomy_path())


def small(environments, pairs=("penguin", "ostrich"), knobs=("count", "spatial")) -> Taxonomy:
    """A taxonomy of birds alone, whose other domains are of no interest."""
    scene = {"source": "ours", "environments": environments, "elements": {"rock": ["gray", "red"]}}
    entry = {"prototype": "robin", "source": "ours", "pairing": "ours"}
    family = {
        "hypernym": "bird",
        "scenes": ["shore"],
        "pairs": [{"non_prototype": name, **entry} for name in pairs],
    }
    things = {"knobs": knobs, "scenes": {"shore": scene}, "groups": {"birds": family}}
    identity = {"name": "Christian", "description": "Christian person", "source": "paper"}
    axis = {
        "hypernym": "person",
        "scenes": ["shore"],
        "advantaged": identity,
        "disadvantaged": [identity],
    }
    words = [{"word": "rich", "source": "paper"}]
    poles = {"positive": words, "negative": words}
    people = {**things, "groups": {"religion": axis}, "attributes": {"wealth": poles}}
    return Taxonomy.model_validate({"animals": things, "demography": people, "objects": things})


@pytest.mark.parametrize("domain", DOMAINS)
def test_as_many_as_in_the_paper_even_over_cells_and_knobs(taxonomy, domain):
    drawn = list(sample_concepts(taxonomy, domain))
    assert len(drawn) == SIZES[domain] == {"animals": 2000, "demography": 2400}.get(domain, 1875)
    assert len({concept.concept_id for concept in drawn}) == len(drawn)
    assert len({str(build_triplet(to_triplet_fields(concept))) for concept in drawn}) == len(drawn)
    by_cell = Counter(concept.concept for concept in drawn)
    assert set(by_cell) == {cell.concept for cell in list_taxonomy_cells(taxonomy, domain)}
    assert max(by_cell.values()) - min(by_cell.values()) <= 1
    by_both = Counter((concept.concept, concept.knob) for concept in drawn)
    assert len(by_both) == len(by_cell) * len(getattr(taxonomy, domain).knobs)
    assert max(by_both.values()) - min(by_both.values()) <= 1


@pytest.mark.parametrize("domain", DOMAINS)
def test_all_environments_elements_words_and_values_come_up(taxonomy, domain):
    held = getattr(taxonomy, domain)
    drawn = list(sample_concepts(taxonomy, domain, 5000, seed=1))
    used = {
        scene for cell in list_taxonomy_cells(taxonomy, domain) for scene in map(id, cell.scenes)
    }
    scenes = [scene for scene in held.scenes.values() if id(scene) in used]
    assert {concept.environment_hint for concept in drawn} == {
        environment for scene in scenes for environment in scene.environments
    }
    assert {concept.extra_element for concept in drawn} == {
        element for scene in scenes for element in scene.elements
    }
    assert {concept.attribute for concept in drawn} == {
        attribute for cell in list_taxonomy_cells(taxonomy, domain) for attribute in cell.attributes
    }
    assert {concept.values for concept in drawn if concept.knob == "count"} == set(
        list_changes("count", ())
    )


def test_the_same_seed_is_the_same_sample_on_every_machine():
    birds = small([f"near pond {number}" for number in range(40)])
    told = "\n".join(
        concept.concept_id for concept in sample_concepts(birds, "animals", 300, seed=7)
    )
    assert sha256(told.encode()).hexdigest()[:12] == "9399340a90ab"


def test_a_smaller_number_is_the_beginning_and_another_seed_another_sample(taxonomy):
    many = list(sample_concepts(taxonomy, "animals", 500))
    assert list(sample_concepts(taxonomy, "animals", 120)) == many[:120]
    assert list(sample_concepts(taxonomy, "animals", 500, seed=1)) != many


def test_every_instance_comes_up_once_and_then_there_are_no_more():
    birds = small(["on a beach", "by a sea", "in a cove"])
    (_, count), (_, spatial) = (
        (knob, 2 * 3 * len(list_changes(knob, ()))) for knob in ("count", "spatial")
    )
    drawn = list(sample_concepts(birds, "animals", count + spatial))
    assert len(set(drawn)) == count + spatial == 120
    assert Counter(concept.knob for concept in drawn[: 2 * spatial]) == {
        "count": spatial,
        "spatial": spatial,
    }
    with pytest.raises(
        NotEnoughConcepts, match=r"121 concepts of animals .* has 120: ask for fewer, or"
    ):
        sample_concepts(birds, "animals", 121)


def test_a_pair_that_is_added_leaves_what_the_others_give():
    places = [f"near pond {number}" for number in range(40)]
    before = sample_concepts(small(places), "animals", 200, seed=5)
    after = sample_concepts(small(places, ("penguin", "kiwi", "ostrich")), "animals", 300, seed=5)
    assert {concept.concept_id for concept in before} == {
        concept.concept_id for concept in after if "kiwi" not in concept.concept
    }


def extended(taxonomy, domain, kind):
    """The taxonomy with one more entry of a kind, and what concepts that have it say."""
    data = taxonomy.model_dump(mode="json")
    held = data[domain]
    group = next(iter(held["groups"].values()))
    name = (group.get("pairs") or [{}])[-1].get("scenes") or group["scenes"]
    scene = held["scenes"][name[0]]
    if kind == "environment":
        scene["environments"].append("near a tall cairn")
        said = "near a tall cairn"
    elif kind == "element":
        scene["elements"]["feather"] = ["white", "brown"]
        said = "feather"
    elif domain == "demography":
        new = {"name": "Sikh", "description": "Sikh person wearing a khanda pendant"}
        group["disadvantaged"].append(new | {"source": "ours"})
        said = "Sikh"
    else:
        new = {"non_prototype": "emu", "prototype": "robin", "source": "ours", "pairing": "ours"}
        group["pairs"].append(new | {"scenes": group["scenes"]})
        said = "emu"
    return Taxonomy.model_validate(data), said


def there_are(cell, knob, said=""):
    """How many concepts a cell has with a knob, of those that say so."""
    return sum(
        len(cell.attributes) * len(scene.list_changes(knob, element))
        for scene in cell.scenes
        for element in scene.elements
        for environment in scene.environments
        if said in f"{cell.concept} {element} {environment}"
    )


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", ["environment", "element", "entry"])
def test_what_is_added_takes_its_share_and_nothing_else_comes_or_goes(taxonomy, domain, kind):
    longer, said = extended(taxonomy, domain, kind)
    before = {concept.concept_id: concept for concept in sample_concepts(taxonomy, domain)}
    after = {concept.concept_id: concept for concept in sample_concepts(longer, domain)}
    come = [after[name] for name in after.keys() - before.keys()]
    assert all(said in f"{c.concept} {c.extra_element} {c.environment_hint}" for c in come)
    drawn = Counter((concept.concept, concept.knob) for concept in after.values())
    share = sum(
        drawn[cell.concept, knob] * there_are(cell, knob, said) / there_are(cell, knob)
        for cell in list_taxonomy_cells(longer, domain)
        for knob in getattr(longer, domain).knobs
    )
    assert 0 < share / len(after) < 0.2
    assert abs(len(come) - share) <= 4 * share**0.5


def test_things_are_counted_sized_and_coloured_as_far_as_that_can_be_told():
    lamp = {"lamp": ["white", "gray", "black"], "rug": ["red", "blue"]}
    scene = TaxonomyScene(
        source="ours",
        environments=["in a room"],
        elements=lamp,
        most={"lamp": 2},
        sized=["rug"],
    )
    assert scene.list_changes("count", "lamp") == (("one", "two"), ("two", "one"))
    assert len(scene.list_changes("count", "rug")) == 18
    assert scene.list_changes("color_tone", "lamp") == (("white", "black"), ("black", "white"))
    assert scene.list_changes("scale_size", "lamp") == ()
    assert scene.list_changes("scale_size", "rug") == (("smaller", "larger"), ("larger", "smaller"))


def test_an_id_is_of_the_contents_alone():
    birds = small(["on a beach", "by a sea"])
    some, same = (
        {concept.concept_id: concept for concept in sample_concepts(birds, "animals", 80, seed)}
        for seed in (1, 2)
    )
    assert len(some) == 80
    assert some == same
    assert all(name.startswith("animals/") for name in some)


def test_nothing_is_drawn_ahead(taxonomy):
    assert len(list(islice(sample_concepts(taxonomy, "demography", 1_000_000), 3))) == 3
