"""What a user does: start Dagster, materialize one topic, look at the asset and at the report."""

import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

from tests.e2e.server import serving

TOPIC = "game_boards"
BY_TOPIC = ["drawn_images", "original_images", "measurements", "questions"]
ANSWERS = ["answers/prior", "answers/pixels", "answers/random"]
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

_CHECKS = """
query Checks($asset: AssetKeyInput!) {
  assetNodeOrError(assetKey: $asset) {
    ... on AssetNode {
      assetChecksOrError {
        ... on AssetChecks { checks { name executionForLatestMaterialization { status } } }
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


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        yield browser
        browser.close()


def test_the_partition_is_filled_and_its_checks_are_green(server):
    node = server.graphql(_CHECKS, asset={"path": ["vlmbias", "measurements"]})["assetNodeOrError"]
    checks = node["assetChecksOrError"]["checks"]
    assert {check["name"] for check in checks} == {"labels_agree", "scenes_differ", "legible"}
    for check in checks:
        assert check["executionForLatestMaterialization"]["status"] == "SUCCEEDED"
    assert node["partitionStats"] == {"numMaterialized": 1, "numFailed": 0}


def test_tables_lie_where_the_documents_say(server):
    table = pd.read_parquet(server.home / "vlmbias" / "drawn_images" / f"{TOPIC}.parquet")
    assert len(table) == 28 * 3
    png = server.home / "images" / table["sha256"][0][:2] / f"{table['sha256'][0]}.png"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_the_asset_page_shows_the_contact_sheet(server, browser):
    page = browser.new_page(viewport={"width": 1500, "height": 1100})
    page.goto(f"{server.url}/assets/vlmbias/drawn_images?partition={TOPIC}&view=partitions")
    page.get_by_text("contact_sheet").first.wait_for(timeout=60_000)
    page.get_by_text("Show Markdown").first.click()
    thumbnail = page.locator('img[src^="data:image/jpeg"]').first
    thumbnail.wait_for(timeout=30_000)
    assert thumbnail.evaluate("image => image.naturalWidth") > 0
    assert page.locator('img[src^="data:image/jpeg"]').count() <= 24
    page.close()


def test_the_report_opens_from_the_file_system(server, browser):
    page = browser.new_page()
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
