"""FRAME's tables, from concepts to scores: a stand-in run, paid models, reviews, a collection."""

import json
import re
from collections import Counter
from hashlib import sha256

import pyarrow.parquet as pq
import pytest
from dagster import AssetKey

from assets.frame.biases import SINGLE, list_configurations
from assets.frame.references import score_rise
from assets.kit.benchmarks import build_planners
from assets.kit.collections import COLLECTION_COLUMNS
from assets.planning import Task, quote_tasks
from generators.perturbations.grids import GRID
from generators.prompts.judging_templates import TEMPLATES
from resources.storage.image_store import ImageStore
from resources.user_files.box_files import read_box_file
from resources.user_files.rows import UserFileError
from tests.assets.frame.studio import WRITTEN, Studio, at
from tests.assets.plans import plan_context
from tests.providers import Provider, default_answer, pictures
from tests.runs import checks, failure, metadata, rewrite, table

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
GRID_OUTDOOR = 49
SCORES = ("scores_gullible", "scores_pixels")


def answer(received):
    """A writer whose sentences list the concepts, a moderator that is content, a judge's 3."""
    if received.task == "picture":
        return default_answer(received)
    words = received.texts[-1]
    if words.startswith("Write one"):
        return "Generate " + ", ".join(re.findall(r"^- [\w ]+: (.+)$", words, re.MULTILINE))
    if words.startswith("Here is"):
        sentence = words.split("\n\n")[1]
        for old, new in re.findall(r"^- [\w ]+: (.+) → (.+)$", words, re.MULTILINE):
            sentence = sentence.replace(old, new)
        return sentence
    return "{Yes} It is fine." if words.startswith("Below") else 'It fits. {"score": 3}'


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    with Provider(answer=answer) as server:
        yield server


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    studio = Studio(tmp_path_factory.mktemp("frame"), domain="people")
    written = studio.must(*WRITTEN)
    assert set(checks(written).values()) == {True}
    painted = studio.must(
        "images",
        "biased_images",
        *SCORES,
        source="sketch",
        biased_images={"configurations": "single"},
    )
    assert set(checks(painted).values()) == {True}
    return studio


class TestAStandInRun:
    def test_each_bias_is_tried_once_on_every_picture(self, studio):
        rows = studio.table("biased_images", "sketch")
        counts = Counter(zip(rows["bias"], rows["outcome"], strict=True))
        impossible = {"boxes": "frame/boxes", "beauty": "no face"}
        expected = {(bias, "biased"): 4 for bias in SINGLE if bias not in impossible}
        expected |= {(bias, "inapplicable"): 4 for bias in impossible}
        assert counts == expected | {("none", "original"): 4}
        moved = rows[rows["outcome"].eq("biased")]
        assert moved["sha256"].nunique() == len(moved)
        assert not moved["sha256"].isin(moved["original"]).any()
        for bias, reason in impossible.items():
            assert rows.loc[rows["bias"] == bias, "reason"].str.contains(reason).all()
        assert rows["readable"].eq(True).equals(rows["outcome"].ne("inapplicable"))
        store = ImageStore(root=str(studio.root))
        assert all(store.holds(digest) for digest in rows["sha256"].dropna())
        assert rows["is_stand_in"].all()

    def test_gullible_rises_by_just_what_is_stated_and_pixels_by_nothing(self, studio):
        for judge, rise in (("gullible", score_rise), ("pixels", lambda bias: 0)):
            rows = studio.table(f"scores_{judge}", "sketch")
            before = rows[rows["bias"] == "none"].set_index("image_id")["score"]
            assert sorted(before) == sorted(round(3 * (1 - n / 5)) for n in range(4))
            found = set(
                zip(rows["bias"], rows["score"] - rows["image_id"].map(before), strict=True)
            )
            assert found == {(bias, rise(bias)) for bias in rows["bias"]}

    def test_a_second_run_makes_no_picture_and_one_that_is_damaged_is_made_again(self, studio):
        paths = {each: each.stat().st_mtime_ns for each in (studio.root / "images").rglob("*.png")}
        before = studio.table("biased_images", "sketch")
        shown = before[before["bias"] == "padding"].iloc[0]["sha256"]
        path = studio.root / "images" / shown[:2] / f"{shown}.png"
        path.write_bytes(b"damaged")
        studio.must("biased_images", source="sketch", biased_images={"configurations": "single"})
        changed = {each for each, at in paths.items() if each.stat().st_mtime_ns != at}
        assert changed == {path}
        assert ImageStore(root=str(studio.root)).holds(shown)
        assert studio.table("biased_images", "sketch").equals(before)

    def test_what_people_leave_out_is_replaced_and_nothing_else_changes(self, studio):
        before = studio.table("perturbed_instructions").set_index("item_id")
        used = studio.table("instructions").query("used")["item_id"].tolist()
        sheet = studio.root / "reviews" / "frame_people-to-review.csv"
        header, *lines = sheet.read_text("utf-8-sig").splitlines()
        assert header == "item_id,verdict,reason,instruction"
        assert [line.partition(",")[0] for line in lines] == used
        out = used[1]
        sheet.with_name("frame_people.csv").write_text(
            f"item_id,verdict,reason\n{out},reject,odd\n"
        )
        result = studio.must("instructions", "perturbed_instructions")
        assert checks(result)["all_places_are_taken"]
        rows = studio.table("instructions").set_index("item_id")
        assert rows.loc[out, ["outcome", "reason"]].tolist() == ["left out", "odd"]
        after = studio.table("perturbed_instructions").set_index("item_id")
        assert len(after) == 4
        kept = [name for name in used if name != out]
        assert after.loc[kept, "prompt"].equals(before.loc[kept, "prompt"])
        sheet.with_name("frame_people.csv").write_text(
            "item_id,verdict,reason\n" + "".join(f"{name},reject,\n" for name in rows.index[:2])
        )
        result = studio.must("instructions")
        assert not checks(result)["all_places_are_taken"]
        sheet.with_name("frame_people.csv").write_text("item_id,verdict,reason\nx,maybe,\n")
        assert "`verdict` is 'maybe'" in failure(studio.run("instructions"))

    @pytest.mark.parametrize(
        ("config", "problem"),
        [
            ({"biased_images": {"biases": ["brightnes"]}}, "did you mean brightness?"),
            ({"scores_pixels": {"templates": ["standart"]}}, "did you mean standard?"),
        ],
    )
    def test_a_wrong_name_is_met_with_the_nearest_right_one(self, studio, config, problem):
        (name,) = config
        assert problem in failure(studio.run(name, source="sketch", **config))


