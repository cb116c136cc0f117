"""Local painters and editors: any pipeline of diffusers that makes pictures."""

import asyncio
import io
import re
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from PIL import Image

from resources.models.backends.dynamic_batching import BatchStages
from resources.models.backends.local_models import (
    LocalBackend,
    LocalSettings,
    ModelFiles,
    TimedOutput,
    choose_device,
    import_library,
    parse_settings,
    record_time,
    translate_loading_errors,
    translate_running_errors,
)
from resources.models.backends.pipeline_checks import (
    find_editor,
    list_arguments,
    read_pictures,
    require_own_prompts,
    require_painter,
    require_parameters,
)
from resources.models.backends.provenance import build_provenance
from resources.models.backends.undefined_pixels import UndefinedPixels
from resources.models.replies import (
    ImageFile,
    ModelReply,
    ModelUnavailable,
    Refusal,
    UnacceptableRequest,
)
from resources.models.requests import EditRequest, PaintRequest

_PROMPT_NAME = re.compile(r"(negative_)?prompt(_\d)?")
"""Parameters that a pipeline wants one of for each picture of a batch."""
_DENOISER = re.compile("transformer|unet")
"""Components of a pipeline that denoise, by their names."""
_ONE_BY_ONE = frozenset({"CogView4Pipeline"})
"""Pipelines that pad prompts to the longest of a batch and let the model read the padding: a
picture would depend on the others' prompts."""
_SEEDS = 2**32
_STEP = 16


class DiffusersSettings(LocalSettings):
    """Settings of a painter or editor.

    `compile_repeated_blocks` has torch compile the blocks of the denoiser, which takes minutes
    before the first picture.
    """

    compile_repeated_blocks: bool = False


class _PaintedBatch(NamedTuple):
    """Pictures of a batch, which of them a safety checker holds back, and how they came about."""

    images: list[Image.Image]
    unsafe: list[bool]
    provenance: dict[str, Any]


