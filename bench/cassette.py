"""Exporting and importing 10,000 calls with pictures of 1 MB, each in a process of its own."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np
from PIL import Image

from bench.machine import peak_megabytes
from resources.calls import Call, CallStore
from resources.cassette import export_cassette, import_cassette
from resources.images import ImageStore
from resources.models.catalog import Model
from resources.models.requests import Look, Paint, Turn, call_key, canonical_of, kind_of

CALLS, PICTURES, FEW = 10_000, 1_000, 100
_SIDE = 660
_AT_ONCE = 500
_MODEL = Model(name="b", backend="openai", model="bench", family="b", roles=("judge", "painter"))


class Trip(NamedTuple):
    """Seconds and peak memory in MB of exporting, and of importing into an empty data root."""

    pictures: int
    exported: float
    export_peak: float
    imported: float
    import_peak: float


def trips(calls: int = CALLS, pictures: tuple[int, ...] = (FEW, PICTURES)) -> Iterator[Trip]:
    """A trip with each number of pictures."""
    for number in pictures:
        with TemporaryDirectory() as folder:
            there, back, file = (str(Path(folder) / name) for name in ("there", "back", "file"))
            _in_a_process("fill", there, str(calls), str(number))
            exported = _in_a_process("export", there, file)
            imported = _in_a_process("import", back, file)
        yield Trip(number, *exported, *imported)


def _in_a_process(*arguments: str) -> tuple[float, float]:
    command = [sys.executable, "-m", "bench.cassette", *arguments]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, peak = json.loads(told)
    return float(seconds), float(peak)


def _measured(what: str, root: str, *arguments: str) -> tuple[float, float]:
    """Do one thing with a data root: its seconds, and the peak memory of this process in MB."""
    images = ImageStore(root=root)
    Path(root).mkdir(exist_ok=True)
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls:
        keys = list(calls.all_keys())
        started = perf_counter()
        if what == "fill":
            _fill(calls, images, *map(int, arguments))
        elif what == "export":
            export_cassette(Path(arguments[0]), keys, calls, images, {})
        else:
            import_cassette(Path(arguments[0]), calls, images, Path(root) / "reviews")
        seconds = perf_counter() - started
    return seconds, peak_megabytes()


def _fill(calls: CallStore, images: ImageStore, number: int, pictures: int) -> None:
    digests = [images.put(_png()) for _ in range(pictures)]
    for start in range(0, number, _AT_ONCE):
        numbers = range(start, min(start + _AT_ONCE, number))
        calls.keep([_call(each, digests[each : each + 1]) for each in numbers])


def _png() -> bytes:
    """About 1 MB, which shrinks by a quarter as photographs do."""
    noise = np.frombuffer(os.urandom(_SIDE * _SIDE * 3), np.uint8) & 0x3F
    png = io.BytesIO()
    Image.fromarray(noise.reshape(_SIDE, _SIDE, 3)).save(png, "PNG", compress_level=1)
    return png.getvalue()


def _call(number: int, painted: list[str]) -> Call:
    """A painter's call where there is a picture, else a judge's with a short answer."""
    question = f"{number}: how many legs does it have? " * 15
    look = Look((Turn("user", question, (call_key({"number": number}),)),))
    request = canonical_of(_MODEL, Paint(question) if painted else look)
    text = None if painted else "Counted one by one, these are {5}. " * 10
    return Call(
        key=call_key(request),
        backend=_MODEL.backend,
        model=_MODEL.model,
        kind=kind_of(Paint(question) if painted else look),
        request=request,
        answer={"outcome": "answered", "text": text, "images": painted, "score": None},
        served_model="bench-2026",
        input_tokens=900,
        output_tokens=60,
        seconds=1.5,
        mode="online",
        finished_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measured(*sys.argv[1:])))
