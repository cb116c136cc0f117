"""The released tables of VLMBias: rows and columns as the published data set has them."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.kit.columns import Columns
from assets.kit.licences import CHESS_PIECES, GLYPHS, OWN
from assets.kit.release_tables import ReleaseInputs
from assets.kit.table_asset import TablesMismatch
from assets.vlmbias import release_published
from assets.vlmbias.images import IMAGES
from assets.vlmbias.questions import QUESTIONS
from assets.vlmbias.release import RELEASE_TABLES
from assets.vlmbias.release_card import CARD
from generators.domains import load_domains
from generators.photographs import load_photograph_topics
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from resources.storage.data_root import DataRoot
from tests.runs import TOPIC, table

SIZES = (384, 768, 1152)
PUBLISHED, OWN_LAYOUT = RELEASE_TABLES
IMAGES_PER_TOPIC = {
    "Animals": 273,
    "Logos": 207,
    "Flags": 120,
    "Chess Pieces": 144,
    "Game Boards": 84,
    "Optical Illusion": 396,
    "Patterned Grid": 168,
}
"""The paper's table of counts, by the published names of topics."""
SUBTOPICS = {
    *("Ebbinghaus illusion", "Müller-Lyer illusion", "Ponzo illusion", "Zöllner illusion"),
    *("Poggendorff illusion", "Vertical-Horizontal illusion", "Dice Pattern", "Tally Pattern"),
    *("Chess Pieces", "Xiangqi Pieces", "Chess Grid", "Go Grid", "Sudoku Grid", "Xiangqi Grid"),
    *("Flags 2D Stars", "Flags 2D Stripes", "Car Logos", "Shoe Logos", "Animal Add Legs"),
}
"""The 19 subtopics of the published split `main`."""


_PATH = (
    r"(vlms-are-biased-(notitle|in_image_title)/[a-z0-9_]+|original_images)/images/\S+_px{}\.png"
)
"""Published paths: loaders find the size at the end."""


class Forge:
    """Tables of all topics without a picture: what is told of pictures is all that rows need."""

    def __init__(self, root, scenes, painter: str = "artist"):
        self.root, self.painter = root, painter
        for topic in load_domains().values():
            drawn = scenes(3) if topic.name == TOPIC else topic.draw_module.list_scenes(3)
            self._store(topic.name, [*self._draw(topic, drawn)])
        for name, topic in load_photograph_topics().items():
            self._store(name, [*self._photograph(name, topic)])

    def inputs(self, *partitions: str) -> ReleaseInputs:
        """The stores that rows are read from: no picture is asked for."""
        return ReleaseInputs(DataRoot(root=str(self.root)), None, None, Catalog(()), partitions)

    def _draw(self, topic, scenes) -> Iterator[tuple[dict, list]]:
        for scene in scenes:
            cells = asdict(scene) | {"settings": json.dumps(dict(scene.settings))}
            name = "drawn_images" if scene.image_set == "benchmark" else "original_images"
            yield (
                {**cells, "table": name, "painter": "", "review": "pixels"},
                [asdict(question) for question in topic.ask_module.write_questions(scene)],
            )

    def _photograph(self, name, topic) -> Iterator[tuple[dict, list]]:
        for photograph in topic.list_photographs(topic.BUILT_IN):
            variants = ["counterfactual", *(["original"] if photograph.has_original else [])]
            for variant in variants:
                is_original = variant == "original"
                base_id = photograph.original_id if is_original else photograph.base_id
                yield (
                    {
                        **asdict(photograph),
                        "base_id": f"{base_id}/{self.painter}",
                        "original_id": f"{photograph.original_id}/{self.painter}",
                        "variant": variant,
                        "image_set": "originals" if is_original else "benchmark",
                        "settings": json.dumps({"editor": "editor"} if not is_original else {}),
                        "table": "photographs",
                        "painter": self.painter,
                        "review": "accepted",
                    },
                    [asdict(q) for q in topic.write_questions(photograph, variant)],
                )

    def _store(self, topic: str, scenes: list[tuple[dict, list]]) -> None:
        pictures, questions = defaultdict(list), []
        for cells, asked in scenes:
            for size in SIZES:
                name = f"{cells['base_id']}/{size}"
                picture = {
                    **cells,
                    "image_id": name,
                    "sha256": sha256(name.encode()).hexdigest(),
                    "domain": topic,
                    **dict.fromkeys(("size", "width", "height"), size),
                    "seed": 3,
                    "is_stand_in": False,
                }
                pictures[cells["table"]].append(picture)
                questions += [picture | q | {"question": q["text"]} for q in asked]
        names = (
            ["photographs"]
            if topic in load_photograph_topics()
            else ["drawn_images", "original_images"]
        )
        for name in names:
            self._write(name, topic, _PICTURES.build_table(_chosen(_PICTURES, pictures[name])))
        self._write("questions", topic, QUESTIONS.build_table(_chosen(QUESTIONS, questions)))

    def _write(self, name: str, topic: str, rows: pa.Table) -> None:
        path = self.root / "vlmbias" / name / f"{topic}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, path)


