"""ProtoBias's pages say what its tables say."""

import html
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from assets.protobias.pages import paper as published
from assets.protobias.pages.charts import Bar, Mark
from assets.protobias.pages.differences import (
    estimate_people_failures,
    people_estimates,
    people_finding,
)
from assets.report.formats import Rate
from metrics.protobias.people_estimate import estimate_failures
from tests.assets.protobias.pairs_data import (
    CONCEPTS,
    METRICS,
    ODD,
    Pictures,
    number,
    painted,
    pairs_of,
    written,
)
from tests.metrics.protobias.test_people_estimate import build_scores

MISSING = "Objects: not painted. Materialize protobias/image_pairs for brush|objects."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two painters, one of them of two domains alone, and a stand-in."""
    pictures = Pictures()
    return written(
        tmp_path_factory.mktemp("pairs") / "report",
        painted("flux", pictures, human=True),
        painted("brush", pictures, ("animals", "demography"), missing=[MISSING]),
        painted("sketch", pictures),
        pictures=pictures,
        missing=["wan is not summarised."],
    )


def page(site: Path, name: str) -> str:
    return (site / name).read_text(encoding="utf-8")


def text(of: str) -> str:
    """What is read of a piece of HTML, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", of.replace("<wbr>", ""))).split())


def table(of: str, caption: str) -> dict[str, list[str]]:
    """The rows of the table with that caption, by their headings."""
    tables = re.findall(r"<table.*?</table>", of, re.DOTALL)
    (one,) = [each for each in tables if f">{caption}</caption>" in html.unescape(each)]
    return {
        text(re.sub(r"<small>.*?</small>", "", head)): [text(cell) for cell in cells]
        for head, cells in (
            (
                re.findall(r'<th scope="row">(.*?)</th>', row, re.DOTALL)[0],
                re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL),
            )
            for row in re.findall(r"<tr>(.*?)</tr>", one.split("</thead>")[1], re.DOTALL)
        )
    }


def expected(
    painter: str, metric: str, domain: str, measure: str, sample: str = "evaluated"
) -> float:
    return number(painter, sample, metric, domain, "all", "all", measure)


def test_the_leaderboard_is_one_table_of_painters_and_metrics(site: Path) -> None:
    front = page(site, "index.html")
    found = table(front, "Failure rate by painter and metric")
    assert set(found) == {"flux", "brush"}
    of = front[front.index('<h2 id="leaderboard">') :]
    heads = re.findall(r'<th scope="col">(.*?)</th>', of[: of.index("</thead>")])
    rates = {
        metric: [expected(painter, metric, "all", "failure_rate") for painter in found]
        for metric in METRICS
    }
    models = sorted(("clip_l", "qwen"), key=lambda metric: sum(rates[metric]))
    order = [text(re.sub("<small>.*", "", head)) for head in heads[1:]]
    assert order == [*models, "prior"]
    for at, cells in enumerate(found.values()):
        for metric, cell in zip(order, cells, strict=True):
            assert cell.startswith(f"{100 * rates[metric][at]:.1f} %")
            heat = f'style="--heat: {round(rates[metric][at], 3)}"'
            assert heat in of


def test_the_front_page_opens_with_what_was_found(site: Path) -> None:
    front = page(site, "index.html")
    rates = {
        metric: expected("brush", metric, "all", "failure_rate") for metric in ("clip_l", "qwen")
    }
    worst, best = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", front, re.DOTALL)
    assert text(found) == (
        f"Of 2 metrics, {worst} scores the typical wrong picture as high as the right one, or "
        f"higher, in {100 * rates[worst]:.0f} % of the pairs by brush; the best, {best}, in "
        f"{100 * rates[best]:.0f} %."
    )
    first = front[: front.index("<h2")]
    assert first.count("<img ") == 2
    assert first.count('<svg role="img"') == 2
    assert first.index("Mean over") < first.index("As published")


