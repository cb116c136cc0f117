"""What the pictures of every drawn domain must keep, and what is read back from them.

Runs on the whole registry: a new folder in `generators/domains` is covered with no edit here.
"""

import io
import re
import struct
import xml.etree.ElementTree as ET
from collections import defaultdict
from hashlib import sha256
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from generators.canvas import decode_png
from generators.domains import load_domain, load_domains, load_isolated_domains
from generators.isolation import SUFFIX
from generators.reading import Unreadable
from tests.generators.domains.samples import (
    DISTURBANCES,
    SIZE,
    assert_reads_as_drawn,
    legibility,
    picture,
    png_of,
    readings,
    sample,
    scenes_of,
)

ISOLATED = [f"{name}{SUFFIX}" for name in load_isolated_domains()]


@pytest.fixture(
    params=[*load_domains(), *(pytest.param(name, marks=pytest.mark.slow) for name in ISOLATED)]
)
def domain(request):
    return load_domain(request.param)


RELEASED = {
    "chess_pieces": "26e7a7aa7c85e2c9599066eb47146bc4d46a026970dd07b5f1a64a760a8296bf",
    "flags": "47283f7a605ddc8f8872ee7bbc93d8261d713ee52589444925bf747b7987da61",
    "game_boards": "e3c3b9451bea96c24cb6da66998c3b37e07f7b496c4f24bac53d91c03cd15188",
    "optical_illusions": "0cd0b48e4fc09f1b644972d7dc8300b4c5b3fbd439e05c1774351437ea48bb00",
    "patterned_grids": "0bbe087721348d0835775a15de1e3221f128fc60c9001360357931f231c7d7e8",
}
RELEASED |= {
    f"{name}{SUFFIX}": digest
    for name, digest in {
        "chess_pieces": "bee2f36ebf593347476773fb01d2e85d5680e58196d4707549e5048e63b87440",
        "flags": "d400f4a1b4fc648bbd0ec562e05d30f2f037fe1ef94331b7299c645769bb92c7",
        "game_boards": "e1be7b89e57274ae9f54bd192640f947a4e3db7b4e81dd9f12560a212f3cd986",
        "optical_illusions": "85d3ddf7c09240c34d6aa9b3fd22bc2ef983cf20c168ba2b629b58313470bcb9",
        "patterned_grids": "5d190bf1e00a1f6a4463aa3fb374b7b164596a290d315388360371f761f49467",
    }.items()
}
"""sha256 of all PNGs of a domain as they were first released, one after the other."""


class TestPictures:
    def test_all_are_what_was_released(self, domain):
        digest = sha256(b"".join(map(png_of, scenes_of(domain)))).hexdigest()
        assert digest == RELEASED.get(domain.name, digest)

    def test_the_longer_side_is_the_size_asked_for(self, domain):
        smallest = domain.draw_module.MIN_SIZE
        for scene in sample(domain, 25):
            for size in (smallest, 501, 768):
                svg = ET.fromstring(domain.draw_module.draw(scene, size))
                width, height = int(svg.get("width")), int(svg.get("height"))
                assert max(width, height) == size, scene.base_id
            pixels = picture(scene)
            assert max(pixels.shape[:2]) == SIZE
            assert pixels.shape[1] / pixels.shape[0] == pytest.approx(width / height, rel=0.02)

    def test_nothing_is_taken_from_outside_the_svg(self, domain):
        for scene in sample(domain, 10):
            svg = domain.draw_module.draw(scene, SIZE)
            used = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
            assert not used & {"text", "tspan", "image", "foreignObject", "style", "script"}
            assert not re.search(r'href="(?!#)|url\((?!#)|font-', svg)

    def test_images_are_opaque_and_carry_nothing_else(self, domain):
        for scene in sample(domain, 25):
            png = png_of(scene)
            with Image.open(io.BytesIO(png)) as image:
                assert image.mode in {"RGB", "RGBA"}
                assert np.asarray(image.convert("RGBA"))[..., 3].min() == 255
            assert png[24] == 8, "bits a channel"
            assert set(chunks(png)) == {"IHDR", "IDAT", "IEND"}

    def test_no_two_scenes_share_their_pixels(self, domain):
        """But isolated, where what told them apart is left out: then they show the same."""
        labels = defaultdict(list)
        for scene in scenes_of(domain):
            pixels = picture(scene)
            labels[pixels.shape, sha256(pixels).digest()].append(scene.truths)
        shared = [truths for truths in labels.values() if len(truths) > 1]
        assert not shared or domain.name.endswith(SUFFIX)
        assert all(truth == truths[0] for truths in shared for truth in truths)

    def test_an_independent_renderer_gives_the_same_picture(self, domain):
        render = import_module("cairosvg").svg2png
        for scene in sample(domain, 25):
            svg = domain.draw_module.draw(scene, SIZE)
            other = decode_png(render(bytestring=svg.encode(), background_color="white"))
            difference = np.abs(picture(scene).astype(int) - other)
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
                domain.measure_module.measure(blank, [target])

    def test_an_unknown_target_is_never_a_number(self, domain):
        with pytest.raises(Unreadable, match="unicorns"):
            domain.measure_module.measure(picture(scenes_of(domain)[0]), ["unicorns"])

    def test_a_picture_of_something_else_is_found_out(self, domain):
        """Swap a counterfactual and its original: each reads as what it is, not as it is called."""
        by_id = {scene.base_id: scene for scene in scenes_of(domain)}
        for scene in scenes_of(domain):
            truth, standard = scene.truths[scene.target], scene.standards[scene.target]
            pairs = [(scene, standard)]
            if original := by_id.get(scene.original_id):
                pairs.append((original, truth))
            for shown, claimed in pairs:
                off = abs(readings(shown)[scene.target] - claimed)
                assert off >= abs(truth - standard) / 2, scene.base_id

    def test_pictures_read_as_drawn(self, domain):
        for scene in scenes_of(domain):
            assert_reads_as_drawn(domain, scene, readings(scene))

    def test_pictures_of_another_seed_and_size_read_as_drawn(self, domain):
        for scene in scenes_of(domain, seed=2)[::20]:
            assert_reads_as_drawn(domain, scene, readings(scene, 600))

    def test_one_by_one_targets_read_the_same(self, domain):
        scenes = scenes_of(domain)
        scene = max(scenes, key=lambda scene: len(scene.truths))
        pixels, targets = picture(scene), list(scene.truths)
        together = list(domain.measure_module.measure(pixels, targets))
        assert [
            domain.measure_module.measure(pixels, [target])[0] for target in targets
        ] == together

    @pytest.mark.parametrize("disturbance", DISTURBANCES)
    def test_a_disturbed_picture_reads_as_drawn(self, domain, disturbance):
        for scene in sample(domain, 40):
            disturbed = DISTURBANCES[disturbance](Image.fromarray(picture(scene, 768)))
            targets = list(scene.truths)
            found = domain.measure_module.measure(np.asarray(disturbed), targets)
            assert_reads_as_drawn(domain, scene, dict(zip(targets, found, strict=True)))

    def test_marks_and_gaps_are_two_pixels_wide(self, domain):
        for scene in scenes_of(domain):
            assert min(legibility(scene)) >= 2, scene.base_id
