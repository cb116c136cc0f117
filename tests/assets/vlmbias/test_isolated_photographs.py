"""Photographs without their background: edited, accepted, shown to judges and released."""

import pytest
from dagster import DagsterInstance

from assets.kit.release_tables import ReleaseInputs
from assets.vlmbias.release import RELEASE_TABLES
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from tests.assets.asked import judge_at
from tests.assets.painted import LIST, Isolating, Studio, paint_isolated, painter_at
from tests.providers import Provider, faults
from tests.runs import copied, failure, image, metadata, rewrite, warned

ISOLATED = "reviews/animals-isolated.csv"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A data root with photographs of three animals; a person accepted changed dog and ostrich."""
    root = tmp_path_factory.mktemp("reviewed")
    with (
        DagsterInstance.ephemeral() as instance,
        Provider(Isolating()) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        studio = Studio(root, instance, server)
        studio.add(painter_at(server))
        server.answer.list = LIST[:3]
        studio.make(edits={"edits_per_image": 1})
        rows = studio.table("candidates", "artist")
        accepted = rows["subject"].isin(["dog", "ostrich"]) & rows["variant"].ne("original")
        studio.review(*[f"{digest},accept," for digest in rows.loc[accepted, "sha256"]])
        studio.must("photographs")
    return root


@pytest.fixture
def studio(reviewed, tmp_path, instance, server):
    """A copy of it."""
    server.answer = Isolating()
    studio = Studio(copied(reviewed, tmp_path / "root"), instance, server)
    studio.add(painter_at(server))
    return studio


def photographs(studio, subject):
    rows = studio.table("photographs")
    return rows[(rows["subject"] == subject) & (rows["variant"] == "counterfactual")]


class TestEdits:
    @pytest.mark.parametrize(
        ("isolate", "reason"),
        [
            (
                lambda asked: paint_isolated(asked, (255, 255, 240)),
                "0% of its border is white, less than",
            ),
            (lambda asked: paint_isolated(asked, mark=0), "It shows nothing: it is of one colour."),
            (
                lambda asked: paint_isolated(asked, size=(64, 60)),
                "It is 64 × 60 px, but a height of 64 px",
            ),
            (lambda asked: asked.images[0], "It is what was to be edited, unchanged."),
        ],
    )
    def test_what_is_not_isolated_is_dropped_unseen(self, studio, isolate, reason):
        studio.server.answer.isolate = isolate
        studio.must("isolated_edits", painter="artist")
        rows = studio.table("isolated_edits", "artist")
        assert set(rows["outcome"]) == {"dropped"}
        assert rows["reason"].str.startswith(reason).all()
        sheet = (studio.root / "reviews" / "animals-isolated-to-review.csv").read_text()
        assert not any(digest in sheet for digest in rows["sha256"])

    def test_a_refusal_is_a_row_and_the_rest_goes_on(self, studio):
        studio.server.when(lambda asked: " the dog" in asked.texts[0], faults.CONTENT_POLICY)
        assert studio.must("isolated_edits", painter="artist").success
        rows = studio.table("isolated_edits", "artist").set_index("subject")
        assert dict(rows["outcome"]) == {"ostrich": "edited", "dog": "refused"}
        assert rows.loc["dog", "refusal"] == "content filter"
        studio.accept_isolated("ostrich")
        assert (
            metadata(studio.must("isolated_photographs"), "isolated_photographs")["isolated"] == 1
        )

    def test_a_limit_leaves_accepted_pictures_in_the_table_and_nobody_pays_again(self, studio):
        studio.must("isolated_edits", painter="artist")
        studio.accept_isolated("dog")
        studio.accept_isolated("ostrich")
        trial = studio.must("isolated_edits", painter="artist", isolated_edits={"limit": 1})
        assert "partial" not in metadata(trial, "isolated_edits")
        assert set(studio.table("isolated_edits", "artist")["subject"]) == {"dog", "ostrich"}
        shown = metadata(studio.must("isolated_photographs"), "isolated_photographs")
        assert shown["isolated"] == 2
        studio.add(painter_at(studio.server, "other", roles=("editor",)))
        studio.must("isolated_edits", painter="artist", isolated_edits={"editor": "other"})
        assert studio.sent() == {"edited": 2}

    def test_all_accepted_edits_of_a_photograph_stay_in_the_table(self, studio):
        studio.must("isolated_edits", painter="artist", isolated_edits={"edits_per_image": 2})
        studio.accept_isolated("dog")
        for _ in range(2):
            rows = studio.table("isolated_edits", "artist")
            assert rows.loc[rows["subject"].eq("dog"), "edit_number"].tolist() == [0, 1]
            studio.must("isolated_edits", painter="artist", isolated_edits={"edits_per_image": 2})

    def test_without_an_accepted_photograph_nobody_is_asked(self, studio):
        studio.review()
        studio.must("photographs")
        message = failure(studio.run("isolated_edits", painter="artist"))
        assert "holds no changed picture of artist that a person has accepted" in message
        assert "counterfactory review vlmbias/candidates" in message
        assert studio.server.count == 0

    def test_of_a_stand_in_it_says_that_a_painter_is_needed(self, studio):
        studio.add(
            Model(
                name="sketch",
                backend="stand_in",
                model="sketch",
                family="s",
                roles=("painter", "editor"),
            )
        )
        message = failure(studio.run("isolated_edits", painter="sketch"))
        assert "sketch is a stand-in, whose pictures are no part of the benchmark" in message
        assert "counterfactory review" not in message


class TestPhotographs:
    def test_a_verdict_on_an_unknown_picture_is_named(self, studio):
        studio.must("isolated_edits", painter="artist")
        (studio.root / ISOLATED).write_text(f"image,verdict,reason\n{'a' * 64},accept,\n")
        message = failure(studio.run("isolated_photographs"))
        assert f"animals-isolated.csv, line 2: the picture {'a' * 64} was accepted, but" in message
        assert "animals-isolated-to-review.html" in message

    def test_a_picture_of_two_photographs_is_of_neither(self, studio):
        studio.must("isolated_edits", painter="artist")
        studio.accept_isolated("dog")
        rewrite(
            studio.root / "vlmbias/isolated_edits/artist/animals.parquet",
            lambda rows: [row | {"sha256": rows[-1]["sha256"]} for row in rows],
        )
        assert metadata(studio.must("isolated_photographs"), "isolated_photographs")["images"] == 0


@pytest.fixture
def isolated(studio):
    """The same, with the dog's picture accepted and the questions made."""
    studio.must("isolated_edits", painter="artist")
    studio.accept_isolated("dog")
    studio.must("isolated_photographs")
    studio.must("questions")
    return studio


