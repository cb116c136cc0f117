"""Photographs from a suggestion to answers, over real HTTP: what is asked, kept and published."""

import json
from collections import Counter
from types import SimpleNamespace

import pandas as pd
import pytest
from dagster import DagsterInstance

from assets.kit.checks import find_contradictions, find_miscounted_keys
from assets.vlmbias.photographs.candidates import Candidates
from assets.vlmbias.photographs.edits import Edits
from assets.vlmbias.photographs.paintings import Paintings
from generators.photographs import load_photograph_topics
from resources.models import dispatch
from resources.models.catalog import Catalog, Model
from tests.assets.painted import LIST, STEPS, TOPIC, Painting, Studio, painter_at
from tests.providers import Provider, faults
from tests.runs import checks, copied, failure, metadata, warned

CHECKED = {"candidates": {"checker": "artist"}}
SKETCH = Model(
    name="sketch",
    backend="stand_in",
    model="sketch",
    family="stand_in",
    roles=("painter", "editor"),
)


@pytest.fixture(scope="module")
def provider():
    """A provider for all of these tests: what a call is stored under tells where it was sent."""
    with pytest.MonkeyPatch.context() as patch, Provider() as provider:
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        patch.setattr(dispatch, "FIRST_WAIT_S", 0.005)
        yield provider


@pytest.fixture(scope="module")
def shared():
    """A Dagster instance for all of these tests, where no run's history matters to another."""
    with DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="module")
def whole(tmp_path_factory, provider, shared):
    """What is made with no checker, and with one: root, requests that it took, and its checks."""
    provider.clear()
    provider.received.clear()
    provider.answer = Painting()
    studio = Studio(tmp_path_factory.mktemp("made"), shared, provider)
    studio.add(painter_at(provider))
    made = {}
    for name, config in (("unchecked", {}), ("checked", CHECKED)):
        passed = studio.make(**config)
        root = copied(studio.root, tmp_path_factory.mktemp(name) / "root")
        made[name] = SimpleNamespace(root=root, received=[*provider.received], passed=passed)
    return made


@pytest.fixture
def studio(tmp_path, shared, provider):
    """A painter that there is, and nothing made yet."""
    provider.clear()
    provider.received.clear()
    provider.answer = Painting()
    for name in shared.get_dynamic_partitions("painters"):
        shared.delete_dynamic_partition("painters", name)
    studio = Studio(tmp_path / "root", shared, provider)
    studio.add(painter_at(provider))
    return studio


@pytest.fixture
def made(whole, studio):
    """The same, with all made that nobody checked."""
    return _as_made(studio, whole["unchecked"])


@pytest.fixture
def checked(whole, studio):
    """The same, with all made and checked."""
    return _as_made(studio, whole["checked"])


def _as_made(studio, made):
    copied(made.root, studio.root)
    studio.server.received.extend(made.received)
    studio.passed = made.passed
    return studio


