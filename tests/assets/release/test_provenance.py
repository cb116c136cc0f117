"""Provenance: the assets behind a release, and models and prompts by their stored calls."""

import asyncio
from dataclasses import replace
from hashlib import sha256

import dagster as dg
import pandas as pd
import pytest

from assets.kit.columns import TEXT, TEXTS, Columns, to_materialize_result
from assets.kit.model_lookup import digest_entry
from assets.kit.table_asset import table_asset
from assets.release import ReleaseOptions, ReleaseRefused, write_release
from assets.release.provenance import find_origins
from resources.models.catalog import Catalog, Model
from resources.models.requests import (
    LookRequest,
    PaintRequest,
    Turn,
    build_canonical_request,
    compute_call_key,
)
from resources.settings.default_resources import build_default_resources
from tests.assets.release.small import KEY, SHAPES, TABLE, open_made, squares
from tests.instances import unread
from tests.resources.calls.calling import call as any_call

PAINTER = Model(
    name="brush",
    backend="openai",
    model="brush-1",
    family="b",
    roles=("painter",),
    parameters={"quality": "low"},
)
JUDGE = PAINTER.model_copy(
    update={"name": "eye", "model": "eye-2", "roles": ("judge",), "parameters": {}}
)
CATALOG = Catalog((PAINTER.model_copy(update={"name": "other", "parameters": {}}), PAINTER, JUDGE))
PAINTED = dg.AssetKey(["shapes", "painted"])
SEEN = dg.AssetKey(["shapes", "seen"])
COLUMNS = Columns(outcome=(TEXT, "How it ended"), calls=(TEXTS, "Keys"))
PAINT = [(PAINTER, PaintRequest(text)) for text in ("a dark square", "a circle")]
LOOK = [(JUDGE, LookRequest((Turn("system", "Look."), Turn("user", "Is it dark?", ("a" * 64,)))))]


def key_of(model, request):
    return compute_call_key(build_canonical_request(model, request))


def build_asset(key, requests, deps):
    @table_asset(
        "shapes", key=key, columns=COLUMNS, partitions=None, description="Asked.", deps=deps
    )
    def asked():
        calls = [key_of(*request) for request in requests]
        rows = pd.DataFrame([{"outcome": "answered", "calls": calls}])
        return to_materialize_result(COLUMNS.build_table(rows))

    return asked


@pytest.fixture
def sources(tmp_path, instance):
    """Squares, which two assets with stored calls stand before; the second has the first's too."""
    resources = build_default_resources(str(tmp_path / "root"))
    first = build_asset(PAINTED, PAINT, [])
    second = build_asset(SEEN, [*PAINT, *LOOK], [PAINTED])
    unmade = build_asset(dg.AssetKey(["shapes", "unmade"]), [], [])
    with unread(instance):
        assert dg.materialize([first, second], instance=instance, resources=resources).success
    with open_made(tmp_path / "root", instance, "dark") as opened:
        for model, request in (*PAINT, *LOOK):
            store(opened.calls, model, request)
        graph = dg.Definitions(
            assets=[first, second, unmade, squares], resources=resources
        ).resolve_asset_graph()
        yield replace(opened, catalog=CATALOG, graph=graph)


def store(calls, model, request):
    canonical = build_canonical_request(model, request)
    stored = replace(
        any_call(),
        key=compute_call_key(canonical),
        backend=model.backend,
        model=model.model,
        kind=canonical["kind"],
        request=canonical,
    )

    async def ask():
        return stored

    asyncio.run(calls.get_or_request(stored.key, ask))


def test_models_are_those_of_the_calls_and_belong_to_the_first_asset_that_has_them(sources):
    painted, seen = find_origins(sources, [(SEEN, None)], ())
    assert (painted.key, seen.key) == (PAINTED, SEEN)
    assert seen.parents == [PAINTED]
    (brush,) = painted.models
    assert (brush.name, brush.model, brush.calls, brush.prompts) == ("brush", "brush-1", 2, 2)
    assert brush.entry_version == digest_entry(PAINTER)
    assert brush.example == "a circle"
    assert brush.prompts_sha256 == sha256(b"a circle\0a dark square\0").hexdigest()
    (eye,) = seen.models
    assert (eye.name, eye.calls, eye.example) == ("eye", 1, "Look.\n\nIs it dark?")


def test_a_model_that_no_entry_has_is_named_by_its_provider(sources):
    gone = replace(sources, catalog=Catalog((JUDGE,)))
    painted, _ = find_origins(gone, [(SEEN, None)], ())
    assert [(use.name, use.entry_version) for use in painted.models] == [("brush-1", "")]


def test_assets_that_were_not_made_are_left_out(sources):
    parts = [(KEY, "dark"), (dg.AssetKey(["shapes", "unmade"]), None)]
    assert [origin.key for origin in find_origins(sources, parts, ())] == [KEY]


def test_a_prompt_that_holds_a_key_is_refused(sources, tmp_path):
    leaked = (PAINTER, PaintRequest("A square, sk-" + "a1" * 20))
    store(sources.calls, *leaked)
    with unread(sources.instance):
        dg.materialize(
            [build_asset(PAINTED, [*PAINT, leaked], [])],
            instance=sources.instance,
            resources=build_default_resources(sources.home.root),
        )
    table = replace(TABLE, sources={**TABLE.sources, "prompt": PAINTED})
    benchmark = replace(SHAPES, release_tables=[table])
    with pytest.raises(ReleaseRefused, match=r"croissant\.json would hold an OpenAI key"):
        write_release(tmp_path / "out", benchmark, sources, ReleaseOptions())
    assert not (tmp_path / "out").exists()
