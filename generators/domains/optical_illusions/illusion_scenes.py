"""Scenes: the strengths and differences to draw (VLMBias, Appendix H.1).

The sign of a strength says which way the context works: a positive one counteracts the true
difference (incongruent), a negative one exaggerates it (congruent), since Pyllusion turns the
context along with the difference. Poggendorff's context follows the strength alone, so that
there equal signs are incongruent, and opposite ones congruent. `figures` says what the
context does in each.
"""

from collections.abc import Iterator
from itertools import product

from generators.scene import Scene

ORIGINALS: dict[str, tuple[float, ...]] = {
    "Ebbinghaus": (3, 4, 5, 6, 7, 8),
    "Müller-Lyer": (30, 35, 40, 45, 50, 55),
    "Ponzo": (15, 17, 19, 21, 23, 25),
    "Zöllner": (50, 55, 60, 65, 70, 75),
    "Poggendorff": (30, 35, 40, 45, 50, 55),
}
"""Strengths of the originals, each drawn with either sign."""

MODIFIED: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "Ebbinghaus": ((3, -3, 5, -5), (0.5, 0.6, 0.7)),
    "Müller-Lyer": ((30, -30, 50, -50), (0.3, 0.4, 0.5)),
    "Ponzo": ((15, -15, 18, -18), (0.15, 0.2, 0.25)),
    "Zöllner": ((60, -60, 75, -75), (2, 2.5, 3)),
    "Poggendorff": ((40, 45, 50), (0.1, -0.1, 0.2, -0.2)),
}
"""Strengths and differences of the modified figures, each with each."""

VERTICAL_HORIZONTAL = "Vertical–Horizontal"
SIZES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SIZED_DIFFERENCES = ((0.5, 0.3), (1.0, 0.4), (0.5, 0.5), (1.0, -0.3), (0.5, -0.4), (1.0, -0.5))
"""Shorter line and difference (positive: the vertical is longer), so that each difference is
seen at both sizes, and each direction at both sizes."""

TARGETS = {
    "Ebbinghaus": "difference of inner circle areas (ratio - 1)",
    "Müller-Lyer": "difference of horizontal line lengths (ratio - 1)",
    "Ponzo": "difference of horizontal line lengths (ratio - 1)",
    VERTICAL_HORIZONTAL: "difference of line lengths (ratio - 1)",
    "Zöllner": "angle between the horizontal lines (degrees)",
    "Poggendorff": "offset of the diagonal lines (canvas units)",
}
"""The targets of `measure`. Müller-Lyer and Ponzo share a target since they share the words
of their questions."""

_ZERO_AS_NEGATIVE = {"Ebbinghaus", "Ponzo"}
"""Illusions whose context for no difference is that of a negative one in Pyllusion."""


def list_illusion_scenes() -> Iterator[Scene]:
    """The 132 scenes: 66 originals, then 66 modified figures."""
    for subject, strengths in ORIGINALS.items():
        for strength, sign in product(strengths, (1, -1)):
            yield build_scene(subject, strength=sign * strength)
    for size in SIZES:
        yield build_inverted_t(size=size)
    for subject, (strengths, differences) in MODIFIED.items():
        for strength, difference in product(strengths, differences):
            yield build_scene(subject, strength=strength, difference=difference)
    for size, difference in SIZED_DIFFERENCES:
        yield build_inverted_t(size=size, difference=difference)


def build_scene(subject: str, *, strength: float, difference: float = 0) -> Scene:
    """A scene of any illusion but the vertical–horizontal one.

    Its original has no difference and the same context, turned the same way: in Ebbinghaus's
    and Ponzo's figures that is Pyllusion's opposite strength. Where no original is as strong
    (Ponzo's 18) it is the nearest one, the weaker of two (17).
    """
    slug = subject.lower().replace("ü", "u").replace("ö", "o")
    original_strength = _find_original_strength(subject, strength, difference)
    return _build_scene(
        subject=subject,
        name=f"{slug}-strength-{_format_signed(strength)}",
        original=f"{slug}-strength-{_format_signed(original_strength)}",
        exaggerates=strength < 0 if subject != "Poggendorff" else strength * difference < 0,
        difference=difference,
        setting=("strength", strength),
    )


def build_inverted_t(*, size: float, difference: float = 0) -> Scene:
    """A scene of the vertical–horizontal illusion, `size` being its shorter line.

    The vertical looks the longer one of two equal lines, so that the context exaggerates the
    difference where the vertical is truly longer.
    """
    name = f"vertical-horizontal-size-{_format_signed(size)}"
    return _build_scene(
        subject=VERTICAL_HORIZONTAL,
        name=name,
        original=name,
        exaggerates=difference > 0,
        difference=difference,
        setting=("size", size),
    )


def _build_scene(
    *,
    subject: str,
    name: str,
    original: str,
    exaggerates: bool,
    difference: float,
    setting: tuple[str, float],
) -> Scene:
    real = bool(difference)
    congruence = ("congruent" if exaggerates else "incongruent") if real else "none"
    truth = 2 * difference if subject == "Zöllner" else difference
    suffix = f"-difference-{_format_signed(difference)}-{congruence}" if real else ""
    return Scene(
        base_id=f"optical_illusions/{name}{suffix}",
        original_id=f"optical_illusions/{original}",
        domain="optical_illusions",
        subject=subject,
        subtopic="modified" if real else "original",
        variant="counterfactual" if real else "original",
        modification=congruence,
        target=TARGETS[subject],
        truths={TARGETS[subject]: float(truth)},
        standards={TARGETS[subject]: 0.0},
        settings={
            "illusion": subject,
            setting[0]: setting[1],
            "difference": difference,
            "congruence": congruence,
        },
    )


def _find_original_strength(subject: str, strength: float, difference: float) -> float:
    if not difference:
        return strength
    nearest = min(ORIGINALS[subject], key=lambda listed: abs(listed - abs(strength)))
    turned = subject != "Poggendorff" and (difference > 0) == (subject in _ZERO_AS_NEGATIVE)
    return -nearest if (strength < 0) != turned else nearest


def _format_signed(number: float) -> str:
    """A number as it stands in a name: `minus-0.5` for -0.5."""
    return f"minus-{-number:g}" if number < 0 else f"{number:g}"
