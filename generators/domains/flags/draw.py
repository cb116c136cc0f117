"""Draw flags, with a count of stars or stripes of our choice."""

from dataclasses import replace

from generators.canvas import create_canvas
from generators.domains.flags.cloth import Cloth
from generators.domains.flags.designs import FLAGS
from generators.scene import Scene

VERSION = "2"
MIN_SIZE = 384

GROUND = "#808080"
"""The ground under the flag: a grey that is far from every colour of every flag."""

_STEPS = {"add": 1, "remove": -1}


def list_scenes(seed: int) -> list[Scene]:
    """The 40 counterfactuals, stars before stripes, and then the 19 originals.

    Flags have nothing to vary: every seed gives the same scenes.
    """
    counterfactuals = [
        build_counterfactual(slug, target, modification)
        for target in ("stars", "stripes")
        for slug, flag in FLAGS.items()
        if target in flag.standards
        for modification in _STEPS
    ]
    return counterfactuals + [build_original(slug) for slug in FLAGS]


def build_counterfactual(slug: str, target: str, modification: str) -> Scene:
    """The flag `slug` with one star or stripe more ("add") or fewer ("remove")."""
    standards = FLAGS[slug].standards
    truths = {**standards, target: standards[target] + _STEPS[modification]}
    return replace(
        build_original(slug),
        base_id=f"flags/{slug}-{target}-{modification}",
        subtopic=target,
        variant="counterfactual",
        modification=modification,
        target=target,
        truths=truths,
        settings={"flag": slug, **truths},
        image_set="benchmark",
    )


def build_original(slug: str) -> Scene:
    """The flag `slug` as it is."""
    standards = FLAGS[slug].standards
    target = next(iter(standards))
    return Scene(
        base_id=f"flags/{slug}",
        original_id=f"flags/{slug}",
        domain="flags",
        subject=_get_subject(slug),
        subtopic=target,
        variant="original",
        modification="none",
        target=target,
        truths=standards,
        standards=standards,
        settings={"flag": slug, **standards},
        image_set="originals",
    )


def _get_subject(slug: str) -> str:
    return FLAGS[slug].name.removeprefix("the ")


def draw(scene: Scene, size: int) -> str:
    """The SVG of a flag on grey ground, `size` px wide with a margin of a twenty-fourth of that.

    The counts are those of the scene's settings: `stars`, `stripes` or both.
    """
    counts = dict(scene.settings)
    flag = FLAGS[str(counts.pop("flag"))]
    margin = round(size / 24)
    width = size - 2 * margin
    height = round(width * flag.height / flag.width)
    drawing = create_canvas(size, height + 2 * margin, GROUND)
    cloth = Cloth(
        drawing=drawing,
        corner=(margin, margin),
        extent=(width, height),
        width=flag.width,
        height=flag.height,
    )
    flag.paint(cloth, **counts)
    return str(drawing.tostring())
