"""A process that has torchvision, beside that of the tests, which do without it.

Most processors of pictures need it. The package is built for a torch with CUDA: beside one for
processors alone it lacks its own operators, of which no processor uses any, and is imported once
their names are there.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from torch import library as operators

from tests import tiny
from tests.tiny import torch

FOLDER = Path(sys.prefix) / "torchvision"
"""Where `make slow` installs torchvision, and num2words for SmolVLM, out of other tests' way."""
_OPERATORS = ("nms", "qnms")
_kept = []


def open_process():
    """Open the process; what it is to run is submitted, and its errors are raised here."""
    return ProcessPoolExecutor(1, get_context("spawn"), install)


def install():
    """Let this process import torchvision."""
    if find_spec("torchvision") is None:
        sys.path.append(str(FOLDER))
    if torch.version.cuda is None:
        namespace = operators.Library("torchvision", "FRAGMENT")
        for name in _OPERATORS:
            namespace.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _kept.append(namespace)
    tiny.transformers.logging.set_verbosity_error()
