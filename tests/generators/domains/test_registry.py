"""The registry of domains, and that it holds the benchmark's counts."""

from collections import Counter

import pytest

from generators.domains import UnknownDomain, load_domain, load_domains

VLMBIAS = {
    "chess_pieces": (48, 2),
    "flags": (40, 19),
    "game_boards": (28, 4),
    "optical_illusions": (132, 0),
    "patterned_grids": (56, 14),
}
"""Base images of the benchmark and originals beside it (VLMBias, Section 3)."""


def test_domains_are_found_in_alphabetical_order():
    assert list(load_domains()) == sorted(load_domains())
    assert load_domains().keys() >= VLMBIAS.keys()


def test_a_domain_is_found_by_its_name():
    assert load_domain("flags") is load_domains()["flags"]
    assert load_domain("flags").name == "flags"


@pytest.mark.parametrize("name", ["flag", "", "../flags", "Flags"])
def test_an_unknown_domain_is_told_which_there_are(name):
    with pytest.raises(UnknownDomain) as raised:
        load_domain(name)
    assert all(known in str(raised.value) for known in (repr(name), *VLMBIAS))


@pytest.mark.parametrize("name", VLMBIAS)
@pytest.mark.parametrize("seed", [0, 5])
def test_counts_are_those_of_the_paper(name, seed):
    sets = Counter(scene.image_set for scene in load_domain(name).draw_module.list_scenes(seed))
    assert (sets["benchmark"], sets["originals"]) == VLMBIAS[name]


def test_912_images_and_117_originals_in_three_sizes():
    benchmark, originals = (sum(counts) for counts in zip(*VLMBIAS.values(), strict=True))
    assert (3 * benchmark, 3 * originals) == (912, 117)
