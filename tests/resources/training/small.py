"""Small trainings: pairs of red and blue pictures, and a model that does not tell them apart."""

import asyncio
import io
from itertools import cycle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from resources.models.backends import build_backend
from resources.models.backends.scoring.expected_score import PROMPT
from resources.models.catalog import Model
from resources.models.requests import ScoreRequest
from resources.models.weights import find_weights
from resources.storage.image_store import ImageStore
from resources.training.job import TrainingBase, TrainingJob, build_terms
from resources.training.recipe import TARGETS, RankingRecipe
from tests import tiny

TEXT = "a red thing"
QUICK = {
    "learning_rate": 1e-2,
    "gradient_checkpointing": False,
    "gradient_accumulation_steps": 1,
    "per_device_batch_size": 4,
}
"""What suits 69,000 weights."""


def shown(side, lot):
    """A noisy picture, more red than blue if it is the correct one."""
    noise = lot.integers(0, 256, (4, 4, 3)) * 0.7 + 38
    pixels = np.clip(noise + np.array([45, 0, -45]) * (1 if side == "correct" else -1), 0, 255)
    return Image.fromarray(pixels.astype(np.uint8)).resize((16, 16), Image.Resampling.NEAREST)


def png(image):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def pairs(root, number, seed=0):
    """So many pairs, their pictures stored below `root`."""
    lot, images = np.random.default_rng(seed), ImageStore(root=str(root))
    return [
        {"text": TEXT, **{side: images.put(png(shown(side, lot))) for side in SIDES}}
        for _ in range(number)
    ]


SIDES = ("correct", "adversarial")


def save_base(folder, seed=0):
    """The model that is adapted."""
    lot = np.random.default_rng(1000 + seed)
    pictures = [[shown(side, lot) for _ in range(50)] for side in SIDES]
    return tiny.save_scorer(folder, PROMPT.format(text=TEXT), pictures, seed=seed)


def job(root, base, rows, *, kind="ranking", recipe=None, name="small"):
    """A job on these rows below `root`."""
    recipe = recipe or RankingRecipe(base=str(base), target_modules=TARGETS, **QUICK)
    found = TrainingBase(str(base), None, find_weights(Path(base)).digest)
    path = Path(root, "rows.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    told = recipe.model_dump()
    folder = Path(root, "training", build_terms(kind, found.sha256, told, "0", 1).digest)
    return TrainingJob(name, kind, found, told, str(path), "0", str(root), str(folder))


def failure_rate(root, base, held_out, formula="expected_score", **parameters):
    """The share of held-out pairs that a metric misranks, and how many it could score."""
    found = scores(root, base, held_out, formula, **parameters)
    both = [two for two in zip(found[::2], found[1::2], strict=True) if None not in two]
    return sum(other >= right for right, other in both) / len(both), len(both)


def scores(*asked, **parameters):
    """What a metric gives the pictures of pairs: the correct one, then the other; None for none."""
    return [reply.score for reply in replies(*asked, **parameters)]


def replies(root, base, held_out, formula="expected_score", **parameters):
    """What a metric replies about the pictures of pairs: the correct one, then the other."""
    terms = {"formula": formula, "batch": 20, **parameters}
    entry = Model(
        name="tiny",
        backend="transformers",
        family="tiny",
        roles=("metric",),
        model=str(base),
        parameters=terms,
    )
    backend = build_backend(entry, None, ImageStore(root=str(root)).get)

    async def ask():
        asked = [ScoreRequest(pair["text"], pair[side]) for pair in held_out for side in SIDES]
        try:
            return await asyncio.gather(*map(backend.score, asked))
        finally:
            await backend.aclose()

    return asyncio.run(ask())


QUESTION = "Is it a red thing? Answer in curly brackets, e.g., {Yes} or {No}."
ANSWERS = {"correct": "{Yes}", "adversarial": "{No}"}


def save_talker(folder):
    """A model that is fine-tuned on answers.

    As that of LLaVA-1.5, its chat template writes neither the token that begins a text, which its
    tokenizer adds, nor the one that ends an answer.
    """
    tiny.save_llava(folder, words=f"{QUESTION} USER: ASSISTANT: {{Yes}} {{No}}")
    processor = tiny.transformers.AutoProcessor.from_pretrained(folder)
    processor.chat_template = tiny.CHAT.removeprefix("{{ bos_token }}")
    processor.tokenizer.add_bos_token = True
    processor.tokenizer.update_post_processor()
    processor.save_pretrained(folder)
    return folder


def questions(root, number):
    """So many questions about red and blue pictures in turn, with their answers."""
    lot, images = np.random.default_rng(0), ImageStore(root=str(root))
    return [
        {"case_id": f"{side} {n}", "question": QUESTION, "answer": ANSWERS[side]}
        | {"sha256": images.put(png(shown(side, lot)))}
        for n, side in zip(range(number), cycle(SIDES), strict=False)
    ]


def in_memory(done):
    """The rows of a job as TRL's examples have them: with their pictures, opened before."""
    images = ImageStore(root=done.images)

    def row(asked, sha256, **more):
        said = {name: [{"role": "assistant", "content": of}] for name, of in more.items()}
        picture = Image.open(io.BytesIO(images.get(sha256)))
        return {"prompt": [{"role": "user", "content": asked}], "image": picture, **said}

    rows = pq.read_table(done.rows_file).to_pylist()
    if done.kind == "tuning":
        return [row(each["question"], each["sha256"], completion=each["answer"]) for each in rows]
    return [
        {**row(PROMPT.format(text=pair["text"]), pair[side]), "side": side}
        for pair in rows
        for side in SIDES
    ]


def plain_reward(completions, side, **others):
    """A reward on a batch: a high digit for what is correct, a low one for the others."""
    said = [completion[0]["content"].strip() for completion in completions]
    digits = [int(text) if text in "0123456789" and text else None for text in said]
    return [
        -1.0 if digit is None else (digit if of == "correct" else 9 - digit) / 9
        for digit, of in zip(digits, side, strict=True)
    ]


def accelerate_config(root, number):
    """What `accelerate config` writes for so many processes of this machine, without a GPU."""
    path = Path(root, "accelerate.yaml")
    path.write_text(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_CPU\nuse_cpu: true\n"
        "num_machines: 1\nmachine_rank: 0\nmixed_precision: 'no'\n"
        f"num_processes: {number}\nmain_process_port: {29500 + number}\n"
    )
    return path