@pytest.mark.parametrize("name", ["painter-flux.html"])
def test_failure_rates_and_ties_are_those_of_the_summary(site: Path, name: str) -> None:
    found = table(page(site, name), "flux: Failure rates and ties")
    assert set(found) == set(METRICS)
    for metric, cells in found.items():
        for at, (measure, domain) in enumerate(
            (measure, domain)
            for measure in ("failure_rate", "tie_rate")
            for domain in ("all", *CONCEPTS)
        ):
            value = 100 * expected("flux", metric, domain, measure)
            told = f"{value:.1f} % [{value - 5:.1f}, {value + 5:.1f}]"
            assert cells[at] == told + (" 1 unscored" if metric == "qwen" else "")


def test_margins_have_three_places_and_say_where_there_is_none(site: Path) -> None:
    found = table(page(site, "painter-flux.html"), "flux: Correct and incorrect ranking margins")
    value = expected("flux", "clip_l", "animals", "correct_margin")
    assert found["clip_l"][1].startswith(f"{value:.3f} [")
    assert found["prior"][:4] == ["– never ranked right"] * 4


def test_scores_stand_beside_those_of_people_on_the_same_images(site: Path) -> None:
    of = page(site, "painter-flux.html")
    caption = "flux: mean scores on the same images that people scored"
    value = expected("flux", "human", "demography", "delta", "human")
    assert table(of, caption)["human"][8].startswith(f"{value:.2f} [")
    failing = "flux: failure rates and ties on the same images that people scored"
    value = expected("flux", "human", "demography", "failure_rate", "human")
    assert table(of, failing)["human"][2].startswith(f"{100 * value:.1f} % [")
    assert "human" not in table(of, "flux: mean scores of all evaluated pairs")
    assert table(of, "flux: agreement of people")["ada and ben"][0] == "12"
    assert "No people have scored these pairs yet" in page(site, "painter-brush.html")


def test_the_papers_numbers_are_marked_as_such_and_never_beside_ours(site: Path) -> None:
    of = page(site, "painter-flux.html")
    assert table(of, "The paper's Table 1")["GPT-5"] == [
        "0.667",
        "0.420",
        "0.653",
        "0.000",
        "0.048",
        "0.000",
    ]
    assert table(of, "The paper's Table 2")["Human"][:3] == ["0.89", "0.24", "0.65"]
    assert "CLIPScore" not in table(of, "flux: Failure rates and ties")
    assert table(page(site, "index.html"), "The paper's failure rates")["CLIPScore"] == ["71.62 %"]
    for each in (published.failures(), published.margins(), published.scores()):
        assert of.count('<details class="paper" open>') == 2
        assert len(each.bodies[0].lines) in (6, 7)


def test_a_rehearsal_is_marked_and_in_no_table_of_results(site: Path) -> None:
    front, apart = page(site, "index.html").split('<h2 id="stand-ins">')
    assert "Part of this is a stand-in run:" in front
    for caption in ("Failure rate by painter and metric", "Retention by painter and domain"):
        assert "sketch" not in text(str(table(front, caption)))
    assert "sketch" not in str(table(front, "brush less each earlier painter"))
    assert set(table(apart, "Stand-in runs: failure rate by painter and metric")) == {"sketch"}
    assert "flux" not in apart
    for name in ("painter-sketch.html", "pairs-sketch.html"):
        assert '<details class="banner is-stand-in">' in page(site, name)
    assert "is-stand-in" not in page(site, "painter-flux.html") + page(site, "pairs-flux.html")
    assert '<details class="paper" open>' not in page(site, "painter-sketch.html")


def test_what_is_missing_is_said(site: Path) -> None:
    front = text(page(site, "index.html"))
    assert "wan is not summarised." in front
    for name in ("index.html", "painter-brush.html"):
        assert MISSING in text(page(site, name))
    assert "Mean over 2 domains" in page(site, "painter-brush.html")


