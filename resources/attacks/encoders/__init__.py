"""Encoders by architecture, and how one is loaded from an entry of models.yaml."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from generators.name_suggestions import suggest_names
from resources.attacks.encoders.base import Encoder
from resources.attacks.encoders.instructblip import InstructBlip
from resources.attacks.encoders.llava import Llava
from resources.attacks.encoders.llava_next import LlavaNext
from resources.attacks.encoders.squares import Gemma3, PaliGemma
from resources.models.backends.local_models import (
    ModelFiles,
    choose_device,
    import_library,
    parse_settings,
    translate_loading_errors,
)
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable

__all__ = ["ENCODERS", "Encoder", "LoadedEncoder", "load_encoder"]

ENCODERS: Mapping[str, type[Encoder]] = {
    encoder.architecture: encoder for encoder in (Llava, LlavaNext, InstructBlip, Gemma3, PaliGemma)
}
"""Encoders by the `model_type` of a model's configuration."""


class LoadedEncoder(NamedTuple):
    """An encoder, and the model that it is of: its id and commit, or its folder."""

    encoder: Encoder
    served_model: str


def load_encoder(model: Model, key: str | None) -> LoadedEncoder:
    """The encoder and connector of an entry; its language model is left where it is.

    They run in float32 unless the entry names a dtype: in half of that, the cosine of a picture
    that hardly changed is 1. Raises `ModelUnavailable` for an architecture without a file here, and
    for quantized weights, whose gradient is not that of the model.
    """
    transformers, encoder_settings = import_library("transformers"), parse_settings(model)
    files = ModelFiles.resolve(model, key, encoder_settings.revision)
    with translate_loading_errors(model, key):
        config = files.load(transformers.AutoConfig)
        kind = _kind(model, config)
        # Of a language model without layers none are read.
        config.text_config.num_hidden_layers = 0
        processor = files.load(transformers.AutoProcessor)
        with _silence_report(transformers.logging):
            network, loading_info = files.load(
                transformers.AutoModelForImageTextToText,
                config=config,
                dtype=encoder_settings.dtype or "float32",
                use_safetensors=True,
                output_loading_info=True,
            )
        _require_weights(model, loading_info["missing_keys"])
        network = network.requires_grad_(False).eval().to(choose_device(encoder_settings))
    return LoadedEncoder(kind(network, processor), files.served_model)


def _kind(model: Model, config: Any) -> type[Encoder]:
    kind = ENCODERS.get(config.model_type)
    if kind is None:
        raise ModelUnavailable(
            f"{model.model}: its architecture is {config.model_type!r}, which has no encoder here"
            f"{suggest_names(config.model_type, ENCODERS)}. Take the role encoder from "
            f"{model.name} in "
            "models.yaml, or add a file to resources/attacks/encoders."
        )
    for part in (config, config.text_config, config.vision_config):
        if getattr(part, "quantization_config", None) is not None:
            raise ModelUnavailable(
                f"{model.model}: it is quantized, so that its gradient is not that of the model "
                "that answers. Name the weights that it was made from in models.yaml."
            )
    return kind


def _require_weights(model: Model, missing: Collection[str]) -> None:
    """Raise `ModelUnavailable` where some weights would be random."""
    if missing:
        raise ModelUnavailable(
            f"{model.model}: {len(missing)} of its weights are not in its files, as "
            f"{min(missing)}. Name a version of it that is whole in models.yaml."
        )


@contextmanager
def _silence_report(logging: Any) -> Iterator[None]:
    """Suppress the report that the language model's layers were not read."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
