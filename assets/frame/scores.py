"""Scores: what each judge gives every picture, original and biased, one at a time, 0 to 5."""

from collections.abc import Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field

from assets.frame.biased_images import BIAS_COLUMNS, BIASED_IMAGE_COLUMNS, BiasedImagesConfig
from assets.frame.biases import NONE, list_configurations
from assets.frame.common import asset_key, by_source, split_source_key
from assets.frame.plain_readings import READING_VERSION, count_readings, read_plainly
from assets.frame.references import STAND_IN_ANSWERS
from assets.kit.columns import REAL, TEXT, TEXTS, Columns, to_frame
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.forecast import PENDING
from assets.kit.judging import JudgeStep, scored_columns
from assets.kit.limits import SamplingKey, stratified_head
from assets.kit.model_lookup import validate_names
from assets.kit.previews import markdown_table
from assets.kit.step import Conversation, Extent, StepAsset, StepReply, StepTable
from assets.kit.step_run import Input, Row, StepRun
from generators.perturbations.registry import to_json
from generators.prompts.judging_templates import SCALE, STANDARD, TEMPLATES, write_judging_prompt
from metrics import read_plain_rating, read_rating
from resources.models.requests import LookRequest, Turn

SCORES = Columns(
    **BIAS_COLUMNS,
    template=(TEXT, "Prompt template: standard, bias_aware, bias_definition or chain_of_thought"),
    template_version=(TEXT, "Digest of the template"),
    model=(TEXT, "The judge, as models.yaml names it"),
    entry_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    score=(REAL, "Score, 0 to 5; empty if there is none"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "The judge's reply; empty for a stand-in judge"),
    reason=(TEXT, "Reason for a missing score; else empty"),
    served_model=(TEXT, "Model that answered, as the provider names it; empty if unnamed"),
    **CONDITION_COLUMNS,
    calls=(TEXTS, "Keys of the stored calls behind the score; none for a stand-in judge"),
    plain_score=(REAL, "Score read from JSON or plain words, beside the one that counts"),
    reading_version=READING_VERSION,
)
"""Table with one row per picture and template."""

SCORED_IMAGE_COLUMNS = Columns(**BIASED_IMAGE_COLUMNS.subset(*BIAS_COLUMNS, "outcome"))
"""Columns of a biased picture that a judge's step reads: no boxes and no calls."""

READ_RESPONSES_REMEDY = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "judge may answer on another scale than 0 to 5. No picture without a score is in any mean."
)


Templates = Annotated[list[str], validate_names(TEMPLATES)]


class FrameScoresConfig(BiasedImagesConfig):
    """Pictures and templates for a judge; a limit counts pictures before their biases.

    By default it is asked about all that `frame/biased_images` has.
    """

    templates: Templates = Field(
        default=[STANDARD],
        min_length=1,
        description=f"Templates to score with: any of {', '.join(TEMPLATES)}.",
    )


def build_request(template: str, instruction: str, digest: str, sample: int = 0) -> LookRequest:
    """Build a judge's request about one picture; another `sample` asks the same once more."""
    turn = Turn("user", write_judging_prompt(template, instruction), (digest,))
    return LookRequest((turn,), sample)


def parse_reply(reply: StepReply) -> dict[str, Any]:
    """The columns of a judge's reply: `score`, `outcome`, `response`, `plain_score` …"""
    columns = scored_columns(reply, partial(read_rating, low=SCALE[0], high=SCALE[1]))
    read = partial(read_plain_rating, low=SCALE[0], high=SCALE[1])
    return columns | read_plainly(columns["response"], read, "plain_score")


def to_score_row(row: Row, template: str, step: JudgeStep[Any]) -> dict[str, Any]:
    """A picture that a step's judge is to be asked about by a template."""
    return {
        **row,
        "template": template,
        "template_version": TEMPLATES[template].version,
        "model": step.judge.name,
        "entry_version": step.asset.code_version,
        "calls": [],
    }


class FrameScores(JudgeStep[FrameScoresConfig]):
    """The scores that one judge gives the pictures of a domain and source."""

    config, stand_in_answers, example_request = FrameScoresConfig, STAND_IN_ANSWERS, LookRequest(())
    asset = StepAsset(
        key=asset_key("scores"),
        partitions_def=by_source,
        description="Scores by {name} of every picture, 0 to 5 (§5.1).",
    )
    table = StepTable(
        columns=SCORES, key_columns=("image_id", "parameters", "template"), has_portions=True
    )
    unparsed_check = ("bias", READ_RESPONSES_REMEDY)
    inputs = MappingProxyType(
        {
            "biased_images": Input(
                asset_key("biased_images"),
                streamed_columns=SCORED_IMAGE_COLUMNS,
                uses_default_config=True,
            )
        }
    )

    def rows(self, work: StepRun[FrameScoresConfig]) -> Iterator[dict[str, Any]]:
        """The pictures that it is asked about, by each template."""
        for row in _iterate_pictures(work):
            ended = {"outcome": PENDING if row["outcome"] == PENDING else None}
            for template in work.config.templates:
                yield to_score_row(row, template, self) | ended

    def query(self, work: StepRun[FrameScoresConfig], row: Row) -> Conversation:
        """Have the picture scored by the original instruction."""
        return parse_reply(
            (yield build_request(row["template"], row["instruction"] or "", row["sha256"]))
        )

    def extent(self, work: StepRun[FrameScoresConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all applicable pictures."""
        outcomes = (row["outcome"] for row in work.iterate_rows("biased_images", "outcome"))
        applicable_pictures = sum(outcome != "inapplicable" for outcome in outcomes)
        return Extent(
            count=len(rows) // len(work.config.templates),
            total=applicable_pictures,
            unit="pictures",
        )

    def metadata(self, work: StepRun[FrameScoresConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """The mean score by bias, and how many replies are read."""
        scored = to_frame(rows, "template", "bias", "score")
        means = scored.groupby(["template", "bias"], sort=False)["score"].agg(["count", "mean"])
        return {
            "scores": markdown_table(means.round(3).reset_index()),
            **count_readings(rows, "score", "plain_score"),
        }


def list_original_names(work: StepRun[Any], limit: int | None) -> set[str]:
    """List the ids of the unbiased pictures, the first `limit` of them."""
    names = [
        row["image_id"]
        for row in work.iterate_rows("biased_images", "image_id", "bias")
        if row["bias"] == NONE
    ]
    return set(stratified_head(names, limit, lambda name: SamplingKey(name, ())))


def _iterate_pictures(work: StepRun[FrameScoresConfig]) -> Iterator[dict[str, Any]]:
    """The pictures of `frame/biased_images` that the config names."""
    config, images = work.config, list_original_names(work, work.config.limit)
    domain, _ = split_source_key(work.partition)
    configurations = list_configurations(domain, config.biases, config.configurations)
    parameters = {to_json(perturbations) for perturbations in [(), *configurations]}
    return (
        row
        for row in work.iterate_rows("biased_images", *SCORED_IMAGE_COLUMNS.columns)
        if row["outcome"] != "inapplicable"
        and row["image_id"] in images
        and row["parameters"] in parameters
    )
