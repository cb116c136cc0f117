"""What a user does: start Dagster, materialize one topic, look at it, its report and a quote."""

import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pandas as pd
import psutil
import pytest
import yaml

from generators.domains import load_domain
from tests.e2e.story import TABLES, TOPIC
from tests.runs import materialize, rewrite
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

OTHER = "patterned_grids"
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

_SCAFFOLD = """
query Scaffold {
  runConfigSchemaOrError(
    selector: {
      pipelineName: "__ASSET_JOB"
      repositoryName: "__repository__"
      repositoryLocationName: "definitions.py"
    }
    mode: "default"
  ) { ... on RunConfigSchema { rootDefaultYaml } }
  assetNodes {
    opName
    configField { configType { ... on CompositeConfigType { fields { name isRequired } } } }
  }
}
"""

_VALID = """
query Valid($config: RunConfigData!) {
  isPipelineConfigValid(
    runConfigData: $config
    pipeline: {
      pipelineName: "__ASSET_JOB"
      repositoryName: "__repository__"
      repositoryLocationName: "definitions.py"
    }
    mode: "default"
  ) { ... on RunConfigValidationInvalid { errors { message } } }
}
"""


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


def test_config_is_refused_with_its_reason(server):
    config = {"resources": {"design": {"config": {"seed": "seven"}}}}
    refused = server.launch(["vlmbias/drawn_images"], partition=TOPIC, config=config)
    assert refused["__typename"] == "RunConfigValidationInvalid"
    assert "seed" in refused["errors"][0]["message"]
    assert "seven" in refused["errors"][0]["message"]


def test_the_launchpad_scaffolds_every_field_of_every_asset(server):
    scaffold = server.graphql(_SCAFFOLD)
    text = scaffold["runConfigSchemaOrError"]["rootDefaultYaml"]
    config = yaml.safe_load(text)
    fields = {
        node["opName"]: {
            field["name"]
            for field in node["configField"]["configType"].get("fields", ())
            if not field["isRequired"]
        }
        for node in scaffold["assetNodes"]
        if node["configField"]
    }
    shown = {name: {*op["config"]} for name, op in config["ops"].items()}
    assert shown == {name: names for name, names in fields.items() if names}
    assert "limit" in shown["vlmbias__answers_gpt"]
    assert "per_run_usd" in config["resources"]["budget"]["config"]
    errors = server.graphql(_VALID, config=text)["isPipelineConfigValid"]["errors"]
    assert {error["message"].partition(" at ")[0] for error in errors} == {
        'Missing required config entry "base"',
    }


def test_a_topic_that_failed_stays_failed_after_another_has_passed(story, server, monkeypatch):
    """In process, on the server's instance, and before there is a browser: see `chromium`."""
    # So few are drawn without other processes.
    drawing = load_domain(OTHER).draw_module
    scenes = drawing.list_scenes(0)[:3]
    monkeypatch.setattr(drawing, "list_scenes", lambda seed: scenes)
    path = server.home / "vlmbias" / "drawn_images" / f"{TOPIC}.parquet"
    good = path.read_bytes()

    with story.instance() as instance:

        def make(*names, topic=TOPIC):
            return materialize(server.home, *names, topic=topic, instance=instance).success

        rewrite(path, lambda rows: [row | {"truths": [0] * len(row["truths"])} for row in rows])
        assert not make("measurements")
        assert make(*TABLES[:3], topic=OTHER)
        assert statuses(server)[0]["labels_agree"] == ([OTHER], [TOPIC])

        path.write_bytes(good)
        assert make("measurements")
        assert statuses(server)[0]["labels_agree"] == ([TOPIC, OTHER], [])


def test_the_guarded_webserver_is_all_that_listens(server):
    foreign = urllib.request.Request(f"{server.url}/server_info", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(foreign)
    process = psutil.Process(server.pid)
    listening = {
        connection.laddr
        for member in (process, *process.children(recursive=True))
        for connection in member.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {("127.0.0.1", urlsplit(server.url).port)}


class Watched:
    """A page with every address that it asked for and everything that it complained of."""

    def __init__(self, page):
        self.page, self.requests, self.errors = page, [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._hear)

    def find_foreign_requests(self, server):
        """The addresses of other servers than this one."""
        own = server.url.partition("://")[2]
        local = (f"http://{own}", f"ws://{own}", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(local)]

    def _hear(self, message):
        if message.type == "error":
            self.errors.append(message.text)


STILL = """const still = new CSSStyleSheet();
still.replaceSync("*, ::before, ::after { animation: none !important }");
document.adoptedStyleSheets = [still];"""
"""Without a graphics card, the wheel that turns while a run is waited for takes half a core."""


@pytest.fixture
def watched(new_page):
    page = new_page(viewport={"width": 1500, "height": 1100})
    page.add_init_script(STILL)
    yield Watched(page)
    page.close()


def test_the_asset_page_shows_the_contact_sheet(server, watched):
    page = watched.page
    page.goto(f"{server.url}/assets/vlmbias/drawn_images?partition={TOPIC}&view=partitions")
    page.get_by_text("contact_sheet").first.wait_for()
    page.get_by_text("Show Markdown").first.click()
    thumbnail = page.locator('img[src^="data:image/jpeg"]').first
    thumbnail.wait_for()
    assert thumbnail.evaluate("image => image.naturalWidth") > 0
    assert page.locator('img[src^="data:image/jpeg"]').count() == 24
    assert watched.find_foreign_requests(server) == []
    assert watched.errors == []


def test_a_link_on_the_asset_page_opens_the_report(server, watched):
    page = watched.page
    page.goto(f"{server.url}/assets/vlmbias/answers_prior?view=overview")
    page.get_by_role("link", name="Open the report").click()
    page.wait_for_url("**/reports/vlmbias/index.html")
    page.locator("main img").first.scroll_into_view_if_needed()
    wait_for(lambda: page.evaluate("document.querySelector('main img').naturalWidth > 0"))
    page.get_by_role("link", name="Gallery").first.click()
    page.wait_for_url("**/gallery.html")
    shown = page.locator("#cards li:visible")
    everything = shown.count()
    page.get_by_label("Wrong answers by").select_option("prior")
    page.get_by_label("Variant").select_option("counterfactual")
    assert shown.count() == 28
    assert everything == 28 + 4
    page.get_by_label("Wrong answers by").select_option("pixels")
    assert shown.count() == 0
    assert page.url.startswith(f"{server.url}/reports/vlmbias/gallery.html#")
    assert watched.find_foreign_requests(server) == []
    assert watched.errors == []


def test_launching_the_job_shows_the_quote_and_sends_nothing(story, server, watched):
    page, sent = watched.page, story.requests()
    page.goto(f"{server.url}/locations/definitions.py/jobs/quote/playground")
    page.get_by_role("button", name="Launch Run").click()
    page.wait_for_url("**/runs/**")
    # A browser without a graphics card draws a run that is under way on half a core.
    launched = page.url
    page.goto("about:blank")
    assert server.ended(launched.partition("/runs/")[2].partition("?")[0]) == "SUCCESS"
    page.goto(launched)
    page.get_by_text("The quote:").first.wait_for()
    page.get_by_text("Show Markdown").first.click()
    table = page.get_by_role("dialog").locator("table")
    table.wait_for()
    rows = [row.split("\t") for row in table.inner_text().splitlines() if row.strip()]
    assert ["vlmbias/answers_gpt", TOPIC, "gpt"] in [row[:3] for row in rows]
    assert story.requests() == sent
