"""Open-vocabulary detectors of transformers, such as OWL-ViT, OWLv2 and Grounding DINO."""

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from PIL import Image
from pydantic import Field

from generators.perturbations.box_replies import format_box_reply
from generators.perturbations.subject import ObjectBox
from resources.models.backends.base import PictureLoader
from resources.models.backends.local_models import (
    LocalSettings,
    ModelFiles,
    import_library,
    parse_settings,
    translate_loading_errors,
    translate_running_errors,
)
from resources.models.catalog import Model
from resources.models.replies import ModelReply
from resources.models.requests import LookRequest, Turn


class DetectorSettings(LocalSettings):
    """Settings of an entry with the role `detector`.

    A box is kept from a score of `threshold` on.
    """

    threshold: float = Field(default=0.25, ge=0, le=1)


class PreparedTurn(NamedTuple):
    """A picture's size, what is looked for in it, and the network's inputs."""

    size: tuple[int, int]
    name: str
    inputs: Any


class Detector:
    """A detector of given objects; raises `ModelUnavailable` where it cannot be loaded."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._model, self._picture = model, picture
        self._settings = parse_settings(model, DetectorSettings)
        files = ModelFiles.resolve(model, key, self._settings.revision)
        self._served, transformers = files.served_model, import_library("transformers")
        with translate_loading_errors(model, key):
            self._processor = files.load(transformers.AutoProcessor)
            detector = transformers.AutoModelForZeroShotObjectDetection
            self._network = files.load_network(detector, self._settings)

    def prepare(self, requests: Sequence[LookRequest]) -> list[PreparedTurn]:
        """The inputs of what each request's text names in its picture."""
        with translate_running_errors(self._model):
            return [self._prepare(request.turns[-1]) for request in requests]

    def compute(self, prepared_turns: Sequence[PreparedTurn]) -> list[tuple[PreparedTurn, Any]]:
        """The network's outputs, one by one."""
        network = self._network
        with translate_running_errors(self._model), import_library("torch").inference_mode():
            return [
                (prepared, network(**prepared.inputs.to(network.device, dtype=network.dtype)))
                for prepared in prepared_turns
            ]

    def read_boxes(self, outputs: Sequence[tuple[PreparedTurn, Any]]) -> list[ModelReply]:
        """The boxes in outputs."""
        with translate_running_errors(self._model):
            return [self._reply(prepared, output) for prepared, output in outputs]

    def _prepare(self, turn: Turn) -> PreparedTurn:
        (digest,), name = turn.images, turn.text.lower()
        image = Image.open(io.BytesIO(self._picture(digest))).convert("RGB")
        inputs = self._processor(images=image, text=[[f"a {name}"]], return_tensors="pt")
        return PreparedTurn(image.size, name, inputs)

    def _reply(self, prepared: PreparedTurn, output: Any) -> ModelReply:
        size, name, _ = prepared
        (detection,) = self._processor.post_process_grounded_object_detection(
            output, threshold=self._settings.threshold, target_sizes=[size[::-1]]
        )
        boxes = [_box(sides, size, name) for sides in detection["boxes"].tolist()]
        return ModelReply(
            text=format_box_reply([box for box in boxes if box]), served_model=self._served
        )


def _box(sides: Sequence[Any], size: tuple[int, int], label: str) -> ObjectBox | None:
    """A box within the picture; None for one that lies outside of it."""
    across, down = size
    left_edge, right_edge = (min(max(side / across, 0.0), 1.0) for side in sides[::2])
    top_edge, bottom_edge = (min(max(side / down, 0.0), 1.0) for side in sides[1::2])
    if right_edge <= left_edge or bottom_edge <= top_edge:
        return None
    return ObjectBox(left_edge, top_edge, right_edge - left_edge, bottom_edge - top_edge, label)
