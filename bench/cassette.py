"""Exporting and importing 10,000 calls with pictures of 1 MB, each in a process of its own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.client import model_named, picture, stored_call
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from resources.calls import Call, CallStore
from resources.cassette import export_cassette, import_cassette
from resources.models.requests import LookRequest, PaintRequest, Turn, compute_call_key
from resources.storage.image_store import ImageStore

_SIDE = 660
_AT_ONCE = 500
_MODEL = model_named("bench", "openai", "judge", "painter")


def figures(calls: int = 10_000, few: int = 100, many: int = 1_000) -> Iterator[Figure]:
    """A cassette with few pictures, then with many, exported and imported into an empty root."""
    peaks = {}
    for pictures in (few, many):
        with TemporaryDirectory() as folder:
            _fill(f"{folder}/there", calls, pictures)
            for what, root in (("export", "there"), ("import", "back")):
                seconds, peaks[what, pictures] = in_a_process(
                    "bench.cassette", what, f"{folder}/{root}", f"{folder}/file"
                )
                name = f"{what} of {calls:,} calls with {pictures:,} pictures of 1 MB"
                yield Figure(name, seconds, "s", 10, f"{peaks[what, pictures]:.0f} MB")
    grown = max(peaks[what, many] - peaks[what, few] for what in ("export", "import"))
    yield Figure("memory for each further picture", 1000 * grown / (many - few), "KB", 20)


def _carry(what: str, root: str, file: str) -> tuple[float, float]:
    """Seconds to export or import a data root, and the peak memory of this process in MB."""
    Path(root).mkdir(exist_ok=True)
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls:
        keys, images = list(calls.iterate_keys()), ImageStore(root=root)
        started = perf_counter()
        if what == "export":
            export_cassette(Path(file), keys, calls, images, {})
        else:
            import_cassette(Path(file), calls, images, Path(root) / "reviews")
        seconds = perf_counter() - started
    return seconds, peak_megabytes()


def _fill(root: str, number: int, pictures: int) -> None:
    Path(root).mkdir()
    images = ImageStore(root=root)
    digests = [images.put(picture(_SIDE, each)) for each in range(pictures)]
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls:
        for start in range(0, number, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, number))
            calls.keep([_call(each, digests[each : each + 1]) for each in numbers])


def _call(number: int, painted: list[str]) -> Call:
    """A painter's call where there is a picture, else a judge's with a short answer."""
    question = f"{number}: how many legs does it have? " * 15
    if painted:
        return stored_call(_MODEL, PaintRequest(question), None, *painted)
    look = LookRequest((Turn("user", question, (compute_call_key({"number": number}),)),))
    return stored_call(_MODEL, look, "Counted one by one, these are {5}. " * 10)


if __name__ == "__main__":
    answer(_carry)
