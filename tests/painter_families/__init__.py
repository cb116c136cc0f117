"""Families of painters of diffusers, as a table: a tiny pipeline of each, and what it can do.

`docs/local-models.md` shows the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.painter_families import pipelines
from tests.painter_families.components import SIDE
from tests.tiny import torch

EDITED_SIDE = 64
"""Width and height, in px, of what is edited: FLUX.2 takes nothing smaller."""
_SIZE = {"height": SIDE, "width": SIDE}
_FEW = {"num_inference_steps": 2, **_SIZE}
_SHORT = {**_FEW, "max_sequence_length": 64}
_CHANGED = {"num_inference_steps": 4, "strength": 0.5}
_DENOISERS = ("transformer", "unconditional_transformer", "unet")


@dataclass(frozen=True, kw_only=True, eq=False)
class PainterFamily:
    """A family: how its pipeline is built, and its row in the documents."""

    name: str
    pipeline: str
    """Class of diffusers."""
    build: Callable[[], Any]
    parameters: Mapping[str, Any] | None = None
    """Parameters of a painter's entry; None where the family paints nothing by text alone."""
    editing: Mapping[str, Any] | None = None
    """Parameters of an editor's entry; None where the family has no editor."""
    joins: bool = False
    """Whether an edit may join several pictures."""
    one_by_one: bool = False
    """Whether prompts are never painted in one batch."""
    needs_torchvision: bool = False
    rewriting: str | None = None
    """Parameter that has to be false for prompts to stay as they are."""
    note: str = ""

    def save(self, folder: Path) -> Path:
        """Save a pipeline to a folder.

        Its denoiser's weights are drawn anew: as their classes draw them, text does not matter.
        """
        torch.manual_seed(0)
        pipeline = self.build()
        for name in _DENOISERS:
            for weight in getattr(pipeline.components.get(name), "parameters", list)():
                if weight.ndim > 1:
                    torch.nn.init.normal_(weight, std=0.2)
        pipeline.save_pretrained(folder)
        return folder

    @property
    def row(self) -> str:
        """Row of the table in the documents."""
        paints = "no" if self.parameters is None else "works"
        batch = "one by one" if self.one_by_one else paints
        edits = "no" if self.editing is None else "works"
        joins = "works" if self.joins else "no"
        notes = [self.note] if self.note else []
        if self.rewriting:
            notes.insert(0, f"Needs `{self.rewriting}: false`, else it rewrites prompts")
        if self.needs_torchvision:
            notes.insert(0, "Needs torchvision")
        name = f"`{self.pipeline}`"
        cells = [self.name, name, paints, batch, edits, joins, ". ".join(notes)]
        return f"| {' | '.join(cells)} |".replace("  ", " ")


_QWEN_GUIDANCE = 'Its guidance needs `negative_prompt: " "`'
_77_TOKENS = "Reads 77 tokens of a prompt"

