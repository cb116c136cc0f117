"""Measuring of pictures in an object store."""

import pytest

from assets.vlmbias.measurements import MeasuredPicture, measure_pictures
from generators.domains import load_domain
from generators.worker_jobs import DrawJob, draw_png
from resources.faults import CorruptItem, MissingItem
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from tests.runs import TOPIC

SIZES = (384, 400)


def test_a_picture_is_read_once_and_damage_is_noticed_also_where_a_copy_is_whole(
    s3, s3_server, tmp_path
):
    scene = load_domain(TOPIC).draw_module.list_scenes(0)[0]
    images, work_cache = ImageStore(root="s3://pictures/here"), WorkCache(root=str(tmp_path))
    pictures = {
        size: MeasuredPicture(
            sha256=images.put(draw_png(DrawJob(TOPIC, scene, size))),
            targets=(scene.target,),
            is_legibility_read=False,
        )
        for size in SIZES
    }

    def measure():
        s3_server.requests.clear()
        return measure_pictures(TOPIC, pictures, images, work_cache)

    measured = measure()
    assert (measured.done, s3_server.requests) == (2, [])  # What was drawn here has a copy here.
    again = measure()
    assert (again.done, s3_server.requests) == (0, ["GET", "GET"])
    assert again.results == measured.results

    digest = pictures[400].sha256
    name = f"here/images/{digest[:2]}/{digest}.png"
    s3.put_object(Bucket="pictures", Key=name, Body=b"\x89PNG half of it")
    with pytest.raises(CorruptItem, match=digest):
        measure()
    s3.delete_object(Bucket="pictures", Key=name)
    with pytest.raises(MissingItem, match=digest):
        measure()
