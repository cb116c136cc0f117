"""A painter without an API: its manifest's pictures, through the client and the call store."""

import json
from contextlib import contextmanager
from os import utime

import pytest

from resources.models.backends.folder import Folder
from resources.models.catalog import Model
from resources.models.manifests import ManifestError
from resources.models.outcomes import AnsweredOutcome, FailedOutcome
from resources.models.pricing import compute_cost_bound
from resources.models.requests import PaintRequest, compute_call_keys
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import open_address
from resources.user_files.spreadsheets import format_csv
from tests.providers import pictures
from tests.resources.models.conftest import LOG, client_at, closed, png

HEAD = "prompt,sample,file\n"


@pytest.fixture
def folder(tmp_path):
    """A painter whose manifest lies below `painted`."""
    (tmp_path / "painted").mkdir()
    return tmp_path / "painted"


def painter(folder, name="manifest.csv", **parameters):
    return Model(
        name="by_hand",
        backend="folder",
        model=str(folder / name),
        family="mine",
        roles=("painter",),
        parameters=parameters,
    )


@contextmanager
def asking(folder):
    """Asks for pictures, as a run does; each time of a client of its own."""
    client = client_at(folder.parent)
    try:
        yield lambda *requests, of=None: client.ask(of or painter(folder), requests, LOG)
    finally:
        closed(client)


def write(folder, text, name="manifest.csv"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def test_what_is_there_is_painted_once_and_what_is_missing_is_failed_and_not_stored(folder):
    write(folder, f'{HEAD}A hen.,0,hen.png\n"A hen.",1,more/hen.jpg\nA cow.,0,gone.png\n')
    write(folder, png("red"), "hen.png")
    (folder / "more").mkdir()
    write(folder, pictures.converted(pictures.png("hen"), "jpeg"), "more/hen.jpg")
    wanted = [
        PaintRequest("A hen."),
        PaintRequest("A hen.", sample=1),
        PaintRequest("A cow."),
        PaintRequest("A dog."),
    ]
    with asking(folder) as ask:
        first = ask(*wanted)
        again = ask(*wanted)
    assert [type(each) for each in first.outcomes] == [
        AnsweredOutcome,
        AnsweredOutcome,
        FailedOutcome,
        FailedOutcome,
    ]
    assert first.outcomes[1].provenance == {
        "manifest": str(folder / "manifest.csv"),
        "file": "more/hen.jpg",
    }
    manifest = folder / "manifest.csv"
    assert [each.error for each in first.outcomes[2:]] == [
        f"{manifest}, line 4: {folder / 'gone.png'} is not there.",
        f"{manifest} has no row of the prompt 'A dog.', sample 0.",
    ]
    assert (first.already_stored, again.already_stored, again.outcomes) == (0, 2, first.outcomes)
    assert (first.spent, first.possibly_spent) == (0.0, 0.0)


def test_many_that_are_missing_do_not_end_a_run(folder):
    """A provider would be given up after sixteen failures in a row."""
    write(folder, f"{HEAD}A hen.,0,hen.png\n")
    write(folder, png(), "hen.png")
    with asking(folder) as ask:
        asked = ask(*(PaintRequest(f"Number {n}.") for n in range(40)), PaintRequest("A hen."))
        assert [type(each) for each in asked.outcomes] == [FailedOutcome] * 40 + [AnsweredOutcome]
        asked = ask(*(PaintRequest(f"Number {n}.") for n in range(40)))
        assert {type(each) for each in asked.outcomes} == {FailedOutcome}


def test_a_changed_file_is_a_changed_answer_and_the_one_before_is_still_there(folder):
    write(folder, f"{HEAD}A hen.,0,hen.png\n")
    of, request = painter(folder), PaintRequest("A hen.")
    unpainted = compute_call_keys(of, [request])
    keys = []
    with asking(folder) as ask:
        images = []
        for colour in ("red", "green", "red"):
            write(folder, png(colour), "hen.png")
            keys += compute_call_keys(of, [request])
            images.append((ask(request).outcomes[0].images, ask(request).already_stored))
    assert keys[0] == keys[2]
    assert len({*unpainted, *keys}) == 3
    assert images[0] == images[2] != images[1]


def test_a_copy_that_keeps_size_and_times_is_another_answer(folder):
    write(folder, f"{HEAD}A hen.,0,hen.png\n")
    of, request, keys = painter(folder), PaintRequest("A hen."), []
    for end in (b"1", b"2"):
        write(folder, b"a picture " + end, "hen.png")
        utime(folder / "hen.png", (0, 0))
        keys += compute_call_keys(of, [request])
    assert keys[0] != keys[1]


@pytest.mark.parametrize("before", ["red", None])
def test_what_changes_while_a_run_is_under_way_is_not_stored_under_the_key_of_before(
    folder, monkeypatch, before
):
    """Or somebody paints it just then: its key would be that of a picture that is not there."""
    write(folder, f"{HEAD}A hen.,0,hen.png\n")
    if before:
        write(folder, png(before), "hen.png")
    paint = Folder.paint

    async def late(backend, request):
        write(folder, png("green"), "hen.png")
        return await paint(backend, request)

    with asking(folder) as ask:
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "paint", late)
            (failed,) = ask(PaintRequest("A hen.")).outcomes
        assert isinstance(failed, FailedOutcome)
        assert "while the run was under way. Materialize again" in failed.error
        if before:
            write(folder, png(before), "hen.png")
        asked = ask(PaintRequest("A hen."))
    assert (type(asked.outcomes[0]), asked.already_stored) == (AnsweredOutcome, 0)