class Diffusers(LocalBackend):
    """A text-to-image or image-to-image pipeline, held for the whole run.

    `model` is a folder or an id of the Hugging Face Hub. The parameters are those of the
    pipeline's call, and the fields of `DiffusersSettings`. The dtype is bfloat16 on a GPU
    and float32 on a CPU unless the entry says otherwise. Noise is drawn on the CPU, from a
    generator for each picture, so that it does not depend on the device; the rounding of the
    arithmetic does, and on the size of the batch as well. While the model paints, the pictures of
    the batch before are encoded.
    """

    _loaded = ("_pipeline", "_editor", "_files")

    async def paint(self, request: PaintRequest) -> ModelReply:
        """A PNG of the prompt; see `compute_noise_seed` for what makes it differ from another."""
        await self._ensure_loaded("_pipeline")
        stages = BatchStages(None, self._paint, self._encode)
        if type(self._pipeline).__name__ in _ONE_BY_ONE:
            return await self._batcher.ask(stages, request)
        return await self._ask_in_batches(stages, request)

    async def edit(self, request: EditRequest) -> ModelReply:
        """A PNG of the picture, or pictures, changed as the prompt says.

        One at a time, since pipelines differ in what they make of a list of pictures: some take it
        for a batch, others for the parts of one scene. The size is that of the first picture, in
        steps of 16 px, for pipelines that can be told one and where the parameters do not.
        """
        pictures = await asyncio.to_thread(self._open, request)
        stages = BatchStages(None, self._edit, self._encode)
        return await self._batcher.ask(stages, (request, pictures))

    def paint_batch(self, requests: list[PaintRequest]) -> list[ModelReply]:
        """Pictures that are painted in one batch, in this thread and however many they are."""
        return self._encode(self._paint(requests))

    @record_time
    def _paint(self, requests: list[PaintRequest]) -> _PaintedBatch:
        # Pipelines want the negative prompt, and a prompt for a second text encoder, in the form
        # that the prompt has: a list.
        words = {
            name: [value] * len(requests)
            for name, value in self._settings.model_parameters.items()
            if _PROMPT_NAME.fullmatch(name) and isinstance(value, str)
        }
        require_painter(self._model, self._pipeline)
        require_own_prompts(self._model, self._pipeline, self._settings.model_parameters)
        return self._run(
            self._pipeline,
            requests,
            {**words, "prompt": [request.prompt for request in requests]},
        )

    def _open(self, request: EditRequest) -> list[Image.Image]:
        return [
            Image.open(io.BytesIO(self._picture(name))).convert("RGB") for name in request.images
        ]

    @record_time
    def _edit(self, items: list[tuple[EditRequest, list[Image.Image]]]) -> _PaintedBatch:
        ((request, pictures),) = items
        picture_size = {"height": pictures[0].height, "width": pictures[0].width}
        size = {side: max(length // _STEP, 1) * _STEP for side, length in picture_size.items()}
        named = list_arguments(self._editor)
        if not size.keys() <= named or size.keys() & self._settings.model_parameters.keys():
            size = {}
        arguments = {"prompt": request.prompt, "image": pictures[0], **size}
        if len(pictures) == 1:
            return self._run(self._editor, [request], arguments)
        if "strength" in named:
            # It would paint over the first one, and not say so.
            raise UnacceptableRequest(
                f"{type(self._editor).__name__} of {self._model.model} changes one picture and "
                "cannot join several: use an editor that can"
            )
        try:
            return self._run(self._editor, [request], {**arguments, "image": pictures})
        except UnacceptableRequest as fault:
            raise UnacceptableRequest(
                f"{fault} ({len(pictures)} pictures were shown: if {type(self._editor).__name__} "
                "changes one alone, use an editor that joins several)"
            ) from fault

    def _run(
        self,
        pipeline: Any,
        requests: Sequence[PaintRequest | EditRequest],
        arguments: dict[str, Any],
    ) -> _PaintedBatch:
        generator = import_library("torch").Generator
        seeds = [compute_noise_seed(request) for request in requests]
        require_parameters(self._model, pipeline, self._settings.model_parameters)
        all_arguments = {**self._settings.model_parameters, **arguments}
        undefined = UndefinedPixels(self._model)
        with translate_running_errors(self._model), undefined.watch():
            output = pipeline(
                **all_arguments, generator=[generator("cpu").manual_seed(seed) for seed in seeds]
            )
        images = read_pictures(self._model, pipeline, output, len(seeds))
        undefined.require_none(images)
        unsafe = getattr(output, "nsfw_content_detected", None) or [False] * len(seeds)
        provenance = build_provenance(pipeline, all_arguments, requests, seeds) | {
            "commit": self._files.commit
        }
        return _PaintedBatch(images, list(map(bool, unsafe)), provenance)

    def _encode(self, painted: TimedOutput) -> list[ModelReply]:
        """The replies of a batch, with its pictures as PNG: 0.2 s each at 1024 px."""
        images, unsafe, provenance = painted.output
        return painted.share(
            [
                self._reply(image, held_back, {**provenance, "place": place})
                for place, (image, held_back) in enumerate(zip(images, unsafe, strict=True))
            ]
        )

    def _reply(self, image: Image.Image, unsafe: bool, provenance: dict[str, Any]) -> ModelReply:
        served_model = self._files.served_model
        if unsafe:
            reason = "The pipeline's safety checker held the picture back."
            return ModelReply(refusal=Refusal("content filter", reason), served_model=served_model)
        file = io.BytesIO()
        image.save(file, "PNG")
        return ModelReply(
            pictures=(ImageFile(file.getvalue(), "image/png"),),
            served_model=served_model,
            provenance={
                **provenance,
                "seed": provenance["batch"][provenance["place"]][1],
                "width": image.width,
                "height": image.height,
            },
        )

    @cached_property
    def _files(self) -> ModelFiles:
        return ModelFiles.resolve(self._model, self._key, self._settings.revision)

    @cached_property
    def _pipeline(self) -> Any:
        torch, device_name = import_library("torch"), choose_device(self._settings)
        with translate_loading_errors(self._model, self._key):
            default = "float32" if device_name == "cpu" else "bfloat16"
            dtype = getattr(torch, self._settings.dtype or default)
            kind = import_library("diffusers").DiffusionPipeline
            pipeline = self._files.load(kind, dtype=dtype, use_safetensors=True).to(device_name)
            self._tune(pipeline)
        pipeline.set_progress_bar_config(disable=True)
        return pipeline

    @cached_property
    def _settings(self) -> DiffusersSettings:
        return parse_settings(self._model, DiffusersSettings)

    def _tune(self, pipeline: Any) -> None:
        """Set how denoisers compute attention, and have them compiled, where the entry says."""
        attention, is_compiled = self._settings.attention, self._settings.compile_repeated_blocks
        if attention is None and not is_compiled:
            return
        denoisers = [
            part for name, part in pipeline.components.items() if part and _DENOISER.search(name)
        ]
        if not denoisers:
            raise ModelUnavailable(
                f"{type(pipeline).__name__} of {self._model.model} has no transformer and no unet: "
                f"remove attention and compile_repeated_blocks of {self._model.name} in models.yaml"
            )
        for denoiser in denoisers:
            if attention is not None:
                denoiser.set_attention_backend(attention)
            if is_compiled:
                denoiser.compile_repeated_blocks()

    @cached_property
    def _editor(self) -> Any:
        """The pipeline that edits, with the painter's weights."""
        with translate_loading_errors(self._model, self._key):
            editor = find_editor(self._model, self._pipeline)
        editor.set_progress_bar_config(disable=True)
        return editor


def compute_noise_seed(request: PaintRequest | EditRequest) -> int:
    """The seed, 0 to 2³²−1, of the noise that a picture is made from.

    It is the request's seed, or without one the sample index: the pictures that are got by
    counting up by hand. Further samples of a seed, and seeds beyond that range, of which torch
    would see only the lower 32 bits, take theirs from a hash of seed and sample.
    """
    seed = request.sample if request.seed is None else request.seed
    if 0 <= seed < _SEEDS and (request.seed is None or request.sample == 0):
        return seed
    digest = sha256(f"{request.seed}/{request.sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big")
