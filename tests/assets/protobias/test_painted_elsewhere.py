"""Prompts listed, painted by anybody, and taken back in: nothing is missing then."""

from hashlib import sha256

import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners, build_steps
from assets.planning import CannotQuote, Task, format_text, quote_tasks
from assets.planning.prompts import list_prompts
from resources.models.catalog import Catalog, Model
from resources.models.manifests import MANIFEST_COLUMNS
from resources.user_files.spreadsheets import format_csv
from tests.assets.paired import DOMAIN, Studio
from tests.assets.plans import plan_context
from tests.providers import pictures
from tests.runs import checks, metadata

PAIRS = AssetKey(["protobias", "image_pairs"])
SAMPLES = 2


@pytest.fixture
def studio(tmp_path, instance):
    manifest = tmp_path / "painted" / "manifest.csv"
    manifest.parent.mkdir()
    by_hand = Model(
        name="by_hand", backend="folder", model=str(manifest), family="mine", roles=("painter",)
    )
    return Studio(tmp_path / "root", instance, by_hand, number=3)


def listed(studio, asset=PAIRS, *, missing):
    """What is to be painted of the pairs of this painter."""
    task = Task(asset, f"{DOMAIN}|by_hand", {"samples": SAMPLES} if asset == PAIRS else {})
    with plan_context(studio.root) as sources:
        steps = build_steps(Catalog(tuple(studio.models)))
        return list_prompts(steps, sources, [task], missing=missing)


def quoted(studio):
    task = Task(PAIRS, f"{DOMAIN}|by_hand", {"samples": SAMPLES})
    with plan_context(studio.root) as sources:
        return format_text(
            quote_tasks(build_planners(Catalog(tuple(studio.models))), sources, [task]), []
        )


def paint(manifest, prompts):
    """As somebody would: a file for each line, and the list is the manifest."""
    manifest.write_text(
        format_csv(MANIFEST_COLUMNS, [each._asdict() for each in prompts]), newline=""
    )
    for each in prompts:
        name = sha256(each.file.encode()).hexdigest()
        (manifest.parent / each.file).write_bytes(pictures.png(name))


def test_from_prompts_to_pictures_and_back(studio, tmp_path):
    manifest = tmp_path / "painted" / "manifest.csv"
    found = listed(studio, missing=False)
    assert (len(found.prompts), found.follow_ups, found.refused) == (3 * SAMPLES * 2, 0, [])
    assert len({each.file for each in found.prompts}) == len(found.prompts)

    some, rest = found.prompts[:5], found.prompts[5:]
    paint(manifest, some)
    assert listed(studio, missing=True).prompts == rest
    told = quoted(studio)
    assert f"by_hand: 7 of 12 pictures are not in {manifest} and would fail." in told
    assert "$0.00" in told
    assert "unknown" not in told

    config = {"image_pairs": {"samples": SAMPLES}}
    partly = studio.must("image_pairs", **config)
    rows = studio.table("image_pairs")
    assert (rows["outcome"] == "failed").sum() == len(rest)
    missing = rows[rows["outcome"] == "failed"]
    assert all(
        str(manifest) in reason and prompt[:50] in reason
        for prompt, reason in zip(missing["prompt"], missing["reason"], strict=True)
    )
    assert not checks(partly)["usable_share"]
    command = (
        f"counterfactory prompts protobias/image_pairs --partitions '{DOMAIN}|by_hand' --missing"
    )
    assert command in metadata(partly, "image_pairs", "protobias")["still_to_paint"]

    paint(manifest, found.prompts)
    done = studio.must("image_pairs", **config)
    rows = studio.table("image_pairs")
    assert set(rows["outcome"]) == {"painted"}
    assert not rows["is_stand_in"].any()
    assert set(checks(done).values()) == {True}
    told = metadata(done, "image_pairs", "protobias")
    assert (told["requests_sent"], told["requests_known_before"]) == (7, 5)
    assert told["spent_usd"] == 0
    assert listed(studio, missing=True).prompts == []


def test_a_missing_manifest_leaves_the_other_painters_in_the_quote(studio, tmp_path):
    """Its own quote is refused, with the remedy."""
    sketch = {"backend": "stand_in", "model": "sketch", "family": "stand_in"}
    studio.models.append(Model(name="drawn", roles=("painter",), **sketch))
    tasks = [Task(PAIRS, f"{DOMAIN}|{name}", {"samples": 1}) for name in ("by_hand", "drawn")]
    planners = build_planners(Catalog(tuple(studio.models)))
    with plan_context(studio.root) as sources:
        found = quote_tasks(planners, sources, tasks)
        with pytest.raises(CannotQuote, match=r"manifest\.csv is not there\. Write it"):
            quote_tasks(planners, sources, tasks[:1])
    assert [line.model.name for line in (*found.lines, *found.totals)] == ["drawn", "drawn"]
    assert found.lines[0].requests == 6
    told = f"Not in this quote: protobias/image_pairs ({DOMAIN}|by_hand). by_hand: the manifest "
    assert f"{told}{tmp_path / 'painted' / 'manifest.csv'} is not there." in format_text(found, [])


def test_of_what_is_not_painted_there_are_no_prompts(studio):
    with pytest.raises(CannotQuote, match="No selected asset is painted"):
        listed(studio, AssetKey(["protobias", "filtered_pairs"]), missing=False)


def test_what_has_to_be_made_first_is_named(studio, tmp_path):
    (studio.root / "protobias" / "prompt_triplets" / f"{DOMAIN}.parquet").unlink()
    found = listed(studio, missing=False)
    assert (found.prompts, found.refused) == ([], ["protobias/prompt_triplets"])
