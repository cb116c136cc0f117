"""Prompt triplets: written, checked by rule, asked for again with what is wrong, or rejected."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetsDefinition, MaterializeResult
from pydantic import Field

from assets.kit.choice import chosen
from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns, materialized
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, Placed, first_of, partial_metadata
from assets.kit.previews import markdown_table
from assets.kit.table_asset import Mismatch
from assets.protobias.common import table_asset
from assets.protobias.concepts import CONCEPTS, concept_of
from assets.protobias.own import own_of, rows_of, templates_of, warning, wrong_rows
from assets.protobias.partitions import protobias_domains
from assets.protobias.selection import placed
from assets.protobias.writing import Draft, draft_of, problems_of, row_of
from generators.prompts.concepts import Concept, Triplet
from generators.prompts.triplet_check import RULES, find_faults
from resources.budget import Budget
from resources.models.catalog import Catalog
from resources.models.client import ModelClient

GRAMMAR = "grammar"
"""The writer that needs no model."""

TRIPLETS = Columns(
    **CONCEPTS.columns,
    writer=(TEXT, "Who wrote it, as models.yaml names it; own for those of a file"),
    text=(TEXT, "The neutral sentence; empty where there is none"),
    correct=(TEXT, "The sentence of the non-prototype"),
    adversarial=(TEXT, "The sentence of the prototype, with another value of the knob"),
    outcome=(TEXT, "accepted, rejected (by rule), malformed, refused or failed"),
    rules=(TEXTS, "The rules that it breaks, each once; none where it is accepted"),
    earlier_rules=(TEXTS, "The rules that earlier attempts at it broke, each once"),
    reason=(TEXT, "What is wrong with it in words, or the provider's reason; else empty"),
    attempts=(WHOLE, "How often it was asked for; once more for JSON does not count"),
    served_model=(TEXT, "Which model wrote it, as the provider says; empty where it does not"),
    calls=(TEXTS, "Keys of the stored calls behind it"),
).added(habitats=[])

OUTCOMES = ("accepted", "rejected", "malformed", "refused", "failed")
_SHOWN = 6
_NAMED = 5


class Writing(Limited):
    """Who writes; a limit is on concepts."""

    writer: str = Field(
        default=GRAMMAR,
        description="A model of models.yaml with the role writer. grammar needs no model; the "
        "paper has Qwen2.5-7B-Instruct.",
    )
    triplets_file: str = Field(
        default="",
        description="Path of a CSV or JSON-lines file with triplets of your own, which are checked "
        "by the same rules and painted beside the others (docs/protobias.md).",
    )
    templates_file: str = Field(
        default="",
        description="Path of a YAML file with prompts of your own for the writer, by domain; by "
        "default the paper's, Tables 3 to 5.",
    )


def triplets_by(catalog: Catalog) -> AssetsDefinition:
    """The asset `prompt_triplets`, with the writers of a catalog."""

    @table_asset(
        columns=TRIPLETS,
        partitions=protobias_domains,
        pool="prompt_triplets",
        description="Three sentences of one scene for each concept, checked by rule (ProtoBias, "
        "Tables 3 to 5).",
    )
    def prompt_triplets(
        context: AssetExecutionContext,
        config: Writing,
        concepts: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
    ) -> MaterializeResult[pa.Table]:
        """Have each triplet written; one that breaks a rule is asked for again, twice at most."""
        writer, account = chosen(catalog, config.writer, "writer"), budget.account(context)
        templates = templates_of(config.templates_file, writer)
        own = own_of(config.triplets_file, context.partition_key)
        if told := warning(own, config.triplets_file):
            context.log.warning(told)
        every = CONCEPTS.rows(concepts)
        rows = first_of(every, config.limit, lambda row: placed_concept(concept_of(row)))
        drafts = [draft_of(writer, concept_of(row), templates) for row in rows]
        rounds = []
        while waiting := [place for place, draft in enumerate(drafts) if draft.outcome is None]:
            requests = [drafts[place].request for place in waiting]
            asked = models.ask(writer, requests, context.log, account)
            for place, outcome, keys in zip(waiting, asked.outcomes, asked.keys, strict=True):
                drafts[place] = drafts[place].after(outcome, keys)
            rounds.append(asked)
        written = [row | row_of(draft) for row, draft in zip(rows, drafts, strict=True)]
        return materialized(
            TRIPLETS.table([*written, *rows_of(own, len(concepts))]),
            triplets=len(written),
            **partial_metadata(len(written), len(concepts), "concepts"),
            **Counter(row["outcome"] for row in written),
            by_knob=markdown_table(_by_knob(written)),
            by_rule=markdown_table(_by_rule(written)),
            examples=markdown_table(_examples(drafts)),
            own=len(own.triplets),
            own_rows_not_used=markdown_table(wrong_rows(own)),
            **cost_metadata(*rounds),
        )

    return prompt_triplets


def placed_concept(concept: Concept) -> Placed:
    """The place of a concept in the order of a limit: that of its first pair."""
    return placed(f"{concept.concept_id}/0", concept.group, concept.knob)


def accepted(table: pd.DataFrame) -> list[tuple[Concept, Triplet]]:
    """The triplets that may be painted, in the order of the table, checked by rule once more.

    Raises `Mismatch` for a table that was edited by hand so that one of them does not pass now, or
    stands there twice, or that a row has another outcome than there is.
    """
    found = []
    problems = [
        f"{row['concept_id']} (outcome: {row['outcome']!r} is none of {', '.join(OUTCOMES)})"
        for row in TRIPLETS.rows(table[~table["outcome"].isin(OUTCOMES)])
    ]
    for row in TRIPLETS.rows(table[table["outcome"] == "accepted"]):
        if lacking := [name for name in CONCEPTS.columns if row[name] is None]:
            problems.append(f"{row['concept_id']} ({', '.join(lacking)}: empty)")
            continue
        concept = concept_of(row)
        triplet = Triplet(*(row[name] or "" for name in Triplet._fields))
        if wrong := find_faults(concept, triplet):
            problems.append(f"{concept.concept_id} ({problems_of(wrong)})")
        found.append((concept, triplet))
    counts = Counter(concept.concept_id for concept, _ in found)
    problems += [f"{name} (stands there {n} times)" for name, n in counts.items() if n > 1]
    if problems:
        more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
        raise Mismatch(
            f"protobias/prompt_triplets ({table['domain'].iloc[0]}) holds rows that do not pass: "
            f"{'; '.join(problems[:_NAMED])}{more}. Its table was changed since it was written: "
            "mend these rows or set their outcome to rejected, or materialize "
            "protobias/prompt_triplets again, which asks no model again. Nothing was painted."
        )
    return found


def _by_knob(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """By knob and for all: triplets asked for, accepted at once, accepted in the end."""
    counted = []
    for knob in [*dict.fromkeys(row["knob"] for row in rows), "all"]:
        some = [row for row in rows if knob in (row["knob"], "all")]
        kept = [row for row in some if row["outcome"] == "accepted"]
        at_once = sum(row["attempts"] == 1 for row in kept)
        share = f"{len(kept) / len(some):.1%}" if some else ""
        counted.append((knob, len(some), at_once, len(kept), share))
    columns = ["knob", "concepts", "accepted at once", "accepted", "retention"]
    return pd.DataFrame(counted, columns=columns)


def _by_rule(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """By rule: triplets that ever broke it, those mended when told, and those it rejects."""
    broken = Counter(rule for row in rows for rule in _ever_broken(row))
    rejects = Counter(rule for row in rows if row["outcome"] == "rejected" for rule in row["rules"])
    mended = Counter(
        rule for row in rows if row["outcome"] == "accepted" for rule in row["earlier_rules"]
    )
    counted = [
        (rule, broken[rule], mended[rule], rejects[rule], f"{1 - rejects[rule] / len(rows):.1%}")
        for rule in RULES
    ]
    columns = ["rule", "broken", "mended when told", "rejected", "retention"]
    return pd.DataFrame(counted, columns=columns)


def _ever_broken(row: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*row["earlier_rules"], *row["rules"]]))


def _examples(drafts: Sequence[Draft]) -> pd.DataFrame:
    """The first triplets that were accepted of some cells of the taxonomy, evenly chosen."""
    firsts: dict[str, Triplet] = {}
    for draft in drafts:
        if draft.outcome == "accepted" and draft.triplet:
            firsts.setdefault(draft.concept.concept, draft.triplet)
    step = max(1, -(-len(firsts) // _SHOWN))
    shown = [(concept, *triplet) for concept, triplet in firsts.items()][::step]
    return pd.DataFrame(shown, columns=["concept", *Triplet._fields])
