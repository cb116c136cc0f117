"""The table of questions: each as its topic asks it, with the names that it accepts."""

import pandas as pd

from assets.kit.columns import TEXTS
from assets.vlmbias.questions import QUESTIONS
from generators.domains import load_domain
from tests.runs import TOPIC, table


def test_originals_alone_are_asked_for_the_sanity_check(made):
    questions = pd.read_parquet(table(made, "questions"))
    asked = questions.groupby("variant")["question_id"].agg(lambda ids: sorted(set(ids)))
    assert asked["counterfactual"] == ["Q1", "Q2", "Q3"]
    assert asked["original"] == ["N1", "N2", "Q1", "Q2", "Q3"]


def test_every_row_is_a_question_of_its_scene(made):
    scenes = {scene.base_id: scene for scene in load_domain(TOPIC).draw_module.list_scenes(0)}
    questions = pd.read_parquet(table(made, "questions"))
    for base_id, rows in questions.groupby("base_id"):
        stored = [
            (r.question_id, r.question, r.ground_truth, r.expected_bias, tuple(r.accepted))
            for r in rows.itertuples()
        ]
        assert stored == [
            (q.question_id, q.text, q.ground_truth, q.expected_bias, q.accepted)
            for q in load_domain(TOPIC).ask_module.write_questions(scenes[base_id])
        ]


def test_accepted_names_are_lists_of_text(made):
    questions = pd.read_parquet(table(made, "questions"))
    assert QUESTIONS.schema.field("accepted").type == TEXTS
    named = questions["accepted"].map(len) > 0
    assert (named == (questions["question_id"] == "N1")).all()
    assert (questions[named]["accepted"].str[0] == questions[named]["ground_truth"]).all()
