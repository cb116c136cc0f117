"""Pages of other sites, in a real browser, that try to have the server do something."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote, urlsplit

import pytest

from tests.e2e.server import PROJECT, WITHIN_S, Server
from tests.ports import free_port
from tests.waiting import wait_for

_MUTATION = 'mutation { setConcurrencyLimit(concurrencyKey: "WAY", limit: 1) }'
"""Sets a limit of a pool that nothing uses: harmless, and it can be read back."""
_POOLS = "{ instance { concurrencyLimits { concurrencyKey } } }"
_FETCH = """
async ([url, options]) => {
    try { return (await fetch(url, options)).status } catch (error) { return error.message }
}
"""
_PICTURE = """
url => new Promise(resolve => {
    const picture = new Image();
    picture.onload = picture.onerror = resolve;
    picture.src = url;
})
"""
_FORM = """
url => new Promise(resolve => {
    const frame = document.createElement("iframe");
    frame.name = "answer";
    document.body.append(frame);
    const form = document.body.appendChild(document.createElement("form"));
    Object.assign(form, { method: "POST", action: url, target: "answer" });
    frame.onload = resolve;
    form.submit();
})
"""
_SOCKET = """
url => new Promise(resolve => {
    const socket = new WebSocket(url, "graphql-ws");
    socket.onopen = () => resolve("opened");
    socket.onerror = () => resolve("refused");
})
"""
_MUTATION_BY_SOCKET = """
([url, query]) => new Promise(resolve => {
    const socket = new WebSocket(url, "graphql-ws");
    socket.onopen = () => socket.send(JSON.stringify({ id: "1", type: "start", payload: {query} }));
    socket.onmessage = message => resolve(JSON.parse(message.data).type);
})
"""
_JSON = {"Content-Type": "application/json"}
_REPORT = f"""<!doctype html><title>Zoo</title>
<img src="thumbs/a%20b.svg"><a href="tables/a%25%3F%23.csv">Table</a>
<script>
fetch("/graphql", {json.dumps({"method": "POST", "headers": _JSON, "body": "{}"})})
    .then(response => response.status, error => error.message)
    .then(outcome => document.title += ` ${{outcome}}`);
</script>
"""
"""A page that quotes a model which says a script."""
_SECRET = "sk-secret"


def mutation(way):
    return _MUTATION.replace("WAY", way)


def by_address(server, way):
    return f"{server.url}/graphql?query={quote(mutation(way))}"


def post(way, headers=None, **options):
    body = json.dumps({"query": mutation(way)})
    return {"method": "POST", "body": body, "headers": headers or {}} | options


def pools(server):
    """The pools that have a limit."""
    limits = server.graphql(_POOLS)["instance"]["concurrencyLimits"]
    return {limit["concurrencyKey"] for limit in limits}


class _EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>Another site</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Keep quiet."""


@pytest.fixture(scope="module")
def other_site():
    """The address of a web server of somebody else."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPage)
    Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://evil.localhost:{site.server_port}/"
    site.shutdown()
    site.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The webserver of `counterfactory ui`, without code location and daemon: both take long."""
    home, port = tmp_path_factory.mktemp("instance"), free_port()
    command = [sys.executable, "-m", "commands.webserver", "--empty-workspace", "--port", str(port)]
    environment = os.environ | {"DAGSTER_HOME": str(home), "COUNTERFACTORY_HOME": f"{home}/data"}
    _publish(home / "data" / "report")
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=log, stderr=log)
        server = Server(f"http://127.0.0.1:{port}", home, process.pid)
        until = time.monotonic() + WITHIN_S
        while process.poll() is None and time.monotonic() < until:
            with suppress(urllib.error.URLError):
                server.graphql("{ version }")
                break
            time.sleep(0.1)
        yield server
        process.terminate()
        process.wait()


def _publish(reports):
    """Publish a report, with its data root beside it: a secret, and links that lead out to it."""
    site = reports / "zoo"
    for folder in (site / "thumbs", site / "tables", reports / ".zoo.ab12"):
        folder.mkdir(parents=True)
    (site / "index.html").write_text(_REPORT)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'
    (site / "thumbs" / "a b.svg").write_text(svg)
    (site / "tables" / "a%?#.csv").write_text("a,b\n")
    for secret in (reports.parent / "calls.sqlite", reports / ".zoo.ab12" / "index.html"):
        secret.write_text(_SECRET)
    (site / "link.html").symlink_to(reports.parent / "calls.sqlite")
    (site / "folder").symlink_to(reports.parent)


def ask(server, method, path, **headers):
    """The response to a request whose path is sent as it is written, with its body."""
    with closing(http.client.HTTPConnection(urlsplit(server.url).netloc)) as connection:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response, response.read().decode()


@pytest.fixture
def page(new_page):
    page = new_page()
    yield page
    page.close()


def test_a_page_of_another_site_changes_nothing(server, other_site, page):
    page.goto(other_site)
    before = pools(server)
    page.evaluate(_PICTURE, by_address(server, "picture"))
    page.evaluate(_FORM, by_address(server, "form"))
    for way, options in {
        "get": {"mode": "no-cors"},
        "credentials": {"mode": "no-cors", "credentials": "include"},
        "plain": {"mode": "no-cors", "method": "POST", "body": "x"},
    }.items():
        page.evaluate(_FETCH, [by_address(server, way), options])
    endpoint = f"{server.url}/graphql"
    assert page.evaluate(_FETCH, [endpoint, post("json", _JSON)]) == "Failed to fetch"
    page.evaluate(_FETCH, [endpoint, post("text", mode="no-cors")])
    graphql = {"Content-Type": "application/graphql"}
    page.evaluate(_FETCH, [endpoint, post("graphql", graphql)])
    assert pools(server) == before


