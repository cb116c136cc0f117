"""What the report says of judges whose scores are made up here."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
from playwright.sync_api import expect
from scipy import stats

from assets.frame.inflation import build_inflation_rows
from assets.frame.pages import REPORT, ScoredSource, paper
from assets.frame.pages.charts import overlays
from assets.frame.pages.report import judge_sentence
from assets.frame.pages.susceptibility import tables
from assets.frame.pages.tables import success
from assets.frame.search import join_originals, search_biases
from assets.report.rendering import STATIC
from tests.waiting import wait_for

NOTHING = pd.DataFrame()
BEST, OTHER = (
    '[{"kind":"instruction","position":"center"}]',
    '[{"kind":"instruction","position":"top-left"}]',
)


def made(judge, rise, images, domains=("animals", "indoor")):
    """Scores and searches of a judge that gives 2 or 3, and more for one place of the overlay."""
    scores = pd.DataFrame(
        {
            "model": judge,
            "domain": domain,
            "image_id": f"{domain}/{number}",
            "instruction": "Generate a dog.",
            "bias": bias,
            "parameters": parameters,
            "original": f"{domain} {number}",
            "sha256": "b",
            "template": "standard",
            "readable": bool(number % 3),
            "score": 2.0 + number % 2 + (rise if parameters == BEST else 0),
        }
        for domain in domains
        for number in range(images)
        for bias, parameters in (("none", "[]"), ("instruction", OTHER), ("instruction", BEST))
    )
    search = pd.concat(
        pd.DataFrame(search_biases(join_originals(held), 0)).assign(
            domain=domain, model=judge, seed=0
        )
        for domain, held in scores.groupby("domain")
    )
    return scores, search.assign(is_stand_in=False)


def sourced(*judges, images, people=NOTHING):
    """A source of so many pictures a domain; `judges` are names with rises."""
    each = [(name, *made(name, rise, images)) for name, rise in judges]
    rows = [
        {"source": "brush", "model": name, **row}
        for name, scores, search in each
        for row in build_inflation_rows(scores, search, NOTHING, NOTHING)
    ]
    scores, search = (pd.concat(tables) for tables in list(zip(*each, strict=True))[1:])
    return ScoredSource("brush", pd.DataFrame(rows), scores, search, NOTHING, people, NOTHING)


def test_a_page_says_where_nothing_was_chosen():
    eye = sourced(("eye", 1.0), images=30)
    single = replace(eye, search=eye.search.assign(candidate_count=1))
    pages = [dict(REPORT.build([each], facts={}).pages)[each.page] for each in (eye, single)]
    assert ["nothing was chosen" in page for page in pages] == [False, True]
    assert ["Mean scores, chosen and reported on all" in page for page in pages] == [True, False]
    assert [[line.cells[-1].text for line in success([each]).lines] for each in (eye, single)] == [
        ["held out", "in sample"],
        ["nothing"],
    ]
    captions = [[table.caption for table in tables(each)] for each in (eye, single)]
    over = "Susceptibility by domain, over one judge"
    assert captions[0][0] == f"{over}, chosen on one half of the pictures, reported on the other"
    assert captions[1][0] == f"{over}, one configuration of each bias, on all pictures"


def test_a_judge_that_is_moved_and_one_that_is_not():
    source = sourced(("eye", 1.0), ("stone", 0.0), images=50)
    found = REPORT.finding([source])
    assert found.firmness == "result"
    assert found.sentence.startswith("1 of 2 judges gives a picture of brush clearly more")
    assert "; eye gives +40" in found.sentence
    assert "buys 1.00 of 5 points from eye" in judge_sentence(source, "eye")
    assert "buys 0.00 of 5 points from stone" in judge_sentence(source, "stone")
    lower = source.inflation.assign(biased=source.inflation["original"] - 1)
    assert "loses 1.00 of 5 points with eye" in judge_sentence(
        replace(source, inflation=lower), "eye"
    )


def test_the_finding_is_corrected_for_the_number_of_judges():
    source = sourced(*((name, 1.0) for name in "abcde"), images=50)
    is_first = source.inflation["model"].eq("a")
    # p = 0.03 of one judge, 0.15 after five.
    table = source.inflation.assign(percent=2.0, percent_low=np.where(is_first, 0.194, -1.0))
    among_five = REPORT.finding([replace(source, inflation=table)]).sentence
    assert among_five.startswith("None of 5 judges is seen to give")
    one = sourced(("a", 1.0), images=50)
    table = one.inflation.assign(percent=2.0, percent_low=0.194)
    alone = REPORT.finding([replace(one, inflation=table)]).sentence
    assert alone.startswith("a gives a picture of brush clearly more")


def test_the_finding_names_a_judge_that_is_clearly_moved_and_counts_ranked_ones_alone():
    source = sourced(("eye", 1.0), ("noisy", 2.0), images=50)
    is_noisy = source.inflation["model"].eq("noisy")
    low_ends = source.inflation["percent_low"].mask(is_noisy, -1.0)
    table = source.inflation.assign(percent_low=low_ends)
    two_ranked = REPORT.finding([replace(source, inflation=table)]).sentence
    assert two_ranked.startswith("1 of 2 judges gives a picture of brush clearly more")
    assert "; eye gives +40" in two_ranked

    unscored = table["unscored"].mask(is_noisy, 1_000)
    one_ranked = REPORT.finding(
        [replace(source, inflation=table.assign(unscored=unscored))]
    ).sentence
    assert one_ranked.startswith("eye gives a picture of brush clearly more")
    assert "judge" not in one_ranked

    unmoved = REPORT.finding([replace(source, inflation=table.assign(percent_low=-1.0))]).sentence
    assert unmoved.startswith("None of 2 judges is seen to give a picture of brush more once")


def test_pictures_that_cannot_have_a_bias_are_counted_with_the_reason():
    lacking = {"domain": "people", "bias": "beauty", "reason": "No face.", "pictures": 3}
    source = replace(sourced(("eye", 1.0), images=8), inapplicable=pd.DataFrame([lacking]))
    pages = dict(REPORT.build([source], facts={}).pages)
    section = pages[source.page].split("Pictures that cannot have a bias</h3>")[1]
    cells = re.sub(r"<[^>]+>", " ", section.split("</table>")[0]).split()
    assert " ".join(cells).endswith("Domain Bias Pictures Reason People Beauty 3 No face.")
    alone = dict(REPORT.build([replace(source, inapplicable=NOTHING)], facts={}).pages)
    assert "cannot have a bias" not in alone[source.page]


def test_few_pictures_are_a_trial_that_ranks_nobody():
    """One half of the pictures is held out."""
    alone = REPORT.finding([sourced(("eye", 1.0), images=48)])
    assert alone.firmness == "trial"
    assert alone.sentence.startswith(
        "A trial (24 of at least 25 pictures of a domain): writing the instruction onto a picture"
    )
    both = REPORT.finding([sourced(("eye", 1.0), ("stone", 0.0), images=6)])
    few = "3 of at least 25 pictures of a domain"
    assert both.sentence == f"No model is ranked on brush yet. eye: {few}; stone: {few}."


def test_every_mark_lies_on_the_chart():
    bars = overlays(sourced(("eye", 2.0), ("ear", -2.0), ("stone", 0.0), images=30)).bars
    marks = [mark.rate for bar in bars for mark in bar.marks]
    assert len(marks) == 3
    for rate in marks:
        assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_pages_have_readable_pictures_and_people_where_there_are_such():
    people = pd.DataFrame(
        {
            "domain": "animals",
            "image_id": f"animals/{number}",
            "sha256": f"animals {number}",
            "annotator": name,
            "score": float(number % (3 + len(name))),
        }
        for number in range(30)
        for name in ("anna", "ben")
    )
    source = sourced(("eye", 1.0), ("stone", 0.0), images=30, people=people)
    pages = dict(REPORT.build([source], facts={}).pages)
    page = pages["source-brush.html"]
    assert "Mean scores of readable pictures, chosen on one half" in page
    assert "anna and ben" in page
    assert "Judges beside people" in page
    assert page.count('<th scope="row">All</th>') == 1 + 2
    assert "Human scores by bin" in page
    assert "What people would give all pictures" not in page
    assert "A stand-in run" not in "".join(pages.values())
    assert {*pages} >= {"index.html", "pictures-brush.html"}


def test_people_who_scored_a_sample_are_estimated_on_all_pictures():
    """By hand: a judge that gives what people give has all of them in its favour."""
    people = pd.DataFrame(
        {
            "domain": domain,
            "image_id": f"{domain}/{number}",
            "sha256": f"{domain} {number}",
            "annotator": name,
            "score": 2.0 + number % 2 + error,
        }
        for domain in ("animals", "indoor")
        for number in range(20)
        for name, error in (("anna", -0.5), ("ben", 0.5))
    )
    source = sourced(("eye", 1.0), images=50, people=people)
    page = dict(REPORT.build([source], facts={}).pages)["source-brush.html"]
    # Half of 20 sampled scores of a domain are 2, half 3; the interval is that of 20 clusters.
    alone = 5 * stats.t.ppf(0.975, 36) * np.sqrt(2 * (0.01 / 20 * 20 / 18 + 0.5 / 400)) / 2
    judged = 5 * stats.t.ppf(0.975, 36) * np.sqrt(2 * (0.01 / 50 * 20 / 18 + 0.5 / 400)) / 2
    alone, judged = (f"2.50 [{2.5 - reach:.2f},\xa0{2.5 + reach:.2f}]" for reach in (alone, judged))
    finding = (
        f"People would give all pictures {alone} of 5 points, by their answers to 40 of 100 "
        f"pictures; {judged} with the answers of eye to all."
    )
    assert f"<strong>{finding}</strong>" in page
    table = page.partition("People&#39;s mean score of all pictures")[2]
    for words in ("people alone", "with eye", "100 %"):
        assert words in table


def test_the_papers_numbers_stand_beside_ours_and_agree_with_one_another():
    front, source = (
        dict(REPORT.build([sourced(("eye", 1.0), images=30)], facts={}).pages)[name]
        for name in ("index.html", "source-brush.html")
    )
    assert "67.65" in front
    assert "Pictures by DALL-E 3" in front
    for caption in ("Tables 3 and 12", "Table 5: GPT-4.1-mini", "Table 6: GPT-4.1-mini"):
        assert f"The paper’s {caption}, for orientation" in source
    judge = paper.printed().query("model == 'GPT-4.1-mini'")
    originals = judge.groupby("domain")["original"].first()
    for line, domain in zip(paper.printed_table("6").lines, paper.DOMAINS, strict=True):
        before, single, *_ = (cell.numbers for cell in line.cells)
        assert before[""] == originals[domain]
        best = judge[judge["domain"].eq(domain)]["biased"].max()
        assert single[""] == best
        for cell in line.cells[1:]:
            change = 100 * (cell.numbers[""] / before[""] - 1)
            assert abs(change - cell.numbers["percent"]) < 1.0
    before, *after = paper.printed_table("5").lines
    for cells in zip(before.cells, *(line.cells for line in after), strict=True):
        for cell in cells[1:]:
            change = 100 * (cell.numbers[""] / cells[0].numbers[""] - 1)
            assert abs(change - cell.numbers["percent"]) < 1.0


def test_a_slider_follows_keys_a_mouse_and_a_finger(new_page, tmp_path):
    """At 400 px: on the slider or on the picture; a swipe up or down still scrolls."""
    for name, text in REPORT.build([sourced(("eye", 1.0), images=30)], facts={}).pages:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for file in STATIC:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    page = new_page(viewport={"width": 400, "height": 800}, has_touch=True)
    page.goto((tmp_path / "pictures-brush.html").as_uri())
    slide = page.locator(".slide").first
    slider, frame, over = (slide.locator(each) for each in ("input", ".frame", ".over"))

    def shown(percent):
        expect(over).to_have_css("clip-path", f"inset(0px {100 - percent}% 0px 0px)")

    shown(50)
    slider.press("ArrowRight")
    shown(51)
    box = slider.bounding_box()
    slider.tap(position={"x": box["width"] - 2, "y": box["height"] / 2})
    shown(100)
    box = frame.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    shown(100)
    page.mouse.down()
    page.mouse.move(box["x"] + 1, box["y"] + 50)
    page.mouse.up()
    shown(0)
    frame.tap(position={"x": box["width"] / 2, "y": 50})
    shown(50)
    finger = page.context.new_cdp_session(page)
    for kind, across in (("touchStart", 200), ("touchMove", 250), ("touchMove", 300)):
        point = {"x": box["x"] + across, "y": box["y"] + 50}
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    at = [slider.element_handle(), 100 * 300 / box["width"]]
    wait_for(lambda: page.evaluate("([slider, at]) => Math.abs(slider.value - at) <= 1", at))
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.close()


def test_a_source_of_reference_judges_alone_is_shown_as_no_result():
    source = replace(sourced(("gullible", 1.0), images=60), has_only_stand_ins=True)
    site = REPORT.build([source], facts={})
    assert site.entry.firmness == "stand-in"
    assert {each.firmness for each in site.judged.standings} == {"stand-in"}
    assert "brush (a stand-in run: no result)" in dict(site.pages)["index.html"]


def test_a_painter_without_an_entry_keeps_its_tables_and_gets_no_advice():
    source = sourced(("eye", 1.0), images=60)
    pages = dict(REPORT.build([replace(source, is_listed=False)], facts={}).pages)
    assert "Scores of pictures by brush (no longer in models.yaml)" in pages["source-brush.html"]
    assert "aterialize frame/" in dict(REPORT.build([source], facts={}).pages)["source-brush.html"]
    assert "aterialize frame/" not in pages["source-brush.html"]
