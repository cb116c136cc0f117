"""What every drawn domain must keep, whichever folder it lies in.

Runs on the whole registry: a new folder in `generators/domains` is covered with no edit here.
"""

import inspect
import io
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache

import cairosvg
import grimp
import numpy as np
import pytest
from PIL import Image

from generators.canvas import pixels_of, rasterise
from generators.domains import LARGEST, SizeOutOfRange, domains
from generators.reading import Unreadable

SIZE = 384
"""The smallest published size, at which most is drawn here."""


@pytest.fixture(params=sorted(domains()))
def domain(request):
    return domains()[request.param]


@cache
def scenes_of(domain, seed=0):
    return domain.drawing.scenes(seed)


@cache
def png_of(domain, number, size=SIZE):
    return rasterise(domain.drawing.draw(scenes_of(domain)[number], size))


def sample(domain, step):
    """Number and scene of every so manieth scene, and of the first original."""
    scenes = scenes_of(domain)
    first_original = next(i for i, scene in enumerate(scenes) if scene.variant == "original")
    return [(i, scenes[i]) for i in sorted({*range(0, len(scenes), step), first_original})]


def read(domain, pixels, scene):
    targets = list(scene.truths)
    return dict(zip(targets, domain.measuring.measure(pixels, targets), strict=True))


def answer(domain, question, readings):
    inquiry = domain.asking.understand(question.text)
    return inquiry.answer([readings[target] for target in inquiry.targets])


def assert_reads_as_drawn(domain, pixels, scene):
    """Counts are equal, and every question is answered with its ground truth."""
    readings = read(domain, pixels, scene)
    for question in domain.asking.ask(scene):
        if question.ground_truth.isdigit():
            assert readings[question.target] == scene.truths[question.target], scene.base_id
        assert answer(domain, question, readings) == question.ground_truth, scene.base_id


class TestScenes:
    def test_names_are_unique_and_plain(self, domain):
        ids = [scene.base_id for scene in scenes_of(domain)]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(rf"{domain.name}/[a-z0-9]+([-.][a-z0-9]+)*", name) for name in ids)
        assert {scene.domain for scene in scenes_of(domain)} == {domain.name}
        assert domain.title.strip()

    def test_every_counterfactual_has_an_original_that_holds_its_target(self, domain):
        originals = {s.base_id: s for s in scenes_of(domain) if s.variant == "original"}
        for scene in scenes_of(domain):
            if scene.variant == "original":
                assert scene.original_id == scene.base_id
            else:
                assert scene.target in originals[scene.original_id].truths, scene.base_id

    def test_originals_are_as_usual_and_counterfactuals_are_not(self, domain):
        for scene in scenes_of(domain):
            assert scene.target in scene.truths
            assert scene.truths.keys() == scene.standards.keys()
            unusual = scene.truths[scene.target] != scene.standards[scene.target]
            assert unusual == (scene.variant == "counterfactual"), scene.base_id
            if scene.variant == "original":
                assert scene.truths == scene.standards

    def test_the_benchmark_comes_before_the_originals_added_to_it(self, domain):
        sets = [scene.image_set for scene in scenes_of(domain)]
        assert sets == sorted(sets)
        added = [s for s in scenes_of(domain) if s.image_set == "originals"]
        assert {s.variant for s in added} <= {"original"}

    def test_settings_are_plain_values(self, domain):
        for scene in scenes_of(domain):
            assert json.loads(json.dumps(dict(scene.settings))) == dict(scene.settings)

    def test_another_seed_keeps_the_design(self, domain):
        other = scenes_of(domain, seed=1)
        assert len(other) == len(scenes_of(domain))
        designs = [
            sorted((s.subject, s.variant, s.modification) for s in scenes)
            for scenes in (other, scenes_of(domain))
        ]
        assert designs[0] == designs[1]


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

    def test_a_size_out_of_range_names_the_smallest(self, domain):
        smallest = domain.drawing.SMALLEST
        assert smallest <= SIZE
        domain.check_size(smallest)
        domain.check_size(LARGEST)
        for size in (smallest - 1, LARGEST + 1, 0, -SIZE):
            with pytest.raises(
                SizeOutOfRange, match=f"{domain.name} .*from {smallest} .*to {LARGEST}"
            ):
                domain.check_size(size)

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
        for number, scene in sample(domain, 25):
            svg = domain.drawing.draw(scene, SIZE)
            other = pixels_of(cairosvg.svg2png(bytestring=svg.encode(), background_color="white"))
            difference = np.abs(pixels_of(png_of(domain, number)).astype(int) - other)
            assert difference.mean() < 3, scene.base_id
            assert (difference.max(axis=2) > 96).mean() < 0.01, scene.base_id


def chunks(png):
    """The names of a PNG's chunks."""
    at = 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        yield name.decode()
        at += 12 + length


def fingerprint(name):
    """Hash a domain's scenes, and the bytes of some of their images."""
    from hashlib import sha256  # noqa: PLC0415 - the source of this function runs elsewhere too

    from generators.canvas import rasterise  # noqa: PLC0415 - as above
    from generators.domains import domains  # noqa: PLC0415 - as above

    drawing = domains()[name].drawing
    scenes = drawing.scenes(11)
    images = [rasterise(drawing.draw(scene, 384)) for scene in scenes[::15]]
    return sha256(
        repr([(s, dict(s.truths)) for s in scenes]).encode() + b"".join(images)
    ).hexdigest()