def test_a_page_of_another_site_opens_no_websocket_and_no_frame(server, other_site, page):
    page.goto(other_site)
    address = server.url.replace("http", "ws") + "/graphql"
    assert page.evaluate(_SOCKET, address) == "refused"
    page.evaluate(_FORM.replace("POST", "GET"), f"{server.url}/overview")
    while page.frames[1].url in ("", "about:blank"):
        # Its address comes after its load, through another process.
        page.wait_for_timeout(50)
    assert page.frames[1].url == "chrome-error://chromewebdata/"


def test_another_name_that_leads_here_is_refused(server, page):
    """As DNS rebinding has it: page and server have one origin, of a name of somebody else."""
    rebound = server.url.replace("127.0.0.1", "evil.localhost")
    before = pools(server)
    assert page.goto(rebound).status == 403
    assert "name of another server" in page.inner_text("body")
    assert page.evaluate(_FETCH, ["/graphql", post("rebound", _JSON)]) == 403
    assert page.evaluate(_FETCH, [f"/graphql?query={quote(_POOLS)}", {}]) == 403
    assert page.evaluate(_SOCKET, rebound.replace("http", "ws") + "/graphql") == "refused"
    assert pools(server) == before


def test_pages_of_its_own_change_what_they_like_by_post(server, page):
    before = pools(server)
    page.goto(f"{server.url}/graphql")
    assert page.evaluate(_FETCH, [by_address(server, "got"), {}]) == 405
    socket = server.url.replace("http", "ws") + "/graphql"
    assert page.evaluate(_MUTATION_BY_SOCKET, [socket, mutation("sent")]) == "error"
    assert pools(server) == before
    assert page.evaluate(_FETCH, ["/graphql", post("posted", _JSON)]) == 200
    assert pools(server) == before | {"posted"}


@pytest.mark.parametrize(
    "path",
    [
        *("../calls.sqlite", "..%2fcalls.sqlite", "%2e%2e/calls.sqlite", "zoo/../../calls.sqlite"),
        *("zoo/..%2f..%2fcalls.sqlite", "..%5ccalls.sqlite", "..%252fcalls.sqlite", "%00"),
        *(
            "/calls.sqlite",
            "%2fetc/passwd",
            "%2f%2fetc/passwd",
            "file:%2f%2f/etc/passwd",
            "a" * 999,
        ),
        *(".zoo.ab12/index.html", "zoo/link.html", "zoo/folder/calls.sqlite", "zoo/folder/"),
        *("%c0%ae%c0%ae/calls.sqlite", "zoo/..;/..;/calls.sqlite", "~/calls.sqlite", "zoo/none"),
    ],
)
def test_nothing_but_what_is_published_is_served(server, path):
    response, body = ask(server, "GET", f"/reports/{path}")
    assert (response.status, body[:16]) == (404, "No page is here.")


def test_reports_are_only_read_and_behind_the_guard(server):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(server, method, "/reports/zoo/index.html")[0].status == 405, method
    assert ask(server, "GET", "/reports/zoo/index.html", Host="evil.example")[0].status == 403
    own, foreign = server.url.partition("://")[2], {"Origin": "http://evil.example"}
    assert ask(server, "GET", "/reports/zoo/index.html", Host=own, **foreign)[0].status == 403
    head, body = ask(server, "HEAD", "/reports/zoo/index.html")
    assert (head.status, body, head.headers["Content-Length"]) == (200, "", str(len(_REPORT)))
    assert ask(server, "GET", "/reports/zoo/tables/a%25%3F%23.csv")[1] == "a,b\n"
    assert ask(server, "GET", "/reports")[0].headers["Location"] == "/reports/index.html"


def test_a_report_that_is_published_again_is_seen_at_once(server):
    first, _ = ask(server, "GET", "/reports/zoo/index.html")
    assert first.headers["Cache-Control"] == "no-cache"
    etag = {"If-None-Match": first.headers["ETag"]}
    assert ask(server, "GET", "/reports/zoo/index.html", **etag)[0].status == 304
    site = server.home / "data" / "report" / "zoo"
    shutil.copytree(site, site.with_name("later"), symlinks=True)
    (site.with_name("later") / "index.html").write_text(_REPORT + "new")
    shutil.rmtree(site)
    site.with_name("later").rename(site)
    response, body = ask(server, "GET", "/reports/zoo/index.html", **etag)
    assert (response.status, body) == (200, _REPORT + "new")


def test_a_script_in_a_report_reaches_nothing_of_dagster(server, page):
    page.goto(f"{server.url}/reports/zoo/index.html")
    wait_for(lambda: page.evaluate("document.title != 'Zoo'"))
    assert page.title() == "Zoo Failed to fetch"
    assert page.locator("img").evaluate("image => image.naturalWidth") == 7
    with page.expect_download() as download:
        page.get_by_role("link", name="Table").click()
    assert download.value.suggested_filename == "a%_#.csv"
