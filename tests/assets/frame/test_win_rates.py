"""Figure 3 and Section 5.2 on a page: win rates by domain, order, and who is moved most."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from assets.frame.pages import REPORT
from assets.frame.pages.susceptibility import tables as susceptibility_tables
from assets.frame.pages.win_rates import compare_by_bias, compare_by_domain, tables
from tests.assets.frame.test_pages import sourced

NAMES = ["model", "domain", "image_id", "original", "bias", "parameters", "order", "preference"]


def preferred(before, after, domain="animals", bias="instruction"):
    """Preferences of pairs; each is that for A where it was shown first, and where second."""
    return pd.DataFrame(
        [
            ("eye", domain, f"{domain}/{pair}", f"{domain} {pair}", name, name, order, preference)
            for name, pairs in (("none", before), (bias, after))
            for pair, both in enumerate(pairs)
            for order, preference in zip(("first", "second"), both, strict=True)
        ],
        columns=NAMES,
    )


@pytest.fixture(scope="module")
def source():
    """Of ten pairs of animals six go by the order; the bias wins two that were lost."""
    by_order = [(1, 0)] * 4 + [(0.5, 0), (1, 0.5)]
    before = [*by_order, (1, 1), (0, 0), (0, 0), (0.5, 0.5)]
    after = [*by_order, (1, 1), (1, 1), (1, 1), (0.5, 0.5)]
    always = [(1, 1)] * 10
    pairs = [
        preferred(before, after),
        preferred(always, always, "indoor"),
    ]
    of_two = sourced(("eye", 1.0), ("ear", 0.0), images=10)
    return replace(of_two, preferences=pd.concat(pairs))


def test_win_rates_are_by_domain_with_its_strongest_bias(source):
    animals, indoor, over_all = compare_by_domain(source)["eye"]
    assert [each.domain for each in (animals, indoor, over_all)] == ["animals", "indoor", "all"]
    assert (animals.bias, indoor.bias, over_all.bias) == ("instruction", "instruction", "")
    shares = ("win", "tie", "loss", "swayed", "first_shown")
    assert [animals.before[name] for name in shares] == pytest.approx([0.2, 0.5, 0.3, 0.6, 0.75])
    assert [animals.after[name] for name in shares] == pytest.approx([0.4, 0.5, 0.1, 0.6, 0.75])
    assert animals.after["gain"] == pytest.approx(0.2)
    assert over_all.after["win"] == pytest.approx((0.4 + 1) / 2)


def test_every_bias_has_its_win_rates_by_domain(source):
    found = [(each.bias, each.domain) for each in compare_by_bias(source)["eye"]]
    assert found == [("instruction", "animals"), ("instruction", "indoor"), ("", "all")]


def test_the_page_says_wins_ties_losses_gain_and_how_often_the_order_decides(source):
    (line, *_) = tables(source)[0].lines
    texts = [cell.text.replace("\N{NO-BREAK SPACE}", " ") for cell in line.cells]
    assert (line.small, line.cells[2].mark) == ("10 of at least 25 pairs of a domain", "Trial")
    assert texts[:2] == ["Inst.", "10"]
    assert texts[2:7] == ["20.0 %", "50.0 %", "30.0 %", "60.0 %", "75.0 %"]
    assert texts[7:] == ["40.0 %", "50.0 %", "10.0 %", "60.0 %", "75.0 %", "+20.0"]
    page = dict(REPORT.build([source], facts={}).pages)[source.page]
    for words in ("Order decides", "Win rates of picture A by domain", "Animals, Inst."):
        assert words in page


def test_susceptibility_is_over_judges_by_domain_and_by_bias(source):
    """One of two judges gives a point more, to pictures of 2.5 on average; the other none."""
    by_domain_, by_bias_ = susceptibility_tables(source)
    assert "over 2 judges" in by_domain_.caption
    assert sorted(line.label for line in by_domain_.lines) == ["Animals", "Indoor"]
    (inst,) = by_bias_.lines
    assert (inst.label, inst.cells[0].text) == ("Inst.", "4")
    mean, rate = inst.cells[1].numbers, inst.cells[2].numbers
    # Of five pictures a domain: marked, and sorted below results.
    assert inst.cells[1].mark == "Trial"
    assert mean["trial"] == pytest.approx(0.2, abs=0.02)
    assert mean["trial low"] < mean["trial"] < mean["trial high"]
    assert rate["trial"] == 0.5
    assert np.mean([line.cells[1].numbers["trial"] for line in by_domain_.lines]) == pytest.approx(
        mean["trial"]
    )
