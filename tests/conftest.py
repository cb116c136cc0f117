"""What tests share: a data root of their own, and a browser."""

import asyncio
import gc
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.util import get_temp_dir
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from urllib.request import Request, urlopen

import certifi
import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, Page, expect, sync_playwright
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests import tiny  # noqa: F401 - first: it names the cache of the Hugging Face libraries
from tests.forks import Forks
from tests.s3 import S3Server

BROWSER_MS = 300_000
"""How long a browser may take for anything: no test is of its speed."""

_WITHOUT = (
    # What processes of their own draw beneath the address bar, which nobody sees.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    # A new frame for each page that is opened takes a fifth of the time.
    "RenderDocument",
    # This list takes the place of Playwright's: what asks the network, and what tests would meet.
    *("AimEnabled", "NetworkTimeServiceQuerying", "OptimizationHints", "PreconnectToSearch"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
)
"""Features of Chromium that tests do without."""

# In the background of a script Ctrl-C is ignored, as SIGTERM then is after Dagster has run.
signal.signal(signal.SIGINT, signal.default_int_handler)

GROUPS = {
    "story": ("e2e/test_*.py",),
    "demo": ("commands/test_demo.py",),
    "ray": ("execution/test_ray_*.py", "execution/test_executor_setting.py"),
    "forks": (
        *("calls/test_processes.py", "calls/test_store.py", "batches/test_killed.py"),
        *("models/test_stores_in_trouble.py", "vlmbias/test_full_disk.py", "kit/test_pictures.py"),
        *("storage/test_work_cache.py", "release/test_interrupted.py"),
    ),
    "torch": (
        *("bench/test_scoring.py", "models/backends/test_*.py", "test_attack*.py"),
        "training/test_*.py",
    ),
}
"""Files that share what takes longest: servers, a demo, a cluster, a process to fork, torch."""
FIRST = (
    *("commands/test_judge.py", "commands/test_run.py", "resources/models/test_killed.py"),
    *("commands/test_reroll.py", "commands/test_first_report.py", "commands/test_two_machines.py"),
    *("bench/test_gpu.py", "test_distribution.py", "assets/release/test_answer_import.py"),
)
"""Files that take longest of the others."""

# However busy the machine is. Other examples than the same each time: --hypothesis-profile default
settings.register_profile(
    "certain",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("certain")
expect.set_options(timeout=BROWSER_MS)


def pytest_configure() -> None:
    """Collect no garbage while tests are imported: nothing of that goes away again.

    And one thread a process: libraries' own, as many as there are cores, wait for each other busily
    where each core has a worker of its own.
    """
    gc.disable()
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file without slow tests where only they are run: that takes longer than some."""
    is_spared = config.option.markexpr == "slow" and collection_path.match("test_*.py")
    return True if is_spared and not _mentions_slow(collection_path) else None


@cache
def _mentions_slow(path: Path) -> bool:
    """Whether a file has slow tests: by a mark, or by `address`, which marks one of its kinds."""
    return bool(re.search(r"mark\.slow|\baddress\b", path.read_text()))


def pytest_collection_finish() -> None:
    """And seldom in between, leaving out what was imported: a tenth of the time went there."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what takes longest first."""
    for item in items:
        if item.get_closest_marker("slow") and not _mentions_slow(item.path):
            raise pytest.UsageError(f"{item.nodeid} is slow, and `make slow` would not see it.")
    order = {group: place for place, group in enumerate((*GROUPS, *FIRST))}
    markexpr = config.option.markexpr
    items.sort(key=lambda item: order.get(_find_group(item.nodeid, markexpr), len(order)))


class GroupScheduling(LoadScopeScheduling):
    """Gives each group of files, and each other file, to one worker, which shares nothing of it."""

    def _split_scope(self, nodeid: str) -> str:
        return _find_group(nodeid, self.config.option.markexpr)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    """Schedule by groups."""
    return GroupScheduling(config, log)


def _find_group(nodeid: str, markexpr: str) -> str:
    """The group of a test's file; of slow ones, those with torch are shared out: they are most."""
    path = Path(nodeid.partition("::")[0])
    return _find_group_of_file(path, without_torch=markexpr == "slow")


@cache
def _find_group_of_file(path: Path, *, without_torch: bool) -> str:
    for name, patterns in GROUPS.items():
        if any(map(path.match, patterns)) and not (without_torch and name == "torch"):
            return name
    return path.as_posix().removeprefix("tests/")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one authority of the many that sign certificates."""
    end = "-----END CERTIFICATE-----\n"
    path = tmp_path_factory.mktemp("authority") / "one.pem"
    path.write_text(certifi.contents().partition(end)[0] + end)
    return path


@pytest.fixture(scope="session")
def forks():
    """Starts programs that need no fresh Python."""
    with Forks() as forks:
        yield forks


@pytest.fixture(scope="session")
def _homes(tmp_path_factory):
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def _own_home(request, monkeypatch, certificate, _homes):
    """No test writes to the project's data folder or to its Dagster instance.

    Nor does any speak TLS: a client that reads one authority is made in 1 ms instead of 30 to 90.
    """
    # Otherwise without `tmp_path`, which takes longer than many a test that writes nothing.
    wanted = "tmp_path" in request.fixturenames
    home = request.getfixturevalue("tmp_path") if wanted else Path(mkdtemp(dir=_homes))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("COUNTERFACTORY_HOME", str(home / "data"))
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")


@pytest.fixture(scope="session")
def _browser() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """A worker's one browser, and Playwright's event loop, which says that it runs from here on."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--disable-gpu", f"--disable-features={','.join(_WITHOUT)}"],
            timeout=BROWSER_MS,
        )
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def chromium(_browser: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """The browser, for one module of tests.

    Dagster runs nothing in a thread that has a running event loop: Playwright's is only said to run
    in modules that use it, as Playwright itself says after each call.
    """
    browser, loop = _browser
    asyncio._set_running_loop(loop)
    yield browser
    for context in browser.contexts:
        context.close()
    asyncio._set_running_loop(None)


@pytest.fixture(scope="module")
def new_page(chromium: Browser) -> Callable[..., Page]:
    """Opens a page in a context of its own, with what `Browser.new_page` takes."""

    def new_page(**options: Any) -> Page:
        page = chromium.new_page(**options)
        page.set_default_timeout(BROWSER_MS)
        return page

    return new_page


@pytest.fixture(scope="module")
def _tab(new_page: Callable[..., Page]) -> Page:
    return new_page()


@pytest.fixture
def blank(_tab: Page) -> Page:
    """An empty page: a module's tests share one, for opening another is most of a test's work."""
    _tab.goto("about:blank")
    _tab.set_viewport_size({"width": 1280, "height": 900})
    return _tab


@pytest.fixture
def quiet(blank: Page) -> Iterator[Page]:
    """An empty page that has complained of nothing in the end."""
    complaints: list[str] = []
    blank.on("console", lambda message: complaints.append(message.text))
    blank.on("pageerror", lambda error: complaints.append(str(error)))
    yield blank
    assert complaints == []


@pytest.fixture
def s3_server():
    """The endpoint that `s3` has a client of."""
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server, monkeypatch):
    """A real S3 endpoint on loopback with an empty bucket, `pictures`; gives a client of it."""
    # Here, for every process that collects tests would import them.
    import boto3  # noqa: PLC0415 - see above
    import s3fs  # noqa: PLC0415 - see above

    address = f"http://127.0.0.1:{s3_server.port}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="pictures")
    s3_server.requests.clear()
    get_temp_dir()  # Workers that start meanwhile have their sockets there, and outlive the test.
    with TemporaryDirectory() as copies:  # Of another test's pictures, none is there.
        Path(copies).chmod(0o711)  # A database's server is another user, who starts below it.
        monkeypatch.setenv("TMPDIR", copies)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield client
    urlopen(Request(f"{address}/moto-api/reset", method="POST")).close()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def address(request, tmp_path):
    """The address of an empty data root of each kind."""
    if request.param == "s3":
        request.getfixturevalue("s3")
        return "s3://pictures/home"
    return str(tmp_path) if request.param == "folder" else f"memory://{tmp_path.name}/home"
