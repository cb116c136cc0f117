"""The report: its measures, the pages of its scenes, and what each judge got wrong as expected."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from assets.kit.step_run import Row
from assets.report.benchmark_report import BenchmarkReport, Page
from assets.report.costs import RuleDecisions
from assets.report.formats import Rate, capitalize_first, first_sentence, format_count, read_rate
from assets.report.outcomes import served
from assets.report.publish import Site
from assets.report.published import Published
from assets.report.standings import Course, Failure, Measure, Standing, round_robin
from assets.report.thinking import GAIN, ThinkingAxis
from assets.vlmbias.blind_answers import NO_BLIND_ANSWERS
from assets.vlmbias.common import QUESTION, TITLE
from assets.vlmbias.pages import figures, paper, tables
from assets.vlmbias.pages.blind_answers import BlindComparison
from assets.vlmbias.pages.differences import CountedAnswers
from assets.vlmbias.pages.edited_flags import edited
from assets.vlmbias.pages.figures import PARTIAL, Accuracy
from assets.vlmbias.pages.finding import NOTHING, find
from assets.vlmbias.pages.gathering import gather
from assets.vlmbias.pages.isolation import IsolationComparison
from assets.vlmbias.pages.judges import PromptedJudge
from assets.vlmbias.pages.outcomes import Outcomes
from assets.vlmbias.pages.proofs import PROOFS
from assets.vlmbias.pages.readings import Readings
from assets.vlmbias.pages.rerolled import RerollFindings
from assets.vlmbias.pages.scene_gallery import SceneGallery
from assets.vlmbias.pages.scenes import COUNTING, PicturedScene
from assets.vlmbias.pages.site import VlmbiasSite
from generators.domains import OutlineBox
from generators.topics import get_title
from metrics import BASELINE
from metrics.statistics.firmness import Firmness
from resources.calls.spending import SpendingRow

MEASURES: Mapping[figures.Measure, Measure] = {
    "accuracy": Measure(
        "Counterfactual accuracy",
        "higher",
        "share",
        "Of questions about pictures that differ from what is usual, the share answered right.",
    ),
    "bias_rate": Measure(
        "Bias rate",
        "lower",
        "share",
        "Of the same questions, the share answered with what is usual.",
    ),
}
_SURROUNDINGS = Measure(
    "Gain without surroundings",
    "near 0",
    "points",
    "Accuracy where what is counted is drawn alone, less that about the same scenes whole.",
    unit="points of 100",
    left_label="worse alone",
    right_label="better alone",
    is_optional=True,
)
_PROVED = ("pixels", "accepted")


def build(
    *,
    images: pd.DataFrame,
    measurements: pd.DataFrame,
    questions: pd.DataFrame,
    answers: pd.DataFrame,
    blind_answers: pd.DataFrame = NO_BLIND_ANSWERS,
    rerolled: Sequence[Row] = (),
    accuracy: pd.DataFrame,
    facts: Mapping[str, str],
    stand_ins: Collection[str],
    complete: int,
    partial: Mapping[str, Sequence[str]] = MappingProxyType({}),
    edited_tables: Collection[pd.DataFrame] = (),
    spent: Sequence[SpendingRow] = (),
    decisions: Sequence[RuleDecisions] = (),
    full_size: bool = False,
    outlines: Mapping[str, Sequence[OutlineBox]] = MappingProxyType({}),
    dates: Mapping[str, str] = MappingProxyType({}),
    courses: Sequence[Course] = (),
    axes: Sequence[ThinkingAxis] = (),
) -> Site:
    """Make the site of tables in the columns of the assets of the same names.

    `images` have the columns of photographs, and `measurements` one more: `agrees`, whether the
    reading confirms the label. `complete` is how many images the benchmark has when all are made;
    `partial` says, by judge, what was asked in part; `edited_tables` are those of the writers that
    edited drawings, and `outlines`, by base image, what was changed; `dates` says by judge when its
    answers were stored, `courses` are of judges that were asked again each month, `axes` of judges
    at several steps of thinking, and `rerolled` has each judge's comparison with new pictures. With
    `full_size` photographs lie in the site as large as they are as well.
    """
    scenes, judges = gather(images, measurements, questions, answers, stand_ins, outlines)
    titles = {name: get_title(name) for name in dict.fromkeys(scene.row.domain for scene in scenes)}
    partly = accuracy[accuracy["image_set"].eq(PARTIAL)]
    shown = Accuracy.build(tables.select_proved(accuracy), titles, stand_ins, partly)
    replies = answers[~answers["model"].isin(stand_ins)].rename(columns={"model": "name"})
    edits = edited(edited_tables, scenes)
    benchmark = VlmbiasSite(
        scenes=SceneGallery(scenes, judges, titles, complete, edits, full_size),
        accuracy=shown,
        in_part=Accuracy.build(partly, titles, stand_ins),
        partial=partial,
        unproved=tables.unproved_accuracy(answers, titles, stand_ins),
        by_painter=tables.accuracy_by_painter(answers, titles, stand_ins),
        outcomes=Outcomes.build(
            tables.select_proved(answers),
            {name: titles[name] for name in shown.topics},
            stand_ins,
        ),
        readings=Readings.build(answers, stand_ins),
        counted=CountedAnswers.select(answers),
        rerolled=RerollFindings(rerolled),
        blind=BlindComparison.build(answers, blind_answers, stand_ins, scenes),
        isolation=IsolationComparison.build(answers, stand_ins, scenes),
        axes=axes,
        served=served(replies),
        dates=dates,
        courses=courses,
    )
    way = benchmark.scenes.ways[0]
    site = REPORT.build(
        [benchmark],
        facts=facts,
        spent=spent,
        decisions=decisions,
        site=benchmark,
        way=way,
        thinking=benchmark.thinking,
    )
    counts = {"scenes": len(scenes), "images": len(benchmark.scenes.pictures)}
    return replace(site, metadata=counts)


def _pages(site: VlmbiasSite) -> Iterator[Page]:
    """A front page for each further way of asking, and a page for each scene."""
    for way in site.scenes.ways[1:]:
        finding = find(site, way.prompting)
        yield Page(way.page, "front.html", {"way": way, "finding": finding})
    scenes = site.scenes.scenes
    around = [None, *scenes, None]
    for scene, before, after in zip(scenes, around, around[2:], strict=False):
        yield Page(scene.page, "scene.html", {"scene": scene, "before": before, "after": after})


def _standings(site: VlmbiasSite) -> Iterator[Standing]:
    """The task means of every judge under the baseline, and its gains.

    These are those without surroundings, and by thinking.
    """
    for judge, (table, column, evidence) in site.task_means(BASELINE).items():
        row = table.cells[judge, column.place]
        for name, measure in MEASURES.items():
            yield site.standing(
                judge.model,
                measure,
                evidence,
                table.rate(judge, column._replace(measure=name)),
                items=int(row.answers) if evidence.has_number else 0,
                unit=f"answers about {format_count(int(row.base_images))} scenes",
                section="partial" if column.image_set == PARTIAL else "leaderboard",
                scope="",
                notes=[table.extent, site.rerolled.note(judge.model)],
            )
    for line in (line for line in site.isolation.lines if line.evidence.requests):
        pairs = line.rows.get(figures.COUNTING, {"pairs": 0, "scenes": 0})
        yield site.standing(
            line.judge,
            _SURROUNDINGS,
            line.evidence,
            read_rate(pairs, "difference") if line.rows else Rate(None),
            items=pairs["pairs"],
            unit=f"pairs of answers about {format_count(pairs['scenes'])} scenes",
            section="surroundings",
            scope="",
        )
    yield from site.thinking.list_gains(site)


def _failures(site: VlmbiasSite, gallery: SceneGallery) -> Iterator[Failure]:
    """Answers with what is usual to counting questions about proved counterfactuals.

    One a scene, and the topics in turn.
    """
    for judge, mean in site.task_means(BASELINE).items():
        by_topic: defaultdict[str, list[Failure]] = defaultdict(list)
        for scene in gallery.scenes:
            if scene.row.variant == "counterfactual" and scene.proof in _PROVED:
                by_topic[scene.row.domain] += [*_biased(scene, judge, mean.evidence.firmness)][:1]
        yield from round_robin(by_topic.values())


def _biased(scene: PicturedScene, judge: PromptedJudge, firmness: Firmness) -> Iterator[Failure]:
    for question in scene.questions:
        answer = question.find_answer(judge) if question.row.question_id in COUNTING else None
        if answer is not None and answer.biased:
            yield Failure(
                judge.model,
                firmness,
                scene.card,
                f"Changed: {scene.name}" if scene.original else capitalize_first(scene.name),
                first_sentence(question.row.question),
                answer.answer or "",
                question.row.ground_truth,
                scene.href,
                comparison=scene.original.card if scene.original else "",
                comparison_alt="As it was" if scene.original else "",
            )


def _match_published(site: VlmbiasSite, published: Published) -> Published:
    """The paper's means over the topics of one's own judges; without any, all, and what differs."""
    basis = site.firmest_basis(BASELINE)
    if basis.models:
        return paper.restrict_published(published, basis.table.topics)
    if not basis.table.extent:
        return published
    stand_ins = f"The stand-ins' means are {basis.table.extent}, so that they do not compare."
    return replace(published, differences=f"{stand_ins} {published.differences}")


REPORT = BenchmarkReport(
    title=TITLE,
    question=QUESTION,
    templates=Path(__file__).parent / "templates",
    sections=("Leaderboard", "Topics", "Tables"),
    links=[("Gallery", "gallery.html")],
    values={"find": find, "paper": paper, "proofs": PROOFS, "tables": tables},
    order=lambda sites: sites,
    stand_in_sentence=NOTHING,
    sentence=lambda site: find(site, BASELINE).sentence,
    gallery=lambda site: site.scenes,
    thumbnails=lambda gallery: gallery.thumbnails,
    pictures=lambda gallery: gallery.images,
    pages=_pages,
    published=paper.load_published(),
    match_published=_match_published,
    place=1,
    measures=[*MEASURES.values(), _SURROUNDINGS, GAIN],
    standings=_standings,
    failures=_failures,
    courses=lambda site: site.courses,
)
