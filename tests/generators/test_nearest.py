"""The nearest of some names is one that a person would have meant."""

import pytest

from generators.name_suggestions import find_similar, suggest_names

PARTITIONS = ["flux_schnell|animals", "flux_schnell|logos", "sketch|animals", "sketch|logos"]


@pytest.mark.parametrize(
    ("name", "choices", "meant"),
    [
        ("flux_schnel|animals", PARTITIONS, "flux_schnell|animals"),
        ("flux_schnell|animal", PARTITIONS, "flux_schnell|animals"),
        ("flux_schnel", PARTITIONS, "flux_schnell|animals"),
        ("Sketch|Logo", PARTITIONS, "sketch|logos"),
        ("protobias__concept", ["protobias__concepts", "vlmbias__report"], "protobias__concepts"),
        ("opena", ["openai_compatible", "openai", "gemini"], "openai"),
    ],
)
def test_it_is_the_one_that_is_most_alike(name, choices, meant):
    assert find_similar(name, choices) == [meant]


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("flux_schnel|animals", ["sketch|animals", "gpt_image|animals"]),
        ("vlmbias__answers__gpt_4_1", ["vlmbias__answers__prior", "vlmbias__answers__pixels"]),
        ("nobody", []),
    ],
)
def test_what_they_all_share_makes_none_of_them_near(name, choices):
    assert find_similar(name, choices) == []
    told = f". Choose from {', '.join(choices)}" if choices else "; there are none to choose from"
    assert suggest_names(name, choices) == told


def test_of_many_names_the_most_similar_are_told():
    names = [f"frame/scores_{number:02}" for number in range(40)] + ["vlmbias/accuracy"]
    told = suggest_names("vlmbias/acuracy", names)
    assert told.startswith(", did you mean vlmbias/accuracy? Choose from ")
    assert told.endswith("vlmbias/accuracy and 35 others")