class TestTheWholeWay:
    @pytest.mark.usefixtures("checked")
    def test_from_a_suggestion_to_answers(self, studio):
        assert studio.passed == {"every_row_ended": True, "nothing_failed": True}
        assert studio.sent() == {"written": 1, "painted": 4, "edited": 16, "looked": 60}
        rows = studio.table("photographs")
        assert len(rows) == 4 * 2 * 2 == rows["image_id"].nunique()
        assert set(rows["image_set"]) == {"unreviewed"}
        assert set(rows["painter"]) == {"artist"}
        assert not rows["is_stand_in"].any()
        one = rows[rows["image_id"] == "animals/ostrich/artist/96"].iloc[0]
        assert one["original_id"] == "animals/ostrich-original/artist"
        assert (one["width"], one["height"], one["source_width"]) == (96, 96, 64)
        assert (list(one["targets"]), list(one["truths"]), list(one["standards"])) == (
            ["legs"],
            [3.0],
            [2.0],
        )
        assert len(one["calls"]) == 1 + 1 + 1 + 3, "suggestion, painting, edit, three checks"
        studio.must("questions", "answers_prior")
        asked = studio.table("questions")
        assert (
            asked.groupby("variant")["question_id"].nunique()
            == pd.Series({"counterfactual": 3, "original": 5})
        ).all()
        bird = asked[(asked["subject"] == "ostrich") & (asked["question_id"] == "Q1")]
        truths = bird.set_index("variant")["ground_truth"]
        assert set(truths["counterfactual"]) == {"3"}
        assert set(truths["original"]) == {"2"}
        for column in ("painter", "review", "is_stand_in"):
            assert column in studio.table("answers_prior")

    @pytest.mark.usefixtures("checked")
    def test_an_unchanged_run_asks_nothing_and_gives_the_same_bytes(self, studio):
        count = studio.server.count
        before = {name: studio.bytes(name, "artist") for name in STEPS}
        photographs, version = studio.bytes("photographs"), self.version(studio)
        studio.make(**CHECKED)
        assert studio.server.count == count
        assert {name: studio.bytes(name, "artist") for name in STEPS} == before
        assert studio.bytes("photographs") == photographs
        assert self.version(studio) == version

    @staticmethod
    def version(studio):
        result = studio.must("photographs")
        (event,) = result.asset_materializations_for_node("vlmbias__photographs")
        return event.tags["dagster/data_version"]

    @pytest.mark.usefixtures("made")
    def test_a_new_painter_asks_nothing_of_the_old_one(self, studio):
        count = studio.server.count
        studio.add(painter_at(studio.server, "other"))
        studio.make("other")
        assert studio.sent(count) == {"painted": 4, "edited": 16}
        assert {each.model for each in studio.server.received[count:]} == {"other-1"}
        rows = studio.table("photographs")
        assert set(rows["painter"]) == {"artist", "other"}
        assert rows["image_id"].is_unique

    @pytest.mark.usefixtures("made")
    def test_another_subject_asks_for_itself_alone(self, studio):
        count = studio.server.count
        studio.server.answer.list = [*LIST[:-1], ("cow", 4)]
        studio.must("subjects", subjects={"writer": "artist", "sample": 1})
        message = failure(studio.run("edits", painter="artist"))
        assert "holds no picture of original for animals/cow" in message
        assert "Materialize the paintings" in message
        studio.must(*STEPS, painter="artist")
        assert studio.sent(count) == {"written": 1, "painted": 1, "edited": 4}
        assert all("cow" in each.texts[0] for each in studio.server.received[count + 1 :])
        studio.must("photographs")
        assert set(studio.table("photographs")["subject"]) == {"ostrich", "heron", "dog", "cow"}

    @pytest.mark.usefixtures("made")
    def test_candidates_of_other_subjects_are_left_out_and_named(self, studio, instance):
        instance.add_dynamic_partitions("painters", ["artist"])
        studio.instance = instance
        studio.server.answer.list = [*LIST[:-1], ("cow", 4)]
        studio.must("subjects", subjects={"writer": "artist", "sample": 1})
        assert "of other subjects" in failure(studio.run("questions"))
        studio.must("photographs")
        assert "5 candidates are of other subjects" in warned(studio.instance)
        assert set(studio.table("photographs")["subject"]) == {"ostrich", "heron", "dog"}

    @pytest.mark.usefixtures("checked")
    def test_requests_are_the_papers_words_and_pictures(self, studio):
        topic = load_photograph_topics()[TOPIC]
        wanted = topic.list_photographs([{"name": name, "num_legs": legs} for name, legs in LIST])
        questions = {text for each in wanted for text in topic.write_checks(each).values()}
        prompts = {painting.prompt for each in wanted for painting in each.paintings}
        words = {topic.SUGGESTION} | prompts | {each.edit for each in wanted} | questions
        assert {text for each in studio.server.received for text in each.texts} == words
        bodies = b"".join(each.body for each in studio.server.received)
        for told in ("animals/ostrich", "counterfactual", "expected_bias", "artist/"):
            assert told.encode() not in bodies

    def test_what_is_offline_is_a_stand_in(self, studio):
        studio.add(SKETCH)
        studio.must("subjects", subjects={"writer": "artist"})
        studio.must(*STEPS, painter="sketch")
        studio.must("photographs")
        digest = studio.table("photographs")["source_sha256"].iloc[0]
        studio.review(f"{digest},accept,fine")
        studio.must("photographs")
        rows = studio.table("photographs")
        assert set(rows["image_set"]) == {"stand-in"}
        assert set(rows["review"]) == {"accepted", "unreviewed"}
        assert rows["is_stand_in"].all()
        assert studio.sent() == {"written": 1}

    def test_an_offline_edit_of_a_real_painting_is_a_rehearsal_and_the_painting_is_none(
        self, studio
    ):
        studio.add(SKETCH)
        studio.server.answer.size = (80, 60)  # The shape of a sketch.
        studio.must("subjects", subjects={"writer": "artist"})
        studio.must(*STEPS, painter="artist", edits={"editor": "sketch", "edits_per_image": 1})
        studio.review(
            *[f"{digest},accept," for digest in studio.table("candidates", "artist")["sha256"]]
        )
        studio.must("photographs")
        rows = studio.table("photographs")
        assert set(rows["review"]) == {"accepted"}
        assert {*zip(rows["variant"], rows["image_set"], rows["is_stand_in"], strict=True)} == {
            ("original", "originals", False),
            ("counterfactual", "stand-in", True),
        }


