"""Scores: what each judge gives every picture, original and biased, one at a time, 0 to 5."""

from collections.abc import Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field

from assets.frame.biased_images import BIASED, OF_BIASED, Biases
from assets.frame.biases import NONE, configurations
from assets.frame.common import GROUP, by_source, domain_and_source, key
from assets.frame.references import REFERENCES
from assets.kit.choice import names_among
from assets.kit.columns import REAL, TEXT, TEXTS, Columns, frame_of
from assets.kit.judging import JudgeStep, scored_columns
from assets.kit.limits import Placed, first_of
from assets.kit.previews import markdown_table
from assets.kit.step import PENDING, Conversation, Extent, Input, Reply, Row, Work
from generators.perturbations.registry import to_json
from generators.prompts.judging_templates import SCALE, STANDARD, TEMPLATES, judging_prompt
from metrics import read_rating
from resources.models.requests import Look, Turn

SCORES = Columns(
    **OF_BIASED,
    template=(TEXT, "What was asked: standard, bias_aware, bias_definition or chain_of_thought"),
    template_version=(TEXT, "Of its words"),
    model=(TEXT, "The judge, as models.yaml names it"),
    model_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    score=(REAL, "0 to 5; empty where there is none"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if refused; else empty"),
    response=(TEXT, "What the judge said; empty for a reference judge"),
    reason=(TEXT, "Why there is no score; else empty"),
    served_model=(TEXT, "Which model said it, as the provider says; empty where it does not"),
    calls=(TEXTS, "Keys of the stored calls behind the score; none for a reference judge"),
)
"""One row a picture and template."""

ASKED = Columns(**BIASED.some(*OF_BIASED, "outcome"))
"""What a judge's step reads of a biased picture: neither boxes nor the calls behind it."""

READ_SOME = (
    "Read some of the table's responses: a longest_output that is too small cuts them off, and a "
    "judge may answer on another scale than 0 to 5. No picture without a score is in any mean."
)


Templates = Annotated[list[str], names_among(TEMPLATES)]


class Scoring(Biases):
    """Which pictures a judge is asked about, and how; a limit is on pictures before their biases.

    By default it is asked about all that `frame/biased_images` has.
    """

    templates: Templates = Field(
        default=[STANDARD], min_length=1, description=f"Some of {', '.join(TEMPLATES)}."
    )


def asked(template: str, instruction: str, digest: str) -> Look:
    """What a judge is asked about one picture."""
    return Look((Turn("user", judging_prompt(template, instruction), (digest,)),))


def read(reply: Reply) -> dict[str, Any]:
    """The columns of a judge's reply to `asked`: `score`, `outcome`, `response`, `reason` …"""
    return scored_columns(reply, partial(read_rating, low=SCALE[0], high=SCALE[1]))


def to_score(row: Row, template: str, step: JudgeStep[Any]) -> dict[str, Any]:
    """A picture that a step's judge is to be asked about by a template."""
    return {
        **row,
        "template": template,
        "template_version": TEMPLATES[template].version,
        "model": step.judge.name,
        "model_version": step.code_version,
        "calls": [],
    }


class Scores(JudgeStep[Scoring]):
    """The scores that one judge gives the pictures of a domain and source."""

    group, columns, config, partitions = GROUP, SCORES, Scoring, by_source
    named, references, asks = "scores", REFERENCES, Look(())
    told = "What {judge} gives every picture, 0 to 5 (§5.1)."
    named_by, has_portions = ("image_id", "parameters", "template"), True
    unread = ("bias", READ_SOME)
    inputs = MappingProxyType(
        {"biased_images": Input(key("biased_images"), by_row=ASKED, by_default=True)}
    )

    def each_row(self, work: Work[Scoring]) -> Iterator[dict[str, Any]]:
        """The pictures that it is asked about, by each template."""
        for row in _wanted(work):
            ended = {"outcome": PENDING if row["outcome"] == PENDING else None}
            for template in work.config.templates:
                yield to_score(row, template, self) | ended

    def query(self, work: Work[Scoring], row: Row) -> Conversation:
        """Have the picture scored by the original instruction."""
        return read((yield asked(row["template"], row["instruction"] or "", row["sha256"])))

    def extent(self, work: Work[Scoring], rows: Sequence[Row]) -> Extent:
        """Of all pictures that there are."""
        outcomes = (row["outcome"] for row in work.each("biased_images", "outcome"))
        there = sum(outcome != "inapplicable" for outcome in outcomes)
        return Extent(len(rows) // len(work.config.templates), there, "pictures")

    def metadata(self, work: Work[Scoring], rows: Sequence[Row]) -> dict[str, Any]:
        """The mean score by bias."""
        scored = frame_of(rows, "template", "bias", "score")
        means = scored.groupby(["template", "bias"], sort=False)["score"].agg(["count", "mean"])
        return {"scores": markdown_table(means.round(3).reset_index())}


def originals(work: Work[Any], limit: int | None) -> set[str]:
    """The names of the pictures of `frame/biased_images`, as they were; of a limit the first."""
    names = [
        row["image_id"]
        for row in work.each("biased_images", "image_id", "bias")
        if row["bias"] == NONE
    ]
    return set(first_of(names, limit, lambda name: Placed(name, ())))


def _wanted(work: Work[Scoring]) -> Iterator[dict[str, Any]]:
    """The pictures of `frame/biased_images` that the config names."""
    config, images = work.config, originals(work, work.config.limit)
    domain, _ = domain_and_source(work.partition)
    tried = configurations(domain, config.biases, config.configurations)
    wanted = {to_json(each) for each in [(), *tried]}
    return (
        row
        for row in work.each("biased_images", *ASKED.columns)
        if row["outcome"] != "inapplicable"
        and row["image_id"] in images
        and row["parameters"] in wanted
    )
