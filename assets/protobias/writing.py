"""Writing of a triplet: queried, checked by rule, re-queried with the problems."""

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from assets.kit.conversations import reason_of, unanswered
from assets.kit.step import Conversation
from generators.prompts.concepts import Concept, Faults, Triplet
from generators.prompts.grammar import NotUnderstood, fields_of, triplet
from generators.prompts.phrasing import tidied
from generators.prompts.templates import SCHEMA, template
from generators.prompts.triplet_check import find_faults
from resources.models.catalog import Model
from resources.models.outcomes import Answered, Failed, Outcome, Refused, data_in
from resources.models.requests import Turn, Write

REASKS = 2
"""How often a triplet is re-queried at most, with what is wrong with it."""
LONGEST_FEEDBACK = 1500
"""Bytes at most of what a writer is told about its faults: quotes have to bound it."""
_SCHEMA = json.dumps(SCHEMA)
_WITHOUT_SCHEMAS = frozenset({"transformers"})
"""The backends that hold nothing to a schema: the template asks for JSON as well."""


def write_triplet(writer: Model, concept: Concept, templates: Mapping[str, str]) -> Conversation:
    """Query a writer until its triplet passes by rule; return how it ended, as columns.

    Our own writer, whose every answer is certain, is not re-queried: it would only say the same.
    """
    request = first_request(writer, concept, templates)
    attempts = 1 if writer.backend == "offline" else 1 + REASKS
    row: dict[str, Any] = dict.fromkeys((*Triplet._fields, "reason", "served_model"))
    row |= {"writer": writer.name, "rules": [], "earlier_rules": [], "calls": []}
    for attempt in range(1, attempts + 1):
        outcome, calls = yield request
        row |= {"attempts": attempt, "calls": [*row["calls"], *calls]}
        if not isinstance(outcome, Failed):
            row["served_model"] = outcome.served_model
        if not isinstance(outcome, Answered):
            ended = unanswered(outcome)
            return row | {"outcome": ended["outcome"], "reason": reason_of(ended)}
        try:
            said = _sentences(outcome, request)
        except ValueError as problem:
            row |= {"outcome": "malformed", "reason": str(problem)}
            wrong = f"That is not what was asked for: {problem}. {problem}"
        else:
            found = find_faults(concept, said)
            row |= {
                **said._asdict(),
                "outcome": "rejected" if found else "accepted",
                "earlier_rules": list(dict.fromkeys((*row["earlier_rules"], *row["rules"]))),
                "rules": list(dict.fromkeys(fault.rule for fault in found)),
                "reason": describe_faults(found) or None,
            }
            if not found:
                return row
            wrong = f"These sentences break rules. {row['reason']}"
        request = requery(request, outcome.text or "", wrong)
    return row


def first_request(
    writer: Model, concept: Concept, templates: Mapping[str, str] = MappingProxyType({})
) -> Write:
    """What a writer is asked first: ours for the fields of a triplet, others in the paper's words.

    Tables 3 to 5 have the template, unless `templates` has one for the domain.
    """
    if writer.backend == "offline":
        return Write((Turn("user", json.dumps(fields_of(concept))),), _SCHEMA)
    schema = None if writer.backend in _WITHOUT_SCHEMAS else _SCHEMA
    return Write((Turn("user", template(concept, templates)),), schema)


def requery(request: Write, text: str, wrong: str) -> Write:
    """A further turn of the conversation: what was written, and what is wrong with it."""
    cut = wrong.encode(errors="replace")[:LONGEST_FEEDBACK].decode(errors="ignore")
    told = f"{cut}\nWrite all three sentences again, by the same rules and in the same format."
    return replace(request, turns=(*request.turns, Turn("assistant", text), Turn("user", told)))


def by_grammar(request: Write) -> Outcome:
    """What our own writer says, which nobody has to ask to know."""
    try:
        data = triplet(json.loads(request.turns[-1].text))
    except NotUnderstood as why:
        return Refused("model", str(why))
    return Answered(json.dumps(data), data=data)


def describe_faults(found: Faults) -> str:
    """What is wrong, one line a fault."""
    return "\n".join(f"{fault.rule}: {fault.problem}" for fault in found)


def _sentences(answer: Answered, request: Write) -> Triplet:
    """What was written. Raises `ValueError` where that is not what was asked for."""
    data = data_in(answer.text or "", SCHEMA) if request.schema is None else answer.data
    return Triplet(*(tidied(data[name]) for name in Triplet._fields))
