"""Sites that tell of made-up judges, and a roster, for the front page."""

import io
from pathlib import Path

from PIL import Image

from assets.report.conditions import Conditions
from assets.report.openings import Entry
from assets.report.publish import Site, Thumbnail, publish
from assets.report.roster import Gap, Listed, Planned, Roster
from assets.report.standings import Course, Failure, JudgeResults, Measure, MonthRate, Standing
from metrics.statistics.firmness import Firmness

ACCURACY = Measure("Accuracy", "higher", "share", "The share of questions answered right.")
BIAS = Measure("Bias rate", "lower", "share", "The share answered with what is usual.")
INFLATION = Measure("Inflation", "near 0", "change", "How much more for words on a picture.")
ODD = 'a/<script>alert("x")</script> & ../..'
"""A judge's name that is no file's name."""
PICTURE = Thumbnail("0" * 64, 200)

CONDITIONS = {
    "eye": [
        Conditions(
            "zoo",
            {"engine": "vLLM 0.11.0", "dtype": "bfloat16"},
            *(240, "2026-11-20", "2026-11-20"),
            *(["by tags"], 12, 3456),
        ),
        Conditions(
            "words", {"engine": "vLLM 0.12.0", "dtype": "bfloat16"}, 90, "2026-11-20", "2026-11-21"
        ),
    ],
    "clip": [Conditions("words", {"dtype": "float32"}, 5, "2026-11-21", "2026-11-21")],
    "ear": [Conditions("zoo", {}, 7, "2026-11-21", "2026-11-21", ["by provider"], 1)],
}


def standing(
    model: str,
    value: float | None,
    firmness: Firmness = "result",
    measure: Measure = ACCURACY,
    of: str = "",
) -> Standing:
    """A number with an interval of 0.1 to both sides."""
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    when, link = "2026-11-20", "index.html#top"
    name = measure.name
    return Standing(model, name, firmness, value, *ends, 240, "pictures", when, link, of)


def failure(model: str, number: int = 0, firmness: Firmness = "result") -> Failure:
    """A picture of which a judge said something else than what is true."""
    asked = f"How many legs has animal {number}?"
    return Failure(model, firmness, PICTURE.file, "An <b>animal</b>", asked, "4", "5", "index.html")


def site(folder: Path, title: str, judged: JudgeResults) -> None:
    """Publish a site of one empty page."""
    entry = Entry(title, "does it look?", f"{title} has found <something>.", "result")
    pages = [("index.html", "<!doctype html><p id='top'>")]
    publish(folder, Site(entry, pages, (), [PICTURE], judged=judged), png_of)


def png_of(sha256: str) -> bytes:
    """The one picture."""
    data = io.BytesIO()
    Image.new("RGB", (300, 200), "#335577").save(data, "PNG")
    return data.getvalue()


def front(root: Path) -> Path:
    """Two benchmarks with judges of every kind, and a third that has no report.

    Of the judges `eye` and the odd one have results, `ear` has a trial that looks best of all,
    `new` is in models.yaml alone, `gone` in the sites alone, and `prior` is a stand-in judge.
    """
    root.mkdir(parents=True, exist_ok=True)
    accuracy = [
        standing("eye", 0.4),
        standing("ear", 0.95, "trial"),
        standing(ODD, 0.6),
        standing("gone", None)._replace(note="2 of 5 topics"),
        standing("prior", 0.0, "stand-in"),
        standing("eye", 0.2, measure=BIAS),
    ]
    inflation = [
        standing("eye", 0.25, "trial", INFLATION, "pictures of flux"),
        standing("eye", -0.125, "result", INFLATION, "pictures of sdxl"),
        standing("eye", 0.5, "stand-in", INFLATION, "pictures of sketch"),
    ]
    failures = [failure("eye", number) for number in range(12)]
    failures.append(failure("prior", 77, "stand-in"))
    other = failure("eye", 99)._replace(comparison=PICTURE.file, comparison_alt="As it was")
    months = [MonthRate(f"2026-{month:02}", 0.5, 0.4, 0.6, "200 answers") for month in (1, 2, 3)]
    months.append(MonthRate("2026-04", None, None, None, "0 answers; 200 refused"))
    sentences = ["eye no longer answers as in <2026-02>.", "Another model since 2026-03."]
    course = Course("eye", "Zoo, month by month", sentences, "Two tests.", months, ["2026-03"])
    site(root / "zoo", "Zoo", JudgeResults([ACCURACY, BIAS], accuracy, failures, [course]))
    site(root / "words", "Words", JudgeResults([INFLATION], inflation, [other]))
    gap = Gap("counterfactory judge new --benchmark zoo", "at most $3.40", "5,472 requests.")
    nothing = Gap("", "", "asks nothing of such a model")
    Roster(
        "2026-11-21",
        [
            Listed("prior", "stand_in", ""),
            *(Listed(name, "judge", "openai: gpt") for name in ("new", "eye", "ear", ODD)),
            Listed("clip", "metric", "clip"),
        ],
        [Planned("zoo", "Zoo"), Planned("words", "Words"), Planned("last", "Last")],
        {"new": {"zoo": gap, "words": gap, "last": gap}, "clip": {"zoo": nothing}},
        CONDITIONS,
    ).write(root)
    return root
