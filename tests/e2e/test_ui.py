"""What a user does: start Dagster, materialize one topic, look at the asset and at the report."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.server import serving

TOPIC, OTHER = "game_boards", "patterned_grids"
BY_TOPIC = ["drawn_images", "original_images", "measurements", "questions"]
ANSWERS = ["answers/prior", "answers/pixels", "answers/random"]

_CHECKS = """
query Checks($asset: AssetKeyInput!) {
  assetNodeOrError(assetKey: $asset) {
    ... on AssetNode {
      assetChecksOrError {
        ... on AssetChecks {
          checks {
            name
            partitionStatuses {
              ... on AssetCheckDefaultPartitionStatuses { succeededPartitions failedPartitions }
            }
          }
        }
      }
      partitionStats { numMaterialized numFailed }
    }
  }
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("ui")) as server:
        paths = [f"vlmbias/{name}" for name in BY_TOPIC + ANSWERS]
        assert server.run(paths, partition=TOPIC) == "SUCCESS"
        assert server.run(["vlmbias/accuracy", "vlmbias/report"]) == "SUCCESS"
        yield server


def statuses(server):
    """By check of the measurements: the topics that passed, and those that failed."""
    node = server.graphql(_CHECKS, asset={"path": ["vlmbias", "measurements"]})["assetNodeOrError"]
    return {
        check["name"]: (
            check["partitionStatuses"]["succeededPartitions"],
            check["partitionStatuses"]["failedPartitions"],
        )
        for check in node["assetChecksOrError"]["checks"]
    }, node["partitionStats"]


def test_the_partition_is_filled_and_its_checks_are_green(server):
    checks, partitions = statuses(server)
    assert set(checks) == {"labels_agree", "scenes_differ", "legible"}
    assert all(status == ([TOPIC], []) for status in checks.values())
    assert partitions == {"numMaterialized": 1, "numFailed": 0}


def test_tables_lie_where_the_documents_say(server):
    table = pd.read_parquet(server.home / "vlmbias" / "drawn_images" / f"{TOPIC}.parquet")
    assert len(table) == 28 * 3
    png = server.home / "images" / table["sha256"][0][:2] / f"{table['sha256'][0]}.png"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_the_asset_page_shows_the_contact_sheet(server, chromium):
    page = chromium.new_page(viewport={"width": 1500, "height": 1100})
    page.goto(f"{server.url}/assets/vlmbias/drawn_images?partition={TOPIC}&view=partitions")
    page.get_by_text("contact_sheet").first.wait_for(timeout=60_000)
    page.get_by_text("Show Markdown").first.click()
    thumbnail = page.locator('img[src^="data:image/jpeg"]').first
    thumbnail.wait_for(timeout=30_000)
    assert thumbnail.evaluate("image => image.naturalWidth") > 0
    assert page.locator('img[src^="data:image/jpeg"]').count() <= 24
    page.close()


def test_the_report_opens_from_the_file_system(server, chromium):
    page = chromium.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((server.home / "vlmbias" / "report" / "index.html").as_uri())
    thumbnail = page.locator("main img").first
    thumbnail.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('main img').naturalWidth > 0")
    assert all(url.startswith(("file:", "data:")) for url in requests)
    assert errors == []
    page.close()


def test_config_is_refused_with_its_reason(server):
    config = {"resources": {"design": {"config": {"seed": "seven"}}}}
    refused = server.launch(["vlmbias/drawn_images"], partition=TOPIC, config=config)
    assert refused["__typename"] == "RunConfigValidationInvalid"
    assert "seed" in refused["errors"][0]["message"]
    assert "seven" in refused["errors"][0]["message"]


def test_a_topic_that_failed_stays_failed_after_another_has_passed(server):
    path = server.home / "vlmbias" / "drawn_images" / f"{TOPIC}.parquet"
    good = path.read_bytes()
    rows = pq.read_table(path)
    wrong = [row | {"truths": [truth + 1 for truth in row["truths"]]} for row in rows.to_pylist()]
    pq.write_table(pa.Table.from_pylist(wrong, schema=rows.schema), path)
    assert server.run(["vlmbias/measurements"], partition=TOPIC) == "FAILURE"
    first = [f"vlmbias/{name}" for name in BY_TOPIC[:3]]
    assert server.run(first, partition=OTHER) == "SUCCESS"
    assert statuses(server)[0]["labels_agree"] == ([OTHER], [TOPIC])

    path.write_bytes(good)
    assert server.run(["vlmbias/measurements"], partition=TOPIC) == "SUCCESS"
    assert statuses(server)[0]["labels_agree"] == ([TOPIC, OTHER], [])
