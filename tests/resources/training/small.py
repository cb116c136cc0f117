"""Small trainings: pairs of red and blue pictures, and a model that does not tell them apart."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from resources.images import ImageStore
from resources.models.backends.scoring.expected import PROMPT
from resources.models.weights import weights_in
from resources.training.job import Base, Job, digest_of
from resources.training.recipe import TARGETS, RankingRecipe
from tests import tiny

TEXT = "a red thing"
QUICK = {"learning_rate": 1e-2, "save_memory": False, "accumulate": 1, "at_once": 4}
"""What suits 173,000 weights."""


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
    recipe = recipe or RankingRecipe(base=str(base), targets=TARGETS, **QUICK)
    found = Base(str(base), None, weights_in(Path(base)).digest)
    path = Path(root, "rows.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    folder = Path(root, "training", digest_of(kind, found, recipe, "0"))
    return Job(name, kind, found, recipe.model_dump(), str(path), "0", str(root), str(folder))