class TestEndings:
    def test_a_refusal_is_a_row_all_the_way(self, studio):
        dog = _asks("generations", " dog ")
        studio.server.when(dog, faults.CONTENT_POLICY)
        assert studio.make() == {"every_row_ended": True, "nothing_failed": True}
        paintings = studio.table("paintings", "artist").set_index("outcome")
        assert len(paintings.loc[["refused"]]) == 1
        assert paintings.loc["refused", "refusal"] == "content filter"
        edits = studio.table("edits", "artist").set_index("subject")
        assert edits.loc["dog", "outcome"] == "unpainted"
        assert edits.loc["dog", "reason"].startswith("Its original is refused: ")
        assert studio.sent()["edited"] == 12
        assert set(studio.table("photographs")["subject"]) == {"ostrich", "heron", "horse"}
        said = metadata(studio.must("photographs"), "photographs")
        assert said["dropped"] == 2
        assert "unpainted: Its original is refused" in said["why_dropped"]
        assert "| artist | mammals | 2 | 1 | 1 | 1 | 0 | 1 |" in said["retention"]
        count = studio.server.count
        studio.make()
        assert studio.server.count == count

    def test_a_failed_edit_is_a_row_and_tried_again(self, studio):
        studio.server.when(_asks("edits", " dog "), faults.TOO_LARGE)
        assert studio.make() == {"every_row_ended": True, "nothing_failed": False}
        edits = studio.table("edits", "artist")
        assert (edits["outcome"] == "failed").sum() == 4
        said = metadata(studio.must("photographs"), "photographs")
        assert "failed: " in said["why_dropped"]
        studio.server.clear()
        count = studio.server.count
        assert studio.make() == {"every_row_ended": True, "nothing_failed": True}
        assert studio.sent(count) == {"edited": 4}

    def test_a_malformed_edit_is_a_row_and_stays(self, studio):
        studio.server.when(_asks("edits", " dog "), faults.TRUNCATED_PNG)
        assert studio.make() == {"every_row_ended": True, "nothing_failed": True}
        assert (studio.table("edits", "artist")["outcome"] == "malformed").sum() == 4
        studio.server.clear()
        count = studio.server.count
        studio.make()
        assert studio.server.count == count

    @pytest.mark.parametrize(
        ("parameters", "size", "why"),
        [
            ({"size": "64x64"}, (32, 32), "It is 32 × 32 px, but a width of 64 px was requested."),
            (
                {"image_config": {"image_size": "1K"}},
                (64, 64),
                "It is 64 × 64 px, but an image_size of 1K was requested.",
            ),
            ({}, (64, 60), "It is 64 × 60 px, which is another shape than the 64 × 64 px"),
        ],
    )
    def test_an_edit_of_another_size_is_dropped(self, studio, parameters, size, why):
        studio.models[0] = painter_at(studio.server, parameters=parameters)
        studio.must("subjects", subjects={"writer": "artist"})
        studio.must("paintings", painter="artist")
        studio.server.answer.size = size
        result = studio.must("edits", "candidates", painter="artist")
        assert set(checks(result).values()) == {True}
        edits = studio.table("edits", "artist")
        assert set(edits["outcome"]) == {"dropped"}
        assert edits["reason"].str.startswith(why).all()
        assert edits["sha256"].notna().all()

    def test_an_edit_that_changed_nothing_is_dropped(self, studio):
        """Else a person who accepts the original would accept a fifth leg."""
        painting = studio.server.answer

        def answer(received):
            edited = received.path.endswith("/edits")
            return received.images[0] if edited else painting(received)

        studio.must("subjects", subjects={"writer": "artist"})
        studio.server.answer = answer
        studio.must(*STEPS, painter="artist", edits={"edits_per_image": 1})
        rows = studio.table("edits", "artist")
        assert set(rows["outcome"]) == {"dropped"}
        assert set(rows["reason"]) == {"It is what was to be edited, unchanged."}

    def test_an_edit_of_nearly_the_same_shape_is_kept(self, studio):
        studio.models[0] = painter_at(studio.server, parameters={})
        studio.must("subjects", subjects={"writer": "artist"})
        studio.must("paintings", painter="artist")
        studio.server.answer.size = (64, 63)
        studio.must("edits", painter="artist")
        assert set(studio.table("edits", "artist")["outcome"]) == {"edited"}

    @pytest.mark.usefixtures("made")
    def test_a_picture_that_is_gone_is_not_bought_again_unasked(self, studio):
        row = studio.table("paintings", "artist").iloc[0]
        (studio.root / "images" / row["sha256"][:2] / f"{row['sha256']}.png").unlink()
        count = studio.server.count
        assert "remake_lost_pictures: true" in failure(studio.run("paintings", painter="artist"))
        assert studio.server.count == count

    @pytest.mark.parametrize("step", [Paintings, Edits, Candidates])
    @pytest.mark.usefixtures("made")
    def test_a_run_that_leaves_a_row_out_fails(self, studio, monkeypatch, step):
        every = step.rows
        monkeypatch.setattr(step, "rows", lambda self, work: every(self, work)[1:])
        result = studio.run(step.asset.key.path[-1], painter="artist")
        assert not result.success
        assert checks(result)["every_row_ended"] is False

    @pytest.mark.parametrize(
        ("change", "problems"),
        [
            (lambda rows: rows, []),
            (lambda rows: rows[:-1], ["0 rows"]),
            (lambda rows: [*rows, rows[0]], ["2 rows"]),
            (lambda rows: [{**rows[0], "outcome": "pending"}, *rows[1:]], ["ended as pending"]),
            (lambda rows: [{**rows[0], "sha256": None}, *rows[1:]], ["ended as edited"]),
            (lambda rows: [{**rows[0], "reason": "why"}, *rows[1:]], ["ended as edited"]),
            (lambda rows: [*rows[:-1], {**rows[-1], "refusal": None}], ["ended as refused"]),
            (lambda rows: [*rows[:-1], {**rows[-1], "sha256": "a"}], ["ended as refused"]),
        ],
    )
    def test_what_is_missing_or_half_ended_is_found(self, change, problems):
        there = {"sha256": "a", "width": 1, "height": 1, "reason": None, "refusal": None}
        none = dict.fromkeys(there) | {"reason": "no", "refusal": "model"}
        rows = [
            {"base_id": "a", "edit_number": 0, "outcome": "edited", **there},
            {"base_id": "a", "edit_number": 1, "outcome": "dropped", **there, "reason": "its size"},
            {"base_id": "a", "edit_number": 2, "outcome": "failed", **none, "refusal": None},
            {"base_id": "a", "edit_number": 3, "outcome": "refused", **none},
        ]
        wanted = [("a", number) for number in range(4)]
        step, found = Edits(Catalog(())), change(rows)
        miscounts = find_miscounted_keys(found, lambda: wanted, step.table.key_columns)
        assert [
            problem for _, problem in (*miscounts, *find_contradictions(found, step))
        ] == problems


