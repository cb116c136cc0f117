"""Reports in an object store: what a reader sees, what is written, and what is left."""

import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from posixpath import dirname, join, normpath
from threading import Event, Thread
from urllib.parse import unquote

import pytest

from assets.report.copies import copy_reports
from assets.report.publish import publish
from assets.report.start_page import read_judge_results, write_start_page
from resources.faults import AccessDenied, UnwritableStore
from resources.sites import site_states
from resources.storage.files import open_address
from tests.assets.report.fronts import front
from tests.assets.vlmbias.site_data import Report, pages
from tests.waiting import WITHIN_S

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).parents[3]
REPORTS = "s3://pictures/home/report"
LINK = re.compile(r' (?:href|src|data-seen)="([^"#]+)')
ENTRY = "home/report/vlmbias/index.html"


def tables(subjects=1):
    return Report(subjects=subjects, topics=["flags"]).tables()


def publish_tables(folder, subjects=1):
    parts = tables(subjects)
    png = parts.pop("png_of")
    return publish(folder, pages.build(**parts), png)


@pytest.fixture
def reports(s3):
    return open_address(REPORTS)


def read_all(s3):
    """All objects of the bucket, as a server of static files would serve them."""
    listed = s3.get_paginator("list_objects_v2").paginate(Bucket="pictures")
    names = [item["Key"] for page in listed for item in page.get("Contents", ())]
    return {name: s3.get_object(Bucket="pictures", Key=name)["Body"].read() for name in names}


def find_broken_links(objects, entry):
    """Follow all links from a page, and give those that lead nowhere."""
    seen, waiting, broken = {entry}, [entry], []
    while waiting:
        page = waiting.pop()
        text = objects[page].decode()
        links = [*LINK.findall(text), *re.findall(r"url=([^\"]+)", text)]
        sets = ",".join(re.findall(r'srcset="([^"]+)"', text)).split(",")
        links += [part.split()[0] for part in sets if part]
        for link in links:
            if "://" in link or link.startswith("data:"):
                continue
            target = normpath(join(dirname(page), unquote(link)))
            if target not in objects:
                broken.append((page, link))
            elif target not in seen:
                seen.add(target)
                waiting += [target] if target.endswith(".html") else []
    return seen, broken


def list_files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_copy_is_what_a_disk_would_hold_and_all_links_lead_somewhere(s3, reports, tmp_path):
    local = tmp_path / "local"
    for root in (front(local), front_at(reports)):
        published = publish_tables(root / "vlmbias", 2)
        start = write_start_page(root)
        versions = (published.version, start.version)
        assert versions == (publish_tables(local / "vlmbias", 2).version, start.version)
    assert published.page.as_uri() == f"{REPORTS}/vlmbias/index.html"
    copied = tmp_path / "copied"
    assert copy_reports(reports, copied) == ["vlmbias", "words", "zoo"]
    assert list_files(copied) == list_files(local)

    objects = read_all(s3)
    seen, broken = find_broken_links(objects, "home/report/index.html")
    missing = {link for _, link in find_broken_links(list_files(local), "index.html")[1]}
    assert {re.sub(r"(\.\./)+|states/[0-9a-f]{32}/", "", link) for _, link in broken} == {
        link.replace("../", "") for link in missing
    }
    assert len(seen) > 20
    state = re.search(rb"url=(states/[^/]+)/", objects[ENTRY])[1].decode()
    head = s3.head_object(Bucket="pictures", Key=f"home/report/vlmbias/{state}/index.html")
    assert head["ContentType"] == "text/html"
    assert {*read_judge_results(reports)} == {"vlmbias", "words", "zoo"}


def front_at(reports):
    front(reports)
    return reports


def test_what_is_unchanged_is_not_written_again(s3, s3_server, reports):
    def count(subjects):
        s3_server.requests.clear()
        publish_tables(reports / "vlmbias", subjects)
        write_start_page(reports)
        return [request for request in s3_server.requests if request in ("PUT", "DELETE")]

    count(1)
    before = read_all(s3)
    assert count(1) == []
    assert len(s3_server.requests) < 20
    changed = count(2)
    after = read_all(s3)
    assert len(changed) == len([name for name, data in after.items() if before.get(name) != data])
    assert {name for name in before if "/images/" in name or "/thumbs/" in name} <= {*after}


def test_two_publishers_at_once_leave_one_whole_state(s3, reports):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: publish_tables(reports / "vlmbias", 1 + n % 2), range(8)))
    objects = read_all(s3)
    broken = find_broken_links(objects, ENTRY)[1]
    assert {link for _, link in broken if "images/" in link or "thumbs/" in link} == set()
    assert {Path(link).name for _, link in broken} <= {"index.html", "mark.svg"}