_PICTURES = Columns(
    **IMAGES.subset("image_id", "sha256", "original_id", "modification", "settings"),
    **IMAGES.subset("size", "width", "height"),
)


def _chosen(columns, rows):
    return [{name: row[name] for name in columns.columns} for row in rows]


ALL = (*load_domains(), *load_photograph_topics())


@pytest.fixture(scope="module")
def forge(tmp_path_factory, whole_topic):
    return Forge(tmp_path_factory.mktemp("forged"), whole_topic)


@pytest.fixture(scope="module")
def published(forge):
    """Rows of all splits, as if each picture's titled copy were named after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            release_published,
            "draw_titled_pictures",
            lambda questions, *_: {row["sha256"]: f"titled {row['sha256']}" for row in questions},
        )
        return {
            split: list(PUBLISHED.read_rows(forge.inputs(*ALL), split))
            for split in PUBLISHED.splits
        }


@pytest.fixture(scope="module")
def own(forge):
    return {
        split: list(OWN_LAYOUT.read_rows(forge.inputs(*ALL), split)) for split in OWN_LAYOUT.splits
    }


class TestPublishedLayout:
    def test_counts_are_the_papers(self, published):
        counts = {split: len(rows) for split, rows in published.items()}
        assert counts["main"] == counts["withtitle"] == 2784
        assert counts["identification"] == 1392
        for split, per_image in (("main", 2), ("withtitle", 2), ("identification", 1)):
            topics = Counter(row.cells["topic"] for row in published[split])
            assert topics == {name: n * per_image for name, n in IMAGES_PER_TOPIC.items()}

    def test_originals_are_asked_for_the_sanity_check_once(self, published):
        topics = Counter(row.cells["topic"] for row in published["original"])
        # Names and counts: the United States' flag has stars and stripes; illusions have no count.
        assert topics == {
            "Animals": 2 * 91,
            "Flags": 19 + 20,
            "Chess Pieces": 2 * 2,
            "Game Boards": 2 * 4,
            "Optical Illusion": 66,
        }
        assert {row.cells["pixel"] for row in published["original"]} == {1152}
        assert {row.cells["expected_bias"] for row in published["original"]} == {None}

    def test_five_drawn_topics_are_912_images(self, forge):
        rows = list(PUBLISHED.read_rows(forge.inputs(*load_domains()), "main"))
        assert len(rows) == 1824
        assert len({row.cells["image"] for row in rows}) == 912

    def test_names_are_the_published_ones(self, published):
        assert {row.cells["sub_topic"] for row in published["main"]} == SUBTOPICS
        assert {row.cells["type_of_question"] for row in published["main"]} == {"Q1", "Q2"}
        assert {row.cells["pixel"] for row in published["main"]} == set(SIZES)

    def test_columns_are_the_published_ones(self):
        names = "image ID image_path topic sub_topic prompt ground_truth expected_bias with_title"
        assert [*PUBLISHED.columns.columns] == [
            *names.split(),
            *("type_of_question", "pixel", "metadata"),
        ]
        types = {name: str(kind) for name, (kind, _) in PUBLISHED.columns.columns.items()}
        assert types.pop("with_title") == "bool"
        assert types.pop("pixel") == "int64"
        assert set(types.values()) == {"string"}

    def test_rows_are_the_questions(self, published, forge):
        """The same set of prompts, answers and pictures as the stored tables have."""
        stored = pd.concat(
            pd.read_parquet(forge.root / "vlmbias" / "questions" / f"{topic}.parquet")
            for topic in ALL
        )
        benchmark = stored[stored["image_set"] == "benchmark"]
        columns = ["sha256", "question", "ground_truth", "expected_bias", "question_id", "size"]
        expected = {
            "main": benchmark[benchmark["question_id"].isin(["Q1", "Q2"])],
            "identification": benchmark[benchmark["question_id"] == "Q3"],
        }
        names = ("image", "prompt", "ground_truth", "expected_bias", "type_of_question", "pixel")
        for split, rows in expected.items():
            released = [tuple(row.cells[name] for name in names) for row in published[split]]
            assert Counter(released) == Counter(rows[columns].itertuples(index=False, name=None))

    def test_titled_rows_differ_from_main_in_the_picture_alone(self, published):
        changed = ("image", "ID", "image_path", "with_title")
        for titled, plain in zip(published["withtitle"], published["main"], strict=True):
            assert titled.cells["image"] == f"titled {plain.cells['image']}"
            assert titled.cells["with_title"]
            assert not plain.cells["with_title"]
            assert "in_image_title" in titled.row_id
            assert GLYPHS in titled.parts
            rest = [
                {k: v for k, v in row.cells.items() if k not in changed} for row in (titled, plain)
            ]
            assert rest[0] == rest[1]

    def test_ids_are_unique_and_file_names(self, published):
        for rows in published.values():
            ids = [row.row_id for row in rows]
            assert len(set(ids)) == len(ids)
            assert not any(re.search(r"[/\s]", name) for name in ids)
            assert ids == [row.cells["ID"] for row in rows]

    def test_paths_name_a_picture_and_its_size(self, published):
        for rows in published.values():
            pictures = {(row.cells["image_path"], row.cells["image"]) for row in rows}
            assert len(pictures) == len(dict(pictures)) == len({path for path, _ in pictures})
            assert all(
                re.fullmatch(_PATH.format(row.cells["pixel"]), row.cells["image_path"])
                for row in rows
            )

    def test_metadata_is_json_that_names_the_seed(self, published):
        assert {split for split, rows in published.items() if not rows} == {
            "remove_background_q1q2",
            "remove_background_q3",
        }, "nothing is drawn isolated here"
        for rows in filter(None, published.values()):
            assert {json.loads(row.cells["metadata"])["seed"] for row in rows} == {3}


class TestOwnLayout:
    def test_all_questions_are_there_once(self, own, forge):
        stored = sum(
            len(pd.read_parquet(forge.root / "vlmbias" / "questions" / f"{topic}.parquet"))
            for topic in ALL
        )
        ids = [row.row_id for rows in own.values() for row in rows]
        assert len(ids) == len(set(ids)) == stored

    def test_a_base_image_is_in_one_split_at_all_sizes_and_changes(self, own):
        splits = defaultdict(set)
        for split, rows in own.items():
            for row in rows:
                splits[row.base_image].add(split)
                assert row.cells["base_image"] == row.base_image
        assert {len(names) for names in splits.values()} == {1}
        flags = {name for name in splits if name.startswith("flags/")}
        assert len(flags) == 19, "the United States' flag changes stars and stripes"

    def test_splits_do_not_depend_on_what_else_is_released(self, own, forge):
        alone = {row.row_id for row in OWN_LAYOUT.read_rows(forge.inputs("flags"), "validation")}
        assert alone == {row.row_id for row in own["validation"] if row.cells["topic"] == "flags"}

    def test_validation_is_small_and_no_topic_alone(self, own):
        share = len(own["validation"]) / sum(map(len, own.values()))
        assert 0.05 < share < 0.2
        assert len({row.cells["topic"] for row in own["validation"]}) >= 4

    def test_two_painters_of_one_subject_share_a_split(self, forge, tmp_path, whole_topic):
        other = Forge(tmp_path, whole_topic, painter="another")
        for split in OWN_LAYOUT.splits:
            bases = [
                {row.base_image for row in OWN_LAYOUT.read_rows(f.inputs("animals"), split)}
                for f in (forge, other)
            ]
            assert bases[0] == bases[1]

    def test_proofs_and_parts(self, own):
        for row in [row for rows in own.values() for row in rows]:
            topic = row.cells["topic"]
            assert row.proof == ("people" if topic in load_photograph_topics() else "pixels")
            expected = {
                "flags": {OWN},
                "optical_illusions": {OWN},
                "chess_pieces": {OWN, CHESS_PIECES, GLYPHS},
                "game_boards": {OWN, GLYPHS},
                "patterned_grids": {OWN, GLYPHS},
            }
            photographed = {OWN, "artist"} | (
                {"editor"} if row.cells["variant"] == "counterfactual" else set()
            )
            assert set(row.parts) == expected.get(topic, photographed)


class TestWhatMustNotLeave:
    @pytest.mark.parametrize(
        ("cells", "unfit", "is_stand_in"),
        [({"review": "unreviewed"}, True, False), ({"is_stand_in": True}, False, True)],
    )
    def test_is_marked(self, forge, tmp_path, whole_topic, cells, unfit, is_stand_in):
        changed = Forge(tmp_path, whole_topic)
        path = tmp_path / "vlmbias" / "questions" / "animals.parquet"
        pd.read_parquet(path).assign(**cells).to_parquet(path)
        (row, *_) = OWN_LAYOUT.read_rows(changed.inputs("animals"), "test")
        assert bool(row.unfit_reason) == unfit
        assert row.is_stand_in == is_stand_in
        assert (row.proof is None) == unfit

    @pytest.mark.parametrize(("image_set", "count"), [("stand-in", 546), ("isolated", 0)])
    def test_pictures_of_other_image_sets(self, tmp_path, whole_topic, image_set, count):
        """Those of stand-ins stand in `main` for the release to name; further sets do not."""
        changed = Forge(tmp_path, whole_topic)
        path = tmp_path / "vlmbias" / "questions" / "animals.parquet"
        pd.read_parquet(path).assign(image_set=image_set).to_parquet(path)
        assert len(list(PUBLISHED.read_rows(changed.inputs("animals"), "main"))) == count

    def test_a_question_about_another_picture_is_an_error(self, tmp_path, whole_topic):
        changed = Forge(tmp_path, whole_topic)
        path = tmp_path / "vlmbias" / "drawn_images" / "flags.parquet"
        pd.read_parquet(path).assign(sha256="another").to_parquet(path)
        with pytest.raises(TablesMismatch, match=r"questions \(flags\).*flags/united-states-stars"):
            list(OWN_LAYOUT.read_rows(changed.inputs("flags"), "test"))


def test_titles_stand_above_the_pictures(root):
    resources = build_default_resources(str(root))
    inputs = ReleaseInputs(
        DataRoot(root=str(root)),
        resources["images"],
        resources["work_cache"],
        Catalog(()),
        (TOPIC,),
    )
    rows = list(PUBLISHED.read_rows(inputs, "withtitle"))
    stored = pd.read_parquet(table(root, "drawn_images")).set_index("image_id")
    heights = inputs.images.sizes({row.cells["image"] for row in rows})
    assert rows
    for row in rows:
        original = stored.loc[json.loads(row.cells["metadata"])["image_id"]]
        width, height = heights[row.cells["image"]]
        assert width == original["width"]
        assert height > original["height"]


def test_the_card_says_what_a_seed_changes():
    """Scenes of two seeds: where most are new, and where every one is the same."""
    shares = {}
    for name, domain in load_domains().items():
        scenes, others = (
            {str(asdict(s)) for s in domain.draw_module.list_scenes(n)} for n in (0, 7)
        )
        shares[name] = len(scenes & others) / len(scenes)
    fixed = {name for name, share in shares.items() if share == 1}
    assert fixed == {"flags", "game_boards", "optical_illusions"}
    assert all(share < 0.5 for name, share in shares.items() if name not in fixed)
    assert "Flags, game boards and illusions" in CARD.seed_effect


def test_the_card_speaks_of_released_topics_alone():
    boards, flags = (CARD.select_sentences([topic]) for topic in ("game_boards", "flags"))
    painted = CARD.select_sentences(["sketch|logos"])
    for card, absent, present in (
        (boards, ("flag", "logo"), "sudoku"),
        (flags, ("logo", "Board games"), "49 stars"),
        (painted, ("flag", "Board games"), "firms"),
    ):
        sentences = " ".join(
            (
                *(*card.limitations, *card.biases),
                *(*card.personal_information, *card.social_impact),
            )
        )
        assert present in sentences
        assert not [word for word in absent if word in sentences]
