"""Reviews: the file that people fill in, the page that helps them, and what is published of it."""

import csv
import json

import pytest
from dagster import DagsterInstance
from PIL import Image

from assets.kit.verdicts import read_verdicts
from resources.user_files.rows import UserFileError
from tests.assets.painted import STEPS, Isolating, Painting, Studio, painter_at
from tests.assets.vlmbias.test_photographs_planning import planned
from tests.providers import Provider
from tests.runs import copied, failure, image, metadata, rewrite

PICTURE = "a" * 64


@pytest.fixture(scope="module")
def unreviewed(tmp_path_factory):
    """A data root with photographs of four animals that nobody has reviewed; not to be changed."""
    root = tmp_path_factory.mktemp("unreviewed")
    with (
        DagsterInstance.ephemeral() as instance,
        Provider(Painting()) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        studio = Studio(root, instance, server)
        studio.add(painter_at(server))
        studio.make()
    return root


@pytest.fixture
def studio(unreviewed, tmp_path, instance, server):
    """A copy of it."""
    server.answer = Painting()
    studio = Studio(copied(unreviewed, tmp_path / "root"), instance, server)
    studio.add(painter_at(server))
    return studio


def list_pictures(studio, subject="dog", variant="counterfactual", painter="artist"):
    """The pictures of a base image, by edit."""
    rows = studio.table("candidates", painter)
    chosen = rows[(rows["subject"] == subject) & (rows["variant"] == variant)]
    return list(chosen.sort_values("edit_number")["sha256"])


def published(studio, base_id="animals/dog/artist"):
    """The review, set and edit of what is published of a base image; none where nothing is."""
    rows = studio.table("photographs")
    rows = rows[rows["base_id"] == base_id]
    return {
        (row.review, row.image_set, json.loads(row.settings).get("edit_number"))
        for row in rows.itertuples()
    }


class TestVerdicts:
    @pytest.mark.parametrize(
        ("words", "wanted"),
        [
            ([], ("unreviewed", "unreviewed", 0)),
            (["accept"], ("accepted", "benchmark", 0)),
            (["reject"], ("unreviewed", "unreviewed", 1)),
            (["", "", "accept"], ("accepted", "benchmark", 2)),
            (["reject", "accept", "accept"], ("accepted", "benchmark", 1)),
            (["reject"] * 3, ("unreviewed", "unreviewed", 3)),
            (["reject"] * 4, None),
        ],
    )
    def test_the_first_accepted_edit_is_published(self, studio, words, wanted):
        pictures = list_pictures(studio)
        studio.review(*[f"{p},{w},why" for p, w in zip(pictures, words, strict=False)])
        said = metadata(studio.must("photographs"), "photographs")
        assert published(studio) == ({wanted} if wanted else set())
        assert said["dropped"] == (0 if wanted else 1)
        last = "| artist | mammals | 2 | 2 | 2 | 2 |"
        accepted = int(bool(wanted) and wanted[0] == "accepted")
        unreviewed = 1 + int(bool(wanted) and wanted[0] == "unreviewed")
        assert f"{last} {accepted} | {unreviewed} |" in said["retention"]

    def test_an_accepted_original_joins_the_originals(self, studio):
        (original,) = list_pictures(studio, variant="original")
        studio.review(f"{original},accept,")
        studio.must("photographs")
        assert published(studio, "animals/dog-original/artist") == {("accepted", "originals", None)}

    def test_a_person_overrules_a_check(self, studio):
        studio.server.answer.said = "{No}"
        studio.must("candidates", painter="artist", candidates={"checker": "artist"})
        pictures = list_pictures(studio)
        studio.review(f"{pictures[2]},accept,")
        said = metadata(studio.must("photographs"), "photographs")
        assert published(studio) == {("accepted", "benchmark", 2)}
        assert said["dropped"] == 7
        assert "0 rejected, 4 failed a check" in said["why_dropped"]

    def test_verdicts_are_rendered_at_every_size_and_reused(self, studio):
        studio.review(f"{list_pictures(studio)[1]},accept,")
        studio.must("photographs")
        before = studio.bytes("photographs")
        files = {path: path.stat().st_mtime_ns for path in (studio.root / "images").rglob("*.png")}
        studio.must("photographs")
        assert studio.bytes("photographs") == before
        now = {path: path.stat().st_mtime_ns for path in (studio.root / "images").rglob("*.png")}
        assert now == files
        assert set(studio.table("photographs")["size"]) == {64, 96}

    def test_a_picture_of_two_things_is_published_as_neither(self, studio):
        """Whatever a painter gives twice: accepted as the one, it is no picture of the other."""
        (dog,), (horse,) = (list_pictures(studio, name, "original") for name in ("dog", "horse"))
        path = studio.root / "vlmbias" / "candidates" / "artist" / "animals.parquet"
        rewrite(
            path,
            lambda rows: [
                row | {"sha256": dog if row["sha256"] == horse else row["sha256"]} for row in rows
            ],
        )
        studio.review(f"{dog},accept,")
        said = metadata(studio.must("photographs"), "photographs")
        assert said["dropped"] == 2
        assert "made for another subject or variant" in said["why_dropped"]
        assert not published(studio, "animals/dog-original/artist")
        assert dog not in (studio.root / "reviews" / "animals-to-review.csv").read_text()

    def test_nothing_that_is_left_is_an_error_for_the_questions(self, studio):
        rows = studio.table("candidates", "artist")
        studio.review(*[f"{digest},reject," for digest in rows["sha256"].unique()])
        studio.must("photographs")
        assert "holds no picture" in failure(studio.run("questions"))

    def test_a_picture_that_is_no_candidate_any_more_is_named(self, studio):
        kept = list_pictures(studio)[0]
        path = studio.review(f"{kept},accept,", f"{PICTURE},accept,")
        message = failure(studio.run("photographs"))
        assert f"{path}, line 3: the picture {PICTURE} was accepted, but is in no table" in message
        assert "animals-to-review.html" in message
        studio.review(f"{PICTURE},reject,", f"{kept},accept,")
        message = failure(studio.run("photographs"))
        assert f"line 2: the picture {PICTURE} is in no table of candidates" in message

    def test_without_candidates_the_steps_before_are_named(self, studio):
        message = failure(studio.run("photographs", topic="logos"))
        assert "vlmbias/subjects (logos)" in message or "No painter has candidates" in message


class TestFile:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("picture,verdict\n", ["no column 'image', 'reason'. Choose from"]),
            ("", ["the first line names no columns"]),
            ("image;verdict;reason\n", ["separated by commas"]),
            (
                "image,verdict,reason\n\nA,yes,\n",
                ["line 3: `verdict` is 'yes'", "accept, reject, or leave it empty"],
            ),
            (
                "image,verdict,reason\nA,Accept,\n",
                ["line 2: `verdict` is 'Accept', did you mean accept?"],
            ),
            ("image,verdict,reason\nA,accept,\nA,reject,\n", ["line 3", "on line 2 already"]),
            (
                "image,verdict,reason\nA,accept\n",
                ["line 2: it has 2 cells where line 1 names 3", 'in "quotes"'],
            ),
            (
                "image,verdict,reason\nA,accept,no, thanks\n",
                ["line 2: it has 4 cells where line 1 names 3", 'in "quotes"'],
            ),
            ('image,verdict,reason\nA,accept,"never closed\n', ["line 2: it is no CSV"]),
            (
                "image,verdict,reason\nA,accept,caf\u00e9\n".encode("latin-1"),
                ["line 2: it is not text in UTF-8"],
            ),
            (b"PK\x03\x04\xff\xfe", ["line 1: it is not text in UTF-8", "not as a spreadsheet"]),
        ],
    )
    def test_what_is_wrong_is_named_with_file_and_line(self, tmp_path, text, told):
        path = tmp_path / "animals.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(UserFileError) as raised:
            read_verdicts(path)
        assert str(path) in str(raised.value)
        for words in told:
            assert words in str(raised.value)

    def test_what_spreadsheets_write_is_read(self, tmp_path):
        path = tmp_path / "animals.csv"
        lines = ["\ufeffreason,image,verdict,more", '"a, b",A,accept,x', ",B,,", ",C, reject ,"]
        path.write_bytes("\r\n".join(lines).encode())
        verdicts = read_verdicts(path)
        assert {image: each.decision for image, each in verdicts.items()} == {
            "A": "accept",
            "C": "reject",
        }
        assert verdicts["A"].reason == "a, b"
        assert read_verdicts(tmp_path / "none.csv") == {}

    def test_a_faulty_file_stops_candidates_before_anything_is_asked(self, studio):
        studio.review("A,maybe,")
        count = studio.server.count
        result = studio.run("candidates", painter="artist", candidates={"checker": "artist"})
        assert "`verdict` is 'maybe'" in failure(result)
        assert studio.server.count == count