def test_a_judge_sees_the_accepted_picture_with_the_same_words(isolated):
    isolated.add(judge_at(isolated.server))
    isolated.server.answer = lambda received: "{5}"
    count = isolated.server.count
    isolated.must("answers_somebody", answers_somebody={"prompting": ["isolated"]})
    shown = isolated.table("isolated_photographs")
    dog = photographs(isolated, "dog")
    asked = isolated.table("questions")
    asked = asked[asked["sha256"].isin(dog["sha256"])]
    assert set(asked["question_id"]) == {"Q1", "Q2", "Q3"}
    pictures = dict(zip(shown["photograph_sha256"], shown["sha256"], strict=True))
    expected = {
        ((row.question,), (image(isolated.root, pictures[row.sha256]).read_bytes(),))
        for row in asked.itertuples()
    }
    received = isolated.server.received[count:]
    assert {(each.texts, each.images) for each in received} == expected
    assert len(received) == 3 * 2
    rows = isolated.table("answers_somebody")
    assert list(rows["shown_sha256"]) == [pictures[digest] for digest in rows["sha256"]]
    isolated.must("answers_somebody", answers_somebody={"prompting": ["baseline", "isolated"]})
    isolated.must("accuracy")


def test_it_is_released_once_accepted_with_all_who_made_it(isolated):
    inputs = ReleaseInputs(
        DataRoot(root=str(isolated.root)),
        ImageStore(root=str(isolated.root)),
        None,
        Catalog(()),
        ("animals",),
    )
    rows = list(RELEASE_TABLES[0].read_rows(inputs, "remove_background_q1q2"))
    shown = isolated.table("isolated_photographs")
    assert [row.cells["image"] for row in rows] == list(shown["sha256"].repeat(2))
    assert {(row.proof, row.parts[1:]) for row in rows} == {("people", ("artist",))}
    assert '"background_editor": "artist"' in rows[0].cells["metadata"]
    (isolated.root / ISOLATED).unlink()
    isolated.must("isolated_photographs")
    assert not list(RELEASE_TABLES[0].read_rows(inputs, "remove_background_q3"))


def test_a_question_about_another_photograph_is_not_asked(isolated):
    """A photograph that was chosen anew has no accepted picture without its background."""
    rewrite(
        isolated.root / "vlmbias/isolated_photographs/animals.parquet",
        lambda rows: [row | {"photograph_sha256": "b" * 64} for row in rows],
    )
    isolated.add(judge_at(isolated.server))
    count = isolated.server.count
    isolated.must("answers_somebody", answers_somebody={"prompting": ["isolated"]})
    assert isolated.server.count == count
    assert isolated.table("answers_somebody").empty
    assert "Nothing is asked of animals without background" in warned(isolated.instance)