def test_a_row_and_its_file_are_in_the_key_but_its_line_is_not(folder):
    write(folder, png(), "hen.png")
    write(folder, png(), "same.png")
    of, request, keys = painter(folder), [PaintRequest("A hen.")], []
    for rows in (
        "A hen.,0,hen.png\n",
        "A cow.,0,cow.png\nA hen.,,hen.png\n",
        "A hen.,0,same.png\n",
    ):
        write(folder, HEAD + rows)
        keys += compute_call_keys(of, request)
    assert keys[0] == keys[1] != keys[2]


def test_seeds(folder):
    write(folder, "prompt,seed,file\nA hen.,7,hen.png\n")
    write(folder, png(), "hen.png")
    seeded = painter(folder, seeds=True)
    assert (seeded.takes_seed, painter(folder).takes_seed) == (True, False)
    with asking(folder) as ask:
        asked = ask(PaintRequest("A hen.", 7), PaintRequest("A hen.", 8), of=seeded)
        assert [type(each) for each in asked.outcomes] == [AnsweredOutcome, FailedOutcome]
        assert "prompt 'A hen.', sample 0, seed 8." in asked.outcomes[1].error
        assert isinstance(ask(PaintRequest("A hen.")).outcomes[0], AnsweredOutcome)


PROMPTS = [
    "=1+1",
    "-5 degrees",
    "'+' is a sign.",
    'Two "lines"\nof it',
    " spaces ",
    "é",
    "\t-tab",
    "\nline",
]


@pytest.mark.parametrize("name", ["manifest.csv", "manifest.jsonl"])
def test_every_prompt_is_found_again_as_it_is_exported(folder, name):
    rows = [{"prompt": said, "sample": 0, "file": "a.png"} for said in PROMPTS]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    write(folder, format_csv(rows[0], rows) if name.endswith("csv") else lines, name)
    write(folder, png(), "a.png")
    with asking(folder) as ask:
        asked = ask(*map(PaintRequest, PROMPTS), of=painter(folder, name))
    assert {type(each) for each in asked.outcomes} == {AnsweredOutcome}


def test_what_is_no_picture_fails_by_its_line_and_is_not_stored(folder):
    write(folder, f"{HEAD}A hen.,0,hen.png\n")
    write(folder, b"no picture", "hen.png")
    with asking(folder) as ask:
        (failed,) = ask(PaintRequest("A hen.")).outcomes
        said = f"line 2: {folder / 'hen.png'} cannot be used: 10 bytes that are no image"
        assert said in failed.error
        write(folder, png(), "hen.png")
        assert isinstance(ask(PaintRequest("A hen.")).outcomes[0], AnsweredOutcome)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("manifest.csv", None, "is not there. Write it, with the columns prompt, seed, sample"),
        ("manifest.txt", "", "is no manifest. Name a file that ends in .csv"),
        ("manifest.csv", "prompt,picture\n", "no column 'file'. Choose from prompt, picture"),
        (
            "manifest.csv",
            f"{HEAD}A,0,a.png\nA,,b.png\n",
            "line 3: it answers the same request as line 2",
        ),
        ("manifest.csv", f"{HEAD}A,x,a.png\n", "line 2: `sample` is 'x': write a valid integer"),
        ("manifest.csv", f"{HEAD}A,-1,a.png\n", "line 2: `sample` is '-1': write greater than"),
        ("manifest.csv", f"{HEAD},0,a.png\n", "line 2: `prompt` is empty"),
        ("manifest.csv", f"{HEAD}A,0,\n", "line 2: `file` is empty"),
        ("manifest.csv", f"{HEAD}A,0\n", "line 2: it has 2 cells where line 1 names 3"),
        ("manifest.csv", f"{HEAD}\xe9,0,a.png\n".encode("latin-1"), "line 2: it is not text in"),
        ("manifest.jsonl", '{"prompt": "A"}\n{', "line 2: it is no JSON object"),
        ("manifest.csv", HEAD + "A,0,a.png\n" * 40, "has 39 rows with errors"),
    ],
)
def test_a_manifest_of_no_use_is_one_clear_error(folder, name, text, message):
    if text is not None:
        write(folder, text, name)
    with asking(folder) as ask, pytest.raises(ManifestError) as error:
        ask(PaintRequest("A"), of=painter(folder, name))
    assert message in str(error.value)
    assert str(folder / name) in str(error.value)


