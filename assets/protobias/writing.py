"""How a triplet comes about: asked for, checked by rule, asked for again with what is wrong."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from generators.prompts.concepts import Concept, Faults, Triplet
from generators.prompts.grammar import fields_of
from generators.prompts.phrasing import tidied
from generators.prompts.templates import SCHEMA, template
from generators.prompts.triplet_check import find_faults
from resources.models.catalog import Model
from resources.models.outcomes import Answered, Failed, Malformed, Outcome, Refused, data_in
from resources.models.requests import Turn, Write

REASKS = 2
"""How often a triplet is asked for again at most, with what is wrong with it."""
MOST_SAID = 1500
"""Bytes at most of what a writer is told about its faults: quotes have to bound it."""
_SCHEMA = json.dumps(SCHEMA)
_WITHOUT_SCHEMAS = frozenset({"transformers"})
"""The backends that hold nothing to a schema: the template asks for JSON as well."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Where the writing of one concept's triplet stands."""

    concept: Concept
    writer: Model
    request: Write
    """What is asked next; of what has ended, what was asked last."""
    outcome: str | None = None
    """accepted, rejected, malformed, refused or failed; None as long as it is to be asked."""
    triplet: Triplet | None = None
    """What was written last."""
    faults: Faults = ()
    """What is wrong with that."""
    earlier: tuple[str, ...] = ()
    """The rules that what was written before broke, each once."""
    reason: str | None = None
    attempts: int = 0
    served_model: str | None = None
    calls: tuple[str, ...] = ()

    def after(self, outcome: Outcome, calls: Iterable[str]) -> "Draft":
        """How it stands once its request has ended, with the keys of the calls behind that."""
        asked = replace(self, attempts=self.attempts + 1, calls=(*self.calls, *calls))
        if isinstance(outcome, Failed):
            return replace(asked, outcome="failed", reason=outcome.error)
        asked = replace(asked, served_model=outcome.served_model)
        match outcome:
            case Refused(kind=kind, reason=reason):
                return replace(asked, outcome="refused", reason=f"{kind}: {reason}")
            case Malformed(problem=problem):
                return replace(asked, outcome="malformed", reason=problem)
            case Answered():
                return asked._said(outcome)

    def _said(self, answer: Answered) -> "Draft":
        """How it stands once something was written, which is checked by rule."""
        text = answer.text or ""
        try:
            data = data_in(text, SCHEMA) if self.request.schema is None else answer.data
        except ValueError as problem:
            wrong = f"That is not what was asked for: {problem}."
            return self._again("malformed", text, wrong, str(problem))
        triplet = Triplet(*(tidied(data[name]) for name in Triplet._fields))
        found = find_faults(self.concept, triplet)
        rules = (fault.rule for fault in self.faults)
        said = replace(
            self,
            triplet=triplet,
            faults=found,
            earlier=tuple(dict.fromkeys((*self.earlier, *rules))),
        )
        if not found:
            return replace(said, outcome="accepted")
        return said._again("rejected", text, "These sentences break rules.", problems_of(found))

    def _again(self, outcome: str, text: str, wrong: str, reason: str) -> "Draft":
        """What is asked for again, or how it has ended where it was asked often enough.

        Our own writer, whose every answer is certain, would only say the same.
        """
        if self.attempts > REASKS or self.writer.backend == "offline":
            return replace(self, outcome=outcome, reason=reason)
        return replace(self, request=asked_again(self.request, text, f"{wrong} {reason}"))


def draft_of(
    writer: Model, concept: Concept, templates: Mapping[str, str] = MappingProxyType({})
) -> Draft:
    """What a writer is asked first: ours for the fields of a triplet, others in the paper's words.

    Tables 3 to 5 have the template, unless `templates` has one for the domain.
    """
    if writer.backend == "offline":
        words = json.dumps(fields_of(concept))
        return Draft(concept, writer, Write((Turn("user", words),), _SCHEMA))
    schema = None if writer.backend in _WITHOUT_SCHEMAS else _SCHEMA
    return Draft(concept, writer, Write((Turn("user", template(concept, templates)),), schema))


def asked_again(request: Write, text: str, wrong: str) -> Write:
    """A further turn of the conversation: what was written, and what is wrong with it."""
    cut = wrong.encode(errors="replace")[:MOST_SAID].decode(errors="ignore")
    told = f"{cut}\nWrite all three sentences again, by the same rules and in the same format."
    return replace(request, turns=(*request.turns, Turn("assistant", text), Turn("user", told)))


def problems_of(found: Faults) -> str:
    """What is wrong, one line a fault."""
    return "\n".join(f"{fault.rule}: {fault.problem}" for fault in found)


def row_of(draft: Draft) -> dict[str, Any]:
    """How a triplet ended, as the columns of `prompt_triplets` beyond those of its concept."""
    sentences = draft.triplet._asdict() if draft.triplet else dict.fromkeys(Triplet._fields)
    return {
        "writer": draft.writer.name,
        **sentences,
        "outcome": draft.outcome,
        "rules": list(dict.fromkeys(fault.rule for fault in draft.faults)),
        "earlier_rules": list(draft.earlier),
        "reason": draft.reason,
        "attempts": draft.attempts,
        "served_model": draft.served_model,
        "calls": list(draft.calls),
    }
