"""Each case of the benchmark on little work, and the table that it prints."""

import sys
from itertools import starmap
from types import SimpleNamespace

import pytest

from bench import __main__ as runner
from bench import (
    answers,
    asking,
    calls,
    cassette,
    drawing,
    front_page,
    negation,
    pairs,
    prompts,
    quote,
    seeds,
    sketch,
)
from bench.figure import Figure
from tests.providers import Provider

FEW = {
    "calls": (calls, {"most": 1_000}),
    "cassette": (cassette, {"calls": 30, "few": 2, "many": 3}),
    "front_page": (front_page, {"judges": 2}),
    "negation": (negation, {"number": 2_000}),
    "prompts": (prompts, {"few": 40, "many": 50, "checked": 50}),
    "quote": (quote, {"stored": 60, "few": 2_500, "many": 5_000}),
    "sketch": (sketch, {"number": 1}),
}


@pytest.fixture
def figures(request, monkeypatch):
    """The figures of a case on little work; only concepts are sampled in processes of their own."""
    case, little = FEW[request.param]
    if work := {cassette: "_carry", front_page: "_measured", quote: "_quote"}.get(case):
        monkeypatch.setattr(
            case, "in_a_process", lambda module, *given: getattr(case, work)(*map(str, given))
        )
    return list(case.figures(**little))


@pytest.mark.parametrize(
    ("figures", "number"),
    [
        *(("calls", 1), ("cassette", 5), ("front_page", 4), ("negation", 2)),
        *(("prompts", 9), ("quote", 2), ("sketch", 3)),
    ],
    indirect=["figures"],
)
def test_a_case_measures(figures, number):
    assert len(figures) == number
    assert all(figure.value > 0 for figure in figures if figure.unit in {"s", "ms"})


def test_drawing_is_timed_apart_from_verifying(monkeypatch):
    monkeypatch.setattr(drawing, "SIZES", (384,))
    monkeypatch.setattr(drawing, "seconds", lambda jobs: (len(jobs) / 10, len(jobs) / 20))
    whole, _, *each = drawing.figures()
    assert (whole.what, whole.value) == ("drawing all 304 images, workers started first", 30.4)
    assert [figure.value for figure in each] == [pytest.approx(10), pytest.approx(20)] * 5
    jobs = drawing.benchmark("optical_illusions", [384])
    assert len(jobs) == 132
    monkeypatch.undo()
    spent = *drawing.seconds(jobs[:1]), *seeds.core_milliseconds(jobs[0])
    assert min(spent) > 0


def test_asking_takes_the_round_in_the_middle_by_what_is_above_the_bare_client(monkeypatch):
    costs = list(starmap(asking.Cost, [(5, 6, 0, 0), (1, 9, 0, 0), (2, 5, 4, 0)]))
    monkeypatch.setattr(asking, "text_requests", lambda: costs)
    monkeypatch.setattr(asking, "peak_megabytes", lambda images: images / 100)
    found = [figure.value for figure in asking.figures()]
    assert found == [2, 5, 3, 4, 0, 10]


# Dagster's own, while it makes a resource that is part of another one.
@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_pairs_are_painted_once_and_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "none")
    pairs.write_triplets(tmp_path, 2)
    with Provider() as provider:
        for number, seconds, megabytes in (pairs.paint(str(tmp_path), provider.url) for _ in "12"):
            assert number == 2 * pairs.SAMPLES
            assert seconds > 0
            assert 50 < megabytes < 50_000
        assert provider.count == 2 * 2 * pairs.SAMPLES


@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_stored_answers_are_found_and_none_is_asked_for(tmp_path):
    answers.prepare(tmp_path, 2)
    rows, seconds, megabytes = answers.ask(str(tmp_path))
    assert rows == 2 * 2 * 7
    assert seconds > 0
    assert 50 < megabytes < 50_000


def test_the_table_says_what_is_held(monkeypatch, capsys):
    made = [
        Figure("drawing", 3, "s", 2),
        Figure("reading", 1.5, "s", 2, "of one"),
        Figure("x", 1, ""),
    ]
    case = SimpleNamespace(__doc__="A case.\n\nMore.", figures=lambda: made)
    monkeypatch.setattr(runner, "import_module", lambda name: case)
    monkeypatch.setattr(sys, "argv", ["bench", "quote"])
    runner.main()
    _, _, title, *lines = capsys.readouterr().out.splitlines()
    assert title == "A case."
    assert [line.split(maxsplit=1) for line in lines] == [
        ["drawing", "3.00 s, at most 2: MISSED"],
        ["reading", "1.50 s, at most 2: held (of one)"],
        ["x", "1.00"],
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(["--list"], 0, "quote     A quote for many judges"), (["quotes"], 2, "no quotes. There are")],
)
def test_cases_are_listed_and_checked(monkeypatch, capsys, arguments, code, said):
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    if code:
        with pytest.raises(SystemExit) as ended:
            runner.main()
        assert ended.value.code == code
    else:
        runner.main()
    assert said in "".join(capsys.readouterr())


@pytest.mark.slow
def test_the_review_page_is_timed_in_a_browser():
    from bench import review  # noqa: PLC0415 - loads a browser's driver

    first, following = review.figures(pictures=6, decisions=3)
    assert first.what.startswith("the first of 6 pictures of 1.3 MB")
    assert first.unit == "s"
    assert following.unit == "ms"
    assert following.note.endswith("of 3")
    assert 0 < following.value < 1_000 * first.value
