"""What judges are used for, by the code that users run: from an entry of models.yaml on."""

import io
from pathlib import Path

from PIL import Image

from resources.attacks.attack import EncoderAttack
from resources.models.backends import build_backend
from resources.models.backends.adapters import AdapterSettings
from resources.models.backends.chat_models import ChatModel
from resources.models.backends.scoring.vqa_score import QUESTION, find_yes_token
from resources.models.requests import get_request_kind
from resources.models.weights import find_weights
from resources.storage.image_store import ImageStore
from resources.training.answer_batches import IGNORED_LABEL, AnswerCollator
from resources.training.base_model import require_targets
from resources.training.recipe import RankingRecipe, TuningRecipe
from resources.training.training_rows import build_assistant_turn, build_user_turn
from resources.training.worker import ADAPTER, train
from tests.resources.attacks import encoders
from tests.resources.attacks.encoders import picture, work
from tests.resources.models.backends.local_models import Pictures, answers, entry
from tests.resources.training.small import job
from tests.tiny import torch

SIZES = ((40, 40), (32, 72), (70, 40), (60, 90))
PICTURES = Pictures(*(picture(*size, seed) for seed, size in enumerate(SIZES)))
NAMES = tuple(PICTURES)
"""Pictures of several sizes, by their names in requests."""


def ask(folder, *requests, **parameters):
    """The replies to requests, made together."""
    backend = build_backend(entry("transformers", folder, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(one), one) for one in requests))


def predict(folder, questions):
    """P(yes) as training computes it: of (text, name) with answers of several lengths, together."""
    model = entry("transformers", folder)
    speaking = ChatModel(model, None, AdapterSettings(dtype="float32"))
    rows = [
        {
            "prompt": build_user_turn(QUESTION.format(text=text)),
            "completion": build_assistant_turn("No" + n * ", it has a bird"),
            "image": Image.open(io.BytesIO(PICTURES[name])).convert("RGB"),
        }
        for n, (text, name) in enumerate(questions)
    ]
    batch = AnswerCollator(speaking)(rows)
    beginnings = (batch.pop("labels") != IGNORED_LABEL).int().argmax(1)
    with torch.no_grad():
        logits = speaking.network(**batch).logits
    yes = find_yes_token(speaking, model)
    return [
        row[begin - 1].softmax(-1)[yes].item()
        for row, begin in zip(logits, beginnings, strict=True)
    ]


QUICK = {
    "rank": 4,
    "alpha": 8,
    "learning_rate": 1e-2,
    "per_device_batch_size": 2,
    "gradient_accumulation_steps": 1,
}


def tune(base, folder):
    """The folder of an adapter that two steps of fine-tuning made."""
    images = ImageStore(root=str(folder))
    rows = [
        {"case_id": str(n), "question": "Is there a bird?", "answer": answer}
        | {"sha256": images.put(PICTURES[NAMES[n]])}
        for n, answer in enumerate(["{Yes}", "{No}", "Yes, a bird", "{No}"])
    ]
    return _train(base, folder, rows, "tuning", TuningRecipe(base=str(base), steps=2, **QUICK))


def rank(base, folder):
    """The folder of an adapter that a step of training by pairs made."""
    images = ImageStore(root=str(folder))
    correct, adversarial = (images.put(PICTURES[name]) for name in NAMES[:2])
    rows = 2 * [{"text": "a bird", "correct": correct, "adversarial": adversarial}]
    recipe = RankingRecipe(base=str(base), steps=1, num_generations=2, **QUICK)
    return _train(base, folder, rows, "ranking", recipe)


def _train(base, folder, rows, kind, recipe):
    require_targets(find_weights(Path(base)), recipe)
    told = job(folder, base, rows, kind=kind, recipe=recipe)
    Path(told.folder).mkdir(parents=True)
    train(told)
    return str(Path(told.folder, ADAPTER))


def attack(folder):
    """What an attack makes of a picture."""
    encoder = EncoderAttack(encoders.entry(folder), None)
    return encoder.attack([work(PICTURES[NAMES[0]])], lambda *progress: None)[0]