def test_metrics_and_painters_are_compared(site: Path) -> None:
    """`clip_l` fails on one of two pairs of a domain, `qwen` on the one that it does not refuse."""
    between = table(
        page(site, "painter-flux.html"), "flux: differences of failure rates between metrics"
    )
    (pair,) = between
    assert set(pair.split(" less ")) == {"clip_l", "qwen"}
    assert re.fullmatch(r"[+−]100\.0 \[.*\] p = [01]\.\d{3}", between[pair][0])
    changed = table(page(site, "painter-brush.html"), "brush less flux")
    assert changed["prior"][1].startswith("0.0 [")
    assert changed["prior"][1].endswith("2 prompts")
    assert (
        "less"
        not in str(re.findall(r"<caption.*?</caption>", page(site, "painter-sketch.html")))[:0]
    )
    assert "Against earlier painters" not in page(site, "painter-sketch.html")


def test_knobs_and_concepts_are_told_apart(site: Path) -> None:
    of = page(site, "painter-flux.html")
    value = 100 * number("flux", "evaluated", "clip_l", "objects", "spatial", "all", "failure_rate")
    assert table(of, "flux: Objects by knob")["clip_l"][1].startswith(f"{value:.1f} %")
    concept = CONCEPTS["objects"][0]
    value = 100 * number("flux", "evaluated", "qwen", "objects", "all", concept, "failure_rate")
    cells = table(of, "Objects by concept: failure rate")[concept]
    assert any(cell.startswith(f"{value:.1f} %") for cell in cells)


def test_retention_tells_every_stage_and_why_the_rest_was_lost(site: Path) -> None:
    front = page(site, "index.html")
    triplets = table(front, "Prompt triplets by domain")
    assert triplets["Animals"] == ["3 of 4 75.0 %", "1", "1", "0", "0", "0", "1", "1"]
    of = page(site, "painter-flux.html")
    stages = table(of, "Retention by domain")["Animals"]
    assert stages[:4] == ["4", "3 of 4 75.0 %", "4 of 4 100.0 %", "2 of 4 50.0 % the paper: 83.6 %"]
    assert "the paper" not in str(table(page(site, "painter-sketch.html"), "Retention by domain"))
    assert table(of, "Why pictures were lost")["Animals"][3] == "2 of 8 25.0 %"
    assert table(of, "By concept")["penguin / robin"] == ["1 of 2 50.0 %"]


def test_a_judge_of_the_filters_family_and_what_has_no_score_are_told(site: Path) -> None:
    of = page(site, "painter-flux.html")
    assert "Of the filter's family: qwen." in text(of)
    assert table(of, "flux: pictures without a score")["qwen"][:3] == [
        "12",
        "0 of 12 0.0 %",
        "6 of 12 50.0 %",
    ]


def cards(site: Path, name: str) -> Mapping[str, str]:
    return {
        re.findall(r'<article aria-label="([^"]*)"', card)[0]: card
        for card in re.findall(r"<li data-domain.*?</article></li>", page(site, name), re.DOTALL)
    }


def test_pairs_stand_side_by_side_with_every_verdict(site: Path) -> None:
    found = cards(site, "pairs-flux.html")
    assert len(found) == 12
    card = found["animals/penguin/0"]
    assert html.escape(ODD, quote=False) in card.replace("&#34;", '"')
    assert card.index("The correct sentence") < card.index("The adversarial sentence")
    told = text(card)
    assert "✓ clip_l prefers correct: 0.75 against 0.25" in told
    assert "= qwen tie: both 0.50" in told
    assert "✗ prior prefers adversarial: 0.00 against 1.00" in told
    assert 'data-wrong="' in card
    other = text(found["animals/platypus/0"])
    assert "– qwen unscored: I would rather not." in other
    assert "✗ clip_l" in other
    assert "dropped by the filter" in text(found["animals/penguin/1"])
    assert "The filter gave it 3 of 10" in text(found["animals/penguin/1"])
    assert "Dtype bfloat16" in told
    assert "Seed 0" in told
    assert "48 × 48 px" in told


def test_every_picture_that_is_shown_is_there_once(site: Path) -> None:
    shown = set(re.findall(r"thumbs/([\w-]+)\.webp", page(site, "pairs-flux.html")))
    there = {path.stem for path in (site / "thumbs").iterdir()}
    assert len(shown) == 24
    assert shown <= there
    assert len(there) == 24 + 16 + 24


