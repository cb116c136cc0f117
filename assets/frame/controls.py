"""Controls: scores of pictures that look the same, asked about under shams and a second time.

A bias is an attack only as far as it moves a score further than these do.
"""

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.frame.biases import CONTROLS, SECOND_REQUEST, SHAMS
from assets.frame.common import asset_key, by_source
from assets.frame.perturbed_scores import PerturbedScores
from assets.frame.scores import READ_RESPONSES_REMEDY, SCORES
from assets.kit.columns import TEXT, WHOLE, Columns, to_frame
from assets.kit.limits import LimitConfig
from assets.kit.model_lookup import validate_names
from assets.kit.previews import markdown_table
from assets.kit.step import StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from generators.perturbations.registry import to_json

CONTROL_SCORES = Columns(
    **{name: column for name, column in SCORES.columns.items() if name != "bias"},
    control=(TEXT, f"{', '.join(SHAMS)} (shams that nobody sees), or {SECOND_REQUEST}"),
    sample=(WHOLE, "Number of the request for the same picture: 1 for a second request, else 0"),
)
"""Table with one row per picture and control."""


class ControlsConfig(LimitConfig):
    """Controls to ask about; a limit counts pictures."""

    controls: Annotated[list[str], validate_names(CONTROLS)] = Field(
        default=list(CONTROLS),
        min_length=1,
        description=f"Controls to ask about: any of {', '.join(CONTROLS)}.",
    )


class ControlScores(PerturbedScores[ControlsConfig]):
    """A judge's scores of every original under each sham, and of the same picture once more."""

    config = ControlsConfig
    unparsed_check = ("control", READ_RESPONSES_REMEDY)
    asset = StepAsset(
        key=asset_key("controls"),
        description=(
            "Scores by {name} of every original picture under changes that nobody sees (JPEG at "
            "95, one grey level), and of the same picture asked about once more: how far a score "
            "moves by itself."
        ),
        partitions_def=by_source,
    )
    table = StepTable(
        columns=CONTROL_SCORES,
        key_columns=("image_id", "control"),
        has_portions=True,
        unstored_keys=PerturbedScores.unstored_keys,
    )
    inputs = MappingProxyType(
        {
            "biased_images": Input(
                asset_key("biased_images"),
                streamed_columns=BIASED_IMAGE_COLUMNS,
                uses_default_config=True,
            )
        }
    )

    def rows(self, work: StepRun[ControlsConfig]) -> Iterator[dict[str, Any]]:
        """Yield each original under every control."""
        names = {_to_parameters(control): control for control in work.config.controls}
        tried = [(SHAMS[control],) if control in SHAMS else () for control in names.values()]
        for row in self.build_rows(work, tried):
            control = names[row["parameters"]]
            yield row | {"control": control, "sample": int(control == SECOND_REQUEST)}

    def metadata(self, work: StepRun[ControlsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """The mean score by control."""
        scored = to_frame(rows, "control", "score")
        means = scored.groupby("control", sort=False)["score"].agg(["count", "mean"])
        return {"scores": markdown_table(means.round(3).reset_index())}


def _to_parameters(control: str) -> str:
    return to_json([SHAMS[control]] if control in SHAMS else [])
