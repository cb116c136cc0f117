"""A quote from Dagster's pages: a user who presses Launch reads it."""

import pytest

from tests.e2e.server import serving
from tests.providers import Provider

TOPIC = "game_boards"
TABLES = ["drawn_images", "original_images", "measurements", "questions"]
MODELS = """
- name: gpt
  backend: openai
  model: gpt-test
  family: gpt
  roles: [judge]
  base_url: URL
  longest_output: 1000
  price: {input_per_million: 2.0, output_per_million: 8.0, batch_share: 0.5}
"""


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


def test_launching_the_job_shows_the_quote_and_sends_nothing(provider, chromium, tmp_path):
    models = tmp_path / "models.yaml"
    models.write_text(MODELS.replace("URL", provider.openai_url))
    more = {"COUNTERFACTORY_MODELS": str(models), "OPENAI_API_KEY": "sk-for-tests"}
    with serving(tmp_path, **more) as server:
        paths = [f"vlmbias/{name}" for name in TABLES]
        assert server.run(paths, partition=TOPIC) == "SUCCESS"
        page = chromium.new_page(viewport={"width": 1500, "height": 1100})
        page.goto(f"{server.url}/locations/definitions.py/jobs/quote/playground")
        page.get_by_role("button", name="Launch Run").click()
        page.wait_for_url("**/runs/**")
        page.get_by_text("The quote:").first.wait_for(timeout=60_000)
        page.get_by_text("Show Markdown").first.click()
        table = page.get_by_role("dialog").locator("table")
        table.wait_for(timeout=30_000)
        rows = [row.split("\t") for row in table.inner_text().splitlines() if row.strip()]
        page.close()
    assert ["vlmbias/answers/gpt", TOPIC, "gpt"] in [row[:3] for row in rows]
    assert provider.count == 0
