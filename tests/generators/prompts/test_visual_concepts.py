"""FRAME's concepts and instructions: the paper's lists, samples of them, and sentences of them."""

from collections import Counter
from itertools import product

import pytest

from generators.prompts.instructions import (
    find_instruction_problems,
    tidy_reply,
    write_change_prompt,
    write_instruction,
    write_instruction_prompt,
)
from generators.prompts.visual_concepts import (
    DOMAINS,
    NotEnoughItems,
    build_item_id,
    change_concepts,
    find_keyword,
    has_objects,
    is_feasible,
    list_values,
    load_lists,
    sample_items,
)

TABLE_8 = {
    "people": {"object": 12, "number": 5, "color": 10, "background": 6, "action": 8},
    "animals": {"object": 11, "number": 5, "background": 5, "action": 7},
    "illustration": {"art style": 6, "object": 13, "number": 5, "background": 7},
    "indoor": {"space type": 8, "object": 8, "color": 10, "number": 3, "angle": 3},
    "outdoor": {"terrain": 9, "time of day": 4, "climate": 3, "season": 4},
}
"""How many values the paper has of each attribute, counted by hand."""
EXAMPLE = {
    "object": "Flamingo",
    "number": "three",
    "background": "Meadow",
    "action": "drinking from a watering hole",
}
"""The paper's own (§4.1)."""


def test_the_lists_are_the_papers_and_ours_where_its_own_end_in_etc():
    found = {d: {name: len(by["paper"]) for name, by in load_lists(d).items()} for d in DOMAINS}
    assert found == TABLE_8
    extended = {(d, name) for d in DOMAINS for name, by in load_lists(d).items() if "ours" in by}
    assert extended == {("animals", "object"), ("people", "background")}
    for domain in DOMAINS:
        assert all(len(set(each)) == len(each) for each in list_values(domain).values())
    assert [domain for domain in DOMAINS if not has_objects(domain)] == ["outdoor"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_smaller_sample_is_the_beginning_of_a_larger_one(domain):
    larger = sample_items(domain, 120, seed=1).items
    assert sample_items(domain, 20, seed=1).items == larger[:20]
    assert len({build_item_id(domain, each) for each in larger}) == 120
    assert sample_items(domain, 20, seed=2).items != larger[:20]
    assert all(map(is_feasible, larger))


def test_what_no_picture_can_show_is_drawn_again_and_counted():
    every = 9 * 4 * 3 * 4
    drawn = sample_items("outdoor", every - 9 * 4, seed=0)
    assert 0 < drawn.infeasible_count <= 9 * 4
    with pytest.raises(NotEnoughItems, match="397 items are asked for, and its concepts have 396"):
        sample_items("outdoor", every - 9 * 4 + 1, seed=0)


def test_items_are_drawn_evenly():
    numbers = Counter(each["number"] for each in sample_items("animals", 3000, 0).items)
    assert max(numbers.values()) - min(numbers.values()) < 100


@pytest.mark.parametrize("domain", DOMAINS)
def test_so_many_concepts_are_changed_each_to_another_value(domain):
    for item in sample_items(domain, 20, 0).items:
        for number in range(len(item) + 1):
            new = change_concepts(domain, item, number, 0)
            assert len(new) == number
            assert all(new[name] != item[name] for name in new)
            assert is_feasible({**item, **new})


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_written_by_rule_names_every_concept_and_none_that_was_changed(domain):
    every = list(product(*list_values(domain).values()))
    for each in every[:: max(1, len(every) // 500)]:
        concepts = dict(zip(list_values(domain), each, strict=True))
        assert find_instruction_problems(write_instruction(domain, concepts), concepts) == []
    for item in sample_items(domain, 30, 0).items:
        new = change_concepts(domain, item, len(item) // 2, 0)
        sentence = write_instruction(domain, {**item, **new})
        assert (
            find_instruction_problems(sentence, {**item, **new}, {name: item[name] for name in new})
            == []
        )
        assert find_instruction_problems(sentence, item) != []
        assert (
            find_instruction_problems(write_instruction(domain, item), {**item, **new}, item) != []
        )


def test_the_papers_example_is_written_as_it_is_there():
    said = "Generate an image of three flamingos drinking from a watering hole in a meadow."
    assert write_instruction("animals", EXAMPLE) == said
    assert find_keyword(EXAMPLE) == "Flamingo"
    assert "flamingo-" in build_item_id("animals", EXAMPLE)


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("Generate 3 flamingos that drink from the watering holes of meadows.", None),
        ("Generate three pelicans drinking from a watering hole in a meadow.", "object, Flamingo"),
        ("Generate flamingos drinking from a watering hole in a meadow.", "number, three"),
        ("Generate three flamingos napping in a meadow.", "drinking from a watering hole"),
        ("Generate three dead flamingos drinking from a watering hole in a meadow.", "dead"),
        ("Three flamingos drinking from a watering hole in a meadow" + " very" * 60, "words"),
    ],
)
def test_an_instruction_is_checked_by_rule(sentence, problem):
    found = find_instruction_problems(sentence, EXAMPLE)
    assert found == [] if problem is None else problem in " ".join(found)


def test_a_writer_is_told_the_concepts_and_what_is_to_be_replaced():
    assert "- action: drinking from a watering hole" in write_instruction_prompt("animals", EXAMPLE)
    asked = write_change_prompt("Generate it.", EXAMPLE, {"object": "Dog"})
    assert "- object: Flamingo → Dog" in asked
    assert "watering hole" not in asked
    assert tidy_reply(' "Generate\n it." ') == "Generate it."
