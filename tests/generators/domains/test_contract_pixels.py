"""What the pictures of every drawn domain must keep, and what is read back from them.

Runs on the whole registry: a new folder in `generators/domains` is covered with no edit here.
"""

import io
import re
import struct
import xml.etree.ElementTree as ET
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from generators.canvas import pixels_of, rasterise
from generators.domains import domains
from generators.reading import Unreadable
from tests.generators.domains.samples import (
    DISTURBANCES,
    SIZE,
    assert_reads_as_drawn,
    png_of,
    sample,
    scenes_of,
)


@pytest.fixture(params=sorted(domains()))
def domain(request):
    return domains()[request.param]


class TestPictures:
    def test_the_longer_side_is_the_size_asked_for(self, domain):
        smallest = domain.drawing.SMALLEST
        for number, scene in sample(domain, 25):
            for size in (smallest, 501, 768):
                svg = ET.fromstring(domain.drawing.draw(scene, size))
                width, height = int(svg.get("width")), int(svg.get("height"))
                assert max(width, height) == size, scene.base_id
            pixels = pixels_of(png_of(domain, number))
            assert max(pixels.shape[:2]) == SIZE
            assert pixels.shape[1] / pixels.shape[0] == pytest.approx(width / height, rel=0.02)

    def test_nothing_is_taken_from_outside_the_svg(self, domain):
        for _, scene in sample(domain, 10):
            svg = domain.drawing.draw(scene, SIZE)
            used = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
            assert not used & {"text", "tspan", "image", "foreignObject", "style", "script"}
            assert not re.search(r'href="(?!#)|url\((?!#)|font-', svg)

    def test_images_are_opaque_and_carry_nothing_else(self, domain):
        for number, _ in sample(domain, 25):
            png = png_of(domain, number)
            with Image.open(io.BytesIO(png)) as image:
                assert image.mode in {"RGB", "RGBA"}
                assert np.asarray(image.convert("RGBA"))[..., 3].min() == 255
            assert png[24] == 8, "bits a channel"
            assert set(chunks(png)) == {"IHDR", "IDAT", "IEND"}

    def test_no_two_scenes_share_their_pixels(self, domain):
        scenes = scenes_of(domain)
        distinct = {pixels_of(png_of(domain, i)).tobytes() for i in range(len(scenes))}
        assert len(distinct) == len(scenes)

    def test_an_independent_renderer_gives_the_same_picture(self, domain):
        render = import_module("cairosvg").svg2png
        for number, scene in sample(domain, 25):
            svg = domain.drawing.draw(scene, SIZE)
            other = pixels_of(render(bytestring=svg.encode(), background_color="white"))
            difference = np.abs(pixels_of(png_of(domain, number)).astype(int) - other)
            assert difference.mean() < 2, scene.base_id
            assert (difference.max(axis=2) > 96).mean() < 0.001, scene.base_id


def chunks(png):
    """The names of a PNG's chunks."""
    at = 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        yield name.decode()
        at += 12 + length


class TestReading:
    @pytest.mark.parametrize("level", [0, 128, 255])
    def test_an_image_of_nothing_is_unreadable(self, domain, level):
        blank = np.full((SIZE, SIZE, 3), level, dtype=np.uint8)
        for target in {target for scene in scenes_of(domain) for target in scene.truths}:
            with pytest.raises(Unreadable, match=r"\w+"):
                domain.measuring.measure(blank, [target])

    def test_an_unknown_target_is_never_a_number(self, domain):
        with pytest.raises(Unreadable, match="unicorns"):
            domain.measuring.measure(pixels_of(png_of(domain, 0)), ["unicorns"])

    def test_a_picture_of_something_else_is_found_out(self, domain):
        """Swap a counterfactual and its original: each reads as what it is, not as it is called."""
        numbers = {scene.base_id: i for i, scene in enumerate(scenes_of(domain))}
        for number, scene in sample(domain, 8):
            claims = {
                number: scene.standards[scene.target],
                numbers[scene.original_id]: scene.truths[scene.target],
            }
            least = abs(scene.truths[scene.target] - scene.standards[scene.target]) / 2
            for shown, claimed in claims.items():
                [reading] = domain.measuring.measure(
                    pixels_of(png_of(domain, shown)), [scene.target]
                )
                assert abs(reading - claimed) >= least, scene.base_id

    def test_pictures_read_as_drawn(self, domain):
        for number, scene in enumerate(scenes_of(domain)):
            pixels = pixels_of(png_of(domain, number))
            pixels.setflags(write=False)
            assert_reads_as_drawn(domain, pixels, scene)

    def test_pictures_of_another_seed_and_size_read_as_drawn(self, domain):
        for scene in scenes_of(domain, seed=2)[::20]:
            svg = domain.drawing.draw(scene, 600)
            assert_reads_as_drawn(domain, pixels_of(rasterise(svg)), scene)

    def test_one_by_one_targets_read_the_same(self, domain):
        scenes = scenes_of(domain)
        number = max(range(len(scenes)), key=lambda i: len(scenes[i].truths))
        pixels, targets = pixels_of(png_of(domain, number)), list(scenes[number].truths)
        together = list(domain.measuring.measure(pixels, targets))
        assert [domain.measuring.measure(pixels, [target])[0] for target in targets] == together

    @pytest.mark.parametrize("disturbance", DISTURBANCES)
    def test_a_disturbed_picture_reads_as_drawn(self, domain, disturbance):
        for number, scene in sample(domain, 40):
            image = Image.fromarray(pixels_of(png_of(domain, number, 768)))
            disturbed = DISTURBANCES[disturbance](image)
            assert_reads_as_drawn(domain, np.asarray(disturbed), scene)

    def test_marks_and_gaps_are_two_pixels_wide(self, domain):
        for number, scene in sample(domain, 10):
            found = domain.measuring.legibility(pixels_of(png_of(domain, number)))
            assert min(found) >= 2, (scene.base_id, found)