def test_what_is_planned_is_sent_and_another_painter_costs_what_is_missing(tmp_path, server):
    roles = {"pen": "writer", "guard": "moderator", "brush": "painter", "pencil": "painter"}
    models = [at(server, name, role) for name, role in {**roles, "eye": "judge"}.items()]
    studio = Studio(tmp_path, *models, domain="outdoor", items=3, reserve=1)
    pen, few = {"writer": "pen"}, {"configurations": "single", "biases": ["gamma", "padding"]}
    wanted = {"drafts": pen, "perturbed_instructions": pen, "biased_images": few}

    def planned(*names, source=None, **config):
        part = "outdoor" if source is None else f"outdoor|{source}"
        tasks = [Task(AssetKey(["frame", name]), part, wanted.get(name, {})) for name in names]
        with plan_context(tmp_path) as sources:
            lines = quote_tasks(build_planners(studio.catalog), sources, tasks).lines
        assert all(line.missing_asset is None for line in lines)
        return {line.asset.split("/")[1]: (line.to_send, line.follow_ups) for line in lines}

    def sent(*names, source=None):
        before = server.count
        studio.must(*names, source=source, **{n: wanted[n] for n in names if n in wanted})
        return server.count - before

    studio.must("concepts")
    plans = planned("drafts", "instructions", "perturbed_instructions")
    assert plans["drafts"] == (4, 4)
    assert sent("drafts") == 4
    assert planned("instructions")["instructions"] == (4, 0)
    assert sent("instructions") == 4
    changed = planned("perturbed_instructions")["perturbed_instructions"][0]
    assert changed == sent("perturbed_instructions") == 2
    for painter in ("brush", "pencil"):
        steps = ("images", "biased_images", "scores_eye")
        plans = planned("images", "scores_eye", source=painter)
        assert plans == {"images": (3, 0), "scores_eye": (0, 3 * (1 + GRID_OUTDOOR))}
        assert sent("images", "biased_images", source=painter) == 3
        assert not studio.table("images", painter)["is_stand_in"].any()
        assert planned("scores_eye", source=painter)["scores_eye"] == (9, 0)
        assert sent("scores_eye", source=painter) == 9
        assert sent(*steps, source=painter) == 0
    rows = studio.table("scores_eye", "brush")
    assert set(rows["score"]) == {3.0}
    assert rows["calls"].map(len).eq(1).all()
    assert rows["response"].str.startswith("It fits").all()


