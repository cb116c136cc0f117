"""Input tokens of a picture, by the rules that providers publish.

- OpenAI, "Images and vision" (developers.openai.com/api/docs/guides/images-vision), with `detail`
  at its default: tiles of 512 px on what is first fitted into 2,048 px and 768 px on the shorter
  side, or patches of 32 px, up to a number. For gpt-5.2, 5.4, 5.5 and 5.6 it publishes how a
  picture is fitted, and no multiplier: 1 is expected. For other models nothing is known here.
- Gemini, "Media resolution" (ai.google.dev/gemini-api/docs/media-resolution): so many tokens per
  picture since Gemini 3; before, "Understand and count tokens": 258 for at most 384 px per side,
  else 258 for each crop of at most 768 px.
- Anthropic, "Vision" (platform.claude.com/docs/en/build-with-claude/vision): patches of 28 px, up
  to 1,568 of them, or 4,784 since Claude Opus 4.7.
- Qwen2-VL and Qwen2.5-VL, their processors' configuration: patches of 28 px, up to 16,384; Qwen3-VL
  likewise of 32 px.

Where a picture is scaled down to a number of patches, that number is taken: it is a little more.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Size: TypeAlias = tuple[int, int]
"""Width and height in px."""
_Side = Annotated[int, Field(ge=1, le=100_000)]


class ImageTokens(BaseModel):
    """Tokens by squares: `base`, and `tokens_per_square` for each of `patch` px over a picture.

    Before, it is scaled down to `longest_side` and then to `shortest_side`; of the squares no more
    than `max_squares` count. Without `patch` every picture counts `base`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    patch: _Side | None = None
    tokens_per_square: Annotated[float, Field(gt=0, le=100_000)] = 1.0
    base: Annotated[int, Field(ge=0, le=100_000)] = 0
    max_squares: _Side | None = None
    longest_side: _Side | None = None
    shortest_side: _Side | None = None

    def count(self, size: Size) -> int:
        """The tokens of a picture of that size."""
        if self.patch is None:
            return self.base
        scale = min(1.0, (self.longest_side or math.inf) / max(size))
        scale = min(scale, (self.shortest_side or math.inf) / min(size))
        return self._price_squares(math.prod(math.ceil(side * scale / self.patch) for side in size))

    def count_most(self, size: Size) -> int:
        """The most that the rule, read in either way, counts.

        The largest picture's, where small ones may be scaled up to `shortest_side` as well.
        """
        if self.patch is None or self.shortest_side is None or self.longest_side is None:
            return self.count(size)
        sides = self.longest_side, self.shortest_side
        return self._price_squares(math.prod(math.ceil(side / self.patch) for side in sides))

    def _price_squares(self, squares: int) -> int:
        counted = min(squares, self.max_squares or squares)
        return self.base + math.ceil(counted * self.tokens_per_square)


@dataclass(frozen=True, slots=True)
class _Crops:
    """Gemini's rule before Gemini 3."""

    tokens_per_crop: int = 258

    def count(self, size: Size) -> int:
        """Count the tokens of one picture, or of as many crops as cover it."""
        if max(size) <= 384:
            return self.tokens_per_crop
        crop = min(max(math.floor(min(size) / 1.5), 256), 768)
        return self.tokens_per_crop * math.prod(math.ceil(side / crop) for side in size)

    count_most = count


TokenRule: TypeAlias = ImageTokens | _Crops
"""Token rule of a provider."""


def _tiles(base: int, tokens_per_tile: int) -> ImageTokens:
    return ImageTokens(
        patch=512,
        tokens_per_square=tokens_per_tile,
        base=base,
        longest_side=2048,
        shortest_side=768,
    )


def _patches(
    tokens_per_patch: float = 1.0, most: int | None = None, patch: int = 32
) -> ImageTokens:
    return ImageTokens(patch=patch, tokens_per_square=tokens_per_patch, max_squares=most)


