"""Attacks on tiny models of each architecture, read off again with what transformers gives."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.resources.attacks.encoders import QUESTION, SHORT, picture, work
from tests.tiny import torch, transformers

pytestmark = pytest.mark.slow

SIZES = ((40, 64), (64, 40), (30, 33))
PICTURES = [picture(*size, seed) for seed, size in enumerate(SIZES)]


def quiet(step, similarities):
    """Nobody watches."""


@pytest.fixture(scope="module")
def plainly(folders, architecture):
    """The cosine of two pictures' embeddings, by the whole model and its whole processor."""
    folder = folders[architecture]
    processor = transformers.AutoProcessor.from_pretrained(folder)
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype="float32").eval()

    def embedded(png):
        text = QUESTION if architecture == "instructblip" else f"<image> {QUESTION}"
        image = Image.open(io.BytesIO(png))
        inputs = processor(images=image, text=text, return_tensors="pt")
        taken = ("pixel_values", "image_sizes", "qformer_input_ids", "qformer_attention_mask")
        with torch.no_grad():
            found = model.get_image_features(**{k: inputs[k] for k in taken if k in inputs})
        return torch.cat([each.flatten() for each in found.pooler_output]).numpy()

    def similarity(one, other):
        a, b = embedded(one), embedded(other)
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    return similarity


@pytest.fixture(scope="module")
def lowered(attackers, architecture):
    """By method: what came of the pictures, together."""
    attacker = attackers[architecture]
    return {
        method: attacker.attack([work(each, method) for each in PICTURES], quiet)
        for method in ("i_fgsm", "pgd")
    }


def levels(png):
    return np.asarray(Image.open(io.BytesIO(png))).astype(int)


@pytest.mark.parametrize("method", ["i_fgsm", "pgd"])
def test_the_saved_picture_is_less_alike_than_noise(lowered, plainly, method):
    for original, found in zip(PICTURES, lowered[method], strict=True):
        assert found.reason is None
        assert found.iterations == 40
        reached = plainly(original, found.png)
        assert found.similarity == pytest.approx(reached, abs=1e-5)
        chance = np.random.default_rng(7)
        noises = []
        for _ in range(5):
            noise = chance.choice([-8, 8], levels(original).shape)
            file = io.BytesIO()
            noisy = (levels(original) + noise).clip(0, 255).astype(np.uint8)
            Image.fromarray(noisy).save(file, "PNG")
            noises.append(plainly(original, file.getvalue()))
        assert reached < min(noises)
        assert found.similarity < found.noise_similarity
        assert found.noise_similarity >= 1 - 4 * (1 - min(noises))


@pytest.mark.parametrize("method", ["i_fgsm", "pgd"])
def test_no_level_changes_by_more_than_the_bound(lowered, method):
    for original, found in zip(PICTURES, lowered[method], strict=True):
        apart = np.abs(levels(original) - levels(found.png))
        assert apart.max() == found.largest_change
        assert 0 < apart.max() <= 8


def test_a_bound_between_levels_holds(attacker):
    bounded = SHORT.model_copy(update={"epsilon": 2.7})
    (found,) = attacker.attack([work(PICTURES[0], parameters=bounded)], quiet)
    assert np.abs(levels(PICTURES[0]) - levels(found.png)).max() == found.largest_change == 2


@pytest.mark.parametrize("method", ["i_fgsm", "pgd"])
def test_where_it_hallucinates_the_similarity_rises(attacker, plainly, method):
    patient = SHORT.model_copy(update={"raising_iterations": 60, "step": 0.3})
    found = attacker.attack([work(PICTURES[2], method, "raise", patient)], quiet)[0]
    assert found.reason is None
    assert found.similarity > found.noise_similarity
    assert found.similarity == pytest.approx(plainly(PICTURES[2], found.png), abs=1e-5)
    assert found.largest_change >= 1


def test_a_raised_one_stops_early(attacker):
    gentle = SHORT.model_copy(update={"early_stop": 0.9})
    work_on = [work(PICTURES[2], "pgd", "raise", gentle)]
    (found,) = attacker.attack(work_on, quiet)
    assert 0 < found.iterations < SHORT.raising_iterations
    gentle = SHORT.model_copy(update={"early_stop": 0.0})
    (found,) = attacker.attack([work(PICTURES[2], "pgd", "raise", gentle)], quiet)
    assert found.iterations == SHORT.raising_iterations


def test_the_same_work_gives_the_same_picture_and_another_seed_another(attacker):
    both = [work(PICTURES[0]), work(PICTURES[0], seed="1")]
    once = attacker.attack(both, quiet)
    assert attacker.attack(both, quiet) == once
    assert once[0].png != once[1].png


def test_the_others_of_a_batch_hardly_matter(attacker, lowered):
    for original, together in zip(PICTURES, lowered["pgd"], strict=True):
        (alone,) = attacker.attack([work(original, "pgd")], quiet)
        assert alone.noise_similarity == pytest.approx(together.noise_similarity, abs=1e-5)
        gap = 1 - together.similarity
        assert 1 - alone.similarity == pytest.approx(gap, rel=0.1)


def test_who_watches_sees_the_similarity_fall(attacker):
    seen = []
    attacker.attack([work(PICTURES[0])], lambda step, similarities: seen.append(similarities))
    assert len(seen) == 40
    assert seen[-1][0] < seen[0][0]


def test_the_question_matters_to_who_sees_it(attackers):
    for name, attacker in attackers.items():
        asked = [
            attacker.attack([work(PICTURES[0], question=each)], quiet)[0]
            for each in (QUESTION, "how many cat ?")
        ]
        assert attacker.sees_question == (name == "instructblip")
        assert (asked[0].png != asked[1].png) == attacker.sees_question
