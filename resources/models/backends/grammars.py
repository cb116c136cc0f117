"""Answers that follow a JSON Schema: tokens that would break it are not chosen."""

import math
from collections.abc import Sequence
from typing import Any

from resources.models.backends.local_models import import_library
from resources.models.replies import UnacceptableRequest

_LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""JSON on one line: where any space may stand, small models write nothing else."""


class SchemaGrammars:
    """Grammars of JSON Schemas over the tokens of one tokenizer, by llguidance."""

    def __init__(self, tokenizer: Any, vocabulary_size: int) -> None:
        self._library = import_library("llguidance")
        self._tokenizer = import_library("llguidance.hf").from_tokenizer(
            tokenizer, n_vocab=vocabulary_size
        )

    def build_processor(self, schemas: Sequence[str | None]) -> "SchemaProcessor":
        """Build what holds each answer of a batch to its schema, given as JSON; None is free.

        Raises `UnacceptableRequest` for a schema that no grammar can express.
        """
        return SchemaProcessor([schema and self._build_matcher(schema) for schema in schemas])

    def _build_matcher(self, schema: str) -> Any:
        matcher = self._library.LLMatcher
        grammar = matcher.grammar_from_json_schema(schema, overrides=_LAYOUT)
        if problem := matcher.validate_grammar(grammar, self._tokenizer):
            raise UnacceptableRequest(f"An answer cannot be held to this JSON Schema: {problem}")
        return matcher(self._tokenizer, grammar)


class SchemaProcessor:
    """A processor of logits, as transformers' `generate` takes it, for one batch."""

    def __init__(self, matchers: Sequence[Any]) -> None:
        self._matchers = matchers
        self._has_begun = False

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return scores, (answers, tokens), with −∞ for each token that would break a schema."""
        if len(scores) != len(self._matchers):
            raise ValueError(
                "an answer to a schema cannot be searched with beams: set num_beams: 1"
            )
        torch = import_library("torch")
        for tokens, row, matcher in zip(input_ids, scores, self._matchers, strict=True):
            if matcher is None:
                continue
            if self._has_begun and not matcher.is_stopped():
                matcher.consume_token(int(tokens[-1]))
            # Where the schema is complete, the token that ends the answer alone is left.
            allowed = torch.frombuffer(bytearray(matcher.compute_logit_bias()), dtype=torch.uint8)
            allowed = allowed[: len(row)]
            row[: len(allowed)][allowed.to(row.device) == 0] = -math.inf
            row[len(allowed) :] = -math.inf
        self._has_begun = True
        return scores
