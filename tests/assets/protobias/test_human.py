"""What people fill in, and what is made of it: sheets that give nothing away."""

import csv
import io
import json
from itertools import product
from xml.etree import ElementTree

import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from assets.kit.score_files import check_scores, read_score_files
from assets.kit.score_sheets import ScoreForm, write_sheets
from assets.kit.table_asset import NotMaterialized
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.human_scores import FORM, HUMAN_SCORES
from assets.protobias.people_samples import load_filtered_pictures, select_for_scoring
from generators.prompts.concepts import DOMAINS
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.user_files.rows import UserFileError
from tests.runs import failure, materialize, metadata, table, warned

PAINTER, PAIRS = "artist", 4


def _png(number):
    png = io.BytesIO()
    Image.new("RGB", (2, 2), (number, 0, 0)).save(png, "PNG")
    return png.getvalue()


def _row(images, domain, number, side):
    """One picture of filtered pairs; the last pair of a domain is not kept."""
    kept = number < PAIRS - 1
    seed = 10 * (DOMAINS.index(domain) * PAIRS + number) + (side == "correct")
    pair = f"{domain}/a-b/count/{number}/0"
    return {
        **dict.fromkeys(FILTERED_COLUMNS.columns),
        "domain": domain,
        "painter": PAINTER,
        "concept_id": f"{domain}/a-b/count/{number}",
        "concept": "a / b",
        "knob": "count",
        "text": f"A thing, number {number} of {domain}.",
        "prompt": f"the {side} sentence",
        "pair_id": pair,
        "side": side,
        "image_id": f"{PAINTER}/{pair}/{side}",
        "sha256": images.put(_png(seed)),
        "is_stand_in": False,
        "kept": kept,
        "pair_kept": kept,
        "evaluated": kept,
        "rank": number if kept else None,
    }


@pytest.fixture
def root(tmp_path):
    """A data root with the filtered pairs of one painter: three of four in each domain."""
    images = ImageStore(root=str(tmp_path))
    for domain in DOMAINS:
        rows = [
            _row(images, domain, number, side)
            for number, side in product(range(PAIRS), ("correct", "adversarial"))
        ]
        path = table(tmp_path, f"filtered_pairs/{domain}", PAINTER, "protobias")
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(FILTERED_COLUMNS.build_table(rows), path)
    return tmp_path


@pytest.fixture
def pictures(root):
    return load_filtered_pictures(DataRoot(root=str(root)), PAINTER)


@pytest.fixture
def folder(root):
    path = root / "reviews" / "protobias" / PAINTER
    path.mkdir(parents=True)
    return path


def lines(rows, scores, annotator=None):
    """A filled sheet."""
    head = "image,text,score" + (",annotator" if annotator else "")
    filled = [
        f'{row["sha256"]},"{row["text"]}",{score}' + (f",{annotator}" if annotator else "")
        for row, score in zip(rows, scores, strict=False)
    ]
    return "\n".join([head, *filled, ""])


def exported(rows, scores, user=7, **annotation):
    """What Label Studio exports."""
    return [
        {
            "id": 100 + number,
            "data": {"image": "/data/…", "text": row["text"], "sha256": row["sha256"]},
            "annotations": [
                {
                    "id": number,
                    "completed_by": user,
                    "was_cancelled": False,
                    "result": [
                        {
                            "from_name": "score",
                            "to_name": "image",
                            "type": "choices",
                            "value": {"choices": [score]},
                        }
                    ],
                    **annotation,
                }
            ],
        }
        for number, (row, score) in enumerate(zip(rows, scores, strict=False))
    ]


