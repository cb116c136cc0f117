"""What the report of ProtoBias is made of, and when there is none."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance

from assets.kit.columns import Columns, to_records
from assets.kit.table_asset import TablesMismatch
from assets.protobias.common import load_by_domain
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.image_pairs import IMAGE_PAIRS
from assets.protobias.prompt_triplets import TRIPLETS
from assets.protobias.report import build_footer_facts, describe_unsummarised, load_painter_results
from assets.protobias.retention import count_retention
from assets.protobias.score_table import load_all_scores
from assets.protobias.scores import SCORES
from assets.protobias.selection import count_retention as kept_in_metadata
from assets.protobias.summary import SUMMARY
from metrics.protobias.ranking import ranking_table
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot
from tests.assets.protobias.pairs_data import (
    METRICS,
    Pictures,
    painted,
    pairs_of,
    scores_of,
    triplets_of,
)
from tests.runs import copied, failure, materialize

SCORERS = [
    Model(name=name, backend="openai", model=name, family=name, roles=("judge",))
    for name in METRICS
]


class Tables:
    """The stored tables of a painter, of some domains."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root, DataRoot(root=str(root))

    def make(self) -> None:
        for domain in ("animals", "objects"):
            pairs = pairs_of("flux", Pictures(), [domain])
            pairs = pairs.sort_values(["evaluated", "rank"], ascending=False, kind="stable")
            painted = pairs[IMAGE_PAIRS.schema.names]
            self.store(IMAGE_PAIRS, painted, f"image_pairs/{domain}", "flux")
            self.store(FILTERED_COLUMNS, pairs, f"filtered_pairs/{domain}", "flux")
            for metric, found in scores_of(pairs).groupby("metric"):
                scored = found.assign(entry_version="1")[SCORES.schema.names]
                self.store(SCORES, scored, f"scores_{metric}/{domain}", "flux")
            self.store(TRIPLETS, triplets_of(domain), "prompt_triplets", domain)
        summary = ranking_table(load_all_scores(self.home, "flux", SCORERS))
        self.store(SUMMARY, summary, "summary", "flux")

    def store(self, columns: Columns, table: pd.DataFrame, asset: str, partition: str) -> None:
        path = self.root / "protobias" / asset / f"{partition}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(columns.build_table(table), path)

    def path(self, *name: str) -> Path:
        return self.root.joinpath("protobias", *name).with_suffix(".parquet")

    def forget(self, metric: str, domain: str) -> None:
        """As if a metric had not scored a domain, nor been summarised there."""
        self.path(f"scores_{metric}", domain, "flux").unlink()
        summary = pq.read_table(self.path("summary", "flux")).to_pandas()
        kept = summary["metric"].ne(metric) | summary["domain"].ne(domain)
        self.store(SUMMARY, summary[kept], "summary", "flux")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "data"
    Tables(root).make()
    return root


@pytest.fixture
def tables(made: Path, tmp_path: Path) -> Tables:
    return Tables(Path(copied(made, tmp_path / "data")))


def test_a_painter_is_read_whole_and_what_lacks_is_said(tables: Tables) -> None:
    tables.forget("qwen", "objects")
    painted = load_painter_results(tables.home, "flux", SCORERS)
    assert painted is not None
    assert painted.domains == ["animals", "objects"]
    assert not painted.is_stand_in
    assert not painted.has_people
    assert painted.missing == [
        "Demography: not painted. Materialize protobias/image_pairs for demography|flux.",
        "Objects: not scored by qwen. Materialize protobias/scores_qwen for objects|flux.",
    ]
    assert build_footer_facts([painted]) == {
        "Models that painted": "flux",
        "Filter": "qwen_vl",
        "Seeds": "0, 1",
    }
    assert list(load_by_domain(tables.home, "prompt_triplets")) == ["animals", "objects"]


def test_a_footer_names_each_model_that_painted_as_its_server_does_if_it_does() -> None:
    flux, brush = (painted(name, Pictures()) for name in ("flux", "brush"))
    flux.pairs.loc[:3, "served_model"] = "flux-2026-01"
    flux.pairs.loc[4:, "served_model"] = None
    assert build_footer_facts([flux, brush])["Models that painted"] == "brush, flux-2026-01"