def test_links_lead_somewhere_and_figures_have_texts(site: Path) -> None:
    for path in site.glob("*.html"):
        of = page(site, path.name)
        links = re.findall(r'href="([^"#:]+)(?:#[^"]*)?"(.*)', of)
        for link in [link for link, rest in links if "data-seen" not in rest]:
            assert (site / link).exists(), (path.name, link)
        assert of.count('<svg role="img"') == of.count("<desc ")
        assert of.count("<img ") == len(re.findall(r'<img [^>]*alt="[^"]+"', of))
        ids = re.findall(r' id="([^"]+)"', of)
        assert len(ids) == len(set(ids))


def test_a_gallery_is_bounded_and_says_so(tmp_path: Path) -> None:
    pictures = Pictures()
    many = painted("flux", pictures, ("animals",))
    pairs = pairs_of("flux", pictures, ("animals",), samples=20)
    bounded = type(many)(**{**vars(many), "pairs": pairs})
    site = written(tmp_path / "report", bounded, pictures=pictures)
    shown = page(site, "pairs-flux.html")
    assert "14 of 40 pairs are shown" in shown
    assert "dropped by the filter 12 38 " in text(shown)


def test_a_mean_of_fewer_domains_says_of_how_many() -> None:
    board = painted("flux", Pictures()).board
    (metric,) = [each for each in board.metrics if each.name == "clip_l"]
    where = (metric.name, ("animals", "all", "all"))
    without = board.cells[where]._replace(correct_margin=None)
    fewer = replace(board, cells={**board.cells, where: without})
    whole = ("all", "all", "all")
    assert "domains" not in board.rate(metric, whole, "correct_margin").note
    assert fewer.rate(metric, whole, "correct_margin").note.endswith("2 of 3 domains")
    assert "domains" not in fewer.rate(metric, whole, "sc").note


def test_words_stand_above_an_interval_that_leaves_no_room_beside_it() -> None:
    def bar(low: float, high: float) -> Bar:
        rate = Rate(0.6, low, high)
        return Bar("", [Mark("failure", rate, "60.0 %, ties 20.0 %")], "")

    assert bar(0.5, 0.8).above == ""
    assert bar(0.2, 0.8).above == "60.0 %, ties 20.0 %"
    assert Bar("", [Mark("failure", Rate(None), "")], "", "no pair scored").above == ""


def test_people_are_estimated_on_all_pairs():
    scores = build_scores(agreement=0.9)
    people = pd.DataFrame({"pair_id": scores["pair_id"].unique(), "chance": 0.25})
    subject = replace(painted("flux", Pictures(), human=True), scores=scores, human=people)
    estimates = estimate_people_failures(subject)
    before = replace(subject, human=people.drop(columns="chance"))
    pd.testing.assert_frame_equal(estimate_people_failures(before), estimates)
    expected = estimate_failures(subject.scores).to_dict("records")
    lines = list(people_estimates(subject, estimates).lines)
    assert [line.label for line in lines] == ["people alone", "with clip"]
    rates = []
    for line, estimate in zip(lines, expected, strict=True):
        rate, low, high = (100 * estimate[name] for name in ("mean", "low", "high"))
        rates.append(f"{rate:.1f}\xa0% [{low:.1f},\xa0{high:.1f}]")
        assert line.cells[0].text.startswith(f"{rate:.1f}")
        assert line.cells[0].detail == f"[{low:.1f},\xa0{high:.1f}]"
        assert [cell.text for cell in line.cells[1:3]] == ["60", "240"]
    assert lines[0].cells[3].text == ""
    weight = float(lines[1].cells[3].text.split()[0])
    assert weight == pytest.approx(100 * expected[1]["reliance"], abs=0.51)
    assert people_finding(estimates) == (
        f"People would fail {rates[0]} of all pairs, by their answers to 60 of 240 pairs; "
        f"{rates[1]} with the answers of clip to all."
    )
    nobody = estimate_people_failures(painted("flux", Pictures(), human=True))
    assert nobody.empty
    assert people_finding(nobody) == ""