def test_biases_that_no_picture_of_a_domain_can_have_are_named(tmp_path):
    only = {"biases": ["boxes", "keyword"]}
    outdoor = Studio(tmp_path, domain="outdoor", items=1, reserve=0)
    outdoor.must(*WRITTEN)
    outdoor.must("images", source="sketch")
    problem = failure(outdoor.run("biased_images", source="sketch", biased_images=only))
    assert "outdoor pictures cannot have boxes or keyword" in problem
    assert "Name some of brightness, gamma, authenticity, instruction, padding." in problem


def test_the_grid_is_the_papers():
    per_domain = {
        d: len(list_configurations(d, [], "grid")) for d in ("people", "animals", "outdoor")
    }
    assert per_domain == {"people": 56, "animals": 55, "outdoor": GRID_OUTDOOR}
    assert list_configurations("people", ["gamma"], "grid") == [(each,) for each in GRID["gamma"]]
    assert set(SINGLE) == set(GRID)
    assert all(SINGLE[bias] in GRID[bias] for bias in GRID)
    assert set(TEMPLATES) == {"standard", "bias_aware", "bias_definition", "chain_of_thought"}


def collected(root, texts, size=96):
    """A collection of pictures, all alike but for `size` px by name, with their texts.

    A second question is asked of the first, which counts once with its text.
    """
    store = ImageStore(root=str(root))
    sides = size if isinstance(size, dict) else dict.fromkeys(texts, size)
    rows = [
        {
            "image_id": f"mine/{name}",
            "row": number,
            "outcome": "taken",
            "sha256": store.put(pictures.png(name, sides[name], sides[name])),
            "width": sides[name],
            "height": sides[name],
            "domain": "indoor" if name == "d" else None,
            "text": text,
            "other_columns": '{"keyword": "Dog"}' if name == "a" else None,
        }
        for number, (name, text) in enumerate(texts.items(), 1)
    ]
    rows.append({**rows[0], "image_id": "mine/again", "question": "Is it dark?"})
    path = root / "collections" / "mine.parquet"
    path.parent.mkdir()
    pq.write_table(COLLECTION_COLUMNS.build_table(rows), path)


def test_a_collection_stands_where_a_painter_can(tmp_path):
    collected(tmp_path, {"a": "A dog.", "b": None, "c": "A cat.", "d": "A room."})
    studio = Studio(tmp_path)
    result = studio.must(
        "images",
        "biased_images",
        *SCORES,
        source="mine",
        biased_images={"configurations": "single", "biases": ["keyword", "instruction"]},
    )
    assert checks(result)["every_row_ended"]
    images = studio.table("images", "mine").set_index("item_id")
    assert images["outcome"].to_dict() == {
        "mine/a": "taken",
        "mine/b": "malformed",
        "mine/c": "taken",
    }
    assert "no text" in images.loc["mine/b", "reason"]
    biased = studio.table("biased_images", "mine").set_index(["item_id", "bias"])["outcome"]
    assert biased["mine/a", "keyword"] == "biased"
    assert biased["mine/c", "keyword"] == "inapplicable"
    gullible = studio.table("scores_gullible", "mine").groupby("bias")["score"].mean()
    assert gullible.to_dict() == {"none": 2, "keyword": 3, "instruction": 4}


def test_odd_pictures_and_odd_replies_are_rows_with_their_reasons(tmp_path, server):
    texts = {"small": "A cat.", "long": "word " * 400, "script": "A \U0001f600.", "six": "Six."}
    texts |= {"scale": "Seven.", "half": "Half.", "plain": "Plain."}
    collected(tmp_path, texts, size=dict.fromkeys(texts, 96) | {"small": 30, "long": 60})
    said = {"Six.": '{"score": 6}', "Seven.": '{"score": "7/10"}', "Half.": '{"score": 2.5}'}
    said["Plain."] = "I would give it a 4."
    server.answer = lambda received: next(
        (reply for text, reply in said.items() if text in received.texts[-1]), '{"score": 3}'
    )
    studio = Studio(tmp_path, at(server, "eye", "judge"))
    asked = ("images", "biased_images", "scores_eye")
    few = {"configurations": "single", "biases": ["instruction", "padding"]}
    studio.must(*asked, source="mine", biased_images=few)
    rows = studio.table("biased_images", "mine").set_index(["item_id", "bias"])["reason"]
    assert "50 px are more than a picture of 30x30 px has" in rows["mine/small", "padding"]
    assert "do not fit into a picture of 60x60 px" in rows["mine/long", "instruction"]
    assert "U+1F600" in rows["mine/script", "instruction"]
    assert rows.notna().sum() == 3
    scores = studio.table("scores_eye", "mine")
    reasons = scores.groupby("item_id")["reason"].agg(set)
    assert reasons["mine/six"] == {"Its score is 6, not from 0 to 5."}
    assert reasons["mine/scale"] == {"Its score is no whole number: 7/10."}
    assert reasons["mine/half"] == {"Its score is no whole number: 2.5."}
    assert scores["calls"].map(len).eq(1).all()
    plain = scores[scores["item_id"].eq("mine/plain")]
    assert plain["score"].isna().all()
    assert plain["plain_score"].eq(4).all()
    others = scores[scores["item_id"].ne("mine/plain")]
    assert others["plain_score"].equals(others["score"])
    before = server.count
    studio.must(*asked, source="mine", biased_images=few)
    assert server.count == before


