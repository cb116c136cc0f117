"""The pages in a browser: no error, nothing wider than a phone, every picture shown."""

import pytest

from assets.report.publish import publish
from assets.report.start_page import write_start_page
from assets.vhexpansion.pages import REPORT
from tests.assets.vhexpansion.test_numbers import attacked
from tests.assets.vhexpansion.test_pages import ATTACK, EAR, EYE, dataset, said
from tests.providers.pictures import png
from tests.waiting import wait_for

PAGES = ("index", "dataset-zoo", "pairs-zoo")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    answers = [said(name, 0.7, repeats=3) for name in ("eye", "ear")]
    answers += [said("eye", 0.5, done=("noise", None, [{"kind": "noise", "sigma": 0.08}]))]
    for epsilon in (4, 8):
        done = ("pgd", "eye_encoder", ATTACK | {"epsilon": epsilon})
        answers += [said(name, 0.4, done=done) for name in ("eye", "ear")]
    zoo = dataset([EYE, EAR, attacked("eye_encoder")], *answers)
    folder = tmp_path_factory.mktemp("site") / "report" / "vhexpansion"
    folder.parent.mkdir()
    publish(folder, REPORT.build([zoo], facts={"Written": "today"}), png)
    write_start_page(folder.parent)
    return folder


@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit_and_have_no_error(folder, blank, width):
    page = blank
    page.set_viewport_size({"width": width, "height": 900})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("requestfailed", lambda request: errors.append(request.url))
    for name in PAGES:
        page.goto((folder / f"{name}.html").as_uri())
        page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
        wait_for(
            lambda: page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth)")
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []
