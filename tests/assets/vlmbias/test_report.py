"""The report over tables of photographs, edited flags and money, as assets make them."""

from datetime import UTC, datetime

import pandas as pd
import pytest
from dagster import DagsterInstance

from assets.vlmbias.svg_flags import EDITED_FLAG_COLUMNS
from resources.calls import CallStore
from resources.calls.spending import NANO, Account, Booking, format_month, generate_booking_id
from tests.assets.painted import TOPIC, Painting, Studio, painter_at
from tests.providers import Provider
from tests.runs import copied, failure, one_day

ASKED = ("questions", "answers_prior", "answers_random")
OVER = ("accuracy", "report")


@pytest.fixture(autouse=True)
def _one_day():
    with one_day():
        yield


@pytest.fixture(scope="module")
def shared():
    """A Dagster instance for all of these tests, where no run's history matters to another."""
    with DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture(scope="module")
def asked(tmp_path_factory, shared):
    """Photographs by one painter, which nobody has reviewed, and answers; not to be changed."""
    root = tmp_path_factory.mktemp("asked")
    with Provider(Painting()) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        studio = Studio(root, shared, server)
        studio.add(painter_at(server))
        studio.make()
        studio.must(*ASKED)
    return root


@pytest.fixture
def studio(asked, tmp_path, shared, server):
    """A copy of it."""
    studio = Studio(copied(asked, tmp_path / "root"), shared, server)
    studio.add(painter_at(server))
    return studio


def told(studio):
    """The front page, and the data version that the report was given."""
    result = studio.must(*OVER, topic=None)
    (event,) = result.asset_materializations_for_node("vlmbias__report")
    page = studio.root / "report" / "vlmbias" / "index.html"
    return page.read_text(encoding="utf-8"), event.tags["dagster/data_version"]


def accept_all(studio):
    """Review every picture, and publish again."""
    pictures = studio.table("photographs")["source_sha256"].unique()
    studio.review(*(f"{digest},accept," for digest in pictures))
    studio.must("photographs")


def test_photographs_alone_make_a_report_of_unreviewed_pictures(studio):
    page, version = told(studio)
    assert "nobody has confirmed the count.</summary>" in page
    assert "All answers so far are about" in page
    assert "<dt>Painters</dt><dd>artist</dd>" in page
    served = studio.table("photographs")["generator_version"].unique()
    assert f"<dd>Animals {'/'.join(sorted(served))}</dd>" in page
    # The entry of the test's painter has no price.
    costs = page.split('id="costs"')[1]
    assert costs.count("unknown") >= 3
    assert "$0" not in costs
    assert told(studio) == (page, version)


def test_a_report_never_mixes_pictures_with_questions_from_before_their_review(studio):
    told(studio)
    accept_all(studio)
    message = failure(studio.run("report", topic=None))
    assert f"vlmbias/questions ({TOPIC}) asks about other photographs" in message
    assert "reviewed since" in message
    assert f"Materialize vlmbias/photographs and vlmbias/questions for {TOPIC} again" in message
    studio.must(*ASKED)
    page, _ = told(studio)
    assert "nobody has confirmed" not in page
    assert "Accepted by a person" in page
    assert '<h3 id="separate-' not in page


def test_flags_that_a_writer_edited_are_told_once_it_has_a_table(studio):
    page, version = told(studio)
    assert "Flags edited by models" not in page
    row = dict.fromkeys(EDITED_FLAG_COLUMNS.columns)
    row |= {"base_id": "flags/cuba-stripes-add", "target": "stripes", "modification": "add"}
    row |= {"targets": ["stripes"], "truths": [6.0], "readings": [], "calls": []}
    row |= {"painter": "artist", "outcome": "no svg", "problem": "None.", "is_stand_in": False}
    path = studio.root / "vlmbias" / "edited_flags_artist.parquet"
    path.parent.mkdir(exist_ok=True)
    pd.DataFrame(EDITED_FLAG_COLUMNS.build_table([row]).to_pandas()).to_parquet(path)
    after, another = told(studio)
    assert "0 of 1" in after.split("Flags edited by models")[1]
    assert another != version


def test_what_others_have_spent_from_the_same_store_is_not_told(studio):
    before = told(studio)
    month = format_month(datetime.now(UTC))
    calls = CallStore(url=f"sqlite:///{studio.root}/calls.sqlite")
    for asset in ("another/answers", "vlmbias/edits"):
        booking = Booking(
            generate_booking_id(), "key", Account(asset=asset), "rich", "online", month, 7 * NANO
        )
        calls.reserve([booking])
        calls.settle({booking.id: 7 * NANO})
        if asset == "another/answers":
            assert told(studio) == before
    calls.close()
    told(studio)
    sheet = studio.root / "report" / "vlmbias" / "tables" / "costs-by-asset-and-model.csv"
    assert ",rich,online,1,$7.00," in sheet.read_text()
