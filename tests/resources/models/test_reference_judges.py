"""The stand-in judges, each alone; `test_bracket.py` shows them on whole topics."""

import io
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image
from scipy.stats import binomtest, chisquare

from assets.vlmbias.prompting import DEBIASED
from generators.canvas import rasterise
from generators.domains import load_domain
from generators.perturbations.title_strip import TitleJob, title_png
from generators.worker_jobs import DrawJob, draw_png
from metrics import read_count, read_yes_no
from resources.models.reference_judges import (
    PensiveJudge,
    PixelsJudge,
    PriorJudge,
    RandomJudge,
)

COUNT = "How many rows are there on this board? Answer with a number in curly brackets, e.g., {9}."
NAMED = "Is this a 8x8 Chessboard? Answer in curly brackets, e.g., {Yes} or {No}."
MANY = 1000


@pytest.fixture(scope="module")
def board():
    """A real image: a chess board with a row too many."""
    drawing = load_domain("game_boards").draw_module
    scenes = {scene.base_id: scene for scene in drawing.list_scenes(0)}
    return rasterise(drawing.draw(scenes["game_boards/chess-add-row-first"], 768))


def saved_again(png, kind, **options):
    """The same picture in other bytes."""
    file = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").save(file, kind, **options)
    assert file.getvalue() != png
    return file.getvalue()


def blank(width=384, height=384):
    file = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), 255, np.uint8)).save(file, "PNG")
    return file.getvalue()


class TestPrior:
    @pytest.mark.parametrize("bias", ["8", "0", "Yes", "No"])
    def test_it_answers_the_expected_bias_whatever_it_is_shown(self, bias):
        judge = PriorJudge()
        assert judge.answer_informed(COUNT, b"any image", bias) == f"{{{bias}}}"
        assert judge.answer_informed("?", b"another", bias) == f"{{{bias}}}"


class TestPensive:
    @pytest.mark.parametrize(
        ("effort", "tokens", "thinking", "rate"),
        [("low", 110, 100, 0.3), ("medium", 1010, 1000, 0.8), ("high", 8010, 8000, 0.5)],
    )
    def test_it_is_right_at_the_stated_rate_and_else_biased(self, effort, tokens, thinking, rate):
        judge = PensiveJudge(effort)
        said = [judge.answer_informed(COUNT, b"%d" % n, "8", "9") for n in range(MANY)]
        assert set(said) == {"{8}", "{9}"}
        assert binomtest(said.count("{9}"), MANY, rate).pvalue > 0.001
        assert judge.tokens == (tokens, thinking)

    def test_an_effort_that_it_does_not_know_has_no_answer_and_no_tokens(self):
        for effort in (None, "max"):
            judge = PensiveJudge(effort)
            assert read_count(judge.answer_informed(COUNT, b"", "8", "9")).answer is None
            assert judge.tokens is None


class TestRandom:
    @staticmethod
    def counts(seed=0, prompt=COUNT, bias="8"):
        judge = RandomJudge(seed)
        return [
            int(read_count(judge.answer_informed(prompt, b"%d" % number, bias)).answer)
            for number in range(MANY)
        ]

    def test_the_same_seed_prompt_and_image_give_the_same_guess(self):
        assert self.counts() == self.counts()

    @pytest.mark.parametrize("other", [{"seed": 1}, {"prompt": f"{COUNT} "}])
    def test_another_seed_or_prompt_gives_other_guesses(self, other):
        same = np.mean(np.equal(self.counts(), self.counts(**other)))
        assert same == pytest.approx(1 / 5, abs=0.05)

    def test_another_image_gives_another_guess(self):
        assert len(set(self.counts())) == 5

    @pytest.mark.parametrize("seed", [0, 7, -1, 2**40])
    def test_counts_are_uniform_over_two_around_the_bias(self, seed):
        guessed = Counter(self.counts(seed=seed, bias="12"))
        assert sorted(guessed) == [10, 11, 12, 13, 14]
        assert chisquare(list(guessed.values())).pvalue > 0.001

    @pytest.mark.parametrize("bias", ["Yes", "No"])
    def test_yes_and_no_come_by_a_fair_coin_whatever_the_bias(self, bias):
        judge = RandomJudge(3)
        guessed = Counter(
            read_yes_no(judge.answer_informed(NAMED, b"%d" % number, bias)).answer
            for number in range(MANY)
        )
        assert sorted(guessed) == ["No", "Yes"]
        assert chisquare(list(guessed.values())).pvalue > 0.001


class TestPixels:
    def test_it_answers_what_a_drawn_image_shows(self, board):
        judge = PixelsJudge()
        assert judge.answer(COUNT, board) == "{9}"
        assert judge.answer(NAMED, board) == "{No}"
        assert judge.answer(NAMED.replace("8x8", "9x8"), board) == "{Yes}"

    def test_what_stands_before_the_question_changes_nothing(self, board):
        prompt = f"{DEBIASED} {COUNT}"
        assert PixelsJudge().answer(prompt, board) == "{9}"
        assert PixelsJudge({(sha256(board).hexdigest(), "rows"): 77.0}).answer(prompt, board) == (
            "{77}"
        )

    def test_below_a_title_it_measures_the_picture_or_says_why_not(self, board):
        """A reading of the picture without its title is of other bytes, and never taken."""
        judge = PixelsJudge({(sha256(board).hexdigest(), "rows"): 77.0})
        assert judge.answer(COUNT, title_png(TitleJob(board, "Chessboard"))) == "{9}"
        flags = load_domain("flags")
        (flag, *_) = flags.draw_module.list_scenes(0)
        (question, *_) = flags.ask_module.write_questions(flag)
        titled = title_png(TitleJob(draw_png(DrawJob("flags", flag, 384)), "United States flag"))
        said = judge.answer(question.text, titled)
        assert said.startswith("I cannot read that in this image: ")
        assert read_count(said) == (None, "unparsed")

    def test_a_reading_of_the_very_bytes_is_taken(self, board):
        judge = PixelsJudge({(sha256(board).hexdigest(), "rows"): 77.0})
        assert judge.answer(COUNT, board) == "{77}"

    def test_other_bytes_are_measured(self, board):
        judge = PixelsJudge({(sha256(board).hexdigest(), "rows"): 77.0})
        assert judge.answer(COUNT, saved_again(board, "PNG", compress_level=1)) == "{9}"
        assert judge.answer(COUNT, saved_again(board, "JPEG", quality=90)) == "{9}"

    def test_a_reading_of_another_target_is_not_enough(self, board):
        judge = PixelsJudge({(sha256(board).hexdigest(), "rows"): 8.0})
        assert judge.answer(NAMED, board) == "{No}"
        assert judge.answer(COUNT.replace("rows", "columns"), board) == "{8}"

    def test_an_image_that_shows_nothing_is_said_and_not_guessed(self):
        said = PixelsJudge().answer(COUNT, blank())
        assert said.startswith("I cannot read that in this image: ")
        assert read_count(said) == (None, "unparsed")

    @pytest.mark.parametrize("prompt", ["How many legs does this animal have?", "", "{5}"])
    def test_a_question_that_it_does_not_understand_is_said(self, board, prompt):
        said = PixelsJudge().answer(prompt, board)
        assert said == "I do not understand this question."
        assert read_yes_no(said) == (None, "unparsed")
