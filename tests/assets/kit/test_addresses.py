"""People's files wherever the data root is: in a folder, or at an address."""

import csv
import io
import json
import re
from hashlib import sha256

import pandas as pd
import pytest

from assets.kit.panel import (
    Votes,
    count_votes,
    panel_folder,
    panel_sheet,
    write_panel_sheet,
)
from assets.kit.review import review_file, review_sheet, write_review
from assets.kit.review_forms import ReviewItem
from assets.kit.score_files import check_scores, read_score_files
from assets.kit.score_sheets import write_sheets
from assets.kit.verdicts import read_panel, read_verdicts
from assets.protobias.human_scores import FORM
from assets.protobias.own_scores import read_outcomes, read_scores
from assets.vlmbias.photographs.selection import FORM as FORM_OF_PICTURES
from resources.faults import UnwritableStore
from resources.models.catalog import Model
from resources.storage.atomic_writes import write_atomically
from resources.storage.data_root import DataRoot
from resources.storage.files import fetch, list_folder, read_file
from resources.storage.image_store import ImageStore
from resources.user_files.rows import UserFileError
from tests.providers.pictures import png

COUNT = 3


@pytest.fixture
def home(address):
    return DataRoot(root=address)


@pytest.fixture
def images(address):
    return ImageStore(root=address)


@pytest.fixture
def digests(images):
    return [images.put(png(f"{number}", 16, 16)) for number in range(COUNT)]


def fill(path, cells, **columns):
    """The sheet at a path with cells of some columns by the name of a row."""
    rows = list(csv.DictReader(io.StringIO(read_file(path).decode(), newline="")))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    for row in rows:
        (name,) = {*row.values()} & cells.keys() or {None}
        writer.writerow(row | cells.get(name, {}) | columns)
    return text.getvalue().encode()


def write_page(file, digests, images):
    """Write the review of some pictures, and read what is in its folder."""
    items = [
        ReviewItem(name=digest, cells={"painter": "artist"}, title=digest, sentence="A dog.")
        for digest in digests
    ]
    page = write_review(file, "Dogs", FORM_OF_PICTURES, items, read_verdicts(file), images)
    return {path.name: path for path in list_folder(page.parent)}


def test_a_review_goes_from_the_page_to_the_verdicts(home, images, digests):
    file = review_file(home, "animals")
    assert read_verdicts(file) == {}
    written = write_page(file, digests, images)
    page = read_file(written["animals-to-review.html"]).decode()
    assert f"<code>{file}</code>" in page
    # As somebody has it who takes the folder along, or whom a server of files shows it.
    local = fetch(home.path()) / "reviews"
    sources = re.findall(r'<img src="([^"]+)"', page)
    assert [sha256((local / source).read_bytes()).hexdigest() for source in sources] == digests

    sheet = review_sheet(file)
    answers = {digests[0]: {"verdict": "accept"}, digests[2]: {"verdict": "reject", "reason": "no"}}
    write_atomically(file, b"\xef\xbb\xbf" + fill(sheet, answers))
    verdicts = read_verdicts(file)
    assert {image: verdict[:2] for image, verdict in verdicts.items()} == {
        digests[0]: ("accept", ""),
        digests[2]: ("reject", "no"),
    }
    assert write_page(file, digests, images).keys() == written.keys() | {"animals.csv"}
    assert read_file(sheet) == fill(sheet, answers)
    write_atomically(sheet, fill(sheet, {digests[1]: {"verdict": "accept"}}))
    (aside,) = write_page(file, digests, images).keys() - written.keys() - {"animals.csv"}
    assert re.fullmatch(r"animals-to-review-filled-\w{8}\.csv", aside)
    assert f"{digests[1]},accept" in read_file(sheet.with_name(aside)).decode()


def test_an_error_in_a_review_names_its_place(home, digests):
    file = review_file(home, "animals")
    write_atomically(file, f"image,verdict,reason\n{digests[0]},perhaps,\n".encode())
    with pytest.raises(UserFileError, match=re.escape(f"{file}, line 2: `verdict` is 'perhaps'")):
        read_verdicts(file)
    write_atomically(file, b"image;verdict\n")
    with pytest.raises(UserFileError, match=re.escape(f"{file}, line 1: no commas")):
        read_verdicts(file)


