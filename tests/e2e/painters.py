"""Painters that are in models.yaml, and that a pattern there finds, and what all models answer."""

import json

from assets.protobias.concepts import ProtoConceptsConfig, sample_domain_concepts
from generators.prompts.concepts import DOMAINS
from tests.assets.written import Author
from tests.providers import default_answer

OLD, QUOTED, NEW = "gpt-image-1.5", "gpt-image-2", "gpt-image-3"
WRITER, JUDGE = "gpt-writer", "gpt-test"
EARLIER = """
- name: writer
  backend: openai
  model: gpt-writer
  family: gpt
  roles: [writer]
  base_url: URL
- name: old
  backend: openai
  model: gpt-image-1.5
  family: gpt
  roles: [painter]
  parameters: {size: 64x64}
  base_url: URL
  price: {per_image: {64x64: 0.01}}
"""
PATTERN = """
- pattern: gpt-image-*
  backend: openai
  family: gpt
  roles: [painter]
  parameters: {size: 64x64}
  base_url: URL
  price: {per_image: {64x64: 0.01}}
"""


class Answers:
    """Triplets, verdicts, numbers and pictures, each as it is asked for."""

    def __init__(self):
        one_each = [
            next(iter(sample_domain_concepts(domain, ProtoConceptsConfig(instances=1))))
            for domain in DOMAINS
        ]
        self._author = Author(one_each)

    def __call__(self, received):
        if received.model == WRITER:
            return self._author(received)
        if received.model != JUDGE:
            return default_answer(received)
        asked = received.texts[0]
        if '"score"' not in asked:
            return "{8}"
        judged = "from 1 to 4" in asked
        return json.dumps({"score": 2 + int(received.digest, 16) % 3 if judged else 9})
