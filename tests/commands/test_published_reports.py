"""Reports in an object store, as `counterfactory ui` serves them."""

import re
from urllib.parse import urljoin

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from commands.published_reports import PublishedReports
from resources.sites import open_site
from resources.storage.files import open_address


def test_a_report_in_an_object_store_is_served_from_its_entry_page_on(tmp_path):
    root = open_address(f"memory://{tmp_path.name}")
    (root / "calls.html").write_text("secret")
    site = open_site(root / "report" / "zoo")
    with site.build() as build:
        (build / "thumbs").mkdir()
        (build / "thumbs" / "a.webp").write_bytes(b"RIFF")
        (build / "index.html").write_text('<img src="thumbs/a.webp">')
        site.put_in_place(build)
    client = TestClient(Starlette(routes=[Mount("/reports", PublishedReports(root / "report"))]))

    entry = client.get("/reports/zoo/")
    assert entry.headers["content-type"] == "text/html; charset=utf-8"
    address = urljoin("/reports/zoo/", re.search('url=([^"]+)', entry.text)[1])
    page = client.get(address)
    assert "sandbox" in page.headers["content-security-policy"]
    picture = client.get(urljoin(address, re.search('src="([^"]+)"', page.text)[1]))
    assert (picture.content, picture.headers["content-type"]) == (b"RIFF", "image/webp")
    for path in (
        "..%2fcalls.html",
        "%2e%2e/calls.html",
        "zoo/none.html",
        "memory:%2f%2fcalls.html",
    ):
        assert client.get(f"/reports/{path}").status_code == 404, path
