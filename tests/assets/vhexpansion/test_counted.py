"""Which answers of a fine-tuned judge count: those about pictures that it was not trained on."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.kit.tuning import TRAINED_ON, picture_marks
from assets.vhexpansion.counted_answers import load_counted_answers
from assets.vhexpansion.pages import REPORT
from assets.vhexpansion.pages.tables import unperturbed
from resources.faults import MissingItem
from resources.models.backends.adapters import BadRecord
from resources.storage.data_root import DataRoot
from resources.training.adapter_publication import rewrite_results
from tests.adapters import adapter_record
from tests.assets.vhexpansion.test_numbers import served
from tests.assets.vhexpansion.test_pages import EAR, dataset, said
from tests.runs import TOPIC

COLUMNS = ["case_id", "form"]
BASE = served("before", 0.2)
TUNED = BASE.model_copy(update={"name": "tuned", "parameters": {"adapter": "adapters/tuned"}})


@pytest.fixture
def home(tmp_path):
    """Four cases of two scenes and a picture of another dataset, as both judges answered them."""
    rows = [
        {"case_id": f"case {at}", "image_id": image, "original": sha, "form": form}
        for at, (image, sha) in enumerate(
            [
                (f"{TOPIC}/one/normal/384", "sha 0"),
                (f"{TOPIC}/one/normal/768", "sha 1"),
                (f"{TOPIC}/two/normal/384", "sha 2"),
                (f"{TOPIC}/three/normal/384", "sha 3"),
            ]
        )
        for form in ("original", "negated")
    ]
    for judge in (BASE, TUNED):
        path = tmp_path / "vhexpansion" / f"answers_{judge.name}" / f"{TOPIC}.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
    return DataRoot(root=str(tmp_path))


def write_record(home, **told):
    folder = Path(home.root, "adapters", "tuned")
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps(adapter_record(**told)))


def test_cases_about_pictures_that_a_judge_was_trained_on_do_not_count(home):
    rows = [
        {"base": f"{TOPIC}/one/normal", "original": "another size"},
        {"base": "of another dataset", "original": "sha 2"},
    ]
    write_record(home, **{TRAINED_ON: sorted(picture_marks(rows))})
    found = load_counted_answers(home, TUNED, TOPIC, COLUMNS)
    assert found.answers.to_dict("list") == {
        "case_id": ["case 3"] * 2,
        "form": ["original", "negated"],
        "base_id": [f"{TOPIC}/three/normal"] * 2,
    }
    assert found.excluded_cases == 3
    assert found.warning("tuned", TOPIC).startswith(f"tuned: 3 cases of {TOPIC} are left out")


def test_without_an_adapter_all_count(home):
    found = load_counted_answers(home, BASE, TOPIC, COLUMNS)
    assert (len(found.answers), found.excluded_cases, found.warning("before", TOPIC)) == (8, 0, "")
    assert load_counted_answers(home, EAR, TOPIC, COLUMNS) is None


@pytest.mark.parametrize("told", [None, {"kind": "tuning"}])
def test_what_a_judge_was_trained_on_may_be_unknown(home, told):
    if told is not None:
        write_record(home, **told)
    found = load_counted_answers(home, TUNED, TOPIC, COLUMNS)
    assert (len(found.answers), found.excluded_cases) == (8, None)
    said = found.warning("tuned", TOPIC)
    assert "has no record.json, or one without trained_on. Its numbers" in said
    assert said.endswith("Fetch the folder with its record.")


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"weights": "0"}'])
def test_a_record_that_is_mangled_is_named_with_what_to_do(home, text):
    write_record(home)
    path = Path(home.root, "adapters", "tuned", "record.json")
    path.write_text(text)
    with pytest.raises(
        BadRecord, match=rf"{path}: it cannot be read.*\. Fetch the folder again; or, if"
    ):
        load_counted_answers(home, TUNED, TOPIC, COLUMNS)


def answered(left_out, *others, name="zoo"):
    """A dataset of a judge that was fine-tuned, and of other judges, which were not."""
    tables = [said("before", 0.6), *(said(each.name, 0.9) for each in others)]
    zoo = dataset([BASE, *others], *tables, name=name)
    tuned = zoo.symmetry["model"].eq("before")
    columns = {"left_out": zoo.symmetry["left_out"].mask(tuned, left_out)}
    return replace(zoo, symmetry=zoo.symmetry.assign(**columns))


def standings(site):
    return {each.model: each for each in site.judged.standings}


def test_the_page_and_the_front_page_say_how_many_cases_are_left_out():
    zoo = answered(12, EAR)
    site = REPORT.build([zoo], facts={})
    told = "12 cases left out: trained on their pictures"
    tuned, other = (standings(site)[name] for name in ("before", "ear"))
    assert (tuned.firmness, tuned.note, other.note) == ("result", told, "")
    assert [line.small for line in unperturbed(zoo).lines] == [told, ""]
    pages = dict(site.pages)
    assert all(f"{told}." in pages[page] for page in ("index.html", zoo.page))
    assert REPORT.finding([zoo]).sentence.startswith("before answers")


def test_a_judge_that_may_have_been_trained_on_the_cases_is_no_result():
    zoo = answered(np.nan, EAR)
    site = REPORT.build([zoo], facts={})
    tuned, other = (standings(site)[name] for name in ("before", "ear"))
    assert (tuned.firmness, other.firmness) == ("trial", "result")
    assert "it may have been trained on these cases" in tuned.note
    assert REPORT.finding([zoo]).sentence.startswith("ear answers")
    alone = answered(np.nan, name="alone")
    assert REPORT.finding([alone]).firmness == "trial"
    assert REPORT.finding([alone, zoo]).subject.name == "zoo"


def test_a_model_card_that_was_removed_is_named_with_what_to_do(tmp_path):
    with pytest.raises(
        MissingItem, match=r"README\.md: the model card .* materialize the adapter again"
    ):
        rewrite_results(tmp_path / "gone", [])
