"""What the report says of judges whose answers are made up here."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assets.report.thinking import ThinkingAxis
from assets.vhexpansion.negation_review import estimate_rejections
from assets.vhexpansion.pages import REPORT, AnsweredDataset
from assets.vhexpansion.pages.charts import accuracies
from assets.vhexpansion.pages.gallery import yes_twice
from assets.vhexpansion.pages.sweeps import sweep
from assets.vhexpansion.pages.tables import adversarial, common, transfer, unperturbed
from assets.vhexpansion.symmetry import SYMMETRY, symmetry_rows
from resources.models.catalog import Catalog
from tests.assets.vhexpansion.test_numbers import attacked, served

ATTACK = {"epsilon": 8, "step": 0.5, "iterations": 500, "raising_iterations": 100}
OTHER = {"yes": "no", "no": "yes"}


def said(judge, chance, cases=40, done=("none", None, None), repeats=1, seed=0, is_stand_in=False):
    """Answers that are right with a chance; what was done is a name, encoder and parameters."""
    random = np.random.default_rng(seed)
    perturbation, encoder, parameters = done
    rows = []
    for number in range(cases):
        truth = "yes" if number % 2 else "no"
        for form, right in (("original", truth), ("negated", OTHER[truth])):
            for repeat in range(repeats):
                answer = right if random.random() < chance else OTHER[right]
                rows.append(
                    {
                        "case_id": f"zoo/{number}",
                        "image_id": f"image {number}",
                        "base_id": f"image {number}",
                        "sha256": f"{number:064x}",
                        "form": form,
                        "question": f"Is {number} {'no ' if form == 'negated' else ''}animal?",
                        "truth": right,
                        "perturbation": perturbation,
                        "encoder": encoder,
                        "parameters": parameters and json.dumps(parameters),
                        "repeat": repeat,
                        "model": judge,
                        "response": f"{{{answer}}}",
                        "answer": answer,
                        "is_stand_in": is_stand_in,
                    }
                )
    return pd.DataFrame(rows)


def dataset(judges, *tables, name="zoo", total_cases=40):
    """A dataset with the answers of these judges."""
    answers = pd.concat(tables, ignore_index=True)
    catalog = Catalog(tuple(judges))
    asked = [judge for judge in judges if judge.name in set(answers["model"])]
    rows = [
        row
        for judge in asked
        for row in symmetry_rows(
            catalog, asked, judge, name, answers[answers["model"].eq(judge.name)], total_cases
        )
    ]
    twice = [yes_twice(answers[answers["model"].eq(judge.name)]) for judge in asked]
    return AnsweredDataset(name, SYMMETRY.build_table(rows).to_pandas(), pd.concat(twice))


EYE, EAR = served("eye", 0.2), served("ear", 0.2, model="qwen")


def test_the_finding_is_the_judge_whose_accuracy_promises_most():
    zoo = dataset([EYE, EAR], said("eye", 0.7), said("ear", 1.0))
    found = REPORT.finding([zoo, dataset([EYE], said("eye", 0.5, cases=25), name="few")])
    assert (found.firmness, found.subject.name) == ("result", "zoo")
    assert re.fullmatch(
        r"eye answers \d+\u00a0% of the questions of zoo right, and \d+\u00a0% of them together "
        r"with their negations\.",
        found.sentence,
    )


def test_who_answers_little_is_not_told_as_if_it_had_answered_all():
    few, none = said("eye", 1.0), said("ear", 1.0)
    few.loc[2:, "answer"] = None
    none["answer"] = None
    zoo = dataset([EYE, EAR], few, none)
    assert REPORT.finding([zoo]).sentence == (
        "No model is ranked on zoo yet. eye: 78 of 80 answers missing; "
        "ear: no answer to 80 requests."
    )
    eye, ear = accuracies(zoo).bars
    assert (eye.note, ear.note) == ("", "no answer")


def test_few_pictures_are_a_trial_and_stand_ins_no_result():
    few = dataset([EYE], said("eye", 0.7, cases=19))
    assert REPORT.finding([few]).firmness == "trial"
    assert REPORT.finding([few]).sentence.startswith(
        "A trial (19 of at least 20 pictures; 19 of 40 cases): eye answers"
    )
    stands_in = dataset([EYE], said("eye", 0.7, is_stand_in=True), name="drawn")
    assert REPORT.finding([stands_in]).firmness == "stand-in"
    assert REPORT.finding([stands_in, few]).subject.name == "zoo"


def test_a_page_says_how_many_negations_people_reject():
    """Pairs with one question are one fact; half of the annotators are enough."""
    votes = [(["ann"], []), ([], ["ann", "ben"]), (["ann"], ["ben"]), (["ann", "ben"], [])]
    rows = [
        {"case_id": f"zoo/{number}", "question": f"Is it {number // 2}?", "outcome": "negated"}
        | dict(zip(("accepted_by", "rejected_by"), votes[number // 2 % 4], strict=True))
        for number in range(80)
    ]
    rows += [
        {**rows[0], "case_id": "zoo/rejected", "outcome": "rejected", "accepted_by": []},
        *(
            {**rows[0], "case_id": f"zoo/more {number}", "question": f"Was it {number}?"}
            | {"accepted_by": [], "outcome": "left out" if number % 2 else "negated"}
            for number in range(40)
        ),
    ]
    estimates = estimate_rejections(pd.DataFrame(rows))
    (alone,) = estimates.to_dict("records")
    # 40 clusters of equal size, half of them rejected.
    reach = stats.t.ppf(0.975, 38) * np.sqrt(0.25 / 40 * 40 / 38 + 0.5 / 40**2)
    assert (alone["items"], alone["sampled"], alone["mean"]) == (120, 80, 0.5)
    assert (alone["low"], alone["high"]) == pytest.approx((0.5 - reach, 0.5 + reach))
    zoo = dataset([EYE], said("eye", 0.7))
    page, reviewed = (
        dict(REPORT.build([each], facts={}).pages)[zoo.page]
        for each in (zoo, replace(zoo, rejections=estimates))
    )
    assert "What people say of the negations" not in page
    rate = f"50.0\xa0% [{50 - 100 * reach:.1f},\xa0{50 + 100 * reach:.1f}]"
    assert (
        f"People reject {rate} of the negations, by their answers to 80 of 120 pairs." in reviewed
    )
    assert estimate_rejections(pd.DataFrame(rows[80:])).empty


class TestTables:
    def test_a_line_a_judge_with_what_lacks_an_answer(self):
        answers = said("eye", 0.8)
        answers.loc[:3, "answer"] = None
        zoo = dataset([EYE], answers, total_cases=9_000)
        assert zoo.size_words == "40 of 9,000 cases, 40 pictures"
        (line,) = unperturbed(zoo).lines
        cases, accuracy, symmetric, new, _, _, unanswered = line.cells
        assert (cases.text, cases.note) == ("40", "of 9,000")
        assert unanswered.text == "4"
        assert "with what has no answer" in accuracy.note
        assert symmetric.mark == "Trial"
        low, value, high = (symmetric.numbers[f"trial{end}"] for end in (" low", "", " high"))
        assert low < value < high
        assert new.detail.startswith("of 38 [")

    def test_perturbations_stand_below_the_picture_as_it_was(self):
        zoo = dataset(
            [EYE, EAR],
            said("eye", 0.9),
            said("ear", 0.9),
            said("eye", 0.5, done=("noise", None, [{"kind": "noise", "sigma": 0.08}]), seed=1),
        )
        table = common(zoo)
        assert [body.label for body in table.bodies] == [
            "Symmetric accuracy",
            "New cases",
            "Says yes",
        ]
        assert [line.label for line in table.bodies[0].lines] == [
            "No perturbation",
            "Gaussian noise",
        ]
        eye, ear = table.bodies[0].lines[1].cells
        assert eye.change.startswith("\u2212")
        assert (ear.text, ear.note) == ("", "not asked")

    def test_attacks_on_a_judges_own_encoder_and_their_transfer(self):
        attack = attacked("eye_encoder")
        done = ("i_fgsm", "eye_encoder", ATTACK)
        zoo = dataset(
            [EYE, EAR, attack],
            *(said(name, 0.9) for name in ("eye", "ear")),
            *(said(name, 0.4, done=done, seed=2) for name in ("eye", "ear")),
        )
        table = adversarial(zoo)
        assert [head.label for group in table.groups for head in group.heads] == ["eye"]
        assert [line.label for line in table.bodies[0].lines] == ["No perturbation", "I-FGSM"]
        shown = {line.label: line.cells[1].text for line in transfer(zoo).lines}
        assert shown == {"eye": "yes", "ear": "no"}


class TestSweeps:
    def points(self, *tables, judges=(EYE,)):
        encoder = attacked("eye_encoder")
        found = sweep(dataset([*judges, encoder], *tables))
        return [(point.setting, point.value) for point in found]

    def test_a_setting_of_an_attack_is_varied_all_else_being_equal(self):
        settings = [
            ATTACK,
            ATTACK | {"epsilon": 4},
            ATTACK | {"iterations": 100},
            ATTACK | {"epsilon": 16, "step": 0.7},
        ]
        attacks = [said("eye", 0.4, done=("pgd", "eye_encoder", each)) for each in settings]
        assert self.points(said("eye", 0.9), *attacks) == [
            ("epsilon", 4.0),
            ("epsilon", 8.0),
            ("iterations", 100.0),
            ("iterations", 500.0),
        ]

    def test_repeats_and_temperature(self):
        hot = served("hot", 1.0)
        found = self.points(said("eye", 0.9, repeats=3), judges=(EYE, hot))
        assert found == [("repeats", 1.0), ("repeats", 2.0), ("repeats", 3.0)]
        both = self.points(said("eye", 0.9), said("hot", 0.6), judges=(EYE, hot))
        assert both == [("temperature", 0.2), ("temperature", 1.0)]


def test_the_pages_have_pairs_tables_and_the_papers_numbers():
    zoo = dataset(
        [EYE],
        said("eye", 0.5),
        said("eye", 0.4, done=("jpeg", None, [{"kind": "jpeg", "quality": 30}]), seed=1),
    )
    site = REPORT.build([zoo], facts={})
    pages = dict(site.pages)
    assert {*pages} >= {"index.html", "dataset-zoo.html", "pairs-zoo.html"}
    assert pages["pairs-zoo.html"].count("<figure") == 12
    assert "Is 1 animal?" in pages["pairs-zoo.html"]
    assert "The paper’s Table 6" in pages["dataset-zoo.html"]
    assert "ε: 4" in pages["dataset-zoo.html"]
    assert "\N{GREEK CAPITAL LETTER EPSILON}" not in pages["dataset-zoo.html"]
    assert pages["index.html"].count("by the new cases") == 5
    assert "A stand-in run" not in "".join(pages.values())
    assert len({*site.thumbnails}) == 12


@pytest.mark.parametrize(("name", "bodies"), [("pope", 1), ("zoo", 3)])
def test_a_dataset_of_the_papers_has_the_papers_numbers_of_it(name, bodies):
    pages = dict(REPORT.build([dataset([EYE], said("eye", 0.5), name=name)], facts={}).pages)
    page = pages[f"dataset-{name}.html"]
    (table,) = re.findall(r"The paper’s Table 3</caption>.*?</table>", page, re.DOTALL)
    assert table.count("<tbody>") == bodies


def test_steps_of_thinking_stand_by_their_tokens_with_what_is_certain():
    plan = {"luna": (1200, 0.9), "luna_low": (300, 0.5), "luna_high": (6000, 0.5)}
    judges = [served(name, None, model=name) for name in plan]
    tables = [
        said(name, chance, seed=place).assign(output_tokens=tokens, thinking_tokens=None)
        for place, (name, (tokens, chance)) in enumerate(plan.items())
    ]
    efforts = {"low": "luna_low", "medium": "luna", "high": "luna_high"}
    shown = replace(
        dataset(judges, *tables),
        axes=[ThinkingAxis("luna", "reasoning_effort", efforts)],
        clean_answers=dict(zip(plan, tables, strict=True)),
    )
    section = shown.thinking
    (curve,) = section.curves
    assert [point.label for point in curve.points] == ["low", "medium", "high"]
    pairs = {
        name: table.assign(right=table["answer"].eq(table["truth"])).groupby("case_id")["right"]
        for name, table in zip(plan, tables, strict=True)
    }
    shares = {name: f"{100 * right.all().mean():.0f}\u00a0%" for name, right in pairs.items()}
    assert curve.sentence == (
        f"luna is right about a question and its negation in {shares['luna_low']} at 300 tokens, "
        f"{shares['luna']} at 1,200, {shares['luna_high']} at 6,000: thinking helps up to a point, "
        "and more does worse."
    )
    difference = pairs["luna_low"].all().astype(int) - pairs["luna"].all()
    first, *_ = section.difference_table.lines
    assert first.label == "low less medium"
    assert first.cells[0].numbers[""] == pytest.approx(difference.mean())
    site = REPORT.build([shown], facts={})
    assert '<h2 id="thinking">' in dict(site.pages)["dataset-zoo.html"]
    (gain,) = (each for each in site.judged.standings if each.measure == "Gain by thinking")
    most_less_fewest = pairs["luna_high"].all().astype(int) - pairs["luna_low"].all()
    assert (gain.model, gain.link) == ("luna", "dataset-zoo.html#thinking")
    assert gain.value == pytest.approx(most_less_fewest.mean())
    assert gain.items == len(most_less_fewest)
    assert replace(shown, axes=[]).thinking.curves == []
