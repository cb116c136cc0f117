"""A sample of concepts that was painted for money stays, whatever rule would draw another now."""

from collections import Counter
from dataclasses import asdict

import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance

from assets.protobias.concepts import (
    CONCEPTS,
    ProtoConceptsConfig,
    sample_domain_concepts,
    sample_with_stored,
)
from assets.protobias.image_pairs import IMAGE_PAIRS
from resources.storage.data_root import DataRoot
from tests.resources.storage.test_garbage_collector import Store
from tests.runs import failure, materialize, metadata, table, warned

DOMAIN = "animals"


def ids(concepts):
    return [concept.concept_id for concept in concepts]


def write(root, name, rows, columns, partition=DOMAIN):
    path = table(root, name, partition, "protobias")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns.build_table(rows), path)


def paint(root, concepts, painter="flux", samples=2, is_stand_in=False, calls=()):
    """Store so many pairs of each concept by a painter."""
    rows = [
        {
            "concept_id": each.concept_id,
            "outcome": "painted",
            "is_stand_in": is_stand_in,
            "sample": k,
        }
        | {"sha256": None, "calls": list(calls)}
        for each in concepts
        for k in range(samples)
        for _ in ("correct", "adversarial")
    ]
    write(root, f"image_pairs/{DOMAIN}", rows, IMAGE_PAIRS, painter)


@pytest.fixture
def earlier(tmp_path):
    """Forty concepts that another rule drew, in their order, of which none is the first of ours."""
    ours = set(ids(sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=80))))
    others = sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=120, seed=5))
    found = [concept for concept in others if concept.concept_id not in ours][:40]
    rows = [asdict(each) | {"sample_rank": place, "seed": 0} for place, each in enumerate(found)]
    write(tmp_path, "concepts", rows, CONCEPTS)
    return found


def now(root, instances=80, **config):
    return ids(
        sample_with_stored(
            DataRoot(root=str(root)), DOMAIN, ProtoConceptsConfig(instances=instances, **config)
        )
    )


def test_it_stays_by_default_where_a_painter_that_costs_something_painted_it(tmp_path, earlier):
    fresh = ids(sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=80)))
    assert now(tmp_path) == fresh
    paint(tmp_path, earlier, "sketch", is_stand_in=True)
    assert now(tmp_path) == fresh
    paint(tmp_path, earlier[:1])
    assert now(tmp_path)[:40] == ids(earlier)
    assert now(tmp_path, instances=15) == ids(earlier)[:15]
    assert now(tmp_path, keeps_stored=False) == fresh
    assert now(tmp_path, seed=1) == ids(
        sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=80, seed=1))
    )
    assert now(tmp_path, seed=1, keeps_stored=True)[:40] == ids(earlier)


def test_what_is_missing_is_drawn_where_cells_and_knobs_lack_it(tmp_path, earlier):
    found = list(
        sample_with_stored(
            DataRoot(root=str(tmp_path)),
            DOMAIN,
            ProtoConceptsConfig(instances=320, keeps_stored=True),
        )
    )
    assert found[:40] == earlier
    assert len(set(ids(found))) == 320
    assert set(Counter((each.concept, each.knob) for each in found).values()) == {4}
    fresh = ids(sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=320)))
    assert set(ids(found[40:])) <= set(fresh)
    assert ids(found) == now(tmp_path, instances=400, keeps_stored=True)[:320]


def test_what_the_taxonomy_no_longer_has_goes_and_the_run_says_what_that_costs(tmp_path, earlier):
    stored = pd.read_parquet(table(tmp_path, "concepts", DOMAIN, "protobias"))
    stored.loc[3, "environment_hint"] = "on the moon"
    write(tmp_path, "concepts", CONCEPTS.build_table(stored).to_pylist(), CONCEPTS)
    paint(tmp_path, earlier)
    paint(tmp_path, earlier[:5], "sketch", samples=1, is_stand_in=True)
    with DagsterInstance.ephemeral() as instance:
        result = materialize(
            tmp_path,
            "concepts",
            group="protobias",
            topic=DOMAIN,
            config={"concepts": {"instances": 40}},
            instance=instance,
        )
        assert result.success, failure(result)
        assert "flux has 4 pictures of these, and would paint 4 of others" in warned(instance)
    about = metadata(result, "concepts", "protobias")
    assert (about["kept"], about["dropped"], about["new"]) == (39, 1, 1)
    assert "| flux | 160 | 156 | 4 |" in about["pictures"]
    assert "| sketch | 10 | 8 | 72 |" in about["pictures"]
    found = pd.read_parquet(table(tmp_path, "concepts", DOMAIN, "protobias"))["concept_id"]
    assert list(found[:39]) == [name for name in ids(earlier) if name != ids(earlier)[3]]


def test_nothing_that_was_paid_is_collected_because_it_is_not_drawn(tmp_path, earlier):
    store = Store(tmp_path)
    call, picture = store.paints(1)
    paint(tmp_path, earlier, calls=[call])
    fresh = [*sample_domain_concepts(DOMAIN, ProtoConceptsConfig(instances=40))]
    assert not set(ids(fresh)) & set(ids(earlier))
    rows = [asdict(each) | {"sample_rank": place, "seed": 0} for place, each in enumerate(fresh)]
    write(tmp_path, "concepts", rows, CONCEPTS)
    store.collect(calls=True)
    assert (list(store.calls.iterate_keys()), store.digests()) == ([call], {picture})
    store.calls.close()
