"""Photographs of a painter without an API: listed, painted by anybody, and edited from there."""

from hashlib import sha256

import pytest
from dagster import AssetKey
from PIL import Image

from assets.kit.benchmarks import build_steps
from assets.planning import Task
from assets.planning.prompts import list_prompts
from resources.models.catalog import Catalog, Model
from resources.models.manifests import MANIFEST_COLUMNS
from resources.user_files.spreadsheets import format_csv
from tests.assets.painted import LIST, TOPIC, Painting, Studio, painter_at
from tests.assets.plans import plan_context
from tests.providers import Provider, pictures
from tests.runs import STAND_INS, checks

PARTITION = f"by_hand|{TOPIC}"


@pytest.fixture
def studio(tmp_path, instance, monkeypatch):
    """A painter without an API, and a provider that suggests and edits."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    manifest = tmp_path / "painted" / "manifest.csv"
    manifest.parent.mkdir()
    by_hand = Model(
        name="by_hand", backend="folder", model=str(manifest), family="mine", roles=("painter",)
    )
    with Provider() as provider:
        provider.answer = Painting()
        studio = Studio(tmp_path / "root", instance, provider)
        studio.add(by_hand)
        studio.add(painter_at(provider))
        yield studio


def listed(studio, *, missing=False):
    """What is to be painted."""
    task = Task(AssetKey(["vlmbias", "paintings"]), PARTITION, {})
    with plan_context(studio.root) as sources:
        steps = build_steps(Catalog((*STAND_INS, *studio.models)))
        return list_prompts(steps, sources, [task], missing=missing)


def colours(path):
    with Image.open(path) as image:
        return image.convert("RGB").tobytes()


def test_from_prompts_to_photographs(studio, tmp_path):
    assert listed(studio).refused == ["vlmbias/subjects"]
    studio.must("subjects", subjects={"writer": "artist"})
    prompts = listed(studio).prompts
    assert len(prompts) == len(LIST)

    manifest = tmp_path / "painted" / "manifest.csv"
    manifest.write_text(
        format_csv(MANIFEST_COLUMNS, [each._asdict() for each in prompts]), newline=""
    )
    for each in prompts:
        png = pictures.png(sha256(each.file.encode()).hexdigest(), 64, 64)
        (manifest.parent / each.file).write_bytes(png)
    assert listed(studio, missing=True).prompts == []

    config = {"edits": {"editor": "artist"}}
    done = studio.must("paintings", "edits", "candidates", painter="by_hand", **config)
    assert not [name for name, passed in checks(done).items() if not passed]
    rows = studio.table("paintings", "by_hand")
    kept = dict(zip(rows["prompt"], rows["sha256"], strict=True))
    for each in prompts:
        digest = kept.pop(each.prompt)
        stored = studio.root / "images" / digest[:2] / f"{digest}.png"
        assert colours(stored) == colours(manifest.parent / each.file)
    assert not kept
    assert not rows["is_stand_in"].any()
    assert set(studio.table("edits", "by_hand")["outcome"]) == {"edited"}
    studio.must("photographs")
    assert studio.sent()["painted"] == 0
    assert {"by_hand"} == set(studio.table("photographs")["painter"])
