"""Pairs of pictures made in tests: triplets that are there, a painter and a filter that err."""

from collections import Counter
from dataclasses import asdict

import pandas as pd
import pyarrow.parquet as pq

from assets.protobias.concepts import CONCEPTS, ProtoConceptsConfig, sample_domain_concepts
from assets.protobias.prompt_triplets import TRIPLETS
from resources.models.catalog import Model
from tests.assets.written import right
from tests.providers import pictures
from tests.runs import STAND_INS, failure, materialize, table

DOMAIN = "animals"
STEPS = ("image_pairs", "filtered_pairs")
SKETCH = Model(
    name="sketch", backend="stand_in", model="sketch", family="stand_in", roles=("painter",)
)


def concepts_of(number, domain=DOMAIN):
    return list(sample_domain_concepts(domain, ProtoConceptsConfig(instances=number)))


def triplet_rows(concepts):
    """Rows of `prompt_triplets` that were accepted."""
    return [
        {
            **asdict(concept),
            "labels": list(concept.labels),
            "values": list(concept.values),
            "habitats": list(concept.habitats),
            "sample_rank": place,
            "seed": 0,
            "writer": "grammar",
            **right(concept)._asdict(),
            "outcome": "accepted",
            "rules": [],
            "earlier_rules": [],
            "attempts": 1,
            "calls": [f"written {place}"],
        }
        for place, concept in enumerate(concepts)
    ]


def write_triplets(root, number, domain=DOMAIN):
    """Store the triplets of so many concepts; gives these."""
    concepts = concepts_of(number, domain)
    path = table(root, "prompt_triplets", domain, "protobias")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(TRIPLETS.build_table(triplet_rows(concepts)), path)
    return concepts


def write_concepts(root, number, domain=DOMAIN):
    """Store so many concepts."""
    path = table(root, "concepts", domain, "protobias")
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {**asdict(concept), "sample_rank": place, "seed": 0}
        for place, concept in enumerate(concepts_of(number, domain))
    ]
    pq.write_table(CONCEPTS.build_table(rows), path)


class Gallery:
    """Answers of a provider: a picture that is new each time, and a 9 for each that it is shown."""

    def __init__(self):
        self.painting, self.saying = {}, {}
        """By prompt: what is painted in its place, and what is said of its pictures."""
        self._painted = Counter()

    def __call__(self, received):
        if received.task == "picture":
            (prompt,) = received.texts
            self._painted[prompt] += 1
            made = pictures.png(f"{prompt} {self._painted[prompt]}")
            return self.painting.get(prompt, made)
        prompt = received.texts[0].rpartition("Text prompt:\n\n")[2]
        return self.saying.get(prompt, '{"score": 9}')


def painter_at(server, **entry):
    """An entry of models.yaml for a painter of this server that takes no seed."""
    known = {"name": "artist", "backend": "openai", "model": "artist-1", "family": "some"}
    known |= {"roles": ("painter",), "parameters": {"size": "64x64"}}
    return Model(**{**known, "base_url": server.openai_url, **entry})


def filter_at(server, **entry):
    """One for a model that looks at pictures."""
    known = {"name": "seer", "backend": "openai", "model": "seer-1", "family": "seers"}
    return Model(**{**known, "roles": ("captioner",), "base_url": server.openai_url, **entry})


class Studio:
    """A data root with triplets, in which pairs are made."""

    def __init__(self, root, instance, *models, number=6):
        self.root, self.instance, self.models = root, instance, [*STAND_INS, *models]
        self.painter = models[0].name
        instance.add_dynamic_partitions("painters", [self.painter])
        self.concepts = write_triplets(root, number)

    def run(self, *names, **config):
        """Materialize; `config` is that of ops by name."""
        return materialize(
            self.root,
            *(names or STEPS),
            topic=f"{DOMAIN}|{self.painter}",
            models=self.models,
            config=config,
            instance=self.instance,
            group="protobias",
        )

    def must(self, *names, **config):
        """Materialize what has to succeed."""
        result = self.run(*names, **config)
        assert result.success, failure(result)
        return result

    def path(self, name):
        return table(self.root, f"{name}/{DOMAIN}", self.painter, "protobias")

    def table(self, name):
        return pd.read_parquet(self.path(name))