def test_a_source_without_a_table_is_named(tmp_path):
    studio = Studio(tmp_path)
    assert "Materialize collections/holiday first" in failure(
        studio.run("images", source="holiday")
    )
    said = failure(studio.run("images", source="sketch"))
    assert "Materialize frame/perturbed_instructions first" in said
    assert not (table(tmp_path, "images/animals", "sketch", "frame")).exists()


def coco(digest, *boxes):
    """COCO's JSON of one picture of 512 px."""
    image = {"id": 1, "file_name": f"{digest}.png", "width": 512, "height": 512}
    annotations = [{"image_id": 1, "category_id": 1, "bbox": box} for box in boxes]
    categories = [{"id": 1, "name": "dog"}]
    return json.dumps({"images": [image], "annotations": annotations, "categories": categories})


class TestBoxes:
    @pytest.fixture
    def studio(self, tmp_path, server):
        studio = Studio(tmp_path, at(server, "eye", "captioner"), items=2, reserve=0)
        studio.must(*WRITTEN)
        studio.must("images", source="sketch")
        return studio

    def test_they_come_from_a_file_or_from_a_model_and_are_drawn(self, studio, server, tmp_path):
        only = {"biases": ["boxes"]}
        first, second = studio.table("images", "sketch")["sha256"]
        file = tmp_path / "boxes.json"
        file.write_text(coco(first, [100, 100, 200, 300], [500, 500, 100, 100]))
        steps = ("boxes", "biased_images")
        studio.must(*steps, source="sketch", boxes={"file": str(file)}, biased_images=only)
        rows = studio.table("boxes", "sketch").set_index("sha256")
        assert rows["outcome"].to_dict() == {first: "found", second: "missing"}
        assert json.loads(rows.loc[first, "boxes"]) == [
            {"left": 100 / 512, "top": 100 / 512, "width": 200 / 512, "height": 300 / 512}
            | {"label": "dog"}
        ]
        biased = studio.table("biased_images", "sketch").query("bias == 'boxes'")
        ended = dict(zip(biased["original"], biased["outcome"], strict=True))
        assert ended == {first: "biased", second: "inapplicable"}
        assert f"The file names no {second}.png." in set(biased["reason"])
        file.write_text(coco(first, [500, 500, 100, 100]))
        studio.must("boxes", source="sketch", boxes={"file": str(file)})
        reasons = studio.table("boxes", "sketch").set_index("sha256")["reason"]
        assert "no box of it that can be used: rows_left_out" in reasons[first]

        said = {first: '{"boxes": []}', second: '{"boxes": [{"label": "cat", "box": [9, 9, 5]}]}'}
        server.answer = lambda received: said[sha256(received.images[0]).hexdigest()]
        studio.must(*steps, source="sketch", boxes={"finder": "eye"}, biased_images=only)
        rows = studio.table("boxes", "sketch").set_index("sha256")
        assert rows["outcome"].to_dict() == {first: "none", second: "unparsed"}
        assert rows.loc[second, "reason"] == "Boxes: box 1 has no four numbers under box."

    def test_a_partition_without_pictures_gives_empty_tables(self, studio):
        path = table(studio.root, f"images/{studio.domain}", "sketch", "frame")
        rewrite(path, lambda rows: [])
        result = studio.must("boxes", "biased_images", source="sketch")
        assert metadata(result, "biased_images", "frame")["pictures"] == 0
        assert studio.table("biased_images", "sketch").empty

    def test_nobody_is_asked_where_nobody_can_say(self, studio):
        studio.must("boxes", source="sketch")
        assert set(studio.table("boxes", "sketch")["outcome"]) == {"unasked"}
        assert "list a detector" in studio.table("boxes", "sketch")["reason"][0]

    @pytest.mark.parametrize(
        ("content", "problem"),
        [(None, " is not there"), (b"\xff", ", line 1: it is not text in UTF-8")],
    )
    def test_a_file_that_cannot_be_read_is_named(self, tmp_path, content, problem):
        file = tmp_path / "boxes.json"
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(UserFileError, match=f"{re.escape(str(file))}{problem}"):
            read_box_file(file)
