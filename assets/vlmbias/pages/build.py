"""The site, made of tables."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from assets.report import publish
from assets.report.costs import costs
from assets.report.outcomes import served
from assets.report.rendering import Renderer, Shell
from assets.report.start_page import Entry
from assets.vlmbias.common import QUESTION, TITLE
from assets.vlmbias.pages import columns
from assets.vlmbias.pages.edited_flags import edited
from assets.vlmbias.pages.figures import COUNTING, NAMING, PARTIAL, SANITY, Accuracy, AccuracyColumn
from assets.vlmbias.pages.finding import finding
from assets.vlmbias.pages.gathering import gather
from assets.vlmbias.pages.outcomes import Outcomes
from assets.vlmbias.pages.proofs import PROOFS
from assets.vlmbias.pages.scenes import PicturedScene
from assets.vlmbias.pages.site import VlmbiasSite
from assets.vlmbias.pages.standings import judged
from assets.vlmbias.pages.unproved_answers import (
    accuracy_by_painter,
    build_unproved_parts,
    select_proved,
    separate_accuracy,
)
from generators.domains import OutlineBox
from generators.topics import DRAWN, PHOTOGRAPHED
from generators.topics import get_title as topic_title
from metrics import BASELINE, TASK_MEAN
from resources.calls.spending import SpendingRow

_LINKS = (
    ("Leaderboard", "index.html#leaderboard"),
    ("Topics", "index.html#topics"),
    ("Tables", "index.html#tables"),
    ("Gallery", "gallery.html"),
)
_Q1_Q2 = "on Q1 and Q2"


def build(
    *,
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    accuracy: pd.DataFrame,
    facts: Mapping[str, str],
    references: Collection[str],
    complete: int,
    partial: Mapping[str, Sequence[str]] = MappingProxyType({}),
    edited_tables: Collection[pd.DataFrame] = (),
    spent: Sequence[SpendingRow] = (),
    originals: bool = False,
    outlines: Mapping[str, Sequence[OutlineBox]] = MappingProxyType({}),
    dates: Mapping[str, str] = MappingProxyType({}),
) -> publish.Site:
    """Make the site of tables in the columns of the assets of the same names.

    `images` have the columns of photographs (empty where a picture is drawn), and `measurements`
    one more: `agrees`, whether the reading confirms the label (False where there is none). `facts`
    are the lines of the footer; `references` names the judges that are no models but bracket them;
    `complete` is how many images the benchmark has when all are made; `partial` says, by judge,
    what was asked in part, whose answers are of the image set of that name; `edited_tables` are
    those of the writers that edited drawings, and `outlines`, by base image, what was changed;
    `dates` says by judge when its answers were stored.
    Photographs are shown smaller than they are; with `originals` they lie in the site as they are
    as well, and pages lead to them.
    """
    scenes, judges = gather(images, measurements, questions, answers, references)
    for scene in scenes:
        scene.outline = outlines.get(scene.base_id, ())
    titles = _titles(scenes)
    partly = accuracy[accuracy["image_set"].eq(PARTIAL)]
    shown = Accuracy.build(select_proved(accuracy), list(titles), references, partly)
    site = VlmbiasSite(
        titles=titles,
        scenes=scenes,
        judges=judges,
        accuracy=shown,
        in_part=Accuracy.build(partly, list(titles), references),
        partial=partial,
        separate=separate_accuracy(answers, list(titles), references),
        by_painter=accuracy_by_painter(answers, list(titles), references),
        outcomes=Outcomes.build(
            select_proved(answers), {name: titles[name] for name in shown.topics}, references
        ),
        served=served(
            answers[~answers["model"].isin(references)].rename(columns={"model": "name"})
        ),
        complete=complete,
        edited=edited(edited_tables, scenes),
        costs=costs(spent),
        originals=originals,
    )
    front_finding = finding(site, BASELINE)
    return publish.Site(
        entry=Entry(TITLE, QUESTION, front_finding.sentence, front_finding.firmness),
        pages=_pages(site, Shell(TITLE, facts, _LINKS)),
        pictures=site.images,
        thumbnails=site.thumbnails,
        metadata={"scenes": len(scenes), "images": len(site.pictures)},
        judged=judged(site, dates),
    )


def _titles(scenes: Sequence[PicturedScene]) -> dict[str, str]:
    """The title of every topic that has a scene, in the order of the scenes."""
    known_topics = {*DRAWN, *PHOTOGRAPHED}
    return {
        name: topic_title(name) if name in known_topics else name.replace("_", " ").capitalize()
        for name in dict.fromkeys(scene.domain for scene in scenes)
    }


def _pages(site: VlmbiasSite, shell: Shell) -> Iterator[tuple[str, str]]:
    templates = Path(__file__).parent / "templates"
    page = Renderer(templates, shell, site=site, proofs=PROOFS, question=QUESTION).page
    for way in site.ways:
        yield from page(
            way.page, "index.html", way=way, costs=site.costs, **_front(site, way.prompting)
        )
    yield from page("gallery.html", "gallery.html")
    around = [None, *site.scenes, None]
    for scene, before, after in zip(site.scenes, around, around[2:], strict=False):
        yield from page(scene.page, "scene.html", scene=scene, before=before, after=after)


def _front(site: VlmbiasSite, prompting: str) -> dict[str, object]:
    accuracy, titles = site.accuracy, site.select_titles(site.accuracy)
    judges, question_groups = accuracy.line_up(prompting), accuracy.questions(prompting)
    tables = {
        "leaderboard": (f"Accuracy {_Q1_Q2}", columns.leaderboard_columns(titles)),
        # Fig. 4, Appendix L.5.
        "mistakes": (
            "Answers to Q1 and Q2 and the bias share of the wrong ones",
            columns.benchmark_columns(titles, measure="bias_share_of_wrong", extra="bar"),
        ),
        "promptings": (
            f"Accuracy {_Q1_Q2} by way of asking",
            columns.prompting_columns(TASK_MEAN, accuracy.promptings),
        ),
        "counting": (
            f"Accuracy {_Q1_Q2} of originals and counterfactuals",
            columns.variant_columns(titles, COUNTING),
        ),
        "naming": (
            "Accuracy on Q3 of originals and counterfactuals",
            columns.variant_columns(titles, NAMING),
        ),
        "naming_by_topic": ("Accuracy on Q3", columns.leaderboard_columns(titles, NAMING)),
        "sizes": (f"Accuracy {_Q1_Q2} by size", columns.size_columns(TASK_MEAN, accuracy.sizes)),
        "sanity": ("Accuracy on the sanity check", columns.sanity_columns()),
        "bias": (f"Bias rate {_Q1_Q2}", columns.benchmark_columns(titles, measure="bias_rate")),
    }
    return {
        "tables": {
            name: accuracy.table(*caption_and_columns, prompting)
            for name, caption_and_columns in tables.items()
        },
        "asks_naming": NAMING in question_groups,
        "asks_sanity": not question_groups.isdisjoint(SANITY),
        "outcomes": site.outcomes.overall_table(judges),
        "outcomes_by_topic": site.outcomes.topic_table(judges),
        "in_part": site.in_part.table(
            f"Accuracy and bias rate {_Q1_Q2}, of answers to a part of the questions",
            columns.partial_columns(site.select_titles(site.in_part)),
            prompting,
        ),
        "separate": build_unproved_parts(site.separate, site.titles, prompting),
        "topics": [_topic(site, domain, prompting) for domain in site.titles],
        "finding": finding(site, prompting),
    }


def _topic(site: VlmbiasSite, domain: str, prompting: str) -> dict[str, object]:
    """A topic's section on the front page: an example and what every judge made of it.

    `chart` is None where no judge was asked about any picture that proves something, and
    `painters` where a single painter painted all that are accepted.
    """
    accuracy, title = site.accuracy, site.titles[domain]
    scenes = [scene for scene in site.scenes if scene.domain == domain]
    changed = [scene for scene in scenes if scene.variant == "counterfactual"]
    paired = (scene for scene in changed if scene.original is not None)
    painters = site.by_painter.subtopics(domain)
    both = f"accuracy and bias rate {_Q1_Q2}"
    subtopics = columns.subtopic_columns(accuracy.subtopics(domain), domain)
    sizes = columns.size_columns(domain, accuracy.sizes)
    ways = columns.prompting_columns(domain, accuracy.promptings)
    return {
        "domain": domain,
        "title": title,
        "example": next(paired, next(iter(changed), None)),
        "images": sum(len(scene.pictures) for scene in scenes),
        "proofs": Counter(picture.proof for scene in scenes for picture in scene.pictures),
        "chart": accuracy.chart(domain, title, AccuracyColumn("", domain), prompting)
        if domain in accuracy.topics
        else None,
        "subtopics": accuracy.table(f"{title} by subtopic: {both}", subtopics, prompting),
        "sizes": accuracy.table(f"{title} by size: accuracy {_Q1_Q2}", sizes, prompting),
        "promptings": accuracy.table(
            f"{title} by way of asking: accuracy {_Q1_Q2}", ways, prompting
        ),
        "painters": site.by_painter.table(
            f"{title} by painter: {both}", columns.painter_columns(painters, domain), prompting
        )
        if painters
        else None,
    }