def test_the_same_seed_gives_the_same_bytes_anywhere(domain, tmp_path):
    elsewhere = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONHASHSEED": "4711",
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "tr_TR.UTF-8",
        "TZ": "Asia/Kathmandu",
        "FONTCONFIG_PATH": str(tmp_path),
    }
    program = f"{inspect.getsource(fingerprint)}\nprint(fingerprint({domain.name!r}))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=elsewhere,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == fingerprint(domain.name)


class TestQuestions:
    def test_each_image_of_the_benchmark_is_asked_three(self, domain):
        for scene in scenes_of(domain):
            if scene.image_set == "benchmark":
                questions = domain.asking.ask(scene)
                assert [q.question_id for q in questions] == ["Q1", "Q2", "Q3"], scene.base_id
                assert {q.subtopic for q in questions} == {scene.subtopic}

    def test_an_added_original_is_asked_what_its_counterfactuals_are_once(self, domain):
        for original in scenes_of(domain):
            if original.image_set == "originals":
                asked = {
                    question.text
                    for scene in scenes_of(domain)
                    if scene.original_id == original.base_id and scene is not original
                    for question in domain.asking.ask(scene)
                }
                questions = domain.asking.ask(original)
                assert sorted(q.text for q in questions) == sorted(asked), original.base_id
                assert all(q.ground_truth == q.expected_bias for q in questions)
                assert {q.ground_truth for q in questions if q.question_id == "Q3"} == {"Yes"}

    def test_the_words_alone_give_the_truth_and_the_bias(self, domain):
        for scene in scenes_of(domain):
            for question in domain.asking.ask(scene):
                truth, bias = question.ground_truth, question.expected_bias
                assert answer(domain, question, scene.truths) == truth, question.text
                if truth.isdigit():
                    assert answer(domain, question, scene.standards) == bias, question.text
                if scene.variant == "counterfactual":
                    assert truth != bias

    def test_what_stands_around_a_question_does_not_matter(self, domain):
        for _, scene in sample(domain, 10):
            for question in domain.asking.ask(scene):
                inquiry = domain.asking.understand(f"Look closely. {question.text} Thank you.")
                assert inquiry.targets == domain.asking.understand(question.text).targets

    def test_no_prompt_is_claimed_by_another_domain(self, domain):
        texts = {q.text for scene in scenes_of(domain) for q in domain.asking.ask(scene)}
        others = [other for other in domains().values() if other is not domain]
        assert not [(text, o.name) for text in texts for o in others if o.asking.understand(text)]
        assert domain.asking.understand("How many legs does this animal have?") is None


class TestReading:
    def test_the_measure_knows_no_scene(self, domain):
        """It shares nothing with draw and ask but the readings, and stays in its folder."""
        graph = grimp.build_graph("generators", cache_dir=None)
        home = f"generators.domains.{domain.name}"
        measure, draw, ask = (
            {f"{home}.{verb}"} | graph.find_upstream_modules(f"{home}.{verb}")
            for verb in ("measure", "draw", "ask")
        )
        assert measure & (draw | ask) == {"generators.reading"}
        own = measure - {"generators.reading"}
        assert all(module.startswith(f"{home}.") for module in own), own

    @pytest.mark.parametrize("level", [0, 128, 255])
    def test_an_image_of_nothing_is_unreadable(self, domain, level):
        blank = np.full((SIZE, SIZE, 3), level, dtype=np.uint8)
        for target in {target for scene in scenes_of(domain) for target in scene.truths}:
            with pytest.raises(Unreadable, match=r"\w+"):
                domain.measuring.measure(blank, [target])

    def test_an_unknown_target_is_never_a_number(self, domain):
        with pytest.raises((Unreadable, LookupError), match="unicorns"):
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
        for number, scene in sample(domain, 5):
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
        pixels = pixels_of(png_of(domain, number))
        for target, reading in read(domain, pixels, scenes[number]).items():
            assert domain.measuring.measure(pixels, [target])[0] == reading

    @pytest.mark.parametrize("disturbance", ["padded", "scaled", "jpeg"])
    def test_a_disturbed_picture_reads_as_drawn(self, domain, disturbance):
        for number, scene in sample(domain, 30):
            image = Image.fromarray(pixels_of(png_of(domain, number, 768)))
            disturbed = DISTURBANCES[disturbance](image)
            assert_reads_as_drawn(domain, np.asarray(disturbed), scene)

    def test_marks_and_gaps_are_two_pixels_wide(self, domain):
        for number, scene in sample(domain, 10):
            found = domain.measuring.legibility(pixels_of(png_of(domain, number)))
            assert min(found) >= 2, (scene.base_id, found)


def _padded(image):
    padded = Image.new("RGB", (image.width + 14, image.height + 14), "white")
    padded.paste(image, (7, 7))
    return padded


def _as_jpeg(image):
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return Image.open(file).convert("RGB")


DISTURBANCES = {
    "padded": _padded,
    "scaled": lambda image: image.resize((image.width * 9 // 10, image.height * 9 // 10)),
    "jpeg": _as_jpeg,
}