class TestSheet:
    def test_one_that_was_filled_in_itself_is_put_aside(self, studio):
        reviews, first = studio.root / "reviews", list_pictures(studio)[0]
        sheet = reviews / "animals-to-review.csv"
        written = sheet.read_text()
        assert written.count(f"{first},,") == 1
        sheet.write_text(written.replace(f"{first},,", f"{first},accept,"))
        filled = sheet.read_bytes()
        studio.must("photographs")
        (aside,) = reviews.glob("*-filled-*.csv")
        assert aside.read_bytes() == filled
        assert sheet.read_text() == written
        aside.rename(reviews / "animals.csv")
        studio.must("photographs")
        assert published(studio) == {("accepted", "benchmark", 0)}
        studio.must("photographs")
        assert not list(reviews.glob("*-filled-*.csv"))

    def test_it_holds_every_candidate_of_all_painters_and_keeps_verdicts(self, studio):
        first = list_pictures(studio)[0]
        studio.review(f'{first},accept,"sharp, and ""real"""')
        studio.add(painter_at(studio.server, "other"))
        studio.must(*STEPS, painter="other")
        with (studio.root / "reviews" / "animals-to-review.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert {line["painter"] for line in lines} == {"artist", "other"}
        assert len(lines) == 2 * 4 * 5
        given = {line["image"]: (line["verdict"], line["reason"]) for line in lines}
        assert given.pop(first) == ("accept", 'sharp, and "real"')
        assert set(given.values()) == {("", "")}
        dog = next(line for line in lines if line["subject"] == "dog")
        assert "exactly" in dog["sentence"]


ISOLATION = (
    "Edit this image: Remove everything except the dog, so that only the dog is left on a plain "
    "white background. Keep all the fine-grained details of the dog, particularly the 5 legs, in "
    "the same place and at the same size."
)
ISOLATION_TASK = (
    "Accept it if only the dog is left on plain white, unchanged from the photograph, with exactly "
    "5 legs that all can be seen clearly."
)


class TestIsolated:
    """Photographs without their background: see also test_isolated_photographs."""

    def test_an_editor_isolates_accepted_changes_and_people_accept_its_pictures(self, studio):
        studio.server.answer = Isolating()
        dog, ostrich = (list_pictures(studio, name)[1] for name in ("dog", "ostrich"))
        studio.review(f"{dog},accept,", f"{ostrich},accept,")
        studio.must("photographs")
        certain, later, missing = planned(studio, "isolated_edits")
        assert (len(certain), later, missing) == (2, 0, set())
        for _ in range(2):
            result = studio.must("isolated_edits", painter="artist")
            assert "partial" not in metadata(result, "isolated_edits")
            assert studio.sent() == {"edited": 2}
        asked = {each.texts: each.images for each in studio.server.received}
        assert asked[ISOLATION,] == (image(studio.root, dog).read_bytes(),)
        rows = studio.table("isolated_edits", "artist").set_index("subject")
        assert dict(rows["outcome"]) == {"ostrich": "edited", "dog": "edited"}
        assert rows.loc["dog", "sentence"] == ISOLATION_TASK
        isolated = rows.loc["dog", "sha256"]
        form = (studio.root / "reviews/.forms/vlmbias/isolated_edits/animals.json").read_text()
        assert f'[["{isolated}","without background"],["{dog}","the photograph"]]' in form

        # What is accepted is not asked for again, of whichever editor.
        studio.accept_isolated("dog")
        studio.accept_isolated("ostrich", "reject")
        studio.add(painter_at(studio.server, "other", roles=("editor",)))
        config = {"editor": "other", "edits_per_image": 2}
        studio.must("isolated_edits", painter="artist", isolated_edits=config)
        assert [each.model for each in studio.server.received[2:]] == ["other-1"] * 2
        rows = studio.table("isolated_edits", "artist")
        assert list(zip(rows["subject"], rows["editor"], rows["edit_number"], strict=True)) == [
            ("ostrich", "other", 0),
            ("ostrich", "other", 1),
            ("dog", "artist", 0),
        ]

        said = metadata(studio.must("isolated_photographs"), "isolated_photographs")
        assert (said["images"], said["isolated"], said["photographs"]) == (2, 1, 2)
        rows = studio.table("isolated_photographs").set_index("size")
        whole = studio.table("photographs").query(f"source_sha256 == {dog!r}").set_index("size")
        assert dict(rows["photograph_sha256"]) == dict(whole["sha256"])
        assert set(rows["image_set"]) == {"isolated"}
        edit = Image.open(image(studio.root, isolated)).convert("RGB")
        for size in (64, 96):
            expected = edit.resize((size, size), Image.Resampling.LANCZOS)
            shown = Image.open(image(studio.root, rows.loc[size, "sha256"]))
            assert shown.tobytes() == expected.tobytes()