class TestSheets:
    def test_both_pictures_of_the_first_pairs_of_each_domain_are_put_to_people(self, pictures):
        some = select_for_scoring(pictures, 8, 0)
        assert sorted((row["domain"], row["rank"], row["side"]) for row in some) == [
            ("animals", 0, "adversarial"),
            ("animals", 0, "correct"),
            ("animals", 1, "adversarial"),
            ("animals", 1, "correct"),
            ("demography", 0, "adversarial"),
            ("demography", 0, "correct"),
            ("objects", 0, "adversarial"),
            ("objects", 0, "correct"),
        ]
        more = select_for_scoring(pictures, 300, 0)
        assert len(more) == 3 * 3 * 2
        assert [row for row in more if row in some] == some
        assert select_for_scoring(pictures, 300, 1) != more

    def test_a_pair_of_which_a_picture_stands_for_others_is_left_out_whole(self, pictures):
        first, *others = select_for_scoring(pictures, 300, 0)
        again = {**pictures, "twin": [{**first, "pair_id": "twin"}]}
        left = [row for row in others if row["pair_id"] != first["pair_id"]]
        assert select_for_scoring(again, 300, 0) == left

    def test_the_next_pair_takes_the_place_of_one_that_is_left_out(self, pictures):
        (first,) = (
            row
            for row in select_for_scoring(pictures, 8, 0)
            if (row["domain"], row["rank"], row["side"]) == ("animals", 0, "correct")
        )
        again = {**pictures, first["sha256"]: [first, {**first, "pair_id": "twin", "rank": 3}]}
        some = select_for_scoring(again, 8, 0)
        assert len(some) == 8
        assert {(row["domain"], row["rank"]) for row in some if row["domain"] == "animals"} == {
            ("animals", 1),
            ("animals", 2),
        }

    def test_nothing_tells_which_side_a_picture_is_of(self, pictures, folder, root):
        asked = select_for_scoring(pictures, 300, 0)
        write_sheets(folder, FORM, asked, ImageStore(root=str(root)))
        sides = "".join(row["side"][0] for row in asked)
        assert "ca" in sides
        assert "ac" in sides
        assert "cc" in sides or "aa" in sides
        for file in folder.rglob("*"):
            words = file.name + ("" if file.suffix in (".png", "") else file.read_text())
            for secret in ("correct sentence", "adversarial", "count/", PAINTER + "/animals"):
                assert secret not in words
        with (folder / "to-score.csv").open(newline="") as file:
            sheet = list(csv.DictReader(file))
        assert list(sheet[0]) == ["image", "text", "file", "score", "annotator"]
        assert [line["image"] for line in sheet] == [row["sha256"] for row in asked]
        assert {line["score"] + line["annotator"] for line in sheet} == {""}
        store = ImageStore(root=str(root))
        assert all((folder / x["file"]).read_bytes() == store.get(x["image"]) for x in sheet)

    def test_label_studio_gets_tasks_files_and_an_interface_that_fit_together(
        self, pictures, folder, root
    ):
        asked = select_for_scoring(pictures, 8, 0)
        write_sheets(folder, FORM, asked, ImageStore(root=str(root)))
        tasks = json.loads((folder / "label-studio-tasks.json").read_text())
        assert [task["data"]["sha256"] for task in tasks] == [row["sha256"] for row in asked]
        for task in tasks:
            below, _, path = task["data"]["image"].partition("?d=")
            assert below == "/data/local-files/"
            # Its document root is the folder above: it takes no storage that is the root itself.
            assert (folder.parent / path).is_file()
        view = ElementTree.fromstring((folder / "label-studio.xml").read_text())
        shown = {each.get("value") for each in view if each.tag in ("Text", "Image")}
        assert shown == {"$text", "$image"}
        (choices,) = view.findall("Choices")
        assert choices.get("toName") in {each.get("name") for each in view.findall("Image")}
        assert [each.get("alias") for each in choices] == ["4", "3", "2", "1"]
        assert choices[0].get("value").startswith("4 - Perfect match: All elements")

    def test_the_guidelines_are_those_of_judges(self, pictures, folder, root):
        write_sheets(folder, FORM, select_for_scoring(pictures, 2, 0), ImageStore(root=str(root)))
        told = (folder / "guidelines.md").read_text()
        for words in ("Focus purely on semantic correctness", "main element", "2 - One major"):
            assert words in told
        assert "{" not in told

    def test_a_sheet_that_was_filled_in_itself_is_not_written_over(self, pictures, folder, root):
        asked, store = select_for_scoring(pictures, 8, 0), ImageStore(root=str(root))
        (folder / "to-score.csv").write_text(lines(asked, "4"))
        with pytest.raises(UserFileError, match=r"line 2: it has a score.*anna\.csv"):
            write_sheets(folder, FORM, asked, store)
        assert (folder / "to-score.csv").read_text() == lines(asked, "4")

    def test_without_pairs_it_says_what_to_materialize(self, root):
        with pytest.raises(NotMaterialized, match="materialize protobias/filtered_pairs of nobody"):
            load_filtered_pictures(DataRoot(root=str(root)), "nobody")