FAMILIES = (
    PainterFamily(
        name="Stable Diffusion 1.5",
        pipeline="StableDiffusionPipeline",
        build=pipelines.build_stable_diffusion,
        parameters=_FEW,
        editing=_CHANGED,
        note=f"{_77_TOKENS}; what its safety checker holds back is *refused*",
    ),
    PainterFamily(
        name="Stable Diffusion XL",
        pipeline="StableDiffusionXLPipeline",
        build=pipelines.build_sdxl,
        parameters=_FEW,
        editing=_CHANGED,
        note=_77_TOKENS,
    ),
    PainterFamily(
        name="Stable Diffusion 3.5",
        pipeline="StableDiffusion3Pipeline",
        build=pipelines.build_sd3,
        parameters=_SHORT,
        editing=_CHANGED,
    ),
    PainterFamily(
        name="FLUX.1",
        pipeline="FluxPipeline",
        build=pipelines.build_flux,
        parameters=_SHORT,
        editing=_CHANGED,
    ),
    PainterFamily(
        name="FLUX.1 Kontext",
        pipeline="FluxKontextPipeline",
        build=pipelines.build_flux_kontext,
        parameters=_SHORT | {"max_area": SIDE**2},
        editing={"num_inference_steps": 2, "max_area": EDITED_SIDE**2, "_auto_resize": False},
    ),
    PainterFamily(
        name="FLUX.2",
        pipeline="Flux2Pipeline",
        build=pipelines.build_flux2,
        parameters=_FEW,
        editing={"num_inference_steps": 2},
        joins=True,
        needs_torchvision=True,
        note="Edits pictures from 64 px on",
    ),
    PainterFamily(
        name="FLUX.2 klein",
        pipeline="Flux2KleinPipeline",
        build=pipelines.build_flux2_klein,
        parameters=_SHORT,
        editing={"num_inference_steps": 2, "max_sequence_length": 64},
        joins=True,
        note="Edits pictures from 64 px on",
    ),
    PainterFamily(
        name="Z-Image",
        pipeline="ZImagePipeline",
        build=pipelines.build_z_image,
        parameters=_SHORT,
        editing=_CHANGED,
    ),
    PainterFamily(
        name="Qwen-Image",
        pipeline="QwenImagePipeline",
        build=pipelines.build_qwen_image,
        parameters=_FEW,
        editing=_CHANGED,
        note=_QWEN_GUIDANCE,
    ),
    PainterFamily(
        name="Qwen-Image-Edit",
        pipeline="QwenImageEditPipeline",
        build=pipelines.build_qwen_image_edit,
        editing={"num_inference_steps": 1},
        needs_torchvision=True,
        note=_QWEN_GUIDANCE,
    ),
    PainterFamily(
        name="Qwen-Image-Edit Plus",
        pipeline="QwenImageEditPlusPipeline",
        build=pipelines.build_qwen_image_edit_plus,
        editing={"num_inference_steps": 1},
        joins=True,
        needs_torchvision=True,
        note=_QWEN_GUIDANCE,
    ),
    PainterFamily(
        name="Ideogram 4",
        pipeline="Ideogram4Pipeline",
        build=pipelines.build_ideogram4,
        parameters={**_SHORT, "guidance_scale": 7.0, "guidance_schedule": None},
        note="Other steps than 48 need `guidance_scale` and `guidance_schedule: null`",
    ),
    PainterFamily(
        name="Sana",
        pipeline="SanaPipeline",
        build=pipelines.build_sana,
        parameters={**_SHORT, "use_resolution_binning": False},
        note="`use_resolution_binning: false` for the exact size",
    ),
    PainterFamily(
        name="Chroma",
        pipeline="ChromaPipeline",
        build=pipelines.build_chroma,
        parameters=_SHORT,
    ),
    PainterFamily(
        name="PixArt-Σ",
        pipeline="PixArtSigmaPipeline",
        build=pipelines.build_pixart,
        parameters={**_SHORT, "use_resolution_binning": False, "clean_caption": False},
        note="`use_resolution_binning: false` for the exact size, `clean_caption: false` for the "
        "same prompt on every machine",
    ),
    PainterFamily(
        name="Lumina 2",
        pipeline="Lumina2Pipeline",
        build=pipelines.build_lumina2,
        parameters=_FEW,
    ),
    PainterFamily(
        name="Krea 2",
        pipeline="Krea2Pipeline",
        build=pipelines.build_krea2,
        parameters=_FEW,
    ),
    PainterFamily(
        name="CogView4",
        pipeline="CogView4Pipeline",
        build=pipelines.build_cogview4,
        parameters=_SHORT,
        one_by_one=True,
        note="In one batch, a prompt's picture depends on the others' length",
    ),
    PainterFamily(
        name="AuraFlow",
        pipeline="AuraFlowPipeline",
        build=pipelines.build_aura_flow,
        parameters=_SHORT,
    ),
    PainterFamily(
        name="Ovis-Image",
        pipeline="OvisImagePipeline",
        build=pipelines.build_ovis,
        parameters=_FEW,
    ),
    PainterFamily(
        name="LongCat-Image",
        pipeline="LongCatImagePipeline",
        build=pipelines.build_longcat,
        parameters=_FEW | {"enable_prompt_rewrite": False},
        needs_torchvision=True,
        rewriting="enable_prompt_rewrite",
    ),
    PainterFamily(
        name="ERNIE-Image",
        pipeline="ErnieImagePipeline",
        build=pipelines.build_ernie,
        parameters=_FEW | {"use_pe": False},
        rewriting="use_pe",
    ),
)
