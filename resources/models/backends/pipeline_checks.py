"""Checks of a diffusers pipeline: what it takes, and that it made one picture for each request."""

import inspect
from collections.abc import Collection
from typing import Any

from PIL import Image

from resources.models.backends.local_models import import_library
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable, UnacceptableRequest

_OURS = frozenset({"generator", "output_type", "return_dict"})
_REWRITING = frozenset({"enable_prompt_rewrite", "use_pe"})
"""Parameters by which a pipeline has a language model rewrite prompts, unless they are false."""


def list_arguments(pipeline: Any) -> frozenset[str]:
    """The names of a pipeline's parameters."""
    return frozenset(inspect.signature(pipeline.__call__).parameters)


def require_parameters(model: Model, pipeline: Any, names: Collection[str]) -> None:
    """Raise `ModelUnavailable` where a pipeline does not take a parameter of its entry."""
    if wrong := set(names) - (list_arguments(pipeline) - _OURS):
        raise ModelUnavailable(
            f"{_name(model, pipeline)} takes no {', '.join(sorted(wrong))}: correct its "
            "parameters in models.yaml. (Painting and editing by one model differ in them: give "
            "each an entry of its own.)"
        )


def require_own_prompts(model: Model, pipeline: Any, names: Collection[str]) -> None:
    """Raise `ModelUnavailable` where a pipeline rewrites prompts and its entry leaves that open.

    What it paints is then not what was asked, and each time something else.
    """
    if unset := _REWRITING & list_arguments(pipeline) - set(names):
        raise ModelUnavailable(
            f"{_name(model, pipeline)} rewrites prompts by a language model, each time otherwise: "
            f"set {', '.join(sorted(unset))}: false among the parameters of {model.name} in "
            "models.yaml, or true if that is to be tested"
        )


def require_painter(model: Model, pipeline: Any) -> None:
    """Raise `ModelUnavailable` for a pipeline that diffusers lists among editors alone."""
    tables = import_library("diffusers.pipelines.auto_pipeline")
    editors = tables.AUTO_IMAGE2IMAGE_PIPELINES_MAPPING.values()
    painters = tables.AUTO_TEXT2IMAGE_PIPELINES_MAPPING.values()
    if type(pipeline) in editors and type(pipeline) not in painters:
        raise ModelUnavailable(
            f"{_name(model, pipeline)} changes pictures and paints none: give {model.name} "
            "`roles: [editor]` in models.yaml"
        )


def find_editor(model: Model, pipeline: Any) -> Any:
    """The pipeline if it takes pictures, else the one that does with the same weights."""
    if "image" in list_arguments(pipeline):
        return pipeline
    try:
        return import_library("diffusers").AutoPipelineForImage2Image.from_pipe(pipeline)
    except ValueError as error:
        raise ModelUnavailable(
            f"{_name(model, pipeline)} paints and changes no picture: leave `editor` out of the "
            f"roles of {model.name} in models.yaml. ({error})"
        ) from None


def read_pictures(model: Model, pipeline: Any, output: Any, count: int) -> list[Image.Image]:
    """The pictures of an output, which are as many as the requests, `count`.

    Raises `ModelUnavailable` where they are not, so that no picture is taken for another
    request's, and `UnacceptableRequest` where there was one request.
    """
    pictures = getattr(output, "images", None)
    if not isinstance(pictures, list) or not all(
        isinstance(picture, Image.Image) for picture in pictures
    ):
        raise ModelUnavailable(
            f"{_name(model, pipeline)} makes no pictures but {type(output).__name__}: name a "
            "text-to-image model in models.yaml"
        )
    if len(pictures) == count:
        return pictures
    problem = f"{_name(model, pipeline)} made {len(pictures)} pictures"
    if count == 1:
        raise UnacceptableRequest(f"{problem} where one was asked for: none is taken")
    raise ModelUnavailable(
        f"{problem} of {count} prompts, and whose each is cannot be known: set batch: 1 among the "
        f"parameters of {model.name} in models.yaml"
    )


def _name(model: Model, pipeline: Any) -> str:
    return f"{type(pipeline).__name__} of {model.model}"
