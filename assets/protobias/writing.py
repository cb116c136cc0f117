"""Writing of a triplet: queried, checked by rule, re-queried with the problems."""

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from assets.kit.conversations import format_reason, unanswered_columns
from assets.kit.step import Conversation
from generators.prompts.concepts import Concept, Triplet, TripletFaults
from generators.prompts.phrasing import tidy_sentence
from generators.prompts.templates import SCHEMA, write_triplet_prompt
from generators.prompts.triplet_check import find_faults
from generators.prompts.triplet_grammar import BadTripletFields, build_triplet, to_triplet_fields
from resources.models.catalog import Model
from resources.models.outcomes import (
    AnsweredOutcome,
    FailedOutcome,
    Outcome,
    RefusedOutcome,
)
from resources.models.requests import Turn, WriteRequest

REASKS = 2
"""Maximum number of re-queries for a triplet, each naming the broken rules."""
LONGEST_FEEDBACK = 1500
"""Largest message about a writer's faults in bytes, which quotes need as a bound."""
_SCHEMA = json.dumps(SCHEMA)


def write_triplet(writer: Model, concept: Concept, templates: Mapping[str, str]) -> Conversation:
    """Query a writer until its triplet passes by rule; return how it ended, as columns.

    Our own writer, whose every answer is certain, is not re-queried: it would only say the same.
    """
    request = first_request(writer, concept, templates)
    attempts = 1 if writer.backend == "stand_in" else 1 + REASKS
    row: dict[str, Any] = dict.fromkeys((*Triplet._fields, "reason", "served_model"))
    row |= {"writer": writer.name, "rules": [], "earlier_rules": [], "calls": []}
    for attempt in range(1, attempts + 1):
        outcome, calls = yield request
        row |= {"attempts": attempt, "calls": [*row["calls"], *calls]}
        if not isinstance(outcome, FailedOutcome):
            row["served_model"] = outcome.served_model
        if not isinstance(outcome, AnsweredOutcome):
            ended = unanswered_columns(outcome)
            return row | {"outcome": ended["outcome"], "reason": format_reason(ended)}
        triplet = Triplet(*(tidy_sentence(outcome.data[name]) for name in Triplet._fields))
        faults = find_faults(concept, triplet)
        row |= {
            **triplet._asdict(),
            "outcome": "rejected" if faults else "accepted",
            "earlier_rules": list(dict.fromkeys((*row["earlier_rules"], *row["rules"]))),
            "rules": list(dict.fromkeys(fault.rule for fault in faults)),
            "reason": describe_faults(faults) or None,
        }
        if not faults:
            return row
        wrong = f"These sentences break rules. {row['reason']}"
        request = build_retry(request, outcome.text or "", wrong)
    return row


def first_request(
    writer: Model, concept: Concept, templates: Mapping[str, str] = MappingProxyType({})
) -> WriteRequest:
    """Build a writer's first request: a triplet's fields for ours, the paper's words for others.

    Tables 3 to 5 have the template, unless `templates` has one for the domain.
    """
    is_own = writer.backend == "stand_in"
    text = (
        json.dumps(to_triplet_fields(concept))
        if is_own
        else write_triplet_prompt(concept, templates)
    )
    return WriteRequest((Turn("user", text),), _SCHEMA)


def build_retry(request: WriteRequest, text: str, wrong: str) -> WriteRequest:
    """A further turn of the conversation: what was written, and what is wrong with it."""
    cut = wrong.encode(errors="replace")[:LONGEST_FEEDBACK].decode(errors="ignore")
    feedback = f"{cut}\nWrite all three sentences again, by the same rules and in the same format."
    return replace(request, turns=(*request.turns, Turn("assistant", text), Turn("user", feedback)))


def answer_by_grammar(request: WriteRequest) -> Outcome:
    """Return the built-in writer's reply to a request, without asking a model."""
    try:
        data = build_triplet(json.loads(request.turns[-1].text))
    except BadTripletFields as why:
        return RefusedOutcome("model", str(why))
    return AnsweredOutcome(json.dumps(data), data=data)


def describe_faults(faults: TripletFaults) -> str:
    """List the faults, one per line."""
    return "\n".join(f"{fault.rule}: {fault.problem}" for fault in faults)