class TestFiles:
    def test_all_filled_files_are_read(self, pictures, folder):
        asked = select_for_scoring(pictures, 12, 0)
        (folder / "anna.csv").write_text("\ufeff" + lines(asked, ["4", "", "2"]))
        (folder / "both.csv").write_text(lines(asked, "13", annotator="bo"))
        (folder / "to-score.csv").write_text(lines(asked, [""] * 12))
        (folder / "export.json").write_text(json.dumps(exported(asked, ["1", "4 - Perfect match"])))
        user = {"id": 3, "email": "cy@example.org"}
        (folder / "more.json").write_text(json.dumps(exported(asked[:2], ["3", "2"], user)))
        skipped = exported(asked, ["3"], 9, was_cancelled=True) + exported(asked, "2", 9, result=[])
        (folder / "none.json").write_text(json.dumps(skipped))
        given = check_scores(read_score_files(folder, FORM), FORM, pictures)
        names = {row["sha256"]: place for place, row in enumerate(asked)}
        assert [(each.annotator, names[each.image], each.score) for each in given] == [
            *(("anna", 0, 4), ("anna", 2, 2), ("bo", 0, 1), ("bo", 1, 3)),
            *(("7", 0, 1), ("7", 1, 4)),
            *(("cy@example.org", 0, 3), ("cy@example.org", 1, 2)),
        ]
        assert read_score_files(folder / "nowhere", FORM) == []

    def test_a_filled_file_with_the_sheets_name_in_its_own_is_read(self, pictures, folder):
        asked = select_for_scoring(pictures, 12, 0)
        (folder / "to-score.csv").write_text(lines(asked, ""))
        (folder / "to-score.csv-anna.csv").write_text(lines(asked, "4"))
        assert [each.score for each in read_score_files(folder, FORM)] == [4]

    def test_a_name_that_is_spelled_in_several_ways_is_one_person(self, pictures, folder):
        asked = select_for_scoring(pictures, 12, 0)
        for number, name in enumerate(("jos\u00e9.csv", "Jose\u0301.csv")):
            (folder / name).write_text(lines(asked[number:], "1"))
        assert (
            len(
                {
                    each.annotator
                    for each in check_scores(read_score_files(folder, FORM), FORM, pictures)
                }
            )
            == 1
        )
        (folder / "JOS\u00c9.csv").write_text(lines(asked, "2"))
        with pytest.raises(UserFileError, match="has scored the picture"):
            check_scores(read_score_files(folder, FORM), FORM, pictures)

    @pytest.mark.parametrize(
        ("name", "spoil", "told"),
        [
            (
                "a.csv",
                lambda rows: lines(rows, "4").replace("score", "score,score").replace(",4", ",4,3"),
                "column 'score' is listed twice",
            ),
            (
                "a.json",
                lambda rows: json.dumps(exported(rows, "4")).replace('"score"', '"rating"'),
                "task 1: an annotation has no choice of `score`",
            ),
            (
                "a.json",
                lambda rows: json.dumps(exported(rows, "4")).replace('["4"]', "null"),
                "task 1: an annotation has no choice of `score`",
            ),
            ("a.csv", lambda rows: lines(rows, ["4", "5"]), "line 3: the score is '5': write 1"),
            ("a.csv", lambda rows: lines(rows, ["3.5"]), "line 2: the score is '3.5'"),
            ("a.csv", lambda rows: lines(rows, "4").replace("text", "words"), "no column 'text'"),
            (
                "a.csv",
                lambda rows: lines(rows, "4").replace(",4", ",4,"),
                "line 2: it has 4 cells where line 1 names 3 columns",
            ),
            (
                "a.csv",
                lambda rows: lines([*rows[:1], rows[0]], "44"),
                "line 3: a has scored the picture",
            ),
            (
                "a.csv",
                lambda rows: lines([rows[0] | {"sha256": "0" * 64}], "4"),
                "line 2: no picture '0000",
            ),
            (
                "a.csv",
                lambda rows: lines([rows[0] | {"text": "Another."}], "4"),
                "has another text now",
            ),
            (
                "a.csv",
                lambda rows: lines(rows, "44", "x").replace(",x", ",", 1),
                "line 2: it has a score and no annotator",
            ),
            ("a.xlsx", lambda rows: "PK", "a.xlsx is a spreadsheet"),
            (
                "a.json",
                lambda rows: '[{"data": ',
                "is no JSON (EOF while parsing a value at line 1",
            ),
            ("a.json", lambda rows: "[" * 100_000, "is no JSON (recursion limit"),
            ("a.json", lambda rows: f"[{'9' * 5_000}]", "is no JSON (number out of range"),
            (
                "a.json",
                lambda rows: json.dumps(exported(rows, "4")).replace('["4"]', "5"),
                "an annotation has no choice of `score`",
            ),
            (
                "a.json",
                lambda rows: json.dumps([{"id": 1, "sha256": "0", "score": "4"}]),
                "task 1: it has no `data`; it has no `annotations`",
            ),
            ("a.json", lambda rows: "{}", "is no list of tasks. Export the project again, as JSON"),
            (
                "a.json",
                lambda rows: json.dumps(exported(rows, ["4", "Great"])),
                "task 2: the score is 'Great'",
            ),
            (
                "a.json",
                lambda rows: json.dumps([*exported(rows, "4"), *exported(rows, "3")]),
                "task 2: 7 has scored the picture",
            ),
        ],
    )
    def test_what_is_wrong_is_named_with_file_and_line(self, pictures, folder, name, spoil, told):
        (folder / name).write_text(spoil(select_for_scoring(pictures, 12, 0)))
        with pytest.raises(UserFileError) as raised:
            check_scores(read_score_files(folder, FORM), FORM, pictures)
        assert str(folder / name) in str(raised.value)
        assert told in str(raised.value)


