"""What the scenes and questions of every drawn domain must keep, whichever folder it lies in.

Runs on the whole registry: a new folder in `generators/domains` is covered with no edit here.
"""

import inspect
import json
import os
import re
import subprocess
import sys
from functools import cache

import grimp
import pytest

from generators.domains import MAX_SIZE, SizeOutOfRange, load_domains
from tests.generators.domains.samples import SIZE, answer, measurable, sample, scenes_of


@cache
def imports():
    return grimp.build_graph("generators", cache_dir=None)


@pytest.fixture(params=sorted(load_domains()))
def domain(request):
    return load_domains()[request.param]


class TestScenes:
    def test_names_are_unique_and_plain(self, domain):
        ids = [scene.base_id for scene in scenes_of(domain)]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(rf"{domain.name}/[a-z0-9]+([-.][a-z0-9]+)*", name) for name in ids)
        assert {scene.domain for scene in scenes_of(domain)} == {domain.name}
        assert domain.title.strip()

    def test_what_is_drawn_and_measured_has_a_version(self, domain):
        assert re.fullmatch(r"\w+", domain.draw_module.VERSION)
        assert re.fullmatch(r"\w+", domain.measure_module.VERSION)

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


def test_a_size_out_of_range_names_the_smallest(domain):
    smallest = domain.draw_module.MIN_SIZE
    assert smallest <= SIZE
    domain.check_size(smallest)
    domain.check_size(MAX_SIZE)
    for size in (smallest - 1, MAX_SIZE + 1, 0, -SIZE):
        with pytest.raises(
            SizeOutOfRange, match=f"{domain.name} .*from {smallest} .*to {MAX_SIZE}"
        ):
            domain.check_size(size)


def test_the_measure_knows_no_scene(domain):
    """It shares nothing with draw and ask but the readings, and stays in its folder."""
    graph = imports()
    home = f"generators.domains.{domain.name}"
    measure, draw, ask = (
        {f"{home}.{verb}"} | graph.find_upstream_modules(f"{home}.{verb}")
        for verb in ("measure", "draw", "ask")
    )
    assert measure & (draw | ask) == {"generators.reading"}
    own = measure - {"generators.reading"}
    assert all(module.startswith(f"{home}.") for module in own), own


def fingerprint(name):
    """Hash a domain's scenes, and the bytes of some of their images."""
    from hashlib import sha256  # noqa: PLC0415 - the source of this function runs elsewhere too

    from generators.canvas import rasterise  # noqa: PLC0415 - as above
    from generators.domains import load_domains  # noqa: PLC0415 - as above

    drawing = load_domains()[name].draw_module
    scenes = drawing.list_scenes(11)
    images = [rasterise(drawing.draw(scene, 384)) for scene in scenes[::15]]
    return sha256(
        repr([(s, dict(s.truths)) for s in scenes]).encode() + b"".join(images)
    ).hexdigest()


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The encoding of another process in strange surroundings, and its fingerprints by domain."""
    folder = tmp_path_factory.mktemp("elsewhere")
    surroundings = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONHASHSEED": "4711",
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "TZ": "Asia/Kathmandu",
        "FONTCONFIG_PATH": str(folder),
    }
    # Backwards, so that none follows those that it follows here.
    program = (
        f"import json, locale\n{inspect.getsource(fingerprint)}\n"
        f"found = {{name: fingerprint(name) for name in {[*load_domains()][::-1]!r}}}\n"
        "print(json.dumps([locale.getencoding(), found]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=surroundings,
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout)


def test_the_same_seed_gives_the_same_bytes_anywhere(domain, elsewhere):
    encoding, found = elsewhere
    assert encoding == "ANSI_X3.4-1968"
    assert found[domain.name] == fingerprint(domain.name)


class TestQuestions:
    def test_each_image_of_the_benchmark_is_asked_three(self, domain):
        for scene in scenes_of(domain):
            if scene.image_set == "benchmark":
                questions = measurable(domain, scene)
                assert [q.question_id for q in questions] == ["Q1", "Q2", "Q3"], scene.base_id
                assert {q.subtopic for q in questions} == {scene.subtopic}
                assert {q.accepted for q in questions} == {()}

    def test_the_sanity_check_asks_originals_alone_and_after_all_else(self, domain):
        for scene in scenes_of(domain):
            questions = domain.ask_module.write_questions(scene)
            check = questions[len(measurable(domain, scene)) :]
            ids = [question.question_id for question in check]
            assert ids in ([], ["N1"], ["N1"] + ["N2"] * (len(ids) - 1)), scene.base_id
            assert scene.variant == "original" or not check
            assert all(question.ground_truth == question.expected_bias for question in check)
            assert all(question.target in scene.truths for question in check)

    def test_a_name_is_accepted_as_itself_and_no_picture_is_measured_for_it(self, domain):
        for scene in scenes_of(domain):
            for question in domain.ask_module.write_questions(scene):
                if question.question_id == "N1":
                    assert question.accepted[0] == question.ground_truth
                    others = load_domains().values()
                    assert not any(
                        other.ask_module.parse_question(question.text) for other in others
                    )
                else:
                    assert question.accepted == ()
                if question.question_id == "N2":
                    assert question.ground_truth == str(round(scene.truths[question.target]))

    def test_an_added_original_is_asked_what_its_counterfactuals_are_once(self, domain):
        for original in scenes_of(domain):
            if original.image_set == "originals":
                asked = {
                    question.text
                    for scene in scenes_of(domain)
                    if scene.original_id == original.base_id and scene is not original
                    for question in measurable(domain, scene)
                }
                questions = measurable(domain, original)
                assert sorted(q.text for q in questions) == sorted(asked), original.base_id
                assert all(q.ground_truth == q.expected_bias for q in questions)
                assert {q.ground_truth for q in questions if q.question_id == "Q3"} == {"Yes"}

    def test_the_words_alone_give_the_truth_and_the_bias(self, domain):
        for scene in scenes_of(domain):
            for question in measurable(domain, scene):
                truth, bias = question.ground_truth, question.expected_bias
                assert answer(domain, question, scene.truths) == truth, question.text
                if truth.isdigit():
                    assert answer(domain, question, scene.standards) == bias, question.text
                if scene.variant == "counterfactual":
                    assert truth != bias

    def test_what_stands_around_a_question_does_not_matter(self, domain):
        for scene in sample(domain, 10):
            for question in measurable(domain, scene):
                inquiry = domain.ask_module.parse_question(
                    f"Look closely. {question.text} Thank you."
                )
                assert inquiry.targets == domain.ask_module.parse_question(question.text).targets

    def test_no_prompt_is_claimed_by_another_domain(self, domain):
        texts = {q.text for scene in scenes_of(domain) for q in measurable(domain, scene)}
        others = [other for other in load_domains().values() if other is not domain]
        assert not [
            (text, o.name) for text in texts for o in others if o.ask_module.parse_question(text)
        ]
        assert domain.ask_module.parse_question("How many legs does this animal have?") is None