def test_two_annotators_fill_in_copies_of_a_sheet(home):
    folder = panel_folder(home, "mine/pairs")
    assert read_panel(folder, "pair") == {}
    things = [("one", {"question": "Is it?"}), ("two", {"question": "Is it, too?"})]
    write_panel_sheet(folder, things, "pair")
    sheet = panel_sheet(folder)
    for name, (first, second) in {"anna": ("accept", "reject"), "ben": ("reject", "")}.items():
        cells = {"one": {"verdict": first}, "two": {"verdict": second}}
        write_atomically(folder / f"{name}.csv", fill(sheet, cells))
    panel = read_panel(folder, "pair")
    assert {name: count_votes(panel, name) for name in ("one", "two")} == {
        "one": Votes(["anna"], ["ben"]),
        "two": Votes([], ["anna"]),
    }
    write_atomically(folder / "cy.xlsx", b"PK")
    with pytest.raises(UserFileError, match=re.escape(f"{folder / 'cy.xlsx'} is a spreadsheet")):
        read_panel(folder, "pair")


def test_sheets_and_label_studio_give_scores(home, images, digests):
    folder = home.path("reviews", "protobias", "artist")
    rows = [{"sha256": digest, "text": f"Text {place}."} for place, digest in enumerate(digests)]
    assert read_score_files(folder, FORM) == []
    write_sheets(folder, FORM, rows, images)
    write_sheets(folder, FORM, rows, images)
    local = fetch(home.path()) / "reviews" / "protobias"
    tasks = json.loads((local / "artist" / "label-studio-tasks.json").read_text())
    for task, digest in zip(tasks, digests, strict=True):
        picture = local / task["data"]["image"].partition("?d=")[2]
        assert sha256(picture.read_bytes()).hexdigest() == digest
        choice = {"from_name": "score", "value": {"choices": ["2"]}}
        task["annotations"] = [{"completed_by": 7, "result": [choice]}]
    write_atomically(folder / "export.json", json.dumps(tasks[:2]).encode())
    sheet = folder / "to-score.csv"
    write_atomically(folder / "anna.csv", fill(sheet, {digests[2]: {"score": "4"}}))
    pictures = {row["sha256"]: [row] for row in rows}
    scores = check_scores(read_score_files(folder, FORM), FORM, pictures)
    assert [(score.annotator, score.image, score.score) for score in scores] == [
        ("anna", digests[2], 4),
        ("7", digests[0], 2),
        ("7", digests[1], 2),
    ]
    write_atomically(sheet, fill(sheet, {}, score="1"))
    with pytest.raises(UserFileError, match=re.escape(f"{sheet}, line 2: it has a score")):
        write_sheets(folder, FORM, rows, images)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_metric_of_ones_own_is_read_from_its_file(home, kind):
    model = Model(
        name="mine",
        backend="file",
        model=f"scores/{{painter}}.{kind}",
        family="mine",
        roles=("metric",),
        parameters={"scale": [0, 10]},
    )
    table = pd.DataFrame([("p/1", side, 7.5) for side in ("correct", "adversarial")])
    table.columns = ["pair", "side", "score"]
    data = {
        "csv": table.to_csv(index=False).encode(),
        "parquet": table.to_parquet(index=False),
    }[kind]
    path = home.path("scores", f"artist.{kind}")
    with pytest.raises(UserFileError, match=re.escape(f"{path} is not there. Write it")):
        read_scores(model, home, "artist")
    write_atomically(path, data)
    pictures = [{"pair_id": "p/1", "side": side} for side in ("correct", "adversarial")]
    outcomes, unusable = read_outcomes(
        read_scores(model, home, "artist"), model, "animals", ["p/1"], pictures
    )
    assert outcomes == [{"outcome": "scored", "raw": 7.5}] * 2
    assert unusable.empty
    write_atomically(path, data.replace(b"score", b"value"))
    with pytest.raises(UserFileError, match=re.escape(str(path))):
        read_scores(model, home, "artist")


@pytest.mark.slow
def test_an_address_that_may_not_be_written_is_named(s3, s3_server):
    home = DataRoot(root="s3://pictures/home")
    images = ImageStore(root="s3://pictures/home")
    digest = images.put(png("a", 16, 16))
    s3_server.refuses = lambda method, _query: method == "PUT"
    file = review_file(home, "animals")
    sheet = "s3://pictures/home/reviews/animals-to-review.csv cannot be written"
    with pytest.raises(UnwritableStore, match=sheet):
        write_page(file, [digest], images)