def test_a_reference_that_reads_no_real_picture_leaves_retention_as_it_is(tables: Tables) -> None:
    painted = load_painter_results(tables.home, "flux", SCORERS)
    pixels = SCORERS[0].model_copy(update={"name": "pixels", "backend": "stand_in"})
    unread = pq.read_table(
        tables.path(f"scores_{next(iter(METRICS))}", "animals", "flux")
    ).to_pandas()
    unread = unread.assign(metric="pixels", outcome="unparsed", raw=None)
    tables.store(SCORES, unread, "scores_pixels/animals", "flux")
    summary = ranking_table(load_all_scores(tables.home, "flux", [*SCORERS, pixels]))
    tables.store(SUMMARY, summary, "summary", "flux")
    read = load_painter_results(tables.home, "flux", [*SCORERS, pixels])
    assert painted is not None
    assert read is not None
    assert "pixels" in set(read.summary["metric"])
    pd.testing.assert_frame_equal(read.retention, painted.retention)


def test_retention_is_the_share_of_all_pairs_wherever_it_is_told(tables: Tables) -> None:
    """As the paper counts: of eight pairs two are kept, be two of the others painted or not."""
    path = tables.path("filtered_pairs", "animals", "flux")
    pairs = pq.read_table(path).to_pandas()
    dropped = pairs["pair_id"].isin(pairs.loc[~pairs["pair_kept"], "pair_id"].unique()[:1])
    pairs.loc[dropped, ["outcome", "filter_outcome"]] = ["failed", "unpainted"]
    tables.store(FILTERED_COLUMNS, pairs, "filtered_pairs/animals", "flux")
    told = kept_in_metadata(to_records(pairs), "domain")
    left = count_retention(tables.home, "flux", SCORERS)
    (kept,) = left[(left["stage"] == "kept") & (left["knob"] == "all")].head(1).to_dict("records")
    asked = pairs["pair_id"].nunique()
    assert (kept["number"], kept["of"]) == (
        pairs.loc[pairs["pair_kept"], "pair_id"].nunique(),
        asked,
    )
    assert told["painted"].iloc[0] < asked
    assert told["retention"].iloc[0] == round(100 * kept["share"], 2)


def test_pairs_that_are_not_filtered_yet_are_there_all_the_same(tables: Tables) -> None:
    tables.path("filtered_pairs", "objects", "flux").unlink()
    for metric in METRICS:
        tables.forget(metric, "objects")
    painted = load_painter_results(tables.home, "flux", SCORERS)
    assert painted is not None
    assert painted.pairs.groupby("domain")["pair_kept"].count().to_dict() == {
        "animals": 8,
        "objects": 0,
    }
    assert "Objects: not filtered. Materialize protobias/filtered_pairs for objects|flux." in (
        painted.missing
    )


def test_painters_without_a_summary_are_named_with_what_to_do(tables: Tables) -> None:
    assert load_painter_results(tables.home, "wan", SCORERS) is None
    tables.path("summary", "flux").unlink()
    assert describe_unsummarised(tables.home, ["flux", "wan"], []) == [
        "flux is not summarised: score its pairs, then materialize protobias/summary for flux.",
        "wan has painted nothing yet: materialize protobias/image_pairs for it.",
    ]


def test_a_summary_of_other_scores_is_refused(tables: Tables) -> None:
    at = tables.path("scores_clip_l", "animals", "flux")
    scores = pq.read_table(at).to_pandas()
    scores.loc[0, "raw"] += 0.01
    tables.store(SCORES, scores, "scores_clip_l/animals", "flux")
    with pytest.raises(TablesMismatch, match=r"summary \(flux\) is of other scores .* it again"):
        load_painter_results(tables.home, "flux", SCORERS)


def test_pairs_filtered_before_they_were_painted_anew_are_refused(tables: Tables) -> None:
    at = tables.path("image_pairs", "animals", "flux")
    pairs = pq.read_table(at).to_pandas()
    pairs.loc[0, "sha256"] = "0" * 64
    tables.store(IMAGE_PAIRS, pairs, "image_pairs/animals", "flux")
    with pytest.raises(
        TablesMismatch, match=r"filtered_pairs \(flux, animals\) .* animals\|flux again"
    ):
        load_painter_results(tables.home, "flux", SCORERS)


def test_without_any_summary_there_is_no_report(tmp_path: Path) -> None:
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", ["sketch"])
        result = materialize(tmp_path, "report", group="protobias", instance=instance)
    assert "No painter is summarised yet: materialize protobias/summary" in failure(result)
