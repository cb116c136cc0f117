"""The asset that makes the front page: who is in the catalog, and what would fill their cells."""

import pytest
from dagster import AssetKey, materialize

from assets.front import FRONT_PAGE, build_front_page
from assets.front.gaps import describe_gap
from assets.kit.benchmarks import load_used_benchmarks
from assets.planning import CellQuote, Prerequisite
from assets.planning.lines import QuoteLine
from assets.report.roster import Roster
from assets.report.standings import JudgeResults
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from tests.assets.plans import definitions_of
from tests.assets.report.fronts import ACCURACY, site, standing

EYE = Model(name="eye", backend="openai", model="gpt-9", family="gpt", roles=("judge",))
CLIP = Model(name="clip", backend="file", model="clip.csv", family="clip", roles=("metric",))
UNMADE = QuoteLine("zoo", "", EYE, missing_asset="zoo/captions_ear")
PRIOR = Model(name="prior", backend="stand_in", model="prior", family="stand_in", roles=("judge",))


@pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run:DeprecationWarning")
def test_who_was_just_added_has_a_row_of_commands(tmp_path):
    catalog = Catalog((PRIOR, EYE, CLIP))
    folder = tmp_path / "report"
    folder.mkdir()
    site(folder / "zoo", "Zoo", JudgeResults([ACCURACY], [standing("eye", 0.4)]))
    site(folder / "frame", "FRAME", JudgeResults([ACCURACY], [standing("eye", 0.2)]))
    asset = build_front_page(catalog, lambda: definitions_of(catalog))
    assert asset.keys == {FRONT_PAGE}
    assert {AssetKey([name, "report"]) for name in load_used_benchmarks()} == asset.dependency_keys
    result = materialize([asset], resources=build_default_resources(str(tmp_path)))
    (event,) = result.get_asset_materialization_events()
    assert event.materialization.metadata["judges"].value == 3
    roster = Roster.read(folder)
    assert [(each.name, each.kind) for each in roster.judges] == [
        ("prior", "stand_in"),
        ("eye", "judge"),
        ("clip", "metric"),
    ]
    assert set(roster.gaps) == {"eye", "clip"}
    # What has its numbers is not planned: that would take long, and nobody is shown it.
    assert set(roster.gaps["eye"]) == set(load_used_benchmarks()) - {"frame"}
    assert set(roster.gaps["clip"]) == set(load_used_benchmarks())
    for name, gap in roster.gaps["eye"].items():
        # What is asked about pictures of painters has none here.
        wanted = "counterfactory " if name in ("vlmbias", "vhexpansion", "philautia") else ""
        assert gap.command.startswith(wanted)
        assert bool(gap.command) != ("add one" in gap.details)
    assert roster.gaps["clip"]["vlmbias"].command == ""
    page = (folder / "index.html").read_text()
    assert "40.0\u00a0%" in page
    for benchmark in load_used_benchmarks().values():
        assert benchmark.title in page
    row = next(row for row in page.split("<tr") if "judges/eye.html" in row)
    assert row.count("data-value") == 2
    assert row.count("<details") == sum(bool(gap.price) for gap in roster.gaps["eye"].values())


@pytest.mark.parametrize(
    ("cell", "price", "told"),
    [
        (CellQuote(EYE, "zoo", is_applicable=False), "", "asks nothing of such a model"),
        (CellQuote(EYE, "zoo", is_applicable=True, error="Damaged."), "no quote", "Damaged."),
        (
            CellQuote(
                EYE,
                "zoo",
                is_applicable=True,
                partitions=2,
                prerequisites=[Prerequisite((FRONT_PAGE,), ("a",))],
            ),
            "no quote yet",
            "Nothing is there yet to be asked about. This makes it.",
        ),
        (
            CellQuote(EYE, "zoo", is_applicable=True, partitions=2, stand_in_partitions=2),
            "no quote yet",
            "Nothing to ask about: stand-ins make all there is, or its tables are empty. Add a "
            "painter to models.yaml, or a collection to collections.yaml.",
        ),
        (
            CellQuote(EYE, "zoo", is_applicable=True, partitions=2, ready=1, line=UNMADE),
            "no quote yet",
            "Nothing to ask about yet: first make zoo/captions_ear.",
        ),
    ],
)
def test_a_gap_says_what_would_fill_it(cell, price, told):
    gap = describe_gap(cell, asks=cell.is_applicable)
    assert (gap.price, gap.details) == (price, told)
    assert bool(gap.command) == bool(cell.prerequisites)


def test_only_numbers_for_every_measure_and_of_no_stand_in_fill_a_cell():
    other = ACCURACY._replace(name="other")
    one = standing("eye", 0.4)
    both = [one, one._replace(measure="other")]
    assert JudgeResults([ACCURACY, other], both).covers("eye")
    assert not JudgeResults([ACCURACY], [one._replace(firmness="trial")]).covers("eye")
    assert not JudgeResults([ACCURACY, other], [one]).covers("eye")
    assert not JudgeResults([ACCURACY], [one._replace(firmness="stand-in")]).covers("eye")
    assert not JudgeResults([ACCURACY], [one]).covers("clip")
    assert not JudgeResults().covers("eye")
