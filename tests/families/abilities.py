"""What judges are used for, by the code that users run: from an entry of models.yaml on."""

from pathlib import Path

from resources.attacks.attack import EncoderAttack
from resources.models.backends import build_backend
from resources.models.requests import get_request_kind
from resources.models.weights import find_weights
from resources.storage.image_store import ImageStore
from resources.training.base_model import require_targets
from resources.training.recipe import TuningRecipe
from resources.training.worker import ADAPTER, train
from tests.resources.attacks import encoders
from tests.resources.attacks.encoders import picture, work
from tests.resources.models.backends.local_models import Pictures, answers, entry
from tests.resources.training.small import job

SIZES = ((40, 40), (32, 72), (70, 40), (60, 90))
PICTURES = Pictures(*(picture(*size, seed) for seed, size in enumerate(SIZES)))
NAMES = tuple(PICTURES)
"""Pictures of several sizes, by their names in requests."""


def ask(folder, *requests, **parameters):
    """The replies to requests, made together."""
    backend = build_backend(entry("transformers", folder, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(one), one) for one in requests))


def tune(base, folder):
    """The folder of an adapter that two steps of fine-tuning made."""
    images = ImageStore(root=str(folder))
    rows = [
        {"case_id": str(n), "question": "Is there a bird?", "answer": answer}
        | {"sha256": images.put(PICTURES[NAMES[n]])}
        for n, answer in enumerate(["{Yes}", "{No}", "Yes, a bird", "{No}"])
    ]
    recipe = TuningRecipe(
        base=str(base),
        rank=4,
        alpha=8,
        steps=2,
        learning_rate=1e-2,
        per_device_batch_size=2,
        gradient_accumulation_steps=1,
    )
    require_targets(find_weights(Path(base)), recipe)
    told = job(folder, base, rows, kind="tuning", recipe=recipe)
    Path(told.folder).mkdir(parents=True)
    train(told)
    return str(Path(told.folder, ADAPTER))


def attack(folder):
    """What an attack makes of a picture."""
    encoder = EncoderAttack(encoders.entry(folder), None)
    return encoder.attack([work(PICTURES[NAMES[0]])], lambda *progress: None)[0]
