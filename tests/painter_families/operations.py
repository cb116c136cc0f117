"""What tests do with a family's folder, in a process that may be another: see `beside`."""

import inspect
import io

import numpy as np
from PIL import Image

from resources.models.backends import build_backend
from resources.models.requests import get_request_kind
from tests.painter_families import EDITED_SIDE
from tests.resources.models.backends.local_models import Pictures, answers, entry, picture
from tests.tiny import diffusers, torch

PICTURES = Pictures(*(picture(colour, (EDITED_SIDE,) * 2) for colour in ("red", "blue")))
RED, BLUE = PICTURES
SEED = 7


def make(folder, requests, parameters):
    """The replies of a backend made for these requests alone."""
    backend = build_backend(entry("diffusers", folder, **parameters), None, PICTURES)
    return answers(backend, *((get_request_kind(request), request) for request in requests))


def paint_by_hand(folder, prompt, parameters):
    """The class of the family's own pipeline, and the pixels that it paints."""
    pipeline = _load(folder)
    return type(pipeline).__name__, _call(pipeline, prompt=prompt, **parameters)


def edit_by_hand(folder, prompt, parameters):
    """The pixels that the family's own pipeline makes of the red picture."""
    pipeline = _load(folder)
    if "image" not in _list_arguments(pipeline):
        pipeline = diffusers.AutoPipelineForImage2Image.from_pipe(pipeline)
    size = {"height": EDITED_SIDE, "width": EDITED_SIDE}
    sized = parameters | size if size.keys() <= _list_arguments(pipeline) else parameters
    shown = Image.open(io.BytesIO(PICTURES[RED]))
    return _call(pipeline, prompt=prompt, image=shown, **sized)


def _load(folder):
    pipeline = diffusers.DiffusionPipeline.from_pretrained(folder)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def _call(pipeline, **arguments):
    output = pipeline(**arguments, generator=torch.Generator("cpu").manual_seed(SEED))
    return np.asarray(output.images[0])


def _list_arguments(pipeline):
    return inspect.signature(pipeline.__call__).parameters.keys()
