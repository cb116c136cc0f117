"""Remaking of a local painter's picture from its provenance.

Painted again in the same batch, on the same device and with the same versions, a picture is equal
bit for bit. Alone, arithmetic is rounded otherwise: `TOLERANCE` says how far that goes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from resources.models.backends.diffusers import Diffusers
from resources.models.backends.provenance import digest_prompt
from resources.models.catalog import Model
from resources.models.requests import PaintRequest
from resources.untrusted_input.image_decoding import decode_image

TOLERANCE: Mapping[str, int] = {"float32": 1, "bfloat16": 2}
"""Largest difference by dtype, in levels of 255 of any channel, between a picture painted in a
batch and the same one painted alone. Measured on a CPU with a tiny pipeline of FLUX's shape; a
large one may go further on a GPU, which `remake_picture` shows as well."""


class NotRemade(ValueError):
    """A picture cannot be made again from what is known of it; says why and what to do."""


class RemadePicture(NamedTuple):
    """A picture made again."""

    png: bytes
    """PNG as the image store keeps it, so that its sha256 can be compared."""
    differences: Mapping[str, tuple[Any, Any]]
    """Settings that differ, each before and now; if empty, all bits must be equal."""


def remake_picture(
    model: Model,
    provenance: Mapping[str, Any],
    prompts: Iterable[str],
    *,
    alone: bool = False,
    key: str | None = None,
) -> RemadePicture:
    """Paint a picture again by its `provenance`, in the same batch or `alone`.

        row = table[table["image_id"] == "flux_schnell/…"].iloc[0]
        again = remake_picture(model, json.loads(row["provenance"]), table["prompt"])
        assert again.differences or sha256(again.png).hexdigest() == row["sha256"]

    `model` is its painter's entry of models.yaml, `prompts` are those among which the prompts of
    its batch are, `key` is the token of the Hugging Face Hub, for a model that needs one. Raises
    `NotRemade` where a prompt is not there, and the faults of the backend.
    """
    prompts_by_digest = {digest_prompt(prompt): prompt for prompt in prompts}
    batch = [provenance["batch"][provenance["place"]]] if alone else provenance["batch"]
    if missing := [digest for digest, _ in batch if digest not in prompts_by_digest]:
        raise NotRemade(
            f"Of the {len(batch)} prompts of its batch {len(missing)} are not among those given: "
            "give the prompts of the whole table, or make it alone, which is equal but for rounding"
        )
    place = 0 if alone else provenance["place"]
    reply = Diffusers(model, key, _refuse_picture).paint_batch(
        [PaintRequest(prompts_by_digest[digest], seed) for digest, seed in batch]
    )[place]
    if not reply.pictures:
        raise NotRemade(f"It was painted once, and is refused now: {reply.refusal}")
    new_provenance = reply.provenance or {}
    unlike = {
        name: (old, new_provenance.get(name))
        for name, old in provenance.items()
        if old != new_provenance.get(name)
    }
    return RemadePicture(decode_image(reply.pictures[0]), unlike)


def _refuse_picture(digest: str) -> bytes:
    raise NotRemade(f"The picture {digest} was edited; only paintings are made again")
