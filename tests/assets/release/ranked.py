"""The small benchmark with a report: judges say whether squares are dark, and are ranked by it."""

import warnings
from dataclasses import replace

import dagster as dg

from assets.kit.leaderboards import Leaderboard, ScoredSample
from assets.report.standings import JudgeResults, Measure, Standing
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from resources.storage.data_root import DataRoot
from tests.assets.release.small import KEY, SHADES, SHAPES, squares
from tests.instances import unread
from tests.runs import STAND_INS

MEASURE = Measure("Accuracy", "higher", "share", "The share of squares that are named right.")
REPLIES = {"dark/10": "{dark}", "dark/20": "{dark}\u2028sure", "dark/30": "{light} I see it"} | {
    f"light/{shade}": "{light}" for shade in SHADES["light"]
}
EYE = Model(name="eye", backend="openai", model="gpt:5", family="gpt", roles=("judge",))
GLANCE = EYE.model_copy(update={"name": "glance", "model": "gpt-4o"})
REPORT = dg.AssetKey(["shapes", "report"])


def load_samples(home, judge, scope):
    for partition in SHADES:
        for row in home.table(KEY, partition).to_dict("records"):
            reply = REPLIES[row["square"]]
            answer = reply.strip("{}").partition("}")[0]
            yield ScoredSample(
                sample_id=row["square"],
                partition=partition,
                picture_sha256=row["sha256"],
                prompts=("Is it dark?",),
                references=(partition,),
                replies=(reply,),
                answers=(answer,),
                score=float(answer == partition),
            )


def build_standing(name, firmness, value, note=""):
    return Standing(
        model=name,
        measure=MEASURE.name,
        firmness=firmness,
        value=value,
        low=None if value is None else value - 0.1,
        high=None if value is None else value + 0.1,
        items=6,
        unit="squares",
        date="2026-11-20",
        link="index.html#leaderboard",
        note=note,
    )


RESULTS = JudgeResults(
    measures=[MEASURE],
    standings=[
        build_standing("eye", "result", 5 / 6),
        build_standing("glance", "trial", 1.0, "2 of 6 squares"),
        build_standing("prior", "stand-in", 0.5),
        build_standing("random", "not run", None, "not run"),
        build_standing("gone", "result", 0.3),
    ],
)
RANKED = replace(
    SHAPES,
    leaderboard=Leaderboard(
        measure=MEASURE.name,
        config="squares",
        split="test",
        list_tasks=lambda partitions: {"darkness": ""},
        load_samples=load_samples,
    ),
)


@dg.asset(key=REPORT, deps=[KEY])
def report(home: DataRoot) -> dg.MaterializeResult[None]:
    folder = home.path("report", "shapes")
    folder.mkdir(parents=True, exist_ok=True)
    name, text = RESULTS.file
    (folder / name).write_text(text)
    return dg.MaterializeResult()


def with_report(sources, root):
    """The sources, with a report that was made last."""
    resources = build_default_resources(str(root))
    with warnings.catch_warnings(), unread(sources.instance):
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        assert dg.materialize(
            [squares, report], instance=sources.instance, resources=resources, selection=[report]
        ).success
    graph = dg.Definitions(assets=[squares, report], resources=resources).resolve_asset_graph()
    return replace(sources, graph=graph, catalog=Catalog((*STAND_INS, EYE, GLANCE)))