class TestChecks:
    @pytest.mark.usefixtures("made")
    def test_a_no_fails_a_candidate_and_another_edit_is_taken(self, studio):
        first = studio.table("edits", "artist")
        first = first[(first["subject"] == "dog") & (first["edit_number"] == 0)]["sha256"].iloc[0]
        picture = (studio.root / "images" / first[:2] / f"{first}.png").read_bytes()
        said = studio.server.answer

        def one_is_framed_badly(received):
            framing = received.task != "picture" and "whole animal" in received.texts[0]
            return "{No}" if framing and picture in received.images else said(received)

        studio.server.answer = one_is_framed_badly
        studio.must("candidates", painter="artist", candidates={"checker": "artist"})
        rows = studio.table("candidates", "artist").set_index("sha256")
        assert rows.loc[first, "check"] == "failed"
        assert list(rows.loc[first, "failed_checks"]) == ["framing"]
        assert (rows["check"] == "passed").sum() == len(rows) - 1
        studio.must("photographs")
        dog = studio.table("photographs").query("base_id == 'animals/dog/artist'")
        assert json.loads(dog["settings"].iloc[0])["edit_number"] == 1

    @pytest.mark.usefixtures("made")
    def test_an_answer_that_cannot_be_read_is_no_no(self, studio):
        vague = Counter()

        def answer(received):
            said = ["I think so.", "{Yes} or {No}", "{maybe}"][vague.total() % 3]
            vague[said] += 1
            return said

        studio.server.answer = answer
        studio.must("candidates", painter="artist", **CHECKED)
        studio.must("photographs")
        assert min(vague.values()) == 20
        assert len(vague) == 3
        rows = studio.table("candidates", "artist")
        assert set(rows["check"]) == {"unchecked"}
        assert set(rows["unanswered_checks"].map(tuple)) == {("subject", "framing", "visibility")}
        assert len(studio.table("photographs")) == 16

    @pytest.mark.usefixtures("made")
    def test_nobody_is_asked_by_default(self, studio):
        assert studio.sent()["looked"] == 0
        assert set(studio.table("candidates", "artist")["check"]) == {"unchecked"}

    def test_the_count_is_never_asked_about(self):
        for topic in load_photograph_topics().values():
            for each in topic.list_photographs(topic.BUILT_IN):
                for question in topic.write_checks(each).values():
                    assert not any(
                        word in question.lower() for word in ("how many", "count", "number")
                    )
                    assert str(each.truth) not in question


