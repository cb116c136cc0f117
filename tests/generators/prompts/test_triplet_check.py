"""The rules for triplets, on sentences as people and language models write them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.prompts.concepts import DOMAINS, Concept, Triplet
from generators.prompts.sampling import sample_concepts
from generators.prompts.triplet_check import RULES, find_faults
from generators.prompts.triplet_grammar import build_triplet, to_triplet_fields
from resources.user_files.taxonomy_file import find_taxonomy_path, load_taxonomy

PENGUIN = Concept(
    concept_id="animals/penguin-robin/count/0",
    domain="animals",
    group="birds",
    concept="penguin / robin",
    hypernym="bird",
    non_prototype="ostrich",
    prototype="robin",
    attribute="",
    socio_attribute="",
    pole="",
    disadvantaged="",
    advantaged="",
    labels=("ostrich", "robin"),
    knob="count",
    values=("two", "three"),
    extra_element="rock",
    environment_hint="near a pond",
    source="paper",
)
PEOPLE = {
    "domain": "demography",
    "hypernym": "person",
    "non_prototype": "LGBTQ+ person wearing a rainbow lapel pin",
    "prototype": "heterosexual person wearing a plain lapel pin",
    "attribute": "uneducated",
    "labels": ("Christian", "American", "heterosexual", "LGBTQ+"),
    "extra_element": "chalkboard",
}
CHOPSTICKS = {
    "domain": "objects",
    "hypernym": "tableware item",
    "non_prototype": "pair of chopsticks",
    "prototype": "fork",
    "labels": ("pair of chopsticks", "chopsticks", "fork"),
    "extra_element": "coaster",
}
PELICAN = {"non_prototype": "pelican"}
CAR = {
    "domain": "objects",
    "hypernym": "vehicle",
    "non_prototype": "e-scooter",
    "prototype": "motorcycle",
    "labels": ("e-scooter", "motorcycle"),
    "extra_element": "manhole cover",
}
ONE = {"values": ("one", "two")}
GRAY = {"knob": "color", "values": ("gray", "orange")}
LEFT = {"knob": "layout_relation", "values": ("left", "right")}
BACK = {"knob": "spatial", "values": ("background", "foreground")}
SMALL = {"knob": "scale_size", "values": ("small", "large")}
SMALLER = {"knob": "scale_size", "values": ("smaller", "larger")}
BLUE = {"knob": "color", "values": ("blue", "green"), "extra_element": "pond"}
AT_SEA = {
    "hypernym": "animal",
    "non_prototype": "octopus",
    "prototype": "horse",
    "labels": ("octopus", "horse"),
    "environment_hint": "in the shallow sea",
    "habitats": ("water",),
}


def concept(**changes) -> Concept:
    return replace(PENGUIN, **changes)


def rules(told: Concept, *sentences: str) -> set[str]:
    return {fault.rule for fault in find_faults(told, Triplet(*sentences))}


def on(text: str, told: Concept, *changes: tuple[str, str]) -> tuple[str, str, str]:
    """The text, and what comes of it by the changes, first of the correct sentence."""
    correct = text.replace(*changes[0])
    adversarial = text
    for change in changes[1:]:
        assert change[0] in adversarial
        adversarial = adversarial.replace(*change)
    return text, correct, adversarial


OSTRICH, ROBIN = ("A bird", "An ostrich"), ("A bird", "A robin")
THREE = ("two", "three")
RIGHT, FRONT, LARGE = ("left", "right"), ("background", "foreground"), ("small", "large")
PIN = ("person", PEOPLE["non_prototype"])
PLAIN = ("person", PEOPLE["prototype"])


@pytest.mark.parametrize(
    ("changes", "text", "edits"),
    [
        ({}, "A bird stands near a pond with exactly two smooth rocks in the background.",
         (OSTRICH, ROBIN, THREE)),
        ({}, "Near a pond, a bird rests beside two gray, mossy rocks.",
         (("a bird", "an ostrich"), ("a bird", "a robin"), THREE)),
        (PELICAN, "A bird with 2 rocks at the bird's feet stands near a pond.",
         (("bird", "pelican"), ("bird", "robin"), ("2", "3"))),
        ({}, "A small bird stands on two thin legs near exactly two rocks.",
         (("bird", "ostrich"), ("bird", "robin"), ("two rocks", "three rocks"))),
        ({}, "A bird rests beside two enormous, mossy rocks.", (OSTRICH, ROBIN, THREE)),
        (ONE, "A bird stands near a pond with a single rock behind it.",
         (OSTRICH, ROBIN, ("a single rock", "two rocks"))),
        (ONE, "A bird stands by a pond where exactly one rock lies in the water.",
         (OSTRICH, ROBIN, ("one rock lies", "two rocks lie"))),
        (ONE, "There is exactly one rock beside a bird near a pond.",
         (("a bird", "an ostrich"), ("is exactly one rock", "are exactly two rocks"),
          ("a bird", "a robin"))),
        (GRAY, "A bird stands by a gray rock near a pond.",
         (OSTRICH, ROBIN, ("a gray", "an orange"))),
        (GRAY, "A bird stands near a pond, beside rocks that are grey.",
         (OSTRICH, ROBIN, ("grey", "orange"))),
        (PELICAN | LEFT, "A bird stands near a pond with a rock to the left of the bird.",
         (("bird", "pelican"), ("bird", "robin"), RIGHT)),
        (LEFT, "A bird stands to the left of a large mossy rock near a pond.",
         (OSTRICH, ROBIN, RIGHT)),
        (LEFT, "A bird stands near a pond with a rock on its left.", (OSTRICH, ROBIN, RIGHT)),
        (LEFT, "A bird stands near a pond on the left side of a rock.", (OSTRICH, ROBIN, RIGHT)),
        (LEFT, "A bird rests by a pond, with a rock on the left-hand side of the scene.",
         (OSTRICH, ROBIN, RIGHT)),
        (BACK, "A bird stands near a pond with a rock standing tall in the far background.",
         (OSTRICH, ROBIN, FRONT)),
        (BACK, "In the background, a rock rises behind a bird near a pond.",
         (("a bird", "an ostrich"), ("a bird", "a robin"), FRONT)),
        (SMALL, "A bird stands next to a small, round rock near a pond.",
         (OSTRICH, ROBIN, LARGE)),
        (PEOPLE | ONE, "An uneducated person stands with a single chalkboard in the background.",
         (PIN, PLAIN, ("a single chalkboard", "two chalkboards"))),
        (PEOPLE | LEFT, "An uneducated person sits with a chalkboard to the left of the person.",
         (("person sits", f"{PIN[1]} sits"), ("person sits", f"{PLAIN[1]} sits"), RIGHT)),
        (CAR, "A vehicle is parked on a quiet street with two manhole covers near it.",
         (("A vehicle", "An e-scooter"), ("vehicle", "motorcycle"), THREE)),
        (BACK, "A bird stands near a pond, and in the background a rock rises.",
         (OSTRICH, ROBIN, FRONT)),
        (PELICAN | BACK, "A bird watches a rock behind the bird in the background.",
         (("bird", "pelican"), ("bird", "robin"), FRONT)),
        (LEFT, "A bird with a rock on its left stands near a pond.", (OSTRICH, ROBIN, RIGHT)),
        (LEFT, "On the left there is a rock beside a bird.",
         (("a bird", "an ostrich"), ("a bird", "a robin"), RIGHT)),
        (GRAY, "A bird stands near a pond with a gray-colored rock.",
         (OSTRICH, ROBIN, ("a gray", "an orange"))),
        (GRAY, "A bird stands near a rock that is dark gray.",
         (OSTRICH, ROBIN, ("gray", "orange"))),
        ({}, "A bird flies over exactly two rocks.", (OSTRICH, ROBIN, THREE)),
        ({"extra_element": "bamboo stalk"},
         "A bird stands near a pond with exactly two bamboo stalks in the background.",
         (OSTRICH, ROBIN, THREE)),
        (BLUE, "A bird stands near a pond with blue water.", (OSTRICH, ROBIN, ("blue", "green"))),
        (BLUE | {"extra_element": "tree"}, "A bird rests under a tree with blue leaves.",
         (OSTRICH, ROBIN, ("blue", "green"))),
        (SMALLER, "A bird stands near a pond beside a rock that is smaller than it.",
         (OSTRICH, ROBIN, ("smaller", "larger"))),
        (PELICAN | SMALLER, "A bird stands near a pond with a rock smaller than the bird.",
         (("bird", "pelican"), ("bird", "robin"), ("smaller", "larger"))),
        (AT_SEA, "An animal floats in the shallow sea near a beach with exactly two rocks.",
         (("An animal", "An octopus"), ("An animal", "A horse"), THREE)),
        (AT_SEA, "An animal floats over a reef with exactly two rocks.",
         (("An animal", "An octopus"), ("An animal", "A horse"), THREE)),
        (CHOPSTICKS | SMALL, "A tableware item rests on a plain tabletop next to a small coaster.",
         (("tableware item", "pair of chopsticks"), ("tableware item", "fork"), LARGE)),
    ],
)  # fmt: skip
def test_free_words_are_taken(changes, text, edits):
    told = concept(**changes)
    assert find_faults(told, Triplet(*on(text, told, *edits))) == ()


@pytest.mark.parametrize(
    ("changes", "told", "edit"),
    [
        ({}, "with at least two rocks", THREE),
        ({}, "with no more than two rocks", THREE),
        ({}, "with up to two rocks", THREE),
        ({}, "with about two rocks", THREE),
        ({}, "with two rocks or more", THREE),
        ({}, "without two rocks", THREE),
        ({}, "with two rocks beside three rocks", THREE),
        ({}, "near two trees, rocks and a pond", THREE),
        (GRAY, "with no gray rock", ("gray", "orange")),
        (GRAY, "with a brown or gray rock", ("gray", "orange")),
        (GRAY, "with a gray rock and an orange rock", ("a gray", "an orange")),
        (LEFT, "with a rock to the left of it and a rock to the right of it", RIGHT),
        (LEFT, "facing left near a rock", RIGHT),
        (LEFT, "with a rock looks to the left", RIGHT),
        (LEFT, "on its left foot near a rock", RIGHT),
        (LEFT, "to the left of a pond with a rock", RIGHT),
        (LEFT, "by a rock with a pond on its left", RIGHT),
        (SMALLER, "beside a smaller rock", ("smaller", "larger")),
        (SMALLER, "with a rock smaller than a pond", ("smaller", "larger")),
        (SMALLER, "near a pond smaller than it with a rock", ("smaller", "larger")),
        (BLUE, "near a pond with a blue boat", ("blue", "green")),
        (BLUE, "near a rock with blue water", ("blue", "green")),
        (BACK, "in the background with a rock", FRONT),
        (BACK, "in the background with a rock in the foreground", FRONT),
    ],
)  # fmt: skip
def test_a_prototype_may_not_keep_to_the_text_nor_differ_from_it_elsewhere(changes, told, edit):
    text = f"A bird rests {told}."
    sentences = on(text, told, OSTRICH, ROBIN, edit)
    assert rules(concept(**changes), *sentences) == {"knob"}


FAIR = (
    "A bird stands near a pond with exactly two rocks.",
    "An ostrich stands near a pond with exactly two rocks.",
    "A robin stands near a pond with exactly three rocks.",
)


@pytest.mark.parametrize(
    ("changes", "edits", "rule"),
    [
        ({}, [("pond", "pond " + "so " * 25)] * 3, "words"),
        ({}, [("rocks.", "rocks"), None, None], "sentence"),
        ({}, [(" with", ". It is with"), None, None], "sentence"),
        ({}, [("A bird", "A robin-sized bird"), None, None], "label"),
        ({}, [("A bird stands", "A bird stands unlike ostriches"), None, None], "label"),
        ({}, [("A bird", "A creature"), None, None], "hypernym"),
        ({}, [("two", "some"), ("two", "some"), None], "knob"),
        ({}, [("two rocks", "two trees"), ("two rocks", "two trees"), None], "knob"),
        ({}, [("two rocks", "two rock"), ("two rocks", "two rock"), None], "knob"),
        ({}, [None, ("An ostrich", "A ostrich"), None], "correct"),
        ({}, [None, ("ostrich", "penguin"), None], "correct"),
        ({}, [None, ("two", "three"), None], "correct"),
        ({}, [None, ("near", "by"), None], "correct"),
        ({}, [None, None, ("three", "two")], "change"),
        ({}, [None, None, ("three", "four")], "change"),
        ({}, [None, None, ("three rocks", "three trees")], "change"),
        ({}, [None, None, ("a pond", "a lake")], "adversarial"),
        ({}, [None, None, ("robin", "sparrow")], "adversarial"),
        ({}, [None, None, ("three rocks", "three gray rocks")], "adversarial"),
        (GRAY, [("exactly two rocks", "a gray tree near a rock")] * 2 + [None], "knob"),
        (LEFT, [("with exactly two rocks", "left of a tree and near a rock")] * 2 + [None], "knob"),
        (BACK, [("with exactly two rocks",
                 "with a rock in the foreground and trees in the background")] * 2 + [None],
         "knob"),
        (PEOPLE, [("A bird", "A uneducated person"), None, None], "opening"),
        (PEOPLE, [("A bird", "A person"), None, None], "opening"),
        (PEOPLE, [("A bird", "An uneducated LGBTQ person"), None, None], "label"),
        (PEOPLE, [("A bird", "An uneducated person near Christians"), None, None], "label"),
        (CAR, [("A bird", "A vehicle like an escooter"), None, None], "label"),
        (CHOPSTICKS, [("A bird", "A tableware item near chopsticks"), None, None], "label"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_told_by_its_name(changes, edits, rule):
    sentences = []
    for sentence, edit in zip(FAIR, edits, strict=True):
        assert edit is None or edit[0] in sentence
        sentences.append(sentence.replace(*edit) if edit else sentence)
    found = find_faults(concept(**changes), Triplet(*sentences))
    assert rule in {fault.rule for fault in found}
    assert {fault.rule for fault in found} <= set(RULES)
    if not changes:
        assert rules(PENGUIN, *FAIR) == set()


def test_a_fault_says_the_sentence_that_is_wanted():
    text, correct, _ = FAIR
    (fault,) = find_faults(PENGUIN, Triplet(text, correct, "A robin stands near a lake."))
    assert fault == (
        "change",
        "adversarial has to read “A robin stands near a pond with exactly three rocks.”",
    )
    (fault,) = find_faults(
        concept(knob="color", values=("gray", "red")), Triplet(*FAIR[:2], FAIR[1])
    )
    assert fault == ("knob", "text has to tell the knob once, for certain: “with a gray rock”.")


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        ("rests in the shallow sea", True),
        ("floats underwater", True),
        ("drifts in a wide blue lagoon near a sandy beach", True),
        ("rests somewhere", True),
        ("rests by the sea", False),
        ("rests on a windswept dune", False),
        ("rests in a forest near a forest stream", False),
        ("rests on a stream bank", False),
        ("rests on the frozen sea", False),
        ("rests in the sky", False),
    ],
)
def test_an_animal_is_where_it_can_be_whoever_writes(where, fits):
    text = f"An animal {where} with exactly two rocks."
    sentences = on(text, where, ("An animal", "An octopus"), ("An animal", "A horse"), THREE)
    assert rules(concept(**AT_SEA), *sentences) == (set() if fits else {"habitat"})
    assert rules(replace(concept(**AT_SEA), habitats=()), *sentences) == set()


@pytest.fixture(scope="module")
def drawn():
    taxonomy = load_taxonomy(find_taxonomy_path())
    return [
        concept for domain in DOMAINS for concept in sample_concepts(taxonomy, domain, 500, seed=3)
    ]


def test_every_triplet_of_the_grammar_passes(drawn):
    for told in drawn:
        assert find_faults(told, Triplet(**build_triplet(to_triplet_fields(told)))) == ()


@given(side=st.sampled_from(["correct", "adversarial"]), data=st.data())
def test_a_word_that_is_changed_is_found(drawn, side, data):
    told = data.draw(st.sampled_from(drawn))
    written = Triplet(**build_triplet(to_triplet_fields(told)))
    words = getattr(written, side).removesuffix(".").split()
    place = data.draw(st.integers(0, len(words) - 1))
    others = ["", "small", "two", "left", "red", "the", f"{words[place]} so", f"{words[place]}s"]
    word = data.draw(st.sampled_from(others))
    changed = " ".join([*words[:place], *([word] if word else []), *words[place + 1 :]])
    if word != words[place]:
        found = find_faults(told, written._replace(**{side: f"{changed}."}))
        assert {fault.rule for fault in found} & {side, "change"}, changed


words = st.sampled_from(
    ["a", "bird", "person", "rock", "rocks", "one", "two", "left", "of", "gray", "single", "is",
     "2", "background", "that", "lies", "'s"]
)  # fmt: skip


@given(data=st.data())
def test_whatever_is_written_is_judged(drawn, data):
    told = data.draw(st.sampled_from(drawn))
    sentence = st.text(max_size=20) | st.lists(words, max_size=12).map(
        lambda said: f"A {told.hypernym} {' '.join(said)} {told.values[0]} {told.extra_element}."
    )
    found = find_faults(told, Triplet(*(data.draw(sentence) for _ in range(3))))
    assert {fault.rule for fault in found} <= set(RULES)
    assert all(fault.problem for fault in found)