def test_another_form_has_a_scale_of_its_own(root, pictures, folder):
    """Sheet, project and guidelines say it, and what is off it is refused."""
    form = ScoreForm(
        "How nice is it?", {10: "Very", 1: "Not", 5: "So-so"}, "Be kind.", "a/b", "c/d"
    )
    asked = select_for_scoring(pictures, 12, 0)
    write_sheets(folder, form, asked, ImageStore(root=str(root)))
    choices = ElementTree.parse(folder / "label-studio.xml").findall(".//Choice")
    assert {each.get("alias"): each.get("value") for each in choices} == {
        **{"10": "10 - Very", "1": "1 - Not", "5": "5 - So-so"}
    }
    assert "write 1, 5 or 10 into `score`" in (folder / "guidelines.md").read_text()
    (folder / "anna.csv").write_text(lines(asked, ["10", "1", "5 - So-so"]))
    given = check_scores(read_score_files(folder, form), form, pictures)
    assert [each.score for each in given] == [10, 1, 5]
    (folder / "bo.csv").write_text(lines(asked, "4"))
    with pytest.raises(UserFileError, match=r"the score is '4': write 1, 5 or 10, or leave it"):
        read_score_files(folder, form)
    (folder / "bo.csv").write_text(f"image,text,score\n{'0' * 64},A thing.,5\n")
    with pytest.raises(UserFileError, match=r"is in c/d\. Write it as"):
        check_scores(read_score_files(folder, form), form, pictures)


def test_a_sheet_that_is_a_link_to_nothing_is_named(folder):
    (folder / "anna.csv").symlink_to(folder / "nowhere.csv")
    with pytest.raises(UserFileError, match=r"anna\.csv is a link to .*nowhere\.csv, which is not"):
        read_score_files(folder, FORM)


def test_scores_become_rows_with_agreement_and_means(root, folder, instance):
    """The asset: from an empty sheet to a table, with what was filled in wrongly told."""
    instance.add_dynamic_partitions("painters", [PAINTER])

    def run(**config):
        config = {"human_scores": {"images": 18, **config}}
        more = {"group": "protobias", "topic": PAINTER, "config": config, "instance": instance}
        return materialize(root, "human_scores", **more)

    def rows():
        return pd.read_parquet(table(root, "human_scores", PAINTER, "protobias"))

    made = run()
    assert made.success, failure(made)
    assert rows().empty
    assert "two annotators" in metadata(made, "human_scores", "protobias")["agreement"]
    asked = select_for_scoring(load_filtered_pictures(DataRoot(root=str(root)), PAINTER), 18, 0)
    good = ["4" if row["side"] == "correct" else "1" for row in asked]
    (folder / "anna.csv").write_text(lines(asked, good))
    (folder / "bo.csv").write_text(lines(asked[:6], ["4"] * 5 + ["5"]))
    assert "bo.csv, line 7: the score is '5'" in failure(run())
    assert rows().empty
    dropped = [
        each
        for (each, *_) in load_filtered_pictures(DataRoot(root=str(root)), PAINTER).values()
        if not each["pair_kept"]
    ]
    (folder / "bo.csv").write_text(lines([*asked[:6], dropped[0]], ["4"] * 7))
    made = run()
    assert made.success, failure(made)
    about = metadata(made, "human_scores", "protobias")
    assert len(rows()) == 18 + 6
    assert list(rows().columns) == list(HUMAN_SCORES.columns)
    assert "| anna | bo | 6 | 0.00 |" in about["agreement"]
    assert "| anna | 18 | 0 |" in about["annotators"]
    assert "| bo | 7 | 12 |" in about["annotators"]
    assert "1 scores are of pictures" in warned(instance)
    by_hand = rows().groupby(["domain", "side", "image_id"])["score"].mean().sub(1).div(3)
    by_hand = by_hand.groupby(["domain", "side"]).mean().round(3)
    for domain in DOMAINS:
        sc, pa = by_hand[domain, "correct"], by_hand[domain, "adversarial"]
        assert f"| {domain} | {sc} | {pa} | {round(sc - pa, 3)} | 6 |" in about["scores"]
    check_a_sheet_by_uncertainty(root, folder, run, rows)


