"""Prompt triplets: written, checked by rule, re-queried with what is wrong, or rejected."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import pandas as pd
from dagster import AssetCheckResult, AssetCheckSeverity
from pydantic import Field

from assets.kit.checks import (
    build_check_result,
    build_problem_table,
    find_miscounted_keys,
    to_partial_result,
)
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns
from assets.kit.conversations import find_longest_repair
from assets.kit.forecast import Forecast, StepSample
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.model_lookup import find_model
from assets.kit.previews import markdown_table
from assets.kit.sentences import GRAMMAR
from assets.kit.step import Check, Conversation, Extent, Step, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.kit.table_asset import TablesMismatch
from assets.protobias.common import TRIPLETS_KEY, asset_key, protobias_domains
from assets.protobias.concepts import CONCEPTS, format_sample_size, to_concept
from assets.protobias.own_triplets import (
    list_unusable_rows,
    load_own_triplets,
    load_templates,
    to_triplet_rows,
    unused_rows_warning,
)
from assets.protobias.selection import sampling_key
from assets.protobias.triplet_counts import (
    count_by_knob,
    count_by_rule,
    sample_examples,
    to_triplet,
)
from assets.protobias.writing import (
    LONGEST_FEEDBACK,
    REASKS,
    answer_by_grammar,
    build_retry,
    describe_faults,
    write_triplet,
)
from generators.prompts.concepts import Concept, Triplet
from generators.prompts.sampling import SIZES
from generators.prompts.triplet_check import find_faults
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import Outcome
from resources.models.pricing import find_output_limit
from resources.models.requests import Request, WriteRequest
from resources.user_files.own_triplets import is_own

TRIPLETS = Columns(
    **CONCEPTS.columns,
    writer=(TEXT, "Writer, as models.yaml names it; own for triplets from a file"),
    text=(TEXT, "The neutral sentence; empty where there is none"),
    correct=(TEXT, "The sentence of the non-prototype"),
    adversarial=(TEXT, "The sentence of the prototype, with another value of the knob"),
    outcome=(TEXT, "accepted, rejected (by rule), malformed, refused or failed"),
    rules=(TEXTS, "Broken rules, each once; empty if accepted"),
    earlier_rules=(TEXTS, "Rules that earlier attempts broke, each once"),
    reason=(TEXT, "Problem in words, or the provider's reason; else empty"),
    attempts=(WHOLE, "Number of requests, without those repeated for malformed JSON"),
    served_model=(TEXT, "Model that wrote it, as the provider names it; empty if unnamed"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
)

OUTCOMES = ("accepted", "rejected", "malformed", "refused", "failed")
_MAX_LISTED = 5


class TripletsConfig(LimitConfig):
    """Writer of the triplets; a limit counts concepts."""

    writer: str = Field(
        default=GRAMMAR,
        description=(
            "A model of models.yaml with the role writer. grammar uses no model; the paper uses "
            "Qwen2.5-7B-Instruct."
        ),
    )
    triplets_file: str = Field(
        default="",
        description=(
            "Path of a CSV or JSON-lines file with your own triplets, which are checked by the "
            "same rules and painted beside the others (docs/protobias.md)."
        ),
    )
    templates_file: str = Field(
        default="",
        description=(
            "Path of a YAML file with your own prompts for the writer, by domain. Default: the "
            "paper's (Tables 3 to 5)."
        ),
    )


class PromptTriplets(Step[TripletsConfig]):
    """The triplets of a domain, and those of a user's own after them."""

    config, example_request = TripletsConfig, WriteRequest(())
    asset = StepAsset(
        key=asset_key("prompt_triplets"),
        partitions_def=protobias_domains,
        description=(
            "Three sentences of one scene for each concept, checked by rule (ProtoBias, Tables 3 "
            "to 5)."
        ),
    )
    table = StepTable(columns=TRIPLETS, unstored_keys=("of", "templates"))
    inputs = MappingProxyType({"concepts": Input(asset_key("concepts"), row_columns=CONCEPTS)})

    def __init__(self, catalog: Catalog) -> None:
        super().__init__(catalog)
        self.forecast = Forecast(
            may_have_follow_up=lambda row: True,
            follow_up_requests=self._follow_up_requests,
            answer_locally=self._answer_locally,
            describe_sample=self._describe_sample,
            warn=self._warn,
        )

    def _describe_sample(self, partition: str, metadata: Mapping[str, Any]) -> StepSample | None:
        """Return the number of concepts with triplets, compared with the paper's."""
        number = int(metadata.get("triplets") or 0)
        return StepSample(format_sample_size(number, partition), number < SIZES[partition])

    def model(self, partition: str, config: TripletsConfig) -> Model:
        """The writer."""
        return find_model(self.catalog, config.writer, "writer")

    def rows(self, work: StepRun[TripletsConfig]) -> list[dict[str, Any]]:
        """The concepts, each with the templates of its writer."""
        writer = self.model(work.partition, work.config)
        templates = load_templates(work.config.templates_file, writer)
        concept_rows = ((row, to_concept(row)) for row in work.read_rows("concepts"))
        limited_rows = stratified_head(
            [*concept_rows], work.config.limit, lambda pair: concept_sampling_key(pair[1])
        )
        return [row | {"of": concept, "templates": templates} for row, concept in limited_rows]

    def converse(self, work: StepRun[TripletsConfig], row: Row) -> Conversation:
        """Have a triplet written; one that breaks a rule is re-queried."""
        writer = self.model(work.partition, work.config)
        return write_triplet(writer, row["of"], row["templates"])

    def finish(
        self, work: StepRun[TripletsConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Append the user's own triplets to the rows."""
        own_triplets = load_own_triplets(work.config.triplets_file, work.partition)
        return [*rows, *to_triplet_rows(own_triplets, len(work.tables["concepts"]))]

    def extent(self, work: StepRun[TripletsConfig], rows: Sequence[Row]) -> Extent:
        """Return the extent among all concepts."""
        return Extent(
            count=len(_select_written(rows)), total=len(work.tables["concepts"]), unit="concepts"
        )

    def _answer_locally(self, model: Model, request: Request) -> Outcome | None:
        """Return the reply of the built-in writer; None for other models."""
        return (
            answer_by_grammar(cast(WriteRequest, request)) if model.backend == "stand_in" else None
        )

    def _follow_up_requests(
        self, work: StepRun[TripletsConfig], row: Row, request: Request
    ) -> Iterator[WriteRequest]:
        """Yield the longest possible follow-ups, each again for JSON that follows the schema.

        Of the first request a quote counts that by itself.
        """
        writer, retry = self.model(work.partition, work.config), cast(WriteRequest, request)
        reply = "?" * (find_output_limit(writer) or 0)
        for _ in range(len(retry.turns) // 2, REASKS):
            retry = build_retry(retry, reply, "?" * LONGEST_FEEDBACK)
            yield retry
            repair = find_longest_repair(writer, retry)
            if repair is not None:
                yield repair

    def _warn(self, partition: str, config: TripletsConfig) -> str | None:
        """Return a warning about unused rows of the user's own file."""
        return unused_rows_warning(
            load_own_triplets(config.triplets_file, partition), config.triplets_file
        )

    def metadata(self, work: StepRun[TripletsConfig], rows: Sequence[Row]) -> dict[str, Any]:
        """Retention by knob and rule, and examples."""
        own_triplets, written = (
            load_own_triplets(work.config.triplets_file, work.partition),
            _select_written(rows),
        )
        return {
            "triplets": len(written),
            **Counter(row["outcome"] for row in written),
            "by_knob": markdown_table(count_by_knob(written)),
            "by_rule": markdown_table(count_by_rule(written)),
            "examples": markdown_table(sample_examples(written)),
            "own": len(own_triplets.triplets),
            "own_rows_not_used": markdown_table(list_unusable_rows(own_triplets)),
        }

    def checks(self) -> list[Check]:
        """Check that each concept has one row, and that each accepted triplet passes by rule."""
        description = "Every concept has one row, and every accepted triplet passes by rule."
        return [
            Check("accepted_triplets_hold", description, self._hold, blocking=True),
            Check(
                "every_concept_has_a_triplet",
                "Every concept has a triplet that was accepted.",
                _check_every_concept,
            ),
        ]

    def _hold(self, work: StepRun[TripletsConfig], rows: Sequence[Row]) -> AssetCheckResult:
        extent = self.extent(work, rows)
        description = f"{extent.count} rows for {extent.total} concepts"
        if own_rows := len(rows) - extent.count:
            description += f", and {own_rows} of your own"
        wrong = find_broken_rows(rows, work.read_rows("concepts"), work.config.limit)
        return to_partial_result(build_check_result(description, wrong), extent)


def find_broken_rows(
    rows: Sequence[Row], concepts: Iterable[Row], limit: int | None = None
) -> pd.DataFrame:
    """Concepts without exactly one row, and accepted rows that break a rule."""
    sampled_concepts = stratified_head(
        [to_concept(row) for row in concepts], limit, concept_sampling_key
    )
    own_ids = dict.fromkeys(row["concept_id"] for row in rows if is_own(row["concept_id"]))
    expected_keys = [
        (name,) for name in (*(concept.concept_id for concept in sampled_concepts), *own_ids)
    ]
    return build_problem_table(
        [
            *find_miscounted_keys(rows, lambda: expected_keys, ["concept_id"]),
            *(
                (row["concept_id"], describe_faults(faults))
                for row in rows
                if row["outcome"] == "accepted"
                and (faults := find_faults(to_concept(row), to_triplet(row)))
            ),
        ]
    )


def concept_sampling_key(concept: Concept) -> SamplingKey:
    """The place of a concept in the order of a limit: that of its first pair."""
    return sampling_key(f"{concept.concept_id}/0", concept.group, concept.knob)


def select_accepted(table: pd.DataFrame) -> list[tuple[Concept, Triplet]]:
    """The triplets that may be painted, in the order of the table, checked by rule once more.

    Raises `TablesMismatch` for a table that was edited by hand so that one of them does not pass
    now, or stands there twice, or that a row has another outcome than there is.
    """
    pairs = []
    problems = [
        f"{row['concept_id']} (outcome: {row['outcome']!r} is none of {', '.join(OUTCOMES)})"
        for row in TRIPLETS.read_rows(table[~table["outcome"].isin(OUTCOMES)], TRIPLETS_KEY)
    ]
    for row in TRIPLETS.read_rows(table[table["outcome"] == "accepted"], TRIPLETS_KEY):
        if lacking := [name for name in CONCEPTS.columns if row[name] is None]:
            problems.append(f"{row['concept_id']} ({', '.join(lacking)}: empty)")
            continue
        concept = to_concept(row)
        triplet = to_triplet(row)
        if wrong := find_faults(concept, triplet):
            problems.append(f"{concept.concept_id} ({describe_faults(wrong)})")
        pairs.append((concept, triplet))
    counts = Counter(concept.concept_id for concept, _ in pairs)
    problems += [f"{name} (stands there {n} times)" for name, n in counts.items() if n > 1]
    if problems:
        more = f"; and {len(problems) - _MAX_LISTED} more" if len(problems) > _MAX_LISTED else ""
        raise TablesMismatch(
            f"protobias/prompt_triplets ({table['domain'].iloc[0]}) holds rows that do not pass: "
            f"{'; '.join(problems[:_MAX_LISTED])}{more}. Its table was changed since it was "
            "written: mend these rows or set their outcome to rejected, or materialize "
            "protobias/prompt_triplets again, which asks no model again. Nothing was painted."
        )
    return pairs


def _select_written(rows: Sequence[Row]) -> list[Row]:
    """The rows that are not of the user's own."""
    return [row for row in rows if not is_own(row["concept_id"])]


def _check_every_concept(work: StepRun[TripletsConfig], rows: Sequence[Row]) -> AssetCheckResult:
    """Check that every concept has a triplet; the result counts the other outcomes."""
    others = [row for row in rows if row["outcome"] != "accepted"]
    description = f"{len(rows) - len(others)} of {len(rows)} concepts have a triplet"
    outcomes = Counter(row["outcome"] for row in others)
    if outcomes:
        description += (
            f": {', '.join(f'{number} {outcome}' for outcome, number in outcomes.items())}"
        )
    if outcomes["failed"]:
        description += ". Materialize protobias/prompt_triplets again: only what failed is sent"
    shown = pd.DataFrame(others, columns=["concept_id", "outcome", "reason"])
    return build_check_result(description, shown)._replace(severity=AssetCheckSeverity.WARN)
