"""Drawing as two machines do it at once, each in a process of its own."""

import json
import sys
import time
from contextlib import closing
from pathlib import Path

from PIL import Image

from assets.kit.pictures import draw_missing_pictures
from generators.tiles import encode_png
from resources.execution import work_loop
from resources.storage import work_claims
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

SLOW_S = 0.02


def draw(job):
    """A picture of a number; notes that it was drawn in a file."""
    log, number = job
    with Path(log).open("a") as file:
        file.write(f"{number}\n")
    time.sleep(SLOW_S)
    return encode_png(Image.new("RGB", (2, 2), (number % 256, number // 256, 0)))


def draw_all(home, url, folder, count):
    """The sha256 of each picture by number, of a home that shares server and pictures."""
    log, works = str(Path(folder, "drawn")), {number: f"{number:064}" for number in range(count)}
    with closing(WorkCache(root=str(home), calls_url=url)) as work_cache:
        images = ImageStore(root=str(folder))
        return draw_missing_pictures(works, lambda number: (log, number), draw, images, work_cache)


def read_log(folder):
    """The numbers that were drawn, in all processes."""
    return list(map(int, Path(folder, "drawn").read_text().split()))


def main():
    """Draw as the program's arguments say, and write what was drawn."""
    home, url, folder, count, lease, shift = sys.argv[1:]
    work_loop._FIRST_CHUNK = work_loop._LARGEST_CHUNK = 10
    work_claims.LEASE_S = float(lease)
    true_time = time.time
    time.time = lambda: true_time() + float(shift)
    drawn = draw_all(home, url, folder, int(count))
    sys.stdout.write(json.dumps([drawn.done, drawn.results]))