def check_a_sheet_by_uncertainty(root, folder, run, rows):
    """In the same folder: pairs on which a judge nearly ties come next, each with its chance."""
    assert rows()["chance"].eq(1.0).all()
    assert "random has scored no pair" in failure(run(chosen_by=["random"]))
    assert "chosen_by names 'randon', which is no judge" in failure(run(chosen_by=["randon"]))
    margins = {0: 0.1, 1: -0.2, 2: 0.3}  # by rank: pair 0 is nearest to a tie
    for domain in DOMAINS:
        scores = pd.DataFrame(
            {
                "pair_id": f"{domain}/a-b/count/{rank}/0",
                "side": side,
                "raw": margin if side == "correct" else 0.0,
            }
            for rank, margin in margins.items()
            for side in ("correct", "adversarial")
        )
        path = table(root, f"scores_eye/{domain}", PAINTER, "protobias")
        path.parent.mkdir(parents=True)
        scores.to_parquet(path)
    for name in ("anna.csv", "bo.csv"):
        (folder / name).unlink()
    made = run(images=12, chosen_by=["eye"])
    assert made.success, failure(made)
    # Two pairs of three: 1/3 each with equal chances, and 1/2, 1/3 and 1/6 of 1 by rank of doubt.
    # Their lots are 1/6, 1/2 and 5/6, so that the last one is not drawn.
    chances = {0: "0.833333", 1: "0.666667"}
    with (folder / "to-score.csv").open(newline="") as file:
        sheet = list(csv.DictReader(file))
    assert list(sheet[0]) == ["image", "text", "file", "score", "annotator", "chance"]
    ranks = {
        row["sha256"]: row["rank"]
        for (row,) in load_filtered_pictures(DataRoot(root=str(root)), PAINTER).values()
    }
    assert len(sheet) == 3 * 2 * 2
    assert all(line["chance"] == chances[ranks[line["image"]]] for line in sheet)
    tasks = json.loads((folder / "label-studio-tasks.json").read_text())
    assert [f"{task['data']['chance']:.6f}" for task in tasks] == [line["chance"] for line in sheet]
    # One has no score: what was chosen does not count yet.
    exports = exported([{"sha256": "", "text": ""}] * 11, "4" * 11)
    for task, imported in zip(exports, tasks, strict=False):
        task["data"] = imported["data"]
    (folder / "cy.json").write_text(json.dumps(exports))
    made = run()  # The sheet stays, though nothing asks for it.
    assert made.success, failure(made)
    assert rows()["chance"].isna().all()
    assert "1 of 12 pictures have" in metadata(made, "human_scores", "protobias")["choice"]
    head, *filled = (folder / "to-score.csv").read_text().splitlines()
    (folder / "dan.csv").write_text("\n".join([head, filled[11].replace(".png,,,", ".png,2,,")]))
    made = run()
    assert made.success, failure(made)
    assert "All are scored" in metadata(made, "human_scores", "protobias")["choice"]
    assert rows()["annotator"].tolist().count("dan") == 1
    of_rank = rows()["sha256"].map(ranks)
    assert [f"{chance:.6f}" for chance in rows()["chance"]] == of_rank.map(chances).tolist()
    # A larger sheet has the larger of two chances, and counts once it is scored as well.
    made = run(images=18, chosen_by=["eye"])
    assert made.success, failure(made)
    with (folder / "to-score.csv").open(newline="") as file:
        assert [line["chance"] for line in csv.DictReader(file)] == ["1.0"] * 18
    assert rows()["chance"].isna().all()
    (folder / "dan.csv").write_text(f"{head}\n{filled[11].replace('.png,,,', '.png,2,,1')}")
    assert "dan.csv, line 2: `chance`" in failure(run())