_OPENAI: Mapping[str, TokenRule] = {
    "gpt-4o-mini": _tiles(2833, 5667),
    "gpt-4o|gpt-4.1|gpt-4.5-preview": _tiles(85, 170),
    "gpt-5|gpt-5-chat-latest": _tiles(70, 140),
    "o1|o1-pro|o3": _tiles(75, 150),
    "gpt-4.1-mini|gpt-5-mini|gpt-5.4-mini": _patches(1.62, 1536),
    "gpt-4.1-nano|gpt-5-nano|gpt-5.4-nano": _patches(2.46, 1536),
    "o4-mini": _patches(1.72, 1536),
    "gpt-5.2": _patches(1.0, 1536),
    "gpt-5.4": _patches(1.0, 2500),
    "gpt-5.5": _patches(1.0, 10_000),
    "gpt-5.6": _patches(1.0),
}
"""Rules by model id, without its date."""
_UNLISTED = _patches(2.46)
"""The largest multiplier there is, on a picture that is not scaled down."""
_LISTED = tuple(_OPENAI)[:7]
_EDITED = 65 + 4 * 129 + 6240
"""GPT Image at high fidelity, of a picture far from square."""
_GEMINI_3 = {"": 1120, "LOW": 280, "MEDIUM": 560, "HIGH": 1120, "ULTRA_HIGH": 2240}
_GEMINI_2 = {"LOW": 64, "MEDIUM": 256}
_CLAUDE = r"claude-(3.*|instant.*|(opus|sonnet)-4(-[0-6]|-\d{8}|-0)?(-.*)?|haiku-4.*)"
"""Claude models of the lower resolution."""
_QWEN = {r"qwen2(\.5)?-?vl": 28, r"qwen3-?vl": 32}


def find_token_rule(backend: str, model: str, parameters: Mapping[str, Any]) -> TokenRule | None:
    """The rule for a model's pictures; None where no provider's is known here."""
    match backend:
        case "openai":
            return _openai(model)
        case "gemini":
            return _gemini(model, parameters)
        case "anthropic":
            lower = re.fullmatch(_CLAUDE, model)
            return ImageTokens(
                patch=28, longest_side=1568 if lower else 2576, max_squares=1568 if lower else 4784
            )
        case "openai_compatible":
            patch_sides = (side for name, side in _QWEN.items() if re.search(name, model.lower()))
            return next((_patches(1.0, 16_384, side) for side in patch_sides), None)
    return None


def count_most_by_any_rule(backend: str, model: str, size: Size) -> int:
    """The most that any rule would count which may hold for a model that OpenAI does not list."""
    if backend != "openai" or any(model == _find_undated(model, ids) for ids in _LISTED):
        return 0
    return _EDITED if model.startswith("gpt-image") else _UNLISTED.count(size)


@lru_cache
def _openai(model: str) -> TokenRule | None:
    return next((rule for ids, rule in _OPENAI.items() if _find_undated(model, ids)), None)


@lru_cache
def _find_undated(model: str, ids: str) -> str | None:
    """The model, where it is one of the ids or a dated version of one."""
    pattern = "|".join(map(re.escape, ids.split("|")))
    return model if re.fullmatch(rf"({pattern})(-\d{{4}}-\d\d-\d\d)?", model) else None


def _gemini(model: str, parameters: Mapping[str, Any]) -> TokenRule | None:
    resolution = str(parameters.get("media_resolution", parameters.get("mediaResolution", "")))
    level = resolution.upper().removeprefix("MEDIA_RESOLUTION_").replace("UNSPECIFIED", "")
    version = re.search(r"gemini-(\d+)", model)
    if version is None or level not in _GEMINI_3:
        return None
    if int(version[1]) >= 3:
        return ImageTokens(base=_GEMINI_3[level])
    return ImageTokens(base=_GEMINI_2[level]) if level in _GEMINI_2 else _Crops()