def test_a_reader_sees_whole_states_alone(s3, reports, tmp_path):
    publish_tables(reports / "vlmbias", 1)
    write_start_page(reports)
    local = [tmp_path / number / "vlmbias" for number in ("1", "2")]
    for number, folder in enumerate(local, start=1):
        publish_tables(folder, number)
    expected = [*map(list_files, local)]
    ended, states = Event(), []

    def read():
        while not ended.is_set():
            folder = tmp_path / "read"
            copy_reports(reports, folder)
            states.append(list_files(folder / "vlmbias"))

    reader = Thread(target=read)
    reader.start()
    for number in (2, 1, 2):
        publish_tables(reports / "vlmbias", number)
        write_start_page(reports)
    ended.set()
    reader.join()
    assert len(states) > 1
    assert all(state in expected for state in states)


PUBLISH = """
import sys
from resources.storage.files import open_address
from tests.assets.report.test_remote_sites import publish_tables
publish_tables(open_address(sys.argv[1]), int(sys.argv[2]))
"""


def find_states(s3):
    """The states of pages in the bucket."""
    return {
        match[1] for name in read_all(s3) if (match := re.search(r"vlmbias/states/(\w+)", name))
    }


def test_a_killed_publication_leaves_the_old_state_and_the_next_one_sweeps(
    s3, s3_server, reports, tmp_path, monkeypatch
):
    folder = reports / "vlmbias"
    publish_tables(folder, 1)
    write_start_page(reports)
    copy_reports(reports, tmp_path / "before")
    (old,) = find_states(s3)
    s3_server.requests.clear()
    killed = subprocess.Popen([sys.executable, "-c", PUBLISH, str(folder), "2"], cwd=PROJECT)

    def kill(_method, _query):
        if s3_server.requests.count("PUT") > 30:
            killed.kill()
        return False

    s3_server.refuses = kill
    assert killed.wait(WITHIN_S) == -signal.SIGKILL
    s3_server.refuses = lambda _method, _query: False
    copy_reports(reports, tmp_path / "after")
    assert list_files(tmp_path / "after") == list_files(tmp_path / "before")
    (abandoned,) = find_states(s3) - {old}

    publish_tables(folder, 3)
    assert len(find_states(s3)) == 3
    monkeypatch.setattr(site_states, "GRACE_S", -3600.0)
    publish_tables(folder, 2)
    assert len(find_states(s3)) == 2
    assert not {old, abandoned} & find_states(s3)
    assert find_whole_state(s3, tmp_path) == publish_locally(tmp_path, 2)


def find_whole_state(s3, tmp_path):
    """What lies in the bucket, once it is copied."""
    write_start_page(open_address(REPORTS))
    copy_reports(open_address(REPORTS), tmp_path / "copied")
    return list_files(tmp_path / "copied" / "vlmbias")


def publish_locally(tmp_path, subjects):
    """What a disk holds of the same tables."""
    return list_files(publish_tables(tmp_path / "local" / "vlmbias", subjects).page.parent)


@pytest.mark.parametrize(
    ("refusal", "cause"),
    [
        (("AccessDenied", "no right to write"), "no right to write"),
        (("ExpiredToken", "The provided token has expired."), "token has expired"),
    ],
)
def test_a_refused_publication_says_what_to_do_and_loses_nothing(
    s3, s3_server, reports, tmp_path, refusal, cause
):
    folder = reports / "vlmbias"
    publish_tables(folder, 1)
    before = find_whole_state(s3, tmp_path)
    s3_server.requests.clear()
    s3_server.refusal = refusal
    s3_server.refuses = lambda method, _: method == "PUT" and s3_server.requests.count("PUT") > 8
    message = rf"{REPORTS}/vlmbias/.*{cause}.*COUNTERFACTORY_HOME.*have not expired"
    with pytest.raises(UnwritableStore, match=message):
        publish_tables(folder, 2)
    s3_server.refuses = lambda _method, _query: False
    assert find_whole_state(s3, tmp_path) == before
    stored = {name for name in read_all(s3) if "/images/" in name}
    publish_tables(folder, 2)
    assert find_whole_state(s3, tmp_path) == publish_locally(tmp_path, 2)
    assert stored <= {*read_all(s3)}


def test_credentials_that_may_not_read_are_named(s3_server, reports):
    s3_server.refusal = ("ExpiredToken", "The provided token has expired.")
    s3_server.refuses = lambda method, _query: method == "GET"
    with pytest.raises(AccessDenied, match=r"token has expired.*Renew credentials"):
        publish_tables(reports / "vlmbias", 1)


def test_a_store_that_is_away_for_30_s_is_waited_for(s3, s3_server, reports, tmp_path):
    away = Event()

    def note(_method, _query):
        if s3_server.requests.count("PUT") == 20:
            away.set()
        return False

    s3_server.refuses = note
    with ThreadPoolExecutor(1) as threads:
        published = threads.submit(publish_tables, reports / "vlmbias", 1)
        assert away.wait(WITHIN_S)
        s3_server.stop()
        time.sleep(30)
        assert not published.done()
        s3_server.start()
        published.result(WITHIN_S)
    assert find_whole_state(s3, tmp_path) == publish_locally(tmp_path, 1)