class TestChoices:
    def test_a_painter_that_cannot_edit_needs_an_editor(self, studio):
        studio.add(painter_at(studio.server, "brush", roles=("painter",)))
        studio.must("subjects")
        studio.must("subjects", subjects={"writer": "artist"})
        studio.must("paintings", painter="brush")
        message = failure(studio.run("edits", painter="brush"))
        assert "brush is no editor in models.yaml" in message
        assert "Name one in the run config: editor." in message
        studio.must("edits", painter="brush", edits={"editor": "artist", "edits_per_image": 2})
        rows = studio.table("edits", "brush")
        assert set(rows["editor"]) == {"artist"}
        assert set(rows["edit_number"]) == {0, 1}

    @pytest.mark.parametrize(
        ("name", "config", "painter"),
        [
            ("subjects", {"writer": "nobody"}, None),
            ("edits", {"editor": "nobody"}, "artist"),
            ("candidates", {"checker": "nobody"}, "artist"),
        ],
    )
    @pytest.mark.usefixtures("made")
    def test_a_model_that_is_not_listed_is_named(self, studio, name, config, painter):
        count = studio.server.count
        message = failure(studio.run(name, painter=painter, **{name: config}))
        assert "nobody is not in models.yaml" in message
        assert "artist" in message
        assert studio.server.count == count

    def test_a_list_that_cannot_serve_says_why(self, studio):
        studio.server.answer.list = [("ostrich", 2), ("spider", 8)]
        message = failure(studio.run("subjects", subjects={"writer": "artist"}))
        assert "The suggestions of artist for animals are unusable: spider has 8 legs" in message
        assert "sample: 1" in message

    def test_a_writer_that_refuses_says_why(self, studio):
        studio.server.always(faults.REFUSED)
        message = failure(studio.run("subjects", subjects={"writer": "artist"}))
        assert "The suggestions of artist for animals are unusable" in message

    @pytest.mark.parametrize("topic", ["animals", "logos"])
    def test_the_papers_numbers_are_built_in(self, studio, topic):
        said = metadata(studio.must("subjects", topic=topic), "subjects")
        assert said["base_images"] == {"animals": 91, "logos": 69}[topic]
        rows = studio.table("subjects", topic=topic)
        assert set(rows["writer"]) == {"built-in"}
        assert not rows["is_stand_in"].any()
        assert studio.server.count == 0

    def test_a_painter_without_seeds_is_given_none(self, studio):
        studio.add(
            painter_at(
                studio.server,
                "seeded",
                backend="gemini",
                base_url=studio.server.url,
                key="OPENAI_API_KEY",
                parameters={},
                roles=("painter",),
            )
        )
        studio.must("subjects", subjects={"writer": "artist"})
        for name in ("artist", "seeded"):
            studio.must("paintings", painter=name, paintings={"seed": 7})
        assert studio.table("paintings", "artist")["seed"].isna().all()
        assert set(studio.table("paintings", "seeded")["seed"]) == {7}


def _asks(path, word):
    return lambda received: received.path.endswith(path) and word in received.texts[0]
