"""Flags that a language model edits as SVG: over real HTTP, through the client and the store."""

import re
import warnings

import dagster as dg
import pandas as pd
import pytest

from assets.kit.step_asset import build_step_asset
from assets.kit.step_planner import build_step_planners
from assets.vlmbias.benchmark import BENCHMARK
from assets.vlmbias.svg_flags import EDITED_FLAG_COLUMNS, EditedFlags, build_request, list_edits
from generators.domains.flags.draw import build_original, draw
from generators.prompts.svg_editing import write_svg_editing_prompt
from resources.models.catalog import Catalog
from resources.models.requests import build_canonical_request, compute_call_key
from resources.settings.default_resources import build_default_resources
from resources.storage.image_store import ImageStore
from tests.assets.asked import judge_at
from tests.assets.plans import plan_context
from tests.assets.works import problems
from tests.providers import faults
from tests.runs import STAND_INS, checks, failure, metadata

ASSET = "edited_flags_editor"
BY_PROMPT = {build_request(scene).turns[0].text: scene for scene in list_edits()}
PAPER = (
    "You are an expert in editing SVG image code. Modify the SVG code of the flag of {country} "
    "according to the following instruction: Instruction: "
    '"The flag of {country} has {num_ele} {element}. Modify the SVG code so that it has '
    "{more} {element} instead. Make sure the modified {element} are natural looking and integrate "
    'seamlessly on the new flag." Base SVG code: {svg_code} 1. Modify the base SVG by adding or '
    "removing the mentioned feature (stars, stripes, etc.) according to the instruction above. "
    "2. Wrap the entire SVG in <code></code>. Do not explain anything."
)


def editor_at(server, **entry):
    return judge_at(server, **{"name": "editor", "roles": ("writer",), **entry})


def materialize(root, model, **config):
    definitions = [build_step_asset(EditedFlags(Catalog((*STAND_INS, model)), model))]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        return dg.materialize(
            definitions,
            resources=build_default_resources(str(root)),
            run_config={
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                "ops": {f"vlmbias__{ASSET}": {"config": config}},
            },
            raise_on_error=False,
        )


def flags_at(root):
    return pd.read_parquet(root / "vlmbias" / f"{ASSET}.parquet").set_index("base_id", drop=False)


def asked_for(received):
    """The scene that a request asks for."""
    return BY_PROMPT[received.texts[0]]


def ending(root, server, *answers):
    """The table where the first edits are answered so, the others refused by a filter."""
    first = dict(zip((scene.base_id for scene in list_edits()), answers, strict=False))
    server.answer = lambda received: first.get(asked_for(received).base_id, faults.FILTERED)
    result = materialize(root, editor_at(server))
    assert result.success, failure(result)
    assert checks(result) == {"every_row_ended": True}
    return flags_at(root).loc[list(first)], result


def test_the_prompt_is_the_papers():
    said = write_svg_editing_prompt("the United States", "stars", 50, 51, "<svg/>")
    assert " ".join(said.split()) == PAPER.format(
        country="the United States", num_ele=50, more=51, element="stars", svg_code="<svg/>"
    )


def test_each_of_the_40_edits_is_asked_for_by_the_drawn_originals_svg():
    assert len(list_edits()) == len(BY_PROMPT) == 40
    (scene,) = (
        each for each in list_edits() if each.base_id == "flags/united-states-stripes-remove"
    )
    request = build_request(scene)
    (turn,) = request.turns
    assert "has 13 stripes. Modify the SVG code so that it has 12 stripes" in turn.text
    assert draw(build_original("united-states"), 768) in turn.text
    assert all("/" not in text.partition("<svg")[0] for text in BY_PROMPT)
    assert request.schema is None
    assert scene.truths == {"stars": 50, "stripes": 12}


