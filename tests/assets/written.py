"""Triplets written in tests: a writer of the test's own, who errs as it is told."""

import json

from generators.prompts.concepts import Triplet
from generators.prompts.templates import write_triplet_prompt
from generators.prompts.triplet_grammar import build_triplet, to_triplet_fields
from resources.models.catalog import Model
from tests.providers import faults


def right(concept):
    """A triplet that keeps all rules."""
    return Triplet(**build_triplet(to_triplet_fields(concept)))


def _said(**changes):
    """A mistake in one of the sentences."""
    return lambda concept: json.dumps(
        right(concept)._asdict()
        | {name: change(right(concept), concept) for name, change in changes.items()}
    )


MISTAKES = {
    "words": _said(text=lambda said, _: said.text[:-1] + " and very quietly" * 12 + "."),
    "sentence": _said(adversarial=lambda said, _: f"{said.adversarial} It is nice."),
    "label": _said(text=lambda said, _: said.correct),
    "hypernym": _said(text=lambda said, c: said.text.replace(c.hypernym, "thing")),
    "knob": _said(
        text=lambda _, c: build_triplet(to_triplet_fields(c) | {"extra_element": "spoon"})["text"]
    ),
    "correct": _said(correct=lambda said, _: said.correct.replace(".", " at noon.")),
    "change": _said(adversarial=lambda said, c: said.text.replace(c.hypernym, c.prototype)),
    "prose": lambda _: "Here you are.",
    "refusal": lambda _: faults.REFUSED,
    "failure": lambda _: faults.INVALID_REQUEST,
}
"""What a writer may do wrong; the first are named by the rule that they break."""
RULES = tuple(MISTAKES)[:7]


class Author:
    """Writes what is right, but for the mistakes that are listed for a concept, one an attempt."""

    def __init__(self, concepts):
        self._concepts = {write_triplet_prompt(concept): concept for concept in concepts}
        self.mistakes = {}
        """By concept id."""

    def __call__(self, received):
        concept, attempt = self._concepts[received.texts[0]], len(received.texts) // 2
        wrong = self.mistakes.get(concept.concept_id, [])
        if attempt < len(wrong) and wrong[attempt]:
            return MISTAKES[wrong[attempt]](concept)
        return json.dumps(right(concept)._asdict())


def writer_at(server, **entry):
    """An entry of models.yaml for a writer of this server."""
    known = {"name": "author", "backend": "openai", "model": "author-1", "family": "some"}
    known |= {"roles": ("writer",), "parameters": {"max_completion_tokens": 200}}
    return Model(**{**known, "base_url": server.openai_url, **entry})