def test_a_manifest_elsewhere_is_not_looked_for_here(folder):
    of = painter(folder).model_copy(update={"model": "s3://mine/manifest.csv"})
    with pytest.raises(ManifestError, match=r"is an address\. Download it with"):
        compute_call_keys(of, [PaintRequest("A hen.")])


@pytest.mark.parametrize("name", ["../secret.png", "{outside}", "link.png"])
def test_a_picture_outside_the_folder_is_refused_unless_the_entry_allows_it(folder, name):
    outside = folder.parent / "secret.png"
    outside.write_bytes(png("red"))
    (folder / "link.png").symlink_to(outside)
    write(folder, f"{HEAD}A hen.,0,{name.format(outside=outside)}\n")
    with asking(folder) as ask:
        (refused,) = ask(PaintRequest("A hen.")).outcomes
        assert isinstance(refused, FailedOutcome)
        assert f"lies outside {folder}: move it there, or write" in refused.error
        allowing = painter(folder).model_copy(update={"may_leave_folder": True})
        assert isinstance(ask(PaintRequest("A hen."), of=allowing).outcomes[0], AnsweredOutcome)


def test_only_a_folder_may_be_left():
    with pytest.raises(ValueError, match="is not used by the backend 'openai'"):
        Model(
            name="gpt",
            backend="openai",
            model="gpt",
            family="gpt",
            roles=("judge",),
            may_leave_folder=True,
        )


def test_it_costs_nothing(folder):
    assert compute_cost_bound(painter(folder), PaintRequest("A hen.")) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"roles": ("judge",)}, "cannot be: choose from painter"),
        ({"parameters": {"seed": 3}}, "has `seed`, which no picture in a folder is painted by"),
        ({"parameters": {"seeds": 3}}, "has `seeds`, which is true where"),
        ({"key": "MY_KEY"}, "is not used by the backend 'folder'"),
        ({"base_url": "http://localhost"}, "is not used by the backend 'folder'"),
    ],
)
def test_an_entry_that_makes_no_sense_says_so(folder, change, message):
    with pytest.raises(ValueError, match=message):
        Model.model_validate(painter(folder).model_dump(exclude_unset=True) | change)


def test_a_manifest_below_the_data_root_wherever_that_is(address, folder, monkeypatch):
    monkeypatch.setenv("COUNTERFACTORY_HOME", address)
    monkeypatch.setenv("COUNTERFACTORY_CALLS", "postgresql://nobody@127.0.0.1/calls")
    home = open_address(address)
    of = painter(folder).model_copy(update={"model": "painted/manifest.csv"})
    manifest = home / "painted" / "manifest.csv"
    write_atomically(home / "secret.png", png("red"))
    with asking(folder) as ask:
        with pytest.raises(ManifestError, match=f"the manifest {manifest} is not there"):
            ask(PaintRequest("A hen."), of=of)
        rows = "A hen.,0,more/hen.png\nA cow.,0,gone.png\nA secret.,0,../secret.png\n"
        write_atomically(manifest, f"{HEAD}{rows}".encode())
        write_atomically(home / "painted" / "more" / "hen.png", png("red"))
        requests = [PaintRequest(prompt) for prompt in ("A hen.", "A cow.", "A secret.")]
        hen, cow, secret = ask(*requests, of=of).outcomes
        assert isinstance(hen, AnsweredOutcome)
        assert f"{manifest}, line 3: {home}/painted/gone.png is not there" in cow.error
        assert f"{manifest}, line 4: {home}/" in secret.error
        assert f"lies outside {home}/painted: move it there" in secret.error
        assert ask(requests[0], of=of).already_stored == 1
        # What another machine has painted since is seen.
        write_atomically(home / "painted" / "more" / "hen.png", png("green"))
        write_atomically(home / "painted" / "gone.png", png("red"))
        asked = ask(*requests[:2], of=of)
        assert [type(outcome) for outcome in asked.outcomes] == [AnsweredOutcome] * 2
        assert asked.already_stored == 0
        allowing = of.model_copy(update={"may_leave_folder": True})
        assert isinstance(ask(requests[2], of=allowing).outcomes[0], AnsweredOutcome)