@pytest.mark.slow
def test_a_good_editor_keeps_all_40(tmp_path, server):
    server.answer = lambda received: f"<code>{draw(asked_for(received), 900)}</code>"
    result = materialize(tmp_path, editor_at(server))
    assert result.success, failure(result)
    rows = flags_at(tmp_path)
    assert dict(rows["outcome"].value_counts()) == {"kept": 40}
    assert list(rows["base_id"]) == [scene.base_id for scene in list_edits()]
    assert rows["problem"].isna().all()
    assert (rows["width"] == 768).all()
    assert all(map(list.__eq__, map(list, rows["readings"]), map(list, rows["truths"])))
    assert set(rows["painter"]) == {"editor"}
    assert not rows["is_stand_in"].any()
    assert set(rows["served_model"]) == {"some-vlm-1"}
    store = ImageStore(root=str(tmp_path))
    assert rows["sha256"].nunique() == 40
    assert all(store.holds(digest) for digest in rows["sha256"])
    model = editor_at(server)
    for scene in list_edits():
        key = compute_call_key(build_canonical_request(model, build_request(scene)))
        assert list(rows.loc[scene.base_id, "calls"]) == [key]
    known = metadata(result, ASSET)
    assert known["kept"] == known["requests_sent"] == server.count == 40
    assert known["spent_usd"] == "unknown"
    assert "| all | all | 40 | 40 | 40 |" in known["retention"]
    assert "| stripes | remove | 7 | 7 | 7 |" in known["retention"]
    assert known["contact_sheet"].count("data:image/jpeg") == 24
    again = materialize(tmp_path, model)
    assert server.count == 40
    assert metadata(again, ASSET)["requests_known_before"] == 40


@pytest.mark.slow
def test_a_part_of_the_edits_is_planned_sent_and_counts_later(tmp_path, server):
    server.answer = lambda received: f"<code>{draw(asked_for(received), 900)}</code>"
    model = editor_at(server)
    step = EditedFlags(Catalog((model,)), model)
    with plan_context(tmp_path) as sources:
        (plan,) = build_step_planners({step.key: step})[step.key](sources, "", {"limit": 4})
        planned = {
            compute_call_key(build_canonical_request(model, request)) for request in plan.requests
        }
    result = materialize(tmp_path, model, limit=4)
    assert result.success, failure(result)
    assert server.count == 4
    rows = flags_at(tmp_path)
    sent = {call for calls in rows["calls"] for call in calls}
    assert sent == planned
    assert len(set(zip(rows["target"], rows["modification"], strict=True))) == 4
    assert metadata(result, ASSET)["partial"] == "4 of 40 edits"
    (check,) = result.get_asset_check_evaluations()
    assert (check.passed, check.severity.value) == (False, "WARN")
    assert check.description == "A part, 4 of 40 edits: 4 rows: 4 kept"
    assert {each.base_id for each in list_edits(4)} < {each.base_id for each in list_edits(9)}
    again = materialize(tmp_path, model)
    assert server.count == 40
    assert "partial" not in metadata(again, ASSET)
    assert checks(again) == {"every_row_ended": True}


@pytest.mark.slow
def test_a_lazy_editor_is_miscounted(tmp_path, server):
    server.answer = lambda received: re.search("<svg.*</svg>", received.texts[0], re.DOTALL)[0]
    result = materialize(tmp_path, editor_at(server))
    assert result.success, failure(result)
    rows = flags_at(tmp_path)
    assert set(rows["outcome"]) == {"miscounted"}
    assert rows.loc["flags/cuba-stripes-add", "problem"] == "It shows 5 stripes."
    us = rows.loc["flags/united-states-stars-add"]
    assert us["problem"] == "It shows 50 stars and 13 stripes."
    assert rows["sha256"].nunique() == 19
    assert "| all | all | 40 | 0 | 40 |" in metadata(result, ASSET)["retention"]


def test_how_replies_end(tmp_path, server):
    wanted = list_edits()
    both = draw(wanted[0], 900).replace("#b22234", "#ffffff")
    rows, result = ending(
        tmp_path,
        server,
        both,
        f"```svg\n{draw(wanted[1], 768)}\n```",
        "I would rather not.",
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="6"><rect width="9" /></svg>',
        "<code><svg><script>alert(1)</script></svg></code>",
        faults.INVALID_REQUEST,
        faults.REFUSED,
    )
    assert list(rows["outcome"]) == [
        *("unreadable", "duplicate", "no svg", "unreadable", "unsafe", "failed", "refused"),
    ]
    assert rows["problem"].notna().all()
    assert rows["problem"].iloc[1] == f"Its pixels are those of {wanted[1].base_id}."
    assert rows["problem"].iloc[6] == "model: I'm sorry, I can't help with that."
    assert list(rows["calls"].map(len)) == [1, 1, 1, 1, 1, 0, 1]
    before = server.count
    again = materialize(tmp_path, editor_at(server))
    assert server.count == before + 1
    assert metadata(again, ASSET)["failed"] == metadata(result, ASSET)["failed"] == 1


def test_what_is_hostile_is_refused_and_fetches_nothing(tmp_path, server):
    far = f"{server.url}/files/far.svg"

    def flag(inside, attributes='viewBox="0 0 9 6"'):
        names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        return f"<code><svg {names} {attributes}>{inside}</svg></code>"

    hostile = {
        flag("<script>fetch('x')</script>"): "the element 'script' within another",
        flag(f'<use href="{far}#a"/>'): f"refers to '{far}#a'",
        flag(f'<use xlink:href="{far}#a"/>'): f"refers to '{far}#a'",
        flag(f'<image href="{far}"/>'): "the element 'image'",
        flag('<use href="data:image/svg+xml;base64,PHN2Zy8+"/>'): "refers to 'data:",
        flag('<use href="file:///etc/passwd"/>'): "refers to 'file:",
        flag(f'<rect style="fill:url({far})"/>'): f"refers to '{far}'",
        flag(f"<rect fill=\"url('{far}#a')\"/>"): f"refers to '{far}#a'",
        flag("<style>@import 'x'</style>"): "the element 'style'",
        flag('<rect onclick="x()"/>'): "the attribute 'onclick'",
        '<code><!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><svg>&b;</svg></code>': (
            "a document type or entities"
        ),
        flag(
            '<g id="a0"><rect/></g>'
            + "".join(
                f'<g id="a{n}">' + f'<use href="#a{n - 1}"/>' * 10 + "</g>" for n in range(1, 9)
            )
        ): "unfolds to more than 4,000 elements",
        flag("", 'viewBox="0 0 1e9 1e9"'): "at most 100,000 units",
    }
    rows, result = ending(tmp_path, server, *hostile)
    assert list(rows["outcome"]) == ["unsafe"] * len(hostile)
    for problem, reason in zip(rows["problem"], hostile.values(), strict=True):
        assert reason in problem
    assert rows["sha256"].isna().all()
    assert server.downloads == []
    assert len(flags_at(tmp_path)) == 40
    assert metadata(result, ASSET)["unsafe"] == len(hostile)


def test_a_table_that_lost_a_row_or_says_half_is_found(tmp_path, server):
    ending(tmp_path, server)
    rows = EDITED_FLAG_COLUMNS.build_table(flags_at(tmp_path)).to_pylist()

    def found(rows, limit=None):
        return problems(EditedFlags(Catalog(()), editor_at(server)), rows, {"limit": limit})

    name = rows[0]["base_id"]
    assert found(rows) == []
    assert found(rows[1:]) == [(name, "0 rows")]
    assert found([*rows, rows[0]]) == [(name, "2 rows")]
    (first,) = list_edits(1)
    assert found([row for row in rows if row["base_id"] == first.base_id], 1) == []
    for column, value in {"outcome": "pending", "problem": None, "sha256": "ab"}.items():
        changed = rows[0] | {column: value}
        assert found([changed, *rows[1:]]) == [(name, f"ended as {changed['outcome']}")]


def test_our_own_writers_edit_no_flags_and_the_others_are_planned(tmp_path, server):
    grammar = {"name": "grammar", "backend": "stand_in", "model": "grammar", "base_url": None}
    ours = judge_at(server, roles=("writer",), **grammar)
    model = editor_at(server)
    catalog = Catalog((ours, judge_at(server), model))
    (step,) = steps_of_flags(catalog)
    assert step.key.to_user_string() == "vlmbias/edited_flags_editor"
    with plan_context(tmp_path) as sources:
        (plan,) = build_step_planners({step.key: step})[step.key](sources, "", {})
        assert plan.model is model
        assert list(plan.requests) == [build_request(scene) for scene in list_edits()]
    assert steps_of_flags(Catalog((ours,))) == []


def steps_of_flags(catalog):
    return [each for each in BENCHMARK.steps(catalog) if isinstance(each, EditedFlags)]
